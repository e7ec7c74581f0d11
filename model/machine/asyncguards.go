package machine

import (
	"optcheck/litmus"
	"optcheck/model/exec"
)

// proxy is a way to memory.
type proxy uint8

const (
	noProxy proxy = iota
	generic
	texture
	surface
	constantProxy
	asynchronous
)

func proxyOf(e *exec.Event) proxy {
	switch {
	case e.Async:
		return asynchronous
	case e.Kind == exec.Barrier:
		return generic
	case e.Kind == exec.Issue:
		return noProxy
	}
	return map[litmus.Proxy]proxy{litmus.ProxyGeneric: generic, litmus.ProxyTexture: texture, litmus.ProxySurface: surface,
		litmus.ProxyConstant: constantProxy}[e.Proxy]
}

// strong reports whether two events are strong for each other: of one thread and in its order, or both strong with scopes that contain each
// other; through one proxy, and of accesses, to the same bytes.
func (l *async) strong(a, b int) bool {
	x, y := &l.events[a], &l.events[b]
	if a == b || l.proxies[a] != l.proxies[b] || l.proxies[a] == noProxy {
		return false
	}
	if x.Loc >= 0 && y.Loc >= 0 && !l.sameBytes(a, b) {
		return false
	}
	if l.earlier[a]>>b&1 != 0 || l.earlier[b]>>a&1 != 0 || !l.m.has(asyncStrong) {
		return true
	}
	return !weakly(x.Event) && !weakly(y.Event) && l.inScope(a, b)
}

// sameBytes reports whether two accesses are of the same bytes at one address.
func (l *async) sameBytes(a, b int) bool {
	x, y := l.events[a].Event, l.events[b].Event
	return x.VLoc == y.VLoc && (!l.m.has(asyncRange) || l.exec.SameRange(x, y))
}

// inScope reports whether the scopes of two events contain each other's threads.
func (l *async) inScope(a, b int) bool {
	x, y := &l.events[a], &l.events[b]
	if x.Scope == litmus.ScopeNone || y.Scope == litmus.ScopeNone {
		return false
	}
	p, q := l.place[x.thread], l.place[y.thread]
	return x.thread == y.thread || p.SameScope(q, x.Scope) && p.SameScope(q, y.Scope)
}

// exclude reports whether of two stores only one comes first for all: they are strong for each other, or atomics.
func (l *async) exclude(a, b int) bool {
	x, y := &l.events[a], &l.events[b]
	return l.strong(a, b) || a != b && l.m.has(asyncExclusive) && x.Partner >= 0 && y.Partner >= 0 && x.VLoc == y.VLoc &&
		l.proxies[a] == l.proxies[b] && l.proxies[a] != noProxy && l.inScope(a, b)
}

func (l *async) releasing(f int) bool {
	switch l.events[f].Sem {
	case litmus.SemRelease, litmus.SemAcqRel, litmus.SemSC:
		return true
	}
	return false
}

func (l *async) acquiring(f int) bool {
	switch l.events[f].Sem {
	case litmus.SemAcquire, litmus.SemAcqRel, litmus.SemSC:
		return true
	}
	return false
}

// observed returns the set of the stores that a load observes.
func (l *async) observed(s *asyncState, r int) (set uint64) {
	for r >= 0 {
		w := int(s.src[r])
		if w == initial || set>>w&1 != 0 || !l.strong(w, r) {
			break
		}
		set |= 1 << w
		if r = l.partner(w); !l.m.has(asyncChain) {
			break
		}
	}
	return set
}

// sources returns the set of the events that hand something on to an event by synchronisation.
func (l *async) sources(s *asyncState, i int) (set uint64) {
	e := &l.events[i]
	loads, waits := uint64(0), uint64(0)
	switch {
	case e.Kind == exec.Read && e.Sem == litmus.SemAcquire:
		if l.m.has(asyncAcquire) {
			loads = 1 << i
		}
		each(l.earlier[i]&l.reads[e.Loc], func(r int) bool {
			if l.m.has(asyncAcquireLoc) && l.sameBytes(r, i) {
				loads |= 1 << r
			}
			return true
		})
	case e.Kind == exec.Sync && e.Sem == litmus.SemAcquire:
		waits = 1 << i
	case e.Kind == exec.Fence && l.acquiring(i):
		each(l.earlier[i], func(x int) bool {
			switch {
			case !l.covers(x, i):
			case l.events[x].Kind == exec.Read && l.m.has(asyncAcquireFence):
				loads |= 1 << x
			case l.events[x].Kind == exec.Sync && l.m.has(asyncWaitFence):
				waits |= 1 << x
			}
			return true
		})
	}
	each(loads, func(r int) bool {
		if x := &l.events[r]; weakly(x.Event) || x.Red && l.m.has(asyncRed) {
			return true
		}
		return each(l.observed(s, r), func(w int) bool { set |= l.releases(w, i); return true })
	})
	each(waits, func(w int) bool {
		if weakly(l.events[w].Event) {
			return true
		}
		return each(l.seen(s, w), func(a int) bool { set |= l.arrivals(a, i); return true })
	})
	return set
}

