package machine

import (
	"context"
	"encoding/binary"
	"errors"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Rules of Settling, by number in its list.
const (
	settleThin = iota
	settleProgram
	settleRelease
	settleReleaseLoc
	settleReleaseFence
	settleAcquire
	settleAcquireLoc
	settleAcquireFence
	settleRed
	settleChain
	settleStrong
	settleFence
	settleObserved
	settleFuture
	settleStale
	settleCoherence
	settleRivals
	settleAtomic
)

var settleRules = []Rule{
	settleThin: {
		"values-from-values",
		"an access gets its value when those are known that its address, data and condition need",
		"no-thin-air",
	},
	settleProgram:      {"program-order", "what is settled before an access in its thread is in its past", "base-causality: po"},
	settleRelease:      {"release", "a release store hands its past on", "release pattern"},
	settleReleaseLoc:   {"release-and-store", "so does a strong store behind it to the same location", "release pattern"},
	settleReleaseFence: {"release-fence", "a strong store behind a releasing fence hands on the fence's past", "release pattern"},
	settleAcquire:      {"acquire", "an acquire load gets what the store that it observes hands on", "acquire pattern"},
	settleAcquireLoc:   {"load-and-acquire", "so does one behind a strong load of the same location, of that load", "acquire pattern"},
	settleAcquireFence: {"acquire-fence", "an acquiring fence gets what the strong loads before it observe", "acquire pattern"},
	settleRed:          {"red-observes-nothing", "the load of a red gets nothing", "acquire pattern"},
	settleChain:        {"through-atomics", "who observes an atomic's store observes what the atomic read", "observation"},
	settleStrong: {
		"morally-strong",
		"only strong accesses, or a thread's own, whose scopes contain each other observe and hand on",
		"morally strong",
	},
	settleFence: {
		"sc-fences",
		"a fence.sc gets the past of those settled before it, if their scopes contain each other",
		"fence-sc, sync_fence",
	},
	settleObserved: {"observed-stores", "a store is known to whoever has an access in its past that observes it",
		"causality: observation"},
	settleFuture:    {"no-future", "a store that settles keeps no promise to a load in its past", "causality: rf"},
	settleStale:     {"no-stale-value", "a load does not read what a store that it knows has overwritten", "causality: fr"},
	settleCoherence: {"known-stores-first", "a store arrives behind those that it knows", "coherence"},
	settleRivals: {
		"rivals-in-order",
		"of two stores that are strong for each other the later one to arrive overwrites the other",
		"coherence of strong writes",
	},
	settleAtomic: {"atomicity", "no store that is strong for both halves of an atomic arrives between them", "atomicity"},
}

// Settling returns a machine equivalent to the axioms ptx, without proxies and barriers. First,
// loads take values from stores whose values are known: promises. Then each thread settles its
// accesses in program order; an access has a past, which synchronisation hands on, and must not
// contradict it. Last, stores arrive in memory, where only some overwrite others. The axiom
// sc-per-location has no rule: since PTX ISA 7.5 the others imply it.
func Settling(name string) *Model {
	return &Model{Name: name, Rules: settleRules, accepts: settleAccepts, run: runSettle}
}

func settleAccepts(p *Program, e *Event) error {
	switch {
	case e.Kind == exec.Barrier:
		return errors.New("there are no barriers")
	case e.Proxy != litmus.ProxyGeneric || e.Loc >= 0 && e.Loc != e.VLoc:
		return errors.New("there is one proxy")
	}
	return nil
}

// settle is the machine with its program.
type settle struct {
	*Program
	m *Model
}

// settleState is a state. First promises are made, then all events settle, then all stores
// arrive: a later phase does not affect an earlier one.
type settleState struct {
	promises
	settled, arrived uint64
	past             []uint64 // by settled event
	under            []uint64 // by arrived store, those that it has overwritten
}

func (s *settleState) clone() *settleState {
	return &settleState{s.promises, s.settled, s.arrived, append([]uint64(nil), s.past...), append([]uint64(nil), s.under...)}
}

func runSettle(ctx context.Context, m *Model, p *Program, max int, yield func(end) error) (int, error) {
	l := &settle{Program: p, m: m}
	return explore.Run(ctx, l, max, func(s *settleState, schedule func() []explore.Step) error {
		if s.settled != p.all || s.arrived != union(l.writes) {
			return nil
		}
		return finals(l.writes, s.under, s.vals, append([]int64(nil), p.init...), 0, func(memory []int64) error {
			return yield(end{s.vals, append([]int64(nil), memory...), false, schedule})
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
func (l *settle) Start() (*settleState, error) {
	n := len(l.events)
	return &settleState{promises: newPromises(l.Program), past: make([]uint64, n), under: make([]uint64, n)}, nil
}

// Key encodes a state without the values. Pasts follow from the promises and from the pasts of
// the fences.
func (l *settle) Key(s *settleState) string {
	b := s.promises.key(make([]byte, 0, 128))
	b = binary.LittleEndian.AppendUint64(b, s.settled)
	b = binary.LittleEndian.AppendUint64(b, s.arrived)
	each(l.all, func(i int) bool {
		if l.sc(i) {
			b = binary.LittleEndian.AppendUint64(b, s.past[i])
		}
		if s.under[i] != 0 {
			b = binary.LittleEndian.AppendUint64(append(b, byte(i)), s.under[i])
		}
		return true
	})
	return string(b)
}

func (l *settle) sc(i int) bool {
	return l.events[i].Kind == exec.Fence && l.events[i].Sem == litmus.SemSC
}

// Moves lets loads take values, events settle, and stores arrive.
func (l *settle) Moves(s *settleState, yield func(*settleState, func() explore.Step) error) error {
	all, err := l.promise(&s.promises, l.m.has(settleThin), func(r, w int) bool { return l.may(s, r, w) },
		func(p promises, step func() explore.Step) error {
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

// settles makes the moves in which threads settle their next event. Only the order of the
// fence.sc makes a difference: any other event settles as the only move.
func (l *settle) settles(s *settleState, yield func(*settleState, func() explore.Step) error) error {
	var ready []int
	for t := range l.paths {
		left := l.of(t) &^ s.settled
		if left == 0 {
			continue
		}
		i := low(left)
		from := l.sources(s, i)
		if from&^s.settled != 0 {
			continue
		}
		if !l.sc(i) {
			ready = []int{i}
			break
		}
		ready = append(ready, i)
	}
	for _, i := range ready {
		n := s.clone()
		n.settled |= 1 << i
		from := l.sources(s, i)
		if b := l.before(i); b != 0 && l.m.has(settleProgram) {
			from |= b
		}
		each(from, func(x int) bool { n.past[i] |= s.past[x] | 1<<x; return true })
		if !l.agrees(n, i) {
			continue
		}
		if err := yield(n, told(l.events[i].thread, "%s settles", l.events[i].text)); err != nil {
			return err
		}
	}
	return nil
}

// agrees reports whether an event that settles keeps the promises.
func (l *settle) agrees(s *settleState, i int) bool {
	e := &l.events[i]
	switch e.Kind {
	case exec.Read:
		return s.src[i] != initial || !l.m.has(settleStale) || l.knows(s, i) == 0
	case exec.Write:
		if l.m.has(settleFuture) && !each(l.reads[e.Loc]&s.past[i], func(r int) bool { return int(s.src[r]) != i }) {
			return false
		}
		return !l.m.has(settleCoherence) || l.knows(s, i)>>i&1 == 0
	}
	return true
}

// arrives makes the moves in which stores arrive in memory. The last store of a location
// arrives as the only move.
func (l *settle) arrives(s *settleState, yield func(*settleState, func() explore.Step) error) error {
	for loc := range l.writes {
		left := l.writes[loc] &^ s.arrived
		if left == 0 {
			continue
		}
		for ; left != 0; left &= left - 1 {
			i := low(left)
			n, ok := l.arrive(s, i)
			if !ok {
				continue
			}
			if err := yield(n, told(l.events[i].thread, "%s arrives in memory", l.events[i].text)); err != nil {
				return err
			}
		}
		return nil // locations are independent of each other
	}
	return nil
}
