package lower

import (
	"slices"

	"optcheck/ir"
)

var intTypes = map[string]ir.Type{"U8": ir.U8, "S8": ir.S8, "U16": ir.U16, "S16": ir.S16, "U32": ir.U32, "S32": ir.S32,
	"U64": ir.U64, "S64": ir.S64}

var floatTypes = map[string]ir.Type{"F16": ir.F16, "BF16": ir.BF16, "F32": ir.F32, "F64": ir.F64}

// intType takes the type of integers of a conversion, S32 if none is printed.
func (s *step) intType() ir.Type {
	if m := s.oneOf("U8 S8 U16 S16 U32 S32 U64 S64"); m != "" {
		return intTypes[m]
	}
	return ir.S32
}

// floatType takes a type of floating-point numbers of a conversion, F32 if none is printed.
func (s *step) floatType() ir.Type {
	if m := s.oneOf("F16 BF16 F32 F64"); m != "" {
		return floatTypes[m]
	}
	return ir.F32
}

// integer takes an operand that is an integer of a type: a register or pair, or a byte (.B1) or half (.H1) of one.
func (s *step) integer(t ir.Type) ir.Reg {
	o := s.next()
	part := o.Part
	o.Part = ""
	s.bare(&o, false, false, false)
	if t.Bits() == 64 {
		if part != "" {
			s.fail("operand %s of %s", o.Text, s.in.Op)
		}
		return s.raw64(&o)
	}
	v := s.raw(&o)
	shift, ok := map[string]uint64{"": 0, "B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}[part]
	if !ok || part != "" && (part[0] == 'B') != (t.Bits() == 8) {
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	if shift != 0 {
		v = s.op(ir.Shr, ir.U32, v, s.k(shift))
	}
	return v
}

// number takes a floating-point operand of any type; an F16 is a half of a register.
func (s *step) number(t ir.Type) ir.Reg {
	if t.Bits() > 16 {
		return s.float(t)
	}
	o := s.next()
	return s.half16(&o)
}

// i2f: I2F[P][.float][.int][.rounding] d, a.
func i2f(s *step) {
	to, from := s.floatType(), s.intType()
	m := s.rounding()
	d := s.dst()
	v := s.integer(from)
	s.fresult(d, to, s.opTo(ir.IToF, from, func(o *ir.Op) { o.To, o.Mode = to, m }, v))
}

// f2i: F2I[.FTZ][.int][.float][.rounding][.NTZ] d, a. NaN becomes zero with .NTZ, else the top bit alone.
func f2i(s *step) {
	m := ir.Mode(0)
	if s.mod("FTZ") {
		m = ir.FTZ
	}
	to, from := s.intType(), s.floatType()
	m |= s.integral()
	switch ntz := s.mod("NTZ"); {
	case !ntz:
		m |= ir.IntNaN
	case to.Bits() == 64 || from == ir.F64: // of these the operation makes no zero
		s.fail("F2I.NTZ of 64 bits")
	}
	d := s.dst()
	v := s.opTo(ir.FToI, from, func(o *ir.Op) { o.To, o.Mode = to, m }, s.number(from))
	switch {
	case to.Bits() == 64:
		s.result64(d, v)
	case to.Bits() < 32:
		s.result(d, s.opTo(ir.Ext, to, func(o *ir.Op) { o.To = ir.U32 }, v))
	default:
		s.result(d, v)
	}
}

// f2f: F2F[.FTZ].to.from[.rounding][.SAT] d, a.
func f2f(s *step) {
	m := s.floatMode()
	to, from := s.floatType(), s.floatType()
	if to == from {
		s.fail("F2F of one type")
	}
	d := s.dst()
	s.fresult(d, to, s.opTo(ir.FCvt, from, func(o *ir.Op) { o.To, o.Mode = to, m }, s.number(from)))
}

// f2fp: F2FP[.SATFINITE][.RELU].to[.from].kind[.rounding]: PACK_AB d, a, b: a becomes the high half; MERGE_C d, a, RZ: of one
// number; PACK_B d, b: of a TF32.
func f2fp(s *step) {
	if slices.ContainsFunc(s.mods, func(m string) bool { return m == "E4M3" || m == "E5M2" }) {
		small(s)
		return
	}
	m := s.floatMode()
	if s.mod("SATFINITE") {
		m |= ir.SatFinite
	}
	to := ir.F16
	switch s.oneOf("BF16 TF32") {
	case "BF16":
		to = ir.BF16
	case "TF32":
		to = ir.TF32
	}
	s.mod("F16")
	s.mod("F32")
	kind := s.oneOf("PACK_AB MERGE_C PACK_B")
	if kind == "" || (kind == "PACK_B") != (to == ir.TF32) {
		s.fail("F2FP of unknown kind")
	}
	d := s.dst()
	convert := func(v ir.Reg) ir.Reg { return s.opTo(ir.FCvt, ir.F32, func(o *ir.Op) { o.To, o.Mode = to, m }, v) }
	hi := convert(s.float(ir.F32))
	switch kind {
	case "MERGE_C":
		if c := s.plain(); !s.is(c, 0) {
			s.fail("F2FP.MERGE_C with a register")
		}
		s.result(d, hi)
	case "PACK_B":
		s.result(d, hi)
	default:
		s.result(d, s.pack(convert(s.float(ir.F32)), hi))
	}
}

// small: F2FP.SATFINITE.small.F32.PACK_AB_MERGE_C d, a, b, c[.H1]; F2FP.SATFINITE.small.F16.UNPACK_B_MERGE_C d, a, c[.H1]; F2FP.F16.small.UNPACK_B
// d, a[.H1]: pairs of 8-bit numbers, of which a is the high one, with a half of c above them; and of halves.
func small(s *step) {
	m := ir.Mode(0)
	if s.mod("RELU") {
		m |= ir.Relu
	}
	if s.mod("SATFINITE") {
		m |= ir.SatFinite
	}
	types := map[string]ir.Type{"E4M3": ir.E4M3, "E5M2": ir.E5M2, "F16": ir.F16, "F32": ir.F32}
	to := types[s.oneOf("E4M3 E5M2 F16 F32")]
	from := types[s.oneOf("E4M3 E5M2 F16 F32")]
	kind := s.oneOf("PACK_AB_MERGE_C UNPACK_B_MERGE_C UNPACK_B")
	d := s.dst()
	var pair ir.Reg
	convert := func(v ir.Reg) ir.Reg { return s.opTo(ir.FCvt, from, func(o *ir.Op) { o.To, o.Mode = to, m }, v) }
	join := func(hi, lo ir.Reg) {
		n := s.k(uint64(to.Bits()))
		pair = s.op(ir.Bfi, ir.U32, hi, lo, n, n)
	}
	narrows := to.Bits() == 8 && m&ir.SatFinite != 0
	switch {
	case kind == "PACK_AB_MERGE_C" && narrows && from == ir.F32:
		hi := convert(s.float(ir.F32))
		join(hi, convert(s.float(ir.F32)))
	case kind == "UNPACK_B_MERGE_C" && narrows && from == ir.F16:
		v := s.plain()
		join(convert(s.op(ir.Shr, ir.U32, v, s.k(16))), convert(v))
	case kind == "UNPACK_B" && to == ir.F16 && from.Bits() == 8:
		o := s.next()
		high := o.Part == "H1"
		if high {
			o.Part = ""
		}
		s.bare(&o, false, false, false)
		v := s.raw(&o)
		if high {
			v = s.op(ir.Shr, ir.U32, v, s.k(16))
		}
		join(convert(s.op(ir.Shr, ir.U32, v, s.k(8))), convert(v))
		s.result(d, pair)
		return
	default:
		s.fail("F2FP of unknown kind")
		return
	}
	o := s.next()
	high := o.Part == "H1"
	if high {
		o.Part = ""
	}
	s.bare(&o, false, false, false)
	c := s.raw(&o)
	if high {
		c = s.op(ir.Shr, ir.U32, c, s.k(16))
	}
	s.result(d, s.op(ir.Bfi, ir.U32, c, pair, s.k(16), s.k(16)))
}

// frnd: FRND[.FTZ][.F16|.F64][.rounding] d, a.
func frnd(s *step) {
	m := ir.Mode(0)
	if s.mod("FTZ") {
		m = ir.FTZ
	}
	t := s.floatType()
	m |= s.integral()
	d := s.dst()
	s.fresult(d, t, s.fop(ir.FRint, t, m, s.number(t)))
}

// clamp is a signed word as the nearest number of a type, with zeros above it.
func (s *step) clamp(v ir.Reg, t ir.Type) ir.Reg {
	low, top := int32(0), int32(1)<<t.Bits()-1
	if t.Signed() {
		top >>= 1
		low = -top - 1
	}
	v = s.op(ir.Min, ir.S32, s.op(ir.Max, ir.S32, v, s.k(uint64(uint32(low)))), s.k(uint64(top)))
	return s.op(ir.And, ir.U32, v, s.k(1<<t.Bits()-1))
}

// narrow takes the type of a conversion of signed words that saturates.
func (s *step) narrow() ir.Type {
	t, ok := intTypes[s.oneOf("U8 S8 U16 S16")]
	if !ok || !s.mod("S32") || !s.mod("SAT") {
		s.fail("%s of unknown types", s.in.Op)
		return ir.U8
	}
	return t
}

// f2ip: F2IP.type.F32[.TRUNC].NTZ d, RZ, b, RZ: b becomes a byte; the others are zeros.
func f2ip(s *step) {
	to, from := s.intType(), s.floatType()
	m := s.integral()
	if to.Bits() != 8 || from != ir.F32 || !s.mod("NTZ") {
		s.fail("F2IP of unknown kind")
	}
	d := s.dst()
	a := s.plain()
	v := s.opTo(ir.FToI, from, func(o *ir.Op) { o.To, o.Mode = to, m }, s.number(from))
	if !s.is(a, 0) || !s.is(s.plain(), 0) {
		s.fail("F2IP of several numbers")
	}
	s.result(d, s.op(ir.And, ir.U32, v, s.k(0xff)))
}

// i2i: I2I.type.S32.SAT d, a. (Code extends the result again.)
func i2i(s *step) {
	t := s.narrow()
	d := s.dst()
	s.result(d, s.opTo(ir.Ext, t, func(o *ir.Op) { o.To = ir.U32 }, s.clamp(s.plain(), t)))
}

// i2ip: I2IP.type.S32.SAT d, a, b, c: a and b are clamped, a above b; above bytes is the low half of c.
func i2ip(s *step) {
	t := s.narrow()
	d := s.dst()
	a, b, c := s.plain(), s.plain(), s.plain()
	n := s.k(uint64(t.Bits()))
	v := s.op(ir.Or, ir.U32, s.op(ir.Shl, ir.U32, s.clamp(a, t), n), s.clamp(b, t))
	switch {
	case t.Bits() == 8:
		v = s.op(ir.Or, ir.U32, s.op(ir.Shl, ir.U32, c, s.k(16)), v)
	case !s.is(c, 0):
		s.fail("I2IP of halves with a third operand")
	}
	s.result(d, v)
}

// vabsdiff4: VABSDIFF4[.U8|.S8] d, a, b, c: the differences of the bytes; with .ACC their sum, and c.
func vabsdiff4(s *step) {
	t := ir.S8
	if s.oneOf("U8 S8") == "U8" {
		t = ir.U8
	}
	acc := s.mod("ACC")
	d := s.dst()
	a, b, c := s.plain(), s.plain(), s.plain()
	total, bytes := c, s.k(0)
	for shift := uint64(0); shift < 32; shift += 8 {
		byteOf := func(v ir.Reg) ir.Reg {
			v = s.op(ir.Shr, ir.U32, v, s.k(shift))
			return s.opTo(ir.Ext, t, func(o *ir.Op) { o.To = ir.S32 }, v)
		}
		x, y := byteOf(a), byteOf(b)
		if acc {
			total = s.op(ir.Sad, ir.S32, x, y, total)
			continue
		}
		bytes = s.op(ir.Or, ir.U32, bytes, s.op(ir.Shl, ir.U32, s.op(ir.Sad, ir.S32, x, y, s.k(0)), s.k(shift)))
	}
	if acc {
		s.result(d, total)
		return
	}
	s.result(d, bytes)
}
