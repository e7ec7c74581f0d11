package verify

import (
	"slices"

	"optcheck/emu"
	"optcheck/internal/flowgraph"
	"optcheck/ir"
)

// A barrier of the block is spare if no two accesses that conflict are ordered by it alone. Whether that is so can be told for every
// schedule at once if neither the addresses beside it nor the conditions that lead to them depend on memory: then each schedule does the
// same accesses there, and a run of one, in which nothing but barriers orders threads, shows what they touch.

// maxFootprint bounds the instructions of a program that is looked at.
const maxFootprint = 1 << 12

// footprint is what is known without running a program of what its threads do.
type footprint struct {
	p            *ir.Program
	next, before [][]int32
	// at are the registers whose values may depend on memory in front of each instruction, uncertain the instructions of which that decides
	// whether or how often they run, decided the branches that were followed.
	at                 [][]uint64
	uncertain, decided []bool
	after              []int32 // of each instruction, the next one on every way to an end; made when it is needed
}

// newFootprint looks at a program; nil if it has what is not followed: calls, or an instruction that is not understood.
func newFootprint(p *ir.Program) *footprint {
	n := len(p.Insts)
	f := &footprint{p: p, next: make([][]int32, n), before: make([][]int32, n), at: make([][]uint64, n)}
	f.uncertain, f.decided = make([]bool, n), make([]bool, n)
	if n > maxFootprint || n == 0 {
		return nil
	}
	for i := range p.Insts {
		in := &p.Insts[i]
		do, flow := in.Do.(*ir.Flow)
		on := !flow || do.Cond >= 0 || in.Guard >= 0
		switch {
		case in.Opaque != "":
			return nil
		case flow && do.Kind == ir.Jump:
			f.next[i] = append(f.next[i], do.Target)
		case flow && do.Kind != ir.Exit && do.Kind != ir.Trap && do.Kind != ir.Return:
			return nil
		}
		if on && i+1 < n {
			f.next[i] = append(f.next[i], int32(i+1))
		}
		f.at[i] = make([]uint64, p.Regs/64+1)
		for _, k := range f.next[i] {
			f.before[k] = append(f.before[k], int32(i))
		}
	}
	for f.spread() {
	}
	return f
}

// spread follows what depends on memory through an instruction, and reports whether more does than before.
func (f *footprint) spread() (more bool) {
	now := make([]uint64, len(f.at[0]))
	for i := range f.p.Insts {
		in := &f.p.Insts[i]
		copy(now, f.at[i])
		free := f.uncertain[i] || holds(now, in.Guard)
		f.ops(in.Pre, now, in, free)
		if do, ok := in.Do.(*ir.Flow); ok && holds(now, do.Cond, in.Guard) {
			more = f.decides(int32(i)) || more
		} else if free && !f.uncertain[i] {
			f.uncertain[i], more = true, true
		}
		results, reads := f.effect(in.Do, now)
		for _, r := range results {
			put(now, r, free || reads, in.Guard < 0)
		}
		f.ops(in.Post, now, in, free)
		for _, to := range f.next[i] {
			for w, x := range now {
				if f.at[to][w]|x != f.at[to][w] {
					f.at[to][w] |= x
					more = true
				}
			}
		}
	}
	return more
}

func (f *footprint) ops(list []ir.Op, now []uint64, in *ir.Inst, free bool) {
	for k := range list {
		put(now, list[k].Dst, free || holds(now, list[k].Src[:]...), in.Guard < 0)
	}
}

// put says whether a register depends on memory; one that some lanes alone write keeps what it has.
func put(set []uint64, r ir.Reg, depends, all bool) {
	switch {
	case r < 0:
	case depends:
		set[r/64] |= 1 << (r % 64)
	case all:
		set[r/64] &^= 1 << (r % 64)
	}
}

func holds(set []uint64, list ...ir.Reg) bool {
	return slices.ContainsFunc(list, func(r ir.Reg) bool { return r >= 0 && set[r/64]>>(r%64)&1 == 1 })
}

// address reports whether the address of an access depends on memory.
func (f *footprint) address(i int32, a *ir.Access) bool {
	now := slices.Clone(f.at[i])
	f.ops(f.p.Insts[i].Pre, now, &f.p.Insts[i], f.uncertain[i])
	return holds(now, a.Addr)
}

// unsteady are special registers whose values another run need not have.
var unsteady = []ir.SpecialReg{ir.Clock, ir.Clock64, ir.GlobalTimer, ir.SMID, ir.WarpID, ir.VirtualID, ir.Undefined}

// effect gives the results of an effect, and whether they depend on memory or on time.
func (f *footprint) effect(e ir.Effect, now []uint64) (results []ir.Reg, reads bool) {
	switch do := e.(type) {
	case *ir.Access:
		if do.Kind == ir.Load {
			return slices.Concat(do.Data, do.Fragments), do.Space != ir.Param && do.Space != ir.ConstBank && !do.Constant || holds(now, do.Addr)
		}
		return append(slices.Clone(do.Dst), do.Done), true
	case *ir.Special:
		return []ir.Reg{do.Dst}, slices.Contains(unsteady, do.Reg)
	case *ir.Warp:
		return append(slices.Clone(do.Dsts), do.Dst, do.Pred),
			do.Kind == ir.ActiveMask || do.Product != nil || holds(now, do.Mask, do.Src, do.Lane, do.Clamp) || holds(now, do.Srcs...)
	case *ir.Barrier:
		return []ir.Reg{do.Dst}, true
	}
	return nil, false
}

