// Package depgen builds artificial (false) dependencies: instructions that compute an address,
// a stored value or a condition from what a load returned, without that value having any effect
// (Alglave et al., ASPLOS 2015, Sec. 4.5). A scheme is a way to turn a value into zero; schemes
// differ in whether compilers can see through them.
//
// It does not decide whether a dependency survived a compiler: optcheck does, on machine code,
// and audit tabulates it.
package depgen

import (
	"fmt"
	"strings"

	"optcheck/litmus"
)

// Scheme is a way to compute zero from a value that a load returned. The schemes rely only on
// what every generated test guarantees: values in memory lie in [0, 2^31) (litmus.Test.Check
// enforces it for masks).
type Scheme struct {
	Name    string // as the command line spells it
	Title   string // one line
	Explain string // why it should or should not survive
	// Naive is set if the zero follows from the instructions alone, so that a compiler may fold
	// it without knowing anything about memory.
	Naive bool

	zero func(b *Builder, from string) string
	// pred, if not nil, returns the predicate that always holds; by default
	// the zero is compared with 0.
	pred func(b *Builder, from string) string
}

// highBit is the value of the highest bit of a 32-bit word.
const highBit = 1 << 31

// The schemes.
var (
	Xor = &Scheme{Name: "xor", Title: "r xor r", Naive: true,
		Explain: "Fig. 13a of the founding paper: the exclusive or of a register with itself is zero whatever it holds.",
		zero:    func(b *Builder, from string) string { return b.alu(litmus.OpXor, litmus.B32, from, litmus.Reg(from)) }}
	Sub = &Scheme{Name: "sub", Title: "r - r", Naive: true,
		Explain: "As xor, but by subtraction: a second identity that every algebraic simplifier knows.",
		zero:    func(b *Builder, from string) string { return b.alu(litmus.OpSub, litmus.S32, from, litmus.Reg(from)) }}
	AndHighBit = &Scheme{Name: "and-high-bit", Title: "r and 0x80000000",
		Explain: `Fig. 13b of the founding paper, the default: stores of a test write small positive
values only, so the highest bit is never set; to know that, a compiler would have to
analyse all threads.`,
		zero: func(b *Builder, from string) string {
			return b.alu(litmus.OpAnd, litmus.B32, from, litmus.Const(highBit))
		}}
	ShiftHighBit = &Scheme{Name: "shift-high-bit", Title: "r shifted right by 31, unsigned",
		Explain: `The same bit as and-high-bit, moved to the lowest place: no mask for a pattern match to
find, and a wrong non-zero value stays inside the location's word.`,
		zero: func(b *Builder, from string) string {
			return b.alu(litmus.OpShr, litmus.U32, from, litmus.Const(31))
		}}
	ZeroParam = &Scheme{Name: "zero-param", Title: "r and a kernel parameter that is always zero",
		Explain: `The launch decides that the parameter is zero; code cannot know it. It needs no promise
about the values in memory, so it also holds for tests whose values have the highest bit set.`,
		zero: func(b *Builder, from string) string {
			z := b.reg("z", litmus.B32)
			b.emit(litmus.Instr{Op: litmus.OpMov, Type: litmus.B32, Dst: z, Src: []litmus.Operand{litmus.Const(0)}})
			return b.alu(litmus.OpAnd, litmus.B32, from, litmus.Reg(z))
		}}
	Predicate = &Scheme{Name: "predicate", Title: "a selection by r >= 0, which always holds but cannot be known",
		Explain: `The value flows through a predicate instead of a data register: the zero is selected by a
comparison that holds for all values of a test. It shows whether dependencies through
predicates are kept as well as those through registers.`,
		zero: func(b *Builder, from string) string {
			p := notNegative(b, from)
			d := b.reg("d", litmus.B32)
			b.emit(litmus.Instr{Op: litmus.OpSelp, Type: litmus.B32, Dst: d,
				Src: []litmus.Operand{litmus.Const(0), litmus.Const(4), litmus.Reg(p)}})
			return d
		},
		pred: notNegative}
)

