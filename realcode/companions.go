package realcode

import (
	"slices"
	"sync"

	"optcheck/isa"
	"optcheck/ptx"
)

// bind has the fence of a release stand under the condition of its store, the first one behind it, and the
// invalidation of an acquire under that of its load, the last one before it: ptxas may give a condition to the
// access alone, and where that is not made the fence is no release, and the invalidation no acquire.
func (c *checker) bind() {
	under := func(f, from, to, i int32) {
		if s, by := &c.mach.steps[f], &c.mach.steps[i]; c.owner[f] < 0 && s.guard < 0 && c.straight(from, to, by.guard) {
			s.guard, s.guardNeg = by.guard, by.guardNeg
		}
	}
	for k := range c.img {
		g := &c.img[k]
		main := slices.Sorted(slices.Values(g.main))
		for _, f := range g.flush {
			if n, _ := slices.BinarySearch(main, f); n < len(main) {
				under(f, f, main[n], main[n])
			}
		}
		for _, f := range g.inval {
			if n, _ := slices.BinarySearch(main, f); n > 0 {
				under(f, main[n-1], f, main[n-1])
				c.answered(k, f, main[n-1])
			}
		}
		for _, i := range main {
			c.underElection(int32(k), i)
		}
	}
}

// answered has the invalidation of a wait for an mbarrier stand without its condition, if that is the wait's answer, and the PTX makes
// nothing depend on it: where the phase is not complete nothing is acquired.
func (c *checker) answered(k int, f, i int32) {
	s := &c.mach.steps[f]
	if c.src.ops[k].Effect.Kind == ptx.MbarWait && c.owner[f] < 0 && s.guard >= 0 && !s.guardNeg && !c.src.decides(k) &&
		slices.Contains(c.mach.steps[i].defs, s.guard) && (f == i+1 || c.straight(i+1, f, s.guard)) {
		s.guard = -1
	}
}

// decides reports whether a condition that an operation sets decides about others.
func (s *source) decides(k int) bool {
	op := s.ops[k]
	return slices.ContainsFunc(op.Func.Body, func(st ptx.Stmt) bool {
		return st.Inst != nil && st.Inst.Guard >= 0 && slices.Contains(defined(op.Inst), st.Inst.Guard)
	})
}

// straight reports whether control goes from one instruction to another behind it,
// past no jump, and a condition is the same at both.
func (c *checker) straight(from, to, guard int32) bool {
	if from >= to {
		return false
	}
	for i, s := range c.mach.steps[from:to] {
		if c.mach.insts[int(from)+i].Flow != isa.FlowNext || slices.Contains(s.defs, guard) ||
			slices.ContainsFunc(s.sets, func(a assign) bool { return a.dst == guard }) {
			return false
		}
	}
	return true
}

