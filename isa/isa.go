// Package isa represents machine code as data, in the same way for every vendor: instructions,
// operands, predicates, basic blocks, control flow, definitions and uses, and what each
// instruction does to memory.
//
// It parses no text (sass and amdisa do) and does not judge (optcheck does). A decoder sets
// every field that it understands and marks an instruction that it does not understand with
// RoleUnknown: no consumer may skip such an instruction silently.
//
// Stable: the types and the JSON form. Enumerations and operations grow at their end, so a
// consumer must treat a value that it does not know as unknown.
package isa

// Program is the machine code of one file: one or more functions.
type Program struct {
	File     string
	Dialect  string // the text it came from: "nvdisasm", "cuobjdump", "llvm-objdump", …
	Funcs    []*Func
	Problems []Problem // lines that were not understood, in file order
	// Consts are the symbols whose addresses constant bank 4 holds, by byte offset (NVIDIA); nil if not known.
	Consts map[int64]string
}

// Kernels lists the functions that are kernels, as far as the text tells: those that are Callable are called by kernels,
// or are copies beside them.
func (p *Program) Kernels() (list []*Func) {
	for _, f := range p.Funcs {
		if !f.Callable {
			list = append(list, f)
		}
	}
	return list
}

// Problem is a line that a decoder did not understand.
type Problem struct {
	Line int // 1-based line of the input
	Text string
	Why  string
}

// Func is one function (kernel) of a program.
type Func struct {
	Name string
	Arch string // target as the toolchain spells it: sm_80, gfx900, cypress
	Line int    // line of the input at which it starts
	// Callable is set for a function that is not a kernel: one that clang-22 emits beside each
	// kernel (__clang_ocl_kern_imp_…), or a library function.
	Callable bool
	Wave     int // lanes of a wave when the listing tells (AMD): 32 or 64, else 0
	Insts    []Inst
	Blocks   []Block // basic blocks in address order; Blocks[0] is the entry
}

// Block is a basic block: instructions [First, End) of its function.
type Block struct {
	First, End   int
	Succs, Preds []int // indices into Func.Blocks
}

// Inst is one machine instruction. Decoders share Mods, Args, Defs, Uses,
// Addrs, Data and Micro between instructions with the same text: treat these
// slices as read-only, copy before changing.
type Inst struct {
	Addr  uint64
	Op    string   // mnemonic root: LDG, IADD3, MEMBAR
	Mods  []string // modifiers in printed order, without dots: E, STRONG, GPU
	Guard Guard
	Args  []Operand // operands in printed order
	Text  string    // the instruction as printed, without address and encoding
	Line  int       // line of the input file
	Src   SrcLine   // source line that the compiler attributes it to
	Code  []uint64  // encoding words, empty when the dump has none
	// Control is the control code of NVIDIA's instructions, if it is known.
	Control Control

	Role Role
	Mem  Mem // filled for memory roles, fences, barriers and cache control
	// Defs and Uses are the registers written and read, guard included, with one entry per
	// 32-bit register or predicate. Constant-zero and always-true registers are left out.
	Defs, Uses []Reg
	// Addrs lists the registers that form the address of a memory access, and Data those that
	// hold the stored or combined value(s), word by word in order, with the zero Reg for a word
	// that is always 0; apart from that, both are subsets of Uses. Memory descriptors are in
	// neither.
	Addrs, Data []Reg
	Micro       []Micro // value semantics of simple instructions; see Micro
	// Counts lists the counters that the instruction increments when issued, and Waits the
	// conditions of a RoleWait (or of a barrier or export that waits); see Counter. Only AMD
	// code has them.
	Counts []Counter
	Waits  []Wait
	// Target is the index of the instruction branched to, -1 if none or unknown.
	Target int
	// Targets lists all possible targets of an indirect branch when the
	// listing names them.
	Targets []int
	Flow    Flow // what a RoleBranch instruction does to the control flow
	Pair    Pair // which pushes a pop may refer to
}

// Flow says how an instruction continues.
type Flow uint8

