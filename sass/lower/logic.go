package lower

import (
	"optcheck/ir"
	"optcheck/isa"
)

// mov: MOV d, a [, 0xf].
func mov(s *step) {
	if s.mod("64") {
		d := s.dst()
		w, neg := s.pair()
		if neg {
			s.fail("MOV.64 of a negated pair")
		}
		s.result64(d, w)
		return
	}
	d := s.dst()
	s.result(d, s.plain())
	if len(s.args) > 0 && s.imm(16) != 15 {
		s.fail("MOV with a mask")
	}
}

// lop3: LOP3.LUT [p,] d, a, b, c, lut, r: p = (d != 0) || r, with .PAND &&.
func lop3(s *step) {
	s.mod("LUT")
	and := s.mod("PAND")
	p := s.optPredDst()
	d := s.dst()
	a, b, c := s.word(), s.word(), s.word()
	lut := s.imm(256)
	v := s.lop(ir.U32, lut, a, b, c)
	s.result(d, v)
	r := s.pred()
	if p == ir.None {
		return
	}
	t := s.cmp(ir.NE, ir.U32, v, s.k(0))
	switch {
	case and && !s.is(r, 1):
		t = s.op(ir.And, ir.Pred, t, r)
	case !and && !s.is(r, 0):
		t = s.op(ir.Or, ir.Pred, t, r)
	}
	s.setPred(p, t)
}

// lop is a bitwise function of three operands; the common ones have operations of their own.
func (s *step) lop(t ir.Type, lut uint64, a, b, c ir.Reg) ir.Reg {
	if s.is(c, 0) {
		switch lut & 0x55 { // bits 0, 2, 4, 6: c is 0
		case 0x40:
			return s.op(ir.And, t, a, b)
		case 0x54:
			return s.op(ir.Or, t, a, b)
		case 0x14:
			return s.op(ir.Xor, t, a, b)
		}
	}
	return s.opTo(ir.Lop3, t, func(o *ir.Op) { o.Imm = lut }, a, b, c)
}

// truth takes a predicate, or the sign of a word: R2.SIGN, c[0x2][0x0].SIGN.
func (s *step) truth() ir.Reg {
	if o := s.peek(); o == nil || o.Part != "SIGN" {
		return s.pred()
	}
	o := s.next()
	o.Part = ""
	s.bare(&o, false, false, false)
	return s.op(ir.Shr, ir.U32, s.raw(&o), s.k(31))
}

// plop3: PLOP3.LUT p, q, a, b, c, l1, l2: bit 4a+2b+c of each table.
func plop3(s *step) {
	s.mod("LUT")
	p, q := s.predDst(), s.predDst()
	var v [3]ir.Reg
	for i := range v {
		v[i] = s.truth()
	}
	for _, d := range []ir.Reg{p, q} {
		lut := s.imm(256)
		if d != ir.None {
			s.setPred(d, s.lop(ir.Pred, lut, v[0], v[1], v[2]))
		}
	}
}

// sel: SEL d, a, b, p.
func sel(s *step) {
	d := s.dst()
	a, b := s.word(), s.word()
	s.result(d, s.choose(s.pred(), a, b))
}

// prmt: PRMT[.mode] d, a, selector, c.
func prmt(s *step) {
	mode := map[string]uint64{"": 0, "F4E": 1, "B4E": 2, "RC8": 3, "ECL": 4, "ECR": 5, "RC16": 6}[s.oneOf("IDX F4E B4E RC8 ECL ECR RC16")]
	d := s.dst()
	a, selector, c := s.plain(), s.plain(), s.plain()
	s.result(d, s.opTo(ir.Perm, ir.U32, func(o *ir.Op) { o.Imm = mode }, a, c, selector))
}

