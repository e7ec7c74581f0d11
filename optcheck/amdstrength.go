package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// need returns what the machine code of an access must carry on a target, and whether the access must avoid the
// scalar cache.
func (m *amdModel) need(k spec.Kind) (b amdBits, vector bool) {
	if k.Space == litmus.Shared || m.clauses {
		return amdBits{}, false
	}
	scope := amdScope(accessScope(k))
	switch {
	case k.Op == litmus.OpAtom || k.Op == litmus.OpRed:
		return m.atomic[scope], true
	case k.Sem == litmus.SemVolatile || k.Sem == litmus.SemMMIO:
		if k.Op == litmus.OpSt {
			return m.volatileStore, true
		}
		return m.volatileLoad, true
	case k.Sem == litmus.SemRelaxed || k.Sem == litmus.SemAcquire || k.Sem == litmus.SemRelease || k.Sem == litmus.SemSC:
		if k.Op == litmus.OpSt {
			return m.store[scope], true
		}
		return m.load[scope], true
	}
	return amdBits{}, false
}

// ok reports whether an access carries what it must.
func (b amdBits) ok(m isa.Mem) bool { return m.Bits.Has(b.bits) && m.Scope >= b.scope }

func (b amdBits) String() string {
	if b.bits != 0 {
		return b.bits.String()
	}
	return map[isa.Scope]string{isa.ScopeCTA: "work-group scope", isa.ScopeGPU: "agent scope", isa.ScopeSys: "system scope"}[b.scope]
}

func (a *amd) strength(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		m := p.tr.events[ev].mem
		b, vector := a.model.need(e.Kind)
		switch {
		case vector && m.Scalar:
			p.report(Weakened, k, ev, "%s goes through the scalar cache, which is not coherent: %s", p.name(k), p.text(ev))
		case !b.ok(m):
			p.report(Weakened, k, ev, "%s needs %v: %s", p.name(k), b, p.text(ev))
		case b.scope != isa.ScopeNone && m.Scope > b.scope && e.Kind.Sem != litmus.SemVolatile:
			p.report(Strengthened, k, ev, "%s has the wider scope %v: %s", p.name(k), m.Scope, p.text(ev))
		}
	}
}
