package reduce

import (
	"fmt"
	"slices"

	"optcheck/litmus"
)

// Parts are the kinds of things that a reduction removes or simplifies; each can be kept.
var Parts = []string{"threads", "instructions", "condition", "modifiers", "types", "values", "placement", "layout", "level", "flags"}

// step is one simplification of a test. It refers to threads, instructions, registers and
// locations by the numbers that the function number has assigned, so that it can also be
// applied after other steps.
type step = stepOf[*litmus.Test]

// number assigns every part of a test a number that survives its neighbours' removal, in the
// field for positions.
func number(t *litmus.Test) {
	n := 0
	next := func() litmus.Pos { n++; return litmus.Pos{Line: n} }
	for i := range t.Locations {
		t.Locations[i].Pos = next()
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		th.Pos = next()
		for j := range th.Regs {
			th.Regs[j].Pos = next()
		}
		for j := range th.Body {
			th.Body[j].Pos = next()
		}
	}
}

// instrAt returns the thread and index of the instruction with a number.
func instrAt(t *litmus.Test, id int) (*litmus.Thread, int) {
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			if t.Threads[i].Body[j].Pos.Line == id {
				return &t.Threads[i], j
			}
		}
	}
	return nil, -1
}

// onInstr returns a step that changes one instruction in place.
func onInstr(part, name string, id int, f func(in *litmus.Instr) bool) step {
	return step{part: part, name: name, apply: func(t *litmus.Test) bool {
		th, j := instrAt(t, id)
		return th != nil && f(&th.Body[j])
	}}
}

// steps lists every single simplification of a numbered test, from coarse to fine. Each makes
// the test smaller or weaker in the same direction, so that reductions cannot cycle.
func steps(t *litmus.Test) []step {
	var list []step
	if len(t.Threads) > 1 {
		for i := range t.Threads {
			id := t.Threads[i].Pos.Line
			list = append(list, step{part: "threads", name: "without thread " + t.Threads[i].Name,
				apply: func(t *litmus.Test) bool { return dropThread(t, id) }})
		}
	}
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			list = append(list, removals(&t.Threads[i], j)...)
		}
	}
	list = append(list, conditionSteps(t)...)
	list = append(list, locationSteps(t)...)
	list = append(list, jointSteps(t)...)
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			list = append(list, modifiers(&t.Threads[i].Body[j])...)
		}
		list = append(list, typeSteps(&t.Threads[i])...)
	}
	return append(list, placeSteps(t)...)
}

// removals lists the ways to remove an instruction or its condition.
func removals(th *litmus.Thread, j int) []step {
	in := &th.Body[j]
	id, name := in.Pos.Line, th.Name+" "+in.String()
	list := []step{{part: "instructions", name: "without " + name, apply: func(t *litmus.Test) bool { return dropInstr(t, id) }}}
	if in.Guard != nil {
		list = append(list, onInstr("instructions", "unguarded "+name, id, func(in *litmus.Instr) bool { in.Guard = nil; return true }))
	}
	if in.Op == litmus.OpBra && (in.Guard != nil || in.Cmp != litmus.CmpNone) {
		return list
	}
	if in.Op >= litmus.OpMov && in.Op <= litmus.OpNot || in.Op == litmus.OpSelp {
		for k := range in.Src {
			list = append(list, step{part: "instructions", name: fmt.Sprintf("%s for %s", in.Src[k], name),
				apply: func(t *litmus.Test) bool { return bypass(t, id, k) }})
		}
	}
	return append(list, onInstr("instructions", "load or store for "+name, id, plainAccess),
		onInstr("instructions", "store for "+name, id, func(in *litmus.Instr) bool {
			if in.Op != litmus.OpAtom || in.Sem == litmus.SemAcquire {
				return false
			}
			in.Op, in.Dst, in.Src = litmus.OpRed, "", in.Src[len(in.Src)-1:]
			return plainAccess(in)
		}))
}

// plainAccess replaces an atomic by the most similar load or store.
func plainAccess(in *litmus.Instr) bool {
	switch in.Op {
	case litmus.OpAtom:
		in.Op, in.Src = litmus.OpLd, nil
	case litmus.OpRed:
		in.Op = litmus.OpSt
	default:
		return false
	}
	if in.Sem != litmus.SemNone && in.Sem != litmus.SemRelaxed {
		in.Sem = litmus.SemRelaxed
	}
	if in.Sem == litmus.SemNone {
		in.Scope = litmus.ScopeNone
	}
	in.Atom = litmus.AtomNone
	return true
}

// dropThread removes a thread and renames those after it.
func dropThread(t *litmus.Test, id int) bool {
	i := slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Pos.Line == id })
	if i < 0 || len(t.Threads) == 1 {
		return false
	}
	t.Threads = slices.Delete(t.Threads, i, i+1)
	for k := range t.Threads { // threads are named by their numbers: T0, P1
		t.Threads[k].ID, t.Threads[k].Name = k, fmt.Sprintf("%.1s%d", t.Threads[k].Name, k)
	}
	moved := func(x litmus.Term) (litmus.Term, bool) {
		if x.Kind == litmus.TermReg && x.Thread == i {
			return x, false
		}
		if x.Kind == litmus.TermReg && x.Thread > i {
			x.Thread--
		}
		return x, true
	}
	mapTerms(t, moved)
	return true
}

// dropInstr removes an instruction; its labels go to the next one.
func dropInstr(t *litmus.Test, id int) bool {
	th, j := instrAt(t, id)
	if th == nil {
		return false
	}
	if labels := th.Body[j].Labels; len(labels) > 0 {
		if j+1 == len(th.Body) {
			if th.Body[j].Op == litmus.OpNop {
				return false
			}
			th.Body = append(th.Body, litmus.Instr{Op: litmus.OpNop, Pos: th.Body[j].Pos})
		}
		th.Body[j+1].Labels = append(slices.Clone(labels), th.Body[j+1].Labels...)
	}
	th.Body = slices.Delete(th.Body, j, j+1)
	return true
}

// bypass removes an instruction that computes, and uses its k-th operand instead of its result
// wherever the result is read.
func bypass(t *litmus.Test, id, k int) bool {
	th, j := instrAt(t, id)
	if th == nil || k >= len(th.Body[j].Src) {
		return false
	}
	dst, by := th.Body[j].Dst, th.Body[j].Src[k]
	if by.Kind == litmus.OperandReg && by.Name == dst {
		return dropInstr(t, id)
	}
	for i := j + 1; i < len(th.Body); i++ {
		in := &th.Body[i]
		for s := range in.Src {
			if in.Src[s] == litmus.Reg(dst) {
				in.Src[s] = by
			}
		}
		if in.Addr.Reg == dst {
			switch by.Kind {
			case litmus.OperandReg:
				in.Addr.Reg = by.Name
			case litmus.OperandLoc:
				in.Addr.Reg, in.Addr.Loc = "", by.Name
			default:
				return false
			}
		}
		if in.Guard != nil && in.Guard.Reg == dst {
			if by.Kind != litmus.OperandReg {
				return false
			}
			in.Guard.Reg = by.Name
		}
		if in.Dst == dst && in.Guard == nil {
			break
		}
		if by.Kind == litmus.OperandReg && in.Dst == by.Name {
			break // the operand has another value from here on
		}
	}
	return dropInstr(t, id)
}
