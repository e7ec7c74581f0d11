package x86

import (
	"golang.org/x/arch/x86/x86asm"

	"optcheck/isa"
)

// interlocked maps fences, and instructions that read and write memory at once, to their
// lowering: those with a LOCK prefix, and XCHG, which needs none (volume 3, 9.1.2.1).
var interlocked map[x86asm.Op]func(*lowering)

func init() {
	combine := func(atom string, negate bool) func(*lowering) {
		return func(l *lowering) {
			n := l.width(0)
			m, ok := l.in.Args[0].(x86asm.Mem)
			if !ok || n < 4 {
				l.unknown()
				return
			}
			if k, is := l.in.Args[1].(x86asm.Imm); is && k == 0 && m.Base == x86asm.RSP && l.in.Op == x86asm.OR {
				l.fence(isa.FenceSC) // on the thread's own stack: what compilers emit for MFENCE
				return
			}
			v := l.operand(n, negate)
			l.atomic(m, atom, n, isa.RoleReduction, nil, v)
			l.flags(nil)
		}
	}
	count := func(by int64) func(*lowering) {
		return func(l *lowering) {
			n := l.width(0)
			m, ok := l.in.Args[0].(x86asm.Mem)
			if !ok || n < 4 {
				l.unknown()
				return
			}
			l.atomic(m, "ADD", n, isa.RoleReduction, nil, l.hold(numbers(by)))
			l.flags(nil)
		}
	}
	interlocked = map[x86asm.Op]func(*lowering){
		x86asm.MFENCE: func(l *lowering) { l.fence(isa.FenceSC) },
		x86asm.LFENCE: func(l *lowering) { l.fence(isa.FenceAll) },
		x86asm.SFENCE: func(l *lowering) { l.fence(isa.FenceAll) },
		x86asm.ADD:    combine("ADD", false), x86asm.SUB: combine("ADD", true), x86asm.INC: count(1), x86asm.DEC: count(-1),
		x86asm.AND: combine("AND", false), x86asm.OR: combine("OR", false), x86asm.XOR: combine("XOR", false),
		x86asm.XADD: func(l *lowering) { l.fetch("ADD") },
		x86asm.XCHG: func(l *lowering) { l.fetch("EXCH") },
		x86asm.CMPXCHG: func(l *lowering) {
			n := l.width(0)
			m, ok := l.in.Args[0].(x86asm.Mem)
			if !ok || !l.locked() || n < 4 {
				l.unknown()
				return
			}
			want, v, old := l.temp(), l.hold(l.value(1, n)), words(isa.X86RAX)
			l.compute(micro(isa.MicroMov, want[0], old[0]), micro(isa.MicroMov, want[1], old[1]))
			l.atomic(m, "CAS", n, isa.RoleAtomic, &old, want, v)
			l.flags([]isa.Operand{old[0], old[1]}, compared(condE, "EQ", false, old, want, n))
		},
	}
}

func (l *lowering) fence(s isa.Strength) {
	l.emit(isa.Inst{Role: isa.RoleFence, Mem: isa.Mem{Strength: s, Scope: isa.ScopeSys}})
}

// operand returns the second argument, or its negative, in a register.
func (l *lowering) operand(bytes int, negate bool) pair {
	v := l.value(1, bytes)
	if negate {
		v = l.sub(numbers(0), v, bytes)
	}
	return l.hold(v)
}

// fetch lowers an atomic that returns the old value in its register.
func (l *lowering) fetch(atom string) {
	i := 0 // index of the memory operand
	if _, ok := l.in.Args[1].(x86asm.Mem); ok {
		i = 1
	}
	m, ok := l.in.Args[i].(x86asm.Mem)
	r, isReg := l.in.Args[1-i].(x86asm.Reg)
	n, bytes, _ := general(r)
	switch {
	case !ok && l.in.Op == x86asm.XCHG && l.width(0) >= 4: // between two registers
		a, b, t := l.value(0, l.width(0)), l.value(1, l.width(0)), l.temp()
		l.compute(micro(isa.MicroMov, t[0], a[0]), micro(isa.MicroMov, t[1], a[1]))
		l.set(0, b)
		l.set(1, t)
		return
	case !ok || !isReg || bytes < 4 || l.in.Op == x86asm.XADD && !l.locked():
		l.unknown()
		return
	}
	to := words(n)
	v := l.temp()
	l.compute(micro(isa.MicroMov, v[0], to[0]), micro(isa.MicroMov, v[1], to[1]))
	l.atomic(m, atom, bytes, isa.RoleAtomic, &to, v)
	if l.in.Op != x86asm.XCHG {
		l.flags(to[:])
	}
}

// atomic reads and writes memory at once. The value read goes to a register, if there is one.
func (l *lowering) atomic(m x86asm.Mem, atom string, bytes int, role isa.Role, to *pair, data ...pair) {
	o, regs := l.address(m)
	in := isa.Inst{Role: role, Mem: memory(bytes), Args: []isa.Operand{o}, Addrs: regs}
	in.Mem.Atom = atom
	for _, d := range data {
		in.Data = append(in.Data, d[0].Reg)
		if bytes == 8 {
			in.Data = append(in.Data, d[1].Reg)
		}
	}
	if to != nil {
		in.Defs = []isa.Reg{to[0].Reg, to[1].Reg}
		if bytes == 4 {
			in.Micro = []isa.Micro{micro(isa.MicroMov, to[1], number(0))}
		}
	}
	l.emit(in)
}
