package amdhw

import (
	"encoding/binary"
	"fmt"
)

// Status of an operation in a state.
const (
	waiting   = iota // not issued
	skipped          // its condition did not hold
	issued           // may be performed at any time
	atL1             // its work-group sees it, memory does not yet have it
	performed        // done
)

// state is one moment of a run.
type state struct {
	pc     []int
	status [][]uint8
	read   [][]uint32
	ready  [][]uint32 // counters of each operation for which the thread has waited, as bits
	arrive []int
	hist   [][]uint32 // by location, all words that it had, in order
	inL2   []int      // by location, the index of the last word that the memory beyond a shared L1 has
	// By thread and location: first, middle and scalar are the oldest word that a line of that
	// cache may hold; own is the last one that the thread wrote.
	first, middle, scalar, own [][]int
	data                       [][]uint32 // of issued stores
	at                         [][]int    // where in the history of its location an operation wrote
}

// machine explores a program.
type machine struct {
	p      *Program
	one    bool    // all threads are in one work-group
	shared bool    // and share the first-level cache
	mem    [][]int // by thread, the operations that are performed at some time
}

func grid[T any](n int, width func(int) int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, width(i))
	}
	return out
}

// Start returns the state in which all waves have issued what they can.
func (m *machine) Start() (*state, error) {
	n := len(m.p.Threads)
	ops := func(t int) int { return len(m.p.Threads[t].Ops) }
	locs := func(int) int { return len(m.p.Init) }
	s := &state{pc: make([]int, n), arrive: make([]int, n), status: grid[uint8](n, ops), read: grid[uint32](n, ops),
		ready: grid[uint32](n, ops), data: grid[uint32](n, ops), at: grid[int](n, ops),
		first: grid[int](n, locs), middle: grid[int](n, locs), scalar: grid[int](n, locs), own: grid[int](n, locs),
		inL2: make([]int, len(m.p.Init))}
	for _, w := range m.p.Init {
		s.hist = append(s.hist, []uint32{w})
	}
	return s, m.run(s)
}

func copy2[T any](a [][]T) [][]T {
	out := make([][]T, len(a))
	for i := range a {
		out[i] = append([]T(nil), a[i]...)
	}
	return out
}

func (s *state) clone() *state {
	return &state{pc: append([]int(nil), s.pc...), arrive: append([]int(nil), s.arrive...), inL2: append([]int(nil), s.inL2...),
		status: copy2(s.status), read: copy2(s.read), ready: copy2(s.ready), data: copy2(s.data), at: copy2(s.at), hist: copy2(s.hist),
		first: copy2(s.first), middle: copy2(s.middle), scalar: copy2(s.scalar), own: copy2(s.own)}
}

// Key identifies a state by everything that determines its future and its outcome.
func (m *machine) Key(s *state) string {
	b := make([]byte, 0, 128)
	num := func(k int) { b = binary.AppendUvarint(b, uint64(k)) }
	for t := range s.pc {
		num(s.pc[t])
		num(s.arrive[t])
		for _, i := range m.mem[t] {
			num(int(s.status[t][i]))
			num(int(s.read[t][i]))
			if s.status[t][i] == atL1 {
				num(s.at[t][i])
			}
		}
	}
	for l := range s.hist {
		num(len(s.hist[l]))
		for _, w := range s.hist[l] {
			num(int(w))
		}
		num(s.inL2[l])
		for t := range s.pc {
			num(s.first[t][l])
			num(s.middle[t][l])
			num(s.scalar[t][l])
			num(s.own[t][l])
		}
	}
	return string(b)
}

func (s *state) head(loc int) int { return len(s.hist[loc]) - 1 }

// complete reports whether an operation is complete, so that a wait for it ends.
func (m *machine) complete(s *state, t, i int) bool {
	o := &m.p.Threads[t].Ops[i]
	switch {
	case o.Kind == Other || s.status[t][i] == skipped || s.status[t][i] == performed:
		return true
	case s.status[t][i] == waiting:
		return true // not issued: nothing is outstanding
	}
	// A store that remains in the work-group's own cache is complete there.
	return o.Kind == Store && !o.LDS && m.p.System.WriteBack && !o.Through && !m.one
}

// awaited reports whether waits have covered all counters of an operation.
func (m *machine) awaited(s *state, t, i int) bool {
	for k, c := range m.p.Threads[t].Ops[i].Counts {
		if c.Completes && s.ready[t][i]&(1<<k) == 0 {
			return false
		}
	}
	return true
}

// wait tries to pass a wait. An operation is complete after it if so many later ones of its
// order were issued that it cannot be among the last N.
func (m *machine) wait(s *state, t, at int) bool {
	ops := m.p.Threads[t].Ops
	type mark struct{ op, count int }
	var marks []mark
	for _, u := range ops[at].Until {
		for i := range at {
			if s.status[t][i] == waiting || s.status[t][i] == skipped {
				continue
			}
			for k, c := range ops[i].Counts {
				if c.Counter == u.Counter && c.Completes && (u.N == 0 || c.Class != 0 && m.newer(s, t, i, at, c) >= u.N) {
					marks = append(marks, mark{i, k})
				}
			}
		}
	}
	seen := map[int]uint32{}
	for _, x := range marks {
		seen[x.op] |= 1 << x.count
	}
	for i, bits := range seen {
		all := true
		for k, c := range ops[i].Counts {
			all = all && (!c.Completes || (s.ready[t][i]|bits)&(1<<k) != 0)
		}
		if all && !m.complete(s, t, i) {
			return false
		}
	}
	for i, bits := range seen {
		s.ready[t][i] |= bits
	}
	return true
}

