package prove

import "optcheck/prove/sat"

// gates are conjunctions of two literals each: an and-inverter graph in which equal gates are one. Literal 0 is false, 1 is true.
type gates struct {
	ins   [][2]sat.Lit // of each variable; {-1, -1} of inputs
	index map[[2]sat.Lit]sat.Lit
	// sims are the variables' values in all patterns, classes the literals that have the same ones; of a graph that is reduced.
	sims    []signature
	classes map[classKey][]sat.Lit
	learnt  int  // patterns that were found
	reduces bool // gates are made those that are equal: see alike
	effort  *int // looks at clauses that are left
}

const (
	low  sat.Lit = 0
	high sat.Lit = 1
)

func newGates(effort *int) *gates {
	return &gates{ins: [][2]sat.Lit{{-1, -1}}, index: map[[2]sat.Lit]sat.Lit{}, sims: make([]signature, 1), effort: effort,
		classes: map[classKey][]sat.Lit{{}: {low}}}
}

// mostGates bounds the graph.
const mostGates = 4 << 20

// input is a new input; sim are its values in the patterns.
func (g *gates) input(sim func() signature) sat.Lit {
	l := g.made([2]sat.Lit{-1, -1})
	if g.reduces {
		s := sim()
		g.sims = append(g.sims, s)
		key, flip := s.even()
		g.classes[key] = append(g.classes[key], l^flip)
	}
	return l
}

func (g *gates) made(in [2]sat.Lit) sat.Lit {
	if len(g.ins) >= mostGates {
		panic(limit{"more gates than are looked at"})
	}
	g.ins = append(g.ins, in)
	return sat.Lit(2 * (len(g.ins) - 1))
}

func (g *gates) and(a, b sat.Lit) sat.Lit {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == low || a == b.Not():
		return low
	case a == high || a == b:
		return b
	}
	k := [2]sat.Lit{a, b}
	l, ok := g.index[k]
	if !ok {
		if l = g.made(k); g.reduces {
			g.sims = append(g.sims, g.both(a, b))
			l = g.alike(l)
		}
		g.index[k] = l
	}
	return l
}

// both has the values of a conjunction in the patterns.
func (g *gates) both(a, b sat.Lit) (out signature) {
	p, q := &g.sims[a.Var()], &g.sims[b.Var()]
	for i := range out {
		out[i] = (p[i] ^ -uint64(a&1)) & (q[i] ^ -uint64(b&1))
	}
	return out
}

func (g *gates) or(a, b sat.Lit) sat.Lit { return g.and(a.Not(), b.Not()).Not() }

func (g *gates) xor(a, b sat.Lit) sat.Lit {
	sign := (a ^ b) & 1
	a, b = a&^1, b&^1
	return g.or(g.and(a, b.Not()), g.and(a.Not(), b)) ^ sign
}

func (g *gates) mux(c, a, b sat.Lit) sat.Lit {
	if a == b {
		return a
	}
	return g.or(g.and(c, a), g.and(c.Not(), b))
}

// sum is a + b + c, with what is carried out.
func (g *gates) sum(a, b []sat.Lit, c sat.Lit) (out []sat.Lit, carry sat.Lit) {
	for i := range a {
		x := g.xor(a[i], b[i])
		out = append(out, g.xor(x, c))
		c = g.or(g.and(a[i], b[i]), g.and(x, c))
	}
	return out, c
}

// less is whether a is less than b.
func (g *gates) less(a, b []sat.Lit) sat.Lit {
	_, carry := g.sum(a, inverted(b), high)
	return carry.Not()
}

func inverted(a []sat.Lit) []sat.Lit {
	out := make([]sat.Lit, len(a))
	for i, l := range a {
		out[i] = l.Not()
	}
	return out
}

// cones finds gates that literals consist of.
type cones struct {
	mark  []uint8
	order []int   // of the marked ones
	own   []int32 // see question
}

// cone marks what literals consist of, down to what is marked with stop; false beyond most gates.
func (g *gates) cone(c *cones, lits []sat.Lit, mark, stop uint8, most int) bool {
	for len(c.mark) < len(g.ins) {
		c.mark = append(c.mark, 0)
	}
	var stack []int
	for _, l := range lits {
		stack = append(stack, l.Var())
	}
	for n := 0; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.mark[v]&mark != 0 {
			continue
		}
		if c.mark[v] == 0 {
			c.order = append(c.order, v)
		}
		c.mark[v] |= mark
		if n++; n > most {
			return false
		}
		if in := g.ins[v]; in[0] >= 0 && (stop == 0 || c.mark[v]&stop != stop) {
			stack = append(stack, in[0].Var(), in[1].Var())
		}
	}
	return true
}

func (c *cones) clear() {
	for _, v := range c.order {
		c.mark[v] = 0
	}
	c.order = c.order[:0]
}

// question is whether a literal can be true, as clauses over the gates that are marked as its cone; those that stop are inputs.
func (g *gates) question(c *cones, l sat.Lit, cone, stop uint8) (n int, clauses [][]sat.Lit) {
	c.own = append(c.own, make([]int32, len(c.mark)-len(c.own))...)
	for _, v := range c.order {
		if c.mark[v]&cone != 0 {
			c.own[v] = int32(n)
			n++
		}
	}
	name := func(l sat.Lit) sat.Lit { return sat.Lit(2*c.own[l.Var()]) | l&1 }
	lits := make([]sat.Lit, 0, 7*n+2) // of three clauses for each gate
	clause := func(list ...sat.Lit) {
		from := len(lits)
		lits = append(lits, list...)
		clauses = append(clauses, lits[from:len(lits):len(lits)])
	}
	clauses = make([][]sat.Lit, 0, 3*n+2)
	for _, v := range c.order {
		in := g.ins[v]
		switch {
		case c.mark[v]&cone == 0:
		case v == 0:
			clause(name(high))
		case in[0] >= 0 && (stop == 0 || c.mark[v]&stop != stop):
			out, a, b := name(sat.Lit(2*v)), name(in[0]), name(in[1])
			clause(out.Not(), a)
			clause(out.Not(), b)
			clause(out, a.Not(), b.Not())
		}
	}
	clause(name(l))
	return n, clauses
}
