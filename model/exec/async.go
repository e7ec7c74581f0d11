package exec

import (
	"fmt"

	"optcheck/litmus"
)

// Asynchronous operations (PTX ISA, Asynchronous Operations, Async proxy, mbarrier).
//
// A copy has an event where it is issued, which is in program order, and one for each cell that it
// reads and writes, which are not: they are performed as if by another thread, after the issue, the
// writes after the reads. A bulk copy goes through the async proxy, a fence between the proxies
// follows it, and then the completion, which releases, as one of an mbarrier, or ends with the wait
// for its group. The relation async has these orders.

// Role is what an event of kind Sync does.
type Role uint8

// The roles.
const (
	NoRole        Role = iota
	MbArrive           // Count arrivals, and Bytes that are expected
	MbComplete         // Bytes have been copied: negative
	MbWait             // sees that a phase is complete
	ClusterArrive      // arrives at the barrier of the cluster
	ClusterWait
)

// copied are the events of a copy on a path.
type copied struct {
	reads, writes []int16
	done          int16 // what follows all: -1 if there is nothing
	group         int   // number of its group
	bulk          bool
}

// order adds a pair to the relation async.
func (s *state) order(a, b int16) { s.async = append(s.async, [2]int16{a, b}) }

// agent adds an event that another thread performs as if.
func (w *walker) agent(s *state, e Event, in *instr) int16 {
	e.Agent = true
	return int16(s.push(w, e, in))
}

// asynchronous carries out an instruction with OpAsync.
func (w *walker) asynchronous(s *state, in *instr) bool {
	f := in.in.Async
	e := Event{Kind: Sync, Sem: f.Sem, Scope: f.Scope, Proxy: litmus.ProxyGeneric, Obj: -1, Token: -1, Parity: -1}
	if len(s.Events)+16 > maxThreadEvents && !f.Together() {
		w.tooLong()
		return false
	}
	if len(f.Operands) > 0 && f.Operands[0] == 'a' || len(f.Operands) > 1 && f.Operands[1] == 'a' {
		e.Obj = int16(w.object(in.addr))
	}
	switch f.Kind {
	case litmus.BarReduce, litmus.WarpBarrier, litmus.WarpShuffle, litmus.WarpVote, litmus.WarpMatch, litmus.WarpReduce,
		litmus.WarpActive, litmus.WarpElect:
		return w.together(s, in)
	case litmus.AsyncCopy, litmus.BulkCopy, litmus.BulkReduce:
		if !w.copies(s, in) {
			return false
		}
	case litmus.AsyncCommit:
		s.groups[0]++
	case litmus.BulkCommit:
		s.groups[1]++
	case litmus.AsyncWait, litmus.BulkWait:
		w.waitGroups(s, in)
	case litmus.AsyncCopyArrive:
		e.Role, e.Sem, e.Scope = MbArrive, litmus.SemRelease, litmus.ScopeCTA
		if f.NoInc {
			e.Count = 1
		}
		issue := int16(s.push(w, Event{Kind: Issue}, in))
		a := w.agent(s, e, in)
		s.order(issue, a)
		for _, c := range s.copies {
			if !c.bulk {
				s.afterCopy(c, a)
			}
		}
	case litmus.StoreAsync, litmus.ReduceAsync:
		if !w.stores(s, in) {
			return false
		}
	case litmus.MbarArrive, litmus.MbarExpect, litmus.MbarComplete:
		e.Role = MbArrive
		switch n := w.constant(in, 0, 1); {
		case f.Kind == litmus.MbarComplete:
			e.Bytes = -n
		case f.Kind == litmus.MbarExpect:
			e.Bytes = n
		case f.Expect:
			e.Count, e.Bytes = 1, n
		default:
			e.Count = n
		}
		e.Drop = f.Drop
		i := s.push(w, e, in)
		if in.dst >= 0 {
			s.regs[in.dst] = register{v: constant(tokenBase + int64(i))}
		}
	case litmus.MbarWait:
		return w.waitPhase(s, in, e)
	case litmus.ClusterArrive, litmus.ClusterWait:
		if e.Role = ClusterArrive; f.Kind == litmus.ClusterWait {
			e.Role = ClusterWait
		}
		s.push(w, e, in)
	case litmus.AsyncProxyFence:
		s.push(w, Event{Kind: Fence, Async: true, Only: f.Only}, in)
	case litmus.RestrictedFence:
		s.push(w, Event{Kind: Fence, Sem: f.Sem, Scope: f.Scope, Proxy: litmus.ProxyGeneric, Only: f.Only}, in)
	case litmus.OneWayProxyFence:
		s.push(w, Event{Kind: Fence, OneWay: f.Sem, Only: f.Only}, in)
	case litmus.InitFence, litmus.GridControl:
		s.push(w, Event{Kind: Issue}, in)
	}
	s.pc++
	return true
}

