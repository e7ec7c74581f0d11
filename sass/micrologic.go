package sass

import (
	"math"

	"optcheck/isa"
)

// lop3 emits a bitwise operation and, for instructions that have one (LOP3.LUT P0, R0, …, !PT
// and LOP.AND.NZ P0, R0, …), the predicate that says whether its result is not zero.
func (l *lowerer) lop3(lut uint8, a, b, c isa.Operand) {
	plain := len(l.args) == 2 && l.has("NZ") || len(l.args) > 2 && isFalse(l.args[len(l.args)-1])
	if ps := l.preds(); plain && len(ps) == 1 && ps[0].Class != isa.ClassNone {
		l.emit(isa.Micro{Op: isa.MicroTest, Dst: ps[0], Src: []isa.Operand{a, b, c}, LUT: lut})
	}
	if d, ok := l.dst(0); ok {
		l.emit(isa.Micro{Op: isa.MicroLop3, Dst: d, Src: []isa.Operand{a, b, c}, LUT: lut})
	}
}

// lowerLop handles the two-operand logic of sm_2x to sm_6x. A predicate
// destination other than .NZ P0 stays opaque.
func lowerLop(l *lowerer) {
	if !l.allow("AND OR XOR PASS_B NZ Z T") || !l.want(2) || l.setsCC() || l.has("X") {
		l.bad = true
		return
	}
	a, b := l.word(0, 0), l.word(1, 0)
	switch {
	case l.has("AND"):
		l.lop3(0xc0, a, b, immOp(0))
	case l.has("OR"):
		l.lop3(0xfc, a, b, immOp(0))
	case l.has("XOR"):
		l.lop3(0x3c, a, b, immOp(0))
	case l.has("PASS_B"):
		l.put(0, isa.MicroMov, b)
	default:
		l.bad = true
	}
}

// lowerLop3 handles LOP3.LUT R, a, b, c, lut[, !PT].
func lowerLop3(l *lowerer) {
	if !l.allow("LUT NZ Z") || len(l.args) < 4 || l.args[3].Kind != isa.OpdImm || l.setsCC() {
		l.bad = true
		return
	}
	l.lop3(uint8(l.args[3].Imm), l.word(0, 0), l.word(1, 0), l.word(2, 0))
}

// lowerPlop3 handles PLOP3.LUT P, Q, a, b, c, lutP, lutQ.
func lowerPlop3(l *lowerer) {
	ps := l.preds()
	if !l.allow("LUT") || !l.want(5) || len(ps) != 2 || l.args[3].Kind != isa.OpdImm || l.args[4].Kind != isa.OpdImm {
		l.bad = true
		return
	}
	src := []isa.Operand{l.pred(0), l.pred(1), l.pred(2)}
	for i, d := range ps {
		l.emit(isa.Micro{Op: isa.MicroPlop, Dst: d, Src: src, LUT: uint8(l.args[3+i].Imm)})
	}
}

// boolLUT computes the table of (a f b) g c, or of !(a f b) g c.
func boolLUT(f, g string, inv bool) (lut uint8, ok bool) {
	for i := 0; i < 8; i++ {
		a, b, c := i>>2&1, i>>1&1, i&1
		x, ok1 := bool2(f, a, b)
		if inv {
			x ^= 1
		}
		y, ok2 := bool2(g, x, c)
		if !ok1 || !ok2 {
			return 0, false
		}
		lut |= uint8(y) << i
	}
	return lut, true
}

func bool2(f string, a, b int) (int, bool) {
	switch f {
	case "AND":
		return a & b, true
	case "OR":
		return a | b, true
	case "XOR":
		return a ^ b, true
	}
	return 0, false
}

// lowerPsetp handles PSETP.f.g P, Q, a, b, c: P = (a f b) g c, Q = !(a f b) g c.
func lowerPsetp(l *lowerer) {
	ps, m := l.preds(), l.in.Mods
	if n := len(m); n == 3 && m[2] == "S" {
		m = m[:2]
	}
	if len(m) != 2 || !l.want(3) || len(ps) != 2 {
		l.bad = true
		return
	}
	src := []isa.Operand{l.pred(0), l.pred(1), l.pred(2)}
	for i, d := range ps {
		lut, ok := boolLUT(m[0], m[1], i == 1)
		if !ok {
			l.bad = true
			return
		}
		l.emit(isa.Micro{Op: isa.MicroPlop, Dst: d, Src: src, LUT: lut})
	}
}

