package amdhw

import (
	"context"
	"fmt"
	"slices"

	"optcheck/model/explore"
)

// maxStates bounds an exploration. It is a variable, so that a test can lower it.
var maxStates = 200_000

// Explore calls end for every way in which a program can end, with the schedule that leads
// there; equal final states may occur several times. The error wraps ErrRefused, ErrHazard or
// ErrLimit if there is no answer; an error of end is returned as is.
func Explore(ctx context.Context, p *Program, end func(f *Final, schedule func() []Step) error) error {
	m := &machine{p: p}
	if err := m.prepare(); err != nil {
		return err
	}
	_, err := explore.Run(ctx, m, maxStates, func(s *state, schedule func() []Step) error {
		for t := range s.pc {
			if s.pc[t] < len(p.Threads[t].Ops) {
				return fmt.Errorf("%w: T%d waits forever at %s", ErrRefused, t, p.Threads[t].Ops[s.pc[t]].Text)
			}
		}
		return end(m.final(s), schedule)
	})
	return err
}

// told returns a function that describes a step, so that its text is formatted only on demand.
func told(thread int, format string, args ...any) func() Step {
	return func() Step { return Step{Thread: thread, Text: fmt.Sprintf(format, args...)} }
}

// prepare rejects what the model does not cover.
func (m *machine) prepare() error {
	groups := map[int]int{}
	for t := range m.p.Threads {
		th := &m.p.Threads[t]
		groups[th.Group]++
		var mem []int
		for i := range th.Ops {
			switch th.Ops[i].Kind {
			case Load, Store, RMW, WriteBack:
				mem = append(mem, i)
			}
			if th.Ops[i].LDS && len(m.p.Threads) > 1 {
				for u := range m.p.Threads {
					if m.p.Threads[u].Group != th.Group {
						return fmt.Errorf("%w: local memory of several work-groups", ErrRefused)
					}
				}
			}
		}
		m.mem = append(m.mem, mem)
	}
	m.one = len(groups) == 1 && len(m.p.Threads) > 1
	m.shared = m.one && m.p.System.SharedL1
	switch {
	case len(groups) > 1 && len(groups) < len(m.p.Threads):
		return fmt.Errorf("%w: a work-group of several waves beside others", ErrRefused)
	case m.one && !m.shared && len(m.p.Threads) > 2:
		return fmt.Errorf("%w: more than two waves of a work-group without a common first-level cache", ErrRefused)
	}
	return nil
}

func (m *machine) final(s *state) *Final {
	f := &Final{}
	for l := range s.hist {
		f.Memory = append(f.Memory, s.hist[l][s.head(l)])
	}
	for t := range m.p.Threads {
		read, done := make([]uint32, m.p.Threads[t].Reads), make([]bool, m.p.Threads[t].Reads)
		for _, i := range m.mem[t] {
			if r := m.p.Threads[t].Ops[i].Read; r >= 0 && s.status[t][i] == performed {
				read[r], done[r] = s.read[t][i], true
			}
		}
		f.Read, f.Done = append(f.Read, read), append(f.Done, done)
	}
	return f
}

