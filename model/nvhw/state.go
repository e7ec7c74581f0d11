package nvhw

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// Status of an operation in a state.
const (
	waiting = iota // not issued
	skipped        // its condition did not hold
	issued         // may be performed at any time
	// halfway: an access has passed L1 and is on its way to L2; a fence knows what it waits
	// for; a thread has arrived at a barrier.
	halfway
	done
)

// state is one moment of a run.
type state struct {
	pc     []int
	status [][]uint8
	read   [][]uint32
	data   [][]uint32 // of issued stores
	awaits [][]uint64 // of halfway fences: the stores that L2 must have
	seen   []uint64   // by thread, the operations whose results it has waited for
	mem    [][]uint32 // by location, all words that L2 had, in order
	queue  [][][]int  // by CTA and location, the numbers of accesses between its L1 and L2
	oldest [][]int    // by CTA and location, the oldest version that a line of L1 may hold
}

// machine explores a program.
type machine struct {
	p      *Program
	first  []int // the number of each thread's first operation
	shared []bool
	ctas   int
}

func (m *machine) holds(rule int) bool { return m.p.Without>>rule&1 == 0 }

func (m *machine) op(n int) (t, i int) {
	for t = len(m.first) - 1; m.first[t] > n; t-- {
	}
	return t, n - m.first[t]
}

func grid[T any](n int, width func(int) int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, width(i))
	}
	return out
}

// Start returns the state in which all threads have issued what they can.
func (m *machine) Start() (*state, error) {
	n := len(m.p.Threads)
	ops := func(t int) int { return len(m.p.Threads[t].Ops) }
	locs := func(int) int { return len(m.p.Init) }
	s := &state{pc: make([]int, n), status: grid[uint8](n, ops), read: grid[uint32](n, ops), data: grid[uint32](n, ops),
		awaits: grid[uint64](n, ops),
		seen:   make([]uint64, n), oldest: grid[int](m.ctas, locs), queue: make([][][]int, m.ctas)}
	for c := range s.queue {
		s.queue[c] = make([][]int, len(m.p.Init))
	}
	for _, w := range m.p.Init {
		s.mem = append(s.mem, []uint32{w})
	}
	return s, m.settle(s)
}

func copy2[T any](a [][]T) [][]T {
	out := make([][]T, len(a))
	for i := range a {
		out[i] = slices.Clone(a[i])
	}
	return out
}

func (s *state) clone() *state {
	n := &state{pc: slices.Clone(s.pc), seen: slices.Clone(s.seen), status: copy2(s.status), read: copy2(s.read), data: copy2(s.data),
		awaits: copy2(s.awaits), mem: copy2(s.mem), oldest: copy2(s.oldest), queue: make([][][]int, len(s.queue))}
	for c := range s.queue {
		n.queue[c] = copy2(s.queue[c])
	}
	return n
}

// Key identifies a state by everything that determines its future and its outcome.
func (m *machine) Key(s *state) string {
	b := make([]byte, 0, 160)
	num := func(k uint64) { b = binary.AppendUvarint(b, k) }
	for t := range s.pc {
		num(uint64(s.pc[t]))
		num(s.seen[t])
		for i := range s.status[t] {
			b = append(b, s.status[t][i])
			num(uint64(s.read[t][i]))
			if s.status[t][i] == halfway {
				num(s.awaits[t][i])
			}
		}
	}
	for l := range s.mem {
		num(uint64(len(s.mem[l])))
		for _, w := range s.mem[l] {
			num(uint64(w))
		}
		for c := range s.queue {
			num(uint64(s.oldest[c][l]))
			num(uint64(len(s.queue[c][l])))
			for _, n := range s.queue[c][l] {
				num(uint64(n))
			}
		}
	}
	return string(b)
}

func (s *state) newest(loc int) int { return len(s.mem[loc]) - 1 }

// settle makes all moves that either do not affect other threads or allow most if made early:
// threads issue what they can, fences end, invalidations and barriers take effect. An early
// invalidation leaves more in L1 than a late one; a fence that determines early what it waits
// for waits for less.
func (m *machine) settle(s *state) error {
	for again := true; again; {
		again = false
		for t := range s.pc {
			for s.pc[t] < len(m.p.Threads[t].Ops) {
				ok, err := m.issue(s, t, s.pc[t])
				if err != nil {
					return fmt.Errorf("thread %d, %s: %w", t, m.p.Threads[t].Ops[s.pc[t]].Text, err)
				}
				if !ok {
					break
				}
				s.pc[t]++
				again = true
			}
			for i := range s.pc[t] {
				again = m.advance(s, t, i) || again
			}
		}
	}
	return nil
}

// issue tries to issue the next operation of a thread.
func (m *machine) issue(s *state, t, i int) (bool, error) {
	o := &m.p.Threads[t].Ops[i]
	if m.holds(Scoreboard) && !m.wait(s, t, i) {
		return false, nil
	}
	if o.Guard != nil {
		w, ok, err := m.eval(s, t, o.Guard)
		if err != nil || !ok {
			return false, err
		}
		if w == 0 {
			s.status[t][i] = skipped
			return true, nil
		}
	}
	for _, e := range o.Data {
		w, ok, err := m.eval(s, t, e)
		if err != nil || !ok {
			return false, err
		}
		s.data[t][i] = w // of a store, which has one; performing an atomic evaluates them again
	}
	s.status[t][i] = issued
	if o.Kind == Wait {
		s.status[t][i] = done
	}
	return true, nil
}

