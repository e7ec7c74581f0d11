package realcode

import "slices"

// decided finds which jumps decide whether a block is come to: one of their ways always comes there, and they do not.
// Jumps in loops decide how often, too: what they decide is not asked.
func (r *reach) decided(next [][]int32, ends []bool) {
	n := len(r.first)
	r.deciding = make([][]int32, n)
	out, back := make([][]int32, n+1), make([][]int32, n+1) // with the end, towards which ways lead
	for b := range n {
		out[b] = slices.Clone(next[b])
		if ends[b] {
			out[b] = append(out[b], int32(n))
		}
		for _, to := range out[b] {
			back[to] = append(back[to], int32(b))
		}
	}
	after := dominate(back, out, []int32{int32(n)})
	known := func(b int32) bool { return b == int32(n) || after.up[b] >= 0 } // the others never end
	for b := range int32(n) {
		if r.free[b] = len(out[b]) > 1 && !r.loops[b] && known(b); !r.free[b] {
			continue
		}
		for _, to := range out[b] {
			for t := to; t != after.up[b] && t >= 0 && int(t) < n; t = after.up[t] {
				if r.free[b] = r.free[b] && known(t); !r.free[b] {
					break
				}
				r.deciding[t] = append(r.deciding[t], b)
			}
		}
	}
}
