package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// joined gives an orphan to the weak stores of its very address whose paths meet before anything
// that orders: where a condition has one made again, the machine code may store once, where the paths
// meet, what either left there. All their images then are those of one operation. It does not if the
// orphan may be of another store there, which has no image.
func (m *matcher) joined(i int32, distance map[rootPair]int64) bool {
	found := m.storesAt(i, distance)
	var meet []int
	for n := 0; n < len(found) && len(meet) < 2; n++ {
		meet = []int{found[n]}
		for _, j := range found[n+1:] {
			if m.src.meet(found[n], j, found) {
				meet = append(meet, j)
			}
		}
	}
	if len(meet) < 2 || slices.ContainsFunc(found, func(k int) bool { return !slices.Contains(meet, k) && len(m.img[k].main) == 0 }) {
		return false
	}
	at, last := []int32{i}, meet[len(meet)-1]
	for _, k := range meet {
		at = append(at, m.img[k].main...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, k := range meet {
		m.img[k].main, m.img[k].moved = slices.Clone(at), true
		if k != last {
			m.img[k].by = last
		}
	}
	for _, x := range at {
		m.owner[x] = int32(last)
	}
	return true
}

// storesAt are the weak stores of the PTX whose bytes are those of one of the machine code.
func (m *matcher) storesAt(i int32, distance map[rootPair]int64) (out []int) {
	in, a := m.mach.insts[i], m.mach.addrs[i]
	for k, op := range m.src.ops {
		d, ok := distance[rootPair{op.addr.root, a.root}]
		if ok && op.Effect.Kind == ptx.Store && op.Effect.Weak() && in.Mem.Strength == isa.Weak && partOf(op, in) == mainPart &&
			op.addr.width == a.width && op.addr.offset+d == a.offset {
			out = append(out, k)
		}
	}
	return out
}

// meet reports whether the paths behind two stores come to one place before anything that orders,
// and before another store of their address.
func (s *source) meet(a, b int, stores []int) bool {
	behind := s.lasting(a, stores)
	for i := range s.lasting(b, stores) {
		if behind[i] {
			return true
		}
	}
	return false
}

// lasting are the steps behind a store to which it is the last one of its address, up to what orders.
func (s *source) lasting(k int, stores []int) map[int32]bool {
	from := slices.IndexFunc(s.steps, func(st step) bool { return st.letter == int32(k) })
	return reached(following(s.steps, int32(from)), func(i int32) []int32 {
		st := &s.steps[i]
		again := st.letter >= 0 && slices.Contains(stores, int(st.letter))
		switch {
		case st.letter >= 0 && s.ops[st.letter].strong() || len(st.call) > 0 || st.ret:
			return nil
		case again && st.guard >= 0:
			return []int32{i + 1}
		case again:
			return nil
		}
		return following(s.steps, i)
	})
}
