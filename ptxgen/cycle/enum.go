package cycle

import (
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"optcheck/depgen"
	"optcheck/litmus"
)

// Generator yields the tests of a configuration. It does not remember tests that it has
// yielded: tests come in canonical form only, each from the first part that contains it, so no
// list of seen tests is needed. It is safe for concurrent use.
type Generator struct {
	config Config
	parts  []*part
}

// Config returns the configuration.
func (g *Generator) Config() Config { return g.config }

// Count returns the number of tests.
func (g *Generator) Count() int {
	n := g.total(nil)
	if g.config.Limit > 0 {
		n = min(n, g.config.Limit)
	}
	return n
}

// Dropped returns the numbers of cycles from which no test was made, by reason.
func (g *Generator) Dropped() map[string]int {
	d := map[string]int{}
	g.total(d)
	return d
}

func (g *Generator) total(dropped map[string]int) int {
	n := 0
	g.all(dropped, func(*Spec) bool { n++; return true })
	return n
}

// Specs yields the tests in a fixed order.
func (g *Generator) Specs() iter.Seq[*Spec] {
	return func(yield func(*Spec) bool) {
		if g.config.Limit == 0 {
			g.all(nil, yield)
			return
		}
		pick := newPicker(g.config.Limit, g.total(nil), g.config.Seed, "limit")
		g.all(nil, func(s *Spec) bool { return !pick.take() || yield(s) })
	}
}

// Tests yields the tests built from Specs.
func (g *Generator) Tests() iter.Seq[*litmus.Test] {
	return func(yield func(*litmus.Test) bool) {
		for s := range g.Specs() {
			if !yield(s.Test()) {
				return
			}
		}
	}
}

func (g *Generator) all(dropped map[string]int, yield func(*Spec) bool) {
	if len(g.config.Opportunities) == 0 {
		g.bases(dropped, yield)
		return
	}
	g.composed(dropped, yield)
}

// bases yields the tests of the parts.
func (g *Generator) bases(dropped map[string]int, yield func(*Spec) bool) {
	for i, p := range g.parts {
		earlier := g.parts[:i]
		fresh := func(s *Spec) bool {
			return slices.ContainsFunc(earlier, func(q *part) bool { return q.has(s) }) || yield(s)
		}
		if p.listed != nil {
			if !p.each(fresh) {
				return
			}
			continue
		}
		ok := p.cycles(dropped, func(c *Cycle, rots []int) bool {
			return p.sampled(g.config.Seed, c, rots, fresh)
		})
		if !ok {
			return
		}
	}
}

// picker chooses exactly k of n items, in order, each choice equally likely
// (selection sampling).
type picker struct {
	k, n int
	rng  *rand.Rand
}

func newPicker(k, n int, seed uint64, what string) *picker {
	h := fnv.New64a()
	h.Write([]byte(what))
	return &picker{min(k, n), n, rand.New(rand.NewPCG(seed, h.Sum64()))}
}

func (p *picker) take() bool {
	if p.n <= 0 {
		return false
	}
	take := p.rng.IntN(p.n) < p.k
	p.n--
	if take {
		p.k--
	}
	return take
}

// makeRuns lists the runs of edges within a thread, by the thread's shape.
func (q *part) makeRuns() {
	q.runs = map[string][][]Edge{"W": {nil}}
	var run []Edge
	var rec func()
	rec = func() {
		if n := len(run); n > 0 {
			for _, e := range run {
				if !e.Same {
					shape := run[0].Src.String() + run[n-1].Dst.String()
					q.runs[shape] = append(q.runs[shape], slices.Clone(run))
					break
				}
			}
			if n == q.accesses-1 {
				return
			}
		}
		for _, e := range q.inner {
			if e.Kind == Po && e.Same || len(run) > 0 && !joins(run[len(run)-1], e, Ann{}) {
				continue
			}
			run = append(run, e)
			rec()
			run = run[:len(run)-1]
		}
	}
	rec()
}

var multiShapes = []string{"WW", "WR", "RW", "RR"}

