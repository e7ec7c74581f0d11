package realcode

import "optcheck/ptx"

// joint is the instruction that performs a strong access of which nothing was found together with a neighbour, as one wider access
// that is as strong as both; -1 if there is none. The neighbour is what it is the counterpart of.
func (c *checker) joint(k int) int32 {
	op := c.src.ops[k]
	if e := &op.Effect; e.Kind != ptx.Load && e.Kind != ptx.Store || e.Acquires() || e.Releases() || op.addr.root == "" {
		return -1
	}
	for i, j := range c.owner {
		if j < 0 || c.mach.addrs[i].width <= c.src.ops[j].addr.width {
			continue
		}
		in, by := c.mach.insts[i], c.src.ops[j]
		if by.Effect.Kind == op.Effect.Kind && !by.Effect.Weak() && by.Func == op.Func && by.addr.root == op.addr.root && weaker(op, in, c.sm) == "" &&
			c.widened(c.mach.addrs[i], by, op.addr, c.distance) && !c.claimed(int32(i), op.addr) {
			return int32(i)
		}
	}
	return -1
}

// performedTogether is the finding of such an access.
func (c *checker) performedTogether(k int, i int32) {
	j := int(c.owner[i])
	c.finding(Merged, k, c.code(i), "one access of %d bytes performs both", c.mach.insts[i].Mem.Width)
	c.last().Second, c.last().Together = c.place(j), true
}
