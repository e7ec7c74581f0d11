package lower

import (
	"math"
	"slices"

	"optcheck/ir"
	"optcheck/ir/fp"
	"optcheck/isa"
)

// floatMode takes the modifiers of floating-point arithmetic.
func (s *step) floatMode() ir.Mode {
	m := s.rounding()
	for _, x := range []struct {
		name string
		mode ir.Mode
	}{{"FTZ", ir.FTZ}, {"SAT", ir.Sat}, {"RELU", ir.Relu}} {
		if s.mod(x.name) {
			m |= x.mode
		}
	}
	return m
}

// rounding takes the rounding of a result that is not an integer.
func (s *step) rounding() ir.Mode {
	r := map[string]fp.Round{"RZ": fp.RZ, "RM": fp.RM, "RP": fp.RP}
	return ir.Mode(r[s.oneOf("RN RZ RM RP")])
}

// integral takes the rounding to an integer.
func (s *step) integral() ir.Mode {
	r := map[string]fp.Round{"TRUNC": fp.RZ, "FLOOR": fp.RM, "CEIL": fp.RP}
	return ir.Mode(r[s.oneOf("TRUNC FLOOR CEIL")])
}

// fop is an operation of floating-point numbers.
func (s *step) fop(code ir.Code, t ir.Type, m ir.Mode, src ...ir.Reg) ir.Reg {
	return s.opTo(code, t, func(o *ir.Op) { o.Mode = m }, src...)
}

// float takes a floating-point operand of a type, F32 or F64, with | | and - applied.
func (s *step) float(t ir.Type) ir.Reg {
	o := s.next()
	s.bare(&o, true, false, true)
	u := ir.Unsigned(t.Bits())
	var v ir.Reg
	switch {
	case o.Kind == isa.OpdFloat && t == ir.F64:
		v = s.k(s.literal() << 32)
	case o.Kind == isa.OpdImm && t == ir.F64:
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return s.k(0)
	case t == ir.F64:
		v = s.raw64(&o)
	default:
		v = s.raw(&o)
	}
	if _, known := s.constant(v); t == ir.F64 && !known { // whose NaNs keep their signs
		if o.Abs {
			v = s.fop(ir.Abs, t, 0, v)
		}
		if o.Neg {
			v = s.fop(ir.Neg, t, 0, v)
		}
		return v
	}
	return s.signed(v, u, uint64(1)<<(t.Bits()-1), &o)
}

// signed applies | | and - of an operand to numbers whose signs are the bits of a mask.
func (s *step) signed(v ir.Reg, t ir.Type, sign uint64, o *isa.Operand) ir.Reg {
	x, known := s.constant(v)
	switch {
	case known && o.Abs && o.Neg:
		return s.k(x | sign)
	case known && o.Abs:
		return s.k(x &^ sign)
	case known && o.Neg:
		return s.k(x ^ sign)
	case o.Abs && o.Neg:
		return s.op(ir.Or, t, v, s.k(sign))
	case o.Abs:
		return s.op(ir.And, t, v, s.k(^sign&(1<<(t.Bits()-1)<<1-1)))
	case o.Neg:
		return s.op(ir.Xor, t, v, s.k(sign))
	}
	return v
}

// fresult sets the register or pair of a result.
func (s *step) fresult(d isa.Operand, t ir.Type, v ir.Reg) {
	if t == ir.F64 {
		s.result64(d, v)
		return
	}
	s.result(d, v)
}

// farith: FADD, FMUL, FFMA, DADD, DMUL, DFMA d, a, b [, c].
func farith(code ir.Code, t ir.Type, n int) func(*step) {
	return func(s *step) {
		m := s.floatMode()
		d := s.dst()
		var src []ir.Reg
		for range n {
			src = append(src, s.float(t))
		}
		s.fresult(d, t, s.fop(code, t, m, src...))
	}
}

// scales are what FMUL multiplies a product with before it rounds.
var scales = map[string]float64{"D2": 1. / 2, "D4": 1. / 4, "D8": 1. / 8, "M2": 2, "M4": 4, "M8": 8}

