package ptxgen

import (
	"fmt"
	"slices"

	"optcheck/litmus"
)

// ranks returns the number of CTAs of a cluster that the test needs.
func (e *emitter) ranks() int {
	n := 1
	for i := range e.t.Threads {
		var ctas []litmus.Place
		for j := range e.t.Threads {
			if p := e.t.Threads[j].Place; p.SameScope(e.t.Threads[i].Place, litmus.ScopeCluster) &&
				!slices.ContainsFunc(ctas, func(q litmus.Place) bool { return q.SameScope(p, litmus.ScopeCTA) }) {
				ctas = append(ctas, p)
			}
		}
		n = max(n, len(ctas))
	}
	return n
}

// cta returns the thread that comes first of those in whose CTA a shared location lies.
func (e *emitter) cta(loc int) int {
	return firstOf(e.t, loc)
}

// firstOf returns the first thread that names a location, or the one of which it is a part; the first of all if none does.
func firstOf(t *litmus.Test, loc int) int {
	l := &t.Locations[loc]
	return max(slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Mentions(l.Name) || l.Of != "" && th.Mentions(l.Of) }), 0)
}

// far reports whether a location is shared memory of another CTA than the thread's.
func (k *body) far(loc int) bool {
	return k.e.space(loc) == litmus.Shared && !k.e.t.Threads[k.e.cta(loc)].Place.SameScope(k.th.Place, litmus.ScopeCTA)
}

// rank returns the number of the CTA of a shared location in its cluster, in the order of the test's threads.
func (e *emitter) rank(loc int) (rank int) {
	at := e.t.Threads[e.cta(loc)].Place
	var seen []litmus.Place
	for i := range e.t.Threads {
		p := e.t.Threads[i].Place
		if !p.SameScope(at, litmus.ScopeCluster) || slices.ContainsFunc(seen, func(q litmus.Place) bool { return q.SameScope(p, litmus.ScopeCTA) }) {
			continue
		}
		if p.SameScope(at, litmus.ScopeCTA) {
			return len(seen)
		}
		seen = append(seen, p)
	}
	return 0
}

// remote is the address of a location in another CTA's shared memory, in a register of its own.
func (k *body) remote(loc int) string {
	r := fmt.Sprintf("%%f%d", loc)
	if !k.usedFar[loc] {
		k.usedFar[loc] = true
		if k.e.located != nil {
			k.p("mov.u64 %s, %%hf%d;", r, loc)
		} else {
			k.p("%s", k.address(r, loc, 64))
			k.p("mapa.shared::cluster.u64 %s, %s, %d;", r, r, k.e.rank(loc))
		}
		k.e.u.Needs = max(k.e.u.Needs, 78)
	}
	return r
}
