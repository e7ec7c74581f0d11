package refine

import (
	"math/bits"
	"slices"

	"optcheck/ir"
)

// bounds are the least and the greatest number that a register holds, of all that the program writes to it anywhere.
type bounds struct{ low, high uint64 }

func (b bounds) join(c bounds) bounds { return bounds{min(b.low, c.low), max(b.high, c.high)} }

// within are all numbers of so many bits.
func within(width int) bounds { return bounds{0, ^uint64(0) >> (64 - min(max(width, 1), 64))} }

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

// registers are the bounds of a program's registers, as an instruction reads them.
type registers struct {
	of    func(inst int, r ir.Reg) bounds
	sizes func(inst int, r ir.Reg) (bounds, bool) // see sizes
	// finite are registers that hold finite floating-point numbers only, fixed those that hold a number for ever.
	finite map[ir.Reg]bool
	fixed  map[ir.Reg]uint64
}

// at are those of a register as an instruction reads it, if it is an operand of so many bits.
func (x *registers) at(inst int, r ir.Reg, width int) bounds {
	if r >= 0 {
		if b := x.of(inst, r); b.high <= within(width).high {
			return b
		}
	}
	return within(width)
}

// boundsOf finds the bounds of all registers, whatever the path.
func boundsOf(p *ir.Program) *registers {
	own, of := owned(p), map[ir.Reg]bounds{}
	out := &registers{of: func(inst int, r ir.Reg) bounds {
		if b, ok := of[own(inst, r)]; ok {
			return b
		}
		return within(64)
	}, sizes: sizes(p), finite: finite(p), fixed: values(p)}
	for r, b := range constantBounds(p) {
		of[r] = b
	}
	for round := 0; ; round++ {
		changed := false
		for i := range p.Insts {
			in := &p.Insts[i]
			write := func(r ir.Reg, b bounds) {
				if r = own(i, r); r < 0 {
					return
				}
				was, known := of[r]
				if known {
					b = b.join(was)
				}
				if known && b == was {
					return
				}
				if round > widenings {
					b = within(64)
				}
				of[r], changed = b, true
			}
			for k := range in.Pre {
				write(in.Pre[k].Dst, out.left(i, in, &in.Pre[k]))
			}
			eachWritten(in, write)
			for k := range in.Post {
				write(in.Post[k].Dst, out.left(i, in, &in.Post[k]))
			}
		}
		if !changed {
			return out
		}
	}
}

// left are the bounds of what an operation of an instruction leaves: of what a function of the CUDA system returns nothing is known.
func (x *registers) left(i int, in *ir.Inst, o *ir.Op) bounds {
	if in.Returned(o) {
		return within(64)
	}
	return x.result(i, o)
}

// eachWritten gives the registers that an instruction's effect writes, with what they may hold then.
func eachWritten(in *ir.Inst, write func(r ir.Reg, b bounds)) {
	switch do := in.Do.(type) {
	case nil:
	case *ir.Special:
		write(do.Dst, specials(do.Reg))
	case *ir.Access:
		what := within(64)
		if do.Kind == ir.Load && !do.Type.Signed() && len(do.Fragments) == 0 {
			what = within(8 * do.Bytes)
		}
		for _, r := range slices.Concat([]ir.Reg{do.Done}, do.Dst, do.Fragments) {
			write(r, what)
		}
		if do.Kind != ir.Store || len(do.Fragments) > 0 { // matrices are gathered there
			for _, r := range do.Data {
				write(r, what)
			}
		}
	case *ir.Barrier:
		write(do.Dst, within(64))
	default:
		for _, r := range in.Written() {
			write(r, within(64))
		}
	}
}

// constantBounds are the bounds of registers that never change.
func constantBounds(p *ir.Program) map[ir.Reg]bounds {
	out := map[ir.Reg]bounds{}
	for r, v := range values(p) {
		out[r] = bounds{v, v}
	}
	for _, c := range p.Consts {
		if c.Bytes == 0 || c.Symbol != "" {
			continue
		}
		b := within(8 * c.Bytes)
		for _, w := range p.Launch {
			if c.Bank == 0 && w.Offset == int64(c.Value) && w.Bytes == c.Bytes && w.Fixed == 0 {
				b = specials(w.Reg)
			}
		}
		out[c.Reg] = b
	}
	return out
}

// result are the bounds of what an operation makes.
func (x *registers) result(inst int, o *ir.Op) bounds {
	to := o.Type
	if o.Code == ir.Ext || o.Code == ir.FToI {
		to = o.To
	}
	full := within(to.Bits())
	if o.Code == ir.Funnel || o.Code > ir.Ext { // words, whatever the type is
		full = within(max(to.Bits(), 32))
	}
	if b, ok := x.floating(inst, o); ok {
		return b
	}
	switch o.Code {
	case ir.Cmp, ir.TestP, ir.Carry, ir.Borrow:
		return bounds{0, 1}
	case ir.Popc, ir.Clz:
		return bounds{0, 64}
	case ir.IToF, ir.Join, ir.Find:
		return within(64)
	}
	if o.Type.Float() && o.Code != ir.FToI {
		return within(64)
	}
	if b, ok := x.monotonic(inst, o); ok && b.high <= full.high {
		full = b
	}
	if b, ok := x.sizes(inst, o.Dst); ok {
		return bounds{max(full.low, b.low), min(full.high, b.high)}
	}
	return full
}

