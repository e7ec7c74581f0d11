package verify

import (
	"optcheck/emu"
	"optcheck/ir"
)

// copies are a thread's asynchronous copies: the number of its open group.
type copies struct{ group uint32 }

// copier is the lane that stands for the asynchronous copies of a thread: they are ordered behind what the thread did before,
// and before what it does after it has waited for their group.
func (m *monitor) copier(x id) id {
	x.warp += int32(m.shape.warps)
	return x
}

// Copy is an asynchronous copy, or a wait for some.
func (m *monitor) Copy(w *emu.Warp, pc int32, c *ir.Copy, act uint32, to, from *[emu.Lanes]emu.Place) error {
	if c.Kind == ir.CopyBulk {
		return &emu.Cannot{Inst: int(pc), Why: "the order of a bulk copy is not followed"}
	}
	if c.Kind > ir.CopyWaitAll {
		return unordered(pc, "bulk copies")
	}
	n := m.number(w)
	lanes(act, func(l int) {
		by := m.id(w, l)
		g, th := m.groups[by], &m.threads[n][l]
		if g == nil {
			g = &copies{1}
			m.groups[by] = g
		}
		switch c.Kind {
		case ir.CopyAsync:
			m.copied(w, pc, c, l, g, to[l], from[l])
		case ir.CopyCommit:
			g.group++
		case ir.CopyWait:
			if done := int64(g.group) - 1 - int64(c.Groups); done > 0 {
				th.clock = th.clock.with(m.copier(by), uint32(done), m.shape)
			}
		case ir.CopyWaitAll:
			th.clock = th.clock.with(m.copier(by), g.group, m.shape)
			g.group++
		}
	})
	return m.grid.Copy(w, pc, c, act, to, from)
}

// copied is what a copy reads and writes.
func (m *monitor) copied(w *emu.Warp, pc int32, c *ir.Copy, l int, g *copies, to, from emu.Place) {
	by := m.id(w, l)
	as, th := m.copier(by), &m.threads[m.number(w)][l]
	t := touch{block: as.block, warp: as.warp, mask: 1 << l, time: g.group, pc: pc, size: 4}
	load, store := ir.Access{Kind: ir.Load, Bytes: 4}, ir.Access{Kind: ir.Store, Bytes: 4}
	m.now = current{w, &load, l, from}
	m.words(w, from, w.CopySize(c, l), &t, by, th, &load)
	t.write = true
	m.now = current{w, &store, l, to}
	m.words(w, to, c.Bytes, &t, by, th, &store)
}
