package nvhw

import (
	"context"
	"fmt"
	"slices"

	"optcheck/model/explore"
)

// maxStates bounds an exploration. It is a variable, so that a test can lower it.
var maxStates = 400_000

// Explore calls end for every way in which a program can end, with the schedule that leads
// there; equal final states may occur several times. The error wraps ErrRefused, ErrHazard or
// ErrLimit if there is no answer; an error of end is returned as is.
func Explore(ctx context.Context, p *Program, end func(f *Final, schedule func() []Step) error) error {
	m := &machine{p: p}
	if err := m.prepare(); err != nil {
		return err
	}
	_, err := explore.Run(ctx, m, maxStates, func(s *state, schedule func() []Step) error {
		if err := m.stuck(s); err != nil {
			return err
		}
		return end(m.final(s), schedule)
	})
	return err
}

// stuck returns an error if a thread still waits in a final state.
func (m *machine) stuck(s *state) error {
	for t := range m.p.Threads {
		for i, st := range s.status[t] {
			if st != done && st != skipped {
				return fmt.Errorf("%w: thread %d waits forever at %s", ErrRefused, t, m.p.Threads[t].Ops[i].Text)
			}
		}
	}
	return nil
}

// prepare rejects what the machine does not cover.
func (m *machine) prepare() error {
	m.shared = make([]bool, len(m.p.Init))
	owner := map[int]int{}
	total := 0
	for t := range m.p.Threads {
		th := &m.p.Threads[t]
		m.first = append(m.first, total)
		total += len(th.Ops)
		m.ctas = max(m.ctas, th.CTA+1)
		for i := range th.Ops {
			o := &th.Ops[i]
			if o.Kind > RMW {
				continue
			}
			if c, ok := owner[o.Loc]; o.Shared && ok && c != th.CTA {
				return fmt.Errorf("%w: shared memory of several CTAs", ErrRefused)
			}
			if o.Shared {
				owner[o.Loc], m.shared[o.Loc] = th.CTA, true
			}
		}
	}
	if total > 64 {
		return fmt.Errorf("%w: %d operations, of at most 64", ErrRefused, total)
	}
	return nil
}

func (m *machine) final(s *state) *Final {
	f := &Final{}
	for l := range s.mem {
		f.Memory = append(f.Memory, s.mem[l][s.newest(l)])
	}
	for t := range m.p.Threads {
		read, performed := make([]uint32, m.p.Threads[t].Reads), make([]bool, m.p.Threads[t].Reads)
		for i := range m.p.Threads[t].Ops {
			o := &m.p.Threads[t].Ops[i]
			if (o.Kind == Load || o.Kind == RMW) && o.Read >= 0 && s.status[t][i] == done {
				read[o.Read], performed[o.Read] = s.read[t][i], true
			}
		}
		f.Read, f.Done = append(f.Read, read), append(f.Done, performed)
	}
	return f
}

// told returns a function that describes a step, so that its text is formatted only on demand.
func told(thread int, format string, args ...any) func() Step {
	return func() Step { return Step{Thread: thread, Text: fmt.Sprintf(format, args...)} }
}

