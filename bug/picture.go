package bug

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/reduce"
	"optcheck/report"
)

// picture is an execution and what it shows.
type picture struct {
	svg     []byte
	model   string
	test    string // name of the test that it is of
	outcome string
	// forbidden tells that the model forbids the execution in the test.
	forbidden bool
	cycle     string // the violated cycle, "" if it is allowed
	lost      bool   // an outcome that the compiled program has lost
}

// picture draws the execution that matters: of a miscompiled test, the new
// outcome, which the source forbids; else an outcome of the test as it was
// found that the compiled program can no longer show, or else the one that the
// test asks for.
func (b *bundler) picture(ctx context.Context) error {
	if b.in.Cell.Verdict == nil || b.in.Cell.Verdict.Race != "" {
		return nil // none was asked, or one that judges no machine code
	}
	if b.in.Cell.Class == report.Miscompiled && len(b.in.Cell.Verdict.New) > 0 {
		q, err := audit.Asking(b.f.Test, b.in.Cell.Verdict.New[0])
		if err != nil {
			return err
		}
		return b.draw(ctx, q, &picture{model: b.in.Cell.Verdict.Model, outcome: b.in.Cell.Verdict.New[0]})
	}
	c, _, err := reduce.Cell(ctx, b.in.Found, b.in.Audit)
	if err != nil {
		return err
	}
	if c.Verdict == nil {
		return nil
	}
	if len(c.Verdict.Lost) == 0 { // nothing lost, nothing new: what the test asks for
		if b.in.Found.Test.Cond.Expr == nil {
			return nil
		}
		return b.draw(ctx, b.in.Found.Test, &picture{model: c.Verdict.Model, outcome: b.in.Found.Test.Cond.String()})
	}
	lost := Asked(b.in.Found.Test, c.Verdict.Lost)
	q, err := audit.Asking(b.in.Found.Test, lost)
	if err != nil {
		return err
	}
	return b.draw(ctx, q, &picture{model: c.Verdict.Model, outcome: lost, lost: true})
}

// Asked picks the outcome that the test's own condition asks for, else the
// first.
func Asked(t *litmus.Test, outcomes []string) string {
	for _, o := range outcomes {
		q, err := audit.Asking(t, o)
		if err != nil {
			continue
		}
		values := map[litmus.Term]int64{}
		terms := t.Terms()
		atoms(q.Cond.Expr, func(a litmus.Atom) { values[a.Left] = a.Right.Value })
		if len(values) == len(terms) && t.Cond.Eval(func(x litmus.Term) int64 { return values[x] }) {
			return o
		}
	}
	return outcomes[0]
}

func atoms(e litmus.Expr, f func(litmus.Atom)) {
	switch e := e.(type) {
	case litmus.Atom:
		f(e)
	case litmus.And:
		for _, x := range e.List {
			atoms(x, f)
		}
	}
}

// draw explains a test's condition; without any such execution there is no
// picture.
func (b *bundler) draw(ctx context.Context, t *litmus.Test, p *picture) error {
	m, err := model.Load(p.model)
	if err != nil {
		return err
	}
	x, err := m.Explain(ctx, t, model.Options{})
	if err != nil || x.Execution == nil {
		return err
	}
	var svg bytes.Buffer
	if err := x.Execution.SVG(&svg); err != nil {
		return err
	}
	p.test, p.outcome, p.svg, p.forbidden = t.Name, strings.TrimSuffix(p.outcome, ";"), svg.Bytes(), !x.Execution.Allowed
	p.cycle = x.Execution.Cycle(x.Steps)
	b.pic = p
	return nil
}

// Workaround is a change of the smallest test, or of the way to compile it,
// with which the compiler keeps the program as written.
type Workaround struct {
	What string `json:"what"`
}

// workarounds tries what programmers would try, all in one batch.
func (b *bundler) workarounds(ctx context.Context) error {
	if w := b.in.Where; w != nil {
		for _, level := range slices.Backward(audit.Levels) {
			if p := w.At(b.f.Toolchain.ID, b.f.Target, level); p != nil && p.Class == report.Preserved {
				b.ways = append(b.ways, Workaround{"Compile with -" + level + "."})
				break
			}
		}
	}
	if b.amd() { // the variants are spelled in PTX
		return nil
	}
	var tests []*litmus.Test
	var names []string
	seen := map[string]bool{b.f.Test.Hash(): true}
	for _, v := range variants {
		t := b.f.Test.Clone()
		v.change(&t.Threads[b.find.Thread])
		if h := t.Hash(); seen[h] || t.Check() != nil {
			continue
		} else {
			seen[h] = true
		}
		tests, names = append(tests, t), append(names, v.name)
	}
	if len(tests) == 0 {
		return nil
	}
	cells, err := reduce.Cells(ctx, b.f, b.in.Audit, tests)
	if err != nil {
		return err
	}
	for i := range cells {
		if cells[i].Class == report.Preserved {
			b.ways = append(b.ways, Workaround{names[i]})
		}
	}
	return nil
}

// variants are the changes of a thread that workarounds tries.
var variants = []struct {
	name   string
	change func(*litmus.Thread)
}{
	{"Make the accesses volatile.", plainTo(litmus.SemVolatile, litmus.ScopeNone)},
	{"Make the accesses .relaxed.gpu.", plainTo(litmus.SemRelaxed, litmus.ScopeGPU)},
	{"Make the accesses .relaxed.sys.", plainTo(litmus.SemRelaxed, litmus.ScopeSys)},
	{"Use membar.sys instead of a narrower fence.", func(th *litmus.Thread) {
		for i := range th.Body {
			if in := &th.Body[i]; in.Op == litmus.OpMembar || in.Op == litmus.OpFence {
				in.Scope = litmus.ScopeSys
			}
		}
	}},
	{"Put membar.cta between the accesses.", between(litmus.ScopeCTA)},
	{"Put membar.gl between the accesses.", between(litmus.ScopeGPU)},
	{"Put membar.sys between the accesses.", between(litmus.ScopeSys)},
}

// plainTo gives weak loads and stores of a thread another strength.
func plainTo(sem litmus.Sem, scope litmus.Scope) func(*litmus.Thread) {
	return func(th *litmus.Thread) {
		for i := range th.Body {
			in := &th.Body[i]
			if (in.Op == litmus.OpLd || in.Op == litmus.OpSt) && in.Sem <= litmus.SemWeak {
				in.Sem, in.Scope, in.Cache = sem, scope, litmus.CacheNone
			}
		}
	}
}

// between puts a fence in front of every access but the first, unless one is
// there already.
func between(scope litmus.Scope) func(*litmus.Thread) {
	return func(th *litmus.Thread) {
		var body []litmus.Instr
		open := false // an access without a fence behind it
		for _, in := range th.Body {
			switch {
			case in.IsAccess() && open:
				f := litmus.Instr{Op: litmus.OpMembar, Scope: scope, Labels: in.Labels}
				in.Labels = nil
				body = append(body, f)
			case in.IsFence():
				open = false
			}
			open = open || in.IsAccess()
			body = append(body, in)
		}
		th.Body = body
	}
}