// newer counts the operations issued after one that complete in order with it.
func (m *machine) newer(s *state, t, i, at int, c Count) (n int) {
	for j := i + 1; j < at; j++ {
		if s.status[t][j] == waiting || s.status[t][j] == skipped {
			continue
		}
		for _, d := range m.p.Threads[t].Ops[j].Counts {
			if d.Counter == c.Counter && d.Class == c.Class {
				n++
			}
		}
	}
	return n
}

// run lets all threads issue what they can. Issuing early is no restriction: it forces nothing
// to be performed, and an early invalidation leaves more stale lines.
func (m *machine) run(s *state) error {
	for again := true; again; {
		again = false
		for t := range s.pc {
			for s.pc[t] < len(m.p.Threads[t].Ops) {
				ok, err := m.issue(s, t, s.pc[t], false)
				if err != nil {
					return fmt.Errorf("wave %d, %s: %w", t, m.p.Threads[t].Ops[s.pc[t]].Text, err)
				}
				if !ok {
					break
				}
				s.pc[t]++
				again = true
			}
		}
	}
	return nil
}

// reader returns a function that returns the values of a thread's reads, if the thread has
// waited for them.
func (m *machine) reader(s *state, t int, hazard *bool) func(int) (uint32, bool) {
	return func(r int) (uint32, bool) {
		for i := range m.p.Threads[t].Ops {
			if o := &m.p.Threads[t].Ops[i]; o.Read != r || o.Kind != Load && o.Kind != RMW {
				continue
			}
			switch {
			case s.status[t][i] == skipped:
				return 0, false
			case s.status[t][i] < atL1 || !m.awaited(s, t, i):
				*hazard = true
				return 0, false
			}
			return s.read[t][i], true
		}
		return 0, false
	}
}

func (m *machine) eval(s *state, t int, e Expr) (uint32, error) {
	hazard := false
	w, ok := e(m.reader(s, t, &hazard))
	switch {
	case hazard:
		return 0, ErrHazard
	case !ok:
		return 0, fmt.Errorf("%w: it uses what no load gave", ErrRefused)
	}
	return w, nil
}

// atOnce reports whether an operation is performed in the first-level cache when it is issued,
// so that the time of issue matters.
func (m *machine) atOnce(o *Op) bool {
	return m.shared && !o.LDS && !o.Scalar && (o.Kind == Load || o.Kind == Store || o.Kind == RMW)
}

// issue tries to issue the next operation of a thread; one for which atOnce holds, only if it
// was chosen.
func (m *machine) issue(s *state, t, i int, chosen bool) (bool, error) {
	o := &m.p.Threads[t].Ops[i]
	if o.Guard != nil {
		w, err := m.eval(s, t, o.Guard)
		if err != nil {
			return false, err
		}
		if w == 0 {
			s.status[t][i] = skipped
			return true, nil
		}
	}
	if m.atOnce(o) && !chosen {
		return false, nil
	}
	switch o.Kind {
	case Wait:
		if !m.wait(s, t, i) {
			return false, nil
		}
	case Meet:
		for u := range s.arrive {
			if s.arrive[u] < s.arrive[t] && s.pc[u] < len(m.p.Threads[u].Ops) && m.one {
				return false, nil
			}
		}
	case Arrive:
		s.arrive[t]++
	case Invalidate:
		m.invalidate(s, t, i)
	case Store, RMW:
		for _, e := range o.Data { // evaluated now; performing evaluates them again
			if _, err := m.eval(s, t, e); err != nil {
				return false, err
			}
		}
		if o.Kind == Store {
			w, err := m.eval(s, t, o.Data[0])
			if err != nil {
				return false, err
			}
			s.data[t][i] = w
		}
	}
	s.status[t][i] = issued
	if o.Kind == Other || o.Kind == Wait || o.Kind == Meet || o.Kind == Arrive || o.Kind == Invalidate {
		s.status[t][i] = performed
	}
	return true, nil
}

// invalidate empties the caches of a thread, except for lines that its own outstanding loads
// may still fill.
func (m *machine) invalidate(s *state, t, at int) {
	o := &m.p.Threads[t].Ops[at]
	filling := make([]bool, len(s.hist))
	for i := range at {
		x := &m.p.Threads[t].Ops[i]
		if x.Kind == Load && !x.LDS && s.status[t][i] >= issued && !m.awaited(s, t, i) {
			filling[x.Loc] = true
		}
	}
	for l := range s.hist {
		memory := s.head(l)
		if m.shared {
			memory = s.inL2[l]
		}
		behind := memory // what the first level and the scalar cache are filled from
		if o.Middle && !filling[l] {
			s.middle[t][l] = memory
		}
		if m.p.System.Middle && !m.one {
			behind = s.middle[t][l]
		}
		if o.First && !filling[l] {
			s.first[t][l] = behind
		}
		if o.ScalarCache && !filling[l] {
			s.scalar[t][l] = behind
		}
	}
}
