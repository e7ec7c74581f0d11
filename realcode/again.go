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
			c.because(c.counted(op, 2))
			return
		}
	}
}

// decides reports whether an operation can only be performed once more after a jump
// out of its loop, or back, that depends on what it returned.
func (c *checker) decides(k int, op *Op) bool {
	base, body := c.src.entries[op.Func], op.Func.Body
	flow := c.src.flowsFrom(op)
	own, _ := c.loopOf(k)
	if own == nil {
		return false
	}
	leaves := func(at int32) bool {
		return slices.ContainsFunc(following(c.src.steps, at), func(to int32) bool { return !own.has(to) })
	}
	turn := func(n int32) bool {
		at := c.pg.of[n] - base
		if at < 0 || int(at) >= len(body) || body[at].Inst == nil {
			return false
		}
		in := body[at].Inst
		return in.Guard >= 0 && flow[in.Guard] && (in.Name == "bra" && leaves(c.pg.of[n]) || in.Name == "exit" || in.Name == "ret")
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

// endAlike reports whether what follows two operations up to where their paths meet
// is alike: of two such ends, a compiler makes one.
func (s *source) endAlike(a, b *Op) bool {
	at := func(op *Op) int {
		return slices.IndexFunc(op.Func.Body, func(st ptx.Stmt) bool { return st.Inst == op.Inst })
	}
	body := a.Func.Body
	i, j := at(a)+1, at(b)+1
	for i != j {
		x, y := s.matters(body, i), s.matters(body, j)
		if x < 0 || y < 0 || x == y {
			return x == y
		}
		p, q := body[x].Inst, body[y].Inst
		if p.Op != q.Op || p.Name == "bra" && p.Args[0].Name != q.Args[0].Name {
			return false
		}
		switch {
		case p.Name == "ret" || p.Name == "exit" || p.Name == "trap" || p.Name == "bra" && p.Guard < 0:
			return true
		}
		i, j = x+1, y+1
	}
	return true
}

// matters is the next statement that is compared or jumps, -1 at the end of the body.
// Jumps without a condition are followed, unless they go back.
func (s *source) matters(body []ptx.Stmt, i int) int {
	for ; i < len(body); i++ {
		in := body[i].Inst
		if in == nil {
			continue
		}
		e := in.Effect()
		if compared(&e) || warpWide(in) || in.Name == "call" || in.Name == "brx" || in.Name == "ret" || in.Name == "exit" || in.Name == "trap" {
			return i
		}
		if in.Name == "bra" {
			to := slices.IndexFunc(body, func(st ptx.Stmt) bool { return st.Kind == ptx.StmtLabel && st.Name == in.Args[0].Name })
			if in.Guard >= 0 || to < i {
				return i
			}
			i = to
		}
	}
	return -1
}
