package optcheck

import (
	"optcheck/isa"
	"optcheck/spec"
)

// Placed returns the index of the instruction that each access or fence of the specification was matched to, -1 for
// none. It is meant for tools that test the checker.
func (c *Checked) Placed() []int {
	if c.pass == nil {
		return nil
	}
	p := c.pass
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

// Weaker returns variants of a machine access, each weaker in one property than an access of kind k must be on a
// target; none if nothing is required.
func Weaker(target string, k spec.Kind, m isa.Mem) []isa.Mem {
	a, err := archOf(target)
	if err != nil {
		return nil
	}
	return a.below(k, m)
}

// FenceNeeds reports whether a fence must be sequentially consistent in the machine
// code of a target, and whether an invalidation must follow it.
func FenceNeeds(target string, k spec.Kind) (sc, invalidate bool) {
	a, err := archOf(target)
	if err != nil {
		return false, false
	}
	return a.needs(k)
}
