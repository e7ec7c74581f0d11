package optcheck

import (
	"optcheck/isa"
)

// unawaited returns the first instruction that is issued after a reading access although nothing has waited for its
// scoreboard barrier: an access to another location, or the invalidation that makes it an acquire. It returns nil if
// there is none, or if the control codes are unknown. Accesses in flight are performed in any order, including those
// that one L1 answers (docs/results/cuda.md, "What only control codes tell").
func (p *pass) unawaited(ev int) *isa.Inst {
	fn := p.tr.fn
	first := p.tr.events[ev].inst
	c := fn.Insts[first].Control
	if c.Kind != isa.ControlFields {
		return nil
	}
	w := &waitWalk{p: p, ev: ev, barrier: c.Write, seen: make([]bool, len(fn.Blocks)), at: p.eventsAt()}
	return w.from(p.tr.block(first), first+1)
}

// eventsAt maps instructions to their events.
func (p *pass) eventsAt() map[int]int {
	at := make(map[int]int, len(p.tr.events))
	for o := range p.tr.events {
		at[p.tr.events[o].inst] = o
	}
	return at
}

// waitWalk follows all paths from an access to whatever waits for it.
type waitWalk struct {
	p       *pass
	ev      int
	barrier uint8
	seen    []bool
	at      map[int]int // instruction → event
}

func (w *waitWalk) from(block, inst int) *isa.Inst {
	fn := w.p.tr.fn
	for i := inst; i < fn.Blocks[block].End; i++ {
		in := &fn.Insts[i]
		if w.barrier != isa.NoBarrier && awaits(in, w.barrier) {
			return nil
		}
		if w.early(i) {
			return in
		}
	}
	for _, next := range fn.Blocks[block].Succs {
		if w.seen[next] {
			continue
		}
		w.seen[next] = true
		if in := w.from(next, fn.Blocks[next].First); in != nil {
			return in
		}
	}
	return nil
}

// early reports whether an instruction must not be issued before the access is performed.
func (w *waitWalk) early(i int) bool {
	o, ok := w.at[i]
	if !ok {
		return w.p.tr.fn.Insts[i].Mem.Invalidate
	}
	x, y := &w.p.tr.events[w.ev], &w.p.tr.events[o]
	if !y.role.IsAccess() {
		return y.mem.Invalidate
	}
	if y.result && !w.p.onLocation(y) || disjoint(x.when, y.when) {
		return false
	}
	a, known := w.p.locationOf(x)
	b, there := w.p.locationOf(y)
	return !known || !there || a != b
}

// awaits reports whether an instruction waits for a scoreboard barrier.
func awaits(in *isa.Inst, barrier uint8) bool {
	if in.Control.Wait>>barrier&1 != 0 {
		return true
	}
	n, all := depbar(in)
	return all && n == barrier
}
