package exec

import (
	"optcheck/model/rel"
)

// classes finds interchangeable writes: each is its thread's only event, they have the same
// location and kind, and their threads stand in the same relation to every other thread. While
// none of them is read, exchanging two of them maps executions to executions that differ only
// in the values.
func (w *worker) classes() {
	g := &w.g
	for i := range w.class {
		w.class[i] = -1
	}
	if w.opt.Visit != nil {
		return
	}
	for _, l := range w.multi {
		ws := g.writes[l][1:]
		for i, a := range ws {
			if w.class[a] >= 0 || !w.lonely(a) {
				continue
			}
			for _, b := range ws[i+1:] {
				if w.class[b] < 0 && w.lonely(b) && w.alike(a, b) {
					w.class[a], w.class[b] = a, a
				}
			}
		}
	}
}

func (w *worker) lonely(e int16) bool {
	t := w.g.events[e].Thread
	return w.g.start[t+1]-w.g.start[t] == 1
}

// alike reports whether exchanging two lonely writes changes no base relation.
func (w *worker) alike(a, b int16) bool {
	g := &w.g
	x, y := &g.events[a], &g.events[b]
	if g.attrs[a] != g.attrs[b] || x.VLoc != y.VLoc {
		return false
	}
	p, q := g.p.threads[x.Thread].place, g.p.threads[y.Thread].place
	for t := range g.p.threads {
		if t == int(x.Thread) || t == int(y.Thread) {
			continue
		}
		r := g.p.threads[t].place
		if sharedLevels(p, r) != sharedLevels(q, r) {
			return false
		}
	}
	return true
}

// order chooses the total coherence order of the i-th location with several
// writes and of those after it.
func (w *worker) order(i int) {
	if i == len(w.multi) {
		w.leaf()
		return
	}
	l := w.multi[i]
	for len(w.orders) <= i {
		w.orders = append(w.orders, order{})
	}
	o := &w.orders[i]
	o.left = append(o.left[:0], w.g.writes[l][1:]...)
	w.place(i, l)
}

// order is the state of choosing one location's order.
type order struct{ left []int16 }

// place chooses the next write in the order. Of the unread writes of a symmetry class it tries
// only the first: the others would lead to the same executions with other values.
func (w *worker) place(i int, l int16) {
	left := w.orders[i].left
	if len(left) == 1 {
		w.final[l] = left[0]
		w.order(i + 1)
		return
	}
	var saved [rel.MaxEvents / 64]uint64
	for k := range left {
		if w.stop {
			return
		}
		x := left[k]
		same := w.peersBefore(left, k)
		if same < 0 || w.after(left, x) {
			continue
		}
		weight := w.weight
		w.weight = mulSat(weight, uint64(same))
		start := len(w.left)
		w.left = append(append(w.left, left[:k]...), left[k+1:]...)
		rest := w.left[start:]
		row := w.co.Row(int(x))
		copy(saved[:], row)
		news := false
		for _, y := range rest {
			if !row.Has(int(y)) {
				row.Add(int(y))
				news = true
			}
		}
		w.readersOf(x)
		w.orders[i].left = rest
		ok := true
		if news && w.deep && !w.rare && (len(rest) > 1 || i+1 < len(w.multi)) && !w.pl.partCO.Empty() {
			ok = w.partial(w.pl.partCO)
		}
		if ok {
			w.place(i, l)
		}
		w.orders[i].left = left
		w.left = w.left[:start]
		copy(row, saved[:])
		w.readersOf(x)
		w.weight = weight
	}
}

// after reports whether x is known to come after another write that is left.
func (w *worker) after(left []int16, x int16) bool {
	if !w.saturates {
		return false
	}
	for _, y := range left {
		if w.co.Has(int(y), int(x)) {
			return true
		}
	}
	return false
}

// peersBefore returns for left[k] how many unread writes of its class are left, including
// itself; 1 if it has none; -1 if one of them comes before it.
func (w *worker) peersBefore(left []int16, k int) int {
	x := left[k]
	c := w.class[x]
	if c < 0 || w.unread[x] > 0 {
		return 1
	}
	n := 0
	for j, y := range left {
		if w.class[y] == c && w.unread[y] == 0 {
			if j < k {
				return -1
			}
			n++
		}
	}
	return n
}

// readersOf updates fr for the reads that read from x.
func (w *worker) readersOf(x int16) {
	if w.unread[x] == 0 {
		return
	}
	row := w.co.Row(int(x))
	for _, r := range w.g.reads {
		if w.src[r] == x {
			copy(w.fr.Row(int(r)), row)
		}
	}
}

// leaf evaluates a candidate whose rf, co and last writes are chosen.
func (w *worker) leaf() {
	if w.e.fw >= 0 || w.rare {
		rel.Clear(w.fw)
		for l, ws := range w.g.writes {
			if len(ws) > 0 {
				w.fw.Add(int(w.final[l]))
			}
		}
	}
	if w.lazy {
		w.orderFences()
		return
	}
	w.res.Candidates++
	w.tick()
	if !w.stop {
		w.verdict(w.test())
	}
}

// test evaluates the model on a complete candidate. It returns the failed check or -1.
func (w *worker) test() int {
	switch {
	case w.rare:
		return w.interpret()
	case w.opt.Visit != nil:
		return w.run(w.pl.full)
	}
	return w.run(w.pl.leaf)
}

// verdict records the result for a candidate whose final writes are chosen.
func (w *worker) verdict(failed int) {
	if w.stop {
		return
	}
	if w.opt.Visit != nil {
		w.visit(failed)
	}
	if failed >= 0 || w.stop {
		return
	}
	if !w.solved {
		w.solve()
	}
	if w.fault != "" && len(w.sols) > 0 {
		w.undecided("%s", w.fault)
		return
	}
	for _, vals := range w.sols {
		w.accept(vals)
	}
	if len(w.sols) == 0 {
		return // no values fit: no execution
	}
	w.flags()
	if w.opt.First {
		w.res.Stopped, w.stop = true, true
	}
}

// accept adds the final states of an allowed execution. If a location's last
// write stands for its class, every member is last equally often.
func (w *worker) accept(vals []int64) {
	w.expand(0, w.weight, vals)
}

func (w *worker) expand(l int, weight uint64, vals []int64) {
	for ; l < len(w.g.writes); l++ {
		if !w.observe[l] || len(w.g.writes[l]) < 3 {
			continue
		}
		x := w.final[l]
		c := w.class[x]
		if c < 0 || w.unread[x] > 0 {
			continue
		}
		var peers []int16
		for _, y := range w.g.writes[l] {
			if y == x || w.class[y] == c && w.unread[y] == 0 && w.co.Has(int(y), int(x)) {
				peers = append(peers, y)
			}
		}
		for _, y := range peers {
			w.final[l] = y
			w.expand(l+1, weight/uint64(len(peers)), vals)
		}
		w.final[l] = x
		return
	}
	w.valuesOf(vals)
	w.add(weight)
}

func mulSat(a, b uint64) uint64 {
	if b != 0 && a > ^uint64(0)/b {
		return ^uint64(0)
	}
	return a * b
}
