package realcode

import (
	"slices"

	"optcheck/ptx"
)

// passed gives loads what has the line of a wait for an mbarrier before them: ptxas 11.2 gives a wait and the guarded loads of shared memory
// behind it one line. A wait has one place, so that what is at another place that is known is not it, but the first load behind it in its
// block that has no image.
func (m *matcher) passed() {
	for k, op := range m.src.ops {
		g := &m.img[k]
		if len(g.main) < 2 || op.Effect.Kind != ptx.MbarWait {
			continue
		}
		slices.Sort(g.main)
		first := g.main[0]
		at, width := m.mach.addrs[first], m.mach.insts[first].Mem.Width
		for _, i := range slices.Clone(g.main[1:]) {
			a := m.mach.addrs[i]
			if !at.fixed() || !a.fixed() || a.root == at.root && a.offset == at.offset || m.mach.insts[i].Mem.Width != width {
				continue
			}
			if j := m.lacking(k, i); j >= 0 {
				m.img[j].main, m.img[j].moved = []int32{i}, true
				m.owner[i] = int32(j)
				g.main = slices.DeleteFunc(g.main, func(x int32) bool { return x == i })
			}
		}
	}
}

// lacking is the first load behind an operation in its block that has no image and may have this one, -1 if there is none.
func (m *matcher) lacking(k int, i int32) int {
	for j := k + 1; j < len(m.src.ops) && m.src.block[j] == m.src.block[k]; j++ {
		op := m.src.ops[j]
		if op.Func == m.src.ops[k].Func && op.Effect.Kind == ptx.Load && len(m.img[j].main) == 0 && op.Effect.Width == m.mach.insts[i].Mem.Width &&
			partOf(op, m.mach.insts[i]) == mainPart {
			return j
		}
	}
	return -1
}
