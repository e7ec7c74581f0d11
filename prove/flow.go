package prove

import (
	"slices"

	"optcheck/ir"
)

// flow transfers control. single tells that the state goes on alone.
func (m *moment) flow(f *ir.Flow) (next []*state, single bool) {
	x, st := m.x, m.state
	cond := m.guard
	if f.Cond != ir.None {
		cond = x.and(cond, m.truth(f.Cond, f.Not))
	}
	clear(st.fresh)
	if x.is(cond, 0) {
		st.pc++
		return nil, true
	}
	switch f.Kind {
	case ir.JumpAny, ir.JumpTogether, ir.JumpApart:
		return m.alike(f, cond)
	case ir.Yield, ir.CollectiveEnd:
		st.pc++
		return nil, true
	case ir.WarpSync, ir.WarpCollective, ir.BarrierSet, ir.BarrierWait:
		if !x.is(cond, 1) {
			fail("a condition of %s", m.in.Text)
		}
		m.converge(f)
		return nil, true
	}
	var rest *state
	if !x.is(cond, 1) {
		m.forked(f.Target)
		apart := x.at(cond).varies && f.Kind != ir.Exit && f.Kind != ir.Trap
		rest = st.clone()
		rest.path, rest.pc = append(rest.path, x.not(cond)), st.pc+1
		st.path = append(slices.Clip(st.path), cond)
		st.cond, rest.cond = none, none
		if apart {
			m.divide(st, rest)
		}
	}
	loop := m.forks[st.pc] > 1
	path := st.path
	out := m.transfer(f)
	if len(out) == 0 {
		m.ended = append(m.ended, path)
	}
	if rest != nil {
		out = append(out, rest)
		if loop {
			out = slices.DeleteFunc(out, m.impossible)
		}
	} else if len(out) == 1 && out[0] == st {
		return nil, true
	}
	return out, false
}

// impossible reports whether no thread is in a state: what no sample is in, the solver is asked.
func (s *side) impossible(st *state) bool {
	if st.cond == none {
		st.cond = s.all(st.path)
	}
	if s.x.vals[st.cond] != [samples]uint64{} {
		return false
	}
	if s.ask == nil {
		s.ask = newSweeper(s.x)
	}
	return s.ask.equal(s.x.num(1, 1), st.cond, s.x.num(1, 0), sweepConflicts)
}

func (s *state) clone() *state {
	c := *s
	c.path, c.regs = slices.Clone(s.path), slices.Clone(s.regs)
	c.fresh = map[ir.Reg]bool{}
	return &c
}

// transfer moves a state that makes the transfer.
func (m *moment) transfer(f *ir.Flow) []*state {
	st := m.state
	switch f.Kind {
	case ir.Jump:
		st.pc = f.Target
	case ir.Exit:
		return nil
	case ir.Trap:
		m.guard = m.x.num(1, 1)
		m.happen("trap", nil, false)
		return nil
	case ir.Call:
		st.stack = append(slices.Clip(st.stack), st.pc+1)
		if m.inside(f.Target) {
			fail("a function that calls itself")
		}
		st.pc = f.Target
	case ir.Return:
		n := len(st.stack)
		if n == 0 {
			return nil
		}
		st.pc, st.stack = st.stack[n-1], st.stack[:n-1]
		m.in, m.guard, m.was = &m.p.Insts[st.pc-1], m.x.num(1, 1), nil
		m.ops(m.in.Post)
	case ir.BarrierLeave:
		i := slices.IndexFunc(st.meets, func(b meet) bool { return b.bar == f.Bar })
		if i < 0 {
			fail("a convergence barrier that is not set")
		}
		st.meets = slices.Delete(slices.Clone(st.meets), i, i+1)
		st.pc++
	case ir.Indirect:
		return m.indirect(f)
	default:
		fail("not followed: %s", m.in.Text)
	}
	return []*state{st}
}

// inside reports whether a thread is in the function of an instruction already.
func (m *moment) inside(pc int32) bool {
	at := slices.IndexFunc(m.p.Funcs, func(f ir.Func) bool { return pc >= f.First && pc < f.End })
	return at < 0 || slices.ContainsFunc(m.state.stack, func(ret int32) bool {
		return ret > m.p.Funcs[at].First && ret <= m.p.Funcs[at].End
	})
}

// indirect jumps to one of several places.
func (m *moment) indirect(f *ir.Flow) (out []*state) {
	x, st := m.x, m.state
	to := m.get(f.Addr)
	if v, ok := x.constant(to); ok {
		pc, known := m.p.Code[v]
		if f.Targets != nil {
			if known = v < uint64(len(f.Targets)); known {
				pc = f.Targets[v]
			}
		}
		if !known {
			fail("a jump to where no code is known")
		}
		st.pc = pc
		return []*state{st}
	}
	if f.Targets == nil {
		fail("a jump to what a register says")
	}
	m.divide(st)
	for i, t := range f.Targets {
		c := st.clone()
		c.pc = t
		c.cond = none
		c.path = append(c.path, x.eq(x.resize(to, 32), x.num(32, uint64(i))))
		out = append(out, c)
	}
	return out
}

// converge sets a convergence barrier or waits at one. They are well nested or not followed: so nobody waits for a lane that waits for him.
func (m *moment) converge(f *ir.Flow) {
	st := m.state
	switch f.Kind {
	case ir.BarrierSet:
		if slices.ContainsFunc(st.meets, func(b meet) bool { return b.bar == f.Bar }) {
			fail("a convergence barrier that is set twice")
		}
		st.meets = append(slices.Clip(st.meets), meet{f.Bar, f.Target, st.together})
		st.pc++
	case ir.BarrierWait:
		n := len(st.meets) - 1
		if n < 0 || st.meets[n].bar != f.Bar {
			fail("convergence barriers that are not nested")
		}
		b := st.meets[n]
		st.pc, st.meets = b.to, st.meets[:n]
		st.together = b.together && !m.breaks
	default:
		if !m.x.is(m.x.resize(m.get(f.Mask), 32), 1<<32-1) || !st.together {
			fail("lanes that meet where they are apart")
		}
		st.pc++
		m.guard = m.x.num(1, 1)
		m.happenAt("warp barrier", nil, true)
	}
}

// alike jumps with all lanes or none.
func (m *moment) alike(f *ir.Flow, cond term) (next []*state, single bool) {
	st := m.state
	full := f.Mask == ir.None || m.x.is(m.x.resize(m.get(f.Mask), 32), 1<<32-1)
	if !st.together || !full || !m.x.is(cond, 1) {
		fail("a jump that depends on which lanes are together")
	}
	if st.pc++; f.Kind != ir.JumpApart {
		st.pc = f.Target
	}
	return nil, true
}
