package cycle

import (
	"fmt"

	"optcheck/litmus"
)

// mutantMark separates a parent's name from its mutation.
const mutantMark = "~"

// Mutant is a test with one edge or annotation of its parent weakened. If a model forbids the
// parent and allows the mutant, a test environment that never shows the mutant's outcome proves
// nothing by not showing the parent's.
type Mutant struct {
	Spec
	Parent   string
	Mutation string // T0.1:membar.gl>membar.cta, place first, then from and to
}

// Name returns the parent's name with the mutation after it. ParseName reads it.
func (m *Mutant) Name() string { return m.Parent + mutantMark + m.Mutation }

// Test builds the mutant's test.
func (m *Mutant) Test() *litmus.Test {
	t := m.Spec.Test()
	t.Name = m.Name()
	t.Meta = append(t.Meta, litmus.Meta{Key: "Parent", Value: m.Parent})
	return t
}

// Mutants returns the neighbours of a test with one edge weakened: a fence or
// barrier removed or narrowed by one scope, fence.sc made acq_rel, a dependency
// cut, release, acquire and relaxed weakened by one step, a scope narrowed.
// The threads stay in the order of the parent's.
func (s *Spec) Mutants() []*Mutant {
	var out []*Mutant
	add := func(at string, from, to string, edit func(c *Cycle)) {
		c := &Cycle{Edges: rotate(s.Cycle.Edges, 0), Ann: rotate(s.Cycle.Ann, 0)}
		edit(c)
		if fit(c.Edges, c.Ann) != nil || c.lay() != nil {
			return // the weaker edge does not close: a data dependency out of an atomic
		}
		m := &Mutant{Spec: *s, Parent: s.Name(), Mutation: fmt.Sprintf("%s.%s=%s", at, from, to)}
		m.Cycle = c
		if c.placeable(s.Place, s.Map) == nil {
			out = append(out, m)
		}
	}
	for t := range s.Cycle.start {
		from, to := s.Cycle.span(t)
		for i := from; i < to; i++ {
			at := fmt.Sprintf("T%d.%d", t, i-from)
			a := s.Cycle.Ann[i]
			for _, w := range a.weaker() {
				add(at, a.String(), w.String(), func(c *Cycle) { c.Ann[i] = w })
			}
			if i == to-1 {
				continue
			}
			e := s.Cycle.Edges[i]
			for _, w := range e.weaker() {
				add(at, e.tag(true), w.tag(true), func(c *Cycle) { c.Edges[i] = w })
			}
		}
	}
	return out
}

func (s *Spec) mutant(mutation string) (*Spec, error) {
	for _, m := range s.Mutants() {
		if m.Mutation == mutation {
			return &m.Spec, nil
		}
	}
	return nil, fmt.Errorf("%s has no mutant %q", s.Name(), mutation)
}

// weaker lists the edges that require one thing less.
func (e Edge) weaker() []Edge {
	po := Edge{Kind: Po, Same: e.Same, Src: e.Src, Dst: e.Dst}
	var out []Edge
	with := func(sem litmus.Sem, sc litmus.Scope) {
		w := e
		w.Sem, w.Scope = sem, sc
		out = append(out, w)
	}
	if e.Op != litmus.OpNop {
		if sc := narrower(e.Scope, e.Op == litmus.OpMembar); sc != litmus.ScopeNone {
			with(e.Sem, sc)
		}
		if e.Sem == litmus.SemSC {
			with(litmus.SemAcqRel, e.Scope)
		}
	}
	switch e.Kind {
	case Fence, Bar, BarRed, BarWarp, Mbar, Cluster, ProxyAsync, Addr, Data:
		out = append(out, po)
	case Ctrl:
		if e.Op != litmus.OpNop {
			w := e
			w.Op, w.Sem, w.Scope = litmus.OpNop, litmus.SemNone, litmus.ScopeNone
			out = append(out, w)
		} else {
			out = append(out, po)
		}
	}
	return out
}

// weaker lists the annotations that require one thing less.
func (a Ann) weaker() []Ann {
	var out []Ann
	with := func(sem litmus.Sem, sc litmus.Scope) {
		w := a
		w.Sem, w.Scope = sem, sc
		out = append(out, w)
	}
	if sc := narrower(a.Scope, false); sc != litmus.ScopeNone {
		with(a.Sem, sc)
	}
	switch a.Sem {
	case litmus.SemAcqRel:
		with(litmus.SemAcquire, a.Scope)
		with(litmus.SemRelease, a.Scope)
	case litmus.SemAcquire, litmus.SemRelease:
		with(litmus.SemRelaxed, a.Scope)
	case litmus.SemRelaxed, litmus.SemVolatile:
		if a.Atom == litmus.AtomNone { // an atomic is never weak
			with(litmus.SemNone, litmus.ScopeNone)
		}
	}
	return out
}

// narrower returns the next narrower scope, ScopeNone if there is none. membar has no cluster
// scope.
func narrower(s litmus.Scope, membar bool) litmus.Scope {
	switch s {
	case litmus.ScopeSys:
		return litmus.ScopeGPU
	case litmus.ScopeGPU:
		if membar {
			return litmus.ScopeCTA
		}
		return litmus.ScopeCluster
	case litmus.ScopeCluster:
		return litmus.ScopeCTA
	}
	return litmus.ScopeNone
}