// fmul: FMUL[.D2|.D4|.D8|.M2|.M4|.M8] d, a, b. A product of f32 is one of f64 exactly.
func fmul(s *step) {
	by, scaled := scales[s.oneOf("D2 D4 D8 M2 M4 M8")]
	if !scaled {
		farith(ir.FMul, ir.F32, 2)(s)
		return
	}
	m := s.floatMode()
	d := s.dst()
	wide := func() ir.Reg {
		return s.opTo(ir.FCvt, ir.F32, func(o *ir.Op) { o.To, o.Mode = ir.F64, m&ir.FTZ }, s.float(ir.F32))
	}
	v := s.fop(ir.FMul, ir.F64, 0, wide(), wide())
	v = s.fop(ir.FMul, ir.F64, 0, v, s.k(math.Float64bits(by)))
	v = s.opTo(ir.FCvt, ir.F64, func(o *ir.Op) { o.To, o.Mode = ir.F32, m }, v)
	s.result(d, s.fop(ir.FMul, ir.F32, 0, v, s.k(uint64(math.Float32bits(1))))) // what is no number is the NaN of products
}

// minMaxMode takes the modifiers of minima and maxima.
func (s *step) minMaxMode() ir.Mode {
	m := ir.Mode(0)
	for _, x := range []struct {
		name string
		mode ir.Mode
	}{{"FTZ", ir.FTZ}, {"NAN", ir.NaN}, {"XORSIGN", ir.XorSign}} {
		if s.mod(x.name) {
			m |= x.mode
		}
	}
	return m
}

// fmnmx: FMNMX, DMNMX d, a, b, p: p ? min : max.
func fmnmx(t ir.Type) func(*step) {
	return func(s *step) {
		m := s.minMaxMode()
		d := s.dst()
		s.magnitudes(m)
		a, b := s.float(t), s.float(t)
		s.fresult(d, t, s.fminmax(s.pred(), t, m, a, b))
	}
}

// magnitudes removes | | from the two operands of .XORSIGN, which must have it and nothing else: the minimum is of the
// magnitudes, with the signs of the operands themselves.
func (s *step) magnitudes(m ir.Mode) {
	if m&ir.XorSign == 0 {
		return
	}
	s.args = slices.Clone(s.args)
	for i := range min(2, len(s.args)) {
		if o := &s.args[i]; !o.Abs || o.Neg {
			s.fail("operand %s of %s", o.Text, s.in.Op)
		} else {
			o.Abs = false
		}
	}
}

// fminmax is the minimum if p is 1, else the maximum.
func (s *step) fminmax(p ir.Reg, t ir.Type, m ir.Mode, a, b ir.Reg) ir.Reg {
	if s.is(p, 1) {
		return s.fop(ir.Min, t, m, a, b)
	}
	if s.is(p, 0) {
		return s.fop(ir.Max, t, m, a, b)
	}
	return s.choose(p, s.fop(ir.Min, t, m, a, b), s.fop(ir.Max, t, m, a, b))
}

const floatConds = intConds + " LTU EQU LEU GTU NEU GEU NUM NAN"

// fcompare is the comparison of two numbers.
func (s *step) fcompare(c ir.Cond, t ir.Type, m ir.Mode, a, b ir.Reg) ir.Reg {
	return s.opTo(ir.Cmp, t, func(o *ir.Op) { o.Cond, o.Mode = c, m }, a, b)
}

// fsetp: FSETP, DSETP.cond[.FTZ].bool p, q, a, b, r; .MIN and .MAX say which of two is the minimum or maximum.
func fsetp(t ir.Type) func(*step) {
	return func(s *step) {
		extreme := ""
		if t == ir.F64 {
			extreme = s.oneOf("MIN MAX")
		}
		c := ir.Never
		if extreme == "" {
			c = s.cond(floatConds)
		}
		m := ir.Mode(0)
		if s.mod("FTZ") {
			m = ir.FTZ
		}
		how := s.oneOf("AND OR XOR")
		p, q := s.predDst(), s.predDst()
		a, b := s.float(t), s.float(t)
		r := s.pred()
		if extreme != "" {
			s.extreme(extreme, p, q, a, b)
			if how != "AND" || !s.is(r, 1) {
				s.fail("DSETP.%s with a predicate", extreme)
			}
			return
		}
		s.combine(how, p, q, s.fcompare(c, t, m, a, b), r)
	}
}

