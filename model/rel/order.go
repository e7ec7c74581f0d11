package rel

import "math/bits"

// Plus sets dst to the transitive closure of a.
func Plus(dst, a Rel) {
	copy(dst, a)
	if len(dst) > 64 {
		warshall(dst)
		return
	}
	// Peel sinks: when an event is taken, its successors are closed already.
	// Events come numbered along program order, so going downwards nearly
	// always takes all of them in one or two sweeps. What is left has a
	// cycle below it and gets the cubic algorithm.
	n := len(dst)
	alive := ^uint64(0) >> (64 - uint(n))
	for alive != 0 {
		before := alive
		for w := alive; w != 0; {
			i := 63 - bits.LeadingZeros64(w)
			w &^= 1 << i
			if i >= n || dst[i]&alive != 0 {
				continue
			}
			acc := dst[i]
			for x := acc; x != 0; x &= x - 1 {
				if j := bits.TrailingZeros64(x); j < len(dst) {
					acc |= dst[j]
				}
			}
			dst[i] = acc
			alive &^= 1 << i
		}
		if alive == before {
			break
		}
	}
	if alive == 0 {
		return
	}
	// Rows outside alive are closed and reach nothing alive.
	for x := alive; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x)
		for y := dst[i] &^ alive; y != 0; y &= y - 1 {
			dst[i] |= dst[bits.TrailingZeros64(y)]
		}
	}
	for x := alive; x != 0; x &= x - 1 {
		k := bits.TrailingZeros64(x)
		row := dst[k]
		for y := alive; y != 0; y &= y - 1 {
			i := bits.TrailingZeros64(y)
			dst[i] |= row & -(dst[i] >> k & 1)
		}
	}
}

// warshall closes r in place.
func warshall(r Rel) {
	n := r.N()
	for k := 0; k < n; k++ {
		row := r.Row(k)
		for i := 0; i < n; i++ {
			if r.Has(i, k) {
				Union(r.Row(i), r.Row(i), row)
			}
		}
	}
}

// Star sets dst to the reflexive-transitive closure of a.
func Star(dst, a Rel) {
	Plus(dst, a)
	Opt(dst, dst)
}

// Irreflexive reports whether no event is related to itself.
func Irreflexive(r Rel) bool {
	if len(r) <= 64 {
		for i, w := range r {
			if w>>i&1 != 0 {
				return false
			}
		}
		return true
	}
	for i, n := 0, r.N(); i < n; i++ {
		if r.Has(i, i) {
			return false
		}
	}
	return true
}

// Acyclic reports whether r has no cycle.
func Acyclic(r Rel) bool {
	if len(r) <= 64 {
		return acyclic64(r)
	}
	var alive, buf [4]uint64
	n, w := r.N(), r.words()
	left := Set(alive[:w])
	left.Fill(n)
	for {
		changed := false
		for i := n - 1; i >= 0; i-- {
			if !left.Has(i) {
				continue
			}
			t := Set(buf[:w])
			Inter(t, r.Row(i), left)
			if IsEmpty(t) {
				left.Remove(i)
				changed = true
			}
		}
		if !changed {
			return IsEmpty(left)
		}
	}
}

func acyclic64(r Rel) bool {
	n := len(r)
	alive := ^uint64(0) >> (64 - uint(n))
	for alive != 0 {
		before := alive
		for i := n - 1; i >= 0; i-- {
			if r[i]&alive == 0 {
				alive &^= 1 << i
			}
		}
		if alive == before {
			return false
		}
	}
	return true
}

// Cycle returns the events of a shortest cycle of r in order (the last one is
// related to the first), starting at its smallest event; of several shortest
// cycles the one through the smallest event. It returns nil if r is acyclic.
func Cycle(r Rel) []int {
	if Acyclic(r) {
		return nil
	}
	var best []int
	for s, n := 0, r.N(); s < n; s++ {
		if c := Path(r, s, s); c != nil && (best == nil || len(c)-1 < len(best)) {
			best = c[:len(c)-1]
		}
	}
	return best
}

// Path returns a shortest path of at least one step from a to b, both ends
// included, or nil if there is none.
func Path(r Rel, a, b int) []int {
	n := r.N()
	var from [MaxEvents]int
	for i := 0; i < n; i++ {
		from[i] = -1
	}
	queue := []int{a}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if r.Has(i, b) {
			path := []int{b, i}
			for i != a {
				i = from[i]
				path = append(path, i)
			}
			for x, y := 0, len(path)-1; x < y; x, y = x+1, y-1 {
				path[x], path[y] = path[y], path[x]
			}
			return path
		}
		r.Row(i).Each(func(j int) bool {
			if from[j] < 0 && j != a {
				from[j] = i
				queue = append(queue, j)
			}
			return true
		})
	}
	return nil
}

// IrreflexiveSeq reports whether a;b relates no event to itself, without
// computing a;b.
func IrreflexiveSeq(a, b Rel) bool {
	if len(a) <= 64 {
		b = b[:len(a)]
		for i, w := range a {
			for ; w != 0; w &= w - 1 {
				if j := bits.TrailingZeros64(w); j < len(b) && b[j]>>i&1 != 0 {
					return false
				}
			}
		}
		return true
	}
	ok := true
	a.Each(func(i, j int) bool {
		ok = !b.Has(j, i)
		return ok
	})
	return ok
}
