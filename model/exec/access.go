package exec

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/litmus"
)

// push adds an event and returns its number.
func (s *state) push(w *walker, e Event, in *instr) int {
	e.Thread, e.Instr, e.Partner = int16(w.id), int16(s.pc), -1
	if e.Kind != Read && e.Kind != Write {
		e.Loc, e.VLoc = -1, -1
	}
	e.ctrl = s.ctrl
	if in.guard >= 0 {
		e.ctrl |= s.regs[in.guard].deps
	}
	s.Events = append(s.Events, e)
	return len(s.Events) - 1
}

// warpSize is the number of threads of a warp: the unit in which barriers count.
// Only those with a resource, which PTX does not have, count threads of the test.
const warpSize = 32

// mayWait reports whether a thread can wait at a barrier forever: only if there is a thread
// count, or more than one barrier.
func (p *Program) mayWait() bool {
	var first *litmus.Operand
	for t := range p.threads {
		for i := range p.threads[t].code {
			in := p.threads[t].code[i].in
			if f := in.Async; f != nil && (f.Kind == litmus.BarReduce || f.Kind == litmus.WarpBarrier) {
				id := litmus.Const(in.Src[0].Value + map[bool]int64{true: 1 << 32}[f.Kind == litmus.WarpBarrier])
				if first != nil && *first != id {
					return true
				}
				first = &id
			}
			if in.Op != litmus.OpBar {
				continue
			}
			id := &in.Barrier.ID
			if in.Barrier.Resource.Kind != litmus.OperandNone {
				id = &in.Barrier.Resource
			}
			if in.Barrier.Quorum.Kind != litmus.OperandNone || id.Kind != litmus.OperandConst || first != nil && *first != *id {
				return true
			}
			first = id
		}
	}
	return false
}

// barriers reports whether a thread comes to a barrier.
func (p *Program) barriers() bool {
	return slices.ContainsFunc(p.threads, func(th thread) bool {
		return slices.ContainsFunc(th.code, func(in instr) bool { return in.in.Op == litmus.OpBar || in.meet != nil })
	})
}

// barrier adds the event of a barrier. A number, or a count of threads, that depends on values
// forks once for each that it can be.
func (w *walker) barrier(s *state, in *instr) bool {
	b := &in.in.Barrier
	key := in.src[0]
	if b.Resource.Kind != litmus.OperandNone {
		key = in.src[1]
	}
	id, quorum := s.read(key), s.read(in.src[2])
	e := Event{Kind: Barrier, Arrive: b.Arrive, Scope: litmus.ScopeCTA, addr: id.deps | quorum.deps}
	return w.settle(s, id.v, func(s *state, id int64) bool {
		return w.settle(s, quorum.v, func(s *state, quorum int64) bool {
			e.BarID = id
			return w.arrive(s, in, e, quorum)
		})
	})
}

// arrive adds the event of a barrier with a known number and count of threads.
func (w *walker) arrive(s *state, in *instr, e Event, quorum int64) bool {
	b := in.in.Barrier
	counts := b.Quorum.Kind != litmus.OperandNone
	number := &b.ID
	if b.Resource.Kind != litmus.OperandNone {
		number = &b.Resource
	}
	if *number = litmus.Const(e.BarID); counts {
		b.Quorum = litmus.Const(quorum)
	}
	if why := w.p.Test.Dialect.IllegalBarrier(&b); why != "" {
		s.Fault = fmt.Sprintf("%s: %s: %s", in.in.Pos, in.in, why)
		w.finish(s)
		return false
	}
	if counts {
		e.Quorum = quorum
		if e.Warps = b.Resource.Kind == litmus.OperandNone; e.Warps {
			e.Quorum = (quorum + warpSize - 1) / warpSize
		}
	}
	s.push(w, e, in)
	if w.waits && !b.Arrive {
		f := s.clone()
		f.Waits = true
		w.finish(f)
	}
	s.pc++
	return w.err == nil
}

// access adds the events of ld, st, atom and red. An address that depends on values forks once
// for every location it can be.
func (w *walker) access(s *state, in *instr) bool {
	a := s.read(in.addr)
	if off := in.in.Addr.Offset; off != 0 {
		a.v = s.build(node{op: nodeArith, sub: uint8(litmus.OpAdd), typ: litmus.S64, a: a.v, b: constant(off), c: constant(0)})
	}
	return w.settle(s, a.v, func(s *state, k int64) bool { return w.perform(s, in, k, a.deps) })
}

