package verify

import (
	"math/bits"

	"optcheck/emu"
	"optcheck/ir"
)

// productsOf stands for the products of a warpgroup (wgmma.mma_async), which its four warps perform: they read shared memory by the async proxy
// until their group is waited for, by any of the warps.
func (m *monitor) productsOf(w *emu.Warp) id {
	return id{int32(m.block(w)), m.shape.products() + int32(w.ID&^3), 0}
}

// products is an operation of wgmma by the lanes of a warp, which perform it together.
func (m *monitor) products(w *emu.Warp, pc int32, c *ir.Copy, act uint32) error {
	agent, n := m.productsOf(w), m.number(w)
	g := m.copiesOf(m.id(w, 0))
	if err := m.grid.Copy(w, pc, c, act, nil, nil); err != nil {
		return err
	}
	switch c.Kind {
	case ir.CopyProduct:
		return m.product(w, pc, c, act, touch{block: agent.block, warp: agent.warp, mask: 1 << agent.lane, time: g.product, pc: pc, size: 4, async: true})
	case ir.CopyCommit:
		g.product++
	case ir.CopyWait:
		if done := int64(g.product) - 1 - int64(c.Groups); done > 0 {
			lanes(act, func(l int) {
				th := m.thread(n, l)
				th.clock = th.clock.with(agent, uint32(done), m.shape)
			})
		}
	}
	return nil
}

// product is what a warp reads for a product. The lanes begin it together, so that it comes behind what any of them has done.
func (m *monitor) product(w *emu.Warp, pc int32, c *ir.Copy, act uint32, t touch) error {
	n, l := m.number(w), bits.TrailingZeros32(act)
	var all *clock
	lanes(act, func(l int) { all = join(all, m.thread(n, l).clock, m.shape) })
	lanes(act, func(l int) { all = all.with(m.id(w, l), m.times[n], m.shape) })
	load, th, by := ir.Access{Kind: ir.Load, Bytes: 4}, &thread{clock: all}, m.id(w, l)
	return w.EachChunk(pc, c.Product, act, func(p emu.Place) {
		m.now = current{w, &load, l, p}
		if !m.layout.inside(p, emu.ChunkBytes) {
			m.suspect(OutOfBounds, pc, by, p, "a matrix that a product reads")
		}
		m.words(w, p, emu.ChunkBytes, &t, by, th, &load)
	})
}