// wait reports whether all results have arrived that release the barriers which an operation
// waits for, and records that they have been waited for.
func (m *machine) wait(s *state, t, at int) bool {
	var now uint64
	ops := m.p.Threads[t].Ops
	for i := range at {
		if ops[i].Sets == NoBarrier || ops[at].Waits>>ops[i].Sets&1 == 0 || s.status[t][i] == skipped {
			continue
		}
		if s.status[t][i] != done {
			return false
		}
		now |= 1 << i
	}
	s.seen[t] |= now
	return true
}

// eval computes an expression; ok is false if it has to wait for a result.
func (m *machine) eval(s *state, t int, e Expr) (w uint32, ok bool, err error) {
	hazard := false
	w, ok = e(func(r int) (uint32, bool) {
		for i := range m.p.Threads[t].Ops {
			o := &m.p.Threads[t].Ops[i]
			if o.Read != r || o.Kind != Load && o.Kind != RMW || s.status[t][i] == skipped {
				continue
			}
			if s.status[t][i] != done || m.holds(Scoreboard) && s.seen[t]>>i&1 == 0 {
				hazard = true
				return 0, false
			}
			return s.read[t][i], true
		}
		return 0, false
	})
	switch {
	case ok:
		return w, true, nil
	case hazard && m.holds(Scoreboard):
		return 0, false, ErrHazard
	case hazard:
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("%w: it uses what no load gave", ErrRefused)
}

// advance lets a fence, an invalidation or a barrier proceed, if it can.
func (m *machine) advance(s *state, t, i int) bool {
	o, st := &m.p.Threads[t].Ops[i], s.status[t][i]
	switch {
	case st != issued && st != halfway:
		return false
	case o.Kind == Fence && st == issued:
		if m.holds(FenceLoads) && m.pending(s, t, i, func(x *Op, st uint8) bool {
			return x.Kind != Store && (st < halfway || x.Kind != Fence && (x.Kind > RMW || o.Far))
		}) {
			return false
		}
		s.awaits[t][i] = m.awaited(s, t, i)
		s.status[t][i] = halfway
	case o.Kind == Fence:
		if m.holds(FenceStores) && m.missing(s, s.awaits[t][i], o.Far) {
			return false
		}
		s.status[t][i] = done
	case o.Kind == Invalidate:
		if !m.behindFences(s, t, i, Load) {
			return false
		}
		if m.holds(Invalidates) {
			c := m.p.Threads[t].CTA
			for l := range s.mem {
				s.oldest[c][l] = s.newest(l)
			}
		}
		s.status[t][i] = done
	case o.Kind == Barrier && st == issued:
		if m.holds(BarrierDrains) && m.pending(s, t, i, func(x *Op, st uint8) bool { return x.Kind != Store || st < halfway }) {
			return false
		}
		s.status[t][i] = halfway
	case o.Kind == Barrier:
		if !m.met(s, t, i) {
			return false
		}
		s.status[t][i] = done
	default:
		return false
	}
	return true
}

// pending reports whether an issued operation before i for which f holds is not
// done: an access, or a fence.
func (m *machine) pending(s *state, t, i int, f func(o *Op, status uint8) bool) bool {
	for j := range i {
		if st := s.status[t][j]; st != skipped && st != done && f(&m.p.Threads[t].Ops[j], st) {
			return true
		}
	}
	return false
}

// awaited returns the set of stores that a fence waits for: those before it, and, if it
// reaches far, those that L1 has of others.
func (m *machine) awaited(s *state, t, at int) (set uint64) {
	for i := range at {
		if m.p.Threads[t].Ops[i].Kind == Store && s.status[t][i] != skipped {
			set |= 1 << (m.first[t] + i)
		}
	}
	if m.p.Threads[t].Ops[at].Far && m.holds(FenceGroup) {
		for _, q := range s.queue[m.p.Threads[t].CTA] {
			for _, n := range q {
				set |= 1 << n
			}
		}
	}
	return set
}

// missing reports whether one of the stores of a set has not arrived at L2 or, if far is not
// set, at L1.
func (m *machine) missing(s *state, set uint64, far bool) bool {
	for ; set != 0; set &= set - 1 {
		t, i := m.op(bits.TrailingZeros64(set))
		if st := s.status[t][i]; st < halfway || far && st == halfway {
			return true
		}
	}
	return false
}

// met reports whether all threads of the CTA have arrived at a barrier.
func (m *machine) met(s *state, t, at int) bool {
	nth := func(u, until int) (n int) {
		for i := range until {
			if o := &m.p.Threads[u].Ops[i]; o.Kind == Barrier && o.Loc == m.p.Threads[t].Ops[at].Loc && s.status[u][i] >= halfway {
				n++
			}
		}
		return n
	}
	want := nth(t, at+1)
	for u := range m.p.Threads {
		if m.p.Threads[u].CTA == m.p.Threads[t].CTA && nth(u, len(m.p.Threads[u].Ops)) < want {
			return false
		}
	}
	return true
}

// behindFences reports whether the fences, barriers and invalidations before an operation
// permit an operation of a kind to be performed.
func (m *machine) behindFences(s *state, t, i int, k Kind) bool {
	return !m.pending(s, t, i, func(o *Op, st uint8) bool {
		switch o.Kind {
		case Fence:
			if k == Load && (!o.SC || !m.holds(FenceSC)) {
				return st < halfway
			}
			return true
		case Barrier:
			return true
		case Invalidate:
			return k == Load
		}
		return false
	})
}
