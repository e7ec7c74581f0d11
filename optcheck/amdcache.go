package optcheck

import (
	"fmt"
	"slices"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// caches lists the cache operations that are missing from a fence between two events, or from the synchronising
// access at position self. Write-backs stand between lo and it, invalidations between it and hi.
func (c *amdCheck) caches(pos int, f amdFence, lo, hi, self int) (missing []lack) {
	ev := -1
	if self >= 0 {
		ev = c.match[self]
	}
	if f.acquire && c.exists(pos+1, len(c.s.Entries), func(e spec.Entry) bool { return e.Reads() && e.Kind.Space != litmus.Shared }) {
		first := lo
		if self >= 0 {
			first = ev
		}
		behind := first
		for _, need := range c.m.acquire[f.scope] {
			at, lacks := c.invalidation(pos, need, behind, hi, self, f.release && !f.loose)
			missing = append(missing, lacks...)
			behind = max(behind, at)
		}
		missing = append(missing, c.scalarCache(pos, first, hi)...)
	}
	if f.release && c.exists(0, pos, func(e spec.Entry) bool { return e.Writes() && e.Kind.Space != litmus.Shared }) {
		last := hi
		if self >= 0 {
			last = ev
		}
		for _, need := range c.m.release[f.scope] {
			missing = append(missing, c.writeBack(pos, need, lo, last)...)
		}
	}
	return missing
}

// exists reports whether an access in a range of positions is matched and satisfies holds.
func (c *amdCheck) exists(from, to int, holds func(spec.Entry) bool) bool {
	for k := from; k < to; k++ {
		if e := c.s.Entries[k]; c.match[k] >= 0 && holds(e) {
			return true
		}
	}
	return false
}

// find looks for a cache operation between two events that always runs, else for one that runs whenever one of some
// events does.
func (c *amdCheck) find(need amdCacheOp, lo, hi int, with ...int) int {
	sometimes := -1
	for ev := lo + 1; ev < hi; ev++ {
		x := &c.tr.events[ev]
		switch {
		case x.role != isa.RoleCache || !slices.Contains(need.ops, c.inst(ev).Op) || x.mem.Scope < need.scope:
		case !x.cond:
			return ev
		case sometimes < 0 && slices.ContainsFunc(with, func(w int) bool { return c.runsWith(ev, w) }):
			sometimes = ev
		}
	}
	return sometimes
}

func (n amdCacheOp) String() string {
	return n.ops[0] + map[isa.Scope]string{isa.ScopeCTA: " (work-group)", isa.ScopeGPU: " (agent)", isa.ScopeSys: " (system)"}[n.scope]
}

// invalidation requires an invalidation after the preceding loads and returns its event, -1 for none. Where the fence
// orders stores before later loads, the invalidation must come after the stores too: a line filled between the two
// would be older than what others know of the store.
func (c *amdCheck) invalidation(pos int, need amdCacheOp, lo, hi, self int, stores bool) (int, []lack) {
	with := []int{hi} // without the acquire itself, or without what is behind, it is not needed
	if self >= 0 {
		with = append(with, c.match[self])
	}
	ev := c.find(need, lo, hi, with...)
	if ev < 0 {
		return -1, []lack{{InvalidateMissing, lo, fmt.Sprintf("no %v behind %s: later loads may find what an earlier access left in the cache",
			need, c.place(lo))}}
	}
	var missing []lack
	for i := range pos + 1 {
		e := c.s.Entries[i]
		a := c.match[i]
		if a < 0 || !e.Reads() && !stores || self >= 0 && i != self || e.Kind.Space == litmus.Shared {
			continue
		}
		if c.w.outstanding(c.tr.events[a].inst, c.tr.events[ev].inst) {
			missing = append(missing, c.wait(a, ev, c.name(i), "the cache is invalidated by "+c.text(ev)))
		}
	}
	if len(c.owner[ev]) == 0 {
		c.owner[ev] = append(c.owner[ev], pos)
	}
	return ev, missing
}

func (c *amdCheck) place(ev int) string {
	if ev < 0 {
		return "the kernel's entry"
	}
	return c.text(ev)
}

// scalarCache requires an invalidation of the scalar cache if a later access goes through it.
func (c *amdCheck) scalarCache(pos, lo, hi int) []lack {
	for k := pos + 1; k < len(c.s.Entries); k++ {
		ev := c.match[k]
		if ev < 0 || !c.tr.events[ev].mem.Scalar {
			continue
		}
		if c.find(scalarInv, lo, ev, ev) < 0 {
			return []lack{{InvalidateMissing, ev, fmt.Sprintf("%s reads through the scalar cache, which no instruction before it invalidates"+
				" (s_dcache_inv): %s", c.name(k), c.text(ev))}}
		}
	}
	return nil
}

// writeBack requires a write-back after the preceding stores that completes before the next write.
func (c *amdCheck) writeBack(pos int, need amdCacheOp, lo, hi int) []lack {
	var with []int
	if hi < len(c.tr.events) {
		with = append(with, hi)
	}
	ev := c.find(need, lo, hi, with...)
	if ev < 0 {
		return []lack{{WritebackMissing, min(hi, len(c.tr.events)-1),
			fmt.Sprintf("no %v behind %s: its effect may stay in a cache that the scope does not share", need, c.place(lo))}}
	}
	if len(c.owner[ev]) == 0 {
		c.owner[ev] = append(c.owner[ev], pos)
	}
	for k := pos; k < len(c.s.Entries); k++ {
		b := c.match[k]
		if c.s.Entries[k].IsFence() || b <= ev || !c.s.Entries[k].Writes() {
			continue
		}
		if c.w.outstanding(c.tr.events[ev].inst, c.tr.events[b].inst) {
			return []lack{c.wait(ev, b, "the write-back "+c.text(ev), c.name(k)+" is issued")}
		}
		break
	}
	return nil
}
