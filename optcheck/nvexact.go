package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
)

// inexact marks the synchronising accesses and fences whose machine code has other accesses between its parts. The
// rules look only at the accesses of the test on either side, but what is lifted is ordered with respect to all
// accesses.
func (a nvidia) inexact(l *lifter) {
	p := l.p
	for k, e := range p.s.Entries {
		if e.IsFence() {
			continue
		}
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		sem := e.Kind.Sem
		if (sem == litmus.SemRelease || sem == litmus.SemAcqRel) && !l.released(ev, accessScope(e.Kind)) {
			l.bad[k] = true
		}
		if (sem == litmus.SemAcquire || sem == litmus.SemAcqRel) && accessScope(e.Kind) > isa.ScopeCTA && e.Kind.Space != litmus.Shared &&
			!l.acquired(ev) {
			l.bad[k] = true
		}
	}
	for ev, ks := range p.owner {
		if x := &p.tr.events[ev]; x.role != isa.RoleFence || x.mem.Invalidate || !a.stale(l, ev) {
			continue
		}
		for _, k := range ks {
			if e := p.s.Entries[k]; e.IsFence() && a.fenceNeed(e.Kind).invalidate {
				l.bad[k] = true
			}
		}
	}
}

// meets reports whether an event is an access, and not a store of results, that may be performed in the same run as
// another one.
func (l *lifter) meets(o, ev int) bool {
	x := &l.p.tr.events[o]
	return x.role.IsAccess() && (!x.result || l.p.onLocation(x)) && !x.arm && !disjoint(x.when, l.p.tr.events[ev].when)
}

// released reports whether a fence of the scope directly precedes an access.
func (l *lifter) released(ev int, scope isa.Scope) bool {
	for o := ev - 1; o >= 0 && !l.meets(o, ev); o-- {
		if x := &l.p.tr.events[o]; x.role == isa.RoleFence && x.mem.Scope >= scope && l.p.runsWith(o, ev) {
			return true
		}
	}
	return false
}

// acquired reports whether an invalidation of the L1 directly follows an access.
func (l *lifter) acquired(ev int) bool {
	for o := ev + 1; o < len(l.p.tr.events) && !l.meets(o, ev); o++ {
		if l.p.tr.events[o].mem.Invalidate && l.p.runsWith(o, ev) {
			return true
		}
	}
	return false
}

// stale reports whether a load that the L1 may serve follows an event without
// an invalidation in between.
func (a nvidia) stale(l *lifter, ev int) bool {
	p := l.p
	for o := ev + 1; o < len(p.tr.events); o++ {
		x := &p.tr.events[o]
		if x.mem.Invalidate && p.runsWith(o, ev) {
			return false
		}
		if x.role != isa.RoleLoad || x.mem.Space == isa.SpaceShared || !l.meets(o, ev) {
			continue
		}
		if a.sm >= 70 && strengthRank(x.mem.Strength) == 0 || a.sm < 70 && cacheRank(x.mem.Cache) == 0 {
			return true
		}
	}
	return false
}
