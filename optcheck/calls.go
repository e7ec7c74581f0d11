package optcheck

import (
	"slices"

	"optcheck/internal/limits"
	"optcheck/isa"
)

// If the compiler did not inline a function of the test, it follows the kernel in the same section. It is read as if
// it had been inlined: a copy of its code replaces each call, and its returns lead to the instruction after the call.
// The return address decides whether a return does go there (machine.returns). A call whose function is not known
// stays, and is a finding (checkCalls).

// Bounds for one kernel: calls that are followed, and instructions that are copied. Calls beyond them stay.
const (
	maxCalls  = 64
	maxCopied = 1 << 13
)

// calls follows the calls of a function.
type calls struct {
	left int   // blocks that may still be looked at, of limits.Steps
	seen []int // by block, for which callee it was seen last
	n    int   // callees that were looked at
}

// followed returns a function in which the code of the callees replaces the calls.
func followed(fn *isa.Func) (*isa.Func, error) {
	if err := limits.Check("blocks", len(fn.Blocks), limits.Now().Blocks); err != nil {
		return nil, err
	}
	cur, copied := *fn, 0
	cur.Insts = slices.Clone(fn.Insts)
	c := &calls{left: limits.Now().Steps}
	c.jumps(&cur)
	for range maxCalls {
		call, lo, hi := c.next(&cur)
		if copied += hi - lo; call < 0 || copied > maxCopied {
			break
		}
		cur.Insts = inlined(cur.Insts, call, lo, hi)
		cur.BuildCFG()
	}
	if c.left < 0 {
		return nil, &limits.Error{Name: "steps", At: int64(limits.Now().Steps)}
	}
	return &cur, nil
}

// jumps turns calls that do not return into jumps: ptxas leaves loops in which lanes diverge by a CALL.REL.NOINC to
// what follows them.
func (c *calls) jumps(fn *isa.Func) {
	changed := false
	for i := range fn.Insts {
		if in := &fn.Insts[i]; in.Flow == isa.FlowCall && in.Target >= 0 && !c.comesBack(fn, in.Target) {
			in.Flow, changed = isa.FlowJump, true
		}
	}
	if changed {
		fn.BuildCFG()
	}
}

// comesBack reports whether code at an instruction may return to a caller.
func (c *calls) comesBack(fn *isa.Func, first int) bool {
	lo, hi := c.callee(fn, first)
	for i := lo; i < hi; i++ {
		switch fn.Insts[i].Flow {
		case isa.FlowReturn, isa.FlowIndirect, isa.FlowCall:
			return true
		}
	}
	return false
}

// next finds a reachable call and the code [lo, hi) that it calls; call is -1 if none can be followed.
func (c *calls) next(fn *isa.Func) (call, lo, hi int) {
	reached := fn.Reachable()
	for b := range fn.Blocks {
		i := fn.Blocks[b].End - 1
		in := &fn.Insts[i]
		if in.Flow != isa.FlowCall || in.Target < 0 || in.Guard.Never || !reached[b] {
			continue
		}
		if lo, hi = c.callee(fn, in.Target); c.left < 0 {
			break
		}
		if lo == in.Target && (i < lo || i >= hi) && !entersItself(fn.Insts, lo, hi) && closed(&fn.Insts[hi-1]) {
			return i, lo, hi
		}
	}
	return -1, 0, 0
}

// entersItself reports whether the function [lo, hi) calls code in its middle: in a copy that code would return to where the copy does.
func entersItself(code []isa.Inst, lo, hi int) bool {
	return slices.ContainsFunc(code[lo:hi], func(in isa.Inst) bool {
		return in.Flow == isa.FlowCall && in.Target > lo && in.Target < hi
	})
}

// callee returns the range of code of the function that begins at an instruction.
func (c *calls) callee(fn *isa.Func, first int) (lo, hi int) {
	lo, hi = first, first
	if c.n++; len(c.seen) < len(fn.Blocks) {
		c.seen = make([]int, len(fn.Blocks))
	}
	var todo []int
	push := func(b int) {
		if b < len(fn.Blocks) && c.seen[b] != c.n {
			c.seen[b], todo = c.n, append(todo, b)
		}
	}
	begin, _ := slices.BinarySearchFunc(fn.Blocks, first, func(b isa.Block, i int) int { return b.End - 1 - i })
	for push(begin); len(todo) > 0 && c.left >= 0; c.left-- {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		blk := &fn.Blocks[b]
		lo, hi = min(lo, blk.First), max(hi, blk.End)
		if fn.Insts[blk.End-1].Flow == isa.FlowCall {
			push(b + 1) // what it calls is another function
			continue
		}
		for _, s := range blk.Succs {
			push(s)
		}
	}
	return lo, hi
}

// closed reports whether control never continues past an instruction.
func closed(in *isa.Inst) bool {
	if in.Guard != (isa.Guard{}) {
		return false
	}
	switch in.Flow {
	case isa.FlowJump, isa.FlowIndirect, isa.FlowReturn, isa.FlowExit, isa.FlowPop:
		return true
	}
	return false
}

// inlined replaces a call with a copy of instructions [lo, hi).
func inlined(code []isa.Inst, call, lo, hi int) []isa.Inst {
	size := hi - lo + 1 // preceded by a jump that has the call's condition
	behind := call + size
	moved := func(t int) int {
		if t > call {
			return t + size - 1
		}
		return t
	}
	out := make([]isa.Inst, 0, len(code)+size)
	place := func(list []isa.Inst, target func(int) int) {
		for _, in := range list {
			in.Target = target(in.Target)
			in.Targets = slices.Clone(in.Targets)
			for i, t := range in.Targets {
				in.Targets[i] = target(t)
			}
			out = append(out, in)
		}
	}
	place(code[:call], moved)
	out = append(out, jump(&code[call], call+1))
	if g := code[call].Guard; g != (isa.Guard{}) { // skipped, not taken
		g.Neg = !g.Neg
		out[call].Guard, out[call].Target = g, behind
	}
	place(code[lo:hi], func(t int) int {
		if t >= lo && t < hi {
			return call + 1 + t - lo
		}
		return moved(t)
	})
	for i := call + 1; i < behind; i++ {
		if in := out[i]; in.Flow == isa.FlowReturn {
			out[i] = jump(&in, behind)
			out[i].Guard, out[i].Uses = in.Guard, in.Uses
		}
	}
	place(code[call+1:], moved)
	return out
}

// jump returns a jump that takes the place of a call or return, and waits for what that waits for.
func jump(in *isa.Inst, to int) isa.Inst {
	return isa.Inst{Addr: in.Addr, Op: in.Op, Text: in.Text, Src: in.Src, Control: in.Control,
		Role: isa.RoleBranch, Flow: isa.FlowJump, Target: to}
}

// returns asks whether a return goes back to the call: its register must hold that address. Older targets keep the
// address on a stack of their own.
func (m *machine) returns(in *isa.Inst) {
	if in.Op != "RET" || in.Flow != isa.FlowJump {
		return
	}
	i := slices.IndexFunc(in.Uses, func(r isa.Reg) bool { return r.Class == isa.ClassGPR || r.Class == isa.ClassUGPR })
	if i < 0 {
		return
	}
	to, known := m.tr.pool.isConst(m.get(in.Uses[i]))
	if !known || uint64(to) != uint64(m.tr.fn.Insts[in.Target].Addr) {
		m.tr.indirect = true
	}
}
