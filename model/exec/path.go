package exec

import (
	"fmt"
	"maps"
	"slices"

	"optcheck/litmus"
)

// Path is one path through a thread's code, with symbolic values.
type Path struct {
	Events []Event
	// Cut is set if the path needs more loop iterations than the bound.
	Cut bool
	// Waits is set if the thread stays at its last event, a barrier, forever.
	Waits bool
	// Stuck is set if the thread stays in a loop that waits (see spin.go).
	Stuck bool
	// Fault says what meaningless thing the path does, for example an access to an address that
	// is not a location.
	Fault string

	spin   []Event    // those of a spin iteration
	async  [][2]int16 // orders of asynchronous operations: pairs of events
	nodes  []node
	conds  []cond
	finals []value // of the thread's terms
}

// cond is a condition on a path's values.
type cond struct {
	v    value
	want int64
	eq   bool
}

// register holds a register's content and the reads that it depends on.
type register struct {
	v    value
	deps uint64
}

// walker unfolds one thread.
type walker struct {
	unfolding
	p     *Program
	th    *thread
	id    int
	out   []*Path
	steps int // instructions executed on all paths
	spin  *spinner
	buf   evalBuf
	// needDomain is set if an address depends on values of reads and dom is nil; err if the
	// thread is too large.
	needDomain bool
	err        error
}

// state is a point on a path.
type state struct {
	Path
	pc    int
	regs  []register
	ctrl  uint64
	jumps []uint8
	ops   int16 // operations so far
	// access numbers the access whose parts are being performed, from 1.
	access int
	// copies are the asynchronous ones so far; groups how many groups are committed, of those and of bulk copies.
	copies []copied
	groups [2]int
	// With a spinner: by register the step that wrote it last, by head of a loop the last arrival.
	wrote    []int
	arrivals map[int]*arrival
}

func (s *state) clone() *state {
	c := *s
	c.Events = slices.Clone(s.Events)
	c.nodes = slices.Clone(s.nodes)
	c.async, c.copies = slices.Clone(s.async), slices.Clone(s.copies)
	c.conds = slices.Clone(s.conds)
	c.regs = slices.Clone(s.regs)
	c.jumps = slices.Clone(s.jumps)
	c.wrote, c.arrivals = slices.Clone(s.wrote), maps.Clone(s.arrivals)
	return &c
}

func (s *state) read(o operand) register {
	if o.reg < 0 {
		return register{v: constant(o.k)}
	}
	return s.regs[o.reg]
}

// pathMem is memory for the events of a test's paths, reused for the next test. The paths of a
// judgement end with it.
type pathMem struct {
	block []Event
	used  int
}

// take returns an empty slice for n events.
func (m *pathMem) take(n int) []Event {
	if m.used+n > len(m.block) {
		m.block, m.used = make([]Event, max(64, 2*n)), 0
	}
	m.used += n
	return m.block[m.used-n : m.used-n : m.used]
}

func (w *walker) start() *state {
	th := w.th
	s := &state{regs: make([]register, len(th.regs))}
	s.Events = w.mem.take(th.events)
	for i, k := range th.init {
		s.regs[i].v = constant(k)
	}
	if w.spin != nil {
		s.wrote = make([]int, len(th.regs))
	}
	return s
}

// run follows a path to its end; forks are followed first.
func (w *walker) run(s *state) {
	for s.pc < len(w.th.code) {
		if w.err != nil || w.needDomain {
			return
		}
		if len(s.Events)+2 > maxThreadEvents || len(s.nodes) > maxNodes || w.steps > maxSteps {
			w.tooLong()
			return
		}
		if w.spin != nil && w.spin.heads[s.pc] {
			w.arrived(s)
		}
		w.steps++
		if in := &w.th.code[s.pc]; w.spin != nil && in.dst >= 0 {
			s.wrote[in.dst] = w.steps
		}
		if !w.step(s) {
			return
		}
	}
	w.finish(s)
}

func (w *walker) tooLong() {
	w.err = fmt.Errorf("thread %s is too long to be judged: more than %d events on a path, or too many paths",
		w.p.Test.Threads[w.id].Name, maxThreadEvents)
}

func (w *walker) finish(s *state) {
	if len(w.out) >= maxPaths {
		w.err = fmt.Errorf("thread %s has more than %d paths", w.p.Test.Threads[w.id].Name, maxPaths)
		return
	}
	s.finals = make([]value, len(w.th.terms))
	for i, r := range w.th.terms {
		s.finals[i] = s.regs[r].v
	}
	w.out = append(w.out, &s.Path)
}

