package prove

import (
	"container/heap"
	"slices"

	"optcheck/prove/sat"
)

// patterns are what inputs of gates are in 64 runs each: the samples, and other numbers like them; found are those in which gates differ
// that are equal in all others.
const patterns, found = 8, 12

type (
	classKey  [patterns]uint64
	signature [patterns + found]uint64
)

// alike makes a new gate an older one, or a constant, if both are equal in all patterns and that is proved: functionally reduced
// and-inverter graphs (Mishchenko, Chatterjee, Jiang and Brayton, 2005), reduced as they are made.
func (g *gates) alike(l sat.Lit) sat.Lit {
	key, flip := g.sims[l.Var()].even()
	list := g.classes[key]
	tries := 0
	for _, r := range list {
		if tries < mostAlike && g.same(l^flip, r) {
			if g.equal(l^flip, r) {
				return r ^ flip
			}
			tries++
		}
	}
	g.classes[key] = append(list, l^flip)
	return l
}

// same reports whether literals are equal in all patterns.
func (g *gates) same(a, b sat.Lit) bool {
	p, q, flip := &g.sims[a.Var()], &g.sims[b.Var()], -uint64((a^b)&1)
	for i := range p {
		if p[i]^q[i] != flip {
			return false
		}
	}
	return true
}

// even is the first patterns of a literal or of its opposite: the one that is 0 in the first.
func (s *signature) even() (key classKey, flip sat.Lit) {
	flip = sat.Lit(s[0] & 1)
	for i := range key {
		key[i] = s[i] ^ -uint64(flip)
	}
	return key, flip
}

// mostAlike is how many literals a new one is compared with.
const mostAlike = 2

// windows are how many gates above the two are looked at, those below them being inputs.
var windows = [...]struct{ gates, conflicts int }{{24, 100}, {300, 100}, {mostCone / 3, 25}}

// equal proves that two literals are equal by the gates that they consist of first. Where they are not, there is a pattern more.
func (g *gates) equal(a, b sat.Lit) bool {
	for _, w := range windows {
		if *g.effort < 0 {
			return false
		}
		own, clauses, whole := g.window(a, b, w.gates)
		*g.effort -= effortOfClause * len(clauses)
		answer, model, learnt := sat.Solve(len(own), clauses, w.conflicts, g.effort)
		switch {
		case answer == sat.Unsatisfiable:
			return sat.Check(len(own), clauses, learnt, g.effort)
		case whole && answer == sat.Satisfiable:
			g.learn(own, model)
			return false
		case whole || answer == sat.Unknown:
			return false
		}
	}
	return false
}

// learn adds a pattern.
func (g *gates) learn(own map[int]int, model []bool) {
	word, bit, from := patterns+g.learnt/64%found, g.learnt%64, g.learnt/64%patterns
	g.learnt++
	for v, in := range g.ins {
		s := &g.sims[v]
		to := s[from] >> bit // what has no part in it is as in another pattern
		if n, ok := own[v]; in[0] >= 0 {
			p, q := in[0], in[1]
			to = (g.sims[p.Var()][word]>>bit ^ uint64(p)) & (g.sims[q.Var()][word]>>bit ^ uint64(q))
		} else if ok {
			to = truth(model[n])
		}
		s[word] = s[word]&^(1<<bit) | to&1<<bit
	}
}

// latest is a heap of gates.
type latest []int

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, k int) bool { return h[i] > h[k] }
func (h latest) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *latest) Push(v any)        { *h = append(*h, v.(int)) }
func (h *latest) Pop() any {
	n := len(*h) - 1
	v := (*h)[n]
	*h = (*h)[:n]
	return v
}

// window is the question whether two literals differ, of the latest gates that they consist of; whole tells that these are all.
func (g *gates) window(a, b sat.Lit, size int) (own map[int]int, clauses [][]sat.Lit, whole bool) {
	own = map[int]int{}
	name := func(l sat.Lit) sat.Lit { return sat.Lit(2*own[l.Var()]) | l&1 }
	var open latest
	reach := func(v int) {
		if _, ok := own[v]; !ok {
			own[v] = len(own)
			heap.Push(&open, v)
		}
	}
	reach(a.Var())
	reach(b.Var())
	for size > 0 && len(open) > 0 {
		v := heap.Pop(&open).(int)
		in := g.ins[v]
		switch {
		case v == 0:
			clauses = append(clauses, []sat.Lit{name(high)})
		case in[0] >= 0:
			reach(in[0].Var())
			reach(in[1].Var())
			out, p, q := name(sat.Lit(2*v)), name(in[0]), name(in[1])
			clauses = append(clauses, []sat.Lit{out.Not(), p}, []sat.Lit{out.Not(), q}, []sat.Lit{out, p.Not(), q.Not()})
			size--
		}
	}
	whole = !slices.ContainsFunc(open, func(v int) bool { return g.ins[v][0] >= 0 })
	if slices.Contains(open, 0) {
		clauses = append(clauses, []sat.Lit{name(high)})
	}
	p, q := name(a), name(b)
	clauses = append(clauses, []sat.Lit{p, q}, []sat.Lit{p.Not(), q.Not()})
	return own, clauses, whole
}
