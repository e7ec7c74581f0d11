package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// amdCheck is the state that the ordering checks share.
type amdCheck struct {
	*pass
	m *amdModel
	w *waits
	// told holds the pairs of accesses already reported as unordered.
	told map[[2]int]bool
}

// amdFence is what a fence of the test requires.
type amdFence struct {
	before, after func(spec.Entry) bool
	loose         bool // a store before and a load after are not ordered
	scope         int
	// language is set for mem_fence and its relatives of OpenCL 1.2: the language promises order within a work-item,
	// and nothing between work-groups.
	language         bool
	acquire, release bool
	barrier          bool
}

func amdFenceOf(k spec.Kind) amdFence {
	any := func(spec.Entry) bool { return true }
	f := amdFence{before: any, after: any, acquire: true, release: true, scope: amdScope(scopeOf(k.Scope))}
	switch k.Op {
	case litmus.OpBar:
		f.barrier, f.scope = true, amdGroup
		return f
	case litmus.OpMembar:
		return f
	}
	reads := func(e spec.Entry) bool { return e.Reads() }
	writes := func(e spec.Entry) bool { return e.Writes() }
	f.language = k.Scope == litmus.ScopeNone
	switch k.Sem {
	case litmus.SemAcqRel:
		f.loose = !f.language
	case litmus.SemAcquire:
		f.before, f.release = reads, false
		if f.language { // read_mem_fence: loads only
			f.after = reads
		}
	case litmus.SemRelease:
		f.after, f.acquire = writes, false
		if f.language { // write_mem_fence: stores only
			f.before = writes
		}
	}
	if f.language && k.Space != litmus.Generic {
		in := func(g func(spec.Entry) bool) func(spec.Entry) bool {
			return func(e spec.Entry) bool { return g(e) && e.Kind.Space == k.Space }
		}
		f.before, f.after = in(f.before), in(f.after)
	}
	return f
}

// order checks every order that the test asks for: by fences, by acquire and release accesses, by volatile, between
// accesses of one location, and through registers. checkOrder compares the order in the text; order asks what may
// still be outstanding and what the caches hold.
func (a *amd) order(p *pass) {
	c := &amdCheck{pass: p, m: a.model, told: map[[2]int]bool{}}
	c.w = newWaits(p.tr, c.m)
	if p.waits = c.w; c.w.unfinished {
		p.undecided("what the code waits for is not followed to the end: its control flow is too intricate")
		return
	}
	for k, e := range p.s.Entries {
		switch {
		case e.IsFence():
			c.fence(k, e)
		case p.match[k] >= 0:
			c.synchronises(k, e)
		}
	}
	c.volatiles()
	c.sameLocation()
	c.registers()
}

// unordered reports whether the access at position i, which must be complete, may still be in flight when the one at
// position j starts.
func (c *amdCheck) unordered(i, j int, scope int) bool {
	a, b := c.match[i], c.match[j]
	if a < 0 || b < 0 || a >= b {
		return false // missing, merged or reordered: reported as such
	}
	x, y := &c.tr.events[a], &c.tr.events[b]
	switch {
	case x.mem.Space == isa.SpaceShared && y.mem.Space == isa.SpaceShared:
		return false // LDS operations of a wave are performed in order
	case c.m.clauses:
		return c.clauseOpen(a, b)
	case x.mem.Space == isa.SpaceShared || y.mem.Space == isa.SpaceShared, x.mem.Scalar || y.mem.Scalar:
	case scope == amdGroup && c.m.sharedL1:
		return false
	}
	return c.w.outstanding(x.inst, y.inst)
}

// clauseOpen reports whether, on TeraScale, an access may still be in flight when a later one starts. A fetch is
// until its clause ends; a write is until its acknowledgement is waited for, which is possible only for writes that
// request one.
func (c *amdCheck) clauseOpen(a, b int) bool {
	x, y := &c.tr.events[a], &c.tr.events[b]
	if x.role == isa.RoleLoad {
		for i := x.inst; i <= y.inst; i++ {
			if c.tr.fn.Insts[i].Role != isa.RoleLoad {
				return false
			}
		}
		return true
	}
	return !slices.Contains(c.tr.fn.Insts[x.inst].Counts, isa.CountAck) || c.w.outstanding(x.inst, y.inst)
}

// lack is one missing part of a fence or synchronising access.
type lack struct {
	rule   *Rule
	ev     int
	detail string
}

