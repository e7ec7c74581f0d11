package sass

import (
	"optcheck/isa"
)

// lowerer builds the micro-operations of one instruction.
type lowerer struct {
	p    *parser
	in   *isa.Inst
	sm   int
	args []isa.Operand // operands after the destinations
	dsts int
	bad  bool
}

// lowerTable maps opcode roots to their lowering. Uniform-datapath twins (UMOV) share the
// function of the plain opcode. An opcode that is not here has no micros.
var lowerTable = func() map[string]func(*lowerer) {
	t := map[string]func(*lowerer){
		"MOV": lowerMov, "MOV32I": lowerMov, "R2UR": lowerMov,
		"IMAD": lowerImad, "IMUL": lowerImul, "IMUL32I": lowerImul,
		"IADD": lowerAdd, "IADD32I": lowerAdd, "IADD3": lowerAdd, "VIADD": lowerAdd, "ISUB": lowerAdd,
		"LEA": lowerLea, "ISCADD": lowerLea, "ISCADD32I": lowerLea,
		"LOP": lowerLop, "LOP32I": lowerLop, "LOP3": lowerLop3,
		"PLOP3": lowerPlop3, "PSETP": lowerPsetp, "ISETP": lowerIsetp, "ICMP": lowerIcmp,
		"SEL": lowerSel, "SHL": lowerShift, "SHR": lowerShift, "SHF": lowerShf,
		"CS2R": lowerCS2R, "S2R": lowerS2R, "S2UR": lowerS2R,
		"LDC": lowerLdc, "LDCU": lowerLdc, "HFMA2": lowerHfma2, "PRMT": lowerPrmt, "I2I": lowerI2I,
	}
	for _, op := range []string{"MOV", "IMAD", "IADD3", "LEA", "LOP3", "PLOP3", "PSETP", "ISETP", "SEL", "SHF", "PRMT", "VIADD", "LOP",
		"LOP32I"} {
		t["U"+op] = t[op]
	}
	t["ULDC"] = lowerLdc
	return t
}()

// lower sets in.Micro. Instructions with operand forms or modifiers that a lowering function
// does not know get none: opaque is safe, wrong is not.
func lower(p *parser, in *isa.Inst, sm int) {
	f := lowerTable[in.Op]
	if f == nil || len(in.Args) == 0 || sm < 20 {
		return
	}
	l := lowerer{p: p, in: in, sm: sm}
	info := opTable[in.Op]
	l.dsts = destCount(in, info.dest, sm)
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

// dst returns word k of the destination register; ok is false for RZ.
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

// setsCC reports whether a destination has the .CC suffix.
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

// word returns word k of source operand i as a micro source.
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

// pred returns source operand i as a predicate.
func (l *lowerer) pred(i int) isa.Operand {
	if i >= len(l.args) || l.args[i].Kind != isa.OpdPred {
		l.bad = true
		return isa.Operand{}
	}
	o := l.args[i]
	o.Text = ""
	return o
}

// isFalse reports whether an operand is !PT.
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
	// With a lane mask or a second source it is another operation.
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
