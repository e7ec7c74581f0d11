package cycle

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// RaceFree returns a variant of a test in which conflicting accesses of different threads
// are ordered by synchronisation in every execution: what a program does that hands a
// buffer over and takes it back. The accesses keep kind, strength and program order;
// what is added is
//
//   - guards: a thread goes on after a synchronising read only if it has read the value
//     that the outcome asked for has there, so that data is not touched too early;
//   - acknowledgements: after an access, a release store of 1 to a location of its own, and
//     before the access of another thread that must not come before it, an acquire load
//     and a guard. Two threads that hand one buffer to and fro are a ring.
//
// The order is that of an execution with the outcome that the condition asks for, as far as
// there is one, in which first loads come as early as they can and later ones late: a load
// before a flag's acquire reads what was there before, and a second load of a location
// what has been written since. Threads that fail a guard end; the condition asks for those
// who pass. The name is t's with "+race-free" after it. A test that needs nothing is
// returned with its own name.
//
// It is an error if the test has branches, a barrier after a guard, barriers that threads
// leave never, or addresses that are not known. Whether the result has a data race by the
// PTX model is said by model.PTXRace alone.
func RaceFree(t *litmus.Test) (*litmus.Test, error) {
	a := &acknowledger{t: t.Clone()}
	if err := a.read(); err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	order, err := a.execution()
	if err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	for at, b := range order {
		for _, x := range a.threads {
			a.orderBefore(x, b, order[:at])
		}
	}
	if a.added == 0 {
		return a.t, nil
	}
	if err := a.waits(); err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	a.write()
	a.t.Name += "+race-free"
	if err := a.t.Check(); err != nil {
		return nil, fmt.Errorf("test %s: %w", t.Name, err)
	}
	return a.t, nil
}

// ackNode is an access, fence or barrier of the test.
type ackNode struct {
	thread, at int // position in the thread's body
	in         *litmus.Instr
	loc        string // of an access
	next       []int  // what comes after it in every execution that gets there
	before     []litmus.Instr
	after      []litmus.Instr
}

// syncEdge is synchronisation that the test can have: a release whose value a read
// acquires.
type syncEdge struct {
	release, write, read, acquire int // nodes
	value                         int64
	on                            bool // the read is guarded
}

type acknowledger struct {
	t       *litmus.Test
	nodes   []ackNode
	threads [][]int // nodes in program order
	syncs   []syncEdge
	added   int
	asked   []litmus.Expr // of the registers that guards look at
	guarded []int         // threads with a guard
}

// read finds the nodes and what synchronises them.
func (a *acknowledger) read() error {
	for i := range a.t.Threads {
		th := &a.t.Threads[i]
		var list []int
		for k := range th.Body {
			in := &th.Body[k]
			if in.Op == litmus.OpBra || len(in.Labels) > 0 {
				return errors.New("it has branches")
			}
			if in.Async != nil {
				return errors.New("it has asynchronous operations")
			}
			if !in.IsAccess() && !in.IsFence() && in.Op != litmus.OpBar {
				continue
			}
			n := ackNode{thread: i, at: k, in: in}
			if in.IsAccess() {
				if n.loc = th.AddrLoc(in); n.loc == "" {
					return fmt.Errorf("thread %s: where %s goes is not known", th.Name, in)
				}
				if l := a.t.Location(n.loc); l == nil || l.Alias != "" || in.Proxy != litmus.ProxyNone && in.Proxy != litmus.ProxyGeneric {
					return fmt.Errorf("thread %s: %s goes through an alias or another proxy", th.Name, in)
				}
			}
			if len(list) > 0 {
				p := &a.nodes[list[len(list)-1]]
				p.next = append(p.next, len(a.nodes))
			}
			list = append(list, len(a.nodes))
			a.nodes = append(a.nodes, n)
		}
		a.threads = append(a.threads, list)
	}
	a.barriers()
	for w := range a.nodes {
		for r := range a.nodes {
			if s, ok := a.sync(w, r); ok {
				a.syncs = append(a.syncs, s)
			}
		}
	}
	return nil
}

// barriers orders what surrounds the nth arrival of each thread of a CTA at a barrier.
func (a *acknowledger) barriers() {
	nth := map[int]int{} // node → how many such barriers its thread has met before
	for _, list := range a.threads {
		met := map[int64]int{}
		for _, n := range list {
			if in := a.nodes[n].in; in.Op == litmus.OpBar {
				nth[n] = met[in.Barrier.ID.Value]
				met[in.Barrier.ID.Value]++
			}
		}
	}
	whole := func(in *litmus.Instr) bool {
		b := &in.Barrier
		return in.Op == litmus.OpBar && !b.Arrive && in.Guard == nil && b.ID.Kind == litmus.OperandConst &&
			b.Quorum.Kind == litmus.OperandNone && b.Resource.Kind == litmus.OperandNone
	}
	for x := range a.nodes {
		for y := range a.nodes {
			p, q := &a.nodes[x], &a.nodes[y]
			if p.thread != q.thread && whole(p.in) && whole(q.in) && p.in.Barrier == q.in.Barrier && nth[x] == nth[y] &&
				a.place(x).SameScope(a.place(y), litmus.ScopeCTA) {
				if k := a.follower(y); k >= 0 {
					p.next = append(p.next, k)
				}
			}
		}
	}
}

