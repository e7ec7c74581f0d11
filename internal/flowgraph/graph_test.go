package flowgraph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn is a graph of any shape, with its entries and what comes before each node.
func drawn(t *rapid.T) (n int, entries []int32, next, before [][]int32) {
	n = rapid.IntRange(1, 12).Draw(t, "nodes")
	next, before = make([][]int32, n), make([][]int32, n)
	node := rapid.Int32Range(0, int32(n)-1)
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		a, b := node.Draw(t, "from"), node.Draw(t, "to")
		next[a], before[b] = append(next[a], b), append(before[b], a)
	}
	return n, rapid.SliceOfNDistinct(node, 1, min(n, 3), rapid.ID).Draw(t, "entries"), next, before
}

func of(list [][]int32) func(int32) []int32 { return func(v int32) []int32 { return list[v] } }

// reach tells what can be reached from some nodes without one of them.
func reach(next [][]int32, from []int32, without int32) []bool {
	seen := make([]bool, len(next))
	for todo := slices.Clone(from); len(todo) > 0; {
		v := todo[0]
		if todo = todo[1:]; v != without && !seen[v] {
			seen[v] = true
			todo = append(todo, next[v]...)
		}
	}
	return seen
}

// nearest is by its definition which of the nodes on every way is the last: the one that has all others before it.
func nearest(next [][]int32, from []int32, v int32) int32 {
	if !reach(next, from, -1)[v] {
		return -1
	}
	best, most := int32(-1), -1
	for d := range int32(len(next)) {
		if d == v || reach(next, from, d)[v] {
			continue
		}
		above := 0
		for e := range int32(len(next)) {
			if e != d && reach(next, from, -1)[d] && !reach(next, from, e)[d] {
				above++
			}
		}
		if above > most {
			best, most = d, above
		}
	}
	return best
}

// TestDominators: dominators are what the search of paths says.
func TestDominators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, entries, next, before := drawn(t)
		up := Dominators(n, entries, of(next), of(before))
		require.Len(t, up, n)
		for v := range int32(n) {
			want := nearest(next, entries, v)
			require.Equal(t, want, up[v], "node %d of %v from %v", v, next, entries)
		}
	})
}

// TestPostdominators: they are the dominators of the graph backwards, from a node behind all ends.
func TestPostdominators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, ends, next, before := drawn(t)
		up := Postdominators(n, of(next), of(before), func(v int32) bool { return slices.Contains(ends, v) })
		back := append(slices.Clone(before), ends)
		for v := range int32(n) {
			require.Equal(t, nearest(back, []int32{int32(n)}, v), up[v], "node %d of %v to %v", v, next, ends)
		}
	})
}

// TestOrder: what is reached is there once, after all that lead to it but for edges that close a loop, which lead to a node
// from which they are reached.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, entries, next, _ := drawn(t)
		order := Order(n, entries, of(next))
		seen := reach(next, entries, -1)
		at := map[int32]int{}
		for i, v := range order {
			require.True(t, seen[v])
			require.NotContains(t, at, v)
			at[v] = i
		}
		for v := range int32(n) {
			_, there := at[v]
			require.Equal(t, seen[v], there)
			for _, to := range next[v] {
				if there && at[to] < at[v] {
					require.True(t, reach(next, []int32{to}, -1)[v], "from %d to %d in %v", v, to, order)
				}
			}
		}
	})
	require.Equal(t, []int{0, 1, 2, 3}, Order(4, []int{0}, func(v int) []int { return [][]int{{1, 2}, {3}, {3}, nil}[v] }), "as in the text")
}
