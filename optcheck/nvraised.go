package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// raised returns semantics, scope and cache operator of an access that is stronger in the machine code than its
// source asks for, else nil. An access is not raised if machine code cannot express less.
func (a nvidia) raised(k spec.Kind, m isa.Mem) *litmus.Instr {
	if !k.Op.IsAccess() {
		return a.raisedFence(k, m)
	}
	if k.Space == litmus.Shared {
		return nil
	}
	n, in := a.need(k), litmus.Instr{Sem: k.Sem, Scope: k.Scope, Cache: k.Cache}
	if a.sm < 70 {
		if k.Op == litmus.OpAtom || k.Op == litmus.OpRed || cacheRank(m.Cache) <= cacheRank(n.cache) {
			return nil
		}
		if in.Cache = litmus.CacheCG; cacheRank(m.Cache) > cacheRank("CG") {
			in.Cache, in.Sem = litmus.CacheNone, litmus.SemVolatile
		}
		return &in
	}
	wider := m.Scope > sufficient(n.scope)
	switch {
	case k.Cache == litmus.CacheCA && m.Scope == isa.ScopeCTA:
		return nil // the form in which every release emits .ca
	case m.Strength == isa.MMIO && n.strength != isa.MMIO:
		return &litmus.Instr{Sem: litmus.SemMMIO}
	case m.Strength != isa.Strong || n.strength == isa.Strong && !wider || n.strength == isa.MMIO:
		return nil
	case in.Sem == litmus.SemNone && k.Atom == litmus.AtomNone:
		in.Sem, in.Cache = litmus.SemRelaxed, litmus.CacheNone
	}
	in.Scope = litmusScope(m.Scope)
	return &in
}

// raisedFence is raised for fences.
func (a nvidia) raisedFence(k spec.Kind, m isa.Mem) *litmus.Instr {
	if k.Op == litmus.OpFenceProxy || k.Op == litmus.OpBar {
		return nil
	}
	n, in := a.fenceNeed(k), litmus.Instr{Sem: k.Sem, Scope: k.Scope}
	sc, wider := a.sm >= 70 && m.Strength == isa.FenceSC && !n.sc, m.Scope > sufficient(n.scope)
	if !sc && !wider {
		return nil
	}
	if sc {
		in.Sem = litmus.SemSC
	}
	if wider {
		in.Scope = litmusScope(m.Scope)
	}
	return &in
}

// beyondRelease reports whether a fence before a release access is stronger than what every release of ptxas puts
// there: MEMBAR.ALL of the access's scope.
func beyondRelease(k spec.Kind, m isa.Mem) bool {
	return m.Strength == isa.FenceSC || m.Scope > sufficient(accessScope(k))
}

// sufficient returns the narrowest scope of machine code that includes a scope.
func sufficient(s isa.Scope) isa.Scope {
	if s == isa.ScopeCluster {
		return isa.ScopeGPU
	}
	return s
}

// litmusScope returns the inverse of scopeOf.
func litmusScope(s isa.Scope) litmus.Scope {
	for _, l := range []litmus.Scope{litmus.ScopeCTA, litmus.ScopeCluster, litmus.ScopeGPU, litmus.ScopeSys} {
		if scopeOf(l) == s {
			return l
		}
	}
	return litmus.ScopeNone
}
