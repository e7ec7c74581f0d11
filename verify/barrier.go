package verify

import (
	"fmt"

	"optcheck/emu"
	"optcheck/ir"
)

type barKey struct{ block, id int }

// bar is a barrier of a block in its present phase.
type bar struct {
	clocks []*clock         // of those who have come, each once
	came   map[int]*arrival // by warp of the block
	count  uint64
	first  int32 // the instruction of by, who came first
	by     id
	whole  bool // all of the block are waited for
}

// arrival is who has come of a warp.
type arrival struct {
	mask    uint32
	times   row
	pcs     [emu.Lanes]int32
	aligned uint32
}

// Barrier notes who comes, with what it knows, and lets the grid decide who waits.
func (m *monitor) Barrier(w *emu.Warp, pc int32, b *ir.Barrier, act uint32) (bool, error) {
	if b.Kind >= ir.BarrierCluster {
		m.clusterBarrier(w, b, act)
		return m.grid.Barrier(w, pc, b, act)
	}
	n := m.number(w)
	operand := func(r ir.Reg, l int) uint64 {
		if r < 0 {
			return 0
		}
		return w.Reg(r, l) & 0xffffffff
	}
	lanes(act, func(l int) {
		k := barKey{m.block(w), int(operand(b.ID, l))}
		x, count := m.bars[k], operand(b.Count, l)
		if x == nil {
			x = &bar{came: map[int]*arrival{}, count: count, first: pc, by: m.id(w, l), whole: count == 0}
			m.bars[k] = x
		}
		if count%emu.Lanes != 0 {
			m.at(BarrierCount, pc, m.id(w, l), emu.Place{}, fmt.Sprintf("the barrier is for %d threads, which is no multiple of 32", count))
		}
		if count != x.count {
			m.pair(BarrierCount, x.first, x.by, pc, m.id(w, l), fmt.Sprintf("barrier %d is for %s here and for %s there", k.id, threadCount(count), threadCount(x.count)))
		}
		c := m.thread(n, l).clock
		if k := len(x.clocks); k == 0 || x.clocks[k-1] != c {
			x.clocks = append(x.clocks, c)
		}
		a := x.came[w.ID]
		if a == nil {
			a = &arrival{}
			x.came[w.ID] = a
		}
		a.mask |= 1 << l
		a.times[l], a.pcs[l] = m.times[n], pc
		if b.Aligned {
			a.aligned |= 1 << l
		}
	})
	m.times[n]++
	return m.grid.Barrier(w, pc, b, act)
}

func threadCount(n uint64) string {
	if n == 0 {
		return "all threads"
	}
	return fmt.Sprintf("%d threads", n)
}

// opened orders all who have come to a barrier before those whom it lets go on.
func (m *monitor) opened(b *emu.Block, number int, waiting map[*emu.Warp]uint32) {
	k := barKey{b.Number, number}
	x := m.bars[k]
	if x == nil {
		return
	}
	delete(m.bars, k)
	if m.together != nil {
		m.together(x)
	}
	m.diverged(b, x)
	all := m.shape.none()
	for _, c := range x.clocks {
		all = join(all, c, m.shape)
	}
	c, bc := all.edit(int32(b.Number), m.shape)
	if m.everybody(b, x) {
		m.floor(b.Number, bc)
	} else {
		for id, a := range x.came {
			r := bc.editRow(int32(id), m.shape)
			lanes(a.mask, func(l int) { r[l] = max(r[l], a.times[l]) })
		}
	}
	for w, mask := range waiting {
		n := m.number(w)
		lanes(mask, func(l int) { m.threads[n][l].clock = c })
	}
}

// everybody reports whether all threads of a block have come to a barrier, of whom none has ended.
func (m *monitor) everybody(b *emu.Block, x *bar) bool {
	n := 0
	for _, a := range x.came {
		lanes(a.mask, func(int) { n++ })
	}
	return n == m.grid.Launch.Threads()
}