// wait describes the wait that is missing between an operation and a later one.
func (c *amdCheck) wait(a, b int, what, until string) lack {
	op, at := c.tr.events[a].inst, c.tr.events[b].inst
	need := c.waitFor(a)
	if text, ok := c.w.tried(op, at); ok {
		return lack{WaitWeakened, b, fmt.Sprintf("%s may still be outstanding when %s: %s does not complete %s, which needs %s", what, until,
			trim(text), c.text(a), need)}
	}
	return lack{WaitMissing, b, fmt.Sprintf("%s may still be outstanding when %s: no %s between %s and %s", what, until, need, c.text(a),
		c.text(b))}
}

func trim(s string) string { return strings.TrimSuffix(s, " ;") }

// waitFor returns the instruction that completes an event.
func (c *amdCheck) waitFor(ev int) string {
	x := &c.tr.events[ev]
	switch {
	case x.mem.Scalar:
		return c.m.scalar
	case x.mem.Space == isa.SpaceShared:
		return c.m.lds
	case x.role == isa.RoleLoad || x.role == isa.RoleAtomic:
		return c.m.loads
	}
	return c.m.stores
}

// pairs lists the missing waits between accesses before and after a fence.
func (c *amdCheck) pairs(pos int, f amdFence) (missing []lack) {
	for i := range pos {
		for j := pos + 1; j < len(c.s.Entries); j++ {
			e, g := c.s.Entries[i], c.s.Entries[j]
			if e.IsFence() || g.IsFence() || !f.before(e) || !f.after(g) || f.loose && !e.Reads() && !g.Writes() {
				continue
			}
			if c.unordered(i, j, f.scope) {
				c.told[[2]int{i, j}] = true
				missing = append(missing, c.wait(c.match[i], c.match[j], c.name(i), c.name(j)+" is issued"))
				break
			}
		}
	}
	return missing
}

// fence checks a fence or barrier of the test.
func (c *amdCheck) fence(pos int, e spec.Entry) {
	f := amdFenceOf(e.Kind)
	lo, hi := c.window(pos)
	if lo >= hi {
		c.report(FenceRemoved, pos, -1, "no place between the accesses before and after %s: they were moved across it or merged", c.name(pos))
		return
	}
	if f.barrier && !c.barrier(pos, e, lo, hi) {
		return
	}
	missing := c.pairs(pos, f)
	if !f.language {
		missing = append(missing, c.caches(pos, f, lo, hi, -1)...)
	} else if len(c.caches(pos, amdFence{scope: amdAgent, acquire: f.acquire, release: f.release, loose: true}, lo, hi, -1)) > 0 {
		c.report(CachesUntouched, pos, -1, "%s leaves a cache alone: later loads may find there what an earlier access left, or earlier"+
			" stores stay in it", c.name(pos))
	}
	if len(missing) == 0 {
		c.own(pos, lo, hi)
		return
	}
	left := c.left(lo, hi)
	if f.barrier {
		left = append(left, "the barrier")
	}
	if len(left) > 0 {
		c.report(FenceWeakened, pos, missing[0].ev, "%s survives only in part: what is left of it is %s", c.name(pos), strings.Join(left, "; "))
	} else {
		c.report(FenceRemoved, pos, missing[0].ev, "nothing of %s is left between the accesses around it", c.name(pos))
	}
	c.tell(pos, missing)
}

func (c *amdCheck) tell(pos int, missing []lack) {
	for _, m := range missing {
		c.report(m.rule, pos, m.ev, "%s: %s", c.name(pos), m.detail)
	}
}

// own attributes the cache operations between two events to a fence, for listings. Those of one lane belong to the
// atomic that it performs for its wave.
func (c *amdCheck) own(pos, lo, hi int) {
	for ev := lo + 1; ev < hi; ev++ {
		x := &c.tr.events[ev]
		if x.role == isa.RoleCache && len(c.owner[ev]) == 0 && !(x.cond && x.condT == 0 && c.byLane(x)) {
			c.owner[ev] = append(c.owner[ev], pos)
		}
	}
}

// left lists the waits and cache operations between two events.
func (c *amdCheck) left(lo, hi int) (list []string) {
	if lo < 0 || hi >= len(c.tr.events) {
		return nil
	}
	for i := c.tr.events[lo].inst + 1; i < c.tr.events[hi].inst; i++ {
		in := &c.tr.fn.Insts[i]
		if in.Role == isa.RoleCache || len(in.Waits) > 0 {
			list = append(list, trim(in.Text))
		}
	}
	return list
}

