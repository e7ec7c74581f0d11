package cycle

import (
	"slices"

	"optcheck/litmus"
)

func annCodes(ann []Ann) []uint32 {
	k := make([]uint32, len(ann))
	for i, a := range ann {
		k[i] = a.code()
	}
	return k
}

// annotated yields the ways to annotate a cycle, each once. The slice is reused.
func (q *part) annotated(c *Cycle, yield func([]Ann) bool) bool {
	units := q.units(c)
	choices := make([][][]Ann, len(units))
	for i, u := range units {
		choices[i] = q.choices(c, u)
	}
	ann := make([]Ann, len(c.Edges))
	var rec func(i int) bool
	rec = func(i int) bool {
		if i == len(units) {
			return yield(ann)
		}
		for _, ch := range choices[i] {
			for k, e := range units[i] {
				ann[e] = ch[k]
			}
			if !rec(i + 1) {
				return false
			}
		}
		return true
	}
	return rec(0)
}

// units lists the groups of events that are annotated alike.
func (q *part) units(c *Cycle) [][]int {
	var units [][]int
	for i := range c.Edges {
		switch {
		case i == 0, q.spread == "access", q.spread == "thread" && c.thread[i] != c.thread[i-1]:
			units = append(units, nil)
		}
		units[len(units)-1] = append(units[len(units)-1], i)
	}
	return units
}

// choices lists the distinct annotations of a group of events, sorted.
func (q *part) choices(c *Cycle, unit []int) [][]Ann {
	var out [][]Ann
	for _, p := range q.pairs {
		ch := make([]Ann, len(unit))
		for k, e := range unit {
			ch[k] = p.ld
			if c.dir(e) == Write {
				ch[k] = p.st
			}
		}
		if !slices.ContainsFunc(out, func(o []Ann) bool { return slices.Equal(o, ch) }) {
			out = append(out, ch)
		}
	}
	slices.SortFunc(out, func(a, b []Ann) int { return slices.Compare(annCodes(a), annCodes(b)) })
	return out
}

// has reports whether the part's product contains the test, which is in
// canonical form. Caps do not count.
func (q *part) has(s *Spec) bool {
	c := s.Cycle
	if q.listed != nil {
		return q.listed[c.Name()] != nil && q.hasPlace(s.Place) && q.hasMap(s.Map) && (!c.hasDep() || slices.Contains(q.schemes, s.scheme()))
	}
	if n := c.Threads(); n < q.threads[0] || n > q.threads[1] || len(c.Edges) < q.size[0] || len(c.Edges) > q.size[1] {
		return false
	}
	if c.locs == 1 && !q.coherence || !q.wants(c.Family()) {
		return false
	}
	for _, e := range c.Edges {
		if e.Ext && !q.ext[e.Kind] || !e.Ext && !slices.Contains(q.inner, e) {
			return false
		}
	}
	for t := range c.start {
		if from, to := c.span(t); to-from > q.accesses {
			return false
		}
	}
	return q.hasAnn(c) && q.hasPlace(s.Place) && q.hasMap(s.Map) && (!c.hasDep() || slices.Contains(q.schemes, s.scheme()))
}

func (q *part) hasAnn(c *Cycle) bool {
	for _, u := range q.units(c) {
		ann := make([]Ann, len(u))
		for k, e := range u {
			ann[k] = c.Ann[e]
		}
		if !slices.ContainsFunc(q.choices(c, u), func(ch []Ann) bool { return slices.Equal(ch, ann) }) {
			return false
		}
	}
	return true
}

func (q *part) hasPlace(ps []litmus.Place) bool {
	for i := range ps {
		if !slices.Contains(q.levels.next(ps[:i]), ps[i]) {
			return false
		}
	}
	return true
}

func (q *part) hasMap(mem []litmus.Space) bool {
	for _, s := range mem {
		if !slices.Contains(q.regions, s) {
			return false
		}
	}
	return true
}
