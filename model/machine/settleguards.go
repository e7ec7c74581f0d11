package machine

import (
	"optcheck/litmus"
	"optcheck/model/exec"
)

// may reports whether a load may take a write's value, as far as that can be seen cheaply
// before anything settles. A thread does not contradict its own stores. Two mutually strong
// atomics do not read the same store: the store of one of them would come between the halves of
// the other. The rules enforce the same, later.
func (l *settle) may(s *settleState, r, w int) bool {
	if l.m.without != 0 || l.m.plain {
		return true
	}
	if future, stale := l.own(r, w); future || stale {
		return false
	}
	v := l.partner(r)
	return v < 0 || each(l.reads[l.events[r].Loc]&s.known, func(q int) bool {
		u := l.partner(q)
		observed := w == initial || l.strong(w, r) && l.strong(w, q)
		return u < 0 || int(s.src[q]) != w || !observed || !l.strong(r, u) || !l.strong(q, v)
	})
}

// strong reports whether two events are mutually strong: of one thread, or both strong with
// scopes that contain each other. Accesses must be of one location.
func (l *settle) strong(a, b int) bool {
	x, y := &l.events[a], &l.events[b]
	if x.Loc >= 0 && y.Loc >= 0 && x.Loc != y.Loc || a == b {
		return false
	}
	if x.thread == y.thread || !l.m.has(settleStrong) {
		return true
	}
	if weak(x) || weak(y) {
		return false
	}
	p, q := l.place[x.thread], l.place[y.thread]
	return p.SameScope(q, x.Scope) && p.SameScope(q, y.Scope)
}

func weak(e *Event) bool { return e.Kind != exec.Fence && e.Sem == litmus.SemWeak }

// observed returns the set of the stores that a load observes.
func (l *settle) observed(s *settleState, r int) (set uint64) {
	for r >= 0 {
		w := int(s.src[r])
		if w == initial || set>>w&1 != 0 || !l.strong(w, r) {
			break
		}
		set |= 1 << w
		if r = l.partner(w); !l.m.has(settleChain) {
			break
		}
	}
	return set
}

// sources returns the set of the events from which an event gets a past by
// synchronisation; of the fences, those that have settled.
func (l *settle) sources(s *settleState, i int) (set uint64) {
	e := &l.events[i]
	loads := uint64(0)
	switch {
	case e.Kind == exec.Read && e.Sem == litmus.SemAcquire:
		if l.m.has(settleAcquireLoc) {
			loads = l.before(i) & l.reads[e.Loc]
		}
		if l.m.has(settleAcquire) {
			loads |= 1 << i
		}
	case e.Kind == exec.Fence && (e.Sem == litmus.SemAcquire || e.Sem == litmus.SemAcqRel || e.Sem == litmus.SemSC) &&
		l.m.has(settleAcquireFence):
		loads = l.before(i)
	}
	each(loads, func(r int) bool {
		if x := &l.events[r]; x.Kind != exec.Read || weak(x) || x.Red && l.m.has(settleRed) {
			return true
		}
		return each(l.observed(s, r), func(w int) bool { set |= l.releases(w, i); return true })
	})
	if l.sc(i) && l.m.has(settleFence) {
		each(s.settled, func(f int) bool {
			if l.sc(f) && l.strong(f, i) {
				set |= 1 << f
			}
			return true
		})
	}
	return set
}

// releases returns the set of the events whose past a store hands on to an event.
func (l *settle) releases(w, to int) (set uint64) {
	if weak(&l.events[w]) {
		return 0
	}
	each(l.before(w)|1<<w, func(x int) bool {
		e := &l.events[x]
		ok := false
		switch {
		case e.Kind == exec.Write && e.Sem == litmus.SemRelease && x == w:
			ok = l.m.has(settleRelease)
		case e.Kind == exec.Write && e.Sem == litmus.SemRelease && e.Loc == l.events[w].Loc:
			ok = l.m.has(settleReleaseLoc)
		case e.Kind == exec.Fence && (e.Sem == litmus.SemRelease || e.Sem == litmus.SemAcqRel || e.Sem == litmus.SemSC):
			ok = l.m.has(settleReleaseFence)
		}
		if ok && l.strong(x, to) {
			set |= 1 << x
		}
		return true
	})
	return set
}

// knows returns the set of the stores to its location that a settled access knows: those
// in its past, and those that a load in its past observes.
func (l *settle) knows(s *settleState, i int) uint64 {
	loc := l.events[i].Loc
	set := s.past[i] & l.writes[loc]
	if l.m.has(settleObserved) {
		each(s.past[i]&l.reads[loc], func(r int) bool { set |= l.observed(s, r); return true })
	}
	return set
}

// arrive lets a store arrive in memory, if it may.
func (l *settle) arrive(s *settleState, i int) (*settleState, bool) {
	loc := l.events[i].Loc
	under := uint64(0)
	if l.m.has(settleCoherence) {
		under = l.knows(s, i)
	}
	if under&^s.arrived != 0 {
		return nil, false
	}
	each(s.arrived&l.writes[loc], func(w int) bool {
		if l.m.has(settleRivals) && l.strong(w, i) {
			under |= 1 << w
		}
		return true
	})
	each(under, func(w int) bool { under |= s.under[w]; return true })
	n := s.clone()
	n.arrived |= 1 << i
	n.under[i] = under
	return n, l.fresh(n, i) && l.whole(n, i)
}

// fresh reports whether no load that knows a store reads something that the store has
// overwritten.
func (l *settle) fresh(s *settleState, w int) bool {
	return !l.m.has(settleStale) || each(l.reads[l.events[w].Loc], func(r int) bool {
		return s.src[r] == initial || l.knows(s, r)>>w&1 == 0 || s.under[w]>>s.src[r]&1 == 0
	})
}

// whole reports whether no store has come between the halves of an atomic.
func (l *settle) whole(s *settleState, w int) bool {
	r := l.partner(w)
	return r < 0 || !l.m.has(settleAtomic) || each(s.under[w], func(x int) bool {
		return !l.overwrites(s, r, x) || !l.strong(r, x) || !l.strong(x, w)
	})
}

// overwrites reports whether a store has overwritten what a load read.
func (l *settle) overwrites(s *settleState, r, w int) bool {
	return s.src[r] == initial || s.under[w]>>s.src[r]&1 != 0
}
