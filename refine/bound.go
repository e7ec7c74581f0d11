package refine

import "optcheck/ir"

// bounds are the least and the greatest number that a register holds, of all that the program writes to it anywhere.
type bounds struct{ low, high uint64 }

func (b bounds) join(c bounds) bounds { return bounds{min(b.low, c.low), max(b.high, c.high)} }

// within are all numbers of so many bits.
func within(bits int) bounds { return bounds{0, ^uint64(0) >> (64 - min(max(bits, 1), 64))} }

// specials are the bounds of special registers (PTX ISA, 10).
func specials(r ir.SpecialReg) bounds {
	switch {
	case r <= ir.TidY:
		return bounds{0, 1023}
	case r == ir.TidZ:
		return bounds{0, 63}
	case r <= ir.NtidY:
		return bounds{1, 1024}
	case r == ir.NtidZ:
		return bounds{1, 64}
	case r >= ir.NctaidX && r <= ir.NctaidZ:
		return bounds{1, 1<<31 - 1}
	case r >= ir.CtaidX && r <= ir.CtaidZ:
		return bounds{0, 1<<31 - 2}
	case r == ir.LaneID:
		return bounds{0, 31}
	}
	return within(64)
}

// widenings is how often bounds grow step by step; those that grow on are none.
const widenings = 8

// registers are the bounds of a program's registers. A register that is not there may hold anything.
type registers struct {
	own func(inst int, r ir.Reg) ir.Reg
	of  map[ir.Reg]bounds
}

// at are those of a register as an instruction reads it, if it is an operand of so many bits.
func (x *registers) at(inst int, r ir.Reg, bits int) bounds {
	if b, ok := x.of[x.own(inst, r)]; ok && r >= 0 && b.high <= within(bits).high {
		return b
	}
	return within(bits)
}

// boundsOf finds the bounds of all registers, whatever the path.
func boundsOf(p *ir.Program) *registers {
	out := &registers{owned(p), map[ir.Reg]bounds{}}
	for r, v := range values(p) {
		out.of[r] = bounds{v, v}
	}
	for round := 0; ; round++ {
		changed := false
		for i := range p.Insts {
			in := &p.Insts[i]
			write := func(r ir.Reg, b bounds) {
				if r = out.own(i, r); r < 0 {
					return
				}
				was, known := out.of[r]
				if known {
					b = b.join(was)
				}
				if known && b == was {
					return
				}
				if round > widenings {
					b = within(64)
				}
				out.of[r], changed = b, true
			}
			for k := range in.Pre {
				write(in.Pre[k].Dst, out.result(i, &in.Pre[k]))
			}
			switch do := in.Do.(type) {
			case nil:
			case *ir.Special:
				write(do.Dst, specials(do.Reg))
			case *ir.Access:
				for _, r := range append(append([]ir.Reg{do.Done}, do.Data...), do.Dst...) {
					if bits := 8 * do.Bytes; do.Kind == ir.Load && !do.Type.Signed() && bits < 64 && len(do.Fragments) == 0 {
						write(r, within(bits))
					} else if do.Kind != ir.Store {
						write(r, within(64))
					}
				}
				for _, r := range do.Fragments {
					write(r, within(64))
				}
			case *ir.Barrier:
				write(do.Dst, within(64))
			default:
				for _, r := range written(in) {
					write(r, within(64))
				}
			}
			for k := range in.Post {
				write(in.Post[k].Dst, out.result(i, &in.Post[k]))
			}
		}
		if !changed {
			return out
		}
	}
}

// result are the bounds of what an operation makes.
func (x *registers) result(inst int, o *ir.Op) bounds {
	to := o.Type.Bits()
	if o.Code == ir.Ext || o.Code == ir.FToI {
		to = o.To.Bits()
	}
	full := within(to)
	of := func(n int) bounds { return x.at(inst, o.Src[n], o.Type.Bits()) }
	if o.Type.Float() || o.Code == ir.IToF {
		return within(64)
	}
	switch a, b := of(0), of(1); o.Code {
	case ir.Mov:
		return a
	case ir.Ext:
		if !o.Type.Signed() || a.high < 1<<(o.Type.Bits()-1) {
			return a
		}
	case ir.And:
		return bounds{0, min(a.high, b.high)}
	case ir.Shr:
		if b.low == b.high && b.low < 64 && (!o.Type.Signed() || a.high < 1<<(o.Type.Bits()-1)) {
			return bounds{a.low >> b.low, a.high >> b.low}
		}
	case ir.Add:
		if sum := a.high + b.high; sum >= a.high && sum <= full.high && o.Mode == 0 {
			return bounds{a.low + b.low, sum}
		}
	case ir.Rem:
		if !o.Type.Signed() && b.low > 0 {
			return bounds{0, b.high - 1}
		}
	case ir.Min:
		if !o.Type.Signed() {
			return bounds{min(a.low, b.low), min(a.high, b.high)}
		}
	case ir.Sel:
		return b.join(of(2))
	case ir.Cmp, ir.TestP, ir.Carry, ir.Borrow:
		return bounds{0, 1}
	case ir.Popc, ir.Clz:
		return bounds{0, 64}
	}
	return full
}

// possible is what a comparison may show, whatever the input.
func (x *registers) possible(inst int, o *ir.Op) uint8 {
	a, b := x.at(inst, o.Src[0], o.Type.Bits()), x.at(inst, o.Src[1], o.Type.Bits())
	most := within(o.Type.Bits()).high
	if o.Type.Signed() {
		most >>= 1
	}
	less, equal, greater := true, true, true
	switch {
	case o.Src[0] == o.Src[1] && !o.Type.Float():
		less, greater = false, false
	case o.Type.Float() || a.high > most || b.high > most:
	default:
		less, equal, greater = a.low < b.high, a.low <= b.high && b.low <= a.high, a.high > b.low
	}
	out := uint8(0)
	for _, order := range []struct {
		is    bool
		holds bool
	}{{less, o.Cond == ir.LT || o.Cond == ir.LE || o.Cond == ir.NE}, {equal, o.Cond == ir.LE || o.Cond == ir.GE || o.Cond == ir.EQ},
		{greater, o.Cond == ir.GT || o.Cond == ir.GE || o.Cond == ir.NE}} {
		switch {
		case order.is && order.holds:
			out |= seenTrue
		case order.is:
			out |= seenFalse
		}
	}
	if o.Type.Float() {
		out = seenFalse | seenTrue
	}
	if equal {
		out |= seenEqual
	}
	return out
}
