package exec

import (
	"slices"

	"optcheck/model/cat"
	"optcheck/model/rel"
)

// The order of the fences, on demand.
//
// A candidate has a total order of its fence.sc; the model sees it, as sync_fence, on the pairs
// that are morally strong. n fences have n! orders, but almost never does one of them matter
// more than another: what counts is whether there is one. So the search looks for it last, for
// given rf (and co, where that is total), like a SAT solver that learns from a theory.
//
// Take any order that agrees with what is decided and ask the model. If the model forbids it,
// the failure needs only some of the choices: a conflict, a set of pairs of rf, co and
// sync_fence that no allowed execution has together. A model qualifies (orderableLate) only if
// additional pairs never heal a failure, so that removing pairs one by one until the failure
// would vanish leaves a conflict that holds wherever its pairs are. One of its pairs of fences
// must go the other way: branch over them, keeping the earlier ones and reversing the next one.
// In a ring of n threads, n conflicts of one read and one pair of fences are learned; after
// that every assignment of rf takes one evaluation of the model.
//
// Where co is partial, the model's requirements on it are part of the question, and so are the
// writes that shall be the last ones of the observed locations: each choice of those is a
// question of its own, and an answer is one execution.
//
// An execution is accepted only after the model has seen it with its total order. Conflicts can
// only be wrong by hiding executions; the tests look for that, with an enumeration of all
// orders as the reference.

// fenceSearch is the state of the search for an order.
type fenceSearch struct {
	conflicts []conflict
	base      rel.Rel // the pairs of fences within threads
	rank      []int16 // of a fence in the order that is tried
	lasts     bool    // final holds writes that must remain the last ones
	exact     bool    // co is fixed and must not grow
	show      bool    // show the executions that fail
}

// conflict is a set of pairs that no allowed execution has together.
type conflict struct {
	fences [][2]int16 // of sync_fence
	rest   []literal
}

// literal is a pair of rf (write, read), co or sync_fence, or says that a
// location (a) has a last write (b).
type literal struct {
	kind literalKind
	a, b int16
}

type literalKind uint8

const (
	litRF literalKind = iota
	litCO
	litSF
	litLast
)

// maxConflicts bounds the memory for conflicts; forgotten ones are found again.
const maxConflicts = 1 << 12

func (w *worker) resetFences() {
	w.conflicts = w.conflicts[:0]
	w.base = w.arena.Rel()
	copy(w.base, w.sf)
	w.lasts, w.exact, w.show = false, false, false
	grow(&w.rank, w.g.n)
}

