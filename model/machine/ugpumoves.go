package machine

import (
	"math/bits"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

func low(set uint64) int { return bits.TrailingZeros64(set) }

// seen returns the version of a location that a thread sees.
func (u *ugpu) seen(s *ugpuState, t, loc int) uint8 {
	if u.exec.InShared(loc) && u.m.has(ugpuShared) {
		return s.newest[loc]
	}
	return s.view[t*len(u.init)+loc]
}

// perform makes the move of a ready event.
func (u *ugpu) perform(s *ugpuState, i int, yield func(*ugpuState, func() explore.Step) error) error {
	e := &u.events[i]
	n := s.clone()
	n.done |= 1 << i
	step := told(e.thread, "%s", e.text)
	switch {
	case e.Kind == exec.Fence:
		n.at[i] = 1
		u.fence(n, e)
		step = told(e.thread, "%s is executed", e.text)
	case e.Kind == exec.Read:
		version := u.seen(s, e.thread, int(e.Loc))
		if e.Partner >= 0 && u.m.has(ugpuAtomic) {
			version = s.newest[e.Loc]
		}
		n.at[i], n.vals[i] = version+1, u.valueAt(s, int(e.Loc), version)
		step = told(e.thread, "%s reads %d", e.text, n.vals[i])
		if w := u.partner(i); w >= 0 {
			u.store(n, w)
			step = told(e.thread, "%s reads %d and stores %d", e.text, n.vals[i], n.vals[w])
		}
	case e.Kind == exec.Write:
		u.store(n, i)
		step = told(e.thread, "%s stores %d in its view", e.text, n.vals[i])
	}
	if e.Kind == exec.Read && !u.holds(e.thread, n.done&u.of(e.thread), n.vals) {
		return nil
	}
	u.forget(n)
	return yield(n, step)
}

// store performs a write: the newest version of its location, in its thread's view.
func (u *ugpu) store(n *ugpuState, i int) {
	e := &u.events[i]
	l, locs := int(e.Loc), len(u.init)
	n.done |= 1 << i
	n.vals[i] = u.value(i, n.vals)
	n.newest[l]++
	n.at[i] = n.newest[l] + 1
	n.view[e.thread*locs+l], n.mark[e.thread*locs+l] = n.newest[l], locally|globally
	if e.Partner >= 0 && u.m.has(ugpuAtomicView) || !u.m.has(ugpuView) {
		u.distribute(n, e.thread, l, ^uint64(0), 0)
	}
}

// distribute copies a thread's value of a location to other threads and clears its marks,
// except those in keep.
func (u *ugpu) distribute(n *ugpuState, t, loc int, to uint64, keep uint8) {
	locs := len(u.init)
	from := t*locs + loc
	n.mark[from] &= keep
	for v := range u.paths {
		k := v*locs + loc
		switch {
		case v == t || to>>v&1 == 0:
		case n.view[k] == n.view[from]:
			n.mark[k] &= keep
		case n.view[k] < n.view[from] || !u.m.has(ugpuVersions):
			n.view[k], n.mark[k] = n.view[from], 0
			if u.m.has(ugpuMarks) {
				n.mark[k] = n.mark[from]
			}
		}
	}
}

// fence distributes what a fence must distribute.
func (u *ugpu) fence(n *ugpuState, e *Event) {
	locs := len(u.init)
	for l := range u.init {
		m := n.mark[e.thread*locs+l]
		switch {
		case e.Scope != litmus.ScopeCTA && !u.m.has(ugpuDeviceFence):
		case e.Scope != litmus.ScopeCTA && m&locally != 0:
			u.distribute(n, e.thread, l, ^uint64(0), 0)
		case e.Scope != litmus.ScopeCTA && m != 0:
			u.distribute(n, e.thread, l, ^u.blocks[e.thread], 0)
		case m&locally != 0 && u.m.has(ugpuBlockFence):
			u.distribute(n, e.thread, l, u.blocks[e.thread], globally)
		}
	}
}

// propagate makes the moves that distribute a thread's values at any time.
func (u *ugpu) propagate(s *ugpuState, t int, yield func(*ugpuState, func() explore.Step) error) error {
	locs := len(u.init)
	for l := range u.init {
		m := s.mark[t*locs+l]
		if m&locally != 0 && u.m.has(ugpuBlock) {
			n := s.clone()
			u.distribute(n, t, l, u.blocks[t], globally)
			u.forget(n)
			if err := yield(n, told(t, "its block gets %s=%d", u.exec.Test.Locations[l].Name, u.valueAt(s, l, s.view[t*locs+l]))); err != nil {
				return err
			}
		}
		if m&globally != 0 && u.m.has(ugpuGrid) && (m&locally == 0 || !u.m.has(ugpuBlockFirst)) {
			n := s.clone()
			u.distribute(n, t, l, ^u.blocks[t], m&locally)
			u.forget(n)
			if err := yield(n, told(t, "all blocks get %s=%d", u.exec.Test.Locations[l].Name, u.valueAt(s, l, s.view[t*locs+l]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget drops what nobody can observe any more: marks of values that all future readers of the
// location have, and views of threads without further reads. A thread that is alone in its
// block has distributed to it.
func (u *ugpu) forget(n *ugpuState) {
	if u.m.plain {
		return
	}
	locs := len(u.init)
	for l := range u.init {
		loads := u.reads[l] &^ n.done
		for t := range u.paths {
			k := t*locs + l
			if loads == 0 || u.exec.InShared(l) && u.m.has(ugpuShared) {
				n.view[k], n.mark[k] = 0, 0
				continue
			}
			if bits.OnesCount64(u.blocks[t]) == 1 {
				n.mark[k] &^= locally
			}
			if loads&^u.of(t) == 0 {
				n.mark[k] = 0
			}
		}
	}
}