// shf: SHF.L|R[.W].type[.HI] d, lo, n, hi: {hi, lo} shifted by n, which is clamped at the width of the type or, with
// .W, taken modulo it.
func shf(s *step) {
	dir := s.oneOf("L R")
	wrap, hi := s.mod("W"), s.mod("HI")
	t := s.oneOf("U32 S32 U64 S64")
	if dir == "" || t == "" {
		s.fail("SHF of unknown type")
		return
	}
	width := map[byte]uint64{'3': 32, '6': 64}[t[1]]
	d := s.dst()
	low, n, high := s.plain(), s.plain(), s.plain()
	s.result(d, s.shift(dir == "R", t[0] == 'S', hi, width, low, s.amount(n, width, wrap), high))
}

// amount clamps or wraps the amount of a shift.
func (s *step) amount(n ir.Reg, width uint64, wrap bool) ir.Reg {
	v, ok := s.constant(n)
	switch {
	case ok && wrap:
		return s.k(v & (width - 1))
	case ok:
		return s.k(min(v, width))
	case wrap:
		return s.op(ir.And, ir.U32, n, s.k(width-1))
	}
	return s.op(ir.Min, ir.U32, n, s.k(width))
}

// shift is a word of {high, low} shifted by n, at most 64.
func (s *step) shift(right, signed, hi bool, width uint64, low, n, high ir.Reg) ir.Reg {
	word, pair := ir.U32, ir.U64
	if signed && right {
		word, pair = ir.S32, ir.S64
	}
	switch {
	case right && hi:
		return s.op(ir.Shr, word, high, n)
	case !right && !hi:
		return s.op(ir.Shl, ir.U32, low, n)
	}
	x := s.op(ir.Join, ir.U64, low, high)
	if right {
		return s.op(ir.Mov, ir.U32, s.op(ir.Shr, pair, x, n))
	}
	return s.op(ir.HighWord, ir.U64, s.op(ir.Shl, ir.U64, x, n))
}

var conds = map[string]ir.Cond{"F": ir.Never, "LT": ir.LT, "EQ": ir.EQ, "LE": ir.LE, "GT": ir.GT, "NE": ir.NE, "GE": ir.GE, "T": ir.Always,
	"LTU": ir.LTU, "EQU": ir.EQU, "LEU": ir.LEU, "GTU": ir.GTU, "NEU": ir.NEU, "GEU": ir.GEU, "NUM": ir.Num, "NAN": ir.Unordered}

const intConds = "F LT EQ LE GT NE GE T"

// cond takes a comparison.
func (s *step) cond(words string) ir.Cond {
	m := s.oneOf(words)
	if m == "" {
		s.fail("%s without a comparison", s.in.Op)
	}
	return conds[m]
}

// combine takes AND, OR, XOR and gives p the comparison so combined with r, q its inverse.
func (s *step) combine(how string, p, q, truth, r ir.Reg) {
	code, neutral := ir.And, uint64(1)
	switch how {
	case "OR":
		code, neutral = ir.Or, 0
	case "XOR":
		code, neutral = ir.Xor, 0
	case "":
		s.fail("%s without AND, OR or XOR", s.in.Op)
	}
	with := func(v ir.Reg) ir.Reg {
		if s.is(r, neutral) {
			return v
		}
		return s.op(code, ir.Pred, v, r)
	}
	if q != ir.None {
		s.setPred(q, with(s.op(ir.Xor, ir.Pred, truth, s.k(1))))
	}
	if p != ir.None {
		s.setPred(p, with(truth))
	}
}

// isetp: ISETP.cond[.U32].bool[.EX] p, q, a, b, r [, e]; e is the comparison of the low words.
func isetp(s *step) {
	c := s.cond(intConds)
	how, ex := s.oneOf("AND OR XOR"), s.mod("EX")
	t := s.signedness()
	p, q := s.predDst(), s.predDst()
	a, b := s.word(), s.word()
	r := s.pred()
	var truth ir.Reg
	switch c {
	case ir.Never:
		truth = s.k(0)
	case ir.Always:
		truth = s.k(1)
	default:
		truth = s.cmp(c, t, a, b)
	}
	if ex {
		e := s.pred()
		switch c {
		case ir.Never, ir.Always:
			s.fail("ISETP.F.EX")
		case ir.EQ:
			truth = s.op(ir.And, ir.Pred, truth, e)
		case ir.NE:
			truth = s.op(ir.Or, ir.Pred, truth, e)
		default:
			truth = s.choose(s.cmp(ir.EQ, ir.U32, a, b), e, truth)
		}
	}
	s.combine(how, p, q, truth, r)
}