// tokenBase makes the tokens of phases, which mbarrier.arrive returns, other numbers than those of tests.
const tokenBase = 1 << 40

func (w *walker) constant(in *instr, i int, otherwise int64) int64 {
	if i < len(in.in.Src) {
		return in.src[i].k
	}
	return otherwise
}

// object is the location at a known address.
func (w *walker) object(o operand) int {
	l, _ := w.p.at(w.constantAddress(o))
	return l
}

func (w *walker) constantAddress(o operand) int64 {
	if o.reg >= 0 {
		return w.th.init[o.reg]
	}
	return o.k
}

// waitPhase goes on with both answers of a wait: false says nothing.
func (w *walker) waitPhase(s *state, in *instr, e Event) bool {
	e.Role = MbWait
	if in.in.Async.Parity {
		e.Parity = int8(in.src[0].k & 1)
	} else {
		t := s.read(in.src[0]).v
		if !t.isConst() || t.k < tokenBase || t.k >= tokenBase+int64(len(s.Events)) {
			s.Fault = fmt.Sprintf("%s: %s waits for a phase whose token no mbarrier.arrive of the thread returned", in.in.Pos, in.in)
			w.finish(s)
			return false
		}
		e.Token = int16(t.k - tokenBase)
	}
	no := s.clone()
	if in.dst >= 0 {
		no.regs[in.dst] = register{v: constant(0)}
	}
	no.pc++
	w.run(no)
	s.push(w, e, in)
	if in.dst >= 0 {
		s.regs[in.dst] = register{v: constant(1)}
	}
	s.pc++
	return true
}

// afterCopy orders an event after a copy.
func (s *state) afterCopy(c copied, e int16) {
	if c.done >= 0 {
		s.order(c.done, e)
		return
	}
	for _, x := range c.reads {
		s.order(x, e)
	}
	for _, x := range c.writes {
		s.order(x, e)
	}
}

// waitGroups orders what follows after the copies of all but the newest groups.
func (w *walker) waitGroups(s *state, in *instr) {
	f := in.in.Async
	i, left := 0, int(w.constant(in, 0, 0))
	if f.Kind == litmus.BulkWait {
		i = 1
	}
	e := int16(s.push(w, Event{Kind: Issue}, in))
	for _, c := range s.copies {
		if c.bulk != (i == 1) || !f.All && c.group >= s.groups[i]-left {
			continue
		}
		if !f.Read {
			s.afterCopy(c, e)
			continue
		}
		for _, x := range c.reads {
			s.order(x, e)
		}
	}
}

// copies adds the events of a copy.
func (w *walker) copies(s *state, in *instr) bool {
	f := in.in.Async
	bulk := f.Kind != litmus.AsyncCopy
	bytes := in.src[0].k
	if bytes <= 0 || bytes > litmus.MaxBytes {
		s.Fault = fmt.Sprintf("%s: %s copies %d bytes; locations have at most %d", in.in.Pos, in.in, bytes, litmus.MaxBytes)
		w.finish(s)
		return false
	}
	c := copied{done: -1, bulk: bulk, group: s.groups[b2i(bulk)]}
	if bulk && len(in.in.More) > 1 {
		c.group = 1 << 30 // no group: an mbarrier
	}
	issue := int16(s.push(w, Event{Kind: Issue}, in))
	to, okTo := w.moved(in.addr, in.in.Addr.Offset, bytes)
	from, okFrom := w.moved(in.more[0], in.in.More[0].Offset, bytes)
	if !okTo || !okFrom || to.n() != from.n() {
		s.Fault = fmt.Sprintf("%s: %s copies from or to outside of a location, or not aligned", in.in.Pos, in.in)
		w.finish(s)
		return false
	}
	e := Event{Sem: litmus.SemWeak, Bits: int16(8 * bytes), Async: bulk, Proxy: litmus.ProxyGeneric, Op: s.ops}
	if bulk {
		e.Proxy = litmus.ProxyNone
	}
	s.ops++
	if f.Kind == litmus.BulkReduce {
		w.reduces(s, in, issue, to, from, &c)
	}
	for k := range to.n() {
		if f.Kind == litmus.BulkReduce {
			break
		}
		e.Kind, e.Off = Read, int16(from.off)
		e.Loc, e.VLoc = from.cell(w, k)
		r := w.agent(s, e, in)
		v := s.build(node{op: nodeRead, sub: uint8(r), typ: w.p.cells[e.Loc].typ()})
		s.Events[r].val = v
		e.Kind, e.Off = Write, int16(to.off)
		e.Loc, e.VLoc = to.cell(w, k)
		x := w.agent(s, e, in)
		s.Events[x].val, s.Events[x].data = v, 1<<r
		s.order(issue, r)
		s.order(issue, x)
		s.order(r, x)
		c.reads, c.writes = append(c.reads, r), append(c.writes, x)
	}
	if bulk {
		fence := w.agent(s, Event{Kind: Fence, Async: true}, in)
		s.afterCopy(c, fence)
		c.done = fence
		if len(in.in.More) > 1 {
			t := w.agent(s, Event{Kind: Sync, Role: MbComplete, Sem: litmus.SemRelease, Scope: litmus.ScopeCluster, Proxy: litmus.ProxyGeneric,
				Obj: int16(w.object(in.more[1])), Bytes: -bytes, Token: -1, Parity: -1}, in)
			s.order(fence, t)
		}
	}
	s.copies = append(s.copies, c)
	return true
}

