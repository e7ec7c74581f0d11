package realcode

import "optcheck/internal/flowgraph"

// decided finds which jumps decide whether a block is come to: one of their ways always comes there, and they do not.
// Jumps in loops decide how often, too: what they decide is not asked.
func (r *reach) decided(next [][]int32, ends []bool) {
	n := len(r.first)
	r.deciding = make([][]int32, n)
	before := make([][]int32, n)
	for b := range n {
		for _, to := range next[b] {
			before[to] = append(before[to], int32(b))
		}
	}
	on, back := func(b int32) []int32 { return next[b] }, func(b int32) []int32 { return before[b] }
	after := flowgraph.Postdominators(n, on, back, func(b int32) bool { return ends[b] })
	known := func(b int32) bool { return after[b] >= 0 } // the others never end
	r.above = flowgraph.Dominators(n, []int32{0}, on, back)
	for b := range int32(n) {
		ways := len(next[b])
		if ends[b] {
			ways++
		}
		if r.free[b] = ways > 1 && !r.loops[b] && known(b); !r.free[b] {
			continue
		}
		for _, to := range next[b] {
			for t := to; t != after[b] && int(t) < n; t = after[t] {
				if r.free[b] = r.free[b] && known(t); !r.free[b] {
					break
				}
				r.deciding[t] = append(r.deciding[t], b)
			}
		}
	}
}
