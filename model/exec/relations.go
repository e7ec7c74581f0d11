package exec

import (
	"math/bits"

	"optcheck/litmus"
	"optcheck/model/rel"
)

// staticRels names the relations that do not depend on choices, with what
// fills them; dst is empty.
var staticRels = []struct {
	name string
	fill func(g *graph, dst rel.Rel)
}{
	{"po", (*graph).po},
	{"po-loc", func(g *graph, dst rel.Rel) {
		g.within(dst, func(a, b int) bool {
			return a < b && g.events[a].Loc >= 0 && g.events[a].Loc == g.events[b].Loc && !g.events[a].Agent && !g.events[b].Agent
		})
	}},
	{"int", func(g *graph, dst rel.Rel) {
		g.within(dst, func(a, b int) bool { return true })
		for _, i := range g.init {
			if i >= 0 {
				dst.Add(int(i), int(i))
			}
		}
	}},
	{"ext", (*graph).ext},
	{"id", func(g *graph, dst rel.Rel) { rel.Identity(dst) }},
	// sm relates the parts of one access, and everything to itself; apart from them, same-range
	// the accesses to the same bytes. See cells.go.
	{nameSM, func(g *graph, dst rel.Rel) {
		rel.Identity(dst)
		g.within(dst, func(a, b int) bool { return g.partsOfOne(&g.events[a], &g.events[b]) })
	}},
	{"same-range", func(g *graph, dst rel.Rel) {
		g.pairs(dst, func(a, b *Event) bool {
			return a.Loc >= 0 && b.Loc >= 0 && g.p.cells[a.Loc].loc == g.p.cells[b.Loc].loc && a.Bits == b.Bits && a.Off == b.Off
		})
	}},
	{"loc", func(g *graph, dst rel.Rel) {
		g.pairs(dst, func(a, b *Event) bool { return a.Loc >= 0 && a.Loc == b.Loc })
	}},
	{"same-size", func(g *graph, dst rel.Rel) {
		g.pairs(dst, func(a, b *Event) bool { return a.Bits == b.Bits })
	}},
	{"vloc", func(g *graph, dst rel.Rel) {
		g.pairs(dst, func(a, b *Event) bool { return a.VLoc >= 0 && a.VLoc == b.VLoc })
	}},
	{"rmw", (*graph).rmw},
	{"amo", (*graph).rmw},
	{"addr", func(g *graph, dst rel.Rel) { g.deps(dst, func(e *Event) uint64 { return e.addr }) }},
	{"data", func(g *graph, dst rel.Rel) { g.deps(dst, func(e *Event) uint64 { return e.data }) }},
	{"ctrl", func(g *graph, dst rel.Rel) { g.deps(dst, func(e *Event) uint64 { return e.ctrl }) }},
	{"sr", func(g *graph, dst rel.Rel) { g.pairs(dst, g.sameScope) }},
	{"scta", func(g *graph, dst rel.Rel) { g.level(dst, litmus.Place.SameScope, litmus.ScopeCTA) }},
	{"cta", func(g *graph, dst rel.Rel) { g.level(dst, litmus.Place.SameScope, litmus.ScopeCTA) }},
	{"cluster", func(g *graph, dst rel.Rel) { g.level(dst, litmus.Place.SameScope, litmus.ScopeCluster) }},
	{"gpu", func(g *graph, dst rel.Rel) { g.level(dst, litmus.Place.SameScope, litmus.ScopeGPU) }},
	{"gl", func(g *graph, dst rel.Rel) {
		g.level(dst, func(a, b litmus.Place, _ litmus.Scope) bool { return a.SameGrid(b) }, 0)
	}},
	{"sys", func(g *graph, dst rel.Rel) { dst.Fill() }},
	{"membar.cta", func(g *graph, dst rel.Rel) { g.membar(dst, litmus.ScopeCTA) }},
	{"membar.gl", func(g *graph, dst rel.Rel) { g.membar(dst, litmus.ScopeGPU) }},
	{"membar.sys", func(g *graph, dst rel.Rel) { g.membar(dst, litmus.ScopeSys) }},
	{"syncbar", func(g *graph, dst rel.Rel) {
		if g.bar != nil {
			copy(dst, g.bar)
		}
	}},
	{"async", func(g *graph, dst rel.Rel) {
		for _, p := range g.async {
			dst.Add(int(p[0]), int(p[1]))
		}
	}},
	// covers relates events to the fences that may order them, and fences to themselves that order all.
	{"covers", (*graph).covers},
	{"syncmb", func(g *graph, dst rel.Rel) {
		if g.mb != nil {
			copy(dst, g.mb)
		}
	}},
	{"sync_barrier", func(g *graph, dst rel.Rel) {
		if g.bar != nil {
			copy(dst, g.bar)
		}
	}},
}

