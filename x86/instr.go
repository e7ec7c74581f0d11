package x86

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"optcheck/isa"
)

// lower adds the effects of the instruction.
func (l *lowering) lower() {
	if !l.understood() {
		l.unknown()
		return
	}
	name := l.in.Op.String()
	for _, p := range []struct {
		prefix string
		do     func(isa.Guard)
	}{{"CMOV", l.cmov}, {"SET", l.setcc}, {"J", l.jump}} {
		if suffix, ok := strings.CutPrefix(name, p.prefix); ok {
			if g, ok := conditions[suffix]; ok {
				p.do(g)
				return
			}
		}
	}
	if do := plain[l.in.Op]; do != nil && !l.locked() {
		do(l)
		return
	}
	if do := interlocked[l.in.Op]; do != nil {
		do(l)
		return
	}
	l.unknown()
}

// plain maps instructions without a lock to their lowering.
var plain map[x86asm.Op]func(*lowering)

func init() {
	logic := func(table uint8) func(*lowering) {
		return func(l *lowering) {
			n := l.width(0)
			v := l.bitwise(table, l.value(0, n), l.value(1, n))
			l.set(0, v)
			l.result(v, n, true)
		}
	}
	step := func(by int64) func(*lowering) {
		return func(l *lowering) { // the carry is unchanged
			n := l.width(0)
			v := l.cut(l.add(l.value(0, n), numbers(by)), n)
			l.set(0, v)
			carry := isa.Guard{Reg: cond(condB)}
			l.flags(v[:], compared(condE, "EQ", false, v, numbers(0), n), micro(isa.MicroMov, predicate(carry), predicate(carry)))
		}
	}
	plain = map[x86asm.Op]func(*lowering){
		x86asm.NOP:        (*lowering).nothing,
		x86asm.VZEROUPPER: (*lowering).nothing, // the upper halves of vectors, which no instruction here reads
		x86asm.MOV:        func(l *lowering) { l.set(0, l.value(1, l.width(0))) },
		x86asm.MOVZX:      func(l *lowering) { l.set(0, l.value(1, l.width(1))) },
		x86asm.MOVSX:      (*lowering).extend,
		x86asm.MOVSXD:     (*lowering).extend,
		x86asm.LEA:        (*lowering).lea,
		x86asm.ADD: func(l *lowering) {
			n := l.width(0)
			a, b := l.value(0, n), l.value(1, n)
			v := l.cut(l.add(a, b), n)
			l.set(0, v)
			l.result(v, n, false)
		},
		x86asm.SUB: func(l *lowering) {
			n := l.width(0)
			a, b := l.value(0, n), l.value(1, n)
			l.compare(a, b, n)
			l.set(0, l.cut(l.sub(a, b, n), n))
		},
		x86asm.CMP: func(l *lowering) {
			n := l.width(0)
			l.compare(l.value(0, n), l.value(1, n), n)
		},
		x86asm.TEST: func(l *lowering) {
			n := l.width(0)
			l.result(l.bitwise(tableAnd, l.value(0, n), l.value(1, n)), n, true)
		},
		x86asm.AND: logic(tableAnd), x86asm.OR: logic(tableOr), x86asm.XOR: logic(tableXor),
		x86asm.INC: step(1), x86asm.DEC: step(-1),
		x86asm.NEG: func(l *lowering) {
			n := l.width(0)
			v := l.value(0, n)
			r := l.cut(l.sub(numbers(0), v, n), n)
			l.set(0, r)
			l.result(r, n, false)
		},
		x86asm.NOT: func(l *lowering) {
			n := l.width(0)
			l.set(0, l.cut(l.bitwise(tableXor, l.value(0, n), numbers(-1)), n))
		},
		x86asm.IMUL: (*lowering).imul, x86asm.DIV: (*lowering).divide, x86asm.IDIV: (*lowering).divide, x86asm.MUL: (*lowering).divide,
		x86asm.SHL: shift(isa.MicroShl, false), x86asm.SHR: shift(isa.MicroShr, false), x86asm.SAR: shift(isa.MicroShr, true),
		x86asm.SHLX: shift(isa.MicroShl, false), x86asm.SHRX: shift(isa.MicroShr, false), x86asm.SARX: shift(isa.MicroShr, true),
		x86asm.BT:   (*lowering).bit,
		x86asm.PUSH: (*lowering).push, x86asm.POP: (*lowering).pop,
		x86asm.CDQ: func(l *lowering) {
			r, d := words(isa.X86RAX), words(isa.X86RDX)
			sign := micro(isa.MicroShr, d[0], r[0], number(31))
			sign.Signed = true
			l.compute(sign, micro(isa.MicroMov, d[1], number(0)))
		},
		x86asm.JMP:  (*lowering).always,
		x86asm.CALL: func(l *lowering) { l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowCall}) },
		x86asm.RET:  func(l *lowering) { l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowExit}) },
		x86asm.UD2:  func(l *lowering) { l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowTrap}) },
		x86asm.INT:  func(l *lowering) { l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowTrap}) },
	}
}

func (l *lowering) nothing() { l.emit(isa.Inst{Role: isa.RoleNop}) }

// cut truncates a value to the given number of bytes.
func (l *lowering) cut(v pair, bytes int) pair {
	if bytes >= 4 {
		return v
	}
	t := l.temp()
	l.compute(lut(tableAnd, t[0], v[0], number(1<<(8*bytes)-1)), micro(isa.MicroMov, t[1], number(0)))
	return t
}

