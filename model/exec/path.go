package exec

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/litmus"
)

// Path is one way through a thread's code, with symbolic values.
type Path struct {
	Events []Event
	// Cut is set if the path needs more loop iterations than the bound.
	Cut bool
	// Fault says what the path does that has no meaning, for example an
	// access to an address that is no location.
	Fault string

	nodes  []node
	conds  []cond
	finals []value // of the thread's terms
}

// cond must hold of a path's values.
type cond struct {
	v    value
	want int64
	eq   bool
}

// register is what a register holds and which reads it depends on.
type register struct {
	v    value
	deps uint64
}

// walker unfolds one thread.
type walker struct {
	p      *Program
	th     *thread
	id     int
	unroll int
	dom    [][]int64 // values of each location, nil before they are wanted
	out    []*Path
	mem    *pathMem
	steps  int // instructions executed on all paths
	// budget bounds the work for values of addresses; nil means none is done.
	budget *int
	buf    evalBuf
	// needDomain is set when an address depends on values of reads and dom
	// is nil; err when the thread is too large.
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
}

func (s *state) clone() *state {
	c := *s
	c.Events = slices.Clone(s.Events)
	c.nodes = slices.Clone(s.nodes)
	c.conds = slices.Clone(s.conds)
	c.regs = slices.Clone(s.regs)
	c.jumps = slices.Clone(s.jumps)
	return &c
}

func (s *state) read(o operand) register {
	if o.reg < 0 {
		return register{v: constant(o.k)}
	}
	return s.regs[o.reg]
}

// pathMem is memory for the events of a test's paths, used again for the next
// test. The paths of a judgement end with it.
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
	return s
}

