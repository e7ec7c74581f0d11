package exec

import (
	"math/bits"

	"optcheck/litmus"
)

// saveKnown and restoreKnown undo the propagation of values. Most tests need
// neither.
func (w *worker) saveKnown() []uint64 {
	if w.plain {
		return nil
	}
	return append([]uint64(nil), w.known...)
}

func (w *worker) restoreKnown(saved []uint64) {
	if !w.plain {
		copy(w.known, saved)
	}
}

// local returns the thread of an event and its number on the thread's path.
func (w *worker) local(e int) (t, i int) {
	t = int(w.g.events[e].Thread)
	return t, e - int(w.g.start[t])
}

// valueOf computes the value of an event's write, if it is known.
func (w *worker) valueOf(e int) (int64, bool) {
	ev := &w.g.events[e]
	if ev.val.isConst() {
		return ev.val.k, true
	}
	t, _ := w.local(e)
	return w.eval(t, ev.val)
}

func (w *worker) eval(t int, v value) (int64, bool) {
	if v.isConst() {
		return v.k, true
	}
	s := w.g.start[t]
	return w.g.paths[t].eval(v, w.known[t], w.val[s:w.g.start[t+1]], &w.buf)
}

// propagate finds the values that become known once read r has its write, and reports whether
// all decided conditions of the paths hold.
func (w *worker) propagate(r int) bool {
	if !w.learn(r) {
		return true // not known yet: decides nothing
	}
	touched := uint64(1) << uint(w.g.events[r].Thread)
	for changed := true; changed; {
		changed = false
		for _, q := range w.g.reads {
			if w.src[q] < 0 {
				continue
			}
			t, i := w.local(int(q))
			if w.known[t]>>i&1 == 0 && w.learn(int(q)) {
				changed = true
				touched |= 1 << uint(t)
			}
		}
	}
	for ; touched != 0; touched &= touched - 1 {
		if !w.holds(bits.TrailingZeros64(touched)) {
			return false
		}
	}
	return true
}

// learn makes the value of a read known if that of its write is. It reports whether it did.
func (w *worker) learn(r int) bool {
	k, ok := w.valueOf(int(w.src[r]))
	if ok {
		t, i := w.local(r)
		w.val[r] = k
		w.known[t] |= 1 << i
	}
	return ok
}

// holds reports whether the decided conditions of a thread's path hold.
func (w *worker) holds(t int) bool {
	path := w.g.paths[t]
	for i := range path.conds {
		c := &path.conds[i]
		if path.support(c.v)&^w.known[t] != 0 {
			continue
		}
		if k, ok := w.eval(t, c.v); ok && (k == c.want) != c.eq {
			return false
		}
	}
	return true
}

// unknown returns a read whose value follows from nothing, because rf and data flow form a
// circle; -1 if there is none.
func (w *worker) unknown() int {
	for _, r := range w.g.reads {
		t, i := w.local(int(r))
		if w.known[t]>>i&1 == 0 {
			return int(r)
		}
	}
	return -1
}

// solve lists the values of the reads that satisfy all equations. In the
// plain case there is exactly one solution. Values that justify themselves are
// taken from those that the test's writes can produce.
func (w *worker) solve() {
	w.solved = true
	if w.plain {
		for _, r := range w.g.reads {
			w.val[r] = w.g.events[w.src[r]].val.k
		}
		w.sols = append(w.sols, nil)
		return
	}
	if w.unknown() < 0 {
		w.sols = append(w.sols, nil)
		return
	}
	if w.dom == nil {
		dom, err := w.p.domains(w.opt.Unroll)
		if err != nil {
			w.undecided("values that justify themselves: %v", err)
			return
		}
		w.dom = dom
	}
	saved := w.saveKnown()
	w.guess()
	w.restoreKnown(saved)
}

func (w *worker) guess() {
	if w.stop {
		return
	}
	r := w.unknown()
	if r < 0 {
		if w.consistent() {
			w.sols = append(w.sols, append([]int64(nil), w.val...))
		}
		return
	}
	t, i := w.local(r)
	saved := w.saveKnown()
	for _, k := range w.dom[w.g.events[r].Loc] {
		w.tick()
		w.val[r] = k
		w.known[t] |= 1 << i
		w.follow()
		w.val[r] = k
		w.guess()
		w.restoreKnown(saved)
	}
}

// follow learns all values that follow from those known.
func (w *worker) follow() {
	for changed := true; changed; {
		changed = false
		for _, q := range w.g.reads {
			t, i := w.local(int(q))
			changed = w.known[t]>>i&1 == 0 && w.learn(int(q)) || changed
		}
	}
}

// consistent reports whether every read has the value of its write and all conditions hold.
func (w *worker) consistent() bool {
	for _, r := range w.g.reads {
		if k, ok := w.valueOf(int(w.src[r])); !ok || k != w.val[r] {
			return false
		}
	}
	for t := range w.g.paths {
		if !w.holds(t) {
			return false
		}
	}
	return true
}

// valuesOf puts the values of the state's terms into w.state; vals are the
// reads' values, nil for those at hand.
func (w *worker) valuesOf(vals []int64) {
	if w.plain {
		for _, r := range w.g.reads {
			w.val[r] = w.g.events[w.src[r]].val.k
		}
	}
	if vals != nil {
		copy(w.val, vals)
	}
	w.state = w.state[:0]
	for i, x := range w.p.Terms {
		k := w.p.termIdx[i]
		var v int64
		if x.Kind == litmus.TermReg {
			v, _ = w.full(x.Thread, w.g.paths[x.Thread].finals[k])
		} else {
			v = w.content(&w.p.locs[k])
		}
		w.state = append(w.state, v)
	}
}

// content is the final value of a location.
func (w *worker) content(l *location) (v int64) {
	for k := l.first; k < l.first+l.n; k++ {
		part := w.p.init(int(k))
		if len(w.g.writes[k]) > 0 {
			part = w.written(int(w.final[k]))
		}
		if l.n == 1 {
			return part
		}
		v |= shifted(part, 8*(w.p.cells[k].off-l.off))
	}
	if l.size == 4 && l.of < 0 {
		v = litmus.S32.Fit(v) // as of a location that is one cell
	}
	return v
}

// full evaluates with all reads known.
func (w *worker) full(t int, v value) (int64, bool) {
	if v.isConst() {
		return v.k, true
	}
	s := w.g.start[t]
	return w.g.paths[t].eval(v, ^uint64(0), w.val[s:w.g.start[t+1]], &w.buf)
}

func (w *worker) written(e int) int64 {
	ev := &w.g.events[e]
	if ev.val.isConst() {
		return ev.val.k
	}
	v, _ := w.full(int(ev.Thread), ev.val)
	return v
}