// stores adds the events of an asynchronous store, or reduction, through the generic proxy: PTX counts neither among the operations of
// the async proxy.
func (w *walker) stores(s *state, in *instr) bool {
	f, n := in.in.Async, int64(len(in.in.Src))
	width := int64(f.Type.Bits() / 8)
	issue := int16(s.push(w, Event{Kind: Issue}, in))
	done := w.agent(s, Event{Kind: Sync, Role: MbComplete, Sem: litmus.SemRelease, Scope: litmus.ScopeCluster, Proxy: litmus.ProxyGeneric,
		Obj: int16(w.object(in.more[0])), Bytes: -width * n, Token: -1, Parity: -1}, in)
	s.order(issue, done)
	for i := range n {
		src := s.read(in.src[i])
		to, ok := w.moved(in.addr, in.in.Addr.Offset+i*width, width)
		if !ok {
			s.Fault = fmt.Sprintf("%s: %s stores outside of a location, or not aligned", in.in.Pos, in.in)
			w.finish(s)
			return false
		}
		e := Event{Sem: f.Sem, Scope: f.Scope, Bits: int16(f.Type.Bits()), Off: int16(to.off), Proxy: litmus.ProxyGeneric, Op: s.ops}
		if s.ops++; f.Sem == litmus.SemNone {
			e.Sem = litmus.SemWeak
		}
		v, data := s.fitted(src.v, f.Type), src.deps
		var reads []int16
		if f.Kind == litmus.ReduceAsync {
			e.Red = true
			old := constant(0)
			for k := range to.n() {
				e.Kind = Read
				e.Loc, e.VLoc = to.cell(w, k)
				r := w.agent(s, e, in)
				part := s.build(node{op: nodeRead, sub: uint8(r), typ: w.p.cells[e.Loc].typ()})
				s.Events[r].val = part
				old = s.join(old, part, &w.p.cells[e.Loc], to.off)
				reads, data = append(reads, r), data|1<<r
				s.order(issue, r)
			}
			v = s.build(node{op: nodeAtom, sub: uint8(f.Atom), typ: f.Type, a: old, b: v, c: constant(0)})
		}
		for k := range to.n() {
			e.Kind = Write
			e.Loc, e.VLoc = to.cell(w, k)
			x := w.agent(s, e, in)
			s.Events[x].val, s.Events[x].data = s.part(v, &w.p.cells[e.Loc], to.off), data
			s.order(issue, x)
			s.order(x, done)
			if len(reads) > 0 {
				s.order(reads[k], x)
				s.Events[x].Partner, s.Events[reads[k]].Partner = reads[k], x
			}
		}
	}
	return true
}

// extent is what a copy moves, as cells of a location.
type extent struct {
	loc      *location
	off      int64
	from, to int16
}

func (x extent) n() int16 { return x.to - x.from }

func (x extent) cell(w *walker, k int16) (loc, vloc int16) {
	return w.p.locs[x.loc.root].first + x.from + k, w.p.locs[x.loc.virt].first + x.from + k
}

func (w *walker) moved(o operand, offset, bytes int64) (extent, bool) {
	l, off := w.p.at(w.constantAddress(o) + offset)
	if l < 0 {
		return extent{}, false
	}
	x := extent{loc: &w.p.locs[l], off: off}
	x.from, x.to = w.p.within(l, off, bytes)
	return x, x.from < x.to
}
