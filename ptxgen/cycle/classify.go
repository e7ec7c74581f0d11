package cycle

import (
	"slices"

	"optcheck/depgen"
	"optcheck/litmus"
)

// Class is the cycle of a test.
type Class struct {
	Spec *Spec
	// Exact is set if every access, fence, dependency and equation of the test belongs to the
	// cycle.
	Exact bool
}

// maxSteps bounds the search for a cycle.
const maxSteps = 200_000

// Classify finds the cycle of any test, generated or not: it derives the communications from
// the condition, joins them with program order, and takes the cycle with the most accesses. The
// error says why there is none.
func Classify(t *litmus.Test) (*Class, error) {
	f, err := factsOf(t)
	if err != nil {
		return nil, err
	}
	s := search{f: f, used: make([]bool, len(t.Threads))}
	if err := s.communications(); err != nil {
		return nil, err
	}
	for t := range f.first[:len(f.first)-1] {
		for i := f.first[t]; i < f.first[t+1]; i++ {
			s.start = i
			s.visit(i)
		}
	}
	if s.best == nil {
		return nil, noCycle("the outcome is no cycle of program order and communications")
	}
	s.best.Spec.Scheme = schemeOf(t, s.best.Spec)
	return s.best, nil
}

// schemeOf returns the scheme with which the test equals the generated one, or the default.
func schemeOf(t *litmus.Test, sp *Spec) *depgen.Scheme {
	if !sp.Cycle.hasDep() {
		return depgen.Default
	}
	h, try := t.Hash(), *sp
	for _, try.Scheme = range depgen.Schemes {
		if try.Test().Hash() == h {
			return try.Scheme
		}
	}
	return depgen.Default
}

// search looks for cycles that pass each thread once.
type search struct {
	f     *facts
	com   [][]Edge // com[i][j] from access i to j; Com() tells whether there is one
	used  []bool   // threads on the path
	start int
	path  []int
	edges []Edge
	steps int
	best  *Class
	size  int
}

// communications finds the reads-from, coherence and from-read edges that the
// outcome implies.
func (s *search) communications() error {
	f := s.f
	n := len(f.acc)
	s.com = make([][]Edge, n)
	for i := range s.com {
		s.com[i] = make([]Edge, n)
	}
	source := make([]int, n) // of reads: -1 initial state, -2 unknown
	for i := range f.acc {
		a := &f.acc[i]
		source[i] = -2
		if !a.pinned {
			continue
		}
		if a.read == f.t.Location(a.loc).Init {
			source[i] = -1
		}
		for j := range f.acc {
			w := &f.acc[j]
			if j != i && w.dir == Write && w.loc == a.loc && w.known && w.value == a.read {
				if source[i] != -2 {
					return noCycle("two writes of %d to %s", a.read, a.loc)
				}
				source[i] = j
			}
		}
	}
	for i := range f.acc {
		for j := range f.acc {
			if i != j && f.acc[i].loc == f.acc[j].loc {
				s.relate(i, j, source)
			}
		}
	}
	return nil
}

// relate finds the communication from access i to access j of one location.
func (s *search) relate(i, j int, source []int) {
	f := s.f
	a, b := &f.acc[i], &f.acc[j]
	e := Edge{Same: true, Ext: a.thread != b.thread, Src: a.dir, Dst: b.dir}
	// before reports whether b, which writes, surely comes after the write w
	// (-1: the initial state).
	before := func(w int) bool {
		v, ok := f.final[b.loc]
		return w == -1 || w >= 0 && w != j && (ok && b.known && v == b.value || b.ann.Atom != litmus.AtomNone && source[j] == w)
	}
	switch {
	case a.dir == Write && b.dir == Read && source[j] == i:
		e.Kind = Rf
	case a.dir == Read && b.dir == Write && source[i] != -2 && before(source[i]):
		e.Kind = Fr
	case a.dir == Write && b.dir == Write && before(i):
		e.Kind = Co
	default:
		return
	}
	s.com[i][j] = e
}