func (a *acknowledger) place(n int) litmus.Place { return a.t.Threads[a.nodes[n].thread].Place }

// follower returns the node after another one in its thread, -1 if it is the last.
func (a *acknowledger) follower(n int) int {
	if n+1 < len(a.nodes) && a.nodes[n+1].thread == a.nodes[n].thread {
		return n + 1
	}
	return -1
}

// strength returns the order and scope of a node; ok is false for weak accesses and what is
// neither access nor fence.
func (a *acknowledger) strength(n int) (sem litmus.Sem, scope litmus.Scope, ok bool) {
	in := a.nodes[n].in
	sem, scope = in.Sem, in.Scope
	switch {
	case in.Op == litmus.OpBar || in.Op == litmus.OpFenceProxy:
		return sem, scope, false
	case in.Op == litmus.OpMembar:
		sem = litmus.SemSC
	case in.IsFence():
		sem = in.Order()
	case sem == litmus.SemVolatile || sem == litmus.SemMMIO:
		sem, scope = litmus.SemRelaxed, litmus.ScopeSys
	case (sem == litmus.SemNone || sem == litmus.SemWeak) && in.Op != litmus.OpAtom && in.Op != litmus.OpRed:
		return sem, scope, false
	}
	if scope == litmus.ScopeNone {
		scope = litmus.ScopeGPU
	}
	return sem, scope, true
}

// together reports whether two nodes of different threads are strong with scopes that
// include each other.
func (a *acknowledger) together(x, y int) bool {
	_, s, ok := a.strength(x)
	_, u, fine := a.strength(y)
	p, q := a.place(x), a.place(y)
	return ok && fine && p.SameScope(q, s) && p.SameScope(q, u)
}

// sync returns the synchronisation of a write with a read that reads from it.
func (a *acknowledger) sync(w, r int) (syncEdge, bool) {
	p, q := &a.nodes[w], &a.nodes[r]
	s := syncEdge{write: w, read: r, release: a.point(w, -1, litmus.SemRelease), acquire: a.point(r, 1, litmus.SemAcquire)}
	if p.thread == q.thread || !p.in.IsWrite() || q.in.Op != litmus.OpLd && q.in.Op != litmus.OpAtom || p.loc == "" || p.loc != q.loc ||
		!a.together(w, r) || s.release < 0 || s.acquire < 0 || !a.together(s.release, s.acquire) || q.in.Dst == "" || q.in.Dst == "_" ||
		q.in.Guard != nil || p.in.Guard != nil {
		return s, false
	}
	value, ok := written(p.in)
	asked, known := a.wants(q)
	if !ok || known && asked != value || value == a.t.Location(p.loc).Init {
		return s, false
	}
	for n := range a.nodes { // only this write can have given the value
		if x := &a.nodes[n]; n != w && n != r && x.loc == p.loc && x.in.IsWrite() {
			if v, ok := written(x.in); !known || !ok || v == value {
				return s, false
			}
		}
	}
	s.value = value
	return s, true
}

// point returns the node at which a strong access releases (searching backwards) or acquires
// (searching forwards): itself, or the nearest fence of that kind; -1 if there is none.
func (a *acknowledger) point(n, step int, kind litmus.Sem) int {
	thread := a.nodes[n].thread
	for k := n; k >= 0 && k < len(a.nodes) && a.nodes[k].thread == thread; k += step {
		sem, _, ok := a.strength(k)
		orders := sem == kind || sem == litmus.SemAcqRel || sem == litmus.SemSC
		if ok && orders && a.nodes[k].in.Guard == nil && (k == n || a.nodes[k].in.IsFence()) {
			return k
		}
	}
	return -1
}

// written returns the constant that an instruction writes.
func written(in *litmus.Instr) (int64, bool) {
	at := 0
	switch {
	case in.Op == litmus.OpSt, in.Op == litmus.OpAtom && in.Atom == litmus.AtomExch:
	case in.Op == litmus.OpAtom && in.Atom == litmus.AtomCAS:
		at = 1
	default:
		return 0, false
	}
	return in.Src[at].Value, in.Src[at].Kind == litmus.OperandConst
}