// floor makes all threads of a block known up to now.
func (m *monitor) floor(block int, bc *blockClock) {
	first, top := block*m.shape.warps, uint32(0)
	for i := range m.shape.warps {
		top = max(top, m.times[first+i])
		bc.warps[i] = nil
	}
	for i := range m.shape.warps {
		m.times[first+i] = top + 1
	}
	bc.floor = top
}

// diverged looks for lanes that came to an aligned barrier elsewhere than others of their warp, or did not come.
func (m *monitor) diverged(b *emu.Block, x *bar) {
	var one, other int32 = -1, -1
	var oneID, otherID id
	for i := range m.shape.warps {
		a := x.came[i]
		if a == nil {
			continue
		}
		w := m.grid.Warps[b.Number*m.shape.warps+i]
		missing := w.Live() &^ a.mask
		pc, first := int32(-1), id{}
		lanes(a.mask, func(l int) {
			by := m.id(w, l)
			switch {
			case pc < 0:
				pc, first = a.pcs[l], by
			case pc != a.pcs[l] && a.aligned>>l&1 == 1:
				m.pair(BarrierDivergence, pc, first, a.pcs[l], by, "lanes of a warp come to different instructions of a barrier that is for the whole warp")
			}
			if a.aligned>>l&1 == 1 && missing != 0 {
				m.at(BarrierDivergence, a.pcs[l], by, emu.Place{}, "other lanes of the warp do not come to this barrier, which is for the whole warp")
			}
		})
		if one < 0 {
			one, oneID = pc, first
		} else if pc != one {
			other, otherID = pc, first
		}
	}
	if x.whole && m.found.options.CUDA {
		m.skipped(b, x)
	}
	if other >= 0 && x.whole && m.found.options.CUDA {
		m.pair(BarrierDivergence, one, oneID, other, otherID, "warps of the block come to different __syncthreads()")
	}
}

// meeting is the barrier of a cluster: what those who have arrived in each phase have made known.
type meeting struct {
	phases []**clock
	// comes is what those who have arrived in each phase had done, also where they made nothing known.
	comes []**clock
}

// clusterBarrier notes arrivals at the barrier of a cluster, and who waits for them: who goes on knows all that arrived.
func (m *monitor) clusterBarrier(w *emu.Warp, b *ir.Barrier, act uint32) {
	n := m.number(w)
	c := m.cluster[m.block(w)]
	x := m.meets[c]
	if x == nil {
		x = &meeting{}
		m.meets[c] = x
	}
	lanes(act, func(l int) {
		th := m.thread(n, l)
		if b.Kind == ir.BarrierClusterArrive {
			if th.arrived++; len(x.phases) < th.arrived {
				none, nobody := m.shape.none(), m.shape.none()
				x.phases, x.comes = append(x.phases, &none), append(x.comes, &nobody)
			}
			c := th.clock.with(m.id(w, l), m.times[n], m.shape)
			come := x.comes[th.arrived-1]
			*come = join(*come, c, m.shape)
			if now := x.phases[th.arrived-1]; b.Sem == ir.Release {
				*now = join(*now, c, m.shape)
			}
			return
		}
		if th.arrived > 0 {
			th.after = append(th.after[max(0, len(th.after)-1):], x.comes[th.arrived-1])
			if b.Sem == ir.Acquire {
				th.met = x.phases[th.arrived-1]
			}
		}
	})
	m.times[n]++
}

// clusterOf numbers the clusters of a launch.
func clusterOf(l *emu.Launch, block int) int32 {
	c := l.Cluster
	if c == [3]int{} {
		return int32(block)
	}
	x, y, z := block%l.Grid[0]/c[0], block/l.Grid[0]%l.Grid[1]/c[1], block/l.Grid[0]/l.Grid[1]/c[2]
	return int32(x + l.Grid[0]*(y+l.Grid[1]*z))
}
