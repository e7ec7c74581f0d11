package machine

import (
	"context"
	"encoding/binary"
	"slices"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Asynchronous returns a machine equivalent to the axioms ptx-async. As in Settling, loads take values first, then events settle, then
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
	all, err := l.promise(&s.promises, l.m.has(asyncThin), l.may, func(p promises, step func() explore.Step) error {
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

// may reports whether a load may take a write's value, as far as the thread's own stores through the same proxy say.
func (l *async) may(r, w int) bool {
	if l.m.without != 0 || l.m.plain {
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
		return between == 0
	case mine>>w&1 != 0 && l.earlier[w]>>r&1 != 0:
		return false
	case between>>w&1 != 0:
		return each(between, func(x int) bool { return l.earlier[x]>>w&1 == 0 })
	}
	return true
}

// weakly reports whether an event is an access, or an operation at a barrier, without strength.
func weakly(e *exec.Event) bool {
	return e.Kind != exec.Fence && (e.Sem == litmus.SemWeak || e.Sem == litmus.SemNone)
}