// step executes one instruction. It returns false if the path ends.
func (w *walker) step(s *state) bool {
	in := &w.th.code[s.pc]
	op := in.in.Op
	if op == litmus.OpBra {
		return w.branch(s, in)
	}
	if in.guard >= 0 {
		pure := !op.IsAccess() && !op.IsFence() && op != litmus.OpBar && op != litmus.OpAsync
		g := s.regs[in.guard]
		if pure && !g.v.isConst() {
			w.pure(s, in, true)
			s.pc++
			return true
		}
		taken := w.decide(s, g.v, !in.in.Guard.Neg, func(f *state) {
			f.skip(in, g.deps)
			w.run(f)
		})
		if !taken {
			s.skip(in, g.deps)
			return true
		}
	}
	switch {
	case op.IsAccess():
		return w.access(s, in)
	case op.IsFence():
		e := Event{Kind: Fence}
		e.fence(in.in)
		s.push(w, e, in)
	case op == litmus.OpBar:
		return w.barrier(s, in)
	case op == litmus.OpAsync:
		return w.asynchronous(s, in)
	default:
		w.pure(s, in, false)
	}
	s.pc++
	return true
}

// skip passes a guarded instruction that is not executed. Its destination still depends on the
// guard.
func (s *state) skip(in *instr, deps uint64) {
	if in.dst >= 0 {
		s.regs[in.dst].deps |= deps
	}
	s.pc++
}

// decide makes a truth value: true if v != 0 equals want. If v is not known, it follows other
// on a copy in which it is not, and returns true.
func (w *walker) decide(s *state, v value, want bool, other func(*state)) bool {
	if v.isConst() {
		return (v.k != 0) == want
	}
	f := s.clone()
	f.conds = append(f.conds, cond{v, 0, want})
	other(f)
	s.conds = append(s.conds, cond{v, 0, !want})
	return true
}

func (w *walker) branch(s *state, in *instr) bool {
	c := register{v: constant(1)}
	want := true
	switch {
	case in.in.Cmp != litmus.CmpNone:
		a, b := s.read(in.src[0]), s.read(in.src[1])
		c.v = s.build(node{op: nodeCmp, sub: uint8(in.in.Cmp), typ: in.in.Type, a: a.v, b: b.v, c: constant(0)})
		c.deps = a.deps | b.deps
		if in.guard >= 0 {
			w.err = posError(in.in.Pos, "a guarded compare-and-branch has no meaning here")
			return false
		}
	case in.guard >= 0:
		c, want = s.regs[in.guard], !in.in.Guard.Neg
	}
	s.ctrl |= c.deps
	if int(in.target) == s.pc+1 {
		s.pc++
		return true
	}
	if w.decide(s, c.v, want, func(f *state) { f.pc++; w.run(f) }) {
		return w.jump(s, in)
	}
	s.pc++
	return true
}

// jump goes to the target; a backward jump counts against the bound.
func (w *walker) jump(s *state, in *instr) bool {
	if int(in.target) <= s.pc {
		if w.spin != nil {
			if w.spun(s, int(in.target)) {
				return w.turn(s, int(in.target))
			}
		}
		if s.jumps == nil {
			s.jumps = make([]uint8, len(w.th.code))
		}
		if int(s.jumps[s.pc]) >= w.unroll {
			s.Cut = true
			w.finish(s)
			return false
		}
		s.jumps[s.pc]++
	}
	s.pc = int(in.target)
	return true
}

// pure computes a register. With sel the result is taken only if the guard,
// whose value is not known, holds.
func (w *walker) pure(s *state, in *instr, sel bool) {
	a, b, c := s.read(in.src[0]), s.read(in.src[1]), s.read(in.src[2])
	r := register{deps: a.deps | b.deps | c.deps}
	zero := constant(0)
	switch t := in.in.Type; in.in.Op {
	case litmus.OpMov, litmus.OpCvt:
		v := a.v
		if in.in.Op == litmus.OpCvt && in.in.FromType != litmus.TypeNone {
			v = s.fitted(v, in.in.FromType)
		}
		r.v = s.fitted(v, t)
		if in.src[0].reg < 0 && t == litmus.TypeNone {
			r.v = v
		}
	case litmus.OpNot:
		op := uint8(litmus.OpXor)
		ones := constant(-1)
		if t == litmus.Pred {
			ones = constant(1)
		}
		r.v = s.build(node{op: nodeArith, sub: op, typ: t, a: a.v, b: ones, c: zero})
	case litmus.OpSetp:
		r.v = s.build(node{op: nodeCmp, sub: uint8(in.in.Cmp), typ: t, a: a.v, b: b.v, c: zero})
	case litmus.OpSelp:
		r.v = s.build(node{op: nodeSel, typ: t, a: a.v, b: b.v, c: c.v})
	case litmus.OpNop:
		return
	default:
		r.v = s.build(node{op: nodeArith, sub: uint8(in.in.Op), typ: t, a: a.v, b: b.v, c: zero})
	}
	if in.dst < 0 {
		return
	}
	if sel {
		g, old := s.regs[in.guard], s.regs[in.dst]
		yes, no := r.v, old.v
		if in.in.Guard.Neg {
			yes, no = no, yes
		}
		r.v = s.build(node{op: nodeSel, typ: litmus.S64, a: yes, b: no, c: g.v})
		r.deps |= g.deps | old.deps
	} else if in.guard >= 0 {
		r.deps |= s.regs[in.guard].deps
	}
	s.regs[in.dst] = r
}
