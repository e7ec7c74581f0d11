package verify

import (
	"cmp"
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// Shared memory of another block of the cluster is there from when that block has begun until its last thread has ended: who accesses it must
// know a thread of the block, and a thread of the block must know of the access before it ends. PTX ISA, shared::cluster; CUDA C++ Programming Guide,
// Distributed Shared Memory.

// remote is an access of another block's shared memory, by an instruction of a lane, or a copy that it has begun.
type remote struct {
	owner int32
	by    id
	pc    int32
}

// abroad notes an access that may be one of another block's shared memory.
func (m *monitor) abroad(t *touch, by id, th *thread, p emu.Place) {
	owner := int32(p.Addr>>32) - 1
	if p.Space != ir.Shared || owner < 0 || owner == by.block || int(owner) >= m.shape.blocks {
		return
	}
	if !m.begun(th, owner) {
		m.at(Early, t.pc, by, p, "nothing tells the thread that the other block has begun: a barrier of the cluster must come before")
	}
	as := id{t.block, t.warp, m.first(t, by, m.shape.none())}
	m.remotes[remote{owner, as, t.pc}] = t.time // the last one is the last to be known
}

// begun reports whether a thread knows one of a block.
func (m *monitor) begun(th *thread, block int32) bool {
	knows := func(c *clock) bool {
		b := c.blocks[block]
		if b == nil {
			return false
		}
		return b.floor > 0 || slices.ContainsFunc(b.warps[:m.shape.warps], func(r *row) bool { return r != nil && slices.Max(r[:]) > 0 })
	}
	return knows(th.clock) || slices.ContainsFunc(th.after, func(c **clock) bool { return knows(*c) })
}

// outlived notes the accesses of shared memory of blocks whose threads know nothing of them when they end.
func (m *monitor) outlived() {
	order := func(a, b remote) int {
		return cmp.Or(cmp.Compare(a.pc, b.pc), cmp.Compare(a.owner, b.owner), cmp.Compare(a.by.block, b.by.block), cmp.Compare(a.by.warp, b.by.warp), cmp.Compare(a.by.lane, b.by.lane))
	}
	for _, r := range slices.SortedFunc(maps.Keys(m.remotes), order) {
		time := m.remotes[r]
		known := false
		for w := range m.shape.warps {
			for l := range emu.Lanes {
				th := m.thread(int(r.owner)*m.shape.warps+w, l)
				known = known || th.clock.get(r.by, m.shape) >= time ||
					slices.ContainsFunc(th.after, func(c **clock) bool { return (*c).get(r.by, m.shape) >= time })
			}
		}
		if !known {
			m.at(Lifetime, r.pc, r.by, emu.Place{}, "the other block may have ended: none of its threads waits for the access, by a barrier of the cluster or otherwise")
		}
	}
}