// synchronises checks an acquire or release access.
func (c *amdCheck) synchronises(k int, e spec.Entry) {
	sc := e.Kind.Sem == litmus.SemSC
	acq := e.Kind.Sem == litmus.SemAcquire || e.Kind.Sem == litmus.SemAcqRel || sc && e.Reads()
	rel := e.Kind.Sem == litmus.SemRelease || e.Kind.Sem == litmus.SemAcqRel || sc && e.Writes()
	if !acq && !rel {
		return
	}
	scope := amdScope(accessScope(e.Kind))
	if e.Kind.Space == litmus.Shared {
		scope = amdGroup // a wider scope means nothing for LDS
	}
	var missing []lack
	early := func(i, j int, what, until string) {
		c.told[[2]int{i, j}] = true
		missing = append(missing, c.wait(c.match[i], c.match[j], what, until))
	}
	for i, before := range c.s.Entries[:k] {
		switch {
		case before.IsFence() || !c.unordered(i, k, scope):
		case rel:
			early(i, k, c.name(i), "the release "+c.name(k)+" is issued")
		case sc && before.Kind.Sem == litmus.SemSC:
			early(i, k, "the sequentially consistent "+c.name(i), "the next one is issued")
		}
	}
	for i := k + 1; acq && i < len(c.s.Entries); i++ {
		if !c.s.Entries[i].IsFence() && c.unordered(k, i, scope) {
			early(k, i, c.name(k), c.name(i)+" is issued")
			break // once is enough
		}
	}
	lo, hi := c.window(k)
	missing = append(missing, c.caches(k, amdFence{scope: scope, acquire: acq, release: rel}, lo, hi, k)...)
	c.tell(k, missing)
}

// barrier requires the execution barrier: one instruction, or since gfx12 a signal and the wait for it.
func (c *amdCheck) barrier(pos int, e spec.Entry, lo, hi int) bool {
	signalled := false
	for ev := lo + 1; ev < hi; ev++ {
		x := &c.tr.events[ev]
		if x.role != isa.RoleBarrier || len(c.owner[ev]) > 0 {
			continue
		}
		c.owner[ev] = append(c.owner[ev], pos)
		if x.cond && !e.Guarded {
			c.report(ControlChanged, pos, ev, "%s is executed only under a condition: %s", c.name(pos), c.text(ev))
		}
		switch c.inst(ev).Op {
		case "s_barrier_signal":
			signalled = true
		case "s_barrier_wait":
			if signalled {
				return true
			}
		default:
			return true
		}
	}
	c.report(FenceRemoved, pos, -1, "%s has no barrier instruction between the accesses around it", c.name(pos))
	return false
}

// volatiles checks that volatile accesses to global memory stay in order, and that atomics stay in order with them:
// LLVM's memory model waits after each, and the functions for atomics take pointers to volatile objects.
func (c *amdCheck) volatiles() {
	if c.m.clauses {
		return // TeraScale does not promise it
	}
	last := -1
	for k, e := range c.s.Entries {
		isVolatile := e.Kind.Sem == litmus.SemVolatile
		if e.IsFence() || !isVolatile && !isAtomic(e) || e.Kind.Space == litmus.Shared {
			continue
		}
		if last >= 0 && !c.told[[2]int{last, k}] && c.unordered(last, k, amdSystem) {
			c.told[[2]int{last, k}] = true
			until := "the next volatile access is issued"
			if !isVolatile {
				until = c.name(k) + " is issued"
			}
			c.tell(k, []lack{c.wait(c.match[last], c.match[k], "the volatile "+c.name(last), until)})
		}
		if isVolatile {
			last = k
		}
	}
}

// sameLocation checks pairs of accesses to one location of which one goes through the scalar unit, which completes in
// any order and has a cache of its own. Vector accesses of a wave to one address are performed in order.
func (c *amdCheck) sameLocation() {
	es := c.s.Entries
	for j := range es {
		for i := range j {
			if es[i].Loc != es[j].Loc || c.match[i] < 0 || c.match[i] >= c.match[j] {
				continue
			}
			x, y := &c.tr.events[c.match[i]], &c.tr.events[c.match[j]]
			if !x.mem.Scalar && !y.mem.Scalar || c.told[[2]int{i, j}] {
				continue
			}
			if c.w.outstanding(x.inst, y.inst) {
				c.told[[2]int{i, j}] = true
				c.tell(j, []lack{c.wait(c.match[i], c.match[j], c.name(i), c.name(j)+", of the same location, is issued")})
			}
			if es[i].Writes() && y.mem.Scalar && c.find(scalarInv, c.match[i], c.match[j], c.match[j]) < 0 {
				c.tell(j, []lack{{InvalidateMissing, c.match[j], fmt.Sprintf("%s wrote the location, and %s reads it through the scalar cache",
					c.name(i), c.text(c.match[j]))}})
			}
		}
	}
}
