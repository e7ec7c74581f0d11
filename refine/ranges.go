package refine

import (
	"slices"

	"optcheck/ir"
)

// ranges follows what is known through a program.
type ranges struct {
	p       *ir.Program
	fixed   map[ir.Reg]bounds                       // registers that never change
	sizes   func(inst int, r ir.Reg) (bounds, bool) // see sizes
	finite  map[ir.Reg]bool                         // registers that hold finite numbers
	numbers map[ir.Reg]uint64                       // registers that hold a number for ever
	sets    []int32                                 // the places of BarrierSet
	bars    map[ir.Reg]bool                         // registers that hold a set of lanes: here, the place that has made it
	heads   []bool                                  // instructions that something jumps to, or behind a transfer of control
	at      map[int32]*known
	visits  map[int32]int
	work    []int32
	seen    []bool
	// outcomes are those that conditions of an instruction may have: see seenUses.
	outcomes []uint8
	lost     bool // control goes where nobody knows
	// watch, if not nil, is told what is known where a thread performs an instruction.
	watch func(inst int32, regs []bounds)
}

const (
	rangeSteps = 1 << 21 // instructions that are followed at most
	rangeStore = 1 << 21 // registers that are kept of all places together
	// mostTargets bounds the places that a jump may go to; a return from a function of few calls has few.
	mostTargets = 256
)

// rangesOf follows a program: which instructions a thread may perform, whatever the input is, and with which outcomes. Numbers, and the
// conditions on the way, may not allow one. Nil if that says nothing.
func rangesOf(p *ir.Program) *ranges {
	a := &ranges{p: p, fixed: constantBounds(p), sizes: sizes(p), finite: finite(p), numbers: values(p), bars: map[ir.Reg]bool{},
		heads: make([]bool, len(p.Insts)+1), at: map[int32]*known{},
		visits: map[int32]int{}, seen: make([]bool, len(p.Insts)), outcomes: make([]uint8, len(p.Insts))}
	heads := 0
	for i := range p.Insts {
		f, ok := p.Insts[i].Do.(*ir.Flow)
		if !ok {
			continue
		}
		switch f.Kind {
		case ir.BarrierSet:
			a.sets = append(a.sets, int32(i))
			a.bars[f.Bar] = true
		case ir.BarrierWait, ir.BarrierLeave:
			a.bars[f.Bar] = true
		}
		for _, to := range append(slices.Clone(f.Targets), int32(i)+1, f.Target) {
			if to >= 0 && int(to) < len(a.heads) && !a.heads[to] {
				a.heads[to] = true
				heads++
			}
		}
	}
	if heads*p.Regs > rangeStore || len(p.Insts) == 0 {
		return nil
	}
	a.come(0, a.nothing())
	steps := 0
	for len(a.work) > 0 && !a.lost {
		at := a.work[len(a.work)-1]
		a.work = a.work[:len(a.work)-1]
		if steps += a.block(at); steps > rangeSteps {
			return nil
		}
	}
	if a.lost {
		return nil
	}
	return a
}

// nothing is known where a function begins, and behind a call, but of numbers that never change.
func (a *ranges) nothing() *known {
	k := &known{make([]bounds, a.p.Regs+1), map[ir.Reg][]uint64{}, map[ir.Reg]truth{}, ofWarp{holds: map[ir.Reg]laneSet{}}}
	for r := range k.regs {
		k.regs[r] = within(64)
	}
	for r, b := range a.fixed {
		k.regs[r] = b
	}
	return k
}

// yield is what may have changed where other lanes of the warp may have run: what they share with it.
func (a *ranges) yield(k *known) {
	for _, r := range a.p.Uniform {
		k.set(r, within(64))
	}
}

// come is told what holds where control comes to a place.
func (a *ranges) come(to int32, k *known) {
	a.yield(k)
	if to < 0 || int(to) >= len(a.p.Insts) {
		return
	}
	was := a.at[to]
	if was == nil {
		a.at[to] = k.clone()
		a.work = append(a.work, to)
		return
	}
	if a.visits[to]++; was.join(k, a.visits[to] > widenings) && !slices.Contains(a.work, to) {
		a.work = append(a.work, to)
	}
}

