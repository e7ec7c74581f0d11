package prove

import (
	"fmt"
	"slices"

	"optcheck/ir"
)

// cut is a loop that is followed once, for any iteration: what changes in it is a variable at its head.
type cut struct {
	number   int // among those of a side: the first loop that is come to is 0
	head     int32
	depth    int // of calls around it
	entry    *state
	cond     term // under which a thread comes to it
	first    memories
	regs     []term // at the head
	start    memories
	backs    []*state // that come back to the head
	together bool     // at the head
	again    term     // under which there is one more iteration
	next     []term   // what registers hold at its head; none if nothing is known of them
	last     memories
}

// memories are what others see and what is the thread's own.
type memories struct{ mem, local term }

// tooLong is the panic of a loop that has to be cut.
type tooLong struct{ head int32 }

// forked counts how often a jump divides a state. What divides it at the end of each iteration of a loop ends in a cut of the loop.
func (m *moment) forked(to int32) {
	pc := m.state.pc
	m.forks[pc]++
	head, most := m.uncut(pc), mostForks
	if head >= 0 && m.plan.cuts && (!m.order.in(pc+1, head) || !m.order.in(to, head)) {
		most = 1
	}
	switch {
	case m.forks[pc] <= most:
	case head >= 0 && m.plan.cuts:
		panic(tooLong{head})
	default:
		fail("a loop without a bound")
	}
}

// uncut is the head of the innermost loop around an instruction that is not cut, -1 if there is none.
func (s *side) uncut(pc int32) int32 {
	best := int32(-1)
	for head := range s.order.last {
		if !s.shape.heads[head] && s.order.in(pc, head) && (best < 0 || s.order.rank[head] > s.order.rank[best]) {
			best = head
		}
	}
	return best
}

// returned ends loops that a state is no longer in; it reports whether the state has made an iteration and is back at the head.
func (s *side) returned(st *state) bool {
	s.leave(st)
	n := len(st.loops) - 1
	if n < 0 || st.loops[n].head != st.pc || st.loops[n].depth != len(st.stack) {
		return false
	}
	c := st.loops[n]
	if !slices.Equal(st.meets, c.entry.meets) {
		fail("a loop that changes where lanes meet")
	}
	c.backs = append(c.backs, st)
	return true
}

// enter begins any iteration of a loop.
func (s *side) enter(st *state) {
	x := s.x
	c := &cut{number: len(s.cuts), head: st.pc, depth: len(st.stack), entry: st.clone(), cond: s.all(st.path), first: memories{s.mem, s.local}}
	l := s.shape.loop(c.number)
	if l.apart {
		s.divide(st)
	}
	if l.stores {
		s.mem = x.iterating(x.intern(node{kind: start, value: uint64(2 + c.number)}))
	}
	if l.spills {
		s.local = x.iterating(x.intern(node{kind: start, space: ir.Local, value: uint64(2 + 2*c.number + s.index())}))
	}
	varies := s.plan.sides[1].loop(c.number).varies
	n := x.iterating(x.named(64, fmt.Sprintf("loop:%d.n.%v", c.number, varies), varies))
	c.together = st.together
	c.start = memories{s.mem, s.local}
	for _, r := range sortedRegs(l.held) { // in one order: terms are numbered as they are made
		st.regs[r] = l.held[r].at(s, c, r, n)
	}
	c.regs = slices.Clone(st.regs)
	st.fresh = map[ir.Reg]bool{}
	st.loops = append(slices.Clip(st.loops), c)
	s.cuts, s.open = append(s.cuts, c), append(s.open, c)
}

func (s *side) index() int {
	if s.p.Machine {
		return 1
	}
	return 0
}

// leave ends loops that a state is no longer in.
func (s *side) leave(st *state) {
	for n := len(st.loops) - 1; n >= 0; n-- {
		c := st.loops[n]
		if len(st.stack) > c.depth || len(st.stack) == c.depth && s.order.in(st.pc, c.head) {
			return
		}
		st.loops = st.loops[:n:n]
		if s.order.leavesOnce(c.head) { // everybody who came to the loop
			st.path, st.cond = slices.Clone(st.path[:len(c.entry.path)]), none
		}
	}
}

