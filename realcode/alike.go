package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// share gives each of the loads of one address an image of its own, in their order, if there are as many
// of them, and one load has none: ptxas 11.2 gives two loads one line, or that of what follows.
func (m *matcher) share(distance map[rootPair]int64) {
	groups := map[address][]int{}
	var order []address
	for k, op := range m.src.ops {
		if op.Effect.Kind == ptx.Load && !op.Dead {
			if groups[op.addr] == nil {
				order = append(order, op.addr)
			}
			groups[op.addr] = append(groups[op.addr], k)
		}
	}
	for _, a := range order {
		lacks := func(k int) bool { return len(m.img[k].main) == 0 }
		if ops := groups[a]; len(ops) > 1 && slices.ContainsFunc(ops, lacks) {
			m.inTurn(ops, m.loadsOf(ops, distance))
		}
	}
}

// loadsOf are the loads of the machine code at the address of operations that are theirs, or nobody's.
func (m *matcher) loadsOf(ops []int, distance map[rootPair]int64) (out []int32) {
	own := m.src.ops[ops[0]].addr
	orphans := m.orphans()
	for i, in := range m.mach.insts {
		a := m.mach.addrs[i]
		d, known := distance[rootPair{own.root, a.root}]
		if known && in.Role == isa.RoleLoad && a.width == own.width && a.offset == own.offset+d &&
			(slices.Contains(ops, int(m.owner[i])) || slices.Contains(orphans, int32(i))) {
			out = append(out, int32(i))
		}
	}
	return out
}

// inTurn gives each operation the first of the images that is left and is no less than it, if that suits all.
// One that has images keeps one of them.
func (m *matcher) inTurn(ops []int, images []int32) {
	if len(ops) != len(images) {
		return
	}
	fits := func(k int, i int32) bool {
		own := m.img[k].main
		return partOf(m.src.ops[k], m.mach.insts[i]) == mainPart && weaker(m.src.ops[k], m.mach.insts[i], m.mach.sm) == "" &&
			(slices.Contains(own, i) || !slices.ContainsFunc(own, func(x int32) bool { return slices.Contains(images, x) }))
	}
	given := make([]int32, len(ops))
	left := slices.Clone(images)
	for n, k := range ops {
		at := slices.IndexFunc(left, func(i int32) bool { return fits(k, i) })
		if at < 0 {
			return
		}
		given[n] = left[at]
		left = slices.Delete(left, at, at+1)
	}
	for n, k := range ops {
		for x, j := range ops { // two that could have each other's are told by nothing but their order
			if x != n && fits(k, given[x]) && fits(j, given[n]) && !slices.Equal(m.img[k].main, given[n:n+1]) {
				m.img[k].moved = true
			}
		}
	}
	for n, k := range ops {
		m.img[k].main = []int32{given[n]}
		m.owner[given[n]] = int32(k)
	}
}
