package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// leaveOut knows acquiring loads of which a path has the invalidation alone: ptxas 12.4 leaves out the load in turns of a loop that do
// not use its value. The invalidation stands for the acquire there, so that what follows is compared with it. That these are the turns
// that do not need the value is what execution tells: a load that is needed reads what no other has read.
func (c *checker) leaveOut() {
	for k, op := range c.src.ops {
		g := &c.img[k]
		if op.Effect.Kind != ptx.Load || !op.Effect.Acquires() || len(g.main) == 0 || len(g.inval) < 2 || !c.src.spare(k) {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(g.inval), func(i int32) bool { return !c.bareInvalidation(g, i) })
		if g.main = append(g.main, kept...); len(kept) > 0 {
			g.shape = "on a path the load is left out, and its invalidation stays"
			c.note(Missing, k, "%s", g.shape)
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