// refuted reports whether conflicts rule out all completions of the choices made
// so far.
func (w *worker) refuted() bool {
	if !w.lazy || len(w.conflicts) == 0 || w.opt.Visit != nil {
		return false
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	d := w.arena.Rel()
	copy(d, w.base)
	return !w.imply(d) || !w.arrange(d)
}

// orderFences judges an execution whose rf and co are chosen.
func (w *worker) orderFences() {
	known := len(w.conflicts)
	if w.exact = w.e.co == CoPartial; w.opt.Visit != nil {
		w.conflicts, known = w.conflicts[:0], 0
		w.show = true
	}
	w.attempt()
	if w.exact { // what was learned holds for this co alone
		w.conflicts = w.conflicts[:known]
	}
}

// lastWritesFrom chooses a last write for the observed locations from the i-th on
// and looks for an execution that has them.
func (w *worker) lastWritesFrom(i int) (found bool) {
	for i < len(w.multi) && !w.observe[w.multi[i]] {
		i++
	}
	if i == len(w.multi) {
		w.lasts, w.weight = true, 1
		found = w.attempt()
		w.lasts = false
		return found
	}
	l := w.multi[i]
	for _, x := range w.g.writes[l][1:] {
		w.final[l] = x
		found = w.lastWritesFrom(i+1) || found
	}
	return found
}

// minimalFences is minimalOrders together with the order of the fences.
func (w *worker) minimalFences() {
	for i := range w.class {
		w.class[i] = -1 // every last write is asked for
	}
	if w.lastWritesFrom(0) || w.opt.Visit == nil {
		return
	}
	w.conflicts, w.show = w.conflicts[:0], true
	w.attempt()
	w.show = false
}

// attempt looks for an order of the fences and counts its execution.
func (w *worker) attempt() bool {
	if w.stop {
		return false
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	d, co := w.arena.Rel(), w.arena.Rel()
	copy(d, w.base)
	copy(co, w.co)
	ok := w.settle(d)
	if ok {
		w.verdict(-1)
	}
	copy(w.sf, w.base)
	w.restoreCo(co)
	return ok
}

// settle looks for an order that includes d, and adds what follows to it. If it succeeds,
// sync_fence and co are those of an allowed execution.
func (w *worker) settle(d rel.Rel) bool {
	if w.stop || !w.imply(d) || !w.arrange(d) {
		return false
	}
	w.orient()
	c := w.conflict()
	if c == nil {
		var ok bool
		if ok, c = w.confirm(d); ok || c == nil {
			return ok
		}
	}
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	e := w.arena.Rel()
	for i, p := range c.fences {
		if d.Has(int(p[0]), int(p[1])) {
			continue
		}
		copy(e, d)
		for _, q := range c.fences[:i] {
			e.Add(int(q[0]), int(q[1]))
		}
		e.Add(int(p[1]), int(p[0]))
		if w.settle(e) {
			return true
		}
	}
	return false
}

// imply adds the pairs of fences that conflicts force; it returns false if one of them rules
// out d.
func (w *worker) imply(d rel.Rel) bool {
	for changed := true; changed; {
		changed = false
	next:
		for i := range w.conflicts {
			c := &w.conflicts[i]
			if !w.present(c) {
				continue
			}
			free := -1
			for k, p := range c.fences {
				switch a, b := int(p[0]), int(p[1]); {
				case d.Has(a, b):
				case free >= 0 || d.Has(b, a):
					continue next
				default:
					free = k
				}
			}
			if free < 0 {
				return false
			}
			d.Add(int(c.fences[free][1]), int(c.fences[free][0]))
			changed = true
		}
	}
	return true
}

// present reports whether the execution has what a conflict needs besides fences.
func (w *worker) present(c *conflict) bool {
	for _, x := range c.rest {
		switch {
		case x.kind == litRF && w.src[x.b] != x.a,
			x.kind == litCO && !w.co.Has(int(x.a), int(x.b)),
			x.kind == litLast && !(w.lasts && w.final[x.a] == x.b):
			return false
		}
	}
	return true
}

// arrange puts the fences into an order that agrees with d; it returns false if there is none.
func (w *worker) arrange(d rel.Rel) bool {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	left := w.arena.Set()
	for _, f := range w.g.scs {
		left.Add(int(f))
	}
	for n := len(w.g.scs); n > 0; {
		before := n
		for _, f := range slices.Backward(w.g.scs) {
			if left.Has(int(f)) && rel.Disjoint(d.Row(int(f)), left) {
				left.Remove(int(f))
				n--
				w.rank[f] = int16(n)
			}
		}
		if n == before {
			return false
		}
	}
	return true
}

// orient sets sync_fence to the current order of the pairs that it relates.
func (w *worker) orient() {
	copy(w.sf, w.base)
	for i := range w.pairsSF {
		p := w.oriented(i)
		w.sf.Add(int(p[0]), int(p[1]))
	}
}

func (w *worker) oriented(i int) [2]int16 {
	p := w.pairsSF[i]
	if w.rank[p[0]] > w.rank[p[1]] {
		p[0], p[1] = p[1], p[0]
	}
	return p
}

// conflict returns a conflict that the current execution has, or nil.
func (w *worker) conflict() *conflict {
	for i := range w.conflicts {
		c := w.conflicts[i]
		if w.present(&c) && !slices.ContainsFunc(c.fences, func(p [2]int16) bool { return !w.sf.Has(int(p[0]), int(p[1])) }) {
			return &c
		}
	}
	return nil
}

// confirm asks the model about the current order, letting co grow as required. If the model
// forbids the execution, the conflict says why; nil means that no order that includes d can
// succeed.
func (w *worker) confirm(d rel.Rel) (bool, *conflict) {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	given := w.arena.Rel()
	copy(given, w.co)
	for {
		w.res.Candidates++
		w.tick()
		if w.stop {
			return false, nil
		}
		failed := w.test()
		if w.stop {
			return false, nil
		}
		if failed < 0 && !w.overtaken() {
			return true, nil
		}
		if failed >= 0 && !w.exact {
			if w.pl.incl[failed] == cat.InInput && w.force(failed) {
				continue
			}
			if w.pl.incl[failed] == cat.InEitherOrder && w.e.co == CoPartial {
				return w.eitherWay(d, given, failed), nil
			}
		}
		if failed >= 0 && w.show {
			w.showFailed(failed)
		}
		if failed >= 0 && !w.pl.looksSF[failed] && rel.Equal(w.co, given) {
			return false, nil
		}
		return false, w.learnWhy(given)
	}
}

// eitherWay continues with both orders of two writes that the model wants ordered.
func (w *worker) eitherWay(d, given rel.Rel, check int) bool {
	mark := w.arena.Mark()
	defer w.arena.Release(mark)
	e := w.arena.Rel()
	x, y := w.missing(check)
	for range 2 {
		w.restoreCo(given)
		if w.mayOrder(x, y) {
			w.addOrder(x, y)
			w.refresh()
			copy(e, d)
			if w.settle(e) {
				return true
			}
		}
		x, y = y, x
	}
	w.restoreCo(given)
	return false
}

func (w *worker) showFailed(failed int) {
	if w.e.co == CoPartial && !w.exact {
		w.rejected(failed)
		return
	}
	w.verdict(failed)
}

// overtaken reports whether a write that shall be the last one is not.
func (w *worker) overtaken() bool {
	if !w.lasts {
		return false
	}
	for _, l := range w.multi {
		if w.observe[l] && !rel.IsEmpty(w.co.Row(int(w.final[l]))) {
			return true
		}
	}
	return false
}

func (w *worker) restoreCo(co rel.Rel) {
	copy(w.co, co)
	w.refresh()
}
