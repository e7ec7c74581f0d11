package litmus

import "math/bits"

// name returns table[i], or "?" for a value outside the enumeration.
func name(table []string, i int) string {
	if i < len(table) {
		return table[i]
	}
	return "?"
}

var (
	opNames = []string{"nop", "ld", "st", "atom", "red", "fence", "membar", "fence.proxy", "bar", "mov", "cvt",
		"add", "sub", "mul", "div", "and", "or", "xor", "shl", "shr", "not", "setp", "selp", "bra"}
	atomNames  = []string{"", "add", "inc", "dec", "exch", "cas", "and", "or", "xor", "min", "max", "inc1", "dec1"}
	semNames   = []string{"", "weak", "volatile", "mmio", "relaxed", "acquire", "release", "acq_rel", "sc"}
	scopeNames = []string{"", "cta", "cluster", "gpu", "sys"}
	spaceNames = []string{"", "global", "shared"}
	cacheNames = []string{"", "ca", "cg", "cs", "lu", "cv", "wb", "wt"}
	proxyNames = []string{"", "generic", "texture", "surface", "constant", "alias"}
	cmpNames   = []string{"", "eq", "ne", "lt", "le", "gt", "ge"}
	cmpSigns   = []string{"", "=", "!=", "<", "<=", ">", ">="}
	typeNames  = []string{"", "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "pred",
		"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"}
	dialectNames = []string{"GPU_PTX", "PTX", "GPU_OPENCL"}
	quantNames   = []string{"exists", "~exists", "forall"}
)

// String returns the PTX mnemonic: "ld", "fence.proxy".
func (o Op) String() string { return name(opNames, int(o)) }

// String returns the PTX spelling: "exch"; "" for AtomNone.
func (o AtomOp) String() string { return name(atomNames, int(o)) }

// String returns the PTX spelling: "acq_rel"; "" for SemNone.
func (s Sem) String() string { return name(semNames, int(s)) }

// String returns the PTX spelling: "gpu"; "" for ScopeNone. The scope of
// membar prints as "gl" there, which is the same scope.
func (s Scope) String() string { return name(scopeNames, int(s)) }

// String returns the PTX spelling: "shared"; "" for Generic.
func (s Space) String() string { return name(spaceNames, int(s)) }

// String returns the PTX spelling: "cg"; "" for CacheNone.
func (c CacheOp) String() string { return name(cacheNames, int(c)) }

// String returns the PTX spelling: "alias"; "" for ProxyNone.
func (p Proxy) String() string { return name(proxyNames, int(p)) }

// String returns the PTX spelling: "eq"; "" for CmpNone.
func (c Cmp) String() string { return name(cmpNames, int(c)) }

// Sign returns the comparison in the form used in conditions: "=", "!=", "<".
func (c Cmp) Sign() string { return name(cmpSigns, int(c)) }

// Holds reports whether the comparison of two signed numbers holds; CmpNone never does.
func (c Cmp) Holds(a, b int64) bool {
	switch c {
	case CmpEq:
		return a == b
	case CmpNe:
		return a != b
	case CmpLt:
		return a < b
	case CmpLe:
		return a <= b
	case CmpGt:
		return a > b
	case CmpGe:
		return a >= b
	}
	return false
}

// String returns the PTX spelling without the dot: "s32"; "" for TypeNone.
func (t Type) String() string { return name(typeNames, int(t)) }

// String returns the dialect's header word.
func (d Dialect) String() string { return name(dialectNames, int(d)) }

// declared reports whether the dialect declares registers and places threads by a scope tree,
// like GPU_PTX and GPU_OPENCL.
func (d Dialect) declared() bool { return d != PTX }

// String returns the quantifier as tests write it: "~exists".
func (q Quantifier) String() string { return name(quantNames, int(q)) }

// class says what a modifier of an instruction determines. Classes are bits, so that an
// instruction can name those it takes.
type class uint32

const (
	clNone class = 0
	clSem  class = 1 << (iota - 1)
	clScope
	clSpace
	clCache
	clProxyKind
	clAtom
	clCmp
	clType
	clFrom // the second type of cvt
	clLo
	clProxy
	clSync
	clAligned
	clUni
)

// dim returns the dim that a class of modifiers sets. The first classes are the
// dims, in their order.
func (c class) dim() (dim, bool) {
	d := dim(bits.TrailingZeros32(uint32(c)))
	return d, d < dims
}

// classify returns the class and the value of a modifier, clNone if unknown.
func classify(m string) (class, uint8) {
	switch m {
	case "weak":
		return clSem, uint8(SemWeak)
	case "volatile":
		return clSem, uint8(SemVolatile)
	case "mmio":
		return clSem, uint8(SemMMIO)
	case "relaxed":
		return clSem, uint8(SemRelaxed)
	case "acquire":
		return clSem, uint8(SemAcquire)
	case "release":
		return clSem, uint8(SemRelease)
	case "acq_rel":
		return clSem, uint8(SemAcqRel)
	case "sc":
		return clSem, uint8(SemSC)
	case "cta":
		return clScope, uint8(ScopeCTA)
	case "cluster":
		return clScope, uint8(ScopeCluster)
	case "gpu":
		return clScope, uint8(ScopeGPU)
	case "sys":
		return clScope, uint8(ScopeSys)
	case "global":
		return clSpace, uint8(Global)
	case "shared", "shared::cta":
		return clSpace, uint8(Shared)
	case "ca":
		return clCache, uint8(CacheCA)
	case "cg":
		return clCache, uint8(CacheCG)
	case "cs":
		return clCache, uint8(CacheCS)
	case "lu":
		return clCache, uint8(CacheLU)
	case "cv":
		return clCache, uint8(CacheCV)
	case "wb":
		return clCache, uint8(CacheWB)
	case "wt":
		return clCache, uint8(CacheWT)
	}
	return classifyRare(m)
}

func classifyRare(m string) (class, uint8) {
	if t := typeOf(m); t != TypeNone {
		return clType, uint8(t)
	}
	switch m {
	case "add", "inc", "dec", "exch", "cas", "and", "or", "xor", "min", "max":
		return clAtom, index(atomNames, m)
	case "eq", "ne", "lt", "le", "gt", "ge":
		return clCmp, index(cmpNames, m)
	case "ls":
		return clCmp, uint8(CmpLe)
	case "hi":
		return clCmp, uint8(CmpGt)
	case "hs":
		return clCmp, uint8(CmpGe)
	case "lo":
		return clLo, uint8(CmpLt)
	case "proxy":
		return clProxy, 0
	case "generic", "texture", "surface", "constant", "alias":
		return clProxyKind, index(proxyNames, m)
	case "sync":
		return clSync, 0
	case "arrive":
		return clSync, 1
	case "aligned":
		return clAligned, 0
	case "uni":
		return clUni, 0
	}
	return clNone, 0
}

func index(table []string, s string) uint8 {
	for i, t := range table {
		if t == s {
			return uint8(i)
		}
	}
	return 0
}

// typeOf returns the type of that name without the dot, or TypeNone.
func typeOf(m string) Type {
	switch m {
	case "b8":
		return B8
	case "u8":
		return U8
	case "s8":
		return S8
	case "b16":
		return B16
	case "u16":
		return U16
	case "s16":
		return S16
	case "b32":
		return B32
	case "u32":
		return U32
	case "s32":
		return S32
	case "b64":
		return B64
	case "u64":
		return U64
	case "s64":
		return S64
	case "pred":
		return Pred
	}
	return TypeNone
}
