package optcheck

import (
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// event lifts one event.
func (l *lifter) event(ev int) error {
	p := l.p
	x := &p.tr.events[ev]
	if l.done[ev] || x.result && !p.onLocation(x) || x.arm {
		return nil
	}
	if !x.role.IsAccess() {
		return l.fence(ev)
	}
	if x.loop && !x.mem.Locked {
		return l.errorAt(x.inst, "it stands in a loop")
	}
	op := liftOp{event: ev, entry: l.implements(ev), read: x.read}
	if op.entry < 0 {
		if err := l.rawAccess(ev, &op); err != nil {
			return err
		}
	}
	why := ""
	if op.texture, why = l.means.texture(x.mem); why != "" {
		return l.errorAt(x.inst, "%s", why)
	}
	if op.entry >= 0 {
		op.raised = l.means.raised(p.s.Entries[op.entry].Kind, x.mem)
	}
	op.unsigned = isAtomicRole(x.role) && x.mem.Type != isa.AtomSigned
	if err := l.guard(ev, &op); err != nil {
		return err
	}
	if err := l.data(ev, &op); err != nil {
		return err
	}
	op.addrDeps = bitsOf(l.beyondGuard(ev, op.entry, spec.DepAddr, x.addrT))
	if ok, err := l.words(ev, op); ok || err != nil {
		return err
	}
	if l.halved(ev, &op) {
		return nil
	}
	loc, ok := p.locationOf(x)
	if !ok {
		return l.errorAt(x.inst, "its address %v is none of the test's locations", x.addr)
	}
	op.loc = loc
	l.add(op)
	return nil
}

// halved lifts a 32-bit load or store in a 64-bit location of the test. The load becomes one of the whole location,
// of which one half is used; the store leaves the other half unchanged.
func (l *lifter) halved(ev int, op *liftOp) bool {
	p := l.p
	x := &p.tr.events[ev]
	if op.entry >= 0 || x.mem.Width != 4 || isAtomicRole(x.role) {
		return false
	}
	loc, ok := p.locationOf(x)
	op.half = lowHalf
	if !ok {
		y := *x
		y.addr.off -= 4
		loc, ok = p.locationOf(&y)
		op.half = highHalf
	}
	wide := false
	for _, e := range p.s.Entries {
		if !e.IsFence() && e.Loc == loc {
			wide = e.Kind.Width == 8
			ok = ok && wide
		}
	}
	if !ok || !wide {
		op.half = noHalf
		return false
	}
	op.loc, op.like = loc, -1
	op.typ, op.raw.Type = litmus.S64, litmus.S64
	if op.read >= 0 {
		l.out.reads[op.read] = liftRead{op: len(l.out.ops), entry: -1, wide: true, half: op.half}
	}
	l.out.ops = append(l.out.ops, *op)
	return true
}

func (l *lifter) add(op liftOp) {
	if op.read >= 0 {
		l.out.reads[op.read].op = len(l.out.ops)
		l.out.reads[op.read].split = op.group != 0
		if ks := l.p.owner[op.event]; len(ks) > 0 && op.group == 0 {
			k := ks[0]
			l.out.reads[op.read].entry = k
			if v := l.p.oper[k]; v != none && l.p.s.Entries[k].Guarded && len(op.guard) == 0 {
				kind := l.p.tr.pool.nodes[v].kind
				l.out.reads[op.read].chosen = kind == kSel || kind == kPhi
			}
		}
		l.out.reads[op.read].wide = op.group == 0 && l.width(op) == 8
	}
	l.out.ops = append(l.out.ops, op)
}

func (l *lifter) width(op liftOp) int {
	if op.entry >= 0 {
		return l.p.s.Entries[op.entry].Kind.Width
	}
	return op.typ.Bits() / 8
}

// implements returns the entry that an access satisfies, or -1. If it serves several, that is the most demanding one.
func (l *lifter) implements(ev int) int {
	best := -1
	for _, k := range l.p.owner[ev] {
		if !l.bad[k] && (best < 0 || demands(l.p.s.Entries[k].Kind) > demands(l.p.s.Entries[best].Kind)) {
			best = k
		}
	}
	return best
}

// demands ranks kinds of accesses by how much they ask for.
func demands(k spec.Kind) int {
	sem := map[litmus.Sem]int{litmus.SemRelaxed: 2, litmus.SemVolatile: 2, litmus.SemAcquire: 3, litmus.SemRelease: 3, litmus.SemAcqRel: 4,
		litmus.SemMMIO: 5}[k.Sem]
	cache := map[litmus.CacheOp]int{litmus.CacheCG: 1, litmus.CacheCV: 2, litmus.CacheWT: 2}[k.Cache]
	return 100*sem + 10*int(k.Scope) + cache
}

// rawAccess looks up an access in the table of meanings.
func (l *lifter) rawAccess(ev int, op *liftOp) error {
	x := &l.p.tr.events[ev]
	var ok bool
	if op.raw, ok = l.means.access(x.role, x.mem); !ok {
		return l.errorAt(x.inst, "its strength has no meaning in the table")
	}
	if op.raw.Sem == litmus.SemAcquire && l.p.unawaited(ev) != nil {
		op.raw.Sem = litmus.SemRelaxed
	}
	switch x.role {
	case isa.RoleLoad:
		op.raw.Op = litmus.OpLd
	case isa.RoleStore:
		op.raw.Op = litmus.OpSt
	case isa.RoleAtomic, isa.RoleReduction:
		op.raw.Op = litmus.OpAtom
		if x.role == isa.RoleReduction {
			op.raw.Op = litmus.OpRed
			if op.raw.Sem == litmus.SemAcquire {
				op.raw.Sem = litmus.SemRelaxed // a reduction returns nothing to acquire by
			}
		}
		for a, name := range atomNames {
			if strings.HasPrefix(x.mem.Atom, name) {
				op.raw.Atom = a
			}
		}
		if op.raw.Atom == litmus.AtomNone {
			return l.errorAt(x.inst, "the atomic operation %q is not known", x.mem.Atom)
		}
	}
	op.typ = litmus.S32
	switch x.mem.Width {
	case 1:
		op.typ = litmus.U8
	case 2:
		op.typ = litmus.U16
	case 4, 12, 16:
	case 8:
		op.typ = litmus.S64
	default:
		return l.errorAt(x.inst, "an access of %d bytes", x.mem.Width)
	}
	if op.raw.Op == litmus.OpAtom || op.raw.Op == litmus.OpRed {
		if x.mem.Type != isa.AtomSigned {
			op.typ = map[litmus.Type]litmus.Type{litmus.S32: litmus.U32, litmus.S64: litmus.U64}[op.typ]
		}
		if op.raw.Atom == litmus.AtomCAS || op.raw.Atom == litmus.AtomExch {
			op.typ = map[litmus.Type]litmus.Type{litmus.S32: litmus.B32, litmus.U32: litmus.B32}[op.typ]
		}
		if op.typ == litmus.TypeNone {
			op.typ = litmus.B64
		}
	}
	op.raw.Type = op.typ
	op.like = l.like(ev)
	return nil
}

// like returns the entry whose type a raw access takes: its own entry, or another of the same location.
func (l *lifter) like(ev int) int {
	p := l.p
	x := &p.tr.events[ev]
	if ks := p.owner[ev]; len(ks) > 0 && p.s.Entries[ks[0]].Kind.Width == x.mem.Width {
		return ks[0]
	}
	loc, ok := p.locationOf(x)
	for k, e := range p.s.Entries {
		if ok && !e.IsFence() && e.Loc == loc && e.Kind.Width == min(x.mem.Width, 8) {
			return k
		}
	}
	return -1
}
