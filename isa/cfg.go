package isa

import "slices"

// BuildCFG computes Blocks from the Flow, Target and Guard of the instructions.
//
// It is conservative: where the machine decides at run time, every possibility
// is a successor. Calls have the callee, when it is in the function, and the
// next instruction as successors, returns have none. A FlowPop (SYNC, BRK,
// BSYNC) continues at the places that a FlowPush of its kind named on a path to
// it; when the analysis cannot tell, at all of them.
// Code that nothing reaches (the jump to itself after an exit, padding) stays
// as blocks without predecessors.
func (f *Func) BuildCFG() {
	f.Blocks = nil
	n := len(f.Insts)
	if n == 0 {
		return
	}
	lead := f.leaders()
	blockOf := make([]int, n)
	for i := 0; i < n; i++ {
		if lead[i] {
			f.Blocks = append(f.Blocks, Block{First: i})
		}
		blockOf[i] = len(f.Blocks) - 1
		f.Blocks[len(f.Blocks)-1].End = i + 1
	}
	pops := f.popTargets(lead)
	for b := range f.Blocks {
		last := f.Blocks[b].End - 1
		for _, t := range f.targets(last, pops) { // which of them are leaders
			f.Blocks[b].Succs = append(f.Blocks[b].Succs, blockOf[t])
		}
	}
	for b := range f.Blocks {
		for _, s := range f.Blocks[b].Succs {
			f.Blocks[s].Preds = append(f.Blocks[s].Preds, b)
		}
	}
}

// leaders marks the first instruction of each block.
func (f *Func) leaders() []bool {
	n := len(f.Insts)
	lead := make([]bool, n)
	lead[0] = true
	mark := func(i int) {
		if i >= 0 && i < n {
			lead[i] = true
		}
	}
	for i := range f.Insts {
		in := &f.Insts[i]
		mark(in.Target)
		for _, t := range in.Targets {
			mark(t)
		}
		if in.Flow != FlowNext && in.Flow != FlowPush {
			mark(i + 1)
		}
	}
	return lead
}

// CallsRegister reports whether an instruction calls what a register holds.
func (in *Inst) CallsRegister() bool {
	return in.Flow == FlowCall && slices.ContainsFunc(in.Args, func(o Operand) bool { return o.Kind == OpdReg && !o.Zero })
}

// falls reports whether control can go on to the next instruction.
func (in *Inst) falls() bool {
	if in.Guard != (Guard{}) {
		return true
	}
	switch in.Flow {
	case FlowNext, FlowPush, FlowCall:
		return true
	case FlowJump:
		return in.conditional()
	case FlowTrap:
		return true
	}
	return false
}

// conditional reports whether a jump tests something other than the guard: BRA P0, `(x);
// BRA.DIV UR4, `(x); BRA CC.EQ, `(x).
func (in *Inst) conditional() bool {
	for i := range in.Args {
		switch o := &in.Args[i]; o.Kind {
		case OpdPred:
			if !o.Zero || o.Not {
				return true
			}
		case OpdReg:
			return true
		}
	}
	for _, m := range in.Mods {
		switch m {
		case "CONV", "DIV", "U", "ANY", "ALL":
			return true
		}
	}
	return false
}

// targets lists the instructions that may follow instruction i.
func (f *Func) targets(i int, pops map[int][]int) []int {
	in := &f.Insts[i]
	var out []int
	var many map[int]bool
	add := func(t int) {
		if t < 0 || t >= len(f.Insts) {
			return
		}
		if len(out) < 16 {
			out = appendOnce(out, t)
			return
		}
		if many == nil {
			many = map[int]bool{}
			for _, x := range out {
				many[x] = true
			}
		}
		if !many[t] {
			many[t] = true
			out = append(out, t)
		}
	}
	if in.falls() {
		add(i + 1)
	}
	if in.Guard.Never {
		return out
	}
	switch in.Flow {
	case FlowJump, FlowCall:
		add(in.Target)
	case FlowIndirect:
		for _, t := range in.Targets {
			add(t)
		}
	case FlowPop:
		for _, t := range pops[i] {
			add(t)
		}
	}
	return out
}

func appendOnce(l []int, v int) []int {
	for _, x := range l {
		if x == v {
			return l
		}
	}
	return append(l, v)
}

// Reachable returns, for each block, whether control flow can reach it from the entry.
func (f *Func) Reachable() []bool {
	seen := make([]bool, len(f.Blocks))
	if len(seen) == 0 {
		return seen
	}
	todo := []int{0}
	seen[0] = true
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range f.Blocks[b].Succs {
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return seen
}