// Moves calls yield for everything that may happen next. In the states that it yields, all
// threads have issued what they can.
func (m *machine) Moves(s *state, yield func(*state, func() Step) error) error {
	f := func(next *state, step func() Step) error {
		if err := m.run(next); err != nil {
			return err
		}
		return yield(next, step)
	}
	for t := range m.p.Threads {
		if i := s.pc[t]; i < len(m.p.Threads[t].Ops) && m.atOnce(&m.p.Threads[t].Ops[i]) {
			n := s.clone()
			if _, err := m.issue(n, t, i, true); err != nil {
				return err
			}
			n.pc[t]++
			if err := m.throughL1(n, t, i, f); err != nil {
				return err
			}
		}
		for _, i := range m.mem[t] {
			if st := s.status[t][i]; st != issued && st != atL1 {
				continue
			}
			if err := m.perform(s, t, i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// earlier reports whether an issued operation before i that holds is not yet past
// a status.
func (m *machine) earlier(s *state, t, i int, past uint8, holds func(o *Op) bool) bool {
	for _, j := range m.mem[t] {
		if j < i && s.status[t][j] != skipped && s.status[t][j] < past && holds(&m.p.Threads[t].Ops[j]) {
			return true
		}
	}
	return false
}

func (m *machine) perform(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	switch {
	case o.Kind == WriteBack:
		if m.earlier(s, t, i, performed, func(x *Op) bool { return x.Kind == Store && !x.LDS }) {
			return nil
		}
		n := s.clone()
		n.status[t][i] = performed
		return f(n, told(t, "%s has written back", o.Text))
	case o.LDS:
		if m.earlier(s, t, i, performed, func(x *Op) bool { return x.LDS }) {
			return nil
		}
		return m.access(s, t, i, performed, "", f)
	case o.Scalar:
		return m.scalarLoad(s, t, i, f)
	case m.shared:
		return m.throughL1(s, t, i, f)
	}
	return m.vector(s, t, i, f)
}

// access performs an operation on the newest word of its location.
func (m *machine) access(s *state, t, i int, to uint8, note string, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	n := s.clone()
	n.status[t][i] = to
	old := s.hist[o.Loc][s.head(o.Loc)]
	step := told(t, "%s reads %d%s", o.Text, int32(old), note)
	switch o.Kind {
	case Load:
		n.read[t][i] = old
	case Store:
		n.hist[o.Loc] = append(n.hist[o.Loc], s.data[t][i])
		n.own[t][o.Loc], n.at[t][i] = n.head(o.Loc), n.head(o.Loc)
		step = told(t, "%s writes %d%s", o.Text, int32(s.data[t][i]), note)
	case RMW:
		var data []uint32
		for _, e := range o.Data {
			w, err := m.eval(s, t, e)
			if err != nil {
				return err
			}
			data = append(data, w)
		}
		w := o.Apply(old, data)
		n.read[t][i] = old
		n.hist[o.Loc] = append(n.hist[o.Loc], w)
		n.own[t][o.Loc], n.at[t][i] = n.head(o.Loc), n.head(o.Loc)
		step = told(t, "%s reads %d and writes %d%s", o.Text, int32(old), int32(w), note)
	}
	return f(n, step)
}

// throughL1 performs a vector access of a work-group whose waves share the
// first-level cache: there when it is issued, then in memory.
func (m *machine) throughL1(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	if s.status[t][i] == atL1 {
		// Accesses of one location reach memory in the order of the first level.
		if s.inL2[o.Loc]+1 != s.at[t][i] {
			return nil
		}
		n := s.clone()
		n.inL2[o.Loc]++
		n.status[t][i] = performed
		return f(n, told(t, "%s has reached memory", o.Text))
	}
	if o.Kind == Load {
		return m.access(s, t, i, performed, "", f)
	}
	return m.access(s, t, i, atL1, " in the work-group's cache", f)
}

// scalarLoad performs a load through the scalar cache: it reads what memory has, or
// what a line may have kept.
func (m *machine) scalarLoad(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	newest := s.head(o.Loc)
	if m.shared {
		newest = s.inL2[o.Loc]
	}
	return m.loads(s, t, i, s.scalar[t][o.Loc], newest, "the scalar cache", f)
}

// loads performs a load for each word that it may read, the newest first.
func (m *machine) loads(s *state, t, i, oldest, newest int, cache string, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	if m.p.Fresh {
		oldest = newest
	}
	var tried []uint32
	for k := newest; k >= oldest; k-- {
		w := s.hist[o.Loc][k]
		if slices.Contains(tried, w) {
			continue
		}
		tried = append(tried, w)
		n := s.clone()
		n.status[t][i], n.read[t][i] = performed, w
		step := told(t, "%s reads %d", o.Text, int32(w))
		if k < newest {
			step = told(t, "%s reads %d from a line that %s has kept (memory has %d)", o.Text, int32(w), cache, int32(s.hist[o.Loc][newest]))
		}
		if err := f(n, step); err != nil {
			return err
		}
	}
	return nil
}

// vector performs a vector access of a wave whose first-level cache no other wave
// is known to share.
func (m *machine) vector(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	last := -1 // the newest earlier access of the location that is not performed
	for _, j := range m.mem[t] {
		x := &m.p.Threads[t].Ops[j]
		if j < i && x.Kind != WriteBack && !x.LDS && !x.Scalar && x.Loc == o.Loc && s.status[t][j] == issued {
			last = j
		}
	}
	level := o.Level
	if m.one && level == BypassFirst {
		level = Coherent // the waves of a work-group share what is behind the first level
	}
	if o.Kind != Load {
		if last >= 0 {
			return nil
		}
		return m.access(s, t, i, performed, "", f)
	}
	if last >= 0 {
		if m.p.Threads[t].Ops[last].Kind != Store || level == Coherent && !m.p.System.WriteBack {
			return nil
		}
		n := s.clone()
		n.status[t][i], n.read[t][i] = performed, s.data[t][last]
		return f(n, told(t, "%s reads %d, which its own store has under way", o.Text, int32(s.data[t][last])))
	}
	head := s.head(o.Loc)
	oldest, cache := head, ""
	switch level {
	case Cached:
		oldest, cache = max(s.first[t][o.Loc], s.own[t][o.Loc]), "the first-level cache"
	case BypassFirst:
		if m.p.System.Middle {
			oldest, cache = max(s.middle[t][o.Loc], s.own[t][o.Loc]), "a cache behind the first level"
		}
	}
	if err := m.loads(s, t, i, oldest, head, cache, f); err != nil {
		return err
	}
	if level == Coherent && !m.p.System.WriteBack || len(m.p.Threads) < 3 {
		return nil
	}
	return m.early(s, t, i, f)
}

// early lets a load read a store of another work-group that memory has not yet: the
// two may share a compute unit, or the cache in which the store stays behind; a
// coherent load sees the latter alone. With two waves alone nobody could tell that
// from a store that is performed.
func (m *machine) early(s *state, t, i int, f func(*state, func() Step) error) error {
	o := &m.p.Threads[t].Ops[i]
	for u := range m.p.Threads {
		for _, j := range m.mem[u] {
			x := &m.p.Threads[u].Ops[j]
			if u == t || x.Kind != Store || x.Loc != o.Loc || s.status[u][j] != issued || o.Level == Coherent && x.Through {
				continue
			}
			n := s.clone()
			n.status[t][i], n.read[t][i] = performed, s.data[u][j]
			if err := f(n, told(t, "%s reads %d, which a store of T%d has under way", o.Text, int32(s.data[u][j]), u)); err != nil {
				return err
			}
		}
	}
	return nil
}