// wants returns the value that the condition requires a read to have.
func (a *acknowledger) wants(n *ackNode) (value int64, ok bool) {
	var look func(e litmus.Expr)
	look = func(e litmus.Expr) {
		switch e := e.(type) {
		case litmus.And:
			for _, x := range e.List {
				look(x)
			}
		case litmus.Atom:
			if e.Left.Kind == litmus.TermReg && e.Left.Thread == n.thread && e.Left.Name == n.in.Dst && e.Cmp == litmus.CmpEq &&
				e.Right.Kind == litmus.TermConst {
				value, ok = e.Right.Value, true
			}
		}
	}
	look(a.t.Cond.Expr)
	return value, ok
}

// execution returns an order of all nodes that agrees with program order, barriers and what
// synchronising reads must read; first loads come as early as possible. If the reads of an
// outcome form a circle, as in load buffering, one of them reads the previous value, and does
// not synchronise.
func (a *acknowledger) execution() ([]int, error) {
	left := make([]int, len(a.nodes)) // predecessors in program order that are not in the order yet
	for n := range a.nodes {
		for _, m := range a.nodes[n].next {
			left[m]++
		}
	}
	var order []int
	for len(order) < len(a.nodes) {
		best, waits := -1, false
		for n := range a.nodes {
			if left[n] != 0 {
				continue
			}
			late := slices.ContainsFunc(a.syncs, func(s syncEdge) bool { return s.read == n && left[s.write] >= 0 })
			if best < 0 || !late && (waits || a.urgency(n) < a.urgency(best)) {
				best, waits = n, late
			}
		}
		if best < 0 {
			return nil, errors.New("its threads wait for each other at barriers for ever")
		}
		if waits {
			a.syncs = slices.DeleteFunc(a.syncs, func(s syncEdge) bool { return s.read == best })
		}
		left[best] = -1
		order = append(order, best)
		for _, m := range a.nodes[best].next {
			left[m]--
		}
	}
	return order, nil
}

// urgency orders what may come next in the execution: a thread's first load of a location
// early, its later loads late, so that the value can change in between.
func (a *acknowledger) urgency(n int) int {
	x := &a.nodes[n]
	if x.in.Op != litmus.OpLd {
		return 1
	}
	for _, k := range a.threads[x.thread] {
		if k == n {
			break
		}
		if y := &a.nodes[k]; y.loc == x.loc && y.in.IsAccess() {
			return 2
		}
	}
	return 0
}

// orderBefore orders the last access of a thread that conflicts with b and comes before it
// in the execution.
func (a *acknowledger) orderBefore(thread []int, b int, done []int) {
	if len(thread) == 0 || a.nodes[thread[0]].thread == a.nodes[b].thread {
		return
	}
	for _, x := range slices.Backward(thread) {
		p, q := &a.nodes[x], &a.nodes[b]
		if !slices.Contains(done, x) || p.loc == "" || p.loc != q.loc || !p.in.IsWrite() && !q.in.IsWrite() {
			continue
		}
		if a.together(x, b) && p.in.Type.Bits() == q.in.Type.Bits() || a.ordered(x, b, false) {
			continue
		}
		if !a.ordered(x, b, true) {
			a.acknowledge(x, b)
		}
		return
	}
}

// waits rejects guards before barriers, at which others would wait forever.
func (a *acknowledger) waits() error {
	for _, list := range a.threads {
		guarded := false
		for _, n := range list {
			x := &a.nodes[n]
			if guarded = guarded || len(x.before) > 0; guarded && x.in.Op == litmus.OpBar {
				return errors.New("a barrier would stand behind a guard")
			}
			guarded = guarded || slices.ContainsFunc(x.after, func(in litmus.Instr) bool { return in.Op == litmus.OpBra })
		}
	}
	return nil
}

// ordered reports whether x comes before b in every execution that performs both. With guard,
// synchronisation that lacks a guard counts, and gets the guard if that makes x come before b.
func (a *acknowledger) ordered(x, b int, guard bool) bool {
	from := map[int]int{x: -1} // node → synchronisation that led there, -1 for none
	prev := map[int]int{}
	for queue := []int{x}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n == b {
			for ; guard && n != x; n = prev[n] {
				if s := from[n]; s >= 0 && !a.syncs[s].on {
					a.guard(s)
				}
			}
			return true
		}
		reach := func(m, sync int) {
			if _, seen := from[m]; !seen && m >= 0 {
				from[m], prev[m] = sync, n
				queue = append(queue, m)
			}
		}
		for _, m := range a.nodes[n].next {
			reach(m, -1)
		}
		for i, s := range a.syncs {
			if s.release == n && (s.on || guard) {
				reach(a.follower(s.acquire), i)
			}
		}
	}
	return false
}
