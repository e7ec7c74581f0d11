package exec

import (
	"slices"

	"optcheck/litmus"
	"optcheck/model/rel"
)

// The phases of mbarriers and of barriers of clusters.
//
// The initial value of an mbarrier's location is the number of arrivals that each phase expects. A
// phase is complete when it has them and as many bytes have been copied as it expects. Any
// assignment to phases is possible in which the phases before the last are complete, a thread's
// operations are in phases in program order, and no operation of a phase has to come before one of
// an earlier phase, or behind a wait that saw its own phase complete. Barriers and ends of threads, for which barriers wait, are in
// that order, too.

// synchronisations lists the possible relations from the operations of a phase to the waits that see
// it complete; none if some wait cannot. It returns false if there are too many.
func (g *graph) synchronisations() (list []rel.Rel, ok bool) {
	m := &phaser{g: g, phase: make([]int, g.n), sync: rel.NewRel(g.n), order: rel.NewRel(g.n)}
	g.po(m.order)
	if g.inTime != nil {
		g.inTime.Each(func(a, b int) bool { m.order.Add(a, b); return true })
	}
	for _, p := range g.async {
		m.order.Add(int(p[0]), int(p[1]))
	}
	for e := range g.events {
		if ev := &g.events[e]; ev.Kind == Sync && ev.Obj >= 0 && !slices.Contains(m.objects, ev.Obj) {
			m.objects = append(m.objects, ev.Obj)
		}
	}
	if !m.clusters() {
		return nil, true
	}
	m.object(0, func() {
		if len(list) < maxPhasings && rel.Acyclic(m.order) {
			list = append(list, rel.Clone(m.sync))
		}
	})
	return list, m.steps <= maxSteps && len(list) < maxPhasings
}

type phaser struct {
	g       *graph
	objects []int16
	phase   []int
	sync    rel.Rel
	order   rel.Rel // in which things happen
	steps   int
}

// clusters adds the barriers of clusters: the k-th wait of a thread is for the k-th arrivals of all.
func (m *phaser) clusters() bool {
	g := m.g
	var arrivals, waits [][]int // by thread
	used := false
	for t := range g.paths {
		var a, b []int
		for e := int(g.start[t]); e < int(g.start[t+1]); e++ {
			switch g.events[e].Role {
			case ClusterArrive:
				a = append(a, e)
			case ClusterWait:
				b = append(b, e)
			}
		}
		if len(b) > len(a) {
			return false
		}
		used = used || len(a) > 0
		arrivals, waits = append(arrivals, a), append(waits, b)
	}
	if !used {
		return true
	}
	for t := range g.paths {
		for k, w := range waits[t] {
			for u := range g.paths {
				if !g.p.threads[t].place.SameScope(g.p.threads[u].place, litmus.ScopeCluster) {
					continue
				}
				if k >= len(arrivals[u]) {
					return false // waits for ever
				}
				m.add(arrivals[u][k], w)
			}
		}
	}
	return true
}

func (m *phaser) add(a, w int) {
	m.sync.Add(a, w)
	m.order.Add(a, w)
}

// object assigns phases to the operations of the i-th mbarrier and those after it.
func (m *phaser) object(i int, then func()) {
	if i == len(m.objects) {
		then()
		return
	}
	var ops, waits []int
	for e := range m.g.events {
		ev := &m.g.events[e]
		switch {
		case ev.Kind != Sync || ev.Obj != m.objects[i]:
		case ev.Role == MbWait:
			waits = append(waits, e)
		default:
			ops = append(ops, e)
		}
	}
	expected := m.g.p.locs[m.objects[i]].init
	m.assign(ops, 0, func() {
		done, ok := m.complete(ops, expected)
		if !ok {
			return
		}
		saved, before := rel.Clone(m.sync), rel.Clone(m.order)
		for _, a := range ops {
			for _, b := range ops {
				if m.phase[a] < m.phase[b] {
					m.order.Add(a, b)
				}
			}
		}
		m.waits(ops, waits, 0, done, func() { m.object(i+1, then) })
		copy(m.sync, saved)
		copy(m.order, before)
	})
}

// assign assigns phases to the operations from the i-th on.
func (m *phaser) assign(ops []int, i int, then func()) {
	if m.steps++; m.steps > maxSteps {
		return
	}
	if i == len(ops) {
		then()
		return
	}
	ev := &m.g.events[ops[i]]
	from := 0
	for _, a := range ops[:i] { // of the thread: what is asynchronous comes behind what was before it, and is in no order itself
		if x := &m.g.events[a]; x.Thread == ev.Thread && (!x.Agent || !ev.Agent && x.Pending()) {
			from = max(from, m.phase[a])
		}
	}
	for p := from; p < len(ops); p++ {
		m.phase[ops[i]] = p
		m.assign(ops, i+1, then)
	}
}

// Pending reports whether a phase waits for an arrival from where it is issued on: one that is not among those
// that the mbarrier expects.
func (e *Event) Pending() bool { return e.Role == MbArrive && e.Agent && e.Count == 0 }

// complete returns the number of phases that are complete; ok is false if one is left before it is.
func (m *phaser) complete(ops []int, expected int64) (done int, ok bool) {
	last := -1
	dropped := make([]int64, len(ops)+2) // before a phase
	count, bytes := make([]int64, len(ops)+1), make([]int64, len(ops)+1)
	for _, e := range ops {
		ev := &m.g.events[e]
		p := m.phase[e]
		count[p] += ev.Count
		bytes[p] += ev.Bytes
		if ev.Drop {
			dropped[p+1] += ev.Count
		}
		last = max(last, p)
	}
	for done <= last && count[done] == expected && bytes[done] == 0 {
		done++
		expected -= dropped[done]
	}
	return done, done >= last && (done > last || count[last] <= expected)
}

// waits chooses the phases that the waits from the i-th on see complete.
func (m *phaser) waits(ops, waits []int, i, done int, then func()) {
	if i == len(waits) {
		then()
		return
	}
	w := waits[i]
	ev := &m.g.events[w]
	from, to := -1, done-1
	switch {
	case ev.Token >= 0:
		from = m.phase[int(m.g.start[ev.Thread])+int(ev.Token)]
		to = min(to, from)
	default: // the last phase that is complete has the parity
		for _, a := range ops {
			if x := &m.g.events[a]; x.Thread == ev.Thread && !x.Agent && a < w {
				from = max(from, m.phase[a]-1)
			}
		}
		for _, v := range waits[:i] {
			if m.g.events[v].Thread == ev.Thread {
				from = max(from, m.phase[v])
			}
		}
	}
	for p := from; p <= to; p++ {
		if ev.Parity >= 0 && (p+2)%2 != int(ev.Parity) {
			continue
		}
		saved, before := rel.Clone(m.sync), rel.Clone(m.order)
		m.phase[w] = p
		for _, a := range ops {
			if m.phase[a] == p {
				m.add(a, w)
			}
		}
		m.waits(ops, waits, i+1, done, then)
		copy(m.sync, saved)
		copy(m.order, before)
	}
}
