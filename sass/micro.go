package sass

import (
	"strings"

	"optcheck/isa"
)

// lowerer builds the micro-operations of one instruction.
type lowerer struct {
	p    *parser
	in   *isa.Inst
	sm   int
	args []isa.Operand // operands behind the destinations
	dsts int
	bad  bool
}

// lowerTable maps opcode roots to their lowering. Uniform-datapath twins (UMOV)
// share the function of the plain opcode. What is not here has no micros.
var lowerTable = func() map[string]func(*lowerer) {
	t := map[string]func(*lowerer){
		"MOV": lowerMov, "MOV32I": lowerMov, "R2UR": lowerMov,
		"IMAD": lowerImad, "IMUL": lowerImul, "IMUL32I": lowerImul,
		"IADD": lowerAdd, "IADD32I": lowerAdd, "IADD3": lowerAdd, "VIADD": lowerAdd, "ISUB": lowerAdd,
		"LEA": lowerLea, "ISCADD": lowerLea, "ISCADD32I": lowerLea,
		"LOP": lowerLop, "LOP32I": lowerLop, "LOP3": lowerLop3,
		"PLOP3": lowerPlop3, "PSETP": lowerPsetp, "ISETP": lowerIsetp,
		"SEL": lowerSel, "SHL": lowerShift, "SHR": lowerShift, "SHF": lowerShf,
		"CS2R": lowerCS2R, "S2R": lowerS2R, "S2UR": lowerS2R,
		"LDC": lowerLdc, "LDCU": lowerLdc, "HFMA2": lowerHfma2, "PRMT": lowerPrmt, "I2I": lowerI2I,
	}
	for _, op := range []string{"MOV", "IMAD", "IADD3", "LEA", "LOP3", "PLOP3", "PSETP", "ISETP", "SEL", "SHF", "PRMT", "VIADD", "LOP", "LOP32I"} {
		t["U"+op] = t[op]
	}
	t["ULDC"] = lowerLdc
	return t
}()

// lower fills in.Micro. Instructions with operand forms or modifiers that a
// lowering function does not know get none: opaque is safe, wrong is not.
func lower(p *parser, in *isa.Inst, sm int) {
	f := lowerTable[in.Op]
	if f == nil || len(in.Args) == 0 || sm < 20 {
		return
	}
	l := lowerer{p: p, in: in, sm: sm}
	info := opTable[in.Op]
	l.dsts = destCount(in, info.dest)
	l.args = in.Args[l.dsts:]
	p.micros = p.micros[:0]
	f(&l)
	if l.bad || len(p.micros) == 0 {
		return
	}
	in.Micro = append([]isa.Micro(nil), p.micros...)
}

// allow gives up unless every modifier is among the blank-separated words.
func (l *lowerer) allow(words string) bool {
	for _, m := range l.in.Mods {
		if m != "S" && !modSet(words, m) {
			l.bad = true
		}
	}
	return !l.bad
}

// want gives up unless there are exactly n source operands.
func (l *lowerer) want(n int) bool {
	if len(l.args) != n {
		l.bad = true
	}
	return !l.bad
}

func (l *lowerer) has(m string) bool { return hasMod(l.in, m) }

// dst gives word k of the destination register; ok is false for RZ.
func (l *lowerer) dst(k int) (isa.Reg, bool) {
	for i := 0; i < l.dsts; i++ {
		o := &l.in.Args[i]
		if o.Kind != isa.OpdReg {
			continue
		}
		if o.Part != "" && o.Part != "CC" {
			l.bad = true
		}
		return isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + uint16(k)}, !o.Zero && o.Reg.Class != isa.ClassCC
	}
	return isa.Reg{}, false
}

// preds lists the predicate destinations, PT as ClassNone.
func (l *lowerer) preds() []isa.Reg {
	var out []isa.Reg
	for i := 0; i < l.dsts; i++ {
		o := &l.in.Args[i]
		if o.Kind == isa.OpdPred {
			if o.Zero {
				out = append(out, isa.Reg{})
			} else {
				out = append(out, o.Reg)
			}
		}
	}
	return out
}