// extend sign-extends a value.
func (l *lowering) extend() {
	from := l.width(1)
	v, t := l.value(1, from), l.temp()
	low, high := micro(isa.MicroBfe, t[0], v[0], number(0), number(int64(min(8*from, 31)))), micro(isa.MicroShr, t[1], v[0], number(31))
	if low.Signed, high.Signed = true, true; from == 4 {
		low = micro(isa.MicroMov, t[0], v[0])
	} else {
		high = micro(isa.MicroBfe, t[1], v[0], number(int64(8*from-1)), number(1))
		high.Signed = true
	}
	l.compute(low, high)
	l.set(0, t)
}

func (l *lowering) lea() {
	t := l.temp()
	l.sum(t, l.in.Args[1].(x86asm.Mem))
	l.set(0, t)
}

// imul multiplies. It computes only the low word of a 64-bit product.
func (l *lowering) imul() {
	n := l.width(0)
	if l.in.Args[1] == nil {
		l.divide()
		return
	}
	a, b := l.value(0, n), l.value(1, n)
	if l.in.Args[2] != nil {
		a, b = b, l.value(2, n)
	}
	t := l.temp()
	l.compute(micro(isa.MicroMul, t[0], a[0], b[0]))
	if n == 8 {
		l.opaque([]isa.Reg{t[1].Reg}, a[0], a[1], b[0], b[1])
	}
	l.set(0, t)
	l.flags(t[:1])
}

// divide lowers a division or a double-width product as an unknown function of all operands.
func (l *lowering) divide() {
	n := l.width(0)
	v, a, d := l.value(0, n), words(isa.X86RAX), words(isa.X86RDX)
	l.opaque([]isa.Reg{a[0].Reg, a[1].Reg, d[0].Reg, d[1].Reg}, v[0], v[1], a[0], a[1], d[0], d[1])
	l.flags([]isa.Operand{a[0], a[1], d[0], d[1]})
}

// shift returns a shift by a number or a register.
func shift(op isa.MicroOp, signed bool) func(*lowering) {
	return func(l *lowering) {
		n, from, by := l.width(0), 0, 1
		if three := l.in.Args[2] != nil; three {
			from, by = 1, 2
		}
		v := l.value(from, n)
		k, constant := l.in.Args[by].(x86asm.Imm)
		var r pair
		switch {
		case constant && int64(k)&31 == 0 && n < 8, n < 4:
			l.unknown()
			return
		case constant && !(signed && n == 8):
			r = l.shift(op, v, int64(k)&63, n)
			for i := range l.out[len(l.out)-1].Micro {
				m := &l.out[len(l.out)-1].Micro[i]
				m.Signed = signed && m.Op == isa.MicroShr
			}
		case n == 4:
			count := l.value(by, 4)
			c := l.temp()
			r = l.temp()
			l.compute(lut(tableAnd, c[0], count[0], number(31)))
			m := micro(op, r[0], v[0], c[0])
			m.Signed = signed
			l.compute(m)
		default:
			count := l.value(by, 4)
			r = l.temp()
			l.opaque([]isa.Reg{r[0].Reg, r[1].Reg}, v[0], v[1], count[0])
		}
		l.set(0, r)
		if from == 0 { // SHLX and the like leave the flags alone
			l.flags(r[:])
		}
	}
}

// bit tests a bit of a register.
func (l *lowering) bit() {
	n := l.width(0)
	if _, mem := l.in.Args[0].(x86asm.Mem); mem || n != 4 {
		l.unknown()
		return
	}
	v, by, c := l.value(0, n), l.value(1, n), l.temp()
	l.compute(lut(tableAnd, c[0], by[0], number(31)))
	equal := isa.Guard{Reg: cond(condE)}
	l.flags([]isa.Operand{v[0], c[0]}, micro(isa.MicroBit, isa.Operand{Reg: cond(condB)}, v[0], c[0]),
		micro(isa.MicroMov, predicate(equal), predicate(equal)))
}

func (l *lowering) push() {
	v := l.hold(l.value(0, 8))
	l.store(x86asm.Mem{Base: x86asm.RSP, Disp: -8}, v, 8)
	l.move(isa.X86RSP, l.add(words(isa.X86RSP), numbers(-8)))
}

func (l *lowering) pop() {
	v := l.load(x86asm.Mem{Base: x86asm.RSP}, 8)
	l.move(isa.X86RSP, l.add(words(isa.X86RSP), numbers(8)))
	l.set(0, v)
}

func (l *lowering) move(reg int, v pair) {
	r := words(reg)
	l.compute(micro(isa.MicroMov, r[0], v[0]), micro(isa.MicroMov, r[1], v[1]))
}

func (l *lowering) cmov(g isa.Guard) {
	n := l.width(0)
	old, v, t := l.value(0, n), l.value(1, n), l.temp()
	l.compute(micro(isa.MicroSel, t[0], v[0], old[0], predicate(g)), micro(isa.MicroSel, t[1], v[1], old[1], predicate(g)))
	l.set(0, t)
}

func (l *lowering) setcc(g isa.Guard) {
	t := l.temp()
	l.compute(micro(isa.MicroSel, t[0], number(1), number(0), predicate(g)), micro(isa.MicroMov, t[1], number(0)))
	l.set(0, t)
}

func (l *lowering) jump(g isa.Guard) {
	rel, ok := l.in.Args[0].(x86asm.Rel)
	if !ok {
		l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowIndirect})
		return
	}
	to := l.at + uint64(l.in.Len) + uint64(int64(rel))
	l.emit(isa.Inst{Role: isa.RoleBranch, Flow: isa.FlowJump, Guard: g, Args: []isa.Operand{{Kind: isa.OpdLabel, Imm: int64(to)}}})
}

func (l *lowering) always() { l.jump(isa.Guard{}) }