// visit extends the path, whose last access is i, or closes it.
func (s *search) visit(i int) {
	f := s.f
	if s.steps++; s.steps > maxSteps {
		return
	}
	t := f.acc[i].thread
	s.used[t] = true
	s.path = append(s.path, i)
	defer func() {
		s.path = s.path[:len(s.path)-1]
		if len(s.path) == 0 || f.acc[s.path[len(s.path)-1]].thread != t {
			s.used[t] = false
		}
	}()
	follow := func(j int, e Edge) {
		s.edges = append(s.edges, e)
		if j == s.start {
			s.found()
		} else {
			s.visit(j)
		}
		s.edges = s.edges[:len(s.edges)-1]
	}
	if i+1 < f.first[t+1] {
		e := f.acc[i+1].link
		if c := s.com[i][i+1]; c.Com() && e.Kind == Po {
			e = c // says more than program order on one location
		}
		follow(i+1, e)
	}
	for j, e := range s.com[i] {
		back := len(f.t.Threads) == 1 && j == s.start && j < i
		if e.Com() && (e.Ext && (j == s.start || !s.used[f.acc[j].thread]) || back) {
			follow(j, e)
		}
	}
}

// found takes the closed path if it is better than the best so far.
func (s *search) found() {
	if len(s.path) < max(2, s.size) {
		return
	}
	f := s.f
	ann := make([]Ann, len(s.path))
	for k, i := range s.path {
		ann[k] = f.acc[i].ann
	}
	c, err := New(s.edges, ann)
	if err != nil {
		return
	}
	sp, exact := s.spec(c)
	if sp == nil {
		return
	}
	// Among equally long cycles an exact one is better, then the least name.
	if s.best != nil && len(s.path) == s.size {
		if s.best.Exact != exact {
			if s.best.Exact {
				return
			}
		} else if sp.Name() >= s.best.Spec.Name() {
			return
		}
	}
	s.best, s.size = &Class{Spec: sp, Exact: exact}, len(s.path)
}

// spec places the cycle as the test does.
func (s *search) spec(c *Cycle) (*Spec, bool) {
	f := s.f
	// New rotates; find where its first event stands in the path.
	k := 0
	for k < len(s.path) && !slices.Equal(c.Edges, rotate(s.edges, k)) {
		k++
	}
	for ; k < len(s.path); k++ {
		if slices.Equal(c.Edges, rotate(s.edges, k)) && f.begins(rotate(s.path, k)) {
			break
		}
	}
	if k == len(s.path) {
		return nil, false
	}
	path := rotate(s.path, k)
	place := make([]litmus.Place, c.Threads())
	mem := make([]litmus.Space, c.locs)
	exact := len(path) == len(f.acc) && c.Threads() == len(f.t.Threads)
	eqs := len(f.final)
	for i, a := range path {
		x := &f.acc[a]
		place[c.thread[i]] = f.t.Threads[x.thread].Place
		mem[c.loc[i]] = f.t.Location(x.loc).Space
		if mem[c.loc[i]] == litmus.Generic {
			mem[c.loc[i]] = litmus.Global
		}
		exact = exact && x.exact && f.t.Location(x.loc).Init == 0
		if x.pinned {
			eqs++
		}
	}
	sp, err := NewSpec(c, place, mem, nil)
	if err != nil {
		return nil, false
	}
	return sp, exact && eqs == f.atoms && f.atoms == sp.equations()
}

// begins reports whether the path starts where a thread of it starts.
func (f *facts) begins(path []int) bool {
	last := f.acc[path[len(path)-1]]
	return len(f.t.Threads) == 1 || f.acc[path[0]].thread != last.thread
}

// equations returns the number of equations in the condition of the spec's test.
func (s *Spec) equations() int {
	switch e := s.Test().Cond.Expr.(type) {
	case litmus.And:
		return len(e.List)
	case nil:
		return 0
	}
	return 1
}