// monotonic are the bounds of what an operation makes of numbers without a sign, or that have none.
func (x *registers) monotonic(inst int, o *ir.Op) (b bounds, ok bool) {
	n := o.Type.Bits()
	most := within(n).high
	if o.Type.Signed() {
		most >>= 1
	}
	at := func(i int) bounds { return x.at(inst, o.Src[i], n) }
	p, q := at(0), at(1)
	positive := p.high <= most && q.high <= most
	plain := o.Mode&(ir.Sat|ir.Wrap|ir.Relu) == 0
	switch o.Code {
	case ir.Mov:
		return p, true
	case ir.Ext:
		return p, p.high <= most
	case ir.Add:
		if all := within(n).high; plain && n < 64 && p.low+q.low > all { // it wraps, as where 1 is taken by adding -1
			return bounds{p.low + q.low - all - 1, p.high + q.high - all - 1}, true
		}
		return bounds{p.low + q.low, p.high + q.high}, plain && p.high+q.high >= p.high
	case ir.Sub:
		return bounds{p.low - q.high, p.high - q.low}, plain && p.low >= q.high
	case ir.Mul:
		over, high := bits.Mul64(p.high, q.high)
		return bounds{p.low * q.low, high}, over == 0
	case ir.Div:
		return bounds{p.low / max(q.high, 1), p.high / max(q.low, 1)}, positive && q.low > 0
	case ir.Rem:
		return bounds{0, min(p.high, q.high-1)}, positive && q.low > 0
	case ir.Shl:
		k, all := q.low, within(n).high
		return bounds{p.low << k & all, p.high << k & all}, q.high == k && k < uint64(n) && p.low>>(uint64(n)-k) == p.high>>(uint64(n)-k)
	case ir.Shr:
		k := q.low
		return bounds{p.low >> k, p.high >> k}, q.high == k && k < uint64(n) && p.high <= most
	case ir.And:
		return bounds{0, min(p.high, q.high)}, true
	case ir.Or, ir.Xor:
		return bounds{0, upTo(p.high | q.high)}, true
	case ir.Lop3:
		return bounds{0, upTo(ones(o, p, q, at(2)))}, true
	case ir.Min:
		return bounds{min(p.low, q.low), min(p.high, q.high)}, positive && plain
	case ir.Max:
		return bounds{max(p.low, q.low), max(p.high, q.high)}, positive && plain
	case ir.Sel:
		switch c := x.at(inst, o.Src[0], 1); {
		case c.low == 1:
			return q, true
		case c.high == 0:
			return at(2), true
		}
		return q.join(at(2)), true
	}
	return b, false
}

// upTo is the greatest number that is no longer than another one.
func upTo(v uint64) uint64 { return within(bits.Len64(v)).high }

// ones are the bits that the result of an operation of any bits may have.
func ones(o *ir.Op, of ...bounds) (all uint64) {
	for row := range 8 {
		if o.Imm>>row&1 == 0 {
			continue
		}
		m := within(o.Type.Bits()).high
		for i, b := range of {
			may, is := upTo(b.high), uint64(0)
			if b.low == b.high {
				may, is = b.low, b.low
			}
			if row>>(2-i)&1 == 1 {
				m &= may
			} else {
				m &^= is
			}
		}
		all |= m
	}
	return all
}

// possible is what a comparison may show, whatever the input.
func (x *registers) possible(inst int, o *ir.Op) uint8 {
	a, b := x.at(inst, o.Src[0], o.Type.Bits()), x.at(inst, o.Src[1], o.Type.Bits())
	most := within(o.Type.Bits()).high
	if o.Type.Signed() {
		most >>= 1
	}
	less, equal, greater := true, true, true
	cond, signless := ordered(o, a, b)
	switch {
	case o.Src[0] == o.Src[1] && !o.Type.Float():
		less, greater = false, false
	case !signless && (o.Type.Float() || a.high > most || b.high > most):
	default:
		less, equal, greater = a.low < b.high, a.low <= b.high && b.low <= a.high, a.high > b.low
	}
	out := uint8(0)
	for _, order := range []struct {
		is    bool
		holds bool
	}{{less, cond == ir.LT || cond == ir.LE || cond == ir.NE}, {equal, cond == ir.LE || cond == ir.GE || cond == ir.EQ},
		{greater, cond == ir.GT || cond == ir.GE || cond == ir.NE}} {
		switch {
		case order.is && order.holds:
			out |= seenTrue
		case order.is:
			out |= seenFalse
		}
	}
	if shows, known := toInfinity(o, x.finite, x.fixed); o.Type.Float() && known {
		return uint8(1-shows)*seenFalse | uint8(shows)*seenTrue
	}
	if o.Type.Float() && !signless {
		out = seenFalse | seenTrue
	}
	if equal {
		out |= seenEqual
	}
	return out
}
