// Package ir is the one form of a program: control flow, 64-bit values, and what instructions do
// to memory and to other threads. PTX and machine code lower into it (packages ptx/lower and
// sass/lower); the emulator executes it.
//
// A program is a flat list of instructions, one for each instruction of the source, so that
// whatever is said of it can be said of the source. An instruction computes (Pre), then has at
// most one effect (memory, other lanes, control), and computes again with the result (Post).
//
// It knows no vendor, no mnemonic and no text. A form that a front end does not understand is
// Opaque: whoever executes the program must stop there, and must not guess.
package ir

import (
	"maps"
	"slices"
)

// Reg numbers a register: 64 bits a lane. A value that is narrower is zero-extended; a predicate
// is 0 or 1. Registers may be constant, or shared by the lanes of a warp: see Program.
type Reg int32

// None is no register.
const None Reg = -1

// Program is a kernel with all that it calls.
type Program struct {
	Kernel string
	// Machine tells that diverged lanes proceed as machine code says: in groups that meet at
	// convergence barriers and share uniform registers. Otherwise lanes are independent, as in PTX.
	Machine bool
	Insts   []Inst
	// Regs is the number of registers. Consts hold a value that never changes; a write to a
	// Uniform one is a write for all lanes of the warp.
	Regs    int
	Consts  []Const
	Uniform []Reg
	// Names are the registers that machine code names.
	Names map[string]Reg
	// Funcs are the functions in the order of Insts; the first one is the kernel.
	Funcs []Func
	// Block is the number of threads of a block that the kernel declares (.maxntid, .reqntid), zero if it declares none;
	// BlockFixed tells that it may be started with no other.
	Block      [3]int
	BlockFixed bool
	// Params is the layout of the kernel's parameters, Vars are the variables of memory.
	Params []Var
	Vars   []Var
	// ParamFrom are the places that a launch has the Params at, if they are others than their offsets: those of the program that machine code was
	// made of, which aligns them elsewhere.
	ParamFrom []int64
	// ParamBase is where the parameters begin in the bank of constants that machine code reads.
	ParamBase int64
	// Launch are the words at the front of that bank that tell of the launch: ntid, windows, the
	// stack pointer.
	Launch []LaunchWord
	// Banks are the banks of constants that the file fills, by number.
	Banks map[int][]byte
	// Pointers are places of constant banks that hold the address of a variable.
	Pointers []Pointer
	// Code maps addresses of code, as values of registers, to instructions. Nil for PTX.
	Code map[uint64]int32
	// Functions are the values that stand for the addresses of functions, in registers and in memory, by name: in machine code the address of
	// their code, or where its descriptor lies in bank 2; in PTX what Linked takes from the machine code, else numbers like no other address.
	Functions map[string]uint64
	// SharedBase is where the variables of shared memory begin in it (0x400 on sm_90, where the system
	// has the first bytes), SharedBytes their size without dynamic memory, which lies behind them.
	SharedBase, SharedBytes int64
	// Mbarriers is how barrier objects (mbarrier) lie in shared memory.
	Mbarriers Mbarriers
	// Cluster is the size of clusters that the program asks for, in blocks; zero if it asks for none.
	Cluster [3]int
	// LocalBytes is the size of a thread's local memory that the program asks for, 0 if unknown.
	LocalBytes int64
}

// Const is a register that holds a value: Value, the address of a variable plus Value, or what a bank of
// constants holds at the place Value.
type Const struct {
	Reg   Reg
	Value uint64
	// Symbol is the name of the variable, "" if there is none, or of a function (see
	// Program.Code). Generic makes the address of a variable a generic one.
	Symbol  string
	Generic bool
	// Window, if it is Shared or Local, adds the generic address at which the space begins.
	Window Space
	// Mbarrier, if not 0, makes it a number of the layout of barrier objects.
	Mbarrier MbarrierNumber
	// Lanes, if not 0, are those of each warp that hold 1; the others hold 0.
	Lanes uint32
	// Bytes, if not 0, are read from constant bank Bank, little-endian, as the launch fills it.
	Bank, Bytes int
}

// LaunchWord is a place of constant bank 0 that the driver fills: Bytes from Offset on hold the special
// register less Before, or, if Fixed is not 0, that number.
type LaunchWord struct {
	Offset int64
	Bytes  int
	Reg    SpecialReg
	Before uint64
	Fixed  uint64
}

