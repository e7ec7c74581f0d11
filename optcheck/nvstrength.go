package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// need is the minimum that the machine code of an access must be.
type need struct {
	strength isa.Strength
	scope    isa.Scope
	cache    string // before sm_70: cache operator
}

// scopeOf maps the source's scopes to those of machine code. Machine code has no cluster scope: ptxas uses the whole
// GPU.
func scopeOf(s litmus.Scope) isa.Scope {
	switch s {
	case litmus.ScopeCTA:
		return isa.ScopeCTA
	case litmus.ScopeCluster:
		return isa.ScopeCluster
	case litmus.ScopeGPU:
		return isa.ScopeGPU
	case litmus.ScopeSys:
		return isa.ScopeSys
	}
	return isa.ScopeNone
}

// need returns how strong the machine access must be. Since sm_70, .cg is a strong access of GPU scope and volatile
// one of system scope; before, there are only cache operators. Shared memory has neither.
func (a nvidia) need(k spec.Kind) need {
	if k.Space == litmus.Shared {
		return need{}
	}
	if a.sm < 70 {
		switch {
		case k.Sem == litmus.SemVolatile || k.Cache == litmus.CacheCV:
			if k.Op == litmus.OpSt {
				return need{cache: "WT"}
			}
			return need{cache: "CV"}
		case k.Cache == litmus.CacheCG:
			return need{cache: "CG"}
		case k.Cache == litmus.CacheWT:
			return need{cache: "WT"}
		}
		return need{}
	}
	if k.Op == litmus.OpAtom || k.Op == litmus.OpRed {
		if k.Scope == litmus.ScopeNone {
			return need{strength: isa.Strong, scope: isa.ScopeGPU}
		}
		return need{strength: isa.Strong, scope: scopeOf(k.Scope)}
	}
	switch k.Sem {
	case litmus.SemVolatile:
		return need{strength: isa.Strong, scope: isa.ScopeSys}
	case litmus.SemMMIO:
		return need{strength: isa.MMIO, scope: isa.ScopeSys}
	case litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease:
		return need{strength: isa.Strong, scope: scopeOf(k.Scope)}
	}
	switch k.Cache {
	case litmus.CacheCG:
		return need{strength: isa.Strong, scope: isa.ScopeGPU}
	case litmus.CacheCV, litmus.CacheWT:
		return need{strength: isa.Strong, scope: isa.ScopeSys}
	}
	return need{}
}

// cacheRank orders the cache operators of machine code by how far they bypass the L1; volatile forms imply .CG.
func cacheRank(c string) int {
	switch c {
	case "CG":
		return 1
	case "CV", "WT":
		return 2
	}
	return 0
}

func strengthRank(s isa.Strength) int {
	switch s {
	case isa.Strong:
		return 1
	case isa.MMIO:
		return 2
	}
	return 0
}

func (a nvidia) strength(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		n, m := a.need(e.Kind), p.tr.events[ev].mem
		if m.NonCoherent() {
			p.report(Weakened, k, ev, "%s is read through the non-coherent cache, which need not have the thread's own stores: %s", p.name(k),
				p.text(ev))
			continue
		}
		if a.sm < 70 {
			if e.Kind.Op != litmus.OpAtom && e.Kind.Op != litmus.OpRed && cacheRank(m.Cache) < cacheRank(n.cache) {
				p.report(Weakened, k, ev, "%s needs .%s: %s", p.name(k), n.cache, p.text(ev))
			}
			continue
		}
		switch {
		case strengthRank(m.Strength) < strengthRank(n.strength):
			p.report(Weakened, k, ev, "%s needs a strong access: %s", p.name(k), p.text(ev))
		case n.strength != isa.Weak && m.Scope < n.scope:
			p.report(Weakened, k, ev, "%s needs scope %v: %s", p.name(k), n.scope, p.text(ev))
		}
	}
}

// stronger notes accesses and fences that are stronger than requested.
func (a nvidia) stronger(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.eventOf(k)
		if ev < 0 {
			continue
		}
		if m := p.tr.events[ev].mem; a.raised(e.Kind, m) != nil {
			p.report(Strengthened, k, ev, "%s has more strength, or the wider scope %v: %s", p.name(k), m.Scope, p.text(ev))
		}
	}
	for ev, ks := range p.owner {
		for _, k := range ks {
			x, e := &p.tr.events[ev], &p.s.Entries[k]
			if x.role == isa.RoleFence && !e.IsFence() && beyondRelease(e.Kind, x.mem) {
				p.report(Strengthened, k, ev, "the fence in front of %s has more strength, or the wider scope %v: %s", p.name(k), x.mem.Scope,
					p.text(ev))
			}
		}
	}
}
