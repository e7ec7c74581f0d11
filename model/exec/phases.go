package exec

import (
	"slices"

	"optcheck/litmus"
	"optcheck/model/rel"
)

// maxPhasings bounds the ways in which barriers with a thread count may group
// their arrivals.
const maxPhasings = 1000

// phasings lists the possible syncbar relations: which arrivals complete a barrier together.
// Without a thread count the k-th arrival of every thread of the CTA belongs to phase k
// (threads that have ended do not delay it). With one, any grouping is possible in which every
// phase gets exactly that many arrivals and a thread that waits is in one phase at a time. The
// last arrivals of paths that wait are in incomplete phases. complete is false if there is no
// grouping: some thread waits forever, or one that should wait does not.
func (g *graph) phasings() (list []rel.Rel, complete bool) {
	var bars []int
	for e := range g.events {
		if g.events[e].Kind == Barrier {
			bars = append(bars, e)
		}
	}
	phase := make([]int, g.n)
	g.orders = nil
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
			if r, order := g.synchronised(groups, phase); r != nil {
				list, g.orders = append(list, r), append(g.orders, order)
			}
			return
		}
		g.assign(groups[i], phase, func() { next(i + 1) })
	}
	next(0)
	return list, len(list) > 0
}

// sameBarrier reports whether two events use one barrier of one CTA.
func (g *graph) sameBarrier(a, b int) bool {
	p, _ := g.place(a)
	q, _ := g.place(b)
	x, y := &g.events[a], &g.events[b]
	same := p.GPU == q.GPU && p.Grid == q.Grid && p.Cluster == q.Cluster && p.CTA == q.CTA
	return x.BarID == y.BarID && same
}

// assign assigns phases to the events of one barrier, in every possible way.
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
		for _, e := range group {
			if !g.events[e].Arrive && g.waits(e) != g.heldUp(group, phase, e) {
				return
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
			n := 1
			if g.warpArrived(group[:i], phase, e, p) {
				n = 0
			}
			if size[p]+n <= quorum {
				phase[e] = p
				size[p] += n
				next(i + 1)
				size[p] -= n
			}
		}
	}
	next(0)
}

// waits reports whether a thread stays at e forever.
func (g *graph) waits(e int) bool {
	t := g.events[e].Thread
	return g.paths[t].Waits && e == int(g.start[t+1])-1
}

// heldUp reports whether the phase of e lacks the arrival of a thread of the CTA that has not
// ended but waits at another barrier.
func (g *graph) heldUp(group, phase []int, e int) bool {
	p, _ := g.place(e)
	for t, path := range g.paths {
		arrived := slices.ContainsFunc(group, func(x int) bool { return int(g.events[x].Thread) == t && phase[x] == phase[e] })
		if (path.Waits || path.Stuck) && !arrived && p.SameScope(g.p.threads[t].place, litmus.ScopeCTA) {
			return true
		}
	}
	return false
}

// warpArrived reports whether the warp of e has arrived in phase p, if that is what
// counts.
func (g *graph) warpArrived(group, phase []int, e, p int) bool {
	return g.events[e].Warps && slices.ContainsFunc(group, func(x int) bool {
		a, b := &g.events[x], &g.events[e]
		return phase[x] == p && a.Thread != b.Thread && g.p.threads[a.Thread].place.Warp == g.p.threads[b.Thread].place.Warp
	})
}

// full reports whether nobody leaves a phase that is not complete or waits in one
// that is, and no phase is used before the one before it is complete.
func (g *graph) full(group, phase, size []int, quorum int) bool {
	for _, e := range group {
		p := phase[e]
		if !g.events[e].Arrive && g.waits(e) != (size[p] < quorum) || p > 0 && size[p-1] < quorum {
			return false
		}
	}
	return true
}

// synchronised returns the relation from the arrivals of a phase to those that wait
// in it, in other threads, and the order in which things happen; nil if the barriers wait for each other in a circle.
func (g *graph) synchronised(groups [][]int, phase []int) (r, order rel.Rel) {
	r, order = rel.NewRel(g.n), rel.NewRel(g.n)
	g.po(order)
	// What follows b follows a: the circle is consistent.
	after := func(a, b int) {
		for c := b + 1; c < int(g.start[g.events[b].Thread+1]); c++ {
			order.Add(a, c)
		}
	}
	for _, gr := range groups {
		for _, a := range gr {
			for _, b := range gr {
				x, y := &g.events[a], &g.events[b]
				if phase[a] == phase[b] && x.Thread != y.Thread && !y.Arrive && !g.waits(b) {
					r.Add(a, b)
					after(a, b)
				}
			}
		}
	}
	for _, gr := range groups {
		if g.events[gr[0]].Quorum == 0 {
			g.afterEnds(gr, phase, r, after)
		}
	}
	if !rel.Acyclic(order) || !g.opened(groups, phase) {
		return nil, nil
	}
	return r, order
}

// opened reports whether the barriers that let somebody go on can open one after the other. One without a thread count waits for the ends of
// the threads of the CTA that do not arrive at it, and no thread has ended that waits (PTX ISA, exit): two threads whose last instructions
// are barriers of other numbers wait for each other, though nothing follows that could be in a circle.
func (g *graph) opened(groups [][]int, phase []int) bool {
	before := rel.NewRel(g.n) // of barriers: which open first
	waitsAt := func(e int) bool { return g.events[e].Kind == Barrier && !g.events[e].Arrive && !g.waits(e) }
	for _, gr := range groups {
		for _, b := range gr {
			if !waitsAt(b) {
				continue
			}
			p, _ := g.place(b)
			for u := range g.paths {
				to := int(g.start[u+1])
				i := slices.IndexFunc(gr, func(x int) bool { return int(g.events[x].Thread) == u && phase[x] == phase[b] })
				switch {
				case i >= 0:
					to = gr[i]
				case g.events[b].Quorum != 0 || !p.SameScope(g.p.threads[u].place, litmus.ScopeCTA):
					continue
				}
				for x := int(g.start[u]); x < to; x++ {
					if waitsAt(x) {
						before.Add(x, b)
					}
				}
			}
		}
	}
	return rel.Acyclic(before)
}

// afterEnds orders what follows a barrier without a thread count after the ends of those
// threads of the CTA that do not arrive at it.
func (g *graph) afterEnds(group, phase []int, sync rel.Rel, after func(a, b int)) {
	for _, b := range group {
		p, _ := g.place(b)
		if g.events[b].Arrive || g.waits(b) {
			continue
		}
		for u := range g.paths {
			arrives := slices.ContainsFunc(group, func(x int) bool { return int(g.events[x].Thread) == u && phase[x] == phase[b] })
			if arrives || !p.SameScope(g.p.threads[u].place, litmus.ScopeCTA) {
				continue
			}
			for f := int(g.start[u]); f < int(g.start[u+1]); f++ {
				if g.events[f].Agent { // no part of the thread
					continue
				}
				after(f, b)
				for a := range g.n {
					if sync.Has(a, f) {
						after(a, b)
					}
				}
			}
		}
	}
}
