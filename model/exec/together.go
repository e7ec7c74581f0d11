package exec

import (
	"math"

	"optcheck/litmus"
)

// What threads perform together: reductions at barriers, and operations of the lanes of a warp.
//
// Each thread writes its value to a place of its own, which nothing else accesses, and reads those of the others: the
// events of kind Write and Read with Passes set. A read gets what was written and not what was there before, and so
// comes after it, but nothing is ordered by that: both are weak. A barrier between orders memory, where there is one.

// noValue is what is in such a place before its thread comes.
const noValue = math.MinInt64 + 0x5eed

// meeting is what an operation of several threads has.
type meeting struct {
	slot  int16   // location of the own value
	lanes []int   // lanes of those who take part, in order
	slots []int16 // their places
	own   int     // which of them the thread is
}

// meetings adds the places of values, behind the locations of the test.
func (p *Program) meetings() {
	t := p.Test
	slots := map[[2]int]int16{}
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			if f := t.Threads[i].Body[j].Async; f != nil && f.Together() {
				l := int16(len(p.locs))
				slots[[2]int{i, j}] = l
				p.locs = append(p.locs, location{name: "value of " + t.Threads[i].Name, root: l, virt: l, proxy: litmus.ProxyGeneric, space: litmus.Shared, init: noValue, of: -1, size: 8})
			}
		}
	}
	p.whole()
	for at, slot := range slots {
		m := &meeting{slot: slot}
		for u, j := range t.Meeting(at[0], at[1]) {
			if j < 0 {
				continue
			}
			if u == at[0] {
				m.own = len(m.lanes)
			}
			m.lanes, m.slots = append(m.lanes, t.Lane(u)), append(m.slots, slots[[2]int{u, j}])
		}
		p.threads[at[0]].code[at[1]].meet = m
	}
}

// chosen goes on once for each of n choices, on copies of the path but for the first.
func (w *walker) chosen(s *state, n int, then func(*state, int) bool) bool {
	for i := 1; i < n; i++ {
		f := s.clone()
		if then(f, i) {
			w.run(f)
		}
	}
	return n > 0 && then(s, 0)
}

// together carries out an operation of several threads.
func (w *walker) together(s *state, in *instr) bool {
	m, f := in.meet, in.in.Async
	if m == nil || len(s.Events)+2*len(m.lanes)+2 > maxThreadEvents {
		w.tooLong()
		return false
	}
	switch f.Kind {
	case litmus.WarpActive: // whichever lanes happen to be there, the own one among them
		return w.chosen(s, 1<<(len(m.lanes)-1), func(s *state, set int) bool {
			mask := int64(1) << m.lanes[m.own]
			for k := range m.lanes {
				if bit := k - int(b2i(k > m.own)); k != m.own && set>>bit&1 == 1 {
					mask |= 1 << m.lanes[k]
				}
			}
			return w.met(s, in, register{v: constant(mask)})
		})
	case litmus.WarpElect: // one of the lanes, for all of them the same
		return w.chosen(s, len(m.lanes), func(s *state, leader int) bool {
			vals, ok := w.pass(s, in, register{v: constant(int64(leader))})
			for k := range vals {
				if k != m.own {
					s.conds = append(s.conds, cond{vals[k].v, int64(leader), true})
				}
			}
			return ok && w.met(s, in, register{v: constant(b2i(leader == m.own))})
		})
	}
	var own register
	for i, c := range f.Operands[len(f.Operands)-len(in.in.Src):] {
		if own = s.read(in.src[i]); c == 'p' {
			own.v = s.build(node{op: nodeCmp, sub: uint8(litmus.CmpNe), typ: litmus.S64, a: own.v, b: constant(0), c: constant(0)})
		}
		if c == 'p' || c == 'v' {
			break
		}
	}
	if f.Type != litmus.Pred && f.Type != litmus.TypeNone {
		own.v = s.fitted(own.v, f.Type)
	}
	vals, ok := w.pass(s, in, own)
	return ok && w.met(s, in, s.reduced(in, vals))
}

