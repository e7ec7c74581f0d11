package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
)

// silentFences lists the fences of the test for which nothing is emitted
// although nothing is wrong (fence.acquire.cta), by the event in front of which
// they stand.
func (l *lifter) silentFences() map[int][]int {
	owned := map[int]bool{}
	for _, ks := range l.p.owner {
		for _, k := range ks {
			owned[k] = true
		}
	}
	out := map[int][]int{}
	for k, e := range l.p.s.Entries {
		if e.IsFence() && !owned[k] && !l.bad[k] {
			lo, _ := l.p.window(k, false, false)
			// Behind what already stands for earlier fences of the same place.
			at := lo + 1
			for at < len(l.p.tr.events) && !l.p.tr.events[at].role.IsAccess() && l.ownedBefore(at, k) {
				at++
			}
			out[at] = append(out[at], k)
		}
	}
	return out
}

func (l *lifter) ownedBefore(ev, k int) bool {
	for _, o := range l.p.owner[ev] {
		if o < k {
			return true
		}
	}
	return false
}

// parts marks the fences and invalidations that belong to another instruction:
// those in front of a release access, if they are no stronger than every release
// makes them, those behind an acquire access, and the companions of a fence that
// say no more than it does.
func (l *lifter) parts() {
	p := l.p
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if x.role != isa.RoleFence && x.role != isa.RoleCache {
			continue
		}
		if x.role == isa.RoleCache && !x.mem.Invalidate {
			l.done[ev] = true // CCTL.E.IV of one line, prefetches
			continue
		}
		for _, k := range p.owner[ev] {
			if e := &p.s.Entries[k]; !e.IsFence() && !l.bad[k] {
				l.done[ev] = !beyondRelease(e.Kind, x.mem)
			}
		}
		if len(p.owner[ev]) == 0 {
			l.done[ev] = l.implied(ev)
		}
	}
}

// implied reports whether a fence or invalidation without an entry of its own
// says nothing beyond its neighbours: no access stands between.
func (l *lifter) implied(ev int) bool {
	p := l.p
	x := &p.tr.events[ev]
	for _, step := range []int{-1, 1} {
		for o := ev + step; o >= 0 && o < len(p.tr.events); o += step {
			y := &p.tr.events[o]
			if y.role.IsAccess() {
				if step < 0 && x.role == isa.RoleCache && l.acquires(o) {
					return true
				}
				break
			}
			if y.role == isa.RoleBarrier {
				if x.role == isa.RoleFence && p.abi.sm < 70 && x.mem.Scope <= isa.ScopeCTA {
					return true // the MEMBAR.CTA of every barrier of sm_50 to sm_62
				}
				continue
			}
			if y.role != isa.RoleFence || !p.runsWith(o, ev) {
				continue
			}
			if x.role == isa.RoleCache {
				if step < 0 && l.invalidates(o) {
					return true
				}
				continue
			}
			owned := len(p.owner[o]) > 0
			if owned && y.mem.Scope >= x.mem.Scope && (y.mem.Strength == isa.FenceSC || x.mem.Strength != isa.FenceSC) {
				return true
			}
		}
	}
	return false
}

// invalidates reports whether what a fence is lifted to says that the L1 is
// invalidated, too: a fence within a CTA does not, nor one that only releases.
func (l *lifter) invalidates(ev int) bool {
	p := l.p
	for _, k := range p.owner[ev] {
		if e := &p.s.Entries[k]; e.IsFence() && !l.bad[k] {
			n := fenceNeedOf(e.Kind, p.abi.sm)
			return n.invalidate || n.any
		}
	}
	return !l.done[ev] && p.tr.events[ev].mem.Scope > isa.ScopeCTA
}

// acquires reports whether an event implements an acquire access that is followed by
// an invalidation: within a CTA none is.
func (l *lifter) acquires(ev int) bool {
	for _, k := range l.p.owner[ev] {
		kind := l.p.s.Entries[k].Kind
		if (kind.Sem == litmus.SemAcquire || kind.Sem == litmus.SemAcqRel) && accessScope(kind) > isa.ScopeCTA && !l.bad[k] {
			return true
		}
	}
	return false
}

// fence lifts a fence, barrier or invalidation that is no part of another
// instruction.
func (l *lifter) fence(ev int) error {
	p := l.p
	x := &p.tr.events[ev]
	op := liftOp{event: ev, entry: -1, read: -1}
	for _, k := range p.owner[ev] {
		if p.s.Entries[k].IsFence() && !l.bad[k] {
			op.entry = k
		}
	}
	if err := l.guard(ev, &op); err != nil {
		return err
	}
	if op.entry >= 0 && x.role == isa.RoleFence {
		op.raised = raisedFence(p.s.Entries[op.entry].Kind, x.mem, p.abi.sm)
	}
	if op.entry < 0 {
		raw, ok := l.rawFence(x)
		if ok && x.role == isa.RoleFence && !x.mem.Invalidate && x.mem.Scope > isa.ScopeCTA && l.stale(ev) {
			// Later weak loads may still find old values in the L1.
			if raw.Sem != litmus.SemAcqRel {
				return l.errorAt(x.inst, "no invalidation of the L1 stands between it and a later weak load")
			}
			raw.Sem = litmus.SemRelease
		}
		if !ok {
			return l.errorAt(x.inst, "it has no meaning in the table")
		}
		if raw.Op == litmus.OpNop {
			return nil
		}
		op.raw = raw
		if len(p.owner[ev]) == 0 {
			l.out.Extra = append(l.out.Extra, p.text(ev))
		}
	}
	l.out.ops = append(l.out.ops, op)
	return nil
}

// rawFence reads a fence by the table of meanings; OpNop means nothing.
func (l *lifter) rawFence(x *event) (litmus.Instr, bool) {
	switch x.role {
	case isa.RoleCache:
		if l.p.abi.sm < 70 {
			return litmus.Instr{Op: litmus.OpNop}, true
		}
		return litmus.Instr{Op: litmus.OpFence, Sem: invalidateMeans, Scope: litmus.ScopeSys}, true
	case isa.RoleBarrier:
		in := &l.p.tr.fn.Insts[x.inst]
		if in.Op != "BAR" || len(in.Args) == 0 || in.Args[0].Kind != isa.OpdImm && !in.Args[0].Zero {
			return litmus.Instr{}, false
		}
		arrive := len(in.Mods) > 0 && in.Mods[0] == "ARV"
		return litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{Arrive: arrive, ID: litmus.Const(in.Args[0].Imm)}}, true
	}
	m, ok := meaningOf(x.role, isa.Mem{Strength: x.mem.Strength, Scope: x.mem.Scope}, l.p.abi.sm)
	if !ok {
		return litmus.Instr{}, false
	}
	if m.Sem == litmus.SemNone {
		return litmus.Instr{Op: litmus.OpMembar, Scope: m.To}, true
	}
	return litmus.Instr{Op: litmus.OpFence, Sem: m.Sem, Scope: m.To}, true
}