// companions looks for what makes an access acquire or release, since sm_70: the
// invalidation of the L1 between it and the next load that may find an old line,
// and the fence between the accesses before and it.
func (c *checker) companions(k int, op *Op, g *images) {
	if op.Effect.Kind == ptx.MbarWait && op.Effect.Acquires() && c.unanswered(k, g) {
		return
	}
	e, scope := &op.Effect, op.reach()
	access := e.Kind.IsAccess()
	if !access && e.Kind != ptx.Fence && scope <= isa.ScopeCTA || c.sm < 70 {
		return
	}
	others := func(bad func(int32) bool, comes func() []bool) func(int32) bool {
		return func(i int32) bool {
			o := c.owner[i]
			return o != int32(k) && bad(i) && (o < 0 || slices.ContainsFunc(c.inPTX[o], func(n int32) bool { return comes()[n] }))
		}
	}
	follows := sync.OnceValue(func() []bool { return c.pg.from(c.inPTX[k], c.pg.next) })
	precedes := sync.OnceValue(func() []bool { return c.pg.from(c.inPTX[k], c.pg.before()) })
	// What comes before and behind, in a loop, may have risen, or sunk, past the access: words tell, with
	// the companion for a letter.
	turning := func(bad func(int32) bool, companions []int32) func(int32) bool {
		return func(i int32) bool {
			o := c.owner[i]
			return bad(i) && (len(companions) == 0 || o < 0 || c.src.ops[o].strong() || !slices.ContainsFunc(c.inPTX[o], func(n int32) bool { return follows()[n] && precedes()[n] }))
		}
	}
	stale, written := c.stale, c.written
	if len(g.inval) == 0 && access { // those of others must do, before anything that they do not order
		stale = func(i int32) bool { return c.stale(i) || c.elsewhere(k, i) }
	}
	if !access { // others of the cluster see this CTA's shared memory, too
		written = func(i int32) bool {
			o := c.owner[i]
			return c.written(i) || o >= 0 && (c.mach.insts[i].Role == isa.RoleStore || c.src.ops[o].Effect.Kind == ptx.Mbarrier)
		}
	} else if len(g.flush) == 0 {
		written = func(i int32) bool { return c.written(i) || c.elsewhere(k, i) }
	}
	for _, i := range g.all() {
		in := c.mach.insts[i]
		if in.Mem.Atom == "CAST" || in.Role == isa.RoleCache {
			continue
		}
		if e.Kind == ptx.Load && e.Acquires() {
			if at := c.search(i, c.after, awaits(in), others(func(i int32) bool { return c.elsewhere(k, i) }, follows)); at >= 0 {
				c.finding(Missing, k, c.code(i, at), "nothing waits for it before what follows: that may be performed first")
				c.because(c.bare(k, at, true))
				return
			}
		}
		if e.Acquires() && scope > isa.ScopeCTA && (in.Mem.Space != isa.SpaceShared || !access) {
			if at := c.search(i, c.after, func(in *isa.Inst) bool { return in.Mem.Invalidate }, others(turning(stale, g.inval), follows)); at >= 0 {
				c.finding(Missing, k, c.code(i, at),
					"no invalidation of the L1 stands between it and what follows: what others wrote before may be read from an old line")
				c.because(c.bare(k, at, true))
				return
			}
		}
		if e.Releases() && e.Kind != ptx.Fence {
			fence := func(in *isa.Inst) bool { return in.Op == "MEMBAR" && in.Mem.Scope >= scope }
			if at := c.search(i, c.before, fence, others(turning(written, g.flush), precedes)); at >= 0 {
				c.finding(Missing, k, c.code(at, i), "no fence of scope %s stands between it and what precedes: others may see it before that", e.Scope)
				c.because(c.bare(k, at, false))
				return
			}
		}
	}
}

// unanswered reports what is performed behind a wait for an mbarrier while its answer is still on its way: with the answer yes it had to
// come behind what others did before they arrived. A chip has shown that it does not.
func (c *checker) unanswered(k int, g *images) bool {
	behind := c.pg.from(c.inPTX[k], c.pg.next)
	early := map[int32]bool{}
	for _, i := range g.main {
		for more := true; more; {
			at := c.search(i, c.after, awaits(c.mach.insts[i]), func(j int32) bool {
				o := c.owner[j]
				return o >= 0 && o != int32(k) && !early[o] && c.elsewhere(k, j) && slices.ContainsFunc(c.inPTX[o], func(n int32) bool { return behind[n] })
			})
			if more = at >= 0; more {
				early[c.owner[at]] = true
				c.finding(Missing, k, c.code(i, at), "nothing waits for its answer before what follows: that may be performed before the phase is complete")
				c.last().Order, c.last().Second = true, c.place(int(c.owner[at]))
				c.because(waited(c.src.ops[k], c.src.ops[c.owner[at]]))
			}
		}
	}
	return len(early) > 0
}

// reach is the scope in which an operation orders memory: that of its own, or of all that a bulk copy
// has written. Barriers of the CTA, and what is relaxed, order in the CTA at most.
func (op *Op) reach() isa.Scope {
	e := &op.Effect
	switch {
	case e.Objects != "": // shared memory has no copies: what its CTA sees of it, all of the cluster see
		return isa.ScopeCTA
	case e.Kind == ptx.BulkWait && !op.Inst.Has("read"):
		return isa.ScopeGPU
	case e.Kind.IsAccess() || e.Kind == ptx.Fence || e.Sem != "relaxed":
		return scopes[e.Scope]
	}
	return isa.ScopeNone
}

// awaits returns whether an instruction waits for the result of another one, by its
// scoreboard; what stands behind is issued later.
func awaits(of *isa.Inst) func(*isa.Inst) bool {
	b := of.Control.Write
	return func(in *isa.Inst) bool {
		return of.Control.Kind != isa.ControlFields || b < isa.NoBarrier && in.Control.Wait>>b&1 != 0 || in.Op == "DEPBAR"
	}
}

