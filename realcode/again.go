package realcode

import (
	"slices"

	"optcheck/ptx"
)

// again looks for an atomic that is made twice in a loop that tries again: words
// say nothing there, for the loop has any number of turns. In the PTX, what it
// returned decides whether it comes once more. If in the machine code it comes once
// more whatever it returned, it is there twice.
func (c *checker) again(k int, op *Op, g *images) {
	if op.Effect.Kind != ptx.Atomic || op.Dead || !c.decides(k, op) {
		return
	}
	ours := func(n int32) bool { l := c.loose.letter[n]; return l >= 0 && slices.Contains(g.main, l) }
	must := c.loose.inevitable(ours)
	for n := range c.loose.next {
		if ours(int32(n)) && must[n] {
			c.finding(Duplicated, k, c.code(g.main...), "it is performed once more whatever it returned, which decides that in the PTX")
			return
		}
	}
}

// decides reports whether an operation can only be performed once more after a jump
// that depends on what it returned.
func (c *checker) decides(k int, op *Op) bool {
	base, body := c.src.entries[op.Func], op.Func.Body
	flow := flowsFrom(op.Func, op.Inst)
	turn := func(n int32) bool {
		at := c.pg.of[n] - base
		if at < 0 || int(at) >= len(body) || body[at].Inst == nil {
			return false
		}
		in := body[at].Inst
		return in.Guard >= 0 && flow[in.Guard] && (in.Name == "bra" || in.Name == "exit" || in.Name == "ret")
	}
	seen := make([]bool, len(c.pg.next))
	var work []int32
	for _, n := range c.inPTX[k] {
		work = append(work, c.pg.next[n]...)
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		switch {
		case seen[n]:
			continue
		case c.pg.letter[n] == int32(k):
			return false
		}
		seen[n] = true
		if !turn(n) {
			work = append(work, c.pg.next[n]...)
		}
	}
	return true
}

// flowsFrom lists the registers that depend on what an instruction returns, through
// registers, wherever they are written.
func flowsFrom(f *ptx.Func, from *ptx.Inst) map[int]bool {
	flow := map[int]bool{}
	for _, r := range defined(from) {
		flow[r] = true
	}
	for news := true; news; {
		news = false
		for i := range f.Body {
			in := f.Body[i].Inst
			if in == nil || !slices.ContainsFunc(used(in), func(r int) bool { return flow[r] }) {
				continue
			}
			for _, r := range defined(in) {
				news = news || !flow[r]
				flow[r] = true
			}
		}
	}
	return flow
}

// inevitable tells of each node whether every way on from it comes to one of some
// nodes.
func (g *graph) inevitable(goal func(n int32) bool) []bool {
	before, open := make([][]int32, len(g.next)), make([]int, len(g.next))
	var work []int32
	for n, next := range g.next {
		open[n] = len(next)
		for _, x := range next {
			before[x] = append(before[x], int32(n))
		}
		if goal(int32(n)) {
			work = append(work, int32(n))
		}
	}
	must := make([]bool, len(g.next))
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		for _, n := range before[x] {
			if open[n]--; open[n] == 0 {
				must[n] = true
				if !goal(n) {
					work = append(work, n)
				}
			}
		}
	}
	return must
}
