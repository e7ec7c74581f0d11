package refine

import "optcheck/ir"

// infinity is the word of the infinity of a type; ok is false of types that are not followed.
func infinity(t ir.Type) (v uint64, ok bool) {
	switch t {
	case ir.F32:
		return 0x7f800000, true
	case ir.F64:
		return 0x7ff << 52, true
	}
	return 0, false
}

// upwards are the operations whose results do not shrink where an operand grows, of numbers without a sign: rounding keeps the order.
var upwards = map[ir.Code]bool{ir.FAdd: true, ir.FMul: true, ir.FFma: true, ir.FSqrt: true, ir.FCvt: true, ir.FRint: true, ir.FToI: true, ir.Min: true, ir.Max: true}

// floating are the bounds of what an operation makes of floating-point numbers that have no sign, and of integers: such numbers are in the order
// of their words, up to the infinity.
func (x *registers) floating(inst int, o *ir.Op) (b bounds, ok bool) {
	at := func(n int) bounds { return x.at(inst, o.Src[n], o.Type.Bits()) }
	switch {
	case o.Code == ir.IToF:
		p, most := at(0), within(o.Type.Bits()).high
		if o.Type.Signed() {
			most >>= 1
		}
		if _, ok := infinity(o.To); !ok || p.high > most {
			return b, false
		}
		return ends(o, o.To, p)
	case !o.Type.Float():
		return b, false
	case o.Code == ir.Mov:
		return at(0), true
	case o.Code == ir.Sel:
		return at(1).join(at(2)), true
	case o.Code == ir.Abs:
		return bounds{0, within(o.Type.Bits() - 1).high}, true
	case !upwards[o.Code] || o.Mode&ir.XorSign != 0:
		return b, false
	}
	most, ok := infinity(o.Type)
	if o.Code == ir.FMul || o.Code == ir.FFma { // no infinity times 0
		most--
	}
	var of []bounds
	for n, r := range o.Src {
		if p := at(n); r != ir.None {
			of, ok = append(of, p), ok && p.high <= most
		}
	}
	to := o.Type
	if o.Code == ir.FCvt || o.Code == ir.FToI {
		to = o.To
	}
	if !ok {
		return b, false
	}
	return ends(o, to, of...)
}

// ends are the results of the least and the greatest operands.
func ends(o *ir.Op, to ir.Type, of ...bounds) (b bounds, ok bool) {
	var low, high [4]uint64
	for n, p := range of {
		low[n], high[n] = p.low, p.high
	}
	b = bounds{ir.Eval(o, &low, 0), ir.Eval(o, &high, 0)}
	most := within(to.Bits()).high
	if to.Float() {
		if most, ok = infinity(to); !ok {
			return b, false
		}
	}
	return b, b.low <= b.high && b.high <= most
}

// ordered reports whether two operands of a comparison of floating-point numbers are in the order of their words, and gives the comparison of such.
func ordered(o *ir.Op, a, b bounds) (c ir.Cond, ok bool) {
	most, ok := infinity(o.Type)
	if c = o.Cond; c >= ir.EQU && c <= ir.GEU { // neither is a NaN
		c -= ir.EQU - ir.EQ
	}
	return c, ok && c <= ir.GE && o.Mode&ir.FTZ == 0 && a.high <= most && b.high <= most
}
