package bug

import (
	"bytes"
	"context"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/reduce"
)

// picture is an execution and its description.
type picture struct {
	svg     []byte
	model   string
	test    string // name of its test
	outcome string
	// forbidden is set if the model forbids the execution in the test.
	forbidden bool
	cycle     string   // the violated cycle, "" if it is allowed
	events    []string // what those of the cycle are
	lost      bool     // an outcome that the compiled program has lost
}

// picture draws the relevant execution. For a miscompiled test that is the new outcome, which
// the source forbids; else an outcome of the original test that the compiled program can no
// longer show, or else the one that the test asks for.
func (b *bundler) picture(ctx context.Context) error {
	if b.in.Cell.Verdict == nil || b.in.Cell.Verdict.Lifted == "" {
		return nil // no model was asked, or one that does not judge machine code
	}
	if b.in.Cell.Class == event.Miscompiled && len(b.in.Cell.Verdict.New) > 0 {
		q, err := audit.Asking(b.f.Test, b.in.Cell.Verdict.New[0])
		if err != nil {
			return err
		}
		return b.draw(ctx, q, &picture{model: b.in.Cell.Verdict.Model, outcome: b.in.Cell.Verdict.New[0]})
	}
	c, _, err := reduce.Cell(ctx, &b.in.Start, b.in.Audit)
	if err != nil {
		return err
	}
	if c.Verdict == nil {
		return nil
	}
	if len(c.Verdict.Lost) == 0 { // nothing lost, nothing new: what the test asks for
		if b.in.Start.Test.Cond.Expr == nil {
			return nil
		}
		return b.draw(ctx, b.in.Start.Test, &picture{model: c.Verdict.Model, outcome: b.in.Start.Test.Cond.String()})
	}
	lost := Asked(b.in.Start.Test, c.Verdict.Lost)
	q, err := audit.Asking(b.in.Start.Test, lost)
	if err != nil {
		return err
	}
	return b.draw(ctx, q, &picture{model: c.Verdict.Model, outcome: lost, lost: true})
}

// Asked returns the outcome that the test's own condition asks for, else the first.
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

// draw explains a test's condition; if there is no such execution, there is no picture.
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
	p.cycle, p.events = x.Execution.Cycle(x.Steps), x.Execution.Legend(x.Steps)
	b.pic = p
	return nil
}
