package refine

import "optcheck/ir"

// mostBlock is how many threads a block has at most (CUDA C++ Programming Guide, technical specifications per compute capability).
const mostBlock = 1024

// blockSize is what a register holds that is made of the extents of a block and of a thread's place in it: the product of some extents, the rank of
// a thread among the threads of some axes, or such a rank times the product of others.
type blockSize struct {
	kind   sizeKind
	of, by uint8 // axes, a bit each; by are those of a scaled rank's factor, which are some of them
}

type sizeKind uint8

const (
	sizeProduct sizeKind = iota + 1
	sizeRank
	sizeScaled
)

// sizes are the bounds of registers that hold sizes, of those that one instruction writes. They follow from the threads that a block may have,
// which the bounds of its extents do not say.
func sizes(p *ir.Program) func(inst int, r ir.Reg) (bounds, bool) {
	most := uint64(mostBlock)
	if n := p.Block[0] * p.Block[1] * p.Block[2]; n > 0 {
		most = min(most, uint64(n))
	}
	own := owned(p)
	writes, is, out := map[ir.Reg]int{}, map[ir.Reg]blockSize{}, map[ir.Reg]bounds{}
	for i := range p.Insts {
		operations(p, int32(i), func(_ site, o *ir.Op) { writes[own(i, o.Dst)]++ })
		eachWritten(&p.Insts[i], func(r ir.Reg, _ bounds) { writes[own(i, r)]++ })
	}
	note := func(i int, r ir.Reg, s blockSize) {
		if r = own(i, r); s.kind == 0 || r < 0 || writes[r] != 1 {
			return
		}
		if is[r] = s; s.kind == sizeProduct {
			out[r] = bounds{1, most}
		} else {
			out[r] = bounds{0, most - 1}
		}
	}
	for i := range p.Insts { // what is used before it is written is of another iteration, and unknown
		in := &p.Insts[i]
		each := func(list []ir.Op) {
			for k := range list {
				o := &list[k]
				note(i, o.Dst, sizeOf(o, is[own(i, o.Src[0])], is[own(i, o.Src[1])]))
			}
		}
		each(in.Pre)
		if s, ok := in.Do.(*ir.Special); ok {
			note(i, s.Dst, sizeOfSpecial(s.Reg))
		}
		each(in.Post)
	}
	return func(inst int, r ir.Reg) (bounds, bool) {
		b, ok := out[own(inst, r)]
		return b, ok
	}
}

func sizeOfSpecial(r ir.SpecialReg) blockSize {
	switch {
	case r >= ir.TidX && r <= ir.TidZ:
		return blockSize{sizeRank, 1 << (r - ir.TidX), 0}
	case r >= ir.NtidX && r <= ir.NtidZ:
		return blockSize{sizeProduct, 1 << (r - ir.NtidX), 0}
	}
	return blockSize{}
}

// sizeOf is what an operation makes of sizes.
func sizeOf(o *ir.Op, a, b blockSize) blockSize {
	if o.Type.Float() || o.Type.Bits() < 32 || o.Mode != 0 {
		return blockSize{}
	}
	switch {
	case o.Code == ir.Mov, o.Code == ir.Ext:
		return a
	case o.Code == ir.Mul && a.kind != 0 && b.kind != 0 && a.of&b.of == 0:
		if a.kind == sizeProduct {
			a, b = b, a
		}
		switch {
		case b.kind != sizeProduct:
		case a.kind == sizeProduct:
			return blockSize{sizeProduct, a.of | b.of, 0}
		case a.kind == sizeRank:
			return blockSize{sizeScaled, a.of | b.of, b.of}
		}
	case o.Code == ir.Add:
		if a.kind == sizeRank {
			a, b = b, a
		}
		if a.kind == sizeScaled && b.kind == sizeRank && a.by == b.of {
			return blockSize{sizeRank, a.of, 0}
		}
	}
	return blockSize{}
}