// met writes the result, and goes on.
func (w *walker) met(s *state, in *instr, r register) bool {
	if in.dst >= 0 {
		s.regs[in.dst] = r
	}
	s.pc++
	return w.err == nil
}

// pass adds the events by which a value is passed, with the barrier that there is between, and returns the values of all.
func (w *walker) pass(s *state, in *instr, own register) (vals []register, ok bool) {
	m, f := in.meet, in.in.Async
	e := Event{Kind: Write, Sem: litmus.SemWeak, Proxy: litmus.ProxyGeneric, Bits: 64, Passes: true, Op: s.ops, data: own.deps}
	s.ops++
	at := func(slot int16) int16 { return w.p.locs[slot].first }
	if f.Kind != litmus.WarpBarrier {
		e.Loc, e.VLoc = at(m.slot), at(m.slot)
		x := s.push(w, e, in)
		s.Events[x].val = own.v
	}
	if f.Kind == litmus.WarpBarrier || f.Kind == litmus.BarReduce {
		b := Event{Kind: Barrier, Scope: litmus.ScopeCTA}
		if b.BarID = in.src[0].k; f.Kind == litmus.WarpBarrier {
			b.BarID, b.Quorum = 1<<56|int64(w.th.place.Warp)<<32|int64(in.in.Mask()), int64(len(m.lanes))
		}
		s.push(w, b, in)
		if w.waits {
			stays := s.clone()
			stays.Waits = true
			w.finish(stays)
		}
		if f.Kind == litmus.WarpBarrier {
			return nil, true
		}
	}
	for k, slot := range m.slots {
		if k == m.own {
			vals = append(vals, own)
			continue
		}
		e.Kind, e.data, e.Op = Read, 0, s.ops
		e.Loc, e.VLoc = at(slot), at(slot)
		s.ops++
		r := s.push(w, e, in)
		v := s.build(node{op: nodeRead, sub: uint8(r), typ: litmus.S64})
		s.Events[r].val = v
		s.conds = append(s.conds, cond{v, noValue, false})
		vals = append(vals, register{v, 1 << r})
	}
	return vals, true
}

// reduced is what an operation makes of the values of its threads.
func (s *state) reduced(in *instr, vals []register) (out register) {
	f, m, zero := in.in.Async, in.meet, constant(0)
	if f.Kind == litmus.WarpShuffle {
		from := in.in.From(m.lanes[m.own])
		for k, lane := range m.lanes {
			if lane == from {
				return vals[k]
			}
		}
		return register{v: zero}
	}
	arith := func(op litmus.Op, t litmus.Type, a, b value) value {
		return s.build(node{op: nodeArith, sub: uint8(op), typ: t, a: a, b: b, c: zero})
	}
	same := func(a, b value) value {
		return s.build(node{op: nodeCmp, sub: uint8(litmus.CmpEq), typ: litmus.S64, a: a, b: b, c: zero})
	}
	all := constant(1)
	for k, x := range vals {
		v := x.v
		switch f.Group {
		case litmus.GroupBallot:
			v = arith(litmus.OpShl, litmus.U32, v, constant(int64(m.lanes[k])))
		case litmus.GroupAny:
			v = arith(litmus.OpShl, litmus.U32, same(v, vals[m.own].v), constant(int64(m.lanes[k])))
		case litmus.GroupAll, litmus.GroupUni:
			all = arith(litmus.OpAnd, litmus.S64, all, same(v, vals[0].v))
			v = constant(1 << m.lanes[k])
		}
		if out.deps |= x.deps; k == 0 {
			out.v = v
			continue
		}
		switch f.Group {
		case litmus.GroupPopc, litmus.GroupAdd:
			out.v = arith(litmus.OpAdd, wide(f), out.v, v)
		case litmus.GroupAnd:
			out.v = arith(litmus.OpAnd, wide(f), out.v, v)
		case litmus.GroupXor:
			out.v = arith(litmus.OpXor, wide(f), out.v, v)
		case litmus.GroupMin, litmus.GroupMax:
			op := map[litmus.Group]litmus.AtomOp{litmus.GroupMin: litmus.AtomMin, litmus.GroupMax: litmus.AtomMax}[f.Group]
			out.v = s.build(node{op: nodeAtom, sub: uint8(op), typ: f.Type, a: out.v, b: v, c: zero})
		default:
			out.v = arith(litmus.OpOr, wide(f), out.v, v)
		}
	}
	switch f.Group {
	case litmus.GroupUni:
		out.v = all
	case litmus.GroupAll:
		out.v = s.build(node{op: nodeSel, typ: litmus.U32, a: out.v, b: zero, c: all})
	}
	return out
}

