package machine

import (
	"optcheck/model/exec"
)

// ready reports whether an access may be performed at a level, given that the accesses which
// must precede it in its thread have been.
func (l *levels) ready(s *levelsState, g *level, i int) bool {
	if l.events[i].Kind == exec.Read {
		w := int(s.src[i])
		other := w >= 0 && l.events[w].thread != l.events[i].thread
		return !l.m.has(levelsRead) || !other || g.in>>w&1 == 0 || s.performed>>w&1 != 0
	}
	if s.level == 0 && !l.inOrder(s, i) {
		return false
	}
	loc := l.events[i].Loc
	if s.level > 0 && l.m.has(levelsCo) && !each(l.writes[loc]&g.in&^s.performed, func(w int) bool { return s.at[w] >= s.at[i] }) {
		return false
	}
	return !l.m.has(levelsNewest) || each(l.reads[loc]&g.in&^s.performed, func(r int) bool { return !l.older(s, int(s.src[r]), i) })
}

// older reports whether a write, or the initial value, comes before another in the order of
// their location; at the level of all threads this means that it has been performed.
func (l *levels) older(s *levelsState, w, than int) bool {
	switch {
	case w == than:
		return false
	case w == initial:
		return true
	case s.level == 0:
		return s.performed>>w&1 != 0
	}
	return s.at[w] < s.at[than]
}

// inOrder reports whether a store may take the next place in the order of its location, as far
// as program order and atomics decide.
func (l *levels) inOrder(s *levelsState, i int) bool {
	e := &l.events[i]
	loc := e.Loc
	earlier := l.before(i)
	if l.m.has(levelsWW) && l.writes[loc]&earlier&^s.performed != 0 {
		return false
	}
	if l.m.has(levelsRW) && !each(l.reads[loc]&earlier, func(r int) bool { return s.src[r] == initial || s.performed>>s.src[r]&1 != 0 }) {
		return false
	}
	if l.m.has(levelsWR) && !each(l.reads[loc], func(r int) bool {
		own := l.before(r) & l.writes[loc]
		return int(s.src[r]) != i || own&^s.performed&^(1<<i) == 0
	}) {
		return false
	}
	r := l.partner(i)
	if r < 0 || !l.m.has(levelsAtomic) {
		return true
	}
	from := uint8(0)
	if s.src[r] >= 0 {
		if from = s.at[s.src[r]]; from == 0 {
			return false // it would come before what it has read
		}
	}
	return each(l.writes[loc]&s.performed, func(w int) bool { return s.at[w] <= from || l.events[w].thread == e.thread })
}
