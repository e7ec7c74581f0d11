package realcode

import (
	"slices"

	"optcheck/ptx"
)

// again looks for an atomic that is made twice in a loop that tries again: words
// say nothing there, for the loop has any number of turns. In the PTX, what it
// returned decides whether it comes once more. If in the machine code it comes once
// more whatever it returned, it is there twice.
func (c *checker) again(k int, op *Op, g *images) bool {
	if op.Effect.Kind != ptx.Atomic || op.Dead || !c.decides(k, op) {
		return false
	}
	ours := func(n int32) bool { l := c.loose.letter[n]; return l >= 0 && slices.Contains(g.main, l) }
	must := c.loose.inevitable(ours)
	for n := range c.loose.next {
		if ours(int32(n)) && must[n] {
			c.finding(Duplicated, k, c.code(g.main...), "it is performed once more whatever it returned, which decides that in the PTX")
			c.because(c.counted(op, 2))
			return true
		}
	}
	return false
}

// twice looks for an atomic that is made twice where its neighbours, which the PTX
// has exactly as often, are made once: in one stretch of the machine code without
// branches. Neighbours are operations that cannot be left out: no load of a place
// that may be the same in each turn.
func (c *checker) twice(k int, op *Op, g *images) {
	if op.Effect.Kind != ptx.Atomic && op.Effect.Kind != ptx.Reduction || len(g.main) < 2 {
		return
	}
	if c.stretches == nil {
		c.stretches = c.loose.runs(func(int) bool { return false })
	}
	count := func(images []int32) map[int32]int {
		n := map[int32]int{}
		for _, i := range images {
			for _, at := range c.inLoose[i] {
				n[c.stretches[at]]++
			}
		}
		return n
	}
	own, most, any := count(g.main), map[int32]int{}, map[int32]bool{}
	for _, j := range c.src.beside(k) {
		if c.img[j].by >= 0 || c.img[j].moved || len(c.img[j].main) == 0 {
			continue
		}
		for run, n := range count(c.img[j].main) {
			most[run], any[run] = max(most[run], n), true
		}
	}
	for run, n := range own {
		if any[run] && n > most[run] {
			c.finding(Duplicated, k, c.code(g.main...), "it stands %s where what is beside it in the PTX stands %s", times(n), times(most[run]))
			c.because(c.counted(op, 2))
			return
		}
	}
}

// decides reports whether an operation can only be performed once more after a jump
// that depends on what it returned.
func (c *checker) decides(k int, op *Op) bool {
	base, body := c.src.entries[op.Func], op.Func.Body
	flow := c.src.flowsFrom(op)
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

// beside lists the operations in the block of another one that are performed exactly
// as often, each time anew.
func (s *source) beside(k int) (out []int) {
	f := s.ops[k].Func
	varying := s.varying(f)
	for j, op := range s.ops {
		if j == k || op.Func != f || op.Inst.Guard >= 0 || s.block[j] != s.block[k] {
			continue
		}
		new := op.Effect.Kind != ptx.Load || !op.Effect.Weak()
		for i := range op.Inst.Args {
			if a := &op.Inst.Args[i]; a.Kind == ptx.Mem {
				new = new || slices.ContainsFunc(a.Registers(nil), func(r int) bool { return varying[r] })
			}
		}
		if new && !op.Dead {
			out = append(out, j)
		}
	}
	return out
}

// varying lists the registers that depend on one that is written at several places:
// in a loop, others in each turn.
func (s *source) varying(f *ptx.Func) map[int]bool {
	if v, ok := s.varies[f]; ok {
		return v
	}
	n, v := map[int]int{}, map[int]bool{}
	for i := range f.Body {
		if in := f.Body[i].Inst; in != nil {
			for _, r := range defined(in) {
				n[r]++
				v[r] = v[r] || n[r] > 1
			}
		}
	}
	spread(s.registers(f).into, v)
	s.varies[f] = v
	return v
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
