package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
)

// silentFences lists the fences of the test that rightly compile to nothing (fence.acquire.cta), by the event that
// they precede.
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
			lo, _ := l.p.window(k)
			// After earlier fences at the same place.
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

// companions marks the fences and invalidations that belong to another instruction.
func (l *lifter) companions() {
	for ev := range l.p.tr.events {
		if r := l.p.tr.events[ev].role; r == isa.RoleFence || r == isa.RoleCache {
			l.done[ev] = l.means.belongs(l, ev)
		}
	}
}

// fence lifts a fence, barrier or invalidation that is not part of another instruction.
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
		op.raised = l.means.raised(p.s.Entries[op.entry].Kind, x.mem)
	}
	if op.entry < 0 {
		raw, why := l.means.fence(l, ev)
		if why != "" {
			return l.errorAt(x.inst, "%s", why)
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
