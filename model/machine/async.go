package machine

import (
	"context"
	"encoding/binary"
	"slices"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Asynchronous returns a machine equivalent to the axioms ptx-async. Loads take values first, then events settle, then
// stores arrive. What is performed as if by another thread settles behind its issue, in no other order. An mbarrier counts, and the order
// in which its operations settle decides what a wait sees. What a past tells through other proxies than the generic one depends on the
// fences in it. Accesses are sets of parts: each takes a value of its own.
func Asynchronous(name string) *Model {
	return &Model{Name: name, Rules: asyncRules, divided: true, accepts: func(*Program, *Event) error { return nil }, run: runAsync}
}

// async is the machine with its program.
type async struct {
	*Program
	m *Model
	// By event: those before it in its thread; those that it waits for, where they are asynchronous; the arrivals at the barrier of a
	// cluster that it waits for; the parts of its access, itself among them; how it accesses memory.
	earlier, issued, cluster, parts []uint64
	proxies                         []proxy
	objects                         []int16 // the mbarriers
	places                          []int   // by location, a number that locations share whose stores arrive together
	fences                          uint64
}

// asyncState is a state.
type asyncState struct {
	promises
	settled, arrived uint64
	past             []uint64 // by settled event
	got              []uint64 // by fence, what is known behind it by synchronisation
	under            []uint64 // by arrived store, those that it has overwritten
	phase            []int8   // of what happens at mbarriers
	counts           []count  // of the mbarriers
	waiting          uint64   // arrivals at barriers that are not complete
}

// count is an mbarrier.
type count struct {
	phases                   int8
	pending, expected, bytes int64
}

func (s *asyncState) clone() *asyncState {
	n := *s
	n.promises = s.promises.clone()
	n.past, n.got, n.under = slices.Clone(s.past), slices.Clone(s.got), slices.Clone(s.under)
	n.phase, n.counts = slices.Clone(s.phase), slices.Clone(s.counts)
	return &n
}

func runAsync(ctx context.Context, m *Model, p *Program, max int, yield func(end) error) (int, error) {
	l, err := newAsync(m, p)
	if err != nil {
		return 0, err
	}
	return explore.Run(ctx, l, max, func(s *asyncState, schedule func() []explore.Step) error {
		if s.known != l.accesses() || s.settled != l.all || s.arrived != union(l.writes) || !l.once(s) {
			return nil
		}
		return finals(l.writes, s.under, s.vals, slices.Clone(p.init), 0, func(memory []int64) error {
			return yield(end{s.vals, slices.Clone(memory), false, schedule})
		})
	})
}

// finals calls f for every possible final memory, from location loc on: each location has the value of a store that none has
// overwritten. writes are the stores to each location, under those that each has overwritten, vals their values.
func finals(writes, under []uint64, vals, memory []int64, loc int, f func([]int64) error) error {
	if loc == len(memory) {
		return f(memory)
	}
	if writes[loc] == 0 {
		return finals(writes, under, vals, memory, loc+1, f)
	}
	over := uint64(0)
	each(writes[loc], func(w int) bool { over |= under[w]; return true })
	for top := writes[loc] &^ over; top != 0; top &= top - 1 {
		memory[loc] = vals[low(top)]
		if err := finals(writes, under, vals, memory, loc+1, f); err != nil {
			return err
		}
	}
	return nil
}

// union is the set of all writes, of those to each location.
func union(writes []uint64) (set uint64) {
	for _, w := range writes {
		set |= w
	}
	return set
}

// Start returns the state in which nothing is known.
func (l *async) Start() (*asyncState, error) {
	n := len(l.events)
	s := &asyncState{promises: newPromises(l.Program), past: make([]uint64, n), got: make([]uint64, n), under: make([]uint64, n),
		phase: make([]int8, n)}
	for _, o := range l.objects {
		k := l.exec.Arrivals(o)
		s.counts = append(s.counts, count{pending: k, expected: k})
	}
	return s, nil
}

// Key encodes a state without the values.
func (l *async) Key(s *asyncState) string {
	b := s.promises.key(make([]byte, 0, 512))
	for _, set := range []uint64{s.settled, s.arrived, s.waiting} {
		b = binary.LittleEndian.AppendUint64(b, set)
	}
	for i := range l.events {
		b = append(b, byte(s.phase[i]))
		for _, set := range []uint64{s.past[i], s.got[i], s.under[i]} {
			if set != 0 {
				b = binary.LittleEndian.AppendUint64(append(b, byte(i)), set)
			}
		}
	}
	for _, c := range s.counts { // an issue that is awaited counts
		b = append(b, byte(c.phases), byte(c.pending), byte(c.bytes))
	}
	return string(b)
}

// Moves lets loads take values, events settle, and stores arrive.
func (l *async) Moves(s *asyncState, yield func(*asyncState, func() explore.Step) error) error {
	may := func(r, w int) bool { return l.may(s, r, w) }
	all, err := l.promise(&s.promises, l.m.has(asyncThin), may, func(p promises, step func() explore.Step) error {
		n := s.clone()
		n.promises = p
		return yield(n, step)
	})
	switch {
	case err != nil || !all:
		return err
	case s.settled != l.all:
		return l.settles(s, yield)
	}
	return l.arrives(s, yield)
}

// may reports whether a load may take a write's value, as far as that can be seen cheaply before anything settles. A thread does not
// contradict its own stores through the same proxy. Two atomics that exclude each other do not read the same store: the store of one of
// them would come between the halves of the other. The rules enforce the same, later.
func (l *async) may(s *asyncState, r, w int) bool {
	if l.m.mutant || l.m.plain {
		return true
	}
	e := &l.events[r]
	mine := uint64(0)
	each(l.writes[e.Loc], func(x int) bool {
		if l.proxies[x] == l.proxies[r] && l.events[x].VLoc == e.VLoc {
			mine |= 1 << x
		}
		return true
	})
	between := mine & l.earlier[r]
	switch {
	case w == initial:
		if between != 0 {
			return false
		}
	case mine>>w&1 != 0 && l.earlier[w]>>r&1 != 0:
		return false
	case between>>w&1 != 0 && !each(between, func(x int) bool { return l.earlier[x]>>w&1 == 0 }):
		return false
	}
	v := l.partner(r)
	return v < 0 || e.Agent || each(l.reads[e.Loc]&s.known, func(q int) bool {
		u := l.partner(q)
		observed := w == initial || l.strong(w, r) && l.strong(w, q)
		return u < 0 || l.events[q].Agent || int(s.src[q]) != w || !observed || !l.exclude(r, u) || !l.exclude(q, v) || !l.exclude(u, v)
	})
}

// weakly reports whether an event is an access, or an operation at a barrier, without strength.
func weakly(e *exec.Event) bool {
	return e.Kind != exec.Fence && (e.Sem == litmus.SemWeak || e.Sem == litmus.SemNone)
}
