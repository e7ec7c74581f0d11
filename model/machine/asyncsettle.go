package machine

import (
	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// newAsync determines what of a program does not depend on a run.
func newAsync(m *Model, p *Program) (*async, error) {
	n := len(p.events)
	l := &async{Program: p, m: m, earlier: make([]uint64, n), issued: make([]uint64, n), cluster: make([]uint64, n), parts: make([]uint64, n)}
	for i := range p.events {
		e := &p.events[i]
		l.proxies = append(l.proxies, proxyOf(e.Event))
		if e.Kind == exec.Fence {
			l.fences |= 1 << i
		}
		for j := p.first[e.thread]; j < p.first[e.thread+1]; j++ {
			x := &p.events[j]
			same := partsOfOne(x.Event, e.Event)
			if same || j == i {
				l.parts[i] |= 1 << j
			}
			if j < i && !same && !x.Agent && !e.Agent && !sideBySide(x.Event, e.Event) {
				l.earlier[i] |= 1 << j
			}
		}
		if e.Kind == exec.Sync && e.Obj >= 0 && l.object(e.Obj) < 0 {
			l.objects = append(l.objects, e.Obj)
		}
	}
	for t, path := range p.paths {
		for _, o := range path.Async() {
			l.issued[p.first[t]+int(o[1])] |= 1 << (p.first[t] + int(o[0]))
		}
	}
	for i := range p.events {
		if p.events[i].Role == exec.ClusterWait && !l.clusterWait(i) {
			l.cluster[i] = 1 << 63 // waits for ever
		}
	}
	l.together()
	return l, nil
}

// partsOfOne reports whether two events of a thread are parts of one read or write.
func partsOfOne(a, b *exec.Event) bool {
	return a.Loc >= 0 && b.Loc >= 0 && a.Op == b.Op && a.Kind == b.Kind
}

// sideBySide reports whether two events are elements of one vector, or parts of one packed type, in no order.
func sideBySide(a, b *exec.Event) bool {
	return a.Group != 0 && a.Group == b.Group && (a.Op != b.Op || a.Kind == exec.Write)
}

// object is the number of an mbarrier, -1 if it is not known yet.
func (l *async) object(loc int16) int {
	for i, o := range l.objects {
		if o == loc {
			return i
		}
	}
	return -1
}

// clusterWait notes for which arrivals a wait at the barrier of a cluster is: the k-th of all threads. It returns false if there are none.
func (l *async) clusterWait(i int) bool {
	e := &l.events[i]
	nth := func(t, k int, role exec.Role) (at int, before int) {
		for j := l.first[t]; j < l.first[t+1]; j++ {
			if l.events[j].Role == role {
				if before == k || j == k && role == exec.ClusterWait {
					return j, before
				}
				before++
			}
		}
		return -1, before
	}
	k := 0
	for j := l.first[e.thread]; j < i; j++ {
		if l.events[j].Role == exec.ClusterWait {
			k++
		}
	}
	for u := range l.paths {
		if !l.place[e.thread].SameScope(l.place[u], litmus.ScopeCluster) {
			continue
		}
		a, _ := nth(u, k, exec.ClusterArrive)
		if a < 0 {
			return false
		}
		l.cluster[i] |= 1 << a
	}
	return true
}

// settles makes the moves in which events settle. Only the orders of the fence.sc, of operations at an mbarrier and of arrivals that a
// barrier counts make a difference: any other event settles as the only move.
func (l *async) settles(s *asyncState, yield func(*asyncState, func() explore.Step) error) error {
	var choices []func() (*asyncState, int)
	for i := range l.events {
		if s.settled>>i&1 != 0 || s.waiting>>i&1 != 0 || !l.ready(s, i) {
			continue
		}
		e := &l.events[i]
		move := func() (*asyncState, int) { return l.settle(s, i), i }
		if e.Kind == exec.Barrier {
			move = func() (*asyncState, int) { return l.comes(s, i), i }
		}
		if !l.chooses(i) {
			n, _ := move()
			if n == nil {
				return nil
			}
			return yield(n, told(e.thread, "%s settles", e.text))
		}
		choices = append(choices, move)
	}
	done := uint64(0)
	for set := s.waiting; set != 0; set &= set - 1 {
		i := low(set)
		group := l.group(s, i)
		if done>>i&1 != 0 || !l.complete(s, i, group) {
			continue
		}
		done |= group
		open := func() (*asyncState, int) { return l.opens(s, group), i }
		if l.events[i].Quorum == 0 {
			choices = append(choices[:0], open)
			break
		}
		choices = append(choices, open)
	}
	for _, move := range choices {
		n, i := move()
		if n == nil {
			continue
		}
		if err := yield(n, told(l.events[i].thread, "%s settles", l.events[i].text)); err != nil {
			return err
		}
	}
	return nil
}

// chooses reports whether it matters when an event settles.
func (l *async) chooses(i int) bool {
	e := &l.events[i]
	switch e.Kind {
	case exec.Sync:
		return e.Obj >= 0
	case exec.Fence:
		return e.Sem == litmus.SemSC
	case exec.Barrier:
		return e.Quorum != 0
	case exec.Issue:
		return l.awaited(i) >= 0
	}
	return false
}

// ready reports whether an event may settle: what comes before it has, and what hands it something.
func (l *async) ready(s *asyncState, i int) bool {
	before := l.earlier[i] | l.issued[i] | l.cluster[i]
	return before&^s.settled == 0 && l.sources(s, i)&^s.settled == 0
}

// settle returns the state in which an event has settled; nil if that contradicts a promise, or if it cannot happen now.
func (l *async) settle(s *asyncState, i int) *asyncState {
	e := &l.events[i]
	n := s.clone()
	n.settled |= 1 << i
	if e.Kind == exec.Sync && e.Obj >= 0 && !l.happens(n, i) {
		return nil
	}
	if a := l.awaited(i); a >= 0 {
		n.counts[l.object(l.events[a].Obj)].pending++
	}
	from := uint64(0)
	if l.m.has(asyncProgram) {
		from |= l.earlier[i]
	}
	if l.m.has(asyncIssue) {
		from |= l.issued[i]
	}
	if e.Sem == litmus.SemSC && e.Kind == exec.Fence && l.m.has(asyncFence) {
		each(s.settled&l.fences, func(f int) bool {
			if l.events[f].Sem == litmus.SemSC && l.strong(f, i) {
				from |= 1 << f
			}
			return true
		})
	}
	each(from, func(x int) bool { n.past[i] |= n.past[x] | 1<<x; return true })
	each(l.earlier[i]&l.fences, func(f int) bool {
		if l.covers(i, f) {
			n.past[i] |= n.got[f]
		}
		return true
	})
	got := uint64(0)
	each(l.sources(n, i), func(x int) bool { got |= l.hands(n, x); return true })
	if e.Kind == exec.Fence {
		n.got[i] = got
	}
	if e.Kind != exec.Fence || l.covers(i, i) {
		n.past[i] |= got
	}
	if !l.agrees(n, i) {
		return nil
	}
	return n
}

// hands is what an event hands on: a fence what it covers before it, and itself if it covers all.
func (l *async) hands(s *asyncState, x int) (set uint64) {
	if l.fences>>x&1 == 0 {
		return s.past[x] | 1<<x
	}
	each(l.earlier[x]|1<<x, func(a int) bool {
		if l.covers(a, x) {
			set |= s.past[a] | 1<<a
		}
		return true
	})
	return set
}

func (l *async) covers(e, fence int) bool {
	return !l.m.has(asyncRestricted) || l.exec.Covers(l.events[e].Event, l.events[fence].Event)
}

// agrees reports whether an event that settles keeps the promises.
func (l *async) agrees(s *asyncState, i int) bool {
	e := &l.events[i]
	switch e.Kind {
	case exec.Read:
		return s.src[i] != initial || !l.m.has(asyncStale) || l.knows(s, i) == 0
	case exec.Write:
		if !each(l.reads[e.Loc]&s.past[i], func(r int) bool {
			copied := l.proxies[r] == asynchronous || l.proxies[i] == asynchronous
			return int(s.src[r]) != i || !(l.m.has(asyncFuture) && l.known(s, r, i) || l.m.has(asyncIssued) && copied)
		}) {
			return false
		}
		return !l.m.has(asyncCoherence) || l.knows(s, i)>>i&1 == 0
	}
	return true
}
