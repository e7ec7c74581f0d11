package machine

import (
	"slices"

	"optcheck/model/exec"
	"optcheck/model/explore"
)

// together numbers the locations: those have one number whose stores arrive together, since parts of one access are in both.
func (l *async) together() {
	l.places = make([]int, len(l.writes))
	for k := range l.places {
		l.places[k] = k
	}
	for i := range l.events {
		for set := l.parts[i]; set != 0; set &= set - 1 {
			a, b := l.events[i].Loc, l.events[low(set)].Loc
			if a < 0 || b < 0 || l.places[a] == l.places[b] {
				continue
			}
			from, to := l.places[b], l.places[a]
			for k := range l.places {
				if l.places[k] == from {
					l.places[k] = to
				}
			}
		}
	}
}

// arrives makes the moves in which stores arrive in memory, with all their parts.
func (l *async) arrives(s *asyncState, yield func(*asyncState, func() explore.Step) error) error {
	left := union(l.writes) &^ s.arrived
	if left == 0 {
		return nil
	}
	at := l.places[slices.IndexFunc(l.writes, func(w uint64) bool { return w&left != 0 })]
	for done := uint64(0); left != 0; left &= left - 1 {
		i := low(left)
		parts := l.parts[i]
		if !l.m.has(asyncWhole) {
			parts = 1 << i
		}
		if done>>i&1 != 0 || l.places[l.events[i].Loc] != at {
			continue
		}
		done |= parts
		n := s.clone()
		if !l.arrive(n, parts) {
			continue
		}
		if err := yield(n, told(l.events[i].thread, "%s arrives in memory", l.events[i].text)); err != nil {
			return err
		}
	}
	return nil // what shares no access is independent
}

// arrive lets the parts of a store arrive, if they may.
func (l *async) arrive(s *asyncState, parts uint64) bool {
	return each(parts, func(i int) bool {
		loc := l.events[i].Loc
		under := uint64(0)
		if l.m.has(asyncCoherence) {
			under = l.knows(s, i)
		}
		if under&^s.arrived != 0 {
			return false
		}
		each(s.arrived&l.writes[loc], func(w int) bool {
			if l.m.has(asyncRivals) && l.exclude(w, i) {
				under |= 1 << w
			}
			return true
		})
		each(under, func(w int) bool { under |= s.under[w]; return true })
		s.under[i] = under
		s.arrived |= 1 << i
		return l.fresh(s, i) && l.whole(s, i)
	})
}

// fresh reports whether no load that knows a store reads something that the store has overwritten.
func (l *async) fresh(s *asyncState, w int) bool {
	return !l.m.has(asyncStale) || each(l.reads[l.events[w].Loc], func(r int) bool {
		return s.src[r] == initial || s.under[w]>>s.src[r]&1 == 0 || l.knows(s, r)>>w&1 == 0
	})
}

// whole reports whether no store has come between the halves of an atomic.
func (l *async) whole(s *asyncState, w int) bool {
	r := l.partner(w)
	return r < 0 || !l.m.has(asyncAtomic) || each(s.under[w], func(x int) bool {
		return !l.overwrites(s, r, x) || !l.exclude(r, x) || !l.exclude(x, w)
	})
}

// overwrites reports whether a store has overwritten what a load read.
func (l *async) overwrites(s *asyncState, r, w int) bool {
	return s.src[r] != int8(w) && (s.src[r] == initial || s.under[w]>>s.src[r]&1 != 0)
}

// once reports whether accesses of the same bytes that are strong for each other happen in one order, each with all its parts at once, and
// each thread's accesses of a cell in the order of the thread.
func (l *async) once(s *asyncState) bool {
	if !l.m.has(asyncOnce) {
		return true
	}
	after := make([]uint64, len(l.events))
	whole := func(a, b int) {
		if l.strong(a, b) {
			each(l.parts[a], func(x int) bool { after[x] |= l.parts[b]; return true })
		}
	}
	for i := range l.events {
		e := &l.events[i]
		if e.Loc < 0 {
			continue
		}
		each(l.earlier[i]&(l.reads[e.Loc]|l.writes[e.Loc]), func(x int) bool {
			if l.events[x].VLoc == e.VLoc && l.proxies[x] == l.proxies[i] && l.proxies[i] != noProxy {
				after[x] |= 1 << i
			}
			return true
		})
		if e.Kind == exec.Write {
			each(s.under[i], func(w int) bool { whole(w, i); return true })
			continue
		}
		if s.src[i] != initial {
			whole(int(s.src[i]), i)
		}
		each(l.writes[e.Loc], func(w int) bool {
			if l.overwrites(s, i, w) {
				whole(i, w)
			}
			return true
		})
	}
	for left := l.accesses(); left != 0; {
		last := left
		each(left, func(i int) bool {
			if after[i]&left == 0 {
				left &^= 1 << i
			}
			return true
		})
		if left == last {
			return false
		}
	}
	return true
}