// cycles yields the cycles of the part in canonical rotation with plain accesses, and the
// rotations that leave their edges unchanged. It reports whether it completed.
func (q *part) cycles(dropped map[string]int, yield func(*Cycle, []int) bool) bool {
	if q.coherence && !q.coherent(dropped, yield) {
		return false
	}
	for n := max(q.threads[0], 2); n <= q.threads[1]; n++ {
		ok := q.sequences(make([]string, 0, n), n, func(seq []string) bool {
			rots := canonicalShape(seq)
			if rots == nil || !q.wants(nameOfShape(strings.Join(seq, "+"), false)) {
				return true
			}
			return q.fill(seq, rots, dropped, yield)
		})
		if !ok {
			return false
		}
	}
	return true
}

func (q *part) wants(family string) bool {
	return len(q.families) == 0 || slices.Contains(q.families, family)
}

// sequences yields the sequences of n shapes whose neighbours communicate by edges of the part.
// A thread with one access must be a write that the previous thread reaches by Fre or Coe and
// the next thread reads: other single accesses could be left out of the cycle.
func (q *part) sequences(seq []string, n int, yield func([]string) bool) bool {
	if len(seq) == n {
		return !q.follow(seq[n-1], seq[0]) || yield(seq)
	}
	for _, s := range append([]string{"W"}, multiShapes...) {
		if len(q.runs[s]) == 0 || len(seq) > 0 && !q.follow(seq[len(seq)-1], s) {
			continue
		}
		if !q.sequences(append(seq, s), n, yield) {
			return false
		}
	}
	return true
}

func (q *part) follow(a, b string) bool {
	k, ok := between(a, b)
	if a == "W" && b[0] != 'R' {
		return false
	}
	return ok && q.ext[k]
}

// between returns the communication from a thread of one shape to the next.
func between(a, b string) (Kind, bool) {
	src, dst := a[len(a)-1], b[0]
	switch {
	case src == 'W' && dst == 'R':
		return Rf, true
	case src == 'W':
		return Co, true
	case dst == 'W':
		return Fr, true
	}
	return 0, false
}

// canonicalShape returns the rotations that keep a sequence of shapes, nil if
// the sequence is not the family's own. See Cycle.family.
func canonicalShape(seq []string) []int {
	own := strings.Join(seq, "+")
	named := nameOfShape(own, false) != ""
	var rots []int
	for r := range seq {
		s := strings.Join(rotate(seq, r), "+")
		switch {
		case s == own:
			rots = append(rots, r)
		case !named && (nameOfShape(s, false) != "" || s > own):
			return nil
		}
	}
	return rots
}

// fill yields the cycles of a sequence of shapes.
func (q *part) fill(seq []string, rots []int, dropped map[string]int, yield func(*Cycle, []int) bool) bool {
	n := len(seq)
	runs := make([][]Edge, n)
	var rec func(t int) bool
	rec = func(t int) bool {
		if t < n {
			for _, r := range q.runs[seq[t]] {
				runs[t] = r
				if !rec(t + 1) {
					return false
				}
			}
			return true
		}
		size := n
		for _, r := range runs {
			size += len(r)
		}
		if size < q.size[0] || size > q.size[1] || !leaves(runs) {
			return true
		}
		keep := least(rots, func(r int) []uint32 { return runKey(rotate(runs, r), rotate(seq, r)) })
		if keep[0] != 0 {
			return true
		}
		return q.close(join(runs, seq), keep, dropped, yield)
	}
	return rec(0)
}

// leaves reports whether runs change the location at least twice; cycles on one
// location are made by coherent.
func leaves(runs [][]Edge) bool {
	n := 0
	for _, r := range runs {
		for _, e := range r {
			if !e.Same {
				n++
			}
		}
	}
	return n >= 2
}

