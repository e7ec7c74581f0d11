package realcode

import (
	"slices"

	"optcheck/ptx"
)

// passed gives loads what has the line of another operation: ptxas 11.2 gives a wait for an mbarrier and the guarded loads behind it one line,
// and two loads under one condition the line of either. An operation has one place, so that of images at two places that are known one is
// another's: of the first load behind it in its block that has none, or of two loads under one condition that of the one before it.
func (m *matcher) passed() {
	for k, op := range m.src.ops {
		g := &m.img[k]
		guarded := op.Effect.Kind == ptx.Load && op.Inst.Guard >= 0
		if len(g.main) < 2 || op.Effect.Kind != ptx.MbarWait && !guarded {
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
			j, image := m.lacking(k, i, 1), i
			if j < 0 && guarded && len(g.main) == 2 {
				j, image = m.lacking(k, first, -1), first
			}
			if j >= 0 {
				m.img[j].main, m.img[j].moved = []int32{image}, true
				m.owner[image] = int32(j)
				g.main = slices.DeleteFunc(g.main, func(x int32) bool { return x == image })
			}
		}
	}
}

// lacking is the next load behind (step 1) or before (-1) an operation in its block that has no image and may have this one, under the same
// condition if the operation is a load; -1 if there is none.
func (m *matcher) lacking(k int, i int32, step int) int {
	of := m.src.ops[k]
	for j := k + step; j >= 0 && j < len(m.src.ops) && m.src.block[j] == m.src.block[k]; j += step {
		op := m.src.ops[j]
		under := of.Effect.Kind != ptx.Load || op.Inst.Guard == of.Inst.Guard && op.Inst.Neg == of.Inst.Neg
		if op.Func == of.Func && op.Effect.Kind == ptx.Load && under && len(m.img[j].main) == 0 && op.Effect.Width == m.mach.insts[i].Mem.Width &&
			partOf(op, m.mach.insts[i]) == mainPart {
			return j
		}
	}
	return -1
}
