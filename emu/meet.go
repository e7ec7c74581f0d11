package emu

import (
	"errors"
	"slices"

	"optcheck/ir"
)

// release lets lanes go on whose partners have all come, or will not. It reports whether there are any.
func (w *Warp) release() (bool, error) {
	if w.releaseSets() {
		return true, nil
	}
	if ok, err := w.releaseSyncs(); ok || err != nil {
		return true, err
	}
	return w.releaseCollective()
}

// releaseSets looks for a convergence barrier of which all live lanes wait.
func (w *Warp) releaseSets() bool {
	for x := w.lanes(meeting); x != 0; {
		n := w.wait[lowest(x)]
		var here uint32
		for y := x; y != 0; y &= y - 1 {
			if l := lowest(y); w.wait[l] == n {
				here |= 1 << l
			}
		}
		x &^= here
		if s := &w.sets[n]; s.mask&w.live&^here == 0 {
			w.resume(here, s.to)
			return true
		}
	}
	return false
}

// releaseSyncs looks for lanes that all wait at a WARPSYNC, behind which they see each other's stores. Those of a collective may come from
// several of them.
func (w *Warp) releaseSyncs() (bool, error) {
	for x := w.lanes(syncing); x != 0; {
		here, err := w.alikeOf(x, w.sameSync)
		if err != nil {
			return true, err
		}
		x &^= here
		l := lowest(here)
		if w.wait[l]&w.live&^here == 0 {
			w.resume(here, w.next[l])
			return true, w.env.WarpBarrier(w, w.next[l]-1, nil, here)
		}
	}
	return false, nil
}

// alikeOf are the lanes of a mask that meet the lowest of them: those that wait for the same lanes, where alike says that it is the same.
func (w *Warp) alikeOf(mask uint32, alike func(a, b int32) (bool, error)) (here uint32, err error) {
	l := lowest(mask)
	for ; mask != 0; mask &= mask - 1 {
		k := lowest(mask)
		if w.wait[k] != w.wait[l] {
			continue
		}
		same, err := alike(w.next[l], w.next[k])
		if err != nil {
			return 0, err
		}
		if same {
			here |= 1 << k
		}
	}
	return here, nil
}

// sameSync reports whether lanes that go on at two places have waited at one WARPSYNC, or at two collectives. Of which the code is then
// performed is known for equal code alone.
func (w *Warp) sameSync(a, b int32) (bool, error) {
	x, y := w.collective(a), w.collective(b)
	if a == b || x == nil || y == nil {
		return a == b, nil
	}
	one, other := w.Code.P.Insts[a:x.Target], w.Code.P.Insts[b:y.Target]
	if !slices.EqualFunc(one, other, func(p, q ir.Inst) bool { return p.Text == q.Text }) {
		return false, &Cannot{Inst: int(a), Why: "lanes meet in collectives of different code"}
	}
	for i := range other { // what is done is done for those, too
		w.Cover.Insts[int(b)+i] = true
	}
	return true, nil
}

// collective is the WARPSYNC.COLLECTIVE in front of a place, nil if there is none.
func (w *Warp) collective(pc int32) *ir.Flow {
	if f, ok := w.Code.P.Insts[pc-1].Do.(*ir.Flow); ok && f.Kind == ir.WarpCollective {
		return f
	}
	return nil
}

// part lets each lane of a collective go on where its own one ends.
func (w *Warp) part(mask uint32) {
	for mask != 0 {
		l := lowest(mask)
		var same uint32
		for x := mask; x != 0; x &= x - 1 {
			if k := lowest(x); w.home[k] == w.home[l] {
				same |= 1 << k
			}
		}
		mask &^= same
		w.leave(same, w.home[l])
	}
}

// releaseCollective performs a warp operation of PTX for which all lanes of its mask have come, perhaps to several instructions that say
// the same: PTX ISA, "have executed … with the same qualifiers and same membermask value".
func (w *Warp) releaseCollective() (bool, error) {
	for x := w.lanes(collective); x != 0; {
		here, err := w.alikeOf(x, w.sameOperation)
		if err != nil {
			return true, err
		}
		x &^= here
		l := lowest(here)
		if w.wait[l]&w.live&^here != 0 {
			continue
		}
		switch err := w.together(w.next[l], here); {
		case errors.Is(err, errLater):
			w.resume(here, w.next[l])
			return true, nil
		case err != nil:
			return true, err
		}
		for here != 0 {
			at := w.waitingAt(here, w.next[lowest(here)])
			w.exec(w.Code.insts[w.next[lowest(at)]].post, at)
			w.resume(at, w.next[lowest(at)]+1)
			here &^= at
		}
		return true, nil
	}
	return false, nil
}