var inverseCmp = map[string]string{"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}

// lowerIsetp handles ISETP.cmp[.U32].bool[.EX] P, Q, a, b, c[, ex].
func lowerIsetp(l *lowerer) {
	ps := l.preds()
	if !l.allow("EQ NE LT GE GT LE U32 AND OR XOR EX") || len(ps) != 2 {
		l.bad = true
		return
	}
	cmp, comb := "", ""
	for _, m := range l.in.Mods {
		if inverseCmp[m] != "" {
			cmp = m
		} else if _, ok := bool2(m, 0, 0); ok {
			comb = m
		}
	}
	want := 3
	if l.has("EX") {
		want = 4
	}
	if cmp == "" || comb == "" || !l.want(want) {
		l.bad = true
		return
	}
	src := []isa.Operand{l.word(0, 0), l.word(1, 0), l.pred(2)}
	if want == 4 {
		src = append(src, l.pred(3))
	}
	for i, d := range ps {
		m := isa.Micro{Op: isa.MicroSetp, Dst: d, Src: src, Cmp: cmp, Bool: comb, Signed: !l.has("U32")}
		if i == 1 {
			m.Cmp = inverseCmp[cmp]
			if want == 4 {
				m.Src = append([]isa.Operand(nil), src...)
				m.Src[3].Not = !m.Src[3].Not
			}
		}
		l.emit(m)
	}
}

// lowerIcmp handles ICMP.cmp[.U32] R, a, b, c of sm_2x to sm_6x: a if c cmp 0, else b.
func lowerIcmp(l *lowerer) {
	d, ok := l.dst(0)
	if !l.allow("EQ NE LT GE GT LE U32 S32") || !l.want(3) || !ok || len(l.in.Mods) == 0 || inverseCmp[l.in.Mods[0]] == "" {
		l.bad = true
		return
	}
	l.emit(isa.Micro{Op: isa.MicroSelCmp, Dst: d, Src: []isa.Operand{l.word(0, 0), l.word(1, 0), l.word(2, 0)}, Cmp: l.in.Mods[0],
		Signed: !l.has("U32")})
}

// lowerSel handles SEL R, a, b, P.
func lowerSel(l *lowerer) {
	if !l.allow("") || !l.want(3) || l.args[0].Neg || l.args[1].Neg {
		l.bad = true
		return
	}
	l.put(0, isa.MicroSel, l.word(0, 0), l.word(1, 0), l.pred(2))
}

// lowerShift handles SHL and SHR, which clamp the count unless .W wraps it.
func lowerShift(l *lowerer) {
	if !l.allow("U32 S32 W") || !l.want(2) || l.setsCC() {
		l.bad = true
		return
	}
	a, k := l.word(0, 0), l.word(1, 0)
	if l.has("W") && !below32(k) || k.Neg || a.Neg {
		l.bad = true
		return
	}
	l.shift(l.in.Op == "SHR", !l.has("U32"), a, k)
}

func (l *lowerer) shift(right, signed bool, a, k isa.Operand) {
	d, ok := l.dst(0)
	if !ok {
		return
	}
	m := isa.Micro{Op: isa.MicroShl, Dst: d, Src: []isa.Operand{a, k}}
	if right {
		m.Op, m.Signed = isa.MicroShr, signed
	}
	l.emit(m)
}

// lowerShf handles the funnel shift SHF.dir[.W][.type][.HI] R, lo, k, hi. Since
// sm_70 .HI selects the high word of the result; before, left shifts always
// give the high and right shifts the low word.
func lowerShf(l *lowerer) {
	if !l.allow("L R W U32 S32 U64 S64 HI") || !l.want(3) || l.setsCC() {
		l.bad = true
		return
	}
	lo, k, hi := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if lo.Neg || hi.Neg || k.Neg {
		l.bad = true
		return
	}
	left := l.has("L")
	high := l.has("HI")
	if l.sm < 70 {
		high = left
	}
	signed := l.has("S32") || l.has("S64")
	small := below32(k)
	// A count in a register saturates at 32 for the 32-bit types.
	word32 := !l.has("W") && !l.has("U64") && !l.has("S64") && l.sm >= 70
	switch {
	case left && !high && (small || word32):
		l.shift(false, false, lo, k)
	case left && high && small:
		l.put(0, isa.MicroShfHi, lo, hi, k)
	case !left && high && (small || word32):
		l.shift(true, signed, hi, k)
	case !left && !high && small:
		l.put(0, isa.MicroShfLo, lo, hi, k)
	default:
		l.bad = true
	}
}

// lowerCS2R handles CS2R R, SRZ; clocks and the like stay opaque unless they
// are one word.
func lowerCS2R(l *lowerer) {
	if !l.allow("32") || !l.want(1) || l.args[0].Kind != isa.OpdSpecial {
		l.bad = true
		return
	}
	if l.args[0].Sym == "SRZ" {
		l.put(0, isa.MicroMov, immOp(0))
		if !l.has("32") && l.sm >= 70 {
			l.put(1, isa.MicroMov, immOp(0))
		}
		return
	}
	if l.has("32") || l.sm < 70 {
		lowerS2R(l)
	}
}

func lowerS2R(l *lowerer) {
	if !l.allow("32") || !l.want(1) || l.args[0].Kind != isa.OpdSpecial {
		l.bad = true
		return
	}
	if d, ok := l.dst(0); ok {
		l.emit(isa.Micro{Op: isa.MicroSpecial, Dst: d, Sym: l.args[0].Sym})
	}
}

// lowerLdc handles loads from constant banks of whole words.
func lowerLdc(l *lowerer) {
	if !l.allow("64 128 32 U8 U16") || !l.want(1) || l.args[0].Kind != isa.OpdConst {
		l.bad = true
		return
	}
	if l.has("U8") || l.has("U16") {
		a, mask := l.word(0, 0), int64(0xff)
		if l.has("U16") {
			mask = 0xffff
		}
		d, ok := l.dst(0)
		if a.Reg.Class != isa.ClassNone { // where it is in its word is not known
			l.bad = true
			return
		}
		if at := a.Off % 4; ok && at != 0 {
			a.Off -= at
			l.emit(isa.Micro{Op: isa.MicroShr, Dst: d, Src: []isa.Operand{a, immOp(8 * at)}})
			a = isa.Operand{Kind: isa.OpdReg, Reg: d}
		}
		if ok {
			l.emit(isa.Micro{Op: isa.MicroLop3, Dst: d, Src: []isa.Operand{a, immOp(mask), immOp(0)}, LUT: 0xc0})
		}
		return
	}
	n := 1
	if l.has("64") {
		n = 2
	} else if l.has("128") {
		n = 4
	}
	for k := 0; k < n; k++ {
		l.put(k, isa.MicroMov, l.word(0, k))
	}
}

// lowerHfma2 handles constants built as HFMA2[.MMA] R, -RZ, RZ, hi, lo: a zero
// product plus two half-precision immediates.
func lowerHfma2(l *lowerer) {
	if !l.allow("MMA BF16_V2") || !l.want(4) || !l.args[0].Zero || !l.args[1].Zero || !l.args[0].Neg || l.args[1].Neg {
		l.bad = true
		return
	}
	bits := halfBits
	if l.has("BF16_V2") {
		bits = bfloatBits
	}
	hi, ok1 := floatOperand(&l.args[2], bits)
	lo, ok2 := floatOperand(&l.args[3], bits)
	if !ok1 || !ok2 {
		l.bad = true
		return
	}
	l.put(0, isa.MicroMov, immOp(int64(hi)<<16|int64(lo)))
}

// floatOperand returns the 16 bits of a floating-point immediate.
func floatOperand(o *isa.Operand, bits func(float64) (uint16, bool)) (uint16, bool) {
	if o.Kind == isa.OpdImm {
		// Bits that are not a number are printed in hexadecimal.
		return uint16(o.Imm), o.Imm >= 0 && o.Imm < 1<<16 && !o.Neg
	}
	if o.Kind != isa.OpdFloat || o.Abs {
		return 0, false
	}
	f, ok := parseFloat(o.Sym)
	if !ok || math.IsNaN(f) {
		return 0, false
	}
	return bits(f)
}

// halfBits encodes a number as IEEE binary16; ok is false if it cannot be represented exactly.
func halfBits(f float64) (uint16, bool) {
	sign := uint16(math.Float64bits(f) >> 63 << 15)
	a := math.Abs(f)
	switch {
	case a == 0:
		return sign, true
	case math.IsInf(a, 0):
		return sign | 0x7c00, true
	case a >= 65520:
		return 0, false
	case a < 0x1p-14: // subnormal: multiples of 2^-24
		m := math.Round(a * 0x1p24)
		return sign | uint16(m), math.Abs(a*0x1p24-m) < 1e-6
	}
	fr, e := math.Frexp(a) // a = fr * 2^e, fr in [0.5, 1)
	m := math.Round(fr * 2048)
	if m == 2048 {
		m, e = 1024, e+1
	}
	return sign | uint16(e+14)<<10 | uint16(m)&0x3ff, math.Abs(fr*2048-m) < 1e-6
}

// bfloatBits encodes a number as bfloat16.
func bfloatBits(f float64) (uint16, bool) {
	b := math.Float32bits(float32(f))
	return uint16(b >> 16), b&0xffff == 0
}

// lowerPrmt handles byte permutations that copy a word or mask one.
func lowerPrmt(l *lowerer) {
	if !l.allow("") || !l.want(3) {
		return
	}
	a, s, c := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if s.Kind != isa.OpdImm || a.Neg || c.Neg {
		l.bad = true
		return
	}
	mask := map[bool]uint32{}
	for i := 0; i < 4; i++ {
		n := s.Imm >> (4 * i) & 0xf
		fromC := n >= 4
		if n >= 8 {
			l.bad = true // sign replication
			return
		}
		o := a
		if fromC {
			o = c
		}
		switch {
		case isZero(o):
		case int(n&3) == i:
			mask[fromC] |= 0xff << (8 * i)
		default: // a byte moves
			l.put(0, isa.MicroPrmt, a, s, c)
			return
		}
	}
	switch {
	case mask[false] == math.MaxUint32:
		l.put(0, isa.MicroMov, a)
	case mask[true] == math.MaxUint32:
		l.put(0, isa.MicroMov, c)
	case mask[true] == 0:
		l.lop3(0xc0, a, immOp(int64(mask[false])), immOp(0))
	case mask[false] == 0:
		l.lop3(0xc0, c, immOp(int64(mask[true])), immOp(0))
	default:
		// (a & mask) | (c & ^mask), with the mask as the selecting source.
		l.lop3(0xca, immOp(int64(mask[false])), a, c)
	}
}