// partsOfOne reports whether two events of a thread are parts of one read or write.
func (g *graph) partsOfOne(a, b *Event) bool {
	return a.Loc >= 0 && b.Loc >= 0 && a.Op == b.Op && a.Kind == b.Kind
}

// unordered reports whether two events of a thread are of one access, and not what an atomic reads and what it writes.
func unordered(a, b *Event) bool {
	return a.Group != 0 && a.Group == b.Group && (a.Op != b.Op || a.Kind == Write)
}

func (g *graph) po(dst rel.Rel) {
	if g.divided {
		g.within(dst, func(a, b int) bool {
			x, y := &g.events[a], &g.events[b]
			return a < b && !g.partsOfOne(x, y) && !x.Agent && !y.Agent && !unordered(x, y)
		})
		return
	}
	if g.n <= 64 {
		for t := range g.paths {
			end := ^uint64(0) >> (64 - uint(g.start[t+1]))
			for e := g.start[t]; e < g.start[t+1]; e++ {
				dst[e] = end &^ (2<<uint(e) - 1)
			}
		}
		return
	}
	g.within(dst, func(a, b int) bool { return a < b })
}

// within adds the pairs of events of one thread that satisfy f.
func (g *graph) within(dst rel.Rel, f func(a, b int) bool) {
	for t := range g.paths {
		for a := int(g.start[t]); a < int(g.start[t+1]); a++ {
			for b := int(g.start[t]); b < int(g.start[t+1]); b++ {
				if f(a, b) {
					dst.Add(a, b)
				}
			}
		}
	}
}

// pairs adds the pairs of events that satisfy f.
func (g *graph) pairs(dst rel.Rel, f func(a, b *Event) bool) {
	for a := range g.events {
		for b := range g.events {
			if f(&g.events[a], &g.events[b]) {
				dst.Add(a, b)
			}
		}
	}
}

// ext relates events of different threads; an initial write is external to
// every other event.
func (g *graph) ext(dst rel.Rel) {
	for a := range g.events {
		for b := range g.events {
			if t := g.events[a].Thread; a != b && (t < 0 || t != g.events[b].Thread) {
				dst.Add(a, b)
			}
		}
	}
}

// covers relates events to the fences that may order them.
func (g *graph) covers(dst rel.Rel) {
	for f := range g.events {
		fence := &g.events[f]
		for a := range g.events {
			if g.p.Covers(&g.events[a], fence) {
				dst.Add(a, f)
			}
		}
	}
}

func (g *graph) rmw(dst rel.Rel) {
	for _, r := range g.reads {
		if w := g.events[r].Partner; w >= 0 {
			dst.Add(int(r), int(w))
		}
	}
}

func (g *graph) deps(dst rel.Rel, f func(*Event) uint64) {
	for t := range g.paths {
		first := int(g.start[t])
		for b := first; b < int(g.start[t+1]); b++ {
			for m := f(&g.events[b]); m != 0; m &= m - 1 {
				dst.Add(first+bits.TrailingZeros64(m), b)
			}
		}
	}
}

// sameScope reports whether both events have a scope that includes the other's thread.
func (g *graph) sameScope(a, b *Event) bool {
	if a.Scope == litmus.ScopeNone || b.Scope == litmus.ScopeNone || a.Thread < 0 || b.Thread < 0 {
		return false
	}
	if a.Thread == b.Thread {
		return true
	}
	p, q := g.p.threads[a.Thread].place, g.p.threads[b.Thread].place
	return p.SameScope(q, a.Scope) && p.SameScope(q, b.Scope)
}

// level relates the events of threads within one instance of a level. Initial
// writes belong to none.
func (g *graph) level(dst rel.Rel, same func(a, b litmus.Place, s litmus.Scope) bool, s litmus.Scope) {
	for t := range g.paths {
		for u := range g.paths {
			if t != u && !same(g.p.threads[t].place, g.p.threads[u].place, s) {
				continue
			}
			for a := int(g.start[t]); a < int(g.start[t+1]); a++ {
				for b := int(g.start[u]); b < int(g.start[u+1]); b++ {
					dst.Add(a, b)
				}
			}
		}
	}
}

// membar relates accesses (and fences) in program order with a membar, or the
// fence.sc that is the same, of exactly that scope between them.
func (g *graph) membar(dst rel.Rel, s litmus.Scope) {
	for _, f := range g.scs {
		if g.events[f].Scope != s {
			continue
		}
		t := g.events[f].Thread
		for a := int(g.start[t]); a < int(f); a++ {
			for b := int(f) + 1; b < int(g.start[t+1]); b++ {
				dst.Add(a, b)
			}
		}
	}
}
