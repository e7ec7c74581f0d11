package sass

import (
	"strings"

	"optcheck/isa"
)

// lowerAdd handles IADD, IADD32I, IADD3, ISUB, VIADD with carries in CC (before
// sm_70) or in predicates.
func lowerAdd(l *lowerer) {
	if l.in.Op == "IADD" && l.has("64") {
		lowerAdd64(l)
		return
	}
	if strings.HasSuffix(l.in.Op, "IADD3") && l.has("64") {
		lowerAdd3Wide(l)
		return
	}
	if !l.allow("X") {
		return
	}
	var words, carries []isa.Operand
	for i := range l.args {
		if l.args[i].Kind == isa.OpdPred {
			if c := l.pred(i); !isFalse(c) {
				carries = append(carries, c)
			}
			continue
		}
		words = append(words, l.word(i, 0))
	}
	if len(words) < 2 || len(words) > 3 || len(carries) > 2 || len(carries) > 0 && !l.has("X") {
		l.bad = true
		return
	}
	if l.in.Op == "ISUB" {
		words[1] = negate(words[1])
	}
	if l.has("X") {
		// Before sm_70, a negated operand of .X is the bitwise inverse; the carry adds the
		// missing one. Later code prints ~ for it.
		for i := range words {
			if words[i].Neg {
				if l.sm >= 70 {
					l.bad = true
					return
				}
				words[i].Neg, words[i].Not = false, true
			}
		}
		if l.sm < 70 {
			if l.in.Op == "ISUB" && words[1].Kind == isa.OpdImm {
				l.bad = true
			}
			carries = append(carries, ccOp)
		}
	}
	all := append(words, carries...)
	op := isa.MicroAdd
	if len(carries) > 0 {
		op = isa.MicroAddHi
	}
	l.put(0, op, all...)
	// The flag of a three-way sum with two carries is not documented.
	if src := l.carryWords(all); l.setsCC() && len(src)-len(carries) <= 2 {
		l.emit(isa.Micro{Op: isa.MicroCarry, Dst: ccOp.Reg, Src: src})
	}
	lowerCarries(l, all)
}

// carryWords omits zeros. A printed -RZ in a carry chain counts as 2^32, which an immediate
// cannot express.
func (l *lowerer) carryWords(all []isa.Operand) []isa.Operand {
	var out []isa.Operand
	for _, o := range all {
		if !isZero(o) {
			out = append(out, o)
		}
	}
	if l.setsCC() || len(l.preds()) > 0 {
		for i := range l.args {
			if l.args[i].Neg && (l.args[i].Zero || l.args[i].Kind == isa.OpdImm) {
				l.bad = true
			}
		}
	}
	if len(out) == 0 {
		out = append(out, immOp(0))
	}
	return out
}

// lowerCarries emits the carry predicates of IADD3. One predicate of a
// three-way sum is the carry only if at most two addends are not zero.
func lowerCarries(l *lowerer, all []isa.Operand) {
	preds := l.preds()
	if len(preds) == 0 {
		return
	}
	src := l.carryWords(all)
	words := 0
	for _, o := range src {
		if o.Kind != isa.OpdPred {
			words++
		}
	}
	switch {
	case len(preds) == 1 && words <= 2:
		l.emit(isa.Micro{Op: isa.MicroCarry, Dst: preds[0], Src: src})
	case len(preds) == 2:
		l.emit(isa.Micro{Op: isa.MicroCarry, Dst: preds[0], Src: src})
		l.emit(isa.Micro{Op: isa.MicroCarry2, Dst: preds[1], Src: src})
	}
}

func negate(o isa.Operand) isa.Operand {
	if o.Kind == isa.OpdImm {
		return immOp(-o.Imm)
	}
	o.Neg = !o.Neg
	return o
}

func lowerAdd64(l *lowerer) {
	if !l.allow("64") || !l.want(2) || l.args[0].Neg || l.args[1].Neg {
		l.bad = true
		return
	}
	a0, a1, b0, b1 := l.word(0, 0), l.word(0, 1), l.word(1, 0), l.word(1, 1)
	l.put(0, isa.MicroAdd, a0, b0)
	l.put(1, isa.MicroAddWide, a0, a1, b0, b1)
}

// lowerAdd3Wide handles the three-way 64-bit sum of sm_100 and later: the low
// word always, the high one where the third summand is zero.
func lowerAdd3Wide(l *lowerer) {
	if !l.allow("64") || !l.want(3) || l.args[0].Neg || l.args[1].Neg || l.args[2].Neg {
		l.bad = true
		return
	}
	a0, b0, c0 := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if !isZero(c0) {
		l.put(0, isa.MicroAdd, a0, b0, c0)
		return
	}
	l.put(0, isa.MicroAdd, a0, b0)
	l.put(1, isa.MicroAddWide, a0, l.word(0, 1), b0, l.word(1, 1))
}

