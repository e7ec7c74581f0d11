package x86

import (
	"math/bits"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"optcheck/isa"
)

// lowering turns one instruction into instructions of isa.
type lowering struct {
	in    x86asm.Inst
	at    uint64
	text  string
	out   []isa.Inst
	temps int
}

// pair is a value: its low and its high word.
type pair [2]isa.Operand

func number(x int64) isa.Operand {
	return isa.Operand{Kind: isa.OpdImm, Imm: int64(uint32(x)), Words: 1}
}

func numbers(x int64) pair { return pair{number(x), number(x >> 32)} }

func register(r isa.Reg) isa.Operand { return isa.Operand{Kind: isa.OpdReg, Reg: r, Words: 1} }

func predicate(g isa.Guard) isa.Operand {
	return isa.Operand{Kind: isa.OpdPred, Reg: g.Reg, Words: 1, Not: g.Neg}
}

func words(reg int) pair { return pair{register(isa.X86Word(reg, 0)), register(isa.X86Word(reg, 1))} }

// temp returns a register that no instruction names.
func (l *lowering) temp() pair {
	l.temps++
	return words(isa.X86Temporary + l.temps - 1)
}

// emit adds an instruction. Its micro-operations add what they write and read.
func (l *lowering) emit(in isa.Inst) {
	in.Addr, in.Text, in.Op, in.Target = l.at, l.text, l.in.Op.String(), -1
	if in.Guard.Reg.Class != isa.ClassNone {
		in.Uses = append(in.Uses, in.Guard.Reg)
	}
	add := func(list *[]isa.Reg, r isa.Reg) {
		if r.Class != isa.ClassNone && !slices.Contains(*list, r) {
			*list = append(*list, r)
		}
	}
	for i := range in.Micro {
		add(&in.Defs, in.Micro[i].Dst)
		for _, s := range in.Micro[i].Src {
			add(&in.Uses, s.Reg)
		}
	}
	for _, r := range slices.Concat(in.Addrs, in.Data) {
		add(&in.Uses, r)
	}
	l.out = append(l.out, in)
}

// compute adds an instruction consisting of micro-operations.
func (l *lowering) compute(micros ...isa.Micro) { l.emit(isa.Inst{Role: isa.RoleALU, Micro: micros}) }

func micro(op isa.MicroOp, dst isa.Operand, src ...isa.Operand) isa.Micro {
	return isa.Micro{Op: op, Dst: dst.Reg, Src: src}
}

func lut(table uint8, dst isa.Operand, src ...isa.Operand) isa.Micro {
	for len(src) < 3 {
		src = append(src, number(0))
	}
	return isa.Micro{Op: isa.MicroLop3, Dst: dst.Reg, Src: src, LUT: table}
}

// Truth tables of two inputs; see isa.MicroLop3.
const (
	tableAnd    = 0xc0
	tableOr     = 0xfc
	tableXor    = 0x3c
	tableInsert = 0xb8 // c where b is set, else a
)

// opaque adds an instruction that computes an unknown function of operands.
func (l *lowering) opaque(dst []isa.Reg, src ...isa.Operand) {
	in := isa.Inst{Role: isa.RoleALU, Defs: dst, Args: src}
	for _, s := range src {
		if s.Reg.Class != isa.ClassNone {
			in.Uses = append(in.Uses, s.Reg)
		}
	}
	l.emit(in)
}

// unknown adds an unknown instruction.
func (l *lowering) unknown() { l.emit(isa.Inst{Role: isa.RoleUnknown}) }

// general returns the number of a general register and the number of bytes that its name
// denotes; ok is false for other registers, and for the second bytes AH to BH.
func general(r x86asm.Reg) (n, bytes int, ok bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + isa.X86RSP, 1, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, true
	}
	return 0, 0, false
}

// width returns the number of bytes of an argument; 0 if it is not supported.
func (l *lowering) width(i int) int {
	switch a := l.in.Args[i].(type) {
	case x86asm.Reg:
		_, bytes, _ := general(a)
		return bytes
	case x86asm.Mem:
		if l.vex() { // the decoder takes it for vectors
			return l.width(0)
		}
		return l.in.MemBytes
	}
	return 0
}

// understood reports whether all arguments are general registers, numbers, or memory addressed
// by registers.
func (l *lowering) understood() bool {
	for i, a := range l.in.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			if _, _, ok := general(a); !ok {
				return false
			}
		case x86asm.Mem:
			_, wide, ok := general(a.Base)
			_, scaled, indexed := general(a.Index)
			if l.in.Op == x86asm.NOP {
				continue
			}
			if a.Segment != 0 || a.Base != 0 && (!ok || wide != 8) || a.Index != 0 && (!indexed || scaled != 8) || l.in.AddrSize != 64 && !l.vex() ||
				l.in.Op != x86asm.LEA && !slices.Contains([]int{1, 2, 4, 8}, l.width(i)) {
				return false
			}
		}
	}
	return !l.prefixed(x86asm.PrefixREP) && !l.prefixed(x86asm.PrefixREPN)
}

// prefixed reports whether the instruction has a prefix.
func (l *lowering) prefixed(p x86asm.Prefix) bool {
	return !l.vex() && slices.ContainsFunc(l.in.Prefix[:], func(q x86asm.Prefix) bool { return q&0xff == p&0xff })
}

