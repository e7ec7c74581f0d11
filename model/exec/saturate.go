package exec

import (
	"optcheck/model/cat"
	"optcheck/model/rel"
)

// Implied orders.
//
// While the search chooses reads, coherence is hardly known yet, and neither is most of what a
// model forbids. In large searches the engine therefore determines which orders of two writes
// are possible at all, by trying both: a check that gets harder as co grows and fails for one
// order leaves only the other. In a model with partial coherence a pair is tried only if the
// model requires some order, and pairs that an inclusion requires are added. What follows from
// some of the reads follows from all of them, so it holds for the whole subtree.

// saturateFrom is the number of executions in a subtree from which this pays off.
const saturateFrom = 3000

// estimate bounds the number of executions that agree with the choices for the
// first i reads.
func (w *worker) estimate(i int) float64 {
	size := 1.0
	for _, r := range w.g.reads[i:] {
		size *= float64(len(w.g.writes[w.g.events[r].Loc]))
	}
	pairs := 1.0
	total := 1.0
	for _, l := range w.multi {
		ws := w.g.writes[l]
		for k := 2; k < len(ws); k++ {
			total *= float64(k)
			for j := 1; j < k; j++ {
				if !w.ordered(int(ws[j]), int(ws[k])) {
					pairs *= 2
				}
			}
		}
	}
	return size * min(pairs, total)
}

func (w *worker) ordered(x, y int) bool { return w.co.Has(x, y) || w.co.Has(y, x) }

// saturate adds implied pairs to co. It returns false if the choices made so far cannot be
// completed. The values of a plan for all growing inputs must be available.
func (w *worker) saturate() bool {
	for {
		if w.stop {
			return false
		}
		if w.e.co == CoPartial && !w.demanded() {
			return false
		}
		grown, ok := w.tryPairs()
		if !ok || w.stop {
			return false
		}
		if !grown {
			return true
		}
	}
}

// demanded adds the pairs that inclusions require.
func (w *worker) demanded() bool {
	if w.pl.inclIn.Empty() {
		return true
	}
	for !w.stop {
		w.res.Partial++
		w.tick()
		i := w.run(w.pl.inclIn)
		if i < 0 {
			return w.pl.partRF.Empty() || w.partial(w.pl.partRF)
		}
		if w.stop || !w.force(i) {
			return false
		}
	}
	return false
}

// tryPairs tries both orders of every pair that will be ordered.
func (w *worker) tryPairs() (grown, ok bool) {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	var open rel.Rel
	if w.e.co == CoPartial {
		open = w.arena.Rel()
		if !w.openPairs(open) {
			return false, true
		}
	}
	for _, l := range w.multi {
		ws := w.g.writes[l][1:]
		for i, x := range ws {
			for _, y := range ws[i+1:] {
				a, b := int(x), int(y)
				if w.ordered(a, b) || open != nil && !open.Has(a, b) && !open.Has(b, a) {
					continue
				}
				forth, back := w.possible(a, b), w.possible(b, a)
				switch {
				case w.stop || !forth && !back:
					return grown, false
				case !forth:
					a, b = b, a
				case back:
					continue
				}
				w.addOrder(a, b)
				w.refresh()
				grown = true
			}
		}
	}
	return grown, true
}

// openPairs collects the pairs that the model wants ordered one way or the other and that are
// not ordered yet.
func (w *worker) openPairs(open rel.Rel) bool {
	if w.pl.inclEither.Empty() {
		return false
	}
	if err := w.m.RunAll(w.pl.inclEither); err != nil {
		w.broken(err)
		return false
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	missing := w.arena.Rel()
	for i, incl := range w.pl.incl {
		if incl != cat.InEitherOrder {
			continue
		}
		a, b := w.m.CheckValue(i)
		rel.Diff(missing, a, b)
		rel.Union(open, open, missing)
	}
	return !rel.IsEmpty(open)
}

// possible tries one order of two writes.
func (w *worker) possible(a, b int) bool {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	saved := w.arena.Rel()
	copy(saved, w.co)
	w.addOrder(a, b)
	w.refresh()
	ok := w.partial(w.pl.partCO)
	copy(w.co, saved)
	w.refresh()
	return ok
}
