package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// waits notes a weak load that has left the loop whose end it decides: the model
// allows that, for nobody may write what is read meanwhile, but a program that waits
// so for another thread waits for ever. In the PTX no turn of the loop goes without it; in
// the machine code one goes without any load of its location, or there is no loop: as if
// the value had come at once.
func (c *checker) waits(k int, op *Op) {
	if op.Effect.Kind != ptx.Load || !op.Effect.Weak() || op.Dead || len(c.img[k].main) == 0 && c.orphaned {
		return
	}
	ends := c.decided(k, op)
	if len(ends) == 0 {
		return
	}
	var loads []int32
	for j, x := range c.src.ops {
		if j == k || x.Effect.Kind == ptx.Load && !apart(x, op) {
			for _, i := range c.img[j].main {
				loads = append(loads, c.inLoose[i]...)
			}
		}
	}
	for _, in := range ends {
		gone := len(loads) == 1 && !c.loose.circular()(loads[0])
		for m := range c.loose.next {
			if i := c.loose.of[m]; i < 0 || c.mach.insts[i].Src.Line != in.N || c.mach.insts[i].Flow != isa.FlowJump {
				continue
			}
			gone = gone && !c.loose.circular()(int32(m))
			if c.loose.turns(int32(m), loads) {
				c.note(Merged, k, "it has left the loop whose end it decides: a program that waits here for another thread waits for ever")
				return
			}
		}
		if gone {
			c.note(Merged, k, "the loop whose end it decides is gone: a program that waits here for another thread does not wait")
			return
		}
	}
}

// loopEnds are the jumps of a function that have a condition and are in loops.
type loopEnds struct {
	nodes []int32
	on    map[int]bool // registers that the conditions depend on
}

// decided lists the jumps, at the ends of loops of which no turn goes without an operation, that
// depend on what it returns.
func (c *checker) decided(k int, op *Op) (ends []*ptx.Inst) {
	e := c.loopEnds(op.Func)
	if !slices.ContainsFunc(defined(op.Inst), func(r int) bool { return e.on[r] }) {
		return nil
	}
	flow, base := c.src.flowsFrom(op), c.src.entries[op.Func]
	for _, n := range e.nodes {
		if in := op.Func.Body[c.pg.of[n]-base].Inst; flow[in.Guard] && !c.pg.turns(n, c.inPTX[k]) {
			ends = append(ends, in)
		}
	}
	return ends
}

func (c *checker) loopEnds(f *ptx.Func) loopEnds {
	if e, ok := c.ends[f]; ok {
		return e
	}
	e := loopEnds{on: map[int]bool{}}
	loop, base := c.pg.circular(), c.src.entries[f]
	for n := range c.pg.next {
		at := c.pg.of[n] - base
		if !loop(int32(n)) || at < 0 || int(at) >= len(f.Body) {
			continue
		}
		if in := f.Body[at].Inst; in != nil && in.Name == "bra" && in.Guard >= 0 {
			e.nodes, e.on[in.Guard] = append(e.nodes, int32(n)), true
		}
	}
	spread(c.src.registers(f).of, e.on)
	c.ends[f] = e
	return e
}

// turns reports whether control comes from a node back to it without passing others.
func (g *graph) turns(n int32, without []int32) bool {
	seen := map[int32]bool{}
	for _, x := range without {
		seen[x] = true
	}
	work := slices.Clone(g.next[n])
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] {
			continue
		}
		if seen[x] = true; x == n {
			return true
		}
		work = append(work, g.next[x]...)
	}
	return false
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
