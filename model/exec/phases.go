package exec

import (
	"slices"

	"optcheck/model/rel"
)

// maxPhasings bounds the ways in which barriers with a thread count may group
// their arrivals.
const maxPhasings = 1000

// phasings lists the possible syncbar relations: which arrivals complete a
// barrier together. Without a thread count the k-th arrival of every thread of
// the CTA belongs to phase k (threads that have ended do not hold it up). With
// one, any grouping in which every phase gets exactly that many arrivals and a
// thread that waits is in one phase at a time. complete is false if some
// barrier waits forever in every grouping.
func (g *graph) phasings() (list []rel.Rel, complete bool) {
	var bars []int
	for e := range g.events {
		if g.events[e].Kind == Barrier {
			bars = append(bars, e)
		}
	}
	phase := make([]int, g.n)
	var groups [][]int
	for _, e := range bars {
		i := slices.IndexFunc(groups, func(gr []int) bool { return g.sameBarrier(gr[0], e) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	var next func(i int)
	next = func(i int) {
		if len(list) >= maxPhasings {
			return
		}
		if i == len(groups) {
			if r := g.synchronised(groups, phase); r != nil {
				list = append(list, r)
			}
			return
		}
		g.assign(groups[i], phase, func() { next(i + 1) })
	}
	next(0)
	return list, len(list) > 0
}

// sameBarrier tells whether two events use one barrier of one CTA.
func (g *graph) sameBarrier(a, b int) bool {
	p, _ := g.place(a)
	q, _ := g.place(b)
	x, y := &g.events[a], &g.events[b]
	same := p.GPU == q.GPU && p.Grid == q.Grid && p.Cluster == q.Cluster && p.CTA == q.CTA
	return x.BarID == y.BarID && same
}

// assign gives the events of one barrier their phases, in every way.
func (g *graph) assign(group, phase []int, then func()) {
	quorum := 0
	for _, e := range group {
		quorum = max(quorum, int(g.events[e].Quorum))
	}
	if quorum == 0 {
		for i, e := range group {
			phase[e] = 0
			if i > 0 && g.events[group[i-1]].Thread == g.events[e].Thread {
				phase[e] = phase[group[i-1]] + 1
			}
		}
		then()
		return
	}
	size := make([]int, len(group)+1)
	var next func(i int)
	next = func(i int) {
		if i == len(group) {
			if g.full(group, phase, size, quorum) {
				then()
			}
			return
		}
		e, from := group[i], 0
		if i > 0 && g.events[group[i-1]].Thread == g.events[e].Thread {
			if from = phase[group[i-1]]; !g.events[group[i-1]].Arrive {
				from++
			}
		}
		for p := from; p*quorum < len(group); p++ {
			if size[p] < quorum {
				phase[e] = p
				size[p]++
				next(i + 1)
				size[p]--
			}
		}
	}
	next(0)
}

// full reports whether nobody waits in a phase that is not complete, and no
// phase is used before the one before it is complete.
func (g *graph) full(group, phase, size []int, quorum int) bool {
	for _, e := range group {
		p := phase[e]
		if size[p] < quorum && !g.events[e].Arrive || p > 0 && size[p-1] < quorum {
			return false
		}
	}
	return true
}

// synchronised is the relation from the arrivals of a phase to those that wait
// in it, in other threads; nil if the barriers wait for each other in a circle.
func (g *graph) synchronised(groups [][]int, phase []int) rel.Rel {
	r := rel.NewRel(g.n)
	order := rel.NewRel(g.n)
	g.po(order)
	for _, gr := range groups {
		for _, a := range gr {
			for _, b := range gr {
				x, y := &g.events[a], &g.events[b]
				if phase[a] == phase[b] && x.Thread != y.Thread && !y.Arrive {
					r.Add(a, b)
					// What follows b follows a: the circle is in order.
					for c := b + 1; c < int(g.start[y.Thread+1]); c++ {
						order.Add(a, c)
					}
				}
			}
		}
	}
	if !rel.Acyclic(order) {
		return nil
	}
	return r
}