// from tells of each node whether it can be reached from some, by one step or more.
func (g *graph) from(nodes []int32, next [][]int32) []bool {
	seen := make([]bool, len(g.next))
	for work := slices.Clone(nodes); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, x := range next[n] {
			if !seen[x] {
				seen[x] = true
				work = append(work, x)
			}
		}
	}
	return seen
}

// invalidated reports whether the invalidation of an acquire that is gone stays, on whatever
// line: whether one stands between all that has read its location and what it orders.
func (c *checker) invalidated(k int) bool {
	op, read := c.src.ops[k], false
	always := func(in *isa.Inst) bool { return in.Mem.Invalidate && in.Guard == (isa.Guard{}) }
	for j, x := range c.src.ops {
		if !x.strong() || !reads(x) && x.Effect.Kind != ptx.Atomic || apart(x, op) {
			continue
		}
		ordered := c.behind(k, j)
		for _, i := range c.img[j].main {
			if c.search(i, c.after, always, func(i int32) bool {
				o := c.owner[i]
				return (c.stale(i) || c.elsewhere(k, i)) && (o < 0 || slices.ContainsFunc(c.inPTX[o], func(n int32) bool { return ordered[n] }))
			}) >= 0 {
				return false
			}
			read = true
		}
	}
	return read
}

// behind are the nodes of the PTX that are come to from one operation without passing another one.
func (c *checker) behind(k, without int) map[int32]bool {
	var from []int32
	for _, n := range c.inPTX[k] {
		from = append(from, c.pg.next[n]...)
	}
	return reached(from, func(n int32) []int32 {
		if slices.Contains(c.inPTX[without], n) {
			return nil
		}
		return c.pg.next[n]
	})
}

// elsewhere reports whether an instruction is an access of the PTX to another
// location than that of an operation, as far as is known: accesses to one location
// keep their order.
func (c *checker) elsewhere(k int, i int32) bool {
	o := c.owner[i]
	if o < 0 || !c.src.ops[o].Effect.Kind.IsAccess() {
		return false
	}
	a, b := c.src.ops[k], c.src.ops[o]
	return !b.strong() || a.addr.root == "" || a.addr.root != b.addr.root || !overlap(a.addr, b.addr)
}

// stale reports whether an instruction may read an old line of the L1, or lets
// another thread of the block do it.
func (c *checker) stale(i int32) bool {
	in := c.mach.insts[i]
	if in.Role == isa.RoleBarrier {
		return true
	}
	o := c.owner[i]
	return o >= 0 && in.Role == isa.RoleLoad && in.Mem.Strength == isa.Weak && in.Mem.Space != isa.SpaceShared &&
		c.src.ops[o].Effect.Kind == ptx.Load
}

// written reports whether an instruction is one that a release has to wait for: an
// access of the PTX, or a barrier behind which others have written.
func (c *checker) written(i int32) bool {
	in := c.mach.insts[i]
	if in.Role == isa.RoleBarrier {
		return true
	}
	o := c.owner[i]
	return o >= 0 && (in.Role == isa.RoleStore || in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction) && in.Mem.Space != isa.SpaceShared
}

func (m *matcher) after(i int32) []int32 {
	s := &m.mach.steps[i]
	out := append(append([]int32{}, s.next...), s.call...)
	if s.guard >= 0 || s.cond >= 0 || len(s.call) > 0 {
		out = append(out, i+1)
	}
	if s.ret {
		out = append(out, m.mach.returns[m.mach.funcOf[i]]...)
	}
	return out
}

func (c *checker) before(i int32) []int32 {
	if c.preds == nil {
		c.preds = make([][]int32, len(c.mach.steps))
		for k := range c.mach.steps {
			if !c.mach.reach[k] {
				continue
			}
			for _, t := range c.after(int32(k)) {
				if t >= 0 && int(t) < len(c.preds) {
					c.preds[t] = append(c.preds[t], int32(k))
				}
			}
		}
	}
	return c.preds[i]
}

// search walks from an instruction until good ones, and returns the first bad one
// that it comes to, or -1. An instruction under a condition is passed by.
func (c *checker) search(from int32, next func(int32) []int32, good func(*isa.Inst) bool, bad func(int32) bool) int32 {
	seen := map[int32]bool{from: true}
	queue := next(from)
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if i < 0 || int(i) >= len(c.mach.insts) || seen[i] {
			continue
		}
		seen[i] = true
		if in := c.mach.insts[i]; !in.Guard.Never {
			if good(in) {
				continue
			}
			if bad(i) {
				return i
			}
		}
		queue = append(queue, next(i)...)
	}
	return -1
}