// block follows a stretch without jumps, and tells how long it is.
func (a *ranges) block(at int32) (steps int) {
	k := a.at[at].clone()
	for i := at; int(i) < len(a.p.Insts); i++ {
		if i > at && a.heads[i] {
			a.come(i, k)
			return steps
		}
		steps++
		in := &a.p.Insts[i]
		performed := k
		if in.Guard >= 0 {
			performed = k.clone()
		}
		does := in.Guard < 0 || performed.assume(in.Guard, !in.Not)
		a.seen[i] = a.seen[i] || does
		if in.Guard >= 0 {
			a.outcomes[i] |= uint8(bit(does))*seenPerformed | uint8(bit(k.clone().assume(in.Guard, in.Not)))*seenSkipped
		}
		if does {
			if a.watch != nil {
				a.watch(i, performed.regs)
			}
			a.compute(performed, i, in.Pre)
		}
		if f, ok := in.Do.(*ir.Flow); ok {
			a.flow(i, in, f, k, performed, does)
			return steps
		}
		if does {
			eachWritten(in, func(r ir.Reg, b bounds) { a.write(performed, r, b) })
			switch in.Do.(type) {
			case nil, *ir.Access, *ir.Special, *ir.Fence, *ir.Warp:
			default:
				a.yield(performed)
				performed.meet()
			}
			a.lanes(performed, in)
			a.compute(performed, i, in.Post)
		}
		if performed == k {
			continue
		}
		if not := k.assume(in.Guard, in.Not); !not {
			k = performed
		} else if does {
			k.join(performed, false)
		}
	}
	return steps
}

// flow follows a transfer of control: k holds where it is not performed, taken where it is.
func (a *ranges) flow(i int32, in *ir.Inst, f *ir.Flow, k, taken *known, does bool) {
	switch f.Kind {
	case ir.JumpAny, ir.JumpTogether, ir.JumpApart: // of all lanes of a group, those for which the guard is 0 among them
		for _, to := range []int32{f.Target, i + 1} {
			a.come(to, k)
			a.come(to, taken)
		}
		return
	}
	if in.Guard >= 0 && k.assume(in.Guard, in.Not) {
		a.come(i+1, k)
	}
	if !does {
		return
	}
	switch f.Kind {
	case ir.BarrierWait, ir.WarpSync, ir.WarpCollective:
		taken.meet()
	}
	if f.Cond >= 0 {
		if passed := taken.clone(); passed.assume(f.Cond, f.Not) {
			a.come(i+1, passed)
		}
		if !taken.assume(f.Cond, !f.Not) {
			return
		}
	}
	switch f.Kind {
	case ir.Jump:
		a.come(f.Target, taken)
	case ir.BarrierSet:
		taken.set(f.Bar, bounds{uint64(i), uint64(i)})
		a.come(i+1, taken)
	case ir.BarrierWait:
		for _, s := range a.sets {
			if b := taken.regs[f.Bar]; uint64(s) >= b.low && uint64(s) <= b.high {
				a.come(a.p.Insts[s].Do.(*ir.Flow).Target, taken)
			}
		}
	case ir.BarrierLeave, ir.WarpSync, ir.WarpCollective, ir.CollectiveEnd, ir.Yield:
		a.come(i+1, taken)
	case ir.Exit, ir.Trap, ir.Return: // what returns goes on behind calls, with nothing known
	case ir.Call:
		a.come(f.Target, a.nothing())
		a.come(i+1, a.nothing())
	case ir.Indirect:
		for _, to := range a.targets(f, taken) {
			a.come(to, taken)
		}
	default:
		a.lost = true
	}
}

// targets are where a jump may go to whose target is in a register.
func (a *ranges) targets(f *ir.Flow, k *known) (out []int32) {
	if f.Targets != nil {
		return f.Targets
	}
	b, some := k.regs[f.Addr], k.numbers(f.Addr)
	for v, to := range a.p.Code {
		if v >= b.low && v <= b.high && (some == nil || slices.Contains(some, v)) {
			out = append(out, to)
		}
	}
	a.lost = a.lost || a.p.Code == nil || len(out) > mostTargets
	slices.Sort(out)
	return out
}

// write sets a register of which it is known what is written.
func (a *ranges) write(k *known, r ir.Reg, b bounds) {
	if r < 0 {
		return
	}
	if a.bars[r] {
		b = within(64)
	}
	k.set(r, b)
}

