package refine

import (
	"iter"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// What compared runs have seen of the conditions of an instruction: that lanes did not perform it, that they did, and that they chose the second
// and the first of two numbers. A comparison may decide several conditions, each of which may be another one in machine code. Where comparisons are
// forced that is seen only if something depends on it: the machine code may have gone the other way.
const (
	seenSkipped = 1 << (3 + iota)
	seenPerformed
	seenSecond
	seenFirst
	seenUses = seenSkipped | seenPerformed | seenSecond | seenFirst
)

// ranges are what is known of the program's numbers, nil if nothing is: they are found out once.
func (c *comparison) ranges() *ranges {
	if !c.ranged {
		c.ranged, c.may = true, rangesOf(c.program)
	}
	return c.may
}

// needs are, by instruction, what can be shown of it: outcomes of conditions only if a thread may have them.
func (c *comparison) needs() []uint8 {
	if c.need != nil {
		return c.need
	}
	may := c.ranges()
	c.idle = map[int32]uint8{}
	c.need = make([]uint8, len(c.program.Insts))
	for i := range c.program.Insts {
		in := &c.program.Insts[i]
		what, compares := uint8(0), false
		if in.Guard >= 0 {
			what = seenSkipped | seenPerformed
			if some := idle(c.program, int32(i)); some != 0 {
				what &^= some
				c.idle[int32(i)] = some
			}
		}
		operations(c.program, int32(i), func(_ site, o *ir.Op) {
			if chooses(in, o) {
				what |= seenFirst | seenSecond
			}
			compares = compares || o.Code == ir.Cmp
		})
		if may != nil {
			what &= may.outcomes[i]
		}
		if compares {
			what |= seenAll
		}
		c.need[i] = what
	}
	return c.need
}

// lacks are the outcomes of conditions of an instruction that a thread may have, and of which compared runs have seen none. Nothing is lacking
// where nobody came.
func (c *comparison) lacks(at int32) uint8 {
	was, reached := c.shown[at]
	if !reached && !c.sourceCover.Insts[at] {
		return 0
	}
	return c.needs()[at] & seenUses &^ was
}

// unused are the instructions with such conditions.
func (c *comparison) unused() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(len(c.program.Insts)) {
			if c.lacks(i) != 0 && !yield(i) {
				return
			}
		}
	}
}

// chooses reports whether an operation chooses one of two numbers by a predicate that another instruction has made.
func chooses(in *ir.Inst, o *ir.Op) bool {
	return o.Code == ir.Sel && !slices.ContainsFunc(slices.Concat(in.Pre, in.Post), func(d ir.Op) bool { return d.Dst == o.Src[0] })
}

// uses notes what the lanes that begin an instruction show of its conditions.
func (h *shade) uses(w *emu.Warp, pc int32, in *ir.Inst, act uint32) {
	var all uint8
	need := h.needs()[pc]
	if need&(seenSkipped|seenPerformed) != 0 {
		if act != 0 {
			all |= seenPerformed
		}
		if w.Group&^act != 0 {
			all |= seenSkipped
		}
	}
	if need&(seenFirst|seenSecond) != 0 {
		operations(h.p, pc, func(_ site, o *ir.Op) {
			for x := act; x != 0 && chooses(in, o); x &= x - 1 {
				all |= seenFirst >> (1 - w.Reg(o.Src[0], bits.TrailingZeros32(x))&1)
			}
		})
	}
	h.noted(pc, all&need)
}

// otherwiseUsed is the program with a condition of an instruction that never shows what it showed.
func (c *comparison) otherwiseUsed(at showing) (*emu.Code, error) {
	q := alter(c.program)
	in := q.own(at.inst)
	switch at.what {
	case seenSkipped:
		in.Guard, in.Not = ir.None, false
	case seenPerformed:
		in.Guard, in.Not = q.constant(ir.Const{}), false
	default:
		operations(&q.Program, at.inst, func(_ site, o *ir.Op) {
			if chooses(&c.program.Insts[at.inst], o) {
				*o = ir.Op{Code: ir.Mov, Type: o.Type, To: o.To, Dst: o.Dst, Src: [4]ir.Reg{o.Src[1+bit(at.what == seenFirst)], ir.None, ir.None, ir.None}}
			}
		})
	}
	return emu.Prepare(&q.Program)
}