// Moves calls yield for every access that may be performed next.
func (m *machine) Moves(s *state, yield func(*state, func() Step) error) error {
	f := func(next *state, step func() Step) error {
		if err := m.settle(next); err != nil {
			return err
		}
		return yield(next, step)
	}
	for t := range m.p.Threads {
		for i := range s.pc[t] {
			o, st := &m.p.Threads[t].Ops[i], s.status[t][i]
			var err error
			switch {
			case o.Kind <= RMW && st == halfway:
				err = m.reach(s, t, i, f)
			case o.Kind > RMW || st != issued || !m.ready(s, t, i):
			case o.Kind == Store:
				err = m.store(s, t, i, f)
			default:
				if err = m.perform(s, t, i, f); err == nil && m.hurried(s, t, i) {
					err = m.pass(s, t, i, f)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ready reports whether the operations before an access let it be performed.
func (m *machine) ready(s *state, t, i int) bool {
	o := &m.p.Threads[t].Ops[i]
	if !m.behindFences(s, t, i, o.Kind) {
		return false
	}
	return !m.pending(s, t, i, func(x *Op, st uint8) bool {
		return x.Kind <= RMW && x.Loc == o.Loc && m.holds(SameLocation) && (x.Kind != Store || st < halfway)
	})
}

// far reports whether an access reads L2.
func (m *machine) far(o *Op) bool {
	return !o.Shared && (o.Kind == RMW || o.Kind == Load && o.Far && m.holds(StrongMemory))
}

// perform performs a load or an atomic at once, if nothing is on the way to L2 that it must not
// overtake: a read of L2 comes after everything that its CTA has on the way; every load comes
// after an atomic or a load, which leave no line to hit until they return.
func (m *machine) perform(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	for _, n := range s.queue[m.p.Threads[t].CTA][o.Loc] {
		u, j := m.op(n)
		k := m.p.Threads[u].Ops[j].Kind
		if m.holds(OneQueue) && m.far(o) || m.holds(AtomicDrops) && k == RMW || m.holds(StrongFills) && k == Load {
			return nil
		}
	}
	if o.Kind == RMW {
		return m.atomic(s, t, i, f)
	}
	return m.load(s, t, i, f)
}

// hurried reports whether a fence of the CTA waits for a load or an atomic to pass L1.
func (m *machine) hurried(s *state, t, i int) bool {
	if m.p.Threads[t].Ops[i].Shared {
		return false
	}
	for j := i + 1; j < s.pc[t]; j++ {
		if o := &m.p.Threads[t].Ops[j]; o.Kind == Fence && !o.Far && s.status[t][j] == issued {
			return true
		}
	}
	return false
}

// pass lets a load or an atomic pass L1 without a hit: it is on its way to L2.
func (m *machine) pass(s *state, t, i int, f func(*state, func() Step) error) error {
	o, c := &m.p.Threads[t].Ops[i], m.p.Threads[t].CTA
	n := s.clone()
	n.status[t][i] = halfway
	n.queue[c][o.Loc] = append(n.queue[c][o.Loc], m.first[t]+i)
	return f(n, told(t, "%s has passed L1", o.Text))
}

// load performs a load for each version that it may read, the newest first.
func (m *machine) load(s *state, t, i int, f func(*state, func() Step) error) error {
	o, c := &m.p.Threads[t].Ops[i], m.p.Threads[t].CTA
	far := m.far(o)
	if u, j, ok := m.stored(s, c, o.Loc); ok && !far && m.holds(StoreThrough) {
		n := s.clone()
		n.status[t][i], n.read[t][i] = done, s.data[u][j]
		return f(n, told(t, "%s reads %d, which only the L1 of CTA %d has", o.Text, int32(s.data[u][j]), c))
	}
	newest, oldest := s.newest(o.Loc), s.oldest[c][o.Loc]
	if far || m.p.Fresh || o.Shared {
		oldest = newest
	}
	for k := newest; k >= oldest; k-- {
		n := s.clone()
		w := s.mem[o.Loc][k]
		n.status[t][i], n.read[t][i] = done, w
		if !far || m.holds(StrongFills) {
			n.oldest[c][o.Loc] = max(k, n.oldest[c][o.Loc])
		}
		step := told(t, "%s reads %d", o.Text, int32(w))
		if k < newest {
			step = told(t, "%s reads %d from a line that L1 has kept (L2 has %d)", o.Text, int32(w), int32(s.mem[o.Loc][newest]))
		}
		if err := f(n, step); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the last store to a location that only the L1 of a CTA has.
func (m *machine) stored(s *state, c, loc int) (t, i int, ok bool) {
	for _, n := range slices.Backward(s.queue[c][loc]) {
		if t, i = m.op(n); m.p.Threads[t].Ops[i].Kind == Store {
			return t, i, true
		}
	}
	return 0, 0, false
}

// store performs a store where its CTA sees it: in L1, or in shared memory.
func (m *machine) store(s *state, t, i int, f func(*state, func() Step) error) error {
	o, c := &m.p.Threads[t].Ops[i], m.p.Threads[t].CTA
	n := s.clone()
	if o.Shared {
		n.status[t][i] = done
		n.mem[o.Loc] = append(n.mem[o.Loc], s.data[t][i])
		return f(n, told(t, "%s writes %d", o.Text, int32(s.data[t][i])))
	}
	n.status[t][i] = halfway
	n.queue[c][o.Loc] = append(n.queue[c][o.Loc], m.first[t]+i)
	return f(n, told(t, "%s writes %d in the L1 of CTA %d", o.Text, int32(s.data[t][i]), c))
}

// reach lets an access that has passed L1 arrive at L2.
func (m *machine) reach(s *state, t, i int, f func(*state, func() Step) error) error {
	o, c := &m.p.Threads[t].Ops[i], m.p.Threads[t].CTA
	at := slices.Index(s.queue[c][o.Loc], m.first[t]+i)
	if at > 0 && m.holds(OneQueue) {
		return nil
	}
	n := s.clone()
	n.queue[c][o.Loc] = slices.Delete(n.queue[c][o.Loc], at, at+1)
	if o.Kind == RMW {
		return m.atomic(n, t, i, f)
	}
	n.status[t][i] = done
	if o.Kind == Load {
		n.read[t][i] = n.mem[o.Loc][n.newest(o.Loc)]
		n.oldest[c][o.Loc] = n.newest(o.Loc)
		return f(n, told(t, "%s reads %d in L2", o.Text, int32(n.read[t][i])))
	}
	n.mem[o.Loc] = append(n.mem[o.Loc], s.data[t][i])
	if m.holds(StoreThrough) {
		n.oldest[c][o.Loc] = n.newest(o.Loc)
	}
	return f(n, told(t, "%s has reached L2", o.Text))
}

// atomic performs a read-modify-write, in L2 or in shared memory.
func (m *machine) atomic(s *state, t, i int, f func(*state, func() Step) error) error {
	o, c := &m.p.Threads[t].Ops[i], m.p.Threads[t].CTA
	var data []uint32
	for _, e := range o.Data {
		w, ok, err := m.eval(s, t, e)
		if err != nil || !ok {
			return err
		}
		data = append(data, w)
	}
	n := s.clone()
	old := s.mem[o.Loc][s.newest(o.Loc)]
	n.status[t][i], n.read[t][i] = done, old
	w := o.Apply(old, data)
	n.mem[o.Loc] = append(n.mem[o.Loc], w)
	if m.holds(AtomicDrops) {
		n.oldest[c][o.Loc] = n.newest(o.Loc)
	}
	return f(n, told(t, "%s reads %d and writes %d", o.Text, int32(old), int32(w)))
}
