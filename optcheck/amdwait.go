package optcheck

import (
	"slices"

	"optcheck/isa"
)

// A pending is a memory operation that may still be outstanding at some point:
// issued on a path to it, and not waited for since.
type pending struct {
	inst int // the instruction that issued it
	// open lists the counters that have yet to confirm completion, each with the smallest number of later operations,
	// over all paths, that cannot complete before this one. A wait for at most that many completes it.
	open []openCounter
}

type openCounter struct {
	counter isa.Counter
	newer   int
	class   orderClass
	// late marks the counter that only confirms that a store has read its data.
	late bool
}

// orderClass groups the operations of one counter that complete in the order of
// issue. Operations of inAnyOrder complete in any order.
type orderClass uint8

const (
	inAnyOrder orderClass = iota
	inVectorOrder
	inLDSOrder
)

// waits simulates the counters of outstanding operations throughout a function.
type waits struct {
	tr    *trace
	model *amdModel
	// global marks FLAT instructions whose address is known to be in global
	// memory: they complete with the vector operations.
	global map[int]bool
	atHead [][]pending // block → pending operations at its head
	before [][]pending // instruction → pending operations when it issues
	// unfinished is set if the control flow is too intricate to be followed to the end.
	unfinished bool
}

// newWaits runs the simulation to its fixed point.
func newWaits(tr *trace, model *amdModel) *waits {
	w := &waits{tr: tr, model: model, global: map[int]bool{}}
	for i := range tr.events {
		x := &tr.events[i]
		if x.mem.Space == isa.SpaceGeneric && x.addr.base != baseUnknown {
			w.global[x.inst] = true
		}
	}
	fn := tr.fn
	w.atHead = make([][]pending, len(fn.Blocks))
	w.before = make([][]pending, len(fn.Insts))
	done := make([]bool, len(fn.Blocks))
	todo := []int{0}
	for range 64*len(fn.Blocks) + 64 {
		if len(todo) == 0 {
			break
		}
		b := todo[0]
		todo = todo[1:]
		done[b] = true
		out := w.block(b)
		for _, s := range fn.Blocks[b].Succs {
			joined, changed := joinPending(w.atHead[s], out)
			if changed || !done[s] {
				w.atHead[s] = joined
				if !slices.Contains(todo, s) {
					todo = append(todo, s)
				}
			}
		}
	}
	w.unfinished = len(todo) > 0
	return w
}

// block simulates a block from its head and returns what is pending at its end.
func (w *waits) block(b int) []pending {
	cur := clonePending(w.atHead[b])
	blk := w.tr.fn.Blocks[b]
	for i := blk.First; i < blk.End; i++ {
		w.before[i] = clonePending(cur)
		in := &w.tr.fn.Insts[i]
		cur = applyWaits(cur, in.Waits)
		cur = w.issue(cur, i, in)
	}
	return cur
}

// applyWaits removes what a wait completes.
func applyWaits(cur []pending, ws []isa.Wait) []pending {
	for _, wt := range ws {
		keep := cur[:0]
		for _, p := range cur {
			late := p.complete() // memory already has it: only expcnt is open
			p.open = slices.DeleteFunc(p.open, func(o openCounter) bool {
				return o.counter == wt.Counter && (wt.N == 0 || o.class != inAnyOrder && o.newer >= wt.N)
			})
			if len(p.open) > 0 && (!p.complete() || late) {
				keep = append(keep, p)
			}
		}
		cur = keep
	}
	return cur
}

// complete reports whether the operation is done in memory; its data may still be unread.
func (p *pending) complete() bool {
	for _, o := range p.open {
		if !o.late {
			return false
		}
	}
	return true
}

// issue adds the operation that an instruction starts to those that are pending.
func (w *waits) issue(cur []pending, i int, in *isa.Inst) []pending {
	p := pending{inst: i}
	for _, c := range in.Counts {
		class := w.class(i, in, c)
		for k := range cur {
			for j := range cur[k].open {
				if o := &cur[k].open[j]; o.counter == c && o.class == class && class != inAnyOrder {
					o.newer++
				}
			}
		}
		if late := c == isa.CountExp && w.model.expWAR; late || w.completes(i, c) {
			p.open = append(p.open, openCounter{counter: c, class: class, late: late})
		}
	}
	// In a loop, an instruction may still be pending from the previous iteration.
	cur = slices.DeleteFunc(cur, func(o pending) bool { return o.inst == i })
	if len(p.open) > 0 {
		cur = append(cur, p)
	}
	return cur
}