// wide is the type in which a result is computed.
func wide(f *litmus.AsyncForm) litmus.Type {
	if f.To == litmus.Pred || f.To == litmus.TypeNone {
		return litmus.S64
	}
	return f.To
}

// reduces adds the events of a reduction of a bulk copy: for each element a read of the source, and a relaxed operation at
// the target (PTX ISA, cp.reduce.async.bulk: each has .relaxed.gpu; the loads are weak), all through the async proxy.
func (w *walker) reduces(s *state, in *instr, issue int16, to, from extent, c *copied) {
	f := in.in.Async
	width, flush := int64(f.Type.Bits()/8), constant(0)
	if f.Type == litmus.F32 {
		flush = constant(1) // PTX ISA, cp.reduce.async.bulk: of .add.f32 subnormal operands and sums are zeros
	}
	for i := range in.in.Bytes() / width {
		a, _ := w.moved(in.addr, in.in.Addr.Offset+i*width, width)
		b, _ := w.moved(in.more[0], in.in.More[0].Offset+i*width, width)
		e := Event{Kind: Read, Sem: litmus.SemWeak, Bits: int16(8 * width), Off: int16(b.off), Async: true, Op: s.ops}
		src, reads := w.cells(s, in, e, b)
		e.Sem, e.Scope, e.Red, e.Off, e.Op = f.Sem, f.Scope, true, int16(a.off), s.ops+1
		s.ops += 2
		old, olds := w.cells(s, in, e, a)
		v := s.build(node{op: nodeAtom, sub: uint8(f.Atom), typ: f.Type, a: s.fitted(old.v, f.Type), b: s.fitted(src.v, f.Type), c: flush})
		e.Kind = Write
		for k := range a.n() {
			e.Loc, e.VLoc = a.cell(w, k)
			x := w.agent(s, e, in)
			s.Events[x].val, s.Events[x].data = s.part(v, &w.p.cells[e.Loc], a.off), src.deps|old.deps
			s.Events[x].Partner, s.Events[olds[k]].Partner = olds[k], x
			for _, r := range append(reads, olds...) {
				s.order(r, x)
			}
			c.writes = append(c.writes, x)
		}
		for _, r := range append(reads, olds...) {
			s.order(issue, r)
		}
		c.reads = append(c.reads, reads...)
	}
}

// cells adds the events of a read that another thread performs as if.
func (w *walker) cells(s *state, in *instr, e Event, at extent) (out register, events []int16) {
	out.v = constant(0)
	for k := range at.n() {
		e.Loc, e.VLoc = at.cell(w, k)
		r := w.agent(s, e, in)
		part := s.build(node{op: nodeRead, sub: uint8(r), typ: w.p.cells[e.Loc].typ()})
		s.Events[r].val = part
		out.v, out.deps = s.join(out.v, part, &w.p.cells[e.Loc], at.off), out.deps|1<<r
		events = append(events, r)
	}
	return out, events
}
