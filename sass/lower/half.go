package lower

import (
	"slices"

	"optcheck/ir"
	"optcheck/isa"
)

// halfType takes the type of packed halves.
func (s *step) halfType() ir.Type {
	if s.mod("BF16_V2") {
		return ir.BF16x2
	}
	return ir.F16x2
}

const (
	halfSigns = 0x80008000
	lowHalf   = 0xffff
)

// halfPair takes an operand of two halves, with the choice of halves, | | and - applied. An immediate is printed as two
// numbers.
func (s *step) halfPair() ir.Reg {
	o := s.next()
	if o.Kind == isa.OpdFloat {
		if second := s.next(); second.Kind != isa.OpdFloat {
			s.fail("operand %s of %s", second.Text, s.in.Op)
		}
		return s.k(s.literal())
	}
	part := o.Part
	o.Part = ""
	s.bare(&o, true, false, true)
	v := s.raw(&o)
	switch part {
	case "":
	case "H0_H0":
		lo := s.op(ir.And, ir.U32, v, s.k(lowHalf))
		v = s.pack(lo, lo)
	case "H1_H1":
		hi := s.op(ir.Shr, ir.U32, v, s.k(16))
		v = s.pack(hi, hi)
	default:
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	return s.signed(v, ir.U32, halfSigns, &o)
}

// half16 is a half of a register: R2 or R2.H0 the low one, R2.H1 the high one.
func (s *step) half16(o *isa.Operand) ir.Reg {
	part := o.Part
	o.Part = ""
	s.bare(o, true, false, true)
	v := s.raw(o)
	switch part {
	case "", "H0":
		v = s.op(ir.And, ir.U32, v, s.k(lowHalf))
	case "H1":
		v = s.op(ir.Shr, ir.U32, v, s.k(16))
	default:
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	return s.signed(v, ir.U32, 0x8000, o)
}

// harith: HADD2, HMUL2, HFMA2[.MMA] d, a, b [, c].
func harith(code ir.Code, n int) func(*step) {
	return func(s *step) {
		s.mod("MMA") // a unit
		if code == ir.FAdd && s.mod("F32") {
			hadd2f32(s)
			return
		}
		t, m := s.halfType(), s.floatMode()
		d := s.dst()
		var src []ir.Reg
		for range n {
			src = append(src, s.halfPair())
		}
		s.result(d, s.fop(code, t, m, src...))
	}
}

// hadd2f32: HADD2.F32[.SAT] d, -RZ, a.Hn_Hn, or d, a.Hn_Hn, -RZ (before sm_80): the half as an f32.
func hadd2f32(s *step) {
	m := ir.Mode(0)
	if s.mod("SAT") {
		m = ir.Sat
	}
	d := s.dst()
	nothing := func(o *isa.Operand) bool {
		return isReg(o) && o.Zero && o.Neg && !o.Abs && (o.Part == "" || o.Part == "H0_H0")
	}
	if len(s.args) == 2 && nothing(&s.args[1]) {
		s.args = []isa.Operand{s.args[1], s.args[0]}
	}
	if zero := s.next(); !nothing(&zero) {
		s.fail("operand %s of HADD2.F32", zero.Text)
	}
	o := s.peek()
	if o == nil || o.Part != "H0_H0" && o.Part != "H1_H1" {
		s.fail("HADD2.F32 of two halves")
		return
	}
	v := s.halfPair()
	s.result(d, s.opTo(ir.FCvt, ir.F16, func(o *ir.Op) { o.To, o.Mode = ir.F32, m }, s.op(ir.And, ir.U32, v, s.k(lowHalf))))
}

// vhmnmx: VHMNMX d, a, b, c, p: HMNMX2 of three.
func vhmnmx(s *step) {
	t, m := s.halfType(), s.minMaxMode()
	if m&ir.XorSign != 0 {
		s.fail("VHMNMX.XORSIGN")
	}
	d := s.dst()
	a, b, c := s.halfPair(), s.halfPair(), s.halfPair()
	p := s.pred()
	s.result(d, s.fminmax(p, t, m, s.fminmax(p, t, m, a, b), c))
}

// hmnmx2: HMNMX2 d, a, b, p.
func hmnmx2(s *step) {
	t, m := s.halfType(), s.minMaxMode()
	d := s.dst()
	s.magnitudes(m)
	a, b := s.halfPair(), s.halfPair()
	s.result(d, s.fminmax(s.pred(), t, m, a, b))
}

// compareHalves takes a comparison with its operands, and gives those of the low and of the high halves, combined with a
// predicate.
func (s *step) compareHalves(dsts func()) (lo, hi ir.Reg) {
	t := ir.F16
	if s.halfType() == ir.BF16x2 {
		t = ir.BF16
	}
	c := s.cond(floatConds)
	m := ir.Mode(0)
	if s.mod("FTZ") {
		m = ir.FTZ
	}
	how := s.oneOf("AND OR XOR")
	dsts()
	a, b := s.halfPair(), s.halfPair()
	r := s.pred()
	lo = s.fcompare(c, t, m, s.op(ir.And, ir.U32, a, s.k(lowHalf)), s.op(ir.And, ir.U32, b, s.k(lowHalf)))
	hi = s.fcompare(c, t, m, s.op(ir.Shr, ir.U32, a, s.k(16)), s.op(ir.Shr, ir.U32, b, s.k(16)))
	return s.combined(how, lo, r), s.combined(how, hi, r)
}

// hsetp2: HSETP2.cond.bool p, q, a, b, r: p of the low halves, q of the high ones.
func hsetp2(s *step) {
	var p, q ir.Reg
	lo, hi := s.compareHalves(func() { p, q = s.predDst(), s.predDst() })
	s.setPred(p, lo)
	s.setPred(q, hi)
}

// hset2: HSET2[.BF].cond.bool d, a, b, r: 1.0 (.BF) or all ones for each half.
func hset2(s *step) {
	bf := s.mod("BF")
	ones := uint64(lowHalf)
	if bf {
		ones = 0x3c00
		if slices.Contains(s.mods, "BF16_V2") {
			ones = 0x3f80
		}
	}
	var d isa.Operand
	lo, hi := s.compareHalves(func() { d = s.dst() })
	s.result(d, s.pack(s.choose(lo, s.k(ones), s.k(0)), s.choose(hi, s.k(ones), s.k(0))))
}
