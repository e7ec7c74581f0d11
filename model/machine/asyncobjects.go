package machine

import (
	"optcheck/litmus"
	"optcheck/model/exec"
)

// awaited is the arrival that a phase waits for from an event on, which issues it; -1 if there is none.
func (l *async) awaited(i int) int {
	e := &l.events[i]
	if e.Kind != exec.Issue {
		return -1
	}
	for j := l.first[e.thread]; j < l.first[e.thread+1]; j++ {
		if l.events[j].Pending() && l.issued[j]>>i&1 != 0 {
			return j
		}
	}
	return -1
}

// happens performs an operation at an mbarrier, if it can happen now.
func (l *async) happens(s *asyncState, i int) bool {
	e := &l.events[i]
	c := &s.counts[l.object(e.Obj)]
	if e.Role == exec.MbWait {
		return l.answered(s, c, i) || !l.m.has(asyncPhase)
	}
	arrivals := e.Count
	if e.Pending() {
		arrivals++
	}
	if c.pending < arrivals {
		return !l.m.has(asyncPhase) // too many arrivals
	}
	s.phase[i] = c.phases
	c.pending, c.bytes = c.pending-arrivals, c.bytes+e.Bytes
	if e.Drop {
		c.expected -= e.Count
	}
	for c.pending == 0 && c.bytes == 0 {
		c.phases, c.pending = c.phases+1, c.expected
		if c.expected == 0 {
			break
		}
	}
	return true
}

// answered reports whether a wait is answered with yes, and notes which phase it sees.
func (l *async) answered(s *asyncState, c *count, i int) bool {
	e := &l.events[i]
	s.phase[i] = c.phases - 1
	if e.Token >= 0 {
		s.phase[i] = s.phase[l.first[e.thread]+int(e.Token)]
		return s.phase[i] < c.phases
	}
	return (s.phase[i]+2)%2 == e.Parity
}

// seen are the operations at a barrier that a wait sees complete.
func (l *async) seen(s *asyncState, i int) (set uint64) {
	e := &l.events[i]
	if e.Role == exec.ClusterWait && l.m.has(asyncCluster) {
		return l.cluster[i]
	}
	if e.Role != exec.MbWait || s.settled>>i&1 == 0 {
		return 0
	}
	each(s.settled, func(a int) bool {
		x := &l.events[a]
		if x.Kind == exec.Sync && x.Obj == e.Obj && x.Role != exec.MbWait && s.phase[a] == s.phase[i] {
			set |= 1 << a
		}
		return true
	})
	return set
}

// arrivals are the events whose past an operation at a barrier hands on to an event.
func (l *async) arrivals(a, to int) (set uint64) {
	if e := &l.events[a]; e.Sem == litmus.SemRelease && l.strong(a, to) && l.m.has(asyncArrival) {
		set |= 1 << a
	}
	if !weakly(l.events[a].Event) && l.m.has(asyncArrivalFence) {
		each(l.earlier[a]&l.fences, func(f int) bool {
			if l.releasing(f) && l.covers(a, f) && l.strong(f, to) {
				set |= 1 << f
			}
			return true
		})
	}
	return set
}

// comes returns the state in which a thread has come to a barrier.
func (l *async) comes(s *asyncState, i int) *asyncState {
	n := l.settle(s, i)
	if n == nil {
		return nil
	}
	n.waiting |= 1 << i
	if !l.events[i].Arrive {
		n.settled &^= 1 << i
	}
	if q := l.events[i].Quorum; q != 0 && l.come(n, l.group(n, i)) > q {
		return nil
	}
	return n
}

// group are the arrivals at the barrier of an arrival that wait for others, itself among them.
func (l *async) group(s *asyncState, i int) (set uint64) {
	each(s.waiting, func(j int) bool {
		if l.events[j].BarID == l.events[i].BarID && l.sameCTA(i, j) {
			set |= 1 << j
		}
		return true
	})
	return set
}

// come counts the arrivals of a group: warps, where those count.
func (l *async) come(s *asyncState, group uint64) (n int64) {
	each(group, func(i int) bool {
		e := &l.events[i]
		if !e.Warps || each(group&below(i), func(j int) bool {
			x := &l.events[j]
			return x.thread == e.thread || l.place[x.thread].Warp != l.place[e.thread].Warp
		}) {
			n++
		}
		return true
	})
	return n
}

// complete reports whether all have come for whom a barrier waits: as many as it counts, or all threads that have not ended. The end of a
// thread is no release: it needs what the thread waits for, and no order of its memory.
func (l *async) complete(s *asyncState, i int, group uint64) bool {
	if q := l.events[i].Quorum; q != 0 {
		return l.come(s, group) == q
	}
	for t := range l.paths {
		if !l.place[t].SameScope(l.place[l.events[i].thread], litmus.ScopeCTA) || group&l.of(t) != 0 {
			continue
		}
		if !each(l.of(t)&^s.settled, func(j int) bool {
			k := l.events[j].Kind
			return l.events[j].Agent || k != exec.Barrier && k != exec.Sync && k != exec.Issue
		}) {
			return false
		}
	}
	return true
}

// opens returns the state in which a barrier is complete.
func (l *async) opens(s *asyncState, group uint64) *asyncState {
	n := s.clone()
	n.waiting &^= group
	n.settled |= group
	each(group, func(b int) bool {
		if l.events[b].Arrive || !l.m.has(asyncBarrier) {
			return true
		}
		each(group, func(a int) bool {
			if l.events[a].thread != l.events[b].thread {
				n.past[b] |= s.past[a] | 1<<a
			}
			return true
		})
		return true
	})
	return n
}

func (l *async) sameCTA(a, b int) bool {
	p, q := l.place[l.events[a].thread], l.place[l.events[b].thread]
	return p.SameScope(q, litmus.ScopeCTA)
}