// decides marks the instructions of which a branch decides whether they run: those up to where all its ways meet again.
func (f *footprint) decides(branch int32) (more bool) {
	if f.decided[branch] {
		return false
	}
	f.decided[branch] = true
	meet := f.meeting(branch)
	seen := map[int32]bool{}
	todo := slices.Clone(f.next[branch])
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == meet || seen[at] {
			continue
		}
		seen[at] = true
		if !f.uncertain[at] {
			f.uncertain[at], more = true, true
		}
		todo = append(todo, f.next[at]...)
	}
	return more
}

// meeting is the instruction at which all ways from a branch meet; -1 if that is the end, or no way ends.
func (f *footprint) meeting(branch int32) int32 {
	if f.after == nil {
		next, before := func(i int32) []int32 { return f.next[i] }, func(i int32) []int32 { return f.before[i] }
		f.after = flowgraph.Postdominators(len(f.p.Insts), next, before, func(i int32) bool {
			do, ok := f.p.Insts[i].Do.(*ir.Flow)
			return len(f.next[i]) == 0 || len(f.next[i]) == 1 && ok && do.Kind != ir.Jump // one of its ways is an end
		})
	}
	if meet := f.after[branch]; int(meet) < len(f.p.Insts) {
		return meet
	}
	return -1
}

// whole reports whether an instruction is a barrier that each thread of the block comes to, whatever memory holds.
func (f *footprint) whole(i int32) bool {
	b, ok := f.p.Insts[i].Do.(*ir.Barrier)
	return ok && (b.Kind == ir.BarrierSync || b.Kind == ir.BarrierRed) && b.Count < 0 && f.p.Insts[i].Guard < 0 && !f.uncertain[i]
}

// side are the instructions on one side of a barrier that is left out, up to the next ones for the whole block.
func (f *footprint) side(barrier int32, step [][]int32) []int32 {
	seen := map[int32]bool{}
	for todo := slices.Clone(step[barrier]); len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[at] && (at == barrier || !f.whole(at)) {
			seen[at] = true
			todo = append(todo, step[at]...)
		}
	}
	var out []int32
	for i := range f.p.Insts {
		if seen[int32(i)] {
			out = append(out, int32(i))
		}
	}
	return out
}

// sides are what is on both sides of a barrier; not ok if what is done there may be different in another schedule, or be seen by other
// blocks.
func (f *footprint) sides(barrier int32) (front, back []int32, ok bool) {
	if !f.whole(barrier) || f.p.Insts[barrier].Do.(*ir.Barrier).Kind != ir.BarrierSync {
		return nil, nil, false
	}
	front, back = f.side(barrier, f.before), f.side(barrier, f.next)
	for _, i := range slices.Concat(front, back) {
		switch do := f.p.Insts[i].Do.(type) {
		case *ir.Copy:
			return nil, nil, false
		case *ir.Barrier:
			if i != barrier && (do.Kind != ir.BarrierWarp || f.uncertain[i] || holds(f.at[i], do.Count)) {
				return nil, nil, false
			}
		case *ir.Access:
			if do.Mbarrier {
				return nil, nil, false
			}
		}
	}
	for _, i := range front {
		x, ok := f.p.Insts[i].Do.(*ir.Access)
		if !ok || private(x.Space) || x.Space == ir.Param || x.Space == ir.ConstBank || x.Constant {
			continue
		}
		if x.Space != ir.Shared {
			return nil, nil, false // others may learn of it by a thread that the barrier has told
		}
		for _, k := range back {
			y, ok := f.p.Insts[k].Do.(*ir.Access)
			conflict := ok && (x.Kind != ir.Load || y.Kind != ir.Load) && (y.Space == ir.Shared || y.Space == ir.Generic)
			if conflict && !f.fixed(i, k) {
				return nil, nil, false
			}
		}
	}
	return front, back, true
}

// fixed reports whether two accesses are weak ones, and the same in each schedule.
func (f *footprint) fixed(list ...int32) bool {
	return !slices.ContainsFunc(list, func(i int32) bool {
		a := f.p.Insts[i].Do.(*ir.Access)
		return f.uncertain[i] || f.address(i, a) || a.Sem != ir.Weak
	})
}

// spare reports whether a barrier of the block alone orders no two accesses that conflict, in any schedule of the values of a launch.
func (o *Options) spare(p *ir.Program, lines Lines, f *footprint, barrier int) bool {
	if f == nil || p.Cluster[0]*p.Cluster[1]*p.Cluster[2] > 1 || usesAsync(p) {
		return false
	}
	front, back, ok := f.sides(int32(barrier))
	if !ok {
		return false
	}
	for _, q := range []*ir.Program{p, with(p, []edited{{barrier, nil}})} {
		for i := range max(o.Inputs, 1) {
			set, mixed := *o, false
			set.watch = func(m *monitor) {
				m.deaf, m.together = true, func(x *bar) { mixed = mixed || !x.together() }
			}
			x, err := set.once(q, lines, i, 0, choice{}, false)
			if err != nil || !x.run.Ended || len(x.suspect)+len(x.unknown) > 0 || mixed || x.found.dropped > 0 {
				return false
			}
			for _, y := range x.found.list {
				if y.Rule != DataRace {
					return false
				}
				a, b := int32(y.First.Inst), int32(y.Second.Inst)
				across := slices.Contains(front, a) && slices.Contains(back, b) || slices.Contains(front, b) && slices.Contains(back, a)
				if across && y.level == sameBlock {
					return false
				}
			}
		}
	}
	return true
}

// together reports whether all who have come to a barrier came to the same instruction.
func (x *bar) together() bool {
	pc, ok := x.first, true
	for _, a := range x.came {
		for l := range emu.Lanes {
			ok = ok && (a.mask>>l&1 == 0 || a.pcs[l] == pc)
		}
	}
	return ok
}