// Func is a function: instructions [First, End).
type Func struct {
	Name       string
	First, End int32
	// Regs are its registers [RegFirst, RegEnd), which a recursive call keeps; equal if all
	// functions share one file of registers.
	RegFirst, RegEnd Reg
	// Signature tells functions of PTX apart whose arguments and results differ in number or size.
	Signature string
}

// Linked is a program whose functions have the addresses that they have in its machine code.
func Linked(program, machine *Program) *Program {
	if len(program.Functions) == 0 || len(machine.Functions) == 0 {
		return program
	}
	p := *program
	p.Functions = maps.Clone(program.Functions)
	for name := range p.Functions {
		if v, ok := machine.Functions[name]; ok {
			p.Functions[name] = v
		}
	}
	return &p
}

// Var is a variable or parameter. Names of a program's variables are distinct.
type Var struct {
	Name   string
	Space  Space
	Size   int64 // bytes; 0 for an array without length
	Align  int64
	Offset int64  // of parameters
	Init   []byte // first content; the rest is zero
	Func   string // the function it belongs to, "" for the module
	// Inits are places of Init that hold addresses of variables, in their space, or generic ones;
	// and of functions.
	Inits []Pointer
}

// Pointer is a place that holds the address of a variable, or of a part of it.
type Pointer struct {
	Bank   int
	Offset int64
	Symbol string
	Addend int64
	Bytes  int
	// Generic makes it a generic address. Shift says by how many bits it is shifted to the right
	// before Bytes of it are taken.
	Generic bool
	Shift   int
}

// Inst is one instruction of the source.
type Inst struct {
	Guard Reg // performed by the lanes whose predicate is 1 (0 with Not); None: by all
	Not   bool
	Pre   []Op
	Do    Effect // nil if it only computes
	Post  []Op
	// Form is the kind of instruction with its modifiers and kinds of operands: what semantics
	// are known, or calibrated, for.
	Form string
	// Opaque is why it is not understood; "" if it is.
	Opaque string
	// Results are the registers that one which is not understood writes, if it is known to do nothing else; nil otherwise.
	Results []Reg
	// System tells that what it moves to registers stands for what a function of the CUDA system returns, which may be another number.
	System bool
	// Unproved tells that no chip has confirmed what is understood: a difference that rests on it proves nothing.
	Unproved bool
	// Source is the number of the instruction in its source: ptx.Inst.N, or the index in the
	// machine function; Addr the address in its function, Text as printed.
	Source int
	Addr   uint64
	Text   string
}

// Approximate reports whether an instruction performs an approximate function.
func (in *Inst) Approximate() bool {
	if w, ok := in.Do.(*Warp); ok && w.Product != nil && w.Product.A.Float() {
		return true
	}
	is := func(o Op) bool { return o.Code == Approx }
	return slices.ContainsFunc(in.Pre, is) || slices.ContainsFunc(in.Post, is)
}

// Op is an operation of a lane: Dst = Code(Src…).
type Op struct {
	Code Code
	Type Type // of the operands; of the result where nothing else is said
	To   Type // the type of the result of a conversion
	Cond Cond // of comparisons
	Mode Mode
	Dst  Reg
	Src  [4]Reg // None where there is none
	Imm  uint64 // LUT, mode of a permutation, and the like
}

// Returned reports whether an operation stands for what a function of the CUDA system returns: nothing is known of it.
func (in *Inst) Returned(o *Op) bool { return in.System && o.Code == Mov }

// Effect is what an instruction does besides computing: *Access, *Fence, *Barrier, *Warp, *Flow, *Copy, *Special.
type Effect interface{ effect() }

func (*Access) effect()  {}
func (*Fence) effect()   {}
func (*Barrier) effect() {}
func (*Warp) effect()    {}
func (*Flow) effect()    {}
func (*Copy) effect()    {}
func (*Special) effect() {}

// Type is the type of an operation's operands.
type Type uint8

// The types. Those of integers tell width and sign; Pred is one bit.
const (
	Pred Type = iota
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	BF16
	F32
	F64
	F16x2
	BF16x2
	TF32
	E4M3
	E5M2
	B128 // 128 bits: of exchanges only
)