// settle makes a value known: it goes on once for each number that v can be, on copies of the path but
// for the first, which its caller follows if settle returns true.
func (w *walker) settle(s *state, v value, then func(*state, int64) bool) bool {
	if v.isConst() {
		return then(s, v.k)
	}
	numbers, ok := w.numbers(s, v)
	if !ok || len(numbers) == 0 {
		return false
	}
	for _, k := range numbers[1:] {
		f := s.clone()
		f.conds = append(f.conds, cond{v, k, true})
		if then(f, k) {
			w.run(f)
		}
	}
	s.conds = append(s.conds, cond{v, numbers[0], true})
	return then(s, numbers[0])
}

// numbers lists the values of v over the values that its reads can have.
func (w *walker) numbers(s *state, v value) (list []int64, ok bool) {
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
		w.err = fmt.Errorf("an address or a barrier of thread %s depends on too many values", w.p.Test.Threads[w.id].Name)
	}
	slices.Sort(list)
	return list, ok
}

// each calls f with v over all values of the reads it mentions; it returns false if they are
// too many.
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

// perform adds the events of an access to an address.
func (w *walker) perform(s *state, in *instr, addr int64, deps uint64) bool {
	op, t := in.in.Op, in.in.Type
	l, off := w.p.at(addr)
	from, to := int16(0), int16(0)
	if l >= 0 {
		from, to = w.p.within(l, off, int64(t.Bits()/8))
	}
	if from >= to {
		s.Fault = fmt.Sprintf("%s: %s accesses address %#x, which is no location", in.in.Pos, in.in, addr)
		w.finish(s)
		return false
	}
	if len(s.Events)+2*int(to-from) > maxThreadEvents {
		w.tooLong()
		return false
	}
	if in.in.Part == 0 {
		s.access = len(s.Events) + 1
	}
	if word := in.in.Word; word != nil && word.Whole && op == litmus.OpAtom {
		return w.whole(s, l, off, deps)
	}
	src, next := s.read(in.src[0]), s.read(in.src[1])
	elem, n := t.Elements()
	width := int64(elem.Bits() / 8)
	var old register
	for i := range int64(n) {
		a := access{in: in, typ: elem, loc: &w.p.locs[l], off: off + i*width}
		a.from, a.to = w.p.within(l, a.off, width)
		a.e = Event{Proxy: a.loc.proxy, Bits: int16(elem.Bits()), Off: int16(a.off), Op: s.ops, addr: deps}
		if word := in.in.Word; word != nil {
			a.word(word)
		}
		r := w.element(s, &a, s.shift(src, -8*i*width), next)
		r = s.shift(r, 8*i*width)
		if old.deps |= r.deps; i == 0 {
			old.v = r.v
			continue
		}
		old.v = s.build(node{op: nodeArith, sub: uint8(litmus.OpOr), typ: litmus.U64, a: old.v, b: r.v, c: constant(0)})
	}
	if in.dst >= 0 && op != litmus.OpSt {
		s.regs[in.dst] = old
	}
	s.pc++
	return true
}

// whole adds the events of a read-modify-write of several registers, which is one operation: all is read before anything is written.
func (w *walker) whole(s *state, l int, off int64, deps uint64) bool {
	if len(s.Events)+16 > maxThreadEvents {
		w.tooLong()
		return false
	}
	code := w.th.code[s.pc:]
	parts := make([]access, code[0].in.Word.Parts)
	olds, first := make([]register, len(parts)), int16(len(s.Events))
	same, data := constant(1), uint64(0)
	width := int64(code[0].in.Type.Bits() / 8)
	for k := range parts {
		a := &parts[k]
		*a = access{in: &code[k], typ: code[k].in.Type, loc: &w.p.locs[l], off: off + int64(k)*width}
		a.from, a.to = w.p.within(l, a.off, width)
		a.e = Event{Proxy: a.loc.proxy, Bits: int16(len(parts) * a.typ.Bits()), Off: int16(off), Op: s.ops, Group: int16(s.access), addr: deps}
		olds[k] = w.reads(s, a)
		if a.in.in.Atom == litmus.AtomCAS {
			was := s.read(a.in.src[0])
			equal := s.build(node{op: nodeCmp, sub: uint8(litmus.CmpEq), typ: litmus.U64, a: olds[k].v, b: was.v, c: constant(0)})
			same = s.build(node{op: nodeArith, sub: uint8(litmus.OpAnd), typ: litmus.U64, a: same, b: equal, c: constant(0)})
			data |= olds[k].deps | was.deps
		}
	}
	n := int16(len(s.Events)) - first
	for k := range parts {
		a := &parts[k]
		v := s.read(a.in.src[max(len(a.in.in.Src)-1, 0)])
		v.deps |= data
		if a.in.in.Atom == litmus.AtomCAS {
			v.v = s.build(node{op: nodeSel, typ: a.typ, a: v.v, b: olds[k].v, c: same})
		}
		w.writes(s, a, v)
		if a.in.dst >= 0 {
			s.regs[a.in.dst] = olds[k]
		}
	}
	for r := first; r < first+n; r++ {
		s.Events[r].Partner, s.Events[r+n].Partner = r+n, r
	}
	s.ops++
	s.pc += len(parts)
	return true
}

