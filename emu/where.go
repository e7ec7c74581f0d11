package emu

import "hash/maphash"

// Wait is what a lane waits for.
type Wait uint8

// What lanes wait for.
const (
	Runs      Wait = iota // nothing
	ForLanes              // other lanes of its warp, at a warp operation or a barrier of the warp
	ForOthers             // the environment: a barrier
	Ended                 // it has ended
)

// Where tells at which instruction a lane is, and what it waits for there.
func (w *Warp) Where(lane int) (pc int32, wait Wait) {
	switch w.st[lane] {
	case done:
		return -1, Ended
	case barrier:
		return w.next[lane] - 1, ForOthers
	case collective:
		return w.next[lane], ForLanes
	case meeting, syncing:
		return w.next[lane] - 1, ForLanes
	}
	for _, g := range w.groups {
		if g.mask>>lane&1 == 1 {
			return g.pc, Runs
		}
	}
	return -1, Runs
}

// WaitsFor are the lanes that a lane at an operation of the warp waits for, those that have come included.
func (w *Warp) WaitsFor(lane int) uint32 { return w.wait[lane] }

// Rested reports whether a lane that could go on has performed nothing since Ran was cleared.
func (w *Warp) Rested() bool {
	for l := range Lanes {
		if _, wait := w.Where(l); wait == Runs && w.Threads[l] != nil && w.Ran>>l&1 == 0 {
			return true
		}
	}
	return false
}

// Hash mixes where all lanes are and what their registers hold into a hash: a warp that is in the same state again, while
// nothing else changes, will be so for ever.
func (w *Warp) Hash(h *maphash.Hash) {
	for i := range w.regs {
		maphash.WriteComparable(h, w.regs[i])
	}
	for l := range Lanes {
		pc, wait := w.Where(l)
		maphash.WriteComparable(h, [2]int32{pc, int32(wait)})
		if t := w.Threads[l]; t != nil {
			maphash.WriteComparable(h, len(t.stack))
			for _, f := range t.stack {
				maphash.WriteComparable(h, f.ret)
				for _, v := range f.save {
					maphash.WriteComparable(h, v)
				}
			}
			var sum uint64 // of pages in no order
			for at, p := range t.local {
				sum += maphash.Comparable(h.Seed(), at) ^ maphash.Comparable(h.Seed(), *p)
			}
			maphash.WriteComparable(h, sum)
		}
	}
}
