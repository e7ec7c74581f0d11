// Package flowgraph analyses flow graphs: in which order nodes come, and which nodes are on every way to others. Nodes are
// numbers from 0 on; what they stand for, instructions, steps or blocks, is up to those who ask.
package flowgraph

import "slices"

// Node is a node of a graph.
type Node interface{ ~int | ~int32 }

// Order returns the nodes that can be reached from the entries, in reverse postorder: but for the edges of loops each comes
// after those before it. Later successors are visited first, so that the order follows the text.
func Order[N Node](n int, entries []N, next func(N) []N) (order []N) {
	type step struct {
		node N
		left []N
	}
	seen := make([]bool, n)
	var todo []step
	visit := func(v N) {
		if !seen[v] {
			seen[v] = true
			todo = append(todo, step{v, next(v)})
		}
	}
	for _, e := range slices.Backward(entries) {
		for visit(e); len(todo) > 0; {
			top := &todo[len(todo)-1]
			last := len(top.left) - 1
			if last < 0 {
				order = append(order, top.node)
				todo = todo[:len(todo)-1]
				continue
			}
			to := top.left[last]
			top.left = top.left[:last]
			visit(to)
		}
	}
	slices.Reverse(order)
	return order
}

// Postdominators returns for each node the next one on every way from it to an end: n if that is the end itself, -1 if no
// way ends. ends tells at which nodes a way may end; it may go on there, too.
func Postdominators[N Node](n int, next, before func(N) []N, ends func(N) bool) []N {
	end := N(n)
	var last []N
	for v := N(0); v < end; v++ {
		if ends(v) {
			last = append(last, v)
		}
	}
	back := func(v N) []N {
		if v == end {
			return last
		}
		return before(v)
	}
	on := func(v N) []N {
		if v == end {
			return nil
		}
		if list := next(v); !ends(v) {
			return list
		} else {
			return append(list[:len(list):len(list)], end)
		}
	}
	return Dominators(n+1, []N{end}, back, on)
}