// waitingAt are the lanes of a mask that wait at a place.
func (w *Warp) waitingAt(mask uint32, pc int32) (at uint32) {
	for ; mask != 0; mask &= mask - 1 {
		if l := lowest(mask); w.next[l] == pc {
			at |= 1 << l
		}
	}
	return at
}

// sameOperation reports whether lanes at two instructions of PTX perform one operation of their warp.
func (w *Warp) sameOperation(a, b int32) (bool, error) {
	if a == b {
		return true, nil
	}
	switch x := w.Code.insts[a].do.(type) {
	case *ir.Warp:
		y, ok := w.Code.insts[b].do.(*ir.Warp)
		return ok && x.Product == nil && x.Kind == y.Kind && x.Type == y.Type && x.Srcs == nil && y.Srcs == nil, nil
	case *ir.Barrier:
		_, ok := w.Code.insts[b].do.(*ir.Barrier)
		return ok, nil
	}
	return false, nil
}

// together performs a warp operation for lanes that are all there.
func (w *Warp) together(pc int32, act uint32) error {
	switch do := w.Code.insts[pc].do.(type) {
	case *ir.Warp:
		w.warpTogether(pc, do, act)
	case *ir.Access:
		return w.access(pc, do, act)
	case *ir.Copy:
		return w.copy(pc, do, act)
	case *ir.Barrier:
		return w.env.WarpBarrier(w, pc, do, act)
	}
	return nil
}

// warpTogether performs an operation of which each lane has the operands and the results of the instruction where it is.
func (w *Warp) warpTogether(pc int32, do *ir.Warp, act uint32) {
	if w.waitingAt(act, pc) == act {
		w.warpOp(do, act)
		return
	}
	all := *do
	all.Not = false
	spare := func(r *ir.Reg, n int) {
		if *r >= 0 {
			*r = w.Code.spare(n)
		}
	}
	spare(&all.Src, 0)
	spare(&all.Lane, 1)
	spare(&all.Clamp, 2)
	all.Dst, all.Pred = w.Code.spare(3), w.Code.spare(4)
	own := func(l int) *ir.Warp { return w.Code.insts[w.next[l]].do.(*ir.Warp) }
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		o := own(l)
		for i, r := range [...]ir.Reg{o.Src, o.Lane, o.Clamp} {
			if r >= 0 {
				w.regs[w.Code.spare(i)][l] = w.regs[r][l]
			}
		}
		if o.Not {
			w.regs[w.Code.spare(0)][l] ^= 1
		}
	}
	w.warpOp(&all, act)
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		o := own(l)
		w.SetReg(o.Dst, l, w.regs[all.Dst][l])
		w.SetReg(o.Pred, l, w.regs[all.Pred][l])
	}
}

// waitFor stops lanes at a warp operation until those that the mask names have come; of lanes that disagree about the mask each waits for
// its own. Of the lanes that are here the others go on. A mask that does not name its lane leaves the operation undefined: PTX ISA, 9.7.9.6,
// 9.7.12.2.
func (w *Warp) waitFor(pc int32, mask ir.Reg, act, here uint32) (next int32, stop bool, err error) {
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		w.wait[l] = ^uint32(0)
		if mask >= 0 {
			w.wait[l] = uint32(w.regs[mask][l])
		}
		if w.wait[l]>>l&1 == 0 {
			return pc, false, &Fault{int(pc), w.Threads[l].Index, "a lane that its own mask does not name"}
		}
		w.st[l], w.next[l] = collective, pc
	}
	w.leave(here&^act, pc+1)
	return pc + 1, true, nil
}

// newSet makes a set of lanes for a convergence barrier, and gives the value of its register.
func (w *Warp) newSet(mask uint32, to int32) uint64 {
	w.sets = append(w.sets, set{mask, to})
	return uint64(len(w.sets)) // number + 1
}