// setsCC tells a destination with the .CC suffix.
func (l *lowerer) setsCC() bool {
	for i := 0; i < l.dsts; i++ {
		if l.in.Args[i].Part == "CC" {
			return true
		}
	}
	return false
}

func immOp(v int64) isa.Operand {
	return isa.Operand{Kind: isa.OpdImm, Imm: int64(uint32(v)), Words: 1}
}

var ccOp = isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: isa.ClassCC}, Words: 1}

// word gives word k of source operand i as a micro source.
func (l *lowerer) word(i, k int) isa.Operand {
	if i >= len(l.args) {
		l.bad = true
		return isa.Operand{}
	}
	return l.wordOf(&l.args[i], k)
}

func (l *lowerer) wordOf(a *isa.Operand, k int) isa.Operand {
	o := *a
	o.Words = 1
	if o.Abs {
		l.bad = true
	}
	switch o.Kind {
	case isa.OpdReg:
		// Halves and bytes of registers are not words.
		if o.Part != "" && o.Part != "64" {
			l.bad = true
		}
		o.Part, o.Text = "", ""
		if o.Zero {
			return foldImm(0, o.Neg, o.Not)
		}
		o.Reg.Num += uint16(k)
	case isa.OpdImm:
		v := o.Imm
		if k > 0 {
			v >>= 32 * uint(k)
		}
		return foldImm(v, o.Neg, o.Not)
	case isa.OpdConst:
		if o.Bank < 0 || o.Part != "" {
			l.bad = true
		}
		o.Off += int64(4 * k)
		o.Text = ""
	case isa.OpdSym:
		if k > 0 {
			l.bad = true
		}
	default:
		l.bad = true
	}
	return o
}

func foldImm(v int64, neg, not bool) isa.Operand {
	if not {
		v = ^v
	}
	if neg {
		v = -v
	}
	return immOp(v)
}

// pred gives source operand i as a predicate.
func (l *lowerer) pred(i int) isa.Operand {
	if i >= len(l.args) || l.args[i].Kind != isa.OpdPred {
		l.bad = true
		return isa.Operand{}
	}
	o := l.args[i]
	o.Text = ""
	return o
}

// isFalse tells !PT.
func isFalse(o isa.Operand) bool { return o.Kind == isa.OpdPred && o.Zero && o.Not }

func isZero(o isa.Operand) bool { return o.Kind == isa.OpdImm && o.Imm == 0 }

// emit adds a micro-operation.
func (l *lowerer) emit(m isa.Micro) {
	if m.Dst.Class == isa.ClassNone {
		return
	}
	l.p.micros = append(l.p.micros, m)
}

// put adds an operation on word k of the destination.
func (l *lowerer) put(k int, op isa.MicroOp, src ...isa.Operand) {
	if d, ok := l.dst(k); ok {
		l.emit(isa.Micro{Op: op, Dst: d, Src: src})
	}
}

func lowerMov(l *lowerer) {
	l.allow("64 U32")
	// A lane mask or a second source makes it something else.
	if l.in.Op == "R2UR" && l.dsts != 1 {
		l.bad = true
	}
	if !l.want(1) {
		return
	}
	l.put(0, isa.MicroMov, l.word(0, 0))
	if l.has("64") {
		l.put(1, isa.MicroMov, l.word(0, 1))
	}
}

// lowerAdd handles IADD, IADD32I, IADD3, ISUB, VIADD with carries in CC (before
// sm_70) or in predicates.
func lowerAdd(l *lowerer) {
	if l.in.Op == "IADD" && l.has("64") {
		lowerAdd64(l)
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
		// Before sm_70 a negated operand of .X is the inverse: the carry is the
		// missing one. Later code prints ~ for that.
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

// carryWords leaves out zeros; a printed -RZ in a carry chain counts as 2^32,
// which an immediate cannot say.
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

func lowerImadHi(l *lowerer) {
	a, b, c := l.word(0, 0), l.word(1, 0), l.word(2, 0)
	if !isZero(c) || len(l.preds()) > 0 || a.Neg || b.Neg || l.has("WIDE") {
		l.bad = true
		return
	}
	if d, ok := l.dst(0); ok {
		l.emit(isa.Micro{Op: isa.MicroMulHi, Dst: d, Src: []isa.Operand{a, b}, Signed: !l.has("U32")})
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
