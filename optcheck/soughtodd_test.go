package optcheck

import (
	"math/rand/v2"
	"slices"

	"optcheck/isa"
)

// odd are changes by which an instruction becomes one that no compiler emits and a listing may have: of another kind, with
// operands that do not belong to it, or without those that do.
var odd = []func(rnd *rand.Rand, in, as *isa.Inst){
	func(_ *rand.Rand, in, _ *isa.Inst) { in.Guard.Never = !in.Guard.Never },
	func(_ *rand.Rand, in, as *isa.Inst) {
		in.Guard, in.Uses = as.Guard, append(slices.Clone(in.Uses), as.Uses...)
	},
	func(_ *rand.Rand, in, as *isa.Inst) { in.Op = as.Op },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Mods = fewer(rnd, in.Mods, as.Mods) },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Args = fewer(rnd, in.Args, as.Args) },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Micro = fewer(rnd, in.Micro, as.Micro) },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Data = fewer(rnd, in.Data, as.Data) },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Defs = fewer(rnd, in.Defs, as.Defs) },
	func(rnd *rand.Rand, in, as *isa.Inst) { in.Addrs = fewer(rnd, in.Addrs, as.Addrs) },
	func(rnd *rand.Rand, in, as *isa.Inst) {
		in.Counts, in.Waits = as.Counts, fewer(rnd, in.Waits, as.Waits)
	},
	func(rnd *rand.Rand, in, _ *isa.Inst) { in.Role = isa.Role(rnd.IntN(int(isa.RoleCopy) + 1)) },
	func(_ *rand.Rand, in, as *isa.Inst) { in.Role, in.Mem = as.Role, as.Mem },
	func(_ *rand.Rand, in, as *isa.Inst) { in.Flow, in.Target, in.Targets = as.Flow, as.Target, as.Targets },
	func(rnd *rand.Rand, in, _ *isa.Inst) { in.Flow = isa.Flow(rnd.IntN(int(isa.FlowTrap) + 1)) },
	func(_ *rand.Rand, in, _ *isa.Inst) { in.Targets = nil },
	func(rnd *rand.Rand, in, _ *isa.Inst) { in.Src.Line += rnd.IntN(5) - 2 },
	func(rnd *rand.Rand, in, _ *isa.Inst) {
		c := &in.Control
		*anyOf(rnd, []*uint8{&c.Wait, &c.Write, &c.Read}) = uint8(rnd.IntN(8))
	},
	func(rnd *rand.Rand, in, as *isa.Inst) {
		m := &in.Mem
		switch rnd.IntN(7) {
		case 0:
			m.Locked = !m.Locked
		case 1:
			m.Scalar = !m.Scalar
		case 2:
			m.Width = anyOf(rnd, []int{1, 2, 4, 8, 12, 16})
		case 3:
			m.Space = isa.Space(rnd.IntN(int(isa.SpaceRegion) + 1))
		case 4:
			m.Atom, m.Type = as.Mem.Atom, as.Mem.Type
		case 5:
			m.Invalidate, m.WriteBack = !m.Invalidate, rnd.IntN(2) == 0
		case 6:
			m.Bits, m.Cache = as.Mem.Bits, as.Mem.Cache
		}
	},
	func(rnd *rand.Rand, in, as *isa.Inst) { // an operand is another one, or another kind of one
		if in.Args = slices.Clone(in.Args); len(in.Args) > 0 {
			oddOperand(rnd, &in.Args[rnd.IntN(len(in.Args))], as.Args)
		}
	},
	func(rnd *rand.Rand, in, as *isa.Inst) { // an operation has other sources, or is another one
		if in.Micro = slices.Clone(in.Micro); len(in.Micro) == 0 {
			return
		}
		mi, of := &in.Micro[rnd.IntN(len(in.Micro))], as.Micro
		mi.Src = slices.Clone(mi.Src)
		switch k := rnd.IntN(8); {
		case k == 0:
			mi.Op = isa.MicroOp(rnd.IntN(int(isa.MicroLaneSet) + 1))
		case k == 1:
			mi.Bool = anyOf(rnd, []string{"", "AND", "OR", "XOR", "NAND"})
		case k == 2:
			mi.Cmp = anyOf(rnd, []string{"", "EQ", "NE", "LT", "LE", "NUM"})
		case k == 3:
			mi.Half = anyOf(rnd, []string{"", "l", "h"})
		case k == 4 && len(of) > 0:
			mi.Src = fewer(rnd, mi.Src, of[0].Src)
		case k > 4 && len(mi.Src) > 0 && len(of) > 0:
			oddOperand(rnd, &mi.Src[rnd.IntN(len(mi.Src))], of[0].Src)
		}
	},
}

// fewer is a list without an element, with one more, or another one.
func fewer[T any](rnd *rand.Rand, list, other []T) []T {
	list = slices.Clone(list)
	switch n := len(list); {
	case n > 0 && rnd.IntN(2) == 0:
		return slices.Delete(list, 0, 1)
	case n > 0 && rnd.IntN(2) == 0:
		return list[:n-1]
	case len(other) > 0 && rnd.IntN(2) == 0:
		return append(list, anyOf(rnd, other))
	}
	return other
}

func oddOperand(rnd *rand.Rand, o *isa.Operand, as []isa.Operand) {
	switch k := rnd.IntN(8); {
	case k == 0:
		o.Zero = !o.Zero
	case k == 1:
		o.Not = !o.Not
	case k == 2:
		o.Neg = !o.Neg
	case k == 3:
		*o = isa.Operand{Kind: isa.OpdImm, Imm: int64(anyOf(rnd, constants)), Words: 1}
	case k == 4:
		o.Kind = isa.OperandKind(rnd.IntN(int(isa.OpdSpecial) + 1))
	case k == 5:
		o.Part = anyOf(rnd, []string{"", "l", "h", "lo", "hi"})
	case len(as) > 0:
		*o = anyOf(rnd, as)
	}
}

// oddly is a change by one of odd.
func oddly(s *splicer, f *isa.Func, i int) bool {
	as := anyOf(s.rnd, f.Insts)
	if s.rnd.IntN(3) == 0 {
		as = *anyOf(s.rnd, s.pool)
	}
	if as.Target >= len(f.Insts) {
		as.Target = s.rnd.IntN(len(f.Insts))
	}
	anyOf(s.rnd, odd)(s.rnd, &f.Insts[i], &as)
	if in := &f.Insts[i]; in.Flow == isa.FlowNext || in.Target < 0 {
		in.Target = -1
	}
	return true
}
