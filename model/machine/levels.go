package machine

import (
	"context"
	"errors"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Rules of Levels, by number in its list.
const (
	levelsThin = iota
	levelsDeps
	levelsFences
	levelsRead
	levelsNewest
	levelsCo
	levelsWW
	levelsRW
	levelsWR
	levelsCTA
	levelsGrid
	levelsAtomic
)

var levelsRules = []Rule{
	levelsThin: {
		"values-from-values",
		"an access gets its value when those are known that its address, data and condition need",
		"no-thin-air",
	},
	levelsDeps:   {"dependencies", "at each level an access is performed behind the loads on which it depends", "rmo: dp"},
	levelsFences: {"fences", "at each level an access is performed behind those before a fence that reaches so far", "rmo: fence"},
	levelsRead:   {"from-others", "a load is performed behind the store of another thread that it reads from", "rmo: rfe"},
	levelsNewest: {"newest-value", "a store waits, at each level, for the loads there of values that it overwrites", "rmo: fr"},
	levelsCo:     {"one-order", "at all levels the stores of a location are performed in one order", "rmo: co"},
	levelsWW:     {"stores-in-order", "a thread's stores to a location are performed in program order", "sc-per-loc-llh: WW"},
	levelsRW:     {"load-before-store", "a load reads nothing newer than its thread's next store there", "sc-per-loc-llh: RW"},
	levelsWR:     {"store-before-load", "a load reads nothing older than its thread's last store there", "sc-per-loc-llh: WR"},
	levelsCTA:    {"cta-level", "accesses of a CTA are performed with respect to it, behind every membar", "cta-constraint"},
	levelsGrid:   {"gl-level", "accesses of a grid are performed with respect to it, behind membar.gl and membar.sys", "gl-constraint"},
	levelsAtomic: {"atomicity", "no other thread's store is performed between those that an atomic reads and makes",
		"ptx-2015-rmw: atomicity"},
}

// Levels returns a machine equivalent to the axioms ptx-2015; atomic selects those of
// ptx-2015-rmw. First, loads take values from stores whose values are known. Then every access
// is performed with respect to all threads, to its grid and to its CTA, at each of these levels
// independently: fences act up to their level, and the order of the stores of a location is the
// same at all levels.
func Levels(name string, atomic bool) *Model {
	m := &Model{Name: name, Rules: levelsRules, accepts: levelsAccepts, run: runLevels}
	if !atomic {
		m.without = 1 << levelsAtomic
	}
	return m
}

func levelsAccepts(_ *Program, e *Event) error {
	switch {
	case e.Kind == exec.Barrier:
		return errors.New("there are no barriers")
	case e.Kind == exec.Fence && (e.Sem != litmus.SemSC || e.Scope == litmus.ScopeCluster):
		return errors.New("the fences are membar.cta, membar.gl and membar.sys")
	}
	return nil
}

// level is a group of threads with respect to which accesses are performed.
type level struct {
	name string
	in   uint64 // accesses of its threads
	pred []uint64
}

// levels is the machine with its program.
type levels struct {
	*Program
	m     *Model
	group []level // the first is that of all
}

// levelsState is a state: first promises, then one level after the other. Since a level affects
// another only through the order of stores, nothing is lost.
type levelsState struct {
	promises
	level     int
	performed uint64 // at that level
	// at is by write its place in the order of its location, from 1.
	at []uint8
}

func (s *levelsState) clone() *levelsState {
	return &levelsState{s.promises, s.level, s.performed, append([]uint8(nil), s.at...)}
}

func runLevels(ctx context.Context, m *Model, p *Program, max int, yield func(end) error) (int, error) {
	l := &levels{Program: p, m: m}
	l.groups()
	return explore.Run(ctx, l, max, func(s *levelsState, schedule func() []explore.Step) error {
		if s.level < len(l.group) {
			return nil
		}
		memory := append([]int64(nil), p.init...)
		for loc := range memory {
			last := uint8(0)
			each(p.writes[loc], func(w int) bool {
				if s.at[w] > last {
					last, memory[loc] = s.at[w], s.vals[w]
				}
				return true
			})
		}
		return yield(end{s.vals, memory, false, schedule})
	})
}

// groups finds the levels. Of levels with the same threads, the one with the most fences
// subsumes the others; a thread alone keeps its order anyway.
func (l *levels) groups() {
	add := func(name string, rule int, fence litmus.Scope, same func(a, b litmus.Place) bool) {
		for t := range l.paths {
			g := level{name: name}
			first, n := true, 0
			for u := range l.paths {
				if same(l.place[t], l.place[u]) {
					first = first && u >= t
					g.in |= l.of(u) & l.accesses()
					n++
				}
			}
			if !first || g.in == 0 || n < 2 && len(l.paths) > 1 || rule >= 0 && !l.m.has(rule) {
				continue
			}
			g.pred = l.preds(fence)
			at := -1
			for i := range l.group {
				if l.group[i].in == g.in {
					at = i
				}
			}
			if at >= 0 {
				l.group[at] = g
			} else {
				l.group = append(l.group, g)
			}
		}
	}
	add("all", -1, litmus.ScopeSys, func(a, b litmus.Place) bool { return true })
	add("its grid", levelsGrid, litmus.ScopeGPU, litmus.Place.SameGrid)
	add("its CTA", levelsCTA, litmus.ScopeCTA, func(a, b litmus.Place) bool { return a.SameScope(b, litmus.ScopeCTA) })
}

// preds lists by access what must be performed before it: loads on which it depends
// and accesses before a fence of at least a scope.
func (l *levels) preds(scope litmus.Scope) []uint64 {
	out := make([]uint64, len(l.events))
	for i := range l.events {
		if l.m.has(levelsDeps) {
			out[i] = l.events[i].deps
		}
		each(l.before(i), func(f int) bool {
			if e := &l.events[f]; e.Kind == exec.Fence && e.Scope >= scope && l.m.has(levelsFences) {
				out[i] |= l.before(f) & l.accesses()
			}
			return true
		})
	}
	return out
}

// Start returns the state in which nothing is known.
func (l *levels) Start() (*levelsState, error) {
	return &levelsState{promises: newPromises(l.Program), at: make([]uint8, len(l.events))}, nil
}

// Key encodes a state without the values, which follow from where they come from.
func (l *levels) Key(s *levelsState) string {
	b := s.promises.key(append(make([]byte, 0, 64), byte(s.level)))
	for i := range 8 {
		b = append(b, byte(s.performed>>(8*i)))
	}
	return string(append(b, s.at...))
}

// may reports whether a thread's own stores let a load take a value.
func (l *levels) may(r, w int) bool {
	future, stale := l.own(r, w)
	return !(future && l.m.has(levelsRW) || stale && l.m.has(levelsWR))
}

// Moves lets loads take values, and then accesses be performed.
func (l *levels) Moves(s *levelsState, yield func(*levelsState, func() explore.Step) error) error {
	all, err := l.promise(&s.promises, l.m.has(levelsThin), l.may, func(p promises, step func() explore.Step) error {
		n := s.clone()
		n.promises = p
		return yield(n, step)
	})
	if err != nil || !all || s.level == len(l.group) {
		return err
	}
	g := &l.group[s.level]
	var ready []int
	for left := g.in &^ s.performed; left != 0; left &= left - 1 {
		i := low(left)
		if g.pred[i]&g.in&^s.performed != 0 || !l.ready(s, g, i) {
			continue
		}
		// A load disables nothing, nor does a store without a rival, nor anything once the
		// order of stores is known: then it is the only move.
		rivals := l.writes[l.events[i].Loc] &^ s.performed &^ (1 << i)
		if s.level > 0 || l.events[i].Kind == exec.Read || rivals == 0 {
			ready = []int{i}
			break
		}
		ready = append(ready, i)
	}
	for _, i := range ready {
		n := s.clone()
		if n.performed |= 1 << i; s.level == 0 && l.events[i].Kind == exec.Write {
			n.at[i] = l.count(s, int(l.events[i].Loc)) + 1
		}
		step := told(l.events[i].thread, "%s is performed with respect to %s", l.events[i].text, g.name)
		if n.performed == g.in {
			n.level++
			n.performed = 0
		}
		if err := yield(n, step); err != nil {
			return err
		}
	}
	return nil
}

// count returns the number of stores of a location that have been performed.
func (l *levels) count(s *levelsState, loc int) (n uint8) {
	each(l.writes[loc], func(w int) bool { n = max(n, s.at[w]); return true })
	return n
}