// lowerImad handles IMAD and its disguises as move, add and shift.
func lowerImad(l *lowerer) {
	if l.sm >= 70 && len(l.args) == 4 && l.has("X") {
		lowerImadX(l)
		return
	}
	if !l.allow("MOV U32 IADD SHL WIDE HI S32") || !l.want(3) || l.setsCC() {
		l.bad = true
		return
	}
	if l.has("HI") {
		lowerImadHi(l)
		return
	}
	a, b, c := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if l.has("WIDE") {
		hi := l.word(2, 1)
		l.put(0, isa.MicroMad, a, b, c)
		if d, ok := l.dst(1); ok && !a.Neg && !b.Neg && !c.Neg {
			l.emit(isa.Micro{Op: isa.MicroMadHi, Dst: d, Src: []isa.Operand{a, b, c, hi}, Signed: !l.has("U32")})
		}
		return
	}
	switch {
	case isZero(a) || isZero(b):
		l.put(0, isa.MicroMov, c)
	case b.Kind == isa.OpdImm && b.Imm == 1:
		l.put(0, isa.MicroAdd, a, c)
	case isZero(c):
		l.put(0, isa.MicroMul, a, b)
	default:
		l.put(0, isa.MicroMad, a, b, c)
	}
}

// lowerImadHi handles the high word of a product. Before sm_70 a word may be added to it, and each factor says that it
// is unsigned; what later code adds is not documented.
func lowerImadHi(l *lowerer) {
	a, b, c := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	unsigned := strings.Count(strings.Join(l.in.Mods, "."), "U32")
	mixed := l.sm < 70 && unsigned == 1
	if mixed || l.sm >= 70 && !isZero(c) || len(l.preds()) > 0 || a.Neg || b.Neg || l.has("WIDE") {
		l.bad = true
		return
	}
	d, ok := l.dst(0)
	switch {
	case !ok:
	case isZero(c):
		l.emit(isa.Micro{Op: isa.MicroMulHi, Dst: d, Src: []isa.Operand{a, b}, Signed: unsigned == 0})
	default:
		l.emit(isa.Micro{Op: isa.MicroMadHi, Dst: d, Src: []isa.Operand{a, b, immOp(0), c}, Signed: unsigned == 0})
	}
}

// lowerImadX handles IMAD.X R, RZ, RZ, c, P and IMAD.X R, a, 0x1, c, P.
func lowerImadX(l *lowerer) {
	if !l.allow("X U32") || len(l.preds()) > 0 {
		l.bad = true
		return
	}
	a, b, c, p := l.word(0, 0), l.word(1, 0), l.word(2, 0), l.pred(3)
	if a.Neg || b.Neg || c.Neg {
		l.bad = true
		return
	}
	switch {
	case isZero(a) || isZero(b):
		l.put(0, isa.MicroAddHi, c, p)
	case b.Kind == isa.OpdImm && b.Imm == 1:
		l.put(0, isa.MicroAddHi, a, c, p)
	default:
		l.bad = true
	}
}

func lowerImul(l *lowerer) {
	if !l.allow("U32 S32 HI") || !l.want(2) || l.setsCC() {
		l.bad = true
		return
	}
	a, b := l.word(0, 0), l.word(1, 0)
	if !l.has("HI") {
		l.put(0, isa.MicroMul, a, b)
		return
	}
	n := strings.Count(strings.Join(l.in.Mods, "."), "U32")
	if n == 1 || a.Neg || b.Neg {
		l.bad = true // one factor signed, the other not
		return
	}
	if d, ok := l.dst(0); ok {
		l.emit(isa.Micro{Op: isa.MicroMulHi, Dst: d, Src: []isa.Operand{a, b}, Signed: n == 0})
	}
}

// lowerLea handles LEA R, [P,] a, b, k; LEA.HI[.X] R, a, b, c, k[, P] where c
// is the high word; and ISCADD R, a, b, k.
func lowerLea(l *lowerer) {
	if !l.allow("HI X SX32") {
		return
	}
	if l.has("HI") {
		lowerLeaHi(l)
		return
	}
	if l.has("X") || l.has("SX32") || !l.want(3) {
		l.bad = true
		return
	}
	a, b, k := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if a.Neg || a.Not || !below32(k) {
		l.bad = true
		return
	}
	l.put(0, isa.MicroLea, a, k, b)
	src := []isa.Operand{a, k, b}
	if b.Neg {
		return
	}
	if l.setsCC() {
		l.emit(isa.Micro{Op: isa.MicroLeaCarry, Dst: ccOp.Reg, Src: src})
	}
	if ps := l.preds(); len(ps) == 1 && l.in.Args[0].Kind == isa.OpdReg {
		l.emit(isa.Micro{Op: isa.MicroLeaCarry, Dst: ps[0], Src: src})
	}
}

func lowerLeaHi(l *lowerer) {
	if len(l.preds()) > 0 || l.setsCC() || len(l.args) < 3 {
		l.bad = true
		return
	}
	n := len(l.args)
	var carry []isa.Operand
	if l.args[n-1].Kind == isa.OpdPred {
		if c := l.pred(n - 1); !isFalse(c) {
			carry = append(carry, c)
		}
		n--
	} else if l.has("X") {
		if l.sm >= 70 {
			l.bad = true
			return
		}
		carry = append(carry, ccOp)
	}
	signed := l.has("SX32")
	if signed && n != 3 || !signed && n != 4 {
		l.bad = true
		return
	}
	a, b, k := l.word(0, 0), l.word(1, 0), l.word(n-1, 0)
	hi := immOp(0)
	if !signed {
		hi = l.word(2, 0)
	}
	if a.Neg || a.Not || hi.Neg || hi.Not || b.Neg || !below32(k) {
		l.bad = true
		return
	}
	if d, ok := l.dst(0); ok {
		l.emit(isa.Micro{Op: isa.MicroLeaHi, Dst: d, Src: append([]isa.Operand{a, hi, k, b}, carry...), Signed: signed})
	}
}

func below32(o isa.Operand) bool { return o.Kind == isa.OpdImm && o.Imm < 32 }