var typeBits = [...]int{1, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64, 32, 32, 32, 8, 8, 128}

// Bits is the width of a type.
func (t Type) Bits() int { return typeBits[t] }

// Signed reports whether a type is a signed integer.
func (t Type) Signed() bool { return t >= S8 && t <= S64 }

// Float reports whether a type is one of floating-point numbers.
func (t Type) Float() bool { return t >= F16 && t <= E5M2 }

var typeNames = [...]string{"pred", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "tf32",
	"e4m3", "e5m2", "b128"}

// String is the name that PTX has for the type.
func (t Type) String() string { return typeNames[t] }

// Unsigned is the unsigned integer of a width in bits: 8, 16, 32 or 64.
func Unsigned(bits int) Type { return U8 + Type(slices.Index([]int{8, 16, 32, 64}, bits)) }

// Signed is the signed integer of a width in bits.
func Signed(bits int) Type { return S8 + Type(slices.Index([]int{8, 16, 32, 64}, bits)) }

// Mode modifies operations of floating-point numbers.
type Mode uint16

// The modifiers: the low three bits are a fp.Round.
const (
	RoundMask Mode = 7
	FTZ       Mode = 1 << 3  // subnormal operands and results are zero
	Sat       Mode = 1 << 4  // the result is clamped to [0, 1]; of integers, to the type
	NaN       Mode = 1 << 5  // a minimum or maximum is NaN if an operand is
	XorSign   Mode = 1 << 6  // .xorsign.abs
	Relu      Mode = 1 << 7  // negative results are zero
	SatFinite Mode = 1 << 8  // infinities become the largest number
	Wrap      Mode = 1 << 9  // of shifts: the amount is taken modulo the width instead of clamped
	High      Mode = 1 << 10 // of funnel shifts: the high word
	IntNaN    Mode = 1 << 11 // a NaN becomes the integer 1 << (bits-1) instead of 0
	Left      Mode = 1 << 12 // of funnel shifts
	AnyNaN    Mode = 1 << 13 // a result that is a NaN may be any NaN
)

// Cond is a comparison.
type Cond uint8

// The comparisons. Those of unordered operands (…U) are true if one is NaN.
const (
	EQ Cond = iota
	NE
	LT
	LE
	GT
	GE
	EQU
	NEU
	LTU
	LEU
	GTU
	GEU
	Num // neither is NaN
	Unordered
	Never
	Always
)

// Space is a state space of memory.
type Space uint8

// The state spaces.
const (
	Generic Space = iota
	Global
	Shared
	Local
	ConstBank // a bank of constants
	Param     // parameters of the kernel
	FuncParam // parameters of a called function, and what it returns
)

var spaceNames = [...]string{"generic", "global", "shared", "local", "const", "param", "param"}

// String is PTX's name of the space.
func (s Space) String() string { return spaceNames[s] }

// Sem is the strength of an access or fence.
type Sem uint8

// The strengths.
const (
	Weak Sem = iota
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

var semNames = [...]string{"weak", "relaxed", "acquire", "release", "acq_rel", "sc"}

// String is PTX's name of the strength.
func (s Sem) String() string { return semNames[s] }

// Scope is the scope of a strong operation.
type Scope uint8

// The scopes, from narrow to wide.
const (
	NoScope Scope = iota
	CTA
	Cluster
	GPU
	Sys
)

var scopeNames = [...]string{"", "cta", "cluster", "gpu", "sys"}

// String is PTX's name of the scope.
func (s Scope) String() string { return scopeNames[s] }

// After lists where control may go from an instruction, as far as its text says; where lanes meet again may be elsewhere than behind the
// instruction at which they wait.
func (p *Program) After(pc int32) []int32 {
	f, ok := p.Insts[pc].Do.(*Flow)
	if !ok {
		return []int32{pc + 1}
	}
	var out []int32
	if p.Insts[pc].Guard != None || f.Cond != None {
		out = append(out, pc+1)
	}
	switch f.Kind {
	case Jump:
		return append(out, f.Target)
	case Call, JumpAny, JumpTogether, JumpApart, BarrierSet:
		return append(out, pc+1, f.Target)
	case Indirect:
		return append(out, f.Targets...)
	case Exit, Trap, Return:
		return out
	}
	return append(out, pc+1)
}
