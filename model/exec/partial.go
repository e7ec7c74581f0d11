package exec

import (
	"optcheck/model/cat"
	"optcheck/model/rel"
)

// Coherence as a partial order.
//
// A candidate has, per location, any strict partial order that puts the initial write first;
// the model says what must be ordered. Suppose that every check that depends on co either gets
// harder as co grows, or has the form "empty a \ co" or "empty a \ (co | co^-1)" with an a that
// does not shrink. Then only orders without unneeded pairs matter: start with the initial
// writes, add what an inclusion of the first form lacks, try both directions of a pair that one
// of the second form lacks, and stop when no inclusion lacks anything. Every order that the
// model allows contains one that is found, and the model allows that one too; and the maximal
// writes of the former, the possible final values, are among the latter's. Otherwise all orders
// are tried.

// partialOrders enumerates coherence orders of a model with partial co.
func (w *worker) partialOrders() {
	if w.rare || !w.pl.minimal || w.opt.AllOrders {
		w.everyOrder()
		return
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	saved := w.arena.Rel()
	copy(saved, w.co)
	w.refresh()
	if w.lazy {
		w.minimalFences()
	} else {
		w.minimalOrders()
	}
	copy(w.co, saved)
	w.refresh()
}

// resetOrder resets co and fr to their state before any choice.
func (w *worker) resetOrder() {
	rel.Clear(w.co)
	for _, ws := range w.g.writes {
		for i := 1; i < len(ws); i++ {
			w.co.Add(int(ws[0]), int(ws[i]))
		}
	}
	w.refresh()
}

// refresh computes fr.
func (w *worker) refresh() {
	for _, r := range w.g.reads {
		if w.src[r] >= 0 {
			copy(w.fr.Row(int(r)), w.co.Row(int(w.src[r])))
		}
	}
}

// minimalOrders extends co as long as the model asks for it. co is transitive
// at every call; it may have grown on return.
func (w *worker) minimalOrders() {
	for {
		w.res.Candidates++
		w.tick()
		if w.stop {
			return
		}
		failed := w.test()
		if w.stop {
			return
		}
		if failed < 0 {
			w.maximal(0, -1)
			return
		}
		if failed >= len(w.pl.incl) {
			return
		}
		switch w.pl.incl[failed] {
		case cat.InInput:
			if !w.force(failed) {
				w.rejected(failed)
				return
			}
		case cat.InEitherOrder:
			w.branch(failed)
			return
		default:
			w.rejected(failed)
			return
		}
	}
}

// rejected passes a forbidden candidate to Visit, if set.
func (w *worker) rejected(failed int) {
	if w.opt.Visit != nil {
		w.maximal(0, failed)
	}
}

// force adds the pairs that an inclusion lacks; it returns false if that is impossible.
func (w *worker) force(check int) bool {
	a, b := w.m.CheckValue(check)
	ok := true
	mark := w.arena.Mark()
	missing := w.arena.Rel()
	rel.Diff(missing, a, b)
	missing.Each(func(x, y int) bool {
		ok = w.mayOrder(x, y)
		return ok
	})
	if ok {
		missing.Each(func(x, y int) bool {
			ok = w.co.Has(x, y) || !w.co.Has(y, x)
			if ok {
				w.addOrder(x, y)
			}
			return ok
		})
	}
	w.arena.Release(mark)
	w.refresh()
	return ok
}

// mayOrder reports whether y may come after x: different writes of a location,
// y not the initial one.
func (w *worker) mayOrder(x, y int) bool {
	g := &w.g
	return x != y && g.attrs[x]&g.attrs[y]&aW != 0 && g.events[x].Loc == g.events[y].Loc &&
		g.attrs[y]&aIW == 0 && !w.co.Has(y, x)
}

// addOrder adds a pair and what follows by transitivity.
func (w *worker) addOrder(x, y int) {
	if w.co.Has(x, y) {
		return
	}
	for _, p := range w.g.writes[w.g.events[x].Loc] {
		if int(p) == x || w.co.Has(int(p), x) {
			row := w.co.Row(int(p))
			rel.Union(row, row, w.co.Row(y))
			row.Add(y)
		}
	}
}

// branch tries both directions of the first pair that must be ordered. Two
// unread writes of one symmetry class need only one.
func (w *worker) branch(check int) {
	x, y := w.missing(check)
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	saved := w.arena.Rel()
	copy(saved, w.co)
	directions := 2
	if c := w.class[x]; c >= 0 && c == w.class[y] && w.unread[x] == 0 && w.unread[y] == 0 {
		directions = 1
		x, y = min(x, y), max(x, y)
	}
	for range directions {
		if w.mayOrder(x, y) {
			w.addOrder(x, y)
			w.refresh()
			w.minimalOrders()
			copy(w.co, saved)
			w.refresh()
		}
		if w.stop {
			return
		}
		x, y = y, x
	}
}

// missing returns the first pair that an inclusion lacks.
func (w *worker) missing(check int) (x, y int) {
	a, b := w.m.CheckValue(check)
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	missing := w.arena.Rel()
	rel.Diff(missing, a, b)
	missing.Each(func(i, j int) bool { x, y = i, j; return false })
	return x, y
}

// maximal chooses a last write for every location from l on: any one that has
// no successor. The executions of a class whose order was fixed count as many
// times as the class has orders.
func (w *worker) maximal(l int, failed int) {
	if l == 0 {
		w.weight = w.classWeight()
	}
	if l == len(w.g.writes) {
		w.verdict(failed)
		return
	}
	ws := w.g.writes[l]
	if len(ws) < 3 {
		w.maximal(l+1, failed)
		return
	}
	last := -1
	for _, x := range ws {
		if rel.IsEmpty(w.co.Row(int(x))) {
			if last >= 0 && !w.observe[l] {
				break // nobody can tell which of them is last
			}
			last = int(x)
			w.final[l] = x
			w.maximal(l+1, failed)
			if w.stop {
				return
			}
		}
	}
}

// classWeight counts the orders that the current one represents: k! for k ordered unread writes
// of one class.
func (w *worker) classWeight() uint64 {
	weight := uint64(1)
	for _, l := range w.multi {
		for i, x := range w.g.writes[l] {
			if w.class[x] < 0 || w.unread[x] > 0 {
				continue
			}
			k := uint64(1)
			for _, y := range w.g.writes[l][:i] {
				if w.class[y] == w.class[x] && w.unread[y] == 0 && w.co.Has(int(y), int(x)) {
					k++
				}
			}
			weight = mulSat(weight, k)
		}
	}
	return weight
}

// everyOrder tries all partial orders: for each pair of writes of a location
// both directions and none.
func (w *worker) everyOrder() {
	var pairs [][2]int16
	for _, l := range w.multi {
		ws := w.g.writes[l][1:]
		for i, x := range ws {
			for _, y := range ws[i+1:] {
				pairs = append(pairs, [2]int16{x, y})
			}
		}
	}
	for i := range w.class {
		w.class[i] = -1
	}
	rel.Clear(w.co)
	w.everyPair(pairs)
	w.resetOrder()
}

func (w *worker) everyPair(pairs [][2]int16) {
	if w.stop {
		return
	}
	if len(pairs) == 0 {
		w.everyLeaf()
		return
	}
	x, y := int(pairs[0][0]), int(pairs[0][1])
	w.everyPair(pairs[1:])
	for range 2 {
		w.co.Add(x, y)
		w.everyPair(pairs[1:])
		w.co.Remove(x, y)
		x, y = y, x
	}
}

// everyLeaf judges one order if it is transitive.
func (w *worker) everyLeaf() {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	twice := w.arena.Rel()
	rel.Seq(twice, w.co, w.co)
	if !rel.Subset(twice, w.co) || !rel.Irreflexive(w.co) {
		return
	}
	for _, ws := range w.g.writes {
		for i := 1; i < len(ws); i++ {
			w.co.Add(int(ws[0]), int(ws[i]))
		}
	}
	w.refresh()
	w.everyFinal(0)
	for _, ws := range w.g.writes {
		if len(ws) > 0 {
			rel.Clear(w.co.Row(int(ws[0])))
		}
	}
}

// everyFinal chooses last writes before the model is asked, since the model may use them (FW).
func (w *worker) everyFinal(l int) {
	if w.stop {
		return
	}
	if l == len(w.g.writes) {
		w.leaf()
		return
	}
	ws := w.g.writes[l]
	if len(ws) == 0 {
		w.everyFinal(l + 1)
		return
	}
	for _, x := range ws {
		if rel.IsEmpty(w.co.Row(int(x))) {
			w.final[l] = x
			w.everyFinal(l + 1)
		}
	}
}
