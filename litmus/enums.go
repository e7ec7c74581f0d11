package litmus

// Op is the operation of an instruction.
type Op uint8

// The operations.
const (
	OpNop Op = iota
	OpLd
	OpSt
	OpAtom
	OpRed
	OpFence
	OpMembar
	OpFenceProxy
	OpBar
	OpMov
	OpCvt
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpAnd
	OpOr
	OpXor
	OpShl
	OpShr
	OpNot
	OpSetp
	OpSelp
	OpBra
	OpAsync // see AsyncKind
)

// IsAccess reports whether the operation is a memory access (ld, st, atom, red).
func (o Op) IsAccess() bool { return o >= OpLd && o <= OpRed }

// IsFence reports whether the operation is a memory fence (fence, membar, fence.proxy).
func (o Op) IsFence() bool { return o >= OpFence && o <= OpFenceProxy }

// AtomOp is the operation of atom and red.
type AtomOp uint8

// The atomic operations.
const (
	AtomNone AtomOp = iota
	AtomAdd
	AtomInc
	AtomDec
	AtomExch
	AtomCAS
	AtomAnd
	AtomOr
	AtomXor
	AtomMin
	AtomMax
	// AtomIncOne and AtomDecOne count by one, without an operand and without a
	// bound: OpenCL's atomic_inc and atomic_dec.
	AtomIncOne
	AtomDecOne
)

// Sem is the ordering qualifier of an access or fence.
type Sem uint8

// The semantics. SemNone is "not written": plain ld/st are weak, atom/red relaxed.
const (
	SemNone Sem = iota
	SemWeak
	SemVolatile
	SemMMIO
	SemRelaxed
	SemAcquire
	SemRelease
	SemAcqRel
	SemSC
)

// Scope is a level of the execution hierarchy that a fence or strong access covers.
type Scope uint8

// The scopes, from narrow to wide. ScopeNone is "not written".
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// Space is a state space. Generic is "not written".
type Space uint8

// The state spaces of shared data.
const (
	Generic Space = iota
	Global
	Shared
)

// CacheOp is a cache operator of ld and st (PTX ISA, Cache Operators).
type CacheOp uint8

// The cache operators.
const (
	CacheNone CacheOp = iota
	CacheCA
	CacheCG
	CacheCS
	CacheLU
	CacheCV
	CacheWB
	CacheWT
)

// Proxy is a memory proxy (PTX ISA, Proxies).
type Proxy uint8

// The proxies.
const (
	ProxyNone Proxy = iota
	ProxyGeneric
	ProxyTexture
	ProxySurface
	ProxyConstant
	ProxyAlias
)

// Cmp is a comparison.
type Cmp uint8

// The comparisons.
const (
	CmpNone Cmp = iota
	CmpEq
	CmpNe
	CmpLt
	CmpLe
	CmpGt
	CmpGe
)

// Type is the type of a register or of an instruction's operands.
type Type uint8

// The types. TypeNone is "not written", which means 32-bit.
const (
	TypeNone Type = iota
	B8
	U8
	S8
	B16
	U16
	S16
	B32
	U32
	S32
	B64
	U64
	S64
	Pred
	// Of floating point, only accesses that Word lists have types.
	F16
	F16X2
	BF16
	BF16X2
	F32
	F64
)

// Bits returns the width of the type in bits; 32 for TypeNone, 1 for Pred.
func (t Type) Bits() int {
	switch t {
	case B8, U8, S8:
		return 8
	case B16, U16, S16, F16, BF16:
		return 16
	case B64, U64, S64, F64:
		return 64
	case Pred:
		return 1
	}
	return 32
}

// Signed reports whether comparisons of the type are signed.
func (t Type) Signed() bool { return t == S8 || t == S16 || t == S32 || t == S64 || t == TypeNone }

// Elements returns the type of the elements of a packed type, of which each is accessed for itself (PTX ISA, Packed
// Data-types), and their number: the type itself and 1 for others.
func (t Type) Elements() (Type, int) {
	switch t {
	case F16X2:
		return F16, 2
	case BF16X2:
		return BF16, 2
	}
	return t, 1
}

func (t Type) unsigned() bool { return t == U8 || t == U16 || t == U32 || t == U64 }