// compute follows operations.
func (a *ranges) compute(k *known, i int32, ops []ir.Op) {
	x := &registers{func(_ int, r ir.Reg) bounds { return a.content(k, r) }, a.sizes, a.finite, a.numbers}
	for n := range ops {
		o := &ops[n]
		if a.p.Insts[i].Returned(o) {
			a.write(k, o.Dst, within(64))
			continue
		}
		if o.Code == ir.Sel && o.Src[0] >= 0 {
			p := a.content(k, o.Src[0])
			a.outcomes[i] |= uint8(bit(p.high > 0))*seenFirst | uint8(bit(p.low == 0))*seenSecond
		}
		b, t, some, set := x.result(int(i), o), a.truthOf(k, o), a.each(k, o), k.lanesOf(o)
		if compares(o) || o.Code == ir.Cmp && o.Type.Float() {
			switch x.possible(int(i), o) & (seenTrue | seenFalse) {
			case seenTrue:
				b = bounds{1, 1}
			case seenFalse:
				b = bounds{0, 0}
			}
		}
		a.write(k, o.Dst, b)
		if o.Dst >= 0 && some != nil && !a.bars[o.Dst] {
			k.choose(o.Dst, some)
		}
		if o.Dst >= 0 && len(t.yes)+len(t.no) > 0 && !t.about(o.Dst) {
			k.truths[o.Dst] = t
		}
		if o.Dst >= 0 && set != 0 {
			k.warp.holds[o.Dst] = set
		}
		if o.Code == ir.Mov && o.Dst >= 0 && o.Src[0] >= 0 && o.Dst != o.Src[0] && !a.bars[o.Dst] && !a.bars[o.Src[0]] {
			k.alias(o.Src[0], o.Dst, o.Type.Bits())
		}
	}
}

// lanes takes over what an instruction of machine code tells of the lanes of its group. (Those of PTX may meet anywhere.)
func (a *ranges) lanes(k *known, in *ir.Inst) {
	switch do := in.Do.(type) {
	case *ir.Special:
		if do.Reg == ir.LaneMaskLT && a.p.Machine && do.Dst >= 0 {
			k.warp.holds[do.Dst] = below
		}
	case *ir.Warp:
		if do.Dst < 0 || do.Mask >= 0 || !a.p.Machine || do.Kind != ir.ActiveMask {
			return
		}
		k.warp.holds[do.Dst] = active
		if k.warp.alone {
			k.regs[do.Dst] = bounds{1, loneResult}
		}
	}
}

// each are the results of an operation of all numbers that its operands may hold; nil if they are many, or not defined.
func (a *ranges) each(k *known, o *ir.Op) []uint64 {
	if o.Code == ir.Approx {
		return nil
	}
	var of [4][]uint64
	all := 1
	for n, r := range o.Src {
		if of[n] = []uint64{0}; r >= 0 {
			if of[n] = k.numbers(r); of[n] == nil || a.bars[r] {
				return nil
			}
		}
		all *= len(of[n])
	}
	if all > mostFew {
		return nil
	}
	out := make([]uint64, 0, all)
	for i := range all {
		var s [4]uint64
		for n, list := range of {
			s[n] = list[i%len(list)]
			i /= len(list)
		}
		v := ir.Eval(o, &s, 0)
		if v != ir.Eval(o, &s, ^uint64(0)) {
			return nil
		}
		out = append(out, v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// content is what a register may hold.
func (a *ranges) content(k *known, r ir.Reg) bounds {
	if a.bars[r] {
		return within(64)
	}
	return k.regs[r]
}

// compares reports whether an operation compares two numbers without or with a sign.
func compares(o *ir.Op) bool { return o.Code == ir.Cmp && !o.Type.Float() && o.Cond <= ir.GE }

// truthOf is what the result of an operation says.
func (a *ranges) truthOf(k *known, o *ir.Op) (t truth) {
	is := func(r ir.Reg, v uint64) bool { return r >= 0 && a.content(k, r) == bounds{v, v} }
	p, q := o.Src[0], o.Src[1]
	switch {
	case compares(o) && p >= 0 && q >= 0 && !a.bars[p] && !a.bars[q]:
		f := fact{o.Cond, o.Type, p, q}
		return truth{[]fact{f}, []fact{f.not()}}
	case o.Code == ir.Mov && p >= 0:
		return k.truths[p]
	case o.Code == ir.And && o.Type == ir.Pred:
		t.yes = slices.Concat(k.truths[p].yes, k.truths[q].yes)
		if is(q, 1) {
			t.no = k.truths[p].no
		} else if is(p, 1) {
			t.no = k.truths[q].no
		}
	case o.Code == ir.Or && o.Type == ir.Pred:
		t.no = slices.Concat(k.truths[p].no, k.truths[q].no)
		if is(q, 0) {
			t.yes = k.truths[p].yes
		} else if is(p, 0) {
			t.yes = k.truths[q].yes
		}
	case o.Code == ir.Xor && o.Type == ir.Pred && is(q, 1):
		return truth{k.truths[p].no, k.truths[p].yes}
	}
	return t
}
