package exec

import (
	"slices"

	"optcheck/model/cat"
	"optcheck/model/rel"
)

// learnWhy returns a conflict of the current execution, which the model forbids; given is co
// without what the model required. Afterwards the search's relations are unchanged except for
// co.
func (w *worker) learnWhy(given rel.Rel) *conflict {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	fixed := w.arena.Rel()
	copy(fixed, given)
	all := w.literals(given)
	small := w.shrink(slices.Clone(all), fixed)
	c := &conflict{}
	for _, x := range small {
		if x.kind == litSF {
			c.fences = append(c.fences, [2]int16{x.a, x.b})
		} else {
			c.rest = append(c.rest, x)
		}
	}
	if len(small) < len(all) && len(w.conflicts) < maxConflicts {
		w.conflicts = append(w.conflicts, *c)
	}
	w.assume(all, fixed)
	if w.opt.Visit == nil && !w.stop {
		w.run(w.pl.afterRF) // the model's values of rf are those of the last attempt
	}
	return c
}

// literals lists everything that the current execution consists of.
func (w *worker) literals(given rel.Rel) (list []literal) {
	g := &w.g
	for i := range w.pairsSF {
		p := w.oriented(i)
		list = append(list, literal{litSF, p[0], p[1]})
	}
	if !w.exact {
		for _, l := range w.multi {
			ws := g.writes[l][1:]
			for _, x := range ws {
				for _, y := range ws {
					if given.Has(int(x), int(y)) {
						list = append(list, literal{litCO, x, y})
					}
				}
			}
			if w.lasts && w.observe[l] {
				list = append(list, literal{litLast, l, w.final[l]})
			}
		}
	}
	for _, r := range g.reads {
		list = append(list, literal{litRF, w.src[r], r})
	}
	return list
}

// shrink removes literals, many at a time and then one by one, as long as the rest still fails.
func (w *worker) shrink(list []literal, given rel.Rel) []literal {
	if !w.fails(list, given) {
		return list // some check depends on more than pairs
	}
	var rest []literal
	for size := (len(list) + 1) / 2; size > 0; size /= 2 {
		for i := 0; i < len(list) && !w.stop; {
			rest = append(append(rest[:0], list[:i]...), list[min(i+size, len(list)):]...)
			if w.fails(rest, given) {
				list, rest = rest, list
			} else {
				i += size
			}
		}
	}
	return list
}

// assume sets rf, co, fr and sync_fence to those of a list of literals.
func (w *worker) assume(list []literal, given rel.Rel) {
	rel.Clear(w.rf)
	rel.Clear(w.fr)
	copy(w.sf, w.base)
	for i := range w.src {
		w.src[i] = -1
	}
	for _, x := range list {
		switch x.kind {
		case litRF:
			w.rf.Add(int(x.a), int(x.b))
			w.src[x.b] = x.a
		case litSF:
			w.sf.Add(int(x.a), int(x.b))
		}
	}
	if w.exact {
		w.restoreCo(given)
		return
	}
	w.resetOrder()
	for _, x := range list {
		if x.kind == litCO {
			w.addOrder(int(x.a), int(x.b))
		}
	}
	w.refresh()
}

// fails reports whether the model forbids every execution that has all pairs of a list. It may
// return false where that is so, but never true where it is not.
func (w *worker) fails(list []literal, given rel.Rel) bool {
	w.res.Partial++
	w.tick()
	if w.stop {
		return false
	}
	w.assume(list, given)
	for {
		i := w.run(w.pl.theory)
		if w.stop {
			return false
		}
		if i < 0 {
			break
		}
		if w.pl.incl[i] != cat.InInput || w.exact || !w.force(i) {
			return true
		}
	}
	for _, x := range list {
		if x.kind == litLast && !rel.IsEmpty(w.co.Row(int(x.b))) {
			return true
		}
	}
	return w.deniesFences()
}

// deniesFences reports whether the model requires a pair of fences that no order with the
// current pairs has.
func (w *worker) deniesFences() bool {
	if len(w.pl.demandSF) == 0 {
		return false
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	open := w.arena.Rel()
	copy(open, w.sf)
	for _, p := range w.pairsSF {
		if a, b := int(p[0]), int(p[1]); !w.sf.Has(a, b) && !w.sf.Has(b, a) {
			open.Add(a, b)
			open.Add(b, a)
		}
	}
	for _, i := range w.pl.demandSF {
		if a, _ := w.m.CheckValue(i); !rel.Subset(a, open) {
			return true
		}
	}
	return false
}
