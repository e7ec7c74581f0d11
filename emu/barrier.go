package emu

import "optcheck/ir"

// Barrier is a barrier of the block: its threads wait until as many have come as it says, or all that live.
func (g *Grid) Barrier(w *Warp, pc int32, b *ir.Barrier, act uint32) (bool, error) {
	block := w.Data.(*Block)
	switch {
	case b.Kind < ir.BarrierCluster:
	case g.Launch.Cluster != [3]int{}:
		return g.clusterBarrier(w, pc, b, act), nil
	case b.Kind == ir.BarrierClusterArrive: // a cluster of one block, of which the machine code waits with the block's barrier
		return false, nil
	}
	wait := b.Kind != ir.BarrierArrive
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		id, count := w.operand(b.ID, l), w.operand(b.Count, l)
		if id >= uint64(len(block.barriers)) {
			return false, &Fault{int(pc), w.Threads[l].Index, "a barrier whose number is above 15"}
		}
		m := &block.barriers[id]
		g.arrive(m, w, pc, b, l)
		r := g.record(w, l)
		r.pending = &Event{Kind: EventBarrier, Inst: pc, Scope: ir.CTA, ID: id, Count: count, Barrier: b.Kind, Operand: w.Contributes(b, l)}
		if !wait {
			g.went(r)
		}
		if m.count = int(count); m.arrived >= block.needs(m.count) {
			g.open(block, int(id))
		}
	}
	return wait, nil
}

// Contributes is the truth that a lane gives to a reduction at a barrier: 0 or 1, and 0 if there is none.
func (w *Warp) Contributes(b *ir.Barrier, lane int) uint64 {
	return truth(b.Kind == ir.BarrierRed && (w.operand(b.Src, lane) != 0) != b.Not)
}

func (w *Warp) operand(r ir.Reg, lane int) uint64 {
	if r < 0 {
		return 0
	}
	return w.regs[r][lane] & 0xffffffff
}

// needs is how many threads a barrier waits for.
func (b *Block) needs(count int) int {
	if count > 0 {
		return count
	}
	n := 0
	for _, w := range b.warps {
		for _, s := range w.st {
			if s != done {
				n++
			}
		}
	}
	return n
}

func (g *Grid) arrive(m *rendezvous, w *Warp, _ int32, b *ir.Barrier, l int) {
	if m.waiting == nil {
		*m = rendezvous{waiting: map[*Warp]uint32{}, dst: map[*Warp]ir.Reg{}, and: true}
	}
	m.arrived++
	if b.Kind == ir.BarrierArrive {
		return
	}
	m.waiting[w] |= 1 << l
	m.dst[w] = ir.None
	if b.Kind == ir.BarrierRed {
		v := w.Contributes(b, l) == 1
		m.and, m.or, m.red = m.and && v, m.or || v, b.Red
		if v {
			m.sum++
		}
		m.dst[w] = b.Dst
	}
}

// open releases a barrier.
func (g *Grid) open(block *Block, id int) {
	m := &block.barriers[id]
	result := uint64(m.sum)
	switch m.red {
	case "and":
		result = truth(m.and)
	case "or":
		result = truth(m.or)
	}
	was := *m
	*m = rendezvous{}
	for _, w := range block.warps {
		mask := was.waiting[w]
		for x := mask; x != 0; x &= x - 1 {
			l := lowest(x)
			w.Threads[l].result = result
			if d := was.dst[w]; d >= 0 {
				w.SetReg(d, l, result)
			}
			r := g.record(w, l)
			if r.pending != nil {
				r.pending.Reduced = result
			}
			g.went(r)
		}
		w.Wake(mask)
	}
	if g.Opened != nil {
		g.Opened(block, id, was.waiting)
	}
}

// went lets a thread see what there is when it goes on behind a barrier.
func (g *Grid) went(r *Record) {
	if r.pending == nil {
		return
	}
	e := *r.pending
	r.pending = nil
	g.sync(r, e)
}

// ended looks at the barriers of a block of which threads have ended: nobody waits for them any more.
func (g *Grid) ended(w *Warp) {
	block := w.Data.(*Block)
	g.openCluster(block.cluster)
	for i := range block.barriers {
		if m := &block.barriers[i]; len(m.waiting) > 0 && m.arrived >= block.needs(m.count) {
			g.open(block, i)
		}
	}
}

// releaseAny opens a barrier for which all threads wait that have not ended, though lanes of a warp came apart.
func (g *Grid) releaseAny() bool {
	opened := false
	for _, b := range g.Blocks {
		for i := range b.barriers {
			if m := &b.barriers[i]; len(m.waiting) > 0 && m.arrived >= b.needs(m.count) {
				g.open(b, i)
				opened = true
			}
		}
	}
	return opened
}
