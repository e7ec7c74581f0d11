package optcheck

import (
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// need returns what the machine code of an access must carry on a target, and
// whether the access must keep off the scalar cache.
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

// below returns variants of an access that lack one of the things it needs.
func (m *amdModel) below(k spec.Kind, mem isa.Mem) (weaker []isa.Mem, ok bool) {
	b, vector := m.need(k)
	for bit := isa.CacheBits(1); bit < isa.BitLast; bit <<= 1 {
		if b.bits&bit != 0 {
			w := mem
			w.Bits &^= bit
			weaker = append(weaker, w)
		}
	}
	if b.scope > isa.ScopeNone {
		w := mem
		w.Scope = b.scope - 1
		weaker = append(weaker, w)
	}
	if vector {
		w := mem
		w.Scalar = true
		weaker = append(weaker, w)
	}
	return weaker, len(weaker) > 0
}

func (b amdBits) String() string {
	if b.bits != 0 {
		return b.bits.String()
	}
	return map[isa.Scope]string{isa.ScopeCTA: "work-group scope", isa.ScopeGPU: "agent scope", isa.ScopeSys: "system scope"}[b.scope]
}

func checkStrengthAMD(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || e.IsFence() {
			continue
		}
		m := p.tr.events[ev].mem
		b, vector := p.abi.amd.model.need(e.Kind)
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

// operation reports whether a machine atomic is the test's operation. Counting by
// one is an addition of one, or the machine's own counting without a bound.
func (p *pass) operation(x *event, e spec.Entry) bool {
	a := e.Kind.Atom
	if a < litmus.AtomIncOne {
		return strings.HasPrefix(strings.TrimPrefix(x.mem.Atom, "U"), atomNames[a]) && p.typed(x, e)
	}
	if !countsByOne(x.mem.Atom, a) || len(x.data) == 0 {
		return false
	}
	if x.cond && x.condT == 0 {
		return true // one lane counts for all that are active
	}
	k, ok := p.tr.pool.isConst(x.data[0])
	switch {
	case strings.HasPrefix(x.mem.Atom, "INC") || strings.HasPrefix(x.mem.Atom, "DEC"):
		return ok && k == ^uint32(0) // the bound
	case strings.HasPrefix(x.mem.Atom, "ADD") && a == litmus.AtomDecOne:
		return ok && k == ^uint32(0)
	}
	return ok && k == 1
}

// typed reports whether a machine atomic takes its words as the test's does: as
// integers, and as signed or unsigned ones where that matters.
func (p *pass) typed(x *event, e spec.Entry) bool {
	t := p.atomType(x)
	switch {
	case t == isa.AtomOther:
		return false
	case e.Instr < 0 || e.Kind.Atom != litmus.AtomMin && e.Kind.Atom != litmus.AtomMax:
		return true // not known of a lone binary: part of the digest
	}
	return (t == isa.AtomSigned) == e.Signed
}

// atomType is the type of a machine atomic. AMD's is part of the operation's name:
// floating-point ones have other names.
func (p *pass) atomType(x *event) isa.AtomType {
	if a := x.mem.Atom; p.abi.amd != nil && (a == "MIN" || a == "MAX") {
		return isa.AtomSigned
	}
	return x.mem.Type
}

// countsByOne reports whether a machine operation can be a counting by one.
func countsByOne(atom string, a litmus.AtomOp) bool {
	names := map[litmus.AtomOp][]string{litmus.AtomIncOne: {"ADD", "INC"}, litmus.AtomDecOne: {"SUB", "DEC", "ADD"}}[a]
	for _, n := range names {
		if strings.HasPrefix(atom, n) {
			return true
		}
	}
	return false
}