// The kinds of control flow.
const (
	FlowNext     Flow = iota // falls through
	FlowJump                 // branches to Target
	FlowIndirect             // branches to one of Targets; anywhere if there are none
	FlowCall                 // calls Target (or an unknown function) and comes back
	FlowReturn               // returns from a called function
	FlowExit                 // ends the thread
	FlowPush                 // names Target as the place where a later FlowPop continues (SSY, PBK, BSSY)
	FlowPop                  // continues at the matching FlowPush target (SYNC, BRK, BSYNC)
	FlowTrap                 // stops or interrupts the program
)

// Pair distinguishes pushes and pops that do not belong together.
type Pair uint8

// The pairs of push and pop.
const (
	PairSync     Pair = iota // SSY and SYNC, also as the suffix .S
	PairBreak                // PBK and BRK
	PairContinue             // PCNT and CONT
	PairLong                 // PLONGJMP and LONGJMP
	PairBarrier              // BSSY and BSYNC, through a barrier register
	PairOther                // what only pushes: PEXIT, PRET
)

// SrcLine is a source position from line information; Line 0 means none.
type SrcLine struct {
	File string
	Line int
}

// Guard is the predicate of an instruction. Reg.Class is ClassNone when there
// is none. Never is set for @!PT (never executed).
type Guard struct {
	Reg   Reg
	Neg   bool
	Never bool
}

// Class is a register class.
type Class uint8

// The register classes. For AMD: VGPR is GPR, SGPR is UGPR.
const (
	ClassNone Class = iota
	ClassGPR
	ClassUGPR // uniform (scalar) registers
	ClassPred
	ClassUPred
	ClassCC      // carry / condition code
	ClassBarrier // convergence barrier registers
	ClassSpecial // VCC, EXEC, SCC, M0 … by Num: SpecExecLo and so on
	ClassAcc     // AMD accumulation registers (a0 …)
)

// Reg is one 32-bit register, predicate or flag. Numbers of ClassGPR are below
// 256 for NVIDIA, below 1024 for AMD; those of the other classes are below 256.
type Reg struct {
	Class Class
	Num   uint16
}

// OperandKind is the kind of an operand.
type OperandKind uint8

// The operand kinds.
const (
	OpdNone    OperandKind = iota
	OpdReg                 // Reg, with Words consecutive registers; zero register: Zero set
	OpdPred                // predicate register; PT: Zero set (and true unless Not)
	OpdImm                 // integer immediate in Imm
	OpdFloat               // floating-point immediate; Imm holds its bits when known
	OpdConst               // constant bank: Bank, Off (+ Reg when indexed)
	OpdMem                 // memory address: Reg/Base2 + Off
	OpdLabel               // branch target: Imm holds the address when known, Sym the label
	OpdSpecial             // special register, name in Sym
	OpdSym                 // symbol or relocation: Sym, Part "lo" or "hi"
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind  OperandKind
	Reg   Reg
	Zero  bool // RZ, URZ, PT, UPT: no register at all
	Words int  // number of consecutive 32-bit registers, 1 when not wider
	Neg   bool // arithmetic negation
	Abs   bool
	Not   bool // bitwise or logical inversion
	Imm   int64
	Bank  int
	Off   int64
	Base2 Reg    // uniform part of an address: [UR4], [R2.U32+UR4]
	Desc  Reg    // memory descriptor: UR4 in desc[UR4][R2.64], cx[UR4][0x10]
	Sym   string // symbol, label, special register
	Part  string // "lo", "hi" for relocations; the suffix of a register: H1, B0, 64, U32, CC
	Text  string // as printed
}

// Role says what an instruction does.
type Role uint8

// The roles.
const (
	RoleUnknown Role = iota // not in the decoder's tables: fail closed
	RoleALU                 // computes registers from registers
	RoleConst               // reads parameters, constants or special registers
	RoleLoad
	RoleStore
	RoleAtomic    // read-modify-write that returns the old value
	RoleReduction // read-modify-write without result
	RoleFence
	RoleBarrier
	RoleCache  // cache control: invalidate, write back, prefetch (CCTL)
	RoleBranch // branch, call, return, exit and reconvergence
	RoleWait   // scoreboard or counter wait; also ERRBAR and WARPSYNC, which order no memory by themselves
	RoleNop
	RoleCopy // reads memory and writes memory in one instruction (LDGSTS, UBLKCP)
)

