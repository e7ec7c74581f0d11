package exec

import (
	"slices"

	"optcheck/litmus"
)

// Spin iterations.
//
// Where a path comes to an instruction twice and has stored nothing new, met no barrier and changed no
// register that the rest of the thread reads, the part between can be removed from an execution: who
// read from it can read what it read, and less is ordered. So for the question whether two operations
// race, executions suffice in which a thread has at most one such spin iteration (an operation of
// which races) and all threads together at most two. A thread may also stay where it spins for ever.

// heads marks the targets of backward jumps.
func (th *thread) heads() []bool {
	out := make([]bool, len(th.code))
	for pc := range th.code {
		if in := &th.code[pc]; in.in.Op == litmus.OpBra && int(in.target) <= pc {
			out[in.target] = true
		}
	}
	return out
}

// live lists for each instruction the registers whose content it, or what may follow it, reads.
func (th *thread) live() [][]bool {
	out := make([][]bool, len(th.code)+1)
	for i := range out {
		out[i] = make([]bool, len(th.regs))
	}
	for _, r := range th.terms {
		out[len(th.code)][r] = true
	}
	for changed := true; changed; {
		changed = false
		for pc := len(th.code) - 1; pc >= 0; pc-- {
			in := &th.code[pc]
			from := [][]bool{out[pc+1]}
			if in.in.Op == litmus.OpBra {
				from = append(from, out[in.target])
			}
			for r := range th.regs {
				need := in.uses(int16(r))
				for _, next := range from {
					need = need || next[r] && (in.dst != int16(r) || in.guard >= 0)
				}
				changed = changed || need && !out[pc][r]
				out[pc][r] = out[pc][r] || need
			}
		}
	}
	return out
}

// uses reports whether an instruction reads a register.
func (in *instr) uses(r int16) bool {
	used := in.guard == r || in.addr.reg == r
	for i := range in.src {
		used = used || in.src[i].reg == r
	}
	if in.in.Op == litmus.OpAsync {
		for i := range in.more {
			used = used || in.more[i].reg == r
		}
	}
	return used
}

// spinner follows the loops of a thread for which spin iterations are told apart.
type spinner struct {
	heads []bool
	live  [][]bool
	// wants is set if only the values of locations can tell whether an iteration stores something new.
	wants bool
	stuck bool // some path stays in a loop
}

func newSpinner(th *thread) *spinner { return &spinner{heads: th.heads(), live: th.live()} }

// arrival is a path as it comes to the head of a loop.
type arrival struct {
	state
	step  int
	stuck bool // the path that ends here is listed
}

// arrived notes that a path is at the head of a loop.
func (w *walker) arrived(s *state) {
	if s.arrivals == nil {
		s.arrivals = map[int]*arrival{}
	}
	c := s.clone()
	c.arrivals = nil
	s.arrivals[s.pc] = &arrival{state: *c, step: w.steps}
}