// Schemes lists all schemes, naive ones first. Default is and-high-bit.
var (
	Schemes = []*Scheme{Xor, Sub, AndHighBit, ShiftHighBit, ZeroParam, Predicate}
	Default = AndHighBit
)

// Lookup returns the scheme with a name.
func Lookup(name string) (*Scheme, error) {
	var names []string
	for _, s := range Schemes {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("unknown dependency scheme %q (%s)", name, strings.Join(names, ", "))
}

func notNegative(b *Builder, from string) string {
	p := b.reg("p", litmus.Pred)
	b.emit(litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpGe, Type: litmus.S32, Dst: p,
		Src: []litmus.Operand{litmus.Reg(from), litmus.Const(0)}})
	return p
}

// Builder appends instructions to a thread and declares the registers that
// they need. Generated names are a letter and a number, unique in the thread.
type Builder struct {
	Thread *litmus.Thread
	next   int
}

// Reg declares a fresh register whose name begins with prefix.
func (b *Builder) Reg(prefix string, t litmus.Type) string { return b.reg(prefix, t) }

func (b *Builder) reg(prefix string, t litmus.Type) string {
	name := fmt.Sprintf("%s%d", prefix, b.next)
	b.next++
	b.Thread.Regs = append(b.Thread.Regs, litmus.RegDecl{Name: name, Type: t})
	return name
}

// Emit appends an instruction.
func (b *Builder) Emit(in litmus.Instr) { b.emit(in) }

func (b *Builder) emit(in litmus.Instr) { b.Thread.Body = append(b.Thread.Body, in) }

func (b *Builder) alu(op litmus.Op, t litmus.Type, from string, o litmus.Operand) string {
	d := b.reg("d", litmus.B32)
	b.emit(litmus.Instr{Op: op, Type: t, Dst: d, Src: []litmus.Operand{litmus.Reg(from), o}})
	return d
}

// Addr makes the address in register addr depend on the 32-bit register from and returns the
// register with the new address. The address has the given number of bits: 64, or 32 for shared
// memory.
func (s *Scheme) Addr(b *Builder, from, addr string, bits int) string {
	z, t := s.zero(b, from), litmus.U32
	if bits == 64 {
		w := b.reg("w", litmus.B64)
		b.emit(litmus.Instr{Op: litmus.OpCvt, Type: litmus.U64, FromType: litmus.U32, Dst: w, Src: []litmus.Operand{litmus.Reg(z)}})
		z, t = w, litmus.U64
	}
	rt := litmus.B32
	if bits == 64 {
		rt = litmus.B64
	}
	a := b.reg("a", rt)
	b.emit(litmus.Instr{Op: litmus.OpAdd, Type: t, Dst: a, Src: []litmus.Operand{litmus.Reg(addr), litmus.Reg(z)}})
	return a
}

// Data returns a register that holds value and depends on register from. The value enters by
// its own mov, which kernels make opaque: with an immediate, a compiler that folds the
// dependency would also know the value.
func (s *Scheme) Data(b *Builder, from string, value int64) string {
	z := s.zero(b, from)
	v := b.reg("v", litmus.S32)
	b.emit(litmus.Instr{Op: litmus.OpMov, Type: litmus.S32, Dst: v, Src: []litmus.Operand{litmus.Const(value)}})
	d := b.reg("v", litmus.S32)
	b.emit(litmus.Instr{Op: litmus.OpAdd, Type: litmus.S32, Dst: d, Src: []litmus.Operand{litmus.Reg(v), litmus.Reg(z)}})
	return d
}

// Ctrl returns a guard that depends on register from and always holds.
func (s *Scheme) Ctrl(b *Builder, from string) *litmus.Guard {
	if s.pred != nil {
		return &litmus.Guard{Reg: s.pred(b, from)}
	}
	z, p := s.zero(b, from), b.reg("p", litmus.Pred)
	b.emit(litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpEq, Type: litmus.S32, Dst: p,
		Src: []litmus.Operand{litmus.Reg(z), litmus.Const(0)}})
	return &litmus.Guard{Reg: p}
}