// finish ends loops that no state is in any more.
func (s *side) finish(states []*state) {
	s.open = slices.DeleteFunc(s.open, func(c *cut) bool {
		if slices.ContainsFunc(states, func(st *state) bool { return slices.Contains(st.loops, c) }) {
			return false
		}
		s.close(c)
		return true
	})
}

// close has what the registers hold when an iteration follows.
func (s *side) close(c *cut) {
	x := s.x
	c.last = memories{s.mem, s.local}
	c.again = x.num(1, 0)
	c.next = slices.Repeat([]term{none}, len(c.regs))
	for _, b := range c.backs {
		cond := s.all(b.path)
		for r, v := range b.regs {
			switch {
			case c.next[r] == none:
				c.next[r] = v
			case v != c.next[r] && v != none:
				c.next[r] = s.choice(cond, v, c.next[r])
			}
		}
		c.again = x.or(c.again, cond)
	}
}

// iterations claims that two loops begin with what was said of it, that each iteration keeps it, and that there are as many.
func (x *terms) iterations(out []claim, a, b *cut, l, m *loop) ([]claim, error) {
	always := x.num(1, 1)
	name := fmt.Sprintf("loop %d", a.number)
	out = append(out, claim{what: name + ": entered", guard: always, a: a.cond, b: b.cond},
		claim{what: name + ": one more", guard: always, a: a.again, b: b.again})
	var err error
	if l.stores {
		if out, err = x.memories(out, name+": entered", a.first.mem, b.first.mem); err == nil {
			out, err = x.memories(out, name+": one more", a.last.mem, b.last.mem)
		}
	} else if a.last.mem != a.start.mem || b.last.mem != b.start.mem {
		err = fmt.Errorf("%s: stores are not foreseen", name)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		*cut
		*loop
	}{{a, l}, {b, m}} {
		if !s.spills && s.last.local != s.start.local {
			return nil, fmt.Errorf("%s: stores into the thread's own memory are not foreseen", name)
		}
		for _, r := range sortedRegs(s.held) {
			if h := s.held[r]; h.step != none && !x.steps(h, s.cut, r) {
				return nil, fmt.Errorf("%s: a step is another one", name)
			}
		}
	}
	for _, r := range sortedRegs(m.held) {
		h := m.held[r]
		if h.of == ir.None {
			continue
		}
		for _, at := range []struct {
			when        string
			guard, p, q term
		}{{"in front", a.cond, a.entry.regs[h.of], b.entry.regs[r]}, {"in one more", a.again, a.next[h.of], b.next[r]}} {
			switch {
			case at.p == none: // undefined: whatever is convenient
			case at.q == none: // nobody has written it
				return nil, &wrongGuess{[]*guess{{m, r}}}
			default:
				out = append(out, claim{fmt.Sprintf("%s: register %d %s", name, r, at.when), at.guard,
					h.part(x, at.p), x.resize(at.q, h.width), &guess{m, r}})
			}
		}
	}
	return out, nil
}

// steps reports whether an iteration adds the step to what a register holds.
func (x *terms) steps(h held, c *cut, r ir.Reg) bool {
	if c.next[r] == none { // there is no second iteration
		return true
	}
	from, to := c.regs[r], x.resize(c.next[r], h.width)
	if h.pair == ir.None {
		return x.sub(to, from) == h.step
	}
	other, next := c.regs[h.pair], x.resize(c.next[h.pair], h.width)
	if x.width(from) != h.width || x.width(other) != h.width { // they are no halves of a number
		return false
	}
	if h.high {
		from, to = x.concat(from, other), x.concat(to, next)
	} else {
		from, to = x.concat(other, from), x.concat(next, to)
	}
	return x.sub(to, from) == h.step
}