// releases returns the set of the events that hand something on to an event with a store.
func (l *async) releases(w, to int) (set uint64) {
	e := &l.events[w]
	if weakly(e.Event) {
		return 0
	}
	each(l.earlier[w]|1<<w, func(x int) bool {
		y := &l.events[x]
		ok := false
		switch {
		case y.Kind == exec.Write && y.Sem == litmus.SemRelease && x == w:
			ok = l.m.has(asyncRelease)
		case y.Kind == exec.Write && y.Sem == litmus.SemRelease:
			ok = l.m.has(asyncReleaseLoc) && l.sameBytes(x, w)
		case y.Kind == exec.Fence && l.releasing(x):
			ok = l.m.has(asyncReleaseFence) && l.covers(w, x)
		}
		if ok && l.strong(x, to) {
			set |= 1 << x
		}
		return true
	})
	return set
}

// known reports whether an access that an event has in its past is known to it, through the proxies of both.
func (l *async) known(s *asyncState, x, i int) bool {
	a, b := &l.events[x], &l.events[i]
	if s.past[i]>>x&1 == 0 {
		return false
	}
	same := a.VLoc == b.VLoc
	if same && l.proxies[x] == l.proxies[i] && l.proxies[x] != noProxy && l.sameCTA(x, i) && l.m.has(asyncOwnProxy) {
		return true
	}
	leave, enter := l.leaves(s, x, i), l.enters(s, i)
	reaches := func(from, to uint64) bool {
		return !each(to, func(e int) bool { return s.past[e]&from == 0 })
	}
	if same && reaches(leave, enter) || same && l.halves(s, x, i) {
		return true
	}
	return a.Loc == b.Loc && l.m.has(asyncAlias) && !each(s.past[i]&l.fences, func(f int) bool {
		return l.events[f].Proxy != litmus.ProxyAlias || s.past[f]&leave == 0 || !reaches(1<<f, enter)
	})
}

// leaves are the events from which on an access is known to the generic proxy: itself, or fences of its proxy.
func (l *async) leaves(s *asyncState, x, i int) (set uint64) {
	if l.proxies[x] == generic || !l.m.has(asyncLeave) {
		return 1 << x
	}
	each(s.past[i]&l.fences, func(f int) bool {
		if s.past[f]>>x&1 != 0 && l.proxies[f] == l.proxies[x] && l.proxies[f] != noProxy && l.sameCTA(x, f) && l.covers(x, f) {
			set |= 1 << f
		}
		return true
	})
	return set
}

// enters are the events up to which something must be known to the generic proxy for an access to know it.
func (l *async) enters(s *asyncState, i int) (set uint64) {
	if l.proxies[i] == generic || !l.m.has(asyncEnter) {
		return 1 << i
	}
	each(s.past[i]&l.fences, func(f int) bool {
		if l.proxies[f] == l.proxies[i] && l.proxies[f] != noProxy && l.sameCTA(i, f) && l.covers(i, f) {
			set |= 1 << f
		}
		return true
	})
	return set
}

// halves reports whether a generic access is known to one of the async proxy by two halves of a fence.
func (l *async) halves(s *asyncState, x, i int) bool {
	if l.proxies[x] != generic || l.proxies[i] != asynchronous || !l.m.has(asyncHalves) {
		return false
	}
	return !each(s.past[i]&l.fences, func(t int) bool {
		if l.events[t].OneWay != litmus.SemAcquire || !l.sameCTA(t, i) || !l.covers(i, t) {
			return true
		}
		return each(s.past[t]&l.fences, func(h int) bool {
			return l.events[h].OneWay != litmus.SemRelease || l.earlier[h]>>x&1 == 0 || !l.covers(x, h)
		})
	})
}

// knows returns the set of the stores to its memory that a settled access knows: accesses that are known to it, and what they observe.
func (l *async) knows(s *asyncState, i int) (set uint64) {
	loc := l.events[i].Loc
	each(s.past[i]&l.writes[loc], func(w int) bool {
		if l.known(s, w, i) {
			set |= 1 << w
		}
		return true
	})
	if l.m.has(asyncObserved) {
		each(s.past[i]&l.reads[loc], func(r int) bool {
			if l.known(s, r, i) {
				set |= l.observed(s, r)
			}
			return true
		})
	}
	return set
}
