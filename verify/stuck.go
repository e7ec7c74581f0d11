package verify

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"optcheck/emu"
)

// Slices in which a run is looked at, to see whether it still gets somewhere: in instructions of threads.
const (
	firstSlice = 1 << 18
	slice      = 1 << 14
	window     = 64
)

// errLate is the end of a run that has no time left.
var errLate = errors.New("the time for the kernel was up (--for)")

// late reports whether the time is up.
func (o *Options) late() bool { return !o.Until.IsZero() && time.Now().After(o.Until) }

// run executes until all threads have ended. It is emu.ErrStuck, too, if every thread that is left repeats itself while memory
// stays as it is: no order of threads ends that.
func (m *monitor) run(steps int64) error {
	g, o := m.grid, m.found.options
	g.Policy.MaxSteps = min(steps, firstSlice)
	var still watch
	for {
		if o.late() {
			return errLate
		}
		err := g.Run()
		if !errors.Is(err, emu.ErrSteps) {
			return err
		}
		if g.Steps >= steps {
			return err
		}
		if still.repeats(g) {
			return emu.ErrStuck
		}
		g.Policy.MaxSteps = min(steps, g.Steps+slice)
	}
}

// watch looks whether warps come back to states in which they were.
type watch struct {
	seed    maphash.Seed
	changes uint64
	live    int
	slices  int
	seen    []map[uint64]bool
	again   []bool
}

func (s *watch) repeats(g *emu.Grid) bool {
	live := 0
	for _, w := range g.Warps {
		if !w.Done() {
			live++
		}
	}
	if s.seen == nil || s.changes != g.Memory.Changes || s.live != live || s.slices > window {
		*s = watch{seed: maphash.MakeSeed(), changes: g.Memory.Changes, live: live, seen: make([]map[uint64]bool, len(g.Warps)),
			again: make([]bool, len(g.Warps))}
	}
	s.slices++
	onward := false // a warp gets somewhere, and may set free those that wait for it
	for i, w := range g.Warps {
		if w.Done() || w.Rested() { // a schedule lets groups of lanes wait: that they are where they were says nothing
			continue
		}
		w.Ran = 0
		var h maphash.Hash
		h.SetSeed(s.seed)
		w.Hash(&h)
		if s.seen[i] == nil {
			s.seen[i] = map[uint64]bool{}
		}
		k := h.Sum64()
		s.again[i] = s.seen[i][k]
		onward = onward || !s.again[i]
		s.seen[i][k] = true
	}
	if onward {
		clear(s.again)
		return false
	}
	for i, w := range g.Warps {
		if !w.Done() && !s.again[i] {
			return false
		}
	}
	return true
}

// stuck notes where the threads are that wait for each other for ever.
func (m *monitor) stuck() {
	for n, w := range m.grid.Warps {
		for l := range emu.Lanes {
			if w.Threads[l] == nil {
				continue
			}
			by := m.id(w, l)
			switch pc, wait := w.Where(l); wait {
			case emu.Runs:
				th := &m.threads[n][l]
				m.at(Stuck, th.reads, by, th.readAt, "the thread reads it again and again, and what it waits for does not come"+m.waits(th.readAt, by.block))
			case emu.ForOthers:
				m.at(Stuck, pc, by, emu.Place{}, "the thread waits at a barrier to which others do not come")
			case emu.ForLanes:
				missing := w.WaitsFor(l) &^ m.at32(w, pc)
				m.at(Stuck, pc, by, emu.Place{}, fmt.Sprintf("the thread waits for lanes %#x of its warp, which do not come", missing))
			}
		}
	}
}

// at32 are the lanes that wait at an instruction for others.
func (m *monitor) at32(w *emu.Warp, pc int32) (mask uint32) {
	for l := range emu.Lanes {
		if at, wait := w.Where(l); at == pc && wait == emu.ForLanes {
			mask |= 1 << l
		}
	}
	return mask
}
