package exec

import (
	"optcheck/model/rel"
)

// graph judges one set of paths.
func (w *worker) graph() {
	if err := w.prepare(); err != nil {
		w.broken(err)
		return
	}
	if w.lazy {
		w.execute()
		return
	}
	w.fences(0)
}

// prepare sets up memory, base relations and the order of the search.
func (w *worker) prepare() error {
	g, n := &w.g, w.g.n
	e := w.e
	w.arena.Init(n)
	if w.rare {
		w.rf, w.co, w.fr, w.sf, w.fw = w.arena.Rel(), w.arena.Rel(), w.arena.Rel(), w.arena.Rel(), w.arena.Set()
		w.it.static(g)
	} else {
		if err := w.m.Reset(n); err != nil {
			return err
		}
		for _, s := range e.sets {
			dst := w.m.InputSet(s.input)
			for i, a := range g.attrs {
				if a&s.attr != 0 {
					dst.Add(i)
				}
			}
		}
		for _, r := range e.rels {
			r.fill(g, w.m.InputRel(r.input))
		}
		w.rf, w.co, w.fr, w.sf = w.input(e.rf), w.input(e.cor), w.input(e.fr), w.input(e.sf)
		if w.fw = w.m.InputSet(e.fw); w.fw == nil {
			w.fw = w.arena.Set()
		}
	}
	w.pairs()
	w.pl, w.lazy = e.eager, e.lazy != nil && len(w.pairsSF) > 0
	if w.lazy {
		w.pl = e.lazy
		w.resetFences()
	}
	grow(&w.src, n)
	grow(&w.unread, n)
	grow(&w.val, n)
	grow(&w.class, n)
	grow(&w.known, len(g.paths))
	grow(&w.final, len(g.writes))
	for i := range n {
		w.src[i], w.unread[i] = -1, 0
	}
	w.plain, w.multi, w.weight = true, w.multi[:0], 1
	for t, path := range g.paths {
		w.known[t] = 0
		w.plain = w.plain && len(path.conds) == 0
	}
	size := 1.0
	for l, ws := range g.writes {
		if len(ws) == 0 {
			continue
		}
		w.final[l] = ws[len(ws)-1]
		for i, x := range ws {
			w.plain = w.plain && g.events[x].val.isConst()
			if i > 0 {
				size *= float64(i)
				w.co.Add(int(ws[0]), int(x))
			}
		}
		if len(ws) > 2 {
			w.multi = append(w.multi, int16(l))
		}
	}
	for _, r := range g.reads {
		size *= float64(len(g.writes[g.events[r].Loc]))
	}
	w.deep = size > e.deepFrom && w.opt.Visit == nil
	w.saturates = w.deep && !w.rare && size > e.saturateFrom && len(w.multi) > 0 && !w.pl.partCO.Empty() && (e.co == CoTotal || w.pl.minimal)
	w.classes()
	return nil
}

func (w *worker) input(i int) rel.Rel {
	if r := w.m.InputRel(i); r != nil {
		return r
	}
	return w.arena.Rel()
}

// pairs lists the pairs of fence.sc of different threads that the Fence-SC order must relate,
// and relates those of the same thread.
func (w *worker) pairs() {
	w.pairsSF = w.pairsSF[:0]
	if w.e.sf < 0 && !w.rare {
		return
	}
	g := &w.g
	for i, a := range g.scs {
		for _, b := range g.scs[i+1:] {
			x, y := &g.events[a], &g.events[b]
			switch {
			case x.Thread == y.Thread:
				w.sf.Add(int(a), int(b))
			case g.sameScope(x, y):
				w.pairsSF = append(w.pairsSF, [2]int16{a, b})
			}
		}
	}
}
