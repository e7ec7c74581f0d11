package bug

import (
	"context"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// Workaround is a change of the smallest test, or of the way to compile it, with which the
// compiler keeps the program as written.
type Workaround struct {
	What string `json:"what"`
}

// lowerLevel is the highest level at which the compiler keeps the program, if there is one.
func lowerLevel(w *reduce.Where, tc *toolchain.Toolchain, target string) []Workaround {
	if own, level := lowerPlace(w, tc, target); own != nil {
		return []Workaround{{"Compile with -" + level + "."}}
	}
	return nil
}

// workarounds tries what programmers would try, all in one batch.
func (b *bundler) workarounds(ctx context.Context) error {
	b.ways = lowerLevel(b.in.Where, b.f.Toolchain, b.f.Target)
	var tests []*litmus.Test
	var names []string
	seen := map[string]bool{b.f.Test.Hash(): true}
	list, everywhere := b.road.variants()
	for _, v := range list {
		t := b.f.Test.Clone()
		for i := range t.Threads {
			if everywhere || i == b.find.Thread {
				v.change(&t.Threads[i])
			}
		}
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
		if cells[i].Class == event.Preserved {
			b.ways = append(b.ways, Workaround{names[i]})
		}
	}
	return nil
}

// variant is a change of a thread that workarounds tries.
type variant struct {
	name   string
	change func(*litmus.Thread)
}

// variantsIR lists the variants for programs in LLVM IR.
var variantsIR = []variant{
	{
		"Make read-modify-writes monotonic and put a fence of their scope (fence … acq_rel) in front of those that release and behind those that acquire.",
		fenced,
	},
	{"Make the accesses atomic (monotonic, syncscope(\"device\")).", plainTo(litmus.SemRelaxed, litmus.ScopeGPU)},
}

// fenced moves the order of read-modify-writes to fences beside them.
func fenced(th *litmus.Thread) {
	var body []litmus.Instr
	for _, in := range th.Body {
		sem := in.Sem
		if in.Op != litmus.OpAtom || sem != litmus.SemRelease && sem != litmus.SemAcquire && sem != litmus.SemAcqRel {
			body = append(body, in)
			continue
		}
		fence := litmus.Instr{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Scope: in.Scope, Guard: in.Guard}
		if sem != litmus.SemAcquire {
			fence.Labels, in.Labels = in.Labels, nil
			body = append(body, fence)
		}
		in.Sem = litmus.SemRelaxed
		if body = append(body, in); sem != litmus.SemRelease {
			fence.Labels = nil
			body = append(body, fence)
		}
	}
	th.Body = body
}

// variants lists the variants for programs in PTX.
var variants = []variant{
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

// plainTo makes weak loads and stores of a thread stronger.
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

// between puts a fence before every access but the first, unless one is
// there already.
func between(scope litmus.Scope) func(*litmus.Thread) {
	return func(th *litmus.Thread) {
		var body []litmus.Instr
		open := false // an access without a fence after it
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