// flo: FLO[.U32][.SH] d, a.
func flo(s *step) {
	t := s.signedness()
	sh := s.mod("SH")
	d := s.dst()
	a := s.word()
	s.result(d, s.opTo(ir.Find, t, func(o *ir.Op) {
		if o.To = ir.U32; sh {
			o.Mode |= ir.High
		}
	}, a))
}

// one operand, one result of 32 bits
func unary(code ir.Code) func(*step) {
	return func(s *step) {
		d := s.dst()
		s.result(d, s.op(code, ir.U32, s.word()))
	}
}

// bmsk: BMSK[.C|.W] d, position, length.
func bmsk(s *step) {
	wrap := s.mod("W")
	s.mod("C")
	d := s.dst()
	a, b := s.plain(), s.plain()
	s.result(d, s.opTo(ir.Mask, ir.U32, func(o *ir.Op) {
		if wrap {
			o.Mode |= ir.Wrap
		}
	}, a, b))
}

// sgxt: SGXT[.U32][.W] d, a, n: n bits of a, extended.
func sgxt(s *step) {
	t := s.signedness()
	wrap := s.mod("W")
	d := s.dst()
	a, n := s.plain(), s.plain()
	s.result(d, s.opTo(ir.Sgxt, t, func(o *ir.Op) {
		if wrap {
			o.Mode |= ir.Wrap
		}
	}, a, n))
}

// p2r: P2R[.Bn] d, PR, a, mask: the predicates in byte n of a, where the mask has ones.
func p2r(s *step) {
	shift := s.byteShift()
	d := s.dst()
	all, class := "PR", isa.ClassPred
	if s.in.Op == "UP2UR" {
		all, class = "UPR", isa.ClassUPred
	}
	if o := s.next(); o.Sym != all {
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	a := s.plain()
	mask := s.imm(128)
	bits := s.op(ir.And, ir.U32, a, s.k(uint64(uint32(^(mask << shift)))))
	for n := range uint16(7) {
		if mask>>n&1 != 0 {
			p := s.u.reg(isa.Reg{Class: class, Num: n})
			bits = s.op(ir.Or, ir.U32, bits, s.op(ir.Shl, ir.U32, p, s.k(uint64(n)+shift)))
		}
	}
	s.result(d, bits)
}

// byteShift takes .B0 to .B3.
func (s *step) byteShift() uint64 {
	return map[string]uint64{"B1": 8, "B2": 16, "B3": 24}[s.oneOf("B0 B1 B2 B3")]
}

// r2p: R2P PR, a[.Bn], mask.
func r2p(s *step) {
	shift := s.byteShift()
	if o := s.next(); o.Sym != "PR" {
		s.fail("operand %s of R2P", o.Text)
	}
	o := s.next()
	if n, ok := map[string]uint64{"": 0, "B0": 0, "B1": 8, "B2": 16, "B3": 24}[o.Part]; ok && o.Part != "" {
		shift, o.Part = n, ""
	}
	s.bare(&o, false, false, false)
	a := s.raw(&o)
	mask := s.imm(128)
	for n := range uint16(7) {
		if mask>>n&1 != 0 {
			v := s.op(ir.Shr, ir.U32, a, s.k(uint64(n)+shift))
			s.setPred(s.u.reg(isa.Reg{Class: isa.ClassPred, Num: n}), s.op(ir.And, ir.U32, v, s.k(1)))
		}
	}
}