// word sets what the word of an access says of its event.
func (a *access) word(w *litmus.Word) {
	if w.Instr.Proxy != litmus.ProxyNone {
		a.e.Proxy = w.Instr.Proxy
	}
	if part := int16(a.in.in.Part); w.Whole {
		a.e.Bits, a.e.Off = 128, a.e.Off-8*part
		a.e.Op -= min(part, 1)
	}
}

// shift moves the value of a register by a number of bits, to the right if it is negative.
func (s *state) shift(r register, n int64) register {
	op := litmus.OpShl
	if n < 0 {
		op, n = litmus.OpShr, -n
	}
	if n != 0 {
		r.v = s.build(node{op: nodeArith, sub: uint8(op), typ: litmus.U64, a: r.v, b: constant(n), c: constant(0)})
	}
	return r
}

// element adds the events of one operation: all of an access, but for packed types. It returns what it reads.
func (w *walker) element(s *state, a *access, src, next register) (old register) {
	op, t := a.in.in.Op, a.typ
	s.ops = a.e.Op + 1
	a.e.Group = int16(s.access)
	first := int16(len(s.Events))
	if op != litmus.OpSt {
		old = w.reads(s, a)
	}
	if op != litmus.OpLd {
		v, data := s.fitted(src.v, t), src.deps
		if op != litmus.OpSt {
			if t == litmus.F32 && a.loc.space == litmus.Global {
				next.v = constant(1) // flushes
			}
			if a.in.in.Atom != litmus.AtomExch {
				data |= next.deps | old.deps
			}
			v = s.atomic(a, old.v, src.v, next.v)
		}
		w.writes(s, a, register{v, data})
	}
	if op != litmus.OpSt && op != litmus.OpLd {
		for k := range a.to - a.from {
			r, x := first+k, first+a.to-a.from+k
			s.Events[r].Partner, s.Events[x].Partner = x, r
		}
	}
	return old
}

// access is an operation on the cells from to to of a location, at off.
type access struct {
	in       *instr
	typ      litmus.Type
	loc      *location
	off      int64
	from, to int16
	e        Event // what its parts have in common
}

// push adds the event of a cell.
func (a *access) push(w *walker, s *state, k int16) int {
	e := a.e
	e.Loc, e.VLoc = w.p.locs[a.loc.root].first+k, w.p.locs[a.loc.virt].first+k
	return s.push(w, e, a.in)
}

// reads adds the events of a read, and returns what it reads.
func (w *walker) reads(s *state, a *access) (out register) {
	a.e.Kind = Read
	a.e.access(a.in.in)
	t := a.typ
	out.v = constant(0)
	for k := a.from; k < a.to; k++ {
		r := a.push(w, s, k)
		n := node{op: nodeRead, sub: uint8(r), typ: t}
		if a.to-a.from > 1 {
			n.typ = w.p.cells[a.loc.first+k].typ()
		}
		v := s.build(n)
		s.Events[r].val = v
		out.deps |= 1 << r
		if a.to-a.from == 1 {
			out.v = v
			break
		}
		out.v = s.join(out.v, v, &w.p.cells[a.loc.first+k], a.off)
	}
	if a.to-a.from > 1 {
		out.v = s.fitted(out.v, t)
	}
	return out
}

// writes adds the events of a write.
func (w *walker) writes(s *state, a *access, v register) {
	a.e.Kind = Write
	a.e.access(a.in.in)
	for k := a.from; k < a.to; k++ {
		i := a.push(w, s, k)
		ev := &s.Events[i]
		ev.val, ev.data = v.v, v.deps
		if a.to-a.from > 1 {
			ev.val = s.part(v.v, &w.p.cells[a.loc.first+k], a.off)
		}
	}
}

// atomic returns the value that an atomic writes; an exchange does not depend on
// what it read.
func (s *state) atomic(a *access, old, b, c value) value {
	if a.in.in.Atom == litmus.AtomExch {
		return s.fitted(b, a.typ)
	}
	return s.build(node{op: nodeAtom, sub: uint8(a.in.in.Atom), typ: a.typ, a: old, b: b, c: c})
}
