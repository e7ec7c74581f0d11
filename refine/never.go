package refine

import (
	"slices"

	"optcheck/ir"
)

// Solver says of a program what holds whatever its input is.
type Solver interface {
	// Never reports whether no thread comes to an instruction with a register whose truth is the one given; with ir.None, whether none comes there.
	Never(at int32, r ir.Reg, is bool) bool
	// Moot reports whether it decides nothing at an instruction that a register has a truth: the instruction only computes, and what it writes is the
	// same with the other one.
	Moot(at int32, r ir.Reg, is bool) bool
	// Vain reports whether nothing that is computed depends on whether a jump is taken. read reports whether an instruction that is none of some
	// reads a register.
	Vain(at int32, read func(r ir.Reg, some map[int32]bool) bool) bool
}

// ruleOut takes from what is lacking the outcomes of conditions that no input has, as far as a solver finds that out.
func (c *comparison) ruleOut() {
	if c.o.Solver == nil {
		return
	}
	c.needs()
	if c.ruledOut == nil {
		c.ruledOut = map[int32]bool{}
	}
	for i := range c.unused() {
		in, lacks := &c.program.Insts[i], c.lacks(i)
		gone := uint8(0)
		for _, x := range []struct {
			what uint8
			is   bool
		}{{seenPerformed, !in.Not}, {seenSkipped, in.Not}} {
			if lacks&x.what != 0 && c.idles(i, x.what, in.Guard, x.is) {
				gone |= x.what
			}
		}
		chosen := uint8(0) // what some choice of the instruction may do
		operations(c.program, i, func(_ site, o *ir.Op) {
			for _, x := range []struct {
				what uint8
				is   bool
			}{{seenFirst, true}, {seenSecond, false}} {
				if chooses(in, o) && lacks&x.what != 0 && !c.idles(i, x.what, o.Src[0], x.is) {
					chosen |= x.what
				}
			}
		})
		gone |= lacks & (seenFirst | seenSecond) &^ chosen
		if gone != 0 {
			c.need[i] &^= gone
			c.ruledOut[i] = true
		}
	}
	c.unreached()
}

// unreached finds the instructions of the machine code that write memory and to which no thread comes: loops that are unrolled for more than there
// may be to do.
func (c *comparison) unreached() {
	for i := range c.machine.Insts {
		in := &c.machine.Insts[i]
		if !writes(in.Do) || c.machineCover.Insts[i] || c.avoided[int32(i)] {
			continue
		}
		never := func(r ir.Reg, is bool) bool { return c.asks(1, c.machine, question{int32(i), r, is}) }
		if never(ir.None, true) || in.Guard >= 0 && never(in.Guard, !in.Not) {
			if c.avoided == nil {
				c.avoided = map[int32]bool{}
			}
			c.avoided[int32(i)] = true
		}
	}
}

// never reports whether no thread of the program comes to an instruction with a truth of a register.
func (c *comparison) never(at int32, r ir.Reg, is bool) bool {
	return c.o.Solver != nil && c.asks(0, c.program, question{at, r, is})
}

// idles reports whether an outcome, with a truth of a register, decides nothing at an instruction of the program: no thread has it there, or a run had
// it, and what is written is the same without.
func (c *comparison) idles(at int32, what uint8, r ir.Reg, is bool) bool {
	if c.never(at, r, is) {
		return true
	}
	had := func(s *comparison) bool { return s.made[showing{at, what}].in != nil }
	if c.o.Solver == nil || !had(c) && !slices.ContainsFunc(c.subs, had) {
		return false
	}
	q := question{at, r, is}
	out, ok := c.moot[q]
	if !ok {
		out = c.solver(0, c.program).Moot(at, r, is)
		c.moot[q] = out
	}
	return out
}

// asks asks Never once of one of the two codes: 0 is the program, 1 the machine code.
func (c *comparison) asks(side int, p *ir.Program, q question) bool {
	s := c.solver(side, p)
	out, ok := c.nevers[side][q]
	if !ok {
		out = s.Never(q.at, q.r, q.is)
		c.nevers[side][q] = out
	}
	return out
}

// solver is that of one of the two codes.
func (c *comparison) solver(side int, p *ir.Program) Solver {
	if c.solvers[side] == nil {
		c.solvers[side], c.nevers[side] = c.o.Solver(p), map[question]bool{}
	}
	return c.solvers[side]
}

// vainJump reports whether nothing depends on whether a jump of the program is taken.
func (c *comparison) vainJump(at int32) bool {
	if f, ok := c.program.Insts[at].Do.(*ir.Flow); !ok || f.Kind != ir.Jump || c.o.Solver == nil {
		return false
	}
	is, ok := c.vainJumps[at]
	if !ok {
		is = c.solver(0, c.program).Vain(at, func(r ir.Reg, some map[int32]bool) bool {
			return readOutside(c.program, func(x ir.Reg) bool { return x == r }, func(i int32) bool { return some[i] })
		})
		c.vainJumps[at] = is
	}
	return is
}

type question struct {
	at int32
	r  ir.Reg
	is bool
}

// constant reports whether a comparison has one outcome only, whatever the input.
func (c *comparison) constant(at int32, o *ir.Op) bool {
	next := at + 1
	if o.Dst < 0 || int(next) >= len(c.program.Insts) || !slices.Contains(c.program.After(at), next) {
		return false
	}
	return c.never(next, o.Dst, true) || c.never(next, o.Dst, false)
}
