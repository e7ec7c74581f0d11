package prove

import (
	"slices"

	"optcheck/ir"
)

// Bounds of a walk.
const (
	mostSteps  = 60000 // instructions of all states
	mostForks  = 70    // how often one jump divides a state
	mostStates = 256   // states at once
)

// state is a thread on the paths that have come to an instruction.
type state struct {
	pc   int32
	path []term // conditions that hold, the oldest first
	cond term   // their conjunction, none if it is not computed yet
	regs []term // none where nobody has written
	// stack are the calls that the thread is in, meets the convergence barriers that it will wait at.
	stack []int32
	meets []meet
	loops []*cut // that are followed once, the outermost first
	// together tells that all lanes of the warp that still run are in this state, or none.
	together bool
	// apart is since when lanes are apart, if they are not together: a number of side.apart.
	apart int
	// fresh are the uniform registers written since another group of lanes could run.
	fresh map[ir.Reg]bool
}

// meet is a convergence barrier.
type meet struct {
	bar      ir.Reg
	to       int32
	together bool
}

const none term = -1

// walk goes through the program on all paths at once.
func (s *side) walk() {
	first := &state{cond: none, regs: slices.Repeat([]term{none}, s.p.Regs), together: true, fresh: map[ir.Reg]bool{}}
	for r, t := range s.fixed {
		first.regs[r] = t
	}
	states := []*state{first}
	for len(states) > 0 {
		if slices.ContainsFunc(states, func(r *state) bool { return s.outside(r.pc) }) {
			fail("control leaves the code")
		}
		least := 0
		for i, r := range states {
			if s.before(r, states[least]) {
				least = i
			}
		}
		now := states[least]
		states = slices.Delete(states, least, least+1)
		if s.shape.heads[now.pc] {
			s.enter(now)
		}
		next := slices.DeleteFunc(s.run(now, states), s.returned)
		states = s.merged(append(states, next...))
		s.finish(states)
		if len(states) > mostStates {
			fail("more than %d states at once", mostStates)
		}
	}
	s.shared()
}

// outside reports whether there is no instruction at a place.
func (s *side) outside(pc int32) bool { return pc < 0 || int(pc) >= len(s.p.Insts) }

func (s *side) before(a, b *state) bool {
	if len(a.stack) != len(b.stack) {
		return len(a.stack) > len(b.stack)
	}
	return s.order.rank[a.pc] < s.order.rank[b.pc]
}

// merged makes one of states that are at the same place.
func (s *side) merged(states []*state) []*state {
	for i := 1; i < len(states); i++ {
		for k := range i {
			a, b := states[k], states[i]
			if a.pc == b.pc && slices.Equal(a.stack, b.stack) && slices.Equal(a.meets, b.meets) && slices.Equal(a.loops, b.loops) {
				rest := slices.Delete(slices.Delete(slices.Clone(states), i, i+1), k, k+1)
				return s.merged(append(rest, s.merge(a, b, rest)))
			}
		}
	}
	return states
}

// prefix is how many conditions two paths begin with.
func prefix(a, b []term) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// merge makes one state of two whose paths exclude each other. If nobody else is left of those that their paths began with, it is all of
// them.
func (s *side) merge(a, b *state, rest []*state) *state {
	x := s.x
	n := prefix(a.path, b.path)
	ca, cb := s.all(a.path[n:]), s.all(b.path[n:])
	out := &state{pc: a.pc, cond: none, path: slices.Clone(a.path[:n]), regs: slices.Clone(a.regs), stack: a.stack, meets: a.meets, loops: a.loops,
		together: a.together && b.together, apart: s.bothApart(a, b), fresh: map[ir.Reg]bool{}}
	others := slices.ContainsFunc(rest, func(r *state) bool { return prefix(r.path, a.path) >= n })
	others = others || slices.ContainsFunc(s.ended, func(p []term) bool { return prefix(p, a.path) >= n })
	for _, c := range a.loops {
		others = others || slices.ContainsFunc(c.backs, func(r *state) bool { return prefix(r.path, a.path) >= n })
	}
	if c := x.or(ca, cb); others && !x.is(c, 1) {
		out.path = append(out.path, c)
	}
	for r := range out.regs {
		v, w := a.regs[r], b.regs[r]
		switch {
		case v == w:
		case s.uniform[r] && !out.together: // what lanes share is what one of the two has written last
			out.regs[r] = none
		case v == none && !s.p.Machine: // undefined: whatever is convenient
			out.regs[r] = w
		case w == none && !s.p.Machine:
		default:
			out.regs[r] = s.known(s.choice(ca, s.made(a, ir.Reg(r)), s.made(b, ir.Reg(r))))
		}
	}
	return out
}

// known is a term as the program computes it, if it does.
func (s *side) known(t term) term {
	switch {
	case s.x.matcher == nil:
		return t
	case s.p.Machine:
		return s.x.matcher.match(t)
	}
	s.x.matcher.note(t)
	return t
}