// extreme gives p whether a is the minimum or maximum of a and b, q whether both are NaN.
func (s *step) extreme(kind string, p, q, a, b ir.Reg) {
	code := ir.Min
	if kind == "MAX" {
		code = ir.Max
	}
	nanA, nanB := s.fcompare(ir.Unordered, ir.F64, 0, a, a), s.fcompare(ir.Unordered, ir.F64, 0, b, b)
	if p != ir.None {
		first := s.op(ir.Or, ir.Pred, nanB, s.cmp(ir.EQ, ir.U64, s.fop(code, ir.F64, 0, a, b), a))
		s.setPred(p, s.op(ir.And, ir.Pred, first, s.op(ir.Xor, ir.Pred, nanA, s.k(1))))
	}
	if q != ir.None {
		s.setPred(q, s.op(ir.And, ir.Pred, nanA, nanB))
	}
}

// fset: FSET[.BF].cond[.FTZ].bool d, a, b, r: 1.0 (.BF) or all ones.
func fset(s *step) {
	ones := uint64(1<<32 - 1)
	if s.mod("BF") {
		ones = 0x3f800000
	}
	c := s.cond(floatConds)
	m := ir.Mode(0)
	if s.mod("FTZ") {
		m = ir.FTZ
	}
	how := s.oneOf("AND OR XOR")
	d := s.dst()
	a, b := s.float(ir.F32), s.float(ir.F32)
	r := s.pred()
	s.result(d, s.choose(s.combined(how, s.fcompare(c, ir.F32, m, a, b), r), s.k(ones), s.k(0)))
}

// combined is a truth combined with a predicate.
func (s *step) combined(how string, truth, r ir.Reg) ir.Reg {
	code, ok := map[string]ir.Code{"AND": ir.And, "OR": ir.Or, "XOR": ir.Xor}[how]
	if !ok {
		s.fail("%s without AND, OR or XOR", s.in.Op)
	}
	return s.op(code, ir.Pred, truth, r)
}

// fsel: FSEL d, a, b, p.
func fsel(s *step) {
	d := s.dst()
	a, b := s.float(ir.F32), s.float(ir.F32)
	s.result(d, s.choose(s.pred(), a, b))
}

var approximations = map[string]ir.Approximate{"RCP": ir.ApproxRcp, "RSQ": ir.ApproxRsqrt, "SQRT": ir.ApproxSqrt, "EX2": ir.ApproxEx2,
	"LG2": ir.ApproxLg2, "SIN": ir.ApproxSinTurn, "COS": ir.ApproxCosTurn, "TANH": ir.ApproxTanh, "RCP64H": ir.ApproxRcp64H,
	"RSQ64H": ir.ApproxRsqrt64H}

// mufu: MUFU.function[.F16|.BF16_V2] d, a.
func mufu(s *step) {
	name := s.oneOf("RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H")
	f, ok := approximations[name]
	if !ok {
		s.fail("MUFU of unknown function")
	}
	t := ir.F32
	if s.mod("F16") {
		t = ir.F16
	}
	d := s.dst()
	var a ir.Reg
	if t == ir.F16 {
		o := s.next()
		a = s.half16(&o)
	} else {
		a = s.float(ir.F32)
	}
	if t == ir.F32 && name != "RCP64H" && name != "RSQ64H" {
		a = s.fop(ir.FMul, t, ir.FTZ, a, s.k(0x3f800000)) // subnormal operands are zero
	}
	s.result(d, s.opTo(ir.Approx, t, func(o *ir.Op) { o.Imm = uint64(f) }, a))
}

// fchk: FCHK p, a, b: whether a / b needs the slow path. The fast one is exact where the exponents are neither extreme nor
// far apart, the slow one everywhere.
func fchk(s *step) {
	p := s.predDst()
	a, b := s.float(ir.F32), s.float(ir.F32)
	ea, eb := s.exponent(a), s.exponent(b)
	ok := s.k(1)
	for _, x := range []struct {
		e        ir.Reg
		low, top uint64
	}{{ea, 26, 253}, {eb, 2, 251}, {s.op(ir.Sub, ir.U32, s.op(ir.Add, ir.U32, ea, s.k(256)), eb), 256 - 119, 256 + 119}} {
		ok = s.op(ir.And, ir.Pred, ok, s.cmp(ir.GE, ir.U32, x.e, s.k(x.low)))
		ok = s.op(ir.And, ir.Pred, ok, s.cmp(ir.LE, ir.U32, x.e, s.k(x.top)))
	}
	s.setPred(p, s.op(ir.Xor, ir.Pred, ok, s.k(1)))
}

// exponent is the biased exponent of an f32.
func (s *step) exponent(a ir.Reg) ir.Reg {
	return s.op(ir.And, ir.U32, s.op(ir.Shr, ir.U32, a, s.k(23)), s.k(255))
}
