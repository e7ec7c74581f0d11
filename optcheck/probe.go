package optcheck

import "optcheck/isa"

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
