package realcode

import (
	"slices"

	"optcheck/ptx"
)

// waits notes a weak load that has left the loop whose end it decides: the model
// allows that, for nobody may write what is read meanwhile, but a program that waits
// so for another thread waits for ever.
func (c *checker) waits(k int, op *Op, g *images) {
	if op.Effect.Kind != ptx.Load || !op.Effect.Weak() || len(g.main) == 0 {
		return
	}
	loop, inCode := c.pg.circular(), c.loose.circular()
	if !slices.ContainsFunc(c.inPTX[k], loop) ||
		slices.ContainsFunc(g.main, func(i int32) bool { return slices.ContainsFunc(c.inLoose[i], inCode) }) {
		return
	}
	flow, base := flowsFrom(op.Func, op.Inst), c.src.entries[op.Func]
	for n := range c.pg.next {
		at := c.pg.of[n] - base
		if !loop(int32(n)) || at < 0 || int(at) >= len(op.Func.Body) {
			continue
		}
		if in := op.Func.Body[at].Inst; in != nil && in.Name == "bra" && in.Guard >= 0 && flow[in.Guard] {
			c.note(Merged, k, "it has left the loop whose end it decides: a program that waits here for another thread waits for ever")
			return
		}
	}
}

// circular returns whether a node can be reached from itself.
func (g *graph) circular() func(n int32) bool {
	if g.loops == nil {
		g.loops = g.components()
	}
	return func(n int32) bool { return g.loops[n] }
}

// components finds the nodes of loops: Tarjan's strongly connected components, without
// recursion.
func (g *graph) components() []bool {
	n := len(g.next)
	loops, index, low, on := make([]bool, n), make([]int32, n), make([]int32, n), make([]bool, n)
	type frame struct {
		node int32
		edge int
	}
	var stack []int32
	count := int32(0)
	for root := range g.next {
		if index[root] != 0 {
			continue
		}
		work := []frame{{int32(root), 0}}
		for len(work) > 0 {
			f := &work[len(work)-1]
			x := f.node
			if f.edge == 0 {
				count++
				index[x], low[x], on[x] = count, count, true
				stack = append(stack, x)
			}
			if f.edge < len(g.next[x]) {
				y := g.next[x][f.edge]
				f.edge++
				switch {
				case y == x:
					loops[x] = true
				case index[y] == 0:
					work = append(work, frame{y, 0})
				case on[y]:
					low[x] = min(low[x], index[y])
				}
				continue
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				up := work[len(work)-1].node
				low[up] = min(low[up], low[x])
			}
			if low[x] != index[x] {
				continue
			}
			at := slices.Index(stack, x)
			for _, y := range stack[at:] {
				on[y] = false
				loops[y] = loops[y] || len(stack)-at > 1
			}
			stack = stack[:at]
		}
	}
	return loops
}