// spun reports whether what a path did since it came to the head of a loop is a spin iteration.
func (w *walker) spun(s *state, head int) bool {
	a := s.arrivals[head]
	if a == nil {
		return false
	}
	for r, live := range w.spin.live[head] {
		if live && s.wrote[r] > a.step {
			return false
		}
	}
	for i := len(a.Events); i < len(s.Events); i++ {
		switch s.Events[i].Kind {
		case Read, Fence:
		case Write:
			if !w.same(s, i) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// same reports whether a read-modify-write stores what it reads, as a compare-and-swap that fails does,
// whatever it reads of what the path's conditions leave.
func (w *walker) same(s *state, i int) bool {
	e := &s.Events[i]
	if e.Partner < 0 {
		return false
	}
	r := e.Partner
	in := &w.th.code[e.Instr]
	var reads []int64
	switch known := s.read(in.src[0]).v; {
	case in.in.Atom == litmus.AtomCAS && known.isConst():
		reads = []int64{known.k} // any other value fails
	case w.dom == nil:
		w.spin.wants = true
		return false
	default:
		reads = w.dom[e.Loc]
	}
	var vals [maxThreadEvents]int64
	for _, k := range reads {
		vals[r] = k
		if s.Path.excludes(r, vals[:], &w.buf) {
			continue
		}
		old, _ := s.eval(s.Events[r].val, 1<<r, vals[:], &w.buf)
		if now, ok := s.eval(e.val, 1<<r, vals[:], &w.buf); !ok || now != old {
			return false
		}
	}
	return true
}

// excludes reports whether a condition on read r alone does not hold.
func (p *Path) excludes(r int16, vals []int64, buf *evalBuf) bool {
	for i := range p.conds {
		c := &p.conds[i]
		if p.support(c.v) != 1<<r {
			continue
		}
		if k, ok := p.eval(c.v, 1<<r, vals, buf); ok && (k == c.want) != c.eq {
			return true
		}
	}
	return false
}

// turn is a backward jump behind a spin iteration. It returns false if the path ends.
func (w *walker) turn(s *state, head int) bool {
	a := s.arrivals[head]
	if !a.stuck {
		a.stuck, w.spin.stuck = true, true
		c := a.clone()
		c.Stuck = true
		w.finish(c)
	}
	if s.Path.spin != nil {
		return false
	}
	s.Path.spin = slices.Clone(s.Events[len(a.Events):])
	s.pc = head
	return len(s.Path.spin) > 0
}

// without leaves out the paths of which no operation of the spin iteration may race.
func (p *Program) without(list [][]*Path) {
	for t := range list {
		list[t] = slices.DeleteFunc(list[t], func(path *Path) bool {
			return len(path.spin) > 0 && !slices.ContainsFunc(path.spin, func(e Event) bool {
				return slices.ContainsFunc(list, func(others []*Path) bool {
					return slices.ContainsFunc(others, func(q *Path) bool { return p.mayRace(&e, q.Events) })
				})
			})
		})
	}
}

// mayRace reports whether an operation conflicts with one of those of another thread and is not morally strong
// with it (PTX ISA, Moral Strength; Data Races), wherever they stand.
func (p *Program) mayRace(e *Event, others []Event) bool {
	return slices.ContainsFunc(others, func(f Event) bool {
		if e.Thread == f.Thread && !f.Agent || e.Loc < 0 || e.Loc != f.Loc || e.Passes || e.Kind != Write && f.Kind != Write {
			return false
		}
		strong := func(a, b *Event) bool {
			return a.Sem != litmus.SemWeak && !a.Async && !a.Agent && a.Proxy == litmus.ProxyGeneric &&
				p.threads[a.Thread].place.SameScope(p.threads[b.Thread].place, a.Scope)
		}
		return !strong(e, &f) || !strong(&f, e) || e.Bits != f.Bits || e.Off != f.Off
	})
}

// needed reports whether executions with the i-th path of thread t, beside those picked for the threads
// before it, have pairs of operations that others lack. Equal threads at one place may be exchanged.
func (w *worker) needed(t, i int, path *Path) bool {
	if !w.opt.Races {
		return true
	}
	if u := w.twins[t]; u >= 0 && i < w.picked[u] {
		return false
	}
	if len(path.spin) == 0 {
		return true
	}
	var before [][]Event
	for _, other := range w.pick[:t] {
		if len(other.spin) > 0 {
			before = append(before, other.spin)
		}
	}
	return len(before) == 0 || len(before) == 1 && slices.ContainsFunc(path.spin, func(e Event) bool { return w.p.mayRace(&e, before[0]) })
}

// twins finds for each thread the one before it that it may be exchanged with, or -1.
func (p *Program) twins(out []int) []int {
	for t := range p.threads {
		u := t - 1
		for u >= 0 && !p.exchangeable(t, u) {
			u--
		}
		out = append(out, u)
	}
	return out
}

// exchangeable reports whether two threads have the same code and the same place beside all others.
func (p *Program) exchangeable(t, u int) bool {
	a, b := &p.threads[t], &p.threads[u]
	apart := func(p, q litmus.Place) (levels int, warp bool) {
		levels = sharedLevels(p, q)
		return levels, levels == 4 && p.Warp == q.Warp
	}
	for v := range p.threads {
		if v == t || v == u {
			continue
		}
		l, w := apart(a.place, p.threads[v].place)
		if m, x := apart(b.place, p.threads[v].place); l != m || w != x {
			return false
		}
	}
	return slices.Equal(a.init, b.init) && slices.EqualFunc(a.code, b.code, func(x, y instr) bool {
		if x.meet != nil || y.meet != nil {
			return false // lanes differ
		}
		same := x.guard == y.guard && x.dst == y.dst && x.target == y.target && x.addr == y.addr && x.more == y.more && x.src == y.src
		return same && x.in.String() == y.in.String()
	})
}

// exchanged orders the first read-modify-writes of threads that may be exchanged and take the same path, where
// the model wants some order of them: the executions with the others are those with the threads exchanged.
// Their threads have two events, so that no write of a class is among them.
func (w *worker) exchanged() {
	if len(w.twins) == 0 || w.rare || w.e.co != CoPartial || !w.pl.minimal {
		return
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	open := w.arena.Rel()
	if !w.openPairs(open) {
		return
	}
	g := &w.g
	for t, u := range w.twins {
		if u < 0 || w.picked[t] != w.picked[u] {
			continue
		}
		i := slices.IndexFunc(g.events[g.start[t]:g.start[t+1]], func(e Event) bool { return e.Kind == Write && e.Partner >= 0 })
		if i < 0 {
			continue
		}
		x, y := int(g.start[u])+i, int(g.start[t])+i
		if open.Has(x, y) || open.Has(y, x) {
			w.addOrder(x, y)
		}
	}
}
