package refine

import (
	"slices"

	"optcheck/ir"
)

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

// one32 is 1 as f32.
const one32 = 0x3f800000

// upwards are the operations whose results do not shrink where an operand grows, of numbers without a sign: rounding keeps the order.
var upwards = map[ir.Code]bool{ir.FAdd: true, ir.FMul: true, ir.FFma: true, ir.FSqrt: true, ir.FCvt: true, ir.FRint: true, ir.FToI: true, ir.Min: true, ir.Max: true}

// floating are the bounds of what an operation makes of floating-point numbers that have no sign, and of integers: such numbers are in the order
// of their words, up to the infinity.
func (x *registers) floating(inst int, o *ir.Op) (b bounds, ok bool) {
	b, ok = x.canonical(inst, o)
	if most, _ := infinity(o.Type); o.Mode&ir.AnyNaN != 0 && b.high > most {
		return b, false
	}
	return b, ok
}

// canonical is floating, where each NaN that is made is the one that PTX makes.
func (x *registers) canonical(inst int, o *ir.Op) (b bounds, ok bool) {
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
	case o.Mode&ir.Sat != 0 && (o.Code == ir.FCvt && o.To == ir.F32 || (o.Code == ir.FAdd || o.Code == ir.FMul || o.Code == ir.FFma) && o.Type == ir.F32):
		return bounds{0, one32}, true // of a NaN, too
	case !o.Type.Float():
		return b, false
	case o.Code == ir.Mov:
		return at(0), true
	case o.Code == ir.Sel:
		return at(1).join(at(2)), true
	case o.Code == ir.Abs, o.Code == ir.Approx && o.Imm == uint64(ir.ApproxEx2): // the NaN of such functions has no sign
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
	if ok {
		return ends(o, to, of...)
	}
	// PTX has one NaN of f32, without a sign (PTX ISA, 9.7.3).
	unsigned := bounds{0, within(31).high}
	return unsigned, to == ir.F32 && o.Type == ir.F32 && !slices.ContainsFunc(of, func(p bounds) bool { return p.high > unsigned.high })
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
