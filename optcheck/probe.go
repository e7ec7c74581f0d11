package optcheck

import (
	"optcheck/isa"
	"optcheck/spec"
)

// Placed returns, for the kernel checked last, the index of the instruction
// that each access or fence of the specification was matched to, -1 for none.
// It is for tools that test the checker.
func (c *Checker) Placed() []int {
	if c.last == nil {
		return nil
	}
	p := c.last
	out := make([]int, len(p.s.Entries))
	for k := range out {
		out[k] = -1
		if ev := p.match[k]; ev >= 0 {
			out[k] = p.tr.events[ev].inst
		}
	}
	for ev, ks := range p.owner {
		for _, k := range ks {
			if p.s.Entries[k].IsFence() && p.tr.events[ev].role != isa.RoleCache {
				out[k] = p.tr.events[ev].inst
			}
		}
	}
	return out
}

// BelowNeed returns variants of a machine access that are each weaker, by one
// property, than the access of the test demands; ok is false if it demands
// nothing or the access is already stronger by another rule.
func (c *Checker) BelowNeed(k spec.Kind, m isa.Mem) (weaker []isa.Mem, ok bool) {
	if c.last == nil {
		return nil, false
	}
	if t := c.last.abi.amd; t != nil {
		return t.model.below(k, m)
	}
	sm := c.last.abi.sm
	n := needOf(k, sm)
	if sm < 70 {
		if n.cache == "" || k.Atom != 0 {
			return nil, false
		}
		m.Cache = ""
		return []isa.Mem{m}, true
	}
	if n.strength == isa.Weak {
		return nil, false
	}
	weak := m
	weak.Strength = isa.Weak
	weaker = append(weaker, weak)
	if n.scope > isa.ScopeCTA {
		narrow := m
		narrow.Scope = isa.ScopeCTA
		weaker = append(weaker, narrow)
	}
	return weaker, true
}

// NeedsSC reports whether a fence must be sequentially consistent in the
// machine code of the target checked last.
func (c *Checker) NeedsSC(k spec.Kind) bool {
	return c.last != nil && fenceNeedOf(k, c.last.abi.sm).sc
}

// NeedsInvalidate reports whether an invalidation must follow the fence.
func (c *Checker) NeedsInvalidate(k spec.Kind) bool {
	return c.last != nil && fenceNeedOf(k, c.last.abi.sm).invalidate
}
