package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// leaveOut knows acquiring loads whose value is not used in some turns of a loop: in the copies of these
// turns ptxas 12.4 leaves out the load, and keeps the invalidation, which stands for the acquire there.
func (c *checker) leaveOut() {
	for k, op := range c.src.ops {
		g := &c.img[k]
		if op.Effect.Kind != ptx.Load || !op.Effect.Acquires() || len(g.main) == 0 || len(g.inval) < 2 || !c.src.spare(k) {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(g.inval), func(i int32) bool { return !c.bareInvalidation(g, i) })
		if g.main = append(g.main, kept...); len(kept) > 0 {
			c.note(Missing, k, "on a path nobody uses what it reads: the load is left out, its invalidation stays")
		}
	}
}

// bareInvalidation reports whether an invalidation may be performed without the load of its acquire, since the
// beginning or the invalidation before.
func (c *checker) bareInvalidation(g *images, i int32) (bare bool) {
	if slices.ContainsFunc(g.main, func(x int32) bool { // that of a load under a condition, which it does not need
		guard := c.mach.steps[x].guard
		return guard >= 0 && c.straight(x, i, guard)
	}) {
		return false
	}
	reached(c.before(i), func(x int32) []int32 {
		in := c.mach.insts[x]
		if slices.Contains(g.main, x) && in.Guard == (isa.Guard{}) {
			return nil
		}
		bare = bare || x == 0 || slices.Contains(g.inval, x)
		return c.before(x)
	})
	return bare
}

// joined reports whether one wider instruction performs a store with its neighbours: together they write, from one base, each byte
// of it.
func (c *checker) joined(k int) bool {
	op := c.src.ops[k]
	if op.addr.root == "" {
		return false
	}
	first, last := k, k
	same := func(j int) bool { return j >= 0 && j < len(c.src.ops) && c.src.segment[j] == c.src.segment[k] }
	for same(first - 1) {
		first--
	}
	for same(last + 1) {
		last++
	}
	written := map[int64]bool{}
	var near []int
	for j := first; j <= last; j++ {
		x := c.src.ops[j]
		if j != first && slices.ContainsFunc(defined(x.Inst), func(r int) bool { return op.addr.root == ownRoot(op.Func, r) }) {
			return false
		}
		if x.Effect.Kind != ptx.Store || !x.Effect.Weak() || x.addr.root != op.addr.root || x.Inst.Guard != op.Inst.Guard {
			continue
		}
		near = append(near, j)
		for b := range x.addr.width {
			written[x.addr.offset+int64(b)] = true
		}
	}
	for _, j := range near {
		x := c.src.ops[j].addr
		for _, i := range c.img[j].main {
			w := int64(c.mach.insts[i].Mem.Width)
			for at := max(x.offset+int64(x.width), op.addr.offset+int64(op.addr.width)) - w; at <= min(x.offset, op.addr.offset); at++ {
				if all(written, at, at+w) {
					return true
				}
			}
		}
	}
	return false
}

// all reports whether a set has each number from a to before b.
func all(set map[int64]bool, a, b int64) bool {
	for ; a < b; a++ {
		if !set[a] {
			return false
		}
	}
	return true
}