// run follows a path to its end; forks are followed first.
func (w *walker) run(s *state) {
	for s.pc < len(w.th.code) {
		if w.err != nil || w.needDomain {
			return
		}
		if len(s.Events)+2 > maxThreadEvents || len(s.nodes) > maxNodes || w.steps > maxSteps {
			w.err = fmt.Errorf("thread %s is too long to be judged: more than %d events on a path, or too many paths", w.p.Test.Threads[w.id].Name, maxThreadEvents)
			return
		}
		w.steps++
		if !w.step(s) {
			return
		}
	}
	w.finish(s)
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

// step executes one instruction; false ends the path.
func (w *walker) step(s *state) bool {
	in := &w.th.code[s.pc]
	op := in.in.Op
	if op == litmus.OpBra {
		return w.branch(s, in)
	}
	if in.guard >= 0 {
		pure := !op.IsAccess() && !op.IsFence() && op != litmus.OpBar
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
	default:
		w.pure(s, in, false)
	}
	s.pc++
	return true
}

// skip passes a guarded instruction that is not executed. Its destination
// depends on the guard all the same.
func (s *state) skip(in *instr, deps uint64) {
	if in.dst >= 0 {
		s.regs[in.dst].deps |= deps
	}
	s.pc++
}

// decide makes a truth value: true if v != 0 equals want. Where v is not
// known, other is followed on a copy in which it is not, and true returned.
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

// push adds an event and returns its number.
func (s *state) push(w *walker, e Event, in *instr) int {
	e.Thread, e.Instr, e.Partner = int16(w.id), int16(s.pc), -1
	if e.Kind == Fence || e.Kind == Barrier {
		e.Loc, e.VLoc = -1, -1
	}
	e.ctrl = s.ctrl
	if in.guard >= 0 {
		e.ctrl |= s.regs[in.guard].deps
	}
	s.Events = append(s.Events, e)
	return len(s.Events) - 1
}

func (w *walker) barrier(s *state, in *instr) bool {
	b := &in.in.Barrier
	e := Event{Kind: Barrier, Arrive: b.Arrive, Scope: litmus.ScopeCTA}
	key := in.src[0]
	if b.Resource.Kind != litmus.OperandNone {
		key = in.src[1]
	}
	id, q := s.read(key).v, s.read(in.src[2]).v
	if !id.isConst() || !q.isConst() {
		w.err = posError(in.in.Pos, "the number or the thread count of a barrier depends on a value read from memory")
		return false
	}
	e.BarID = id.k
	if b.Quorum.Kind != litmus.OperandNone {
		e.Quorum = q.k
		if q.k <= 0 {
			w.err = posError(in.in.Pos, "a barrier for %d threads", q.k)
			return false
		}
	}
	s.push(w, e, in)
	s.pc++
	return true
}

// access makes the events of ld, st, atom and red. An address that depends on
// values forks once for every location it can be.
func (w *walker) access(s *state, in *instr) bool {
	a := s.read(in.addr)
	if off := in.in.Addr.Offset; off != 0 {
		a.v = s.build(node{op: nodeArith, sub: uint8(litmus.OpAdd), typ: litmus.S64, a: a.v, b: constant(off), c: constant(0)})
	}
	if a.v.isConst() {
		return w.perform(s, in, a.v.k, a.deps)
	}
	addrs, ok := w.addresses(s, a.v)
	if !ok || len(addrs) == 0 {
		return false
	}
	for _, k := range addrs[1:] {
		f := s.clone()
		f.conds = append(f.conds, cond{a.v, k, true})
		if w.perform(f, in, k, a.deps) {
			w.run(f)
		}
	}
	s.conds = append(s.conds, cond{a.v, addrs[0], true})
	return w.perform(s, in, addrs[0], a.deps)
}

// addresses lists the values of v over the values that its reads can have.
func (w *walker) addresses(s *state, v value) (list []int64, ok bool) {
	if w.dom == nil {
		w.needDomain = true
		return nil, false
	}
	ok = w.each(&s.Path, v, func(k int64) {
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	})
	if !ok {
		w.err = fmt.Errorf("an address of thread %s depends on too many values", w.p.Test.Threads[w.id].Name)
	}
	slices.Sort(list)
	return list, ok
}

// each calls f with v over all values of the reads it mentions; false if they
// are too many.
func (w *walker) each(p *Path, v value, f func(int64)) bool {
	sup := p.support(v)
	var vals [maxThreadEvents]int64
	n := 1
	for m := sup; m != 0; m &= m - 1 {
		d := len(w.dom[p.Events[bits.TrailingZeros64(m)].Loc])
		if n *= d; n > maxProduct {
			return false
		}
	}
	if w.budget != nil {
		if *w.budget -= n * (int(v.node) + 2); *w.budget < 0 {
			return false
		}
	}
	for i := range n {
		for m, q := sup, i; m != 0; m &= m - 1 {
			r := bits.TrailingZeros64(m)
			d := w.dom[p.Events[r].Loc]
			vals[r], q = d[q%len(d)], q/len(d)
		}
		k, _ := p.eval(v, sup, vals[:], &w.buf)
		f(k)
	}
	return true
}

// perform makes the events of an access to an address.
func (w *walker) perform(s *state, in *instr, addr int64, deps uint64) bool {
	l := w.p.at(addr)
	if l < 0 {
		s.Fault = fmt.Sprintf("%s: %s accesses address %#x, which is no location", in.in.Pos, in.in, addr)
		w.finish(s)
		return false
	}
	op, t := in.in.Op, in.in.Type
	e := Event{Loc: w.p.locs[l].root, VLoc: w.p.locs[l].virt, Proxy: w.p.locs[l].proxy, addr: deps}
	src := s.read(in.src[0])
	old := value{node: -1}
	r := -1
	if op != litmus.OpSt {
		e.Kind = Read
		e.access(in.in)
		r = s.push(w, e, in)
		old = s.build(node{op: nodeRead, sub: uint8(r), typ: t})
		s.Events[r].val = old
	}
	if op != litmus.OpLd {
		e.Kind = Write
		e.access(in.in)
		i := s.push(w, e, in)
		ev := &s.Events[i]
		ev.data = src.deps
		if op == litmus.OpSt {
			ev.val = s.fitted(src.v, t)
		} else {
			b := s.read(in.src[1])
			ev.data |= b.deps | 1<<r
			if in.in.Atom == litmus.AtomExch {
				ev.data = src.deps
			}
			ev.val = s.atomic(in, old, src.v, b.v)
			ev.Partner, s.Events[r].Partner = int16(r), int16(i)
		}
	}
	if in.dst >= 0 && r >= 0 {
		s.regs[in.dst] = register{old, 1 << r}
	}
	s.pc++
	return true
}

// atomic is the value that an atomic writes; an exchange does not depend on
// what it read.
func (s *state) atomic(in *instr, old, b, c value) value {
	if in.in.Atom == litmus.AtomExch {
		return s.fitted(b, in.in.Type)
	}
	return s.build(node{op: nodeAtom, sub: uint8(in.in.Atom), typ: in.in.Type, a: old, b: b, c: c})
}
