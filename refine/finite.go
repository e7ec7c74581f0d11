package refine

import "optcheck/ir"

// finite are the registers of a program that hold finite floating-point numbers only: integers that were converted, and what is made of these by
// changing the sign or by choosing one.
func finite(p *ir.Program) map[ir.Reg]bool {
	own, out := owned(p), map[ir.Reg]bool{}
	for r, v := range values(p) {
		out[r] = v>>23&0xff != 0xff && v>>52&0x7ff != 0x7ff && v>>10&0x1f != 0x1f // of whichever type
	}
	is := func(i int, o *ir.Op) bool {
		all := func(of ...ir.Reg) bool {
			for _, r := range of {
				if !out[own(i, r)] {
					return false
				}
			}
			return true
		}
		switch o.Code {
		case ir.IToF:
			return o.To != ir.F16 // of which great numbers are none
		case ir.Mov, ir.Abs, ir.Neg, ir.FRint:
			return all(o.Src[0])
		case ir.Ext:
			return o.Type.Bits() >= 32 && all(o.Src[0])
		case ir.Sel:
			return all(o.Src[1], o.Src[2])
		}
		return false
	}
	each := func(do func(r ir.Reg, ok bool)) {
		for i := range p.Insts {
			eachWritten(&p.Insts[i], func(r ir.Reg, _ bounds) { do(own(i, r), false) })
			operations(p, int32(i), func(_ site, o *ir.Op) { do(own(i, o.Dst), is(i, o)) })
		}
	}
	each(func(r ir.Reg, _ bool) { out[r] = true })
	for changed := true; changed; {
		changed = false
		each(func(r ir.Reg, ok bool) {
			if !ok && out[r] {
				out[r], changed = false, true
			}
		})
	}
	return out
}

// toInfinity reports what a comparison of a finite number with an infinity shows; known is false if it is none.
func toInfinity(o *ir.Op, is map[ir.Reg]bool, value map[ir.Reg]uint64) (shows uint64, known bool) {
	most, follows := infinity(o.Type)
	infinite := func(r ir.Reg) bool {
		v, ok := value[r]
		return ok && follows && v&within(o.Type.Bits()-1).high == most
	}
	for n := range 2 {
		if with := o.Src[1-n]; is[o.Src[n]] && infinite(with) {
			var s [4]uint64
			s[1-n] = value[with]
			return ir.Eval(o, &s, 0), true
		}
	}
	return 0, false
}
