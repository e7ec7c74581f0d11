package x86

import "optcheck/isa"

// add returns the sum of two values.
func (l *lowering) add(a, b pair) pair {
	t := l.temp()
	l.compute(micro(isa.MicroAdd, t[0], a[0], b[0]), micro(isa.MicroAddWide, t[1], a[0], a[1], b[0], b[1]))
	return t
}

// sub returns the difference of two values.
func (l *lowering) sub(a, b pair, bytes int) pair {
	if b[0].Kind == isa.OpdImm && b[1].Kind == isa.OpdImm {
		return l.add(a, numbers(-(b[1].Imm<<32 | b[0].Imm)))
	}
	t, minus := l.temp(), b[0]
	minus.Neg = true
	l.compute(micro(isa.MicroAdd, t[0], a[0], minus))
	if bytes == 8 {
		l.opaque([]isa.Reg{t[1].Reg}, a[0], a[1], b[0], b[1])
	}
	return t
}

// bitwise returns a bitwise function of two values.
func (l *lowering) bitwise(table uint8, a, b pair) pair {
	t := l.temp()
	l.compute(lut(table, t[0], a[0], b[0]), lut(table, t[1], a[1], b[1]))
	return t
}

// shift shifts a value by a constant.
func (l *lowering) shift(op isa.MicroOp, v pair, by int64, bytes int) pair {
	t := l.temp()
	switch {
	case bytes < 8:
		l.compute(micro(op, t[0], v[0], number(by&31)), micro(isa.MicroMov, t[1], number(0)))
	case op == isa.MicroShl && by < 32:
		l.compute(micro(op, t[0], v[0], number(by)), micro(isa.MicroShfHi, t[1], v[0], v[1], number(by)))
	case op == isa.MicroShl:
		l.compute(micro(isa.MicroMov, t[0], number(0)), micro(op, t[1], v[0], number(by-32)))
	case by < 32:
		l.compute(micro(isa.MicroShfLo, t[0], v[0], v[1], number(by)), micro(op, t[1], v[1], number(by)))
	default:
		l.compute(micro(op, t[0], v[1], number(by-32)), micro(isa.MicroMov, t[1], number(0)))
	}
	return t
}

// flags sets conditions; of those without a formula only the operands they depend on are known.
func (l *lowering) flags(of []isa.Operand, known ...isa.Micro) {
	in := isa.Inst{Role: isa.RoleALU, Micro: known, Args: of}
	for c := range conds {
		in.Defs = append(in.Defs, cond(c))
	}
	for _, o := range of {
		if o.Reg.Class != isa.ClassNone {
			in.Uses = append(in.Uses, o.Reg)
		}
	}
	l.emit(in)
}

// compared returns a condition that compares two values.
func compared(c int, cmp string, signed bool, a, b pair, bytes int) isa.Micro {
	m := isa.Micro{Op: isa.MicroSetp, Dst: cond(c), Src: []isa.Operand{a[0], b[0]}, Cmp: cmp, Signed: signed}
	if bytes == 8 {
		m.Op, m.Src = isa.MicroSetpWide, []isa.Operand{a[0], a[1], b[0], b[1]}
	}
	return m
}

// compare sets the conditions of a comparison.
func (l *lowering) compare(a, b pair, bytes int) {
	known := []isa.Micro{compared(condE, "EQ", false, a, b, bytes), compared(condB, "LT", false, a, b, bytes),
		compared(condBE, "LE", false, a, b, bytes)}
	if bytes >= 4 {
		known = append(known, compared(condL, "LT", true, a, b, bytes), compared(condLE, "LE", true, a, b, bytes))
	}
	l.flags([]isa.Operand{a[0], a[1], b[0], b[1]}, known...)
}

// result sets the conditions of a result. For a bitwise operation they are those of a
// comparison with zero; for any other, carry and overflow are unknown.
func (l *lowering) result(v pair, bytes int, bitwise bool) {
	zero := numbers(0)
	known := []isa.Micro{compared(condE, "EQ", false, v, zero, bytes)}
	if bytes >= 4 {
		known = append(known, compared(condS, "LT", true, v, zero, bytes))
	}
	if bitwise {
		known = append(known, micro(isa.MicroMov, isa.Operand{Reg: cond(condB)}, number(0)), compared(condBE, "EQ", false, v, zero, bytes))
		if bytes >= 4 {
			known = append(known, compared(condL, "LT", true, v, zero, bytes), compared(condLE, "LE", true, v, zero, bytes))
		}
	}
	l.flags(v[:], known...)
}