// join combines the threads' runs and the edges between them into one list.
func join(runs [][]Edge, seq []string) []Edge {
	var edges []Edge
	for t, r := range runs {
		k, _ := between(seq[t], seq[(t+1)%len(seq)])
		edges = append(append(edges, r...), Edge{Kind: k, Ext: true, Same: true, Src: dirOf(seq[t][len(seq[t])-1]),
			Dst: dirOf(seq[(t+1)%len(seq)][0])})
	}
	return edges
}

func runKey(runs [][]Edge, seq []string) []uint32 {
	var k []uint32
	for _, e := range join(runs, seq) {
		k = append(k, e.code())
	}
	return k
}

func (q *part) close(edges []Edge, rots []int, dropped map[string]int, yield func(*Cycle, []int) bool) bool {
	c, err := New(edges, nil)
	if err != nil {
		if dropped != nil {
			dropped[err.(*CloseError).Reason]++
		}
		return true
	}
	return yield(c, rots)
}

// coherent yields the cycles on one location.
func (q *part) coherent(dropped map[string]int, yield func(*Cycle, []int) bool) bool {
	for _, f := range coherence {
		seq := strings.Split(f.shape, "+")
		n := len(seq)
		if n < q.threads[0] || n > q.threads[1] || !q.wants(f.name) {
			continue
		}
		shape := seq[n-1]
		for _, e := range q.inner {
			if e.Com() || !e.Same || e.Src.String()+e.Dst.String() != shape || len(seq)+1 < q.size[0] || len(seq)+1 > q.size[1] {
				continue
			}
			edges := join([][]Edge{nil, {e}}[2-n:], seq)
			have := q.ext
			if n == 1 {
				edges[1].Ext = false
				have = q.back
			}
			ok := true
			for _, x := range edges {
				ok = ok && (!x.Com() || have[x.Kind])
			}
			if ok && !q.close(edges, []int{0}, dropped, yield) {
				return false
			}
		}
	}
	return true
}

// sampled yields the tests of a cycle, at most perCycle of them.
func (q *part) sampled(seed uint64, c *Cycle, rots []int, yield func(*Spec) bool) bool {
	if q.perCycle == 0 {
		return q.tests(c, rots, yield)
	}
	n := 0
	q.tests(c, rots, func(*Spec) bool { n++; return true })
	pick := newPicker(q.perCycle, n, seed, c.String())
	return q.tests(c, rots, func(s *Spec) bool { return !pick.take() || yield(s) })
}

// tests yields all annotations, placements, memory maps and schemes of a cycle
// in canonical form.
func (q *part) tests(c *Cycle, rots []int, yield func(*Spec) bool) bool {
	schemes := q.schemes
	if !c.hasDep() {
		schemes = schemes[:1]
	}
	return q.annotated(c, func(ann []Ann) bool {
		keep := least(rots, func(r int) []uint32 { return annCodes(rotate(ann, c.start[r])) })
		if keep[0] != 0 {
			return true
		}
		d := &Cycle{Edges: c.Edges, Ann: slices.Clone(ann)}
		if d.lay() != nil {
			return true
		}
		for place := range Placements(c.Threads(), q.levels) {
			turns := least(keep, func(r int) []uint32 { return turnPlace(place, r) })
			if turns[0] != 0 {
				continue
			}
			p := slices.Clone(place)
			if !q.maps(d, p, turns, schemes, yield) {
				return false
			}
		}
		return true
	})
}

func (q *part) maps(c *Cycle, place []litmus.Place, rots []int, schemes []*depgen.Scheme, yield func(*Spec) bool) bool {
	mem := make([]litmus.Space, c.locs)
	var rec func(l int) bool
	rec = func(l int) bool {
		if l < c.locs {
			for _, s := range q.regions {
				mem[l] = s
				if !rec(l + 1) {
					return false
				}
			}
			return true
		}
		if least(rots, func(r int) []uint32 { return c.turnMap(mem, r) })[0] != 0 || c.placeable(place, mem) != nil {
			return true
		}
		for _, s := range schemes {
			if !yield(&Spec{Cycle: c, Place: place, Map: slices.Clone(mem), Scheme: s}) {
				return false
			}
		}
		return true
	}
	return rec(0)
}
