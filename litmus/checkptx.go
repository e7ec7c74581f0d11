package litmus

// qualifiers says what is wrong with the semantics, scope, space and cache
// operator of an instruction, "" if PTX has the combination. Source: PTX ISA
// 8.6, syntax of ld, st, atom, red, membar/fence.
func qualifiers(in *Instr) string {
	if in.Scope > ScopeSys || in.Sem > SemSC || in.Op > OpBra {
		return "qualifier outside of its range"
	}
	switch in.Op {
	case OpLd, OpSt:
		return plainQualifiers(in)
	case OpAtom, OpRed:
		return atomQualifiers(in)
	case OpFence:
		switch in.Sem {
		case SemNone, SemAcquire, SemRelease, SemAcqRel, SemSC:
		default:
			return "a fence cannot be ." + in.Sem.String()
		}
		if in.Scope == ScopeNone {
			return "a fence needs a scope"
		}
	case OpMembar:
		if in.Scope == ScopeNone || in.Scope == ScopeCluster {
			return "membar has the levels .cta, .gl and .sys"
		}
	case OpFenceProxy:
		if in.Proxy == ProxyNone {
			return "fence.proxy needs a proxy"
		}
	}
	return ""
}

// plainQualifiers judges ld and st.
func plainQualifiers(in *Instr) string {
	ld := in.Op == OpLd
	switch in.Sem {
	case SemNone, SemWeak, SemVolatile:
		if in.Scope != ScopeNone {
			return "a scope needs .relaxed, " + map[bool]string{true: ".acquire", false: ".release"}[ld]
		}
	case SemMMIO:
		if in.Scope != ScopeSys {
			return ".mmio needs scope .sys"
		}
		if in.Space == Shared {
			return ".mmio is for global memory"
		}
	case SemRelaxed:
	case SemAcquire:
		if !ld {
			return "a store cannot be .acquire"
		}
	case SemRelease:
		if ld {
			return "a load cannot be .release"
		}
	default:
		return in.Op.String() + " cannot be ." + in.Sem.String()
	}
	if in.Sem >= SemRelaxed && in.Scope == ScopeNone {
		return "." + in.Sem.String() + " needs a scope"
	}
	if in.Cache == CacheNone {
		return ""
	}
	if in.Sem > SemWeak {
		return "a cache operator goes with weak accesses only"
	}
	switch in.Cache {
	case CacheCG, CacheCS:
		return ""
	case CacheCA, CacheLU, CacheCV:
		if !ld {
			return "a store cannot be ." + in.Cache.String()
		}
	default:
		if ld {
			return "a load cannot be ." + in.Cache.String()
		}
	}
	return ""
}

// atomQualifiers judges atom and red.
func atomQualifiers(in *Instr) string {
	switch in.Sem {
	case SemNone, SemRelaxed:
	case SemRelease:
	case SemAcquire, SemAcqRel:
		if in.Op == OpRed {
			return "red cannot be ." + in.Sem.String()
		}
	default:
		return in.Op.String() + " cannot be ." + in.Sem.String()
	}
	switch {
	case in.Atom == AtomNone || in.Atom > AtomMax:
		return in.Op.String() + " needs an operation"
	case in.Op == OpRed && (in.Atom == AtomExch || in.Atom == AtomCAS):
		return "red has no ." + in.Atom.String()
	case in.Cache != CacheNone:
		return in.Op.String() + " has no cache operators"
	}
	return ""
}

// types is a set of types as bits.
type types uint32

func set(list ...Type) (s types) {
	for _, t := range list {
		s |= 1 << t
	}
	return s
}

var (
	anyInt   = set(B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64)
	numbers  = set(U16, S16, U32, S32, U64, S64)
	bitTypes = set(B16, B32, B64)
	wide     = bitTypes | numbers
)

// typesOf returns the types that PTX has for an operation (PTX ISA, the
// instructions' own sections); none means any.
func typesOf(in *Instr) types {
	switch in.Op {
	case OpLd, OpSt:
		return anyInt
	case OpAtom, OpRed:
		switch in.Atom {
		case AtomAdd:
			return set(U32, S32, U64)
		case AtomInc, AtomDec:
			return set(U32)
		case AtomExch, AtomAnd, AtomOr, AtomXor:
			return set(B32, B64)
		case AtomCAS:
			return set(B16, B32, B64)
		case AtomIncOne, AtomDecOne:
			return set(U32, S32)
		case AtomMin, AtomMax:
			return set(U32, S32, U64, S64)
		}
	case OpMov:
		return wide | set(Pred)
	case OpCvt:
		return set(U8, S8) | numbers
	case OpAdd, OpSub, OpMul, OpDiv:
		return numbers
	case OpAnd, OpOr, OpXor, OpNot:
		return bitTypes | set(Pred)
	case OpShl:
		return bitTypes
	case OpShr, OpSelp:
		return wide
	case OpSetp:
		if in.Cmp == CmpEq || in.Cmp == CmpNe {
			return wide
		}
		return numbers
	}
	return 0
}

// typed says what is wrong with an instruction's types, "" if PTX has them.
// An instruction without a type is 32 bits wide.
func typed(in *Instr) string {
	ok := typesOf(in)
	if in.Op == OpCvt && (in.Type == TypeNone || in.FromType == TypeNone) {
		return "cvt needs two types"
	}
	if in.Type == TypeNone || ok == 0 {
		return ""
	}
	if ok&(1<<in.Type) == 0 {
		name := in.Op.String()
		if in.Atom != AtomNone {
			name += "." + in.Atom.String()
		}
		return name + " has no type ." + in.Type.String()
	}
	if in.Op == OpCvt && ok&(1<<in.FromType) == 0 {
		return "cvt has no type ." + in.FromType.String()
	}
	return ""
}
