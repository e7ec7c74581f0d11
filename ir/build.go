package ir

// Builder makes a program. Targets of jumps are numbers of instructions, which a front end knows
// from the start: one instruction of the program for each of the source.
type Builder struct {
	P      Program
	consts map[Const]Reg
	values map[Reg]uint64
	temps  []Reg
	temp   int // temps in use
}

// NewBuilder begins a program.
func NewBuilder(kernel string) *Builder {
	p := Program{Kernel: kernel, Banks: map[int][]byte{}, Functions: map[string]uint64{}}
	return &Builder{P: p, consts: map[Const]Reg{}, values: map[Reg]uint64{}}
}

// Reg makes a register of each lane.
func (b *Builder) Reg() Reg {
	b.P.Regs++
	return Reg(b.P.Regs - 1)
}

// UniformReg makes a register that the lanes of a warp share.
func (b *Builder) UniformReg() Reg {
	r := b.Reg()
	b.P.Uniform = append(b.P.Uniform, r)
	return r
}

// Const is a register that holds a value for ever.
func (b *Builder) Const(v uint64) Reg {
	r := b.constant(Const{Value: v})
	b.values[r] = v
	return r
}

// Symbol is a register that holds the address of a variable plus an offset for ever.
func (b *Builder) Symbol(name string, offset int64, generic bool) Reg {
	return b.constant(Const{Value: uint64(offset), Symbol: name, Generic: generic})
}

// Window is a register that holds the generic address at which a space begins, for ever.
func (b *Builder) Window(s Space) Reg { return b.constant(Const{Window: s}) }

// Mbarrier is a register that holds a number of the layout of barrier objects, for ever.
func (b *Builder) Mbarrier(n MbarrierNumber) Reg { return b.constant(Const{Mbarrier: n}) }

// BankWord is a register that holds what a bank of constants has at an offset, for ever.
func (b *Builder) BankWord(bank int, offset int64, bytes int) Reg {
	return b.constant(Const{Value: uint64(offset), Bank: bank, Bytes: bytes})
}

func (b *Builder) constant(c Const) Reg {
	if r, ok := b.consts[c]; ok {
		return r
	}
	r := b.Reg()
	b.consts[c] = r
	c.Reg = r
	b.P.Consts = append(b.P.Consts, c)
	return r
}

// Temp is a register for the instruction being built; the next one uses it again.
func (b *Builder) Temp() Reg {
	if b.temp == len(b.temps) {
		b.temps = append(b.temps, b.Reg())
	}
	b.temp++
	return b.temps[b.temp-1]
}

// Value reports the value of a constant register.
func (b *Builder) Value(r Reg) (uint64, bool) {
	v, ok := b.values[r]
	return v, ok
}

// Begin starts the next instruction and returns it, to be filled in before the next Begin.
func (b *Builder) Begin() *Inst {
	b.temp = 0
	b.P.Insts = append(b.P.Insts, Inst{Guard: None})
	return &b.P.Insts[len(b.P.Insts)-1]
}

// Op appends an operation to a list and gives its result a register of this instruction.
func (b *Builder) Op(list *[]Op, code Code, t Type, src ...Reg) Reg {
	d := b.Temp()
	b.To(list, d, code, t, src...)
	return d
}

// To appends an operation whose result goes to a register, and returns it for what else is to be set.
func (b *Builder) To(list *[]Op, dst Reg, code Code, t Type, src ...Reg) *Op {
	o := Op{Code: code, Type: t, To: t, Dst: dst, Src: [4]Reg{None, None, None, None}}
	copy(o.Src[:], src)
	*list = append(*list, o)
	return &(*list)[len(*list)-1]
}

// Combining is the operation by which an atomic operation makes the new value of the old one and its operand; 0 for others.
var Combining = map[Atom]Code{AtomAdd: Add, AtomMin: Min, AtomMax: Max, AtomAnd: And, AtomOr: Or, AtomXor: Xor}

// Replicas appends what a load that combines the places of a multicast object reads. One device has one of them, which holds old: two
// others hold numbers that depend on nothing but the address, so that what is loaded tells how it was combined.
func (b *Builder) Replicas(list *[]Op, a *Access, how Atom, t Type, old Reg) Reg {
	at := b.Const(uint64(a.Offset))
	if a.Addr != None {
		at = b.Op(list, Add, U64, a.Addr, at)
	}
	for _, odd := range []uint64{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f} {
		other := b.Op(list, Mul, U64, at, b.Const(odd))
		if t.Bits() < 64 {
			other = b.Op(list, Shr, U64, other, b.Const(32))
		}
		old = b.Op(list, Combining[how], t, old, other)
	}
	return old
}