// choice is c ? v : w of words as wide as they are.
func (s *side) choice(c, v, w term) term {
	k := max(s.x.width(v), s.x.width(w))
	return s.x.ite(c, s.x.zext(v, k), s.x.zext(w, k))
}

// made is what a register of a state holds; of one that nobody has written it is something free.
func (s *side) made(st *state, r ir.Reg) term {
	if st.regs[r] == none {
		st.regs[r] = s.free()
	}
	return st.regs[r]
}

// all is the conjunction of conditions.
func (s *side) all(path []term) term {
	return s.x.and(append([]term{s.x.num(1, 1)}, path...)...)
}

// run follows a state until it divides, ends, or comes to where others wait, or may come to.
func (s *side) run(st *state, states []*state) []*state {
	for {
		if s.outside(st.pc) {
			fail("control leaves the code")
		}
		if s.steps++; s.steps > mostSteps {
			fail("more than %d instructions", mostSteps)
		}
		in := &s.p.Insts[st.pc]
		m := &moment{side: s, state: st, in: in, guard: s.x.num(1, 1)}
		if in.Guard != ir.None {
			if m.guard = m.truth(in.Guard, in.Not); s.x.is(m.guard, 0) {
				st.pc++
				continue
			}
		}
		if in.Opaque != "" {
			fail("not understood: %s", in.Text)
		}
		if in.Unproved && !in.Approximate() {
			fail("a reading that no chip has confirmed: %s", in.Form)
		}
		if f, ok := in.Do.(*ir.Flow); ok {
			m.ops(in.Pre)
			m.done()
			next, single := m.flow(f)
			if !single {
				return next
			}
		} else {
			m.perform()
			st.pc++
		}
		if s.shape.heads[st.pc] || slices.ContainsFunc(states, func(r *state) bool { return !s.before(st, r) }) {
			return []*state{st}
		}
	}
}

// past is what a register held.
type past struct {
	reg ir.Reg
	was term
}

// moment is an instruction of a state.
type moment struct {
	*side
	state *state
	in    *ir.Inst
	guard term   // of the instruction
	was   []past // what registers held before it
}

// get is what a register holds.
func (m *moment) get(r ir.Reg) term {
	if r == ir.None {
		return m.x.num(64, 0)
	}
	t := m.made(m.state, r)
	if _, fixed := m.fixed[r]; m.uniform[r] && !fixed && !m.state.together && !m.state.fresh[r] {
		m.reads(m.state, r, t)
	}
	return m.chosen(t)
}

// chosen is what a choice between terms comes to under the conditions of the instruction.
func (m *moment) chosen(t term) term {
	x := m.x
	for x.kind(t) == ite {
		c, here := x.at(t).args, m.here()
		switch {
		case x.is(x.and(here, x.not(c[0])), 0):
			t = c[1]
		case x.is(x.and(here, c[0]), 0):
			t = c[2]
		default:
			return t
		}
	}
	return t
}

// truth is a predicate, or its opposite.
func (m *moment) truth(r ir.Reg, not bool) term {
	t := m.x.resize(m.get(r), 1)
	if not {
		return m.x.not(t)
	}
	return t
}

// put writes a register.
func (m *moment) put(r ir.Reg, v term) {
	if r == ir.None {
		return
	}
	if m.bars[r] {
		fail("a convergence barrier that is moved")
	}
	if !slices.ContainsFunc(m.was, func(p past) bool { return p.reg == r }) {
		m.was = append(m.was, past{r, m.state.regs[r]})
	}
	m.state.regs[r] = v
}

// perform does what an instruction does that only goes on.
func (m *moment) perform() {
	m.ops(m.in.Pre)
	m.effect()
	m.ops(m.in.Post)
	m.done()
}

// done lets registers hold what they did where the guard does not hold, and notes what became of uniform ones.
func (m *moment) done() {
	x := m.x
	for _, p := range m.was {
		r, old := p.reg, p.was
		now := m.state.regs[r]
		if !x.is(m.guard, 1) && now != old {
			switch {
			case old == none && !m.p.Machine:
			case old == none:
				now = m.choice(m.guard, now, m.free())
			default:
				now = m.known(m.choice(m.guard, now, old))
			}
			m.state.regs[r] = now
		}
		if m.uniform[r] {
			if x.at(now).varies || x.at(m.guard).varies {
				fail("a uniform register that holds what differs between lanes: %s", m.in.Text)
			}
			m.state.fresh[r] = true
			m.writes(m.state, r, now)
		}
	}
}

// ops computes.
func (m *moment) ops(list []ir.Op) {
	for i := range list {
		o := &list[i]
		var args [4]term
		for k, r := range o.Src {
			args[k] = m.get(r)
		}
		m.put(o.Dst, m.known(m.x.op(o, &args)))
	}
}

// here is the condition under which a thread performs the instruction.
func (m *moment) here() term {
	if m.state.cond == none {
		m.state.cond = m.all(m.state.path)
	}
	return m.x.and(m.state.cond, m.guard)
}
