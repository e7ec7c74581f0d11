package reduce

import (
	"slices"

	"optcheck/litmus"
)

// tidy removes what has become meaningless after a step: unused registers and labels, empty
// cells, and terms of the condition whose register or location is gone.
func tidy(t *litmus.Test) {
	for i := range t.Threads {
		tidyLabels(&t.Threads[i])
	}
	mapTerms(t, func(x litmus.Term) (litmus.Term, bool) { return x, x.Kind == litmus.TermConst || hasTerm(t, x) })
	terms := t.Terms()
	for i := range t.Threads {
		th := &t.Threads[i]
		th.Regs = slices.DeleteFunc(th.Regs, func(d litmus.RegDecl) bool {
			return !mentions(th, d.Name) && !slices.Contains(terms, litmus.Term{Kind: litmus.TermReg, Thread: i, Name: d.Name})
		})
	}
}

func tidyLabels(th *litmus.Thread) {
	targets := map[string]bool{}
	for j := range th.Body {
		if th.Body[j].Op == litmus.OpBra {
			targets[th.Body[j].Target] = true
		}
	}
	for j := range th.Body {
		th.Body[j].Labels = slices.DeleteFunc(th.Body[j].Labels, func(l string) bool { return !targets[l] })
	}
	th.Body = slices.DeleteFunc(th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpNop && len(in.Labels) == 0 })
}

// mentions reports whether an instruction of the thread names a register.
func mentions(th *litmus.Thread, reg string) bool {
	return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Dst == reg || slices.Contains(in.Reads(), reg) })
}

// hasTerm reports whether the test still determines a term of a condition: a location, or a
// register that is set.
func hasTerm(t *litmus.Test, x litmus.Term) bool {
	if x.Kind == litmus.TermLoc {
		return t.Location(x.Name) != nil
	}
	if x.Thread < 0 || x.Thread >= len(t.Threads) {
		return false
	}
	th := &t.Threads[x.Thread]
	if slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Dst == x.Name }) {
		return true
	}
	d := th.Decl(x.Name)
	return d != nil && d.Init.Kind == litmus.OperandConst
}

// mapTerms replaces the terms of condition and locations clause. Those for which f returns
// false are dropped, together with the comparison that contains them.
func mapTerms(t *litmus.Test, f func(litmus.Term) (litmus.Term, bool)) {
	t.Cond.Expr = mapExpr(t.Cond.Expr, f)
	if t.Cond.Expr == nil {
		t.Cond = litmus.Cond{}
	}
	var kept []litmus.Term
	for _, x := range t.Observed {
		if y, ok := f(x); ok {
			kept = append(kept, y)
		}
	}
	t.Observed = kept
}

// mapExpr is mapTerms for an expression; it returns nil if nothing is left.
func mapExpr(e litmus.Expr, f func(litmus.Term) (litmus.Term, bool)) litmus.Expr {
	switch e := e.(type) {
	case litmus.Atom:
		l, ok1 := f(e.Left)
		r, ok2 := f(e.Right)
		if !ok1 || !ok2 {
			return nil
		}
		return litmus.Atom{Left: l, Right: r, Cmp: e.Cmp}
	case litmus.Not:
		if x := mapExpr(e.X, f); x != nil {
			return litmus.Not{X: x}
		}
		return nil
	case litmus.And:
		if list := mapList(e.List, f); len(list) > 1 {
			return litmus.And{List: list}
		} else if len(list) == 1 {
			return list[0]
		}
		return nil
	case litmus.Or:
		if list := mapList(e.List, f); len(list) > 1 {
			return litmus.Or{List: list}
		} else if len(list) == 1 {
			return list[0]
		}
		return nil
	}
	return e
}

func mapList(list []litmus.Expr, f func(litmus.Term) (litmus.Term, bool)) (out []litmus.Expr) {
	for _, x := range list {
		if y := mapExpr(x, f); y != nil {
			out = append(out, y)
		}
	}
	return out
}