// IsAccess reports whether the role is a memory access.
func (r Role) IsAccess() bool { return r >= RoleLoad && r <= RoleReduction || r == RoleCopy }

// Space is a state space of machine memory.
type Space uint8

// The state spaces.
const (
	SpaceNone Space = iota
	SpaceGeneric
	SpaceGlobal
	SpaceShared
	SpaceLocal // thread-private: stack and spills
	SpaceConst
	SpaceTexture
	SpaceRegion // AMD global data share (GDS)
)

// Strength is the strength of an access or fence, as the instruction set expresses it. Before
// sm_70 NVIDIA machine code has no strong accesses, only cache operators; see Mem.Cache.
type Strength uint8

// The strengths.
const (
	Weak Strength = iota
	Constant
	Strong   // relaxed or stronger, with Mem.Scope
	MMIO     // strong, may not be merged or split
	FenceAll // acquire-release fence
	FenceSC  // sequentially consistent fence
)

// Scope is the scope of a strong access or fence in machine code.
type Scope uint8

// The scopes, from narrow to wide.
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// AtomType is the type as which an atomic interprets its words.
type AtomType uint8

// The types of atomics.
const (
	AtomInteger AtomType = iota // words; a minimum or maximum is unsigned
	AtomSigned                  // a minimum or maximum of signed words
	AtomOther                   // floating-point numbers, packed numbers, or unknown
)

// Mem describes a memory instruction, fence, barrier or cache operation, as the machine code
// expresses it: global accesses of sm_2x and sm_3x are LD and ST and therefore generic; fences
// before sm_70 are FenceSC; FENCE.VIEW (a proxy fence) is Weak without scope.
type Mem struct {
	Space    Space
	Width    int // bytes moved per thread; 0 for fences
	Strength Strength
	Scope    Scope
	Cache    string // cache operator as printed: CG, CV, CS, WT, EF, LU, CI; gfx12: TH_NT …; "" if none
	Atom     string // atomic operation: ADD, CAS, EXCH, AND, …; "" if none
	Type     AtomType
	// Bits are AMD's cache-policy bits as printed. Accesses of AMD code are Weak
	// whatever their bits; Scope is set where the instruction spells one: sc0 and
	// sc1 of gfx940 (on atomics only sc1), scope: of gfx12.
	Bits CacheBits
	// Invalidate is set for fences that also invalidate the L1 (MEMBAR.GL.IVALLD)
	// and for CCTL.IVALL. For AMD it is set for RoleCache instructions that
	// invalidate, as WriteBack is for those that write back. Scope is then the
	// widest scope up to which the operation makes (or helps to make) other
	// threads' writes, or its own, visible: buffer_gl0_inv CTA; buffer_gl1_inv,
	// buffer_wbinvl1 (L1), buffer_inv sc1, global_inv scope:SCOPE_DEV GPU;
	// buffer_invl2, buffer_wbl2 of gfx90a, …sc0 sc1 and SCOPE_SYS Sys; ScopeNone
	// where it is a wave's own. Scalar is set for the scalar cache (s_dcache_inv)
	// and Space is SpaceNone for data caches, SpaceConst for the instruction cache.
	Invalidate bool
	WriteBack  bool
	// Scalar is set for accesses through the scalar unit (AMD s_load, s_store,
	// s_buffer_load): one value for the wave, through the scalar cache,
	// completing in any order.
	Scalar bool
	// Locked is set for the halves of a lock-protected read-modify-write
	// (Kepler LDSLK, STSCUL).
	Locked bool
}

// NonCoherent reports whether a load goes through a cache that need not have the thread's own stores.
func (m *Mem) NonCoherent() bool { return m.Strength == Constant || m.Cache == "CI" }
