package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// acquiresObjects checks a fence without a counterpart that acquires of accesses to shared memory alone. No cache holds copies of that: it is
// enough that what the thread has read of it is there before any later access to it is issued.
func (c *checker) acquiresObjects(k int) {
	behind, before := c.pg.from(c.inPTX[k], c.pg.next), c.pg.from(c.inPTX[k], c.pg.before())
	among := func(nodes []bool, j int) bool {
		return slices.ContainsFunc(c.inPTX[j], func(n int32) bool { return nodes[n] })
	}
	for j, op := range c.src.ops {
		if !answers(&op.Effect) || !among(before, j) {
			continue
		}
		for _, i := range c.img[j].main {
			of := c.mach.insts[i]
			at := c.search(i, c.after, awaits(of), func(x int32) bool {
				o := int(c.owner[x])
				return o >= 0 && o != j && touchesShared(&c.src.ops[o].Effect) && among(behind, o) && !inTurn(of, c.mach.insts[x])
			})
			switch {
			case at < 0:
			case among(before, int(c.owner[at])): // of which iteration of a loop it is nobody knows
				c.unknown(Missing, k, "what follows may be performed before the answer of %s", op.Inst.Text)
				return
			default:
				c.finding(Missing, k, c.code(i, at), "nothing waits for the answer of %s before what follows", op.Inst.Text)
				c.last().Fence = c.src.ops[k].fence(&Op{})
				return
			}
		}
	}
	c.note(Missing, k, "no instruction is needed for it: shared memory has no copies, and what was read before is waited for")
	c.failed[k] = true
}

// answers reports whether an operation learns of shared memory what another thread has done.
func answers(e *ptx.Effect) bool {
	reads := e.Kind == ptx.Load || e.Kind == ptx.Atomic
	return e.Kind == ptx.MbarWait || reads && !e.Weak() && e.Space != "global"
}

// touchesShared reports whether an operation may be one on an object in shared memory.
func touchesShared(e *ptx.Effect) bool {
	switch e.Kind {
	case ptx.Mbarrier, ptx.MbarArrive, ptx.MbarWait, ptx.Bulk, ptx.Copy, ptx.CopyArrive:
		return true
	}
	return e.Kind.IsAccess() && (e.Space == "shared" || e.Space == "generic")
}

// inTurn reports whether two instructions are accesses to the CTA's own shared memory, which are performed in the order of the program.
func inTurn(a, b *isa.Inst) bool {
	own := func(in *isa.Inst) bool {
		return in.Role.IsAccess() && in.Mem.Space == isa.SpaceShared && in.Op != "SYNCS"
	}
	return own(a) && own(b)
}
