package emu

import (
	"errors"

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

// releaseSyncs looks for lanes that all wait at a WARPSYNC, behind which they see each other's stores.
func (w *Warp) releaseSyncs() (bool, error) {
	for x := w.lanes(syncing); x != 0; {
		l := lowest(x)
		var here uint32
		for y := x; y != 0; y &= y - 1 {
			if k := lowest(y); w.wait[k] == w.wait[l] && w.next[k] == w.next[l] {
				here |= 1 << k
			}
		}
		x &^= here
		if w.wait[l]&w.live&^here == 0 {
			w.resume(here, w.next[l])
			return true, w.env.WarpBarrier(w, w.next[l]-1, nil, here)
		}
	}
	return false, nil
}

// releaseCollective performs a warp operation of PTX for which all lanes of its mask have come.
func (w *Warp) releaseCollective() (bool, error) {
	for x := w.lanes(collective); x != 0; {
		l := lowest(x)
		var here uint32
		for y := x; y != 0; y &= y - 1 {
			if k := lowest(y); w.next[k] == w.next[l] && w.wait[k] == w.wait[l] {
				here |= 1 << k
			}
		}
		x &^= here
		if w.wait[l]&w.live&^here != 0 {
			continue
		}
		pc := w.next[l]
		in := &w.Code.insts[pc]
		switch err := w.together(pc, in, here); {
		case errors.Is(err, errLater):
			w.resume(here, pc)
			return true, nil
		case err != nil:
			return true, err
		}
		w.resume(here, pc+1)
		return true, nil
	}
	return false, nil
}

// together performs a warp operation for lanes that are all there.
func (w *Warp) together(pc int32, in *inst, act uint32) error {
	switch do := in.do.(type) {
	case *ir.Warp:
		w.warpOp(do, act)
	case *ir.Access:
		if err := w.access(pc, do, act); err != nil {
			return err
		}
	case *ir.Copy:
		if err := w.copy(pc, do, act); err != nil {
			return err
		}
	case *ir.Barrier:
		if err := w.env.WarpBarrier(w, pc, do, act); err != nil {
			return err
		}
	}
	w.exec(in.post, act)
	return nil
}

// waitFor stops lanes at a warp operation until those that the mask names have come; of lanes that disagree about the
// mask each waits for its own.
func (w *Warp) waitFor(pc int32, mask ir.Reg, act uint32) {
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		w.wait[l] = ^uint32(0)
		if mask >= 0 {
			w.wait[l] = uint32(w.regs[mask][l])
		}
		w.st[l], w.next[l] = collective, pc
	}
}

// newSet makes a set of lanes for a convergence barrier, and gives the value of its register.
func (w *Warp) newSet(mask uint32, to int32) uint64 {
	w.sets = append(w.sets, set{mask, to})
	return uint64(len(w.sets)) // number + 1
}