// vex reports whether the instruction has a VEX or EVEX prefix, after which the bytes are not
// prefixes.
func (l *lowering) vex() bool {
	return slices.Contains([]x86asm.Prefix{0xc4, 0xc5, 0x62}, l.in.Prefix[0])
}

// locked reports whether the instruction is a locked one.
func (l *lowering) locked() bool { return l.prefixed(x86asm.PrefixLOCK) }

// address returns memory as an operand; an indexed address is computed first.
func (l *lowering) address(m x86asm.Mem) (isa.Operand, []isa.Reg) {
	o := isa.Operand{Kind: isa.OpdMem, Off: m.Disp, Zero: m.Base == 0}
	var at pair
	switch {
	case m.Index != 0:
		at = l.temp()
		l.sum(at, m)
		o.Off, o.Zero = 0, false
	case m.Base != 0:
		n, _, _ := general(m.Base)
		at = words(n)
	default:
		return o, nil
	}
	o.Reg = at[0].Reg
	return o, []isa.Reg{at[0].Reg, at[1].Reg}
}

// sum computes an address.
func (l *lowering) sum(to pair, m x86asm.Mem) {
	at := numbers(m.Disp)
	if m.Base != 0 {
		n, _, _ := general(m.Base)
		if at = words(n); m.Disp != 0 {
			at = l.add(at, numbers(m.Disp))
		}
	}
	if m.Index == 0 {
		l.compute(micro(isa.MicroMov, to[0], at[0]), micro(isa.MicroMov, to[1], at[1]))
		return
	}
	n, _, _ := general(m.Index)
	by := words(n)
	if m.Scale > 1 {
		by = l.shift(isa.MicroShl, by, int64(bits.TrailingZeros8(m.Scale)), 8)
	}
	r := l.add(at, by)
	l.compute(micro(isa.MicroMov, to[0], r[0]), micro(isa.MicroMov, to[1], r[1]))
}

// load reads memory into a temporary register, zero-extending smaller values.
func (l *lowering) load(m x86asm.Mem, bytes int) pair {
	o, regs := l.address(m)
	t := l.temp()
	in := isa.Inst{Role: isa.RoleLoad, Mem: memory(bytes), Args: []isa.Operand{o}, Addrs: regs, Defs: []isa.Reg{t[0].Reg, t[1].Reg}}
	if bytes < 8 {
		in.Micro = []isa.Micro{micro(isa.MicroMov, t[1], number(0))}
	}
	l.emit(in)
	return t
}

// memory returns the properties of an access: all accesses are coherent, and no cache holds
// another value (volume 3, 9.2, write-back memory).
func memory(bytes int) isa.Mem {
	return isa.Mem{Space: isa.SpaceGlobal, Width: bytes, Strength: isa.Strong, Scope: isa.ScopeSys}
}

// hold returns a value in registers.
func (l *lowering) hold(v pair) pair {
	if v[0].Kind == isa.OpdReg && v[1].Kind == isa.OpdReg {
		return v
	}
	t := l.temp()
	l.compute(micro(isa.MicroMov, t[0], v[0]), micro(isa.MicroMov, t[1], v[1]))
	return t
}

func (l *lowering) store(m x86asm.Mem, v pair, bytes int) {
	o, regs := l.address(m)
	v = l.hold(v)
	data := []isa.Reg{v[0].Reg, v[1].Reg}[:max(bytes/4, 1)]
	l.emit(isa.Inst{Role: isa.RoleStore, Mem: memory(bytes), Args: []isa.Operand{o}, Addrs: regs, Data: data})
}

// value returns the given number of bytes of an argument, zero-extending values smaller than a
// word.
func (l *lowering) value(i, bytes int) pair {
	switch a := l.in.Args[i].(type) {
	case x86asm.Reg:
		n, have, _ := general(a)
		v := words(n)
		switch {
		case min(bytes, have) < 4:
			t := l.temp()
			l.compute(lut(tableAnd, t[0], v[0], number(1<<(8*min(bytes, have))-1)), micro(isa.MicroMov, t[1], number(0)))
			return t
		case min(bytes, have) < 8:
			return pair{v[0], number(0)}
		}
		return v
	case x86asm.Mem:
		return l.load(a, min(bytes, l.width(i)))
	case x86asm.Imm:
		if bytes < 4 {
			return pair{number(int64(a) & (1<<(8*bytes) - 1)), number(0)}
		}
		return numbers(int64(a))
	}
	return numbers(0)
}

// set writes an argument. Writing four bytes of a register clears the high word; smaller writes
// leave the rest unchanged.
func (l *lowering) set(i int, v pair) {
	bytes := l.width(i)
	switch a := l.in.Args[i].(type) {
	case x86asm.Mem:
		l.store(a, v, bytes)
	case x86asm.Reg:
		n, _, _ := general(a)
		r := words(n)
		switch {
		case bytes == 8:
			l.compute(micro(isa.MicroMov, r[0], v[0]), micro(isa.MicroMov, r[1], v[1]))
		case bytes == 4:
			l.compute(micro(isa.MicroMov, r[0], v[0]), micro(isa.MicroMov, r[1], number(0)))
		default:
			l.compute(lut(tableInsert, r[0], r[0], number(1<<(8*bytes)-1), v[0]))
		}
	}
}
