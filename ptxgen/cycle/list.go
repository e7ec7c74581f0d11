package cycle

import (
	"fmt"
	"strings"
)

// String formats the cycle as an edge list that Parse reads. Plain accesses are not annotated.
func (c *Cycle) String() string {
	var parts []string
	for i, e := range c.Edges {
		if c.Ann[i] != (Ann{}) {
			parts = append(parts, c.Ann[i].String())
		}
		parts = append(parts, e.String())
	}
	return strings.Join(parts, " ")
}

// item is one edge of a list with what it may mean.
type item struct {
	text  string
	may   []Edge
	ann   Ann
	noted bool // annotated
	amo   bool
}

// Parse reads a cycle as a list of edges with annotations of the accesses
// between them, in the manner of diy:
//
//	PodWW rel.gpu Rfe acq.gpu PodRR Fre
//
// An annotation belongs to the access between its neighbours; one at the end
// belongs to the access at which the first edge starts. Directions given as *
// are taken from the neighbours. Amo.Exch, Amo.Cas and Amo.Add, also with an
// order and a scope (Amo.Exch.acq.gpu), lead from the read to the write of one
// atomic; such a cycle is the one in which the edge before leads to the write,
// annotated as atomic, and that is what Parse returns.
func Parse(list string) (*Cycle, error) {
	items, err := parseItems(strings.Fields(list))
	if err != nil {
		return nil, err
	}
	if items, err = fuse(items); err != nil {
		return nil, err
	}
	edges, err := choose(items)
	if err != nil {
		return nil, err
	}
	ann := make([]Ann, len(items))
	for i := range items {
		ann[i] = items[i].ann
	}
	return New(edges, ann)
}

func parseItems(words []string) ([]item, error) {
	var items []item
	var pending *Ann
	note := func(it *item) error {
		if pending == nil {
			return nil
		}
		if it.noted {
			return fmt.Errorf("the access at which %s starts is annotated twice", it.text)
		}
		it.ann, it.noted, pending = *pending, true, nil
		return nil
	}
	for _, w := range words {
		if a, err := ParseAnn(w); err == nil {
			if pending != nil {
				return nil, fmt.Errorf("two annotations, %v and %v, of one access", *pending, a)
			}
			pending = &a
			continue
		}
		it := item{text: w}
		if amo, ok := strings.CutPrefix(w, "Amo."); ok {
			a, err := ParseAnn("atom." + strings.ToLower(amo[:min(1, len(amo))]) + amo[min(1, len(amo)):])
			if err != nil {
				return nil, unknownEdge(w)
			}
			if pending != nil {
				return nil, fmt.Errorf("%v before %s: an atomic is annotated in its own name", *pending, w)
			}
			it.amo, it.ann = true, a
		} else {
			var err error
			if it.may, err = ParseEdge(w); err != nil {
				return nil, err
			}
			if err := note(&it); err != nil {
				return nil, err
			}
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("no edges")
	}
	if len(items) > maxEdges {
		return nil, fmt.Errorf("%d edges (at most %d)", len(items), maxEdges)
	}
	if pending != nil && items[0].amo {
		return nil, fmt.Errorf("%v before %s: an atomic is annotated in its own name", *pending, items[0].text)
	}
	if err := note(&items[0]); err != nil {
		return nil, err
	}
	return items, nil
}

// fuse merges the two ends of each Amo edge into one access.
func fuse(items []item) ([]item, error) {
	n := len(items)
	var out []item
	for i := range items {
		it := items[i]
		if it.amo {
			continue
		}
		next := items[(i+1)%n]
		if next.amo {
			for j := range it.may {
				it.may[j] = it.may[j].intoWrite()
			}
			it.may = sortEdges(it.may)
			after := &items[(i+2)%n]
			if after.amo || after.noted {
				return nil, fmt.Errorf("behind %s: the write of an atomic carries the atomic's own annotation", next.text)
			}
		}
		if prev := items[(i+n-1)%n]; prev.amo {
			it.ann = prev.ann
		}
		out = append(out, it)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no edges but atomics")
	}
	return out, nil
}

// intoWrite returns the edge that leads to the write of an atomic where e leads
// to its read: what the atomic reads from, it overwrites.
func (e Edge) intoWrite() Edge {
	if e.Dst == Write {
		return e // does not join; New says so
	}
	if e.Kind == Rf {
		e.Kind = Co
	}
	e.Dst = Write
	return e
}

// choose returns the unique reading of the wildcards in which all edges join.
func choose(items []item) ([]Edge, error) {
	n := len(items)
	cur := make([]Edge, n)
	var found []Edge
	deepest, ways := 0, 0
	dead := map[[3]int]bool{} // position, direction before it, choice of the first edge: no way on
	first := 0
	var rec func(i int)
	rec = func(i int) {
		deepest = max(deepest, i)
		if i == n {
			if joins(cur[n-1], cur[0], items[0].ann) {
				if ways++; ways == 1 {
					found = append(found, cur...)
				}
			}
			return
		}
		state := [3]int{i, 0, first}
		if i > 0 {
			state[1] = int(cur[i-1].Dst)
		}
		if ways > 1 || dead[state] {
			return
		}
		before := ways
		for k, e := range items[i].may {
			if i == 0 {
				first = k
			}
			if i == 0 || joins(cur[i-1], e, items[i].ann) {
				cur[i] = e
				rec(i + 1)
			}
		}
		dead[state] = i > 0 && ways == before
	}
	rec(0)
	switch {
	case ways == 1:
		return found, nil
	case ways > 1:
		return nil, &CloseError{-1, "", fmt.Sprintf("its wildcards can be read in several ways; one is %v", found)}
	}
	i := deepest % n
	prev := items[(i+n-1)%n]
	return nil, &CloseError{i, items[i].text, fmt.Sprintf("it cannot follow %s: %s", prev.text, mismatch(prev.may, items[i].may))}
}

func mismatch(in, out []Edge) string {
	if len(in) == 0 || len(out) == 0 {
		return "nothing joins them"
	}
	return fmt.Sprintf("it starts in a %s where that ends in a %s", ends2(out, func(e Edge) Dir { return e.Src }), ends2(in,
		func(e Edge) Dir { return e.Dst }))
}

// ends2 says which directions one end of an edge may have.
func ends2(es []Edge, of func(Edge) Dir) string {
	w := word(of(es[0]))
	for _, e := range es {
		if word(of(e)) != w {
			return "read or write"
		}
	}
	return w
}