// class returns how an operation completes relative to the others of its counter.
func (w *waits) class(i int, in *isa.Inst, c isa.Counter) orderClass {
	switch {
	case in.Mem.Scalar || in.Role == isa.RoleConst:
		return inAnyOrder
	case in.Mem.Space == isa.SpaceGeneric && w.model.flatInOrder:
		if c == isa.CountLGKM || c == isa.CountDS {
			return inLDSOrder
		}
		return inVectorOrder
	case in.Mem.Space == isa.SpaceGeneric && (!w.global[i] || c == isa.CountLGKM):
		return inAnyOrder
	case in.Mem.Space == isa.SpaceShared:
		return inLDSOrder
	case c == isa.CountVM || c == isa.CountVS || c == isa.CountLoad || c == isa.CountStore || c == isa.CountExp || c == isa.CountAck:
		return inVectorOrder
	}
	return inAnyOrder // messages and the rest
}

// completes reports whether a counter confirms that the operation is complete in memory, or its registers written. A
// FLAT access to global memory is complete when the vector counter says so; expcnt only confirms that a store has
// read its registers.
func (w *waits) completes(i int, c isa.Counter) bool {
	switch c {
	case isa.CountExp, isa.CountX:
		return false
	case isa.CountLGKM, isa.CountDS:
		return !w.global[i]
	}
	return true
}

func clonePending(l []pending) []pending {
	out := make([]pending, len(l))
	for i, p := range l {
		out[i] = pending{p.inst, slices.Clone(p.open)}
	}
	return out
}

// joinPending returns what may be pending after either of two paths; changed reports whether that is more than old.
func joinPending(old, add []pending) (joined []pending, changed bool) {
	joined = clonePending(old)
	for _, p := range add {
		k := slices.IndexFunc(joined, func(o pending) bool { return o.inst == p.inst })
		if k < 0 {
			joined = append(joined, pending{p.inst, slices.Clone(p.open)})
			changed = true
			continue
		}
		for _, o := range p.open {
			j := slices.IndexFunc(joined[k].open, func(q openCounter) bool { return q.counter == o.counter })
			switch {
			case j < 0:
				joined[k].open = append(joined[k].open, o)
				changed = true
			case o.newer < joined[k].open[j].newer:
				joined[k].open[j].newer = o.newer
				changed = true
			}
		}
	}
	return joined, changed
}

// outstanding reports whether the operation that instruction op started may
// still be outstanding when instruction at issues.
func (w *waits) outstanding(op, at int) bool {
	for _, p := range w.before[at] {
		if p.inst == op && !p.complete() {
			return true
		}
	}
	return false
}

// counters lists the counters that confirm the completion of an operation.
func (w *waits) counters(op int) (list []isa.Counter) {
	in := &w.tr.fn.Insts[op]
	for _, c := range in.Counts {
		if w.completes(op, c) {
			list = append(list, c)
		}
	}
	return list
}

// tried reports whether a wait for one of an operation's counters stands between two instructions in the text, and is
// too weak.
func (w *waits) tried(op, at int) (string, bool) {
	cs := w.counters(op)
	for i := op + 1; i < at; i++ {
		for _, wt := range w.tr.fn.Insts[i].Waits {
			if slices.Contains(cs, wt.Counter) {
				return w.tr.fn.Insts[i].Text, true
			}
		}
	}
	return "", false
}

// behind lists the waits between an event and the next one in the text that
// complete an access or a cache operation, for listings.
func (w *waits) behind(ev int) (lines []Line) {
	to := len(w.tr.fn.Insts)
	if ev+1 < len(w.tr.events) {
		to = w.tr.events[ev+1].inst
	}
	for i := w.tr.events[ev].inst + 1; i < to && i+1 < len(w.before); i++ {
		in := &w.tr.fn.Insts[i]
		if len(in.Waits) == 0 {
			continue
		}
		for o := 0; o <= ev; o++ {
			if x := &w.tr.events[o]; !x.result && w.outstanding(x.inst, i) && !w.outstanding(x.inst, i+1) {
				lines = append(lines, Line{Pos: -1, Text: trim(in.Text), Part: true, Addr: in.Addr})
				break
			}
		}
	}
	return lines
}
