package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
)

// registers checks that no instruction reads or overwrites a register that a load has yet to write, or overwrites one
// that a store has yet to read: AMD hardware has no interlock here. The test's dependencies rely on this.
func (c *amdCheck) registers() {
	fn := c.tr.fn
	told := map[int]bool{}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		for _, p := range c.w.before[i] {
			op := &fn.Insts[p.inst]
			if told[p.inst] {
				continue
			}
			if r, how := c.hazard(in, op, &p); how != "" {
				told[p.inst] = true
				c.registerHazard(i, p.inst, r, how)
			}
		}
	}
}

// hazard returns a register that an instruction uses too early, and how it uses it.
func (c *amdCheck) hazard(in, op *isa.Inst, p *pending) (isa.Reg, string) {
	if op.Role == isa.RoleLoad || op.Role == isa.RoleAtomic || op.Role == isa.RoleConst {
		for _, r := range op.Defs {
			if slices.Contains(in.Uses, r) {
				return r, "read"
			}
			// Results of one counter arrive in order, except those of the scalar unit.
			if inOrder := slices.Equal(in.Counts, op.Counts) && !strings.HasPrefix(op.Op, "s_"); slices.Contains(in.Defs, r) && !inOrder {
				return r, "overwritten"
			}
		}
	}
	for _, o := range p.open {
		if !o.late {
			continue
		}
		for _, r := range op.Data {
			if slices.Contains(in.Defs, r) {
				return r, "overwritten"
			}
		}
	}
	return isa.Reg{}, ""
}

func (c *amdCheck) registerHazard(at, op int, r isa.Reg, how string) {
	in, from := &c.tr.fn.Insts[at], &c.tr.fn.Insts[op]
	pos, ev := -1, -1
	for e := range c.tr.events {
		if c.tr.events[e].inst == op {
			ev = e
			if len(c.owner[e]) > 0 {
				pos = c.owner[e][0]
			}
		}
	}
	rule, need := WaitMissing, c.m.scalar
	if ev >= 0 {
		need = c.waitFor(ev)
	} else if !from.Mem.Scalar && from.Role != isa.RoleConst {
		need = c.m.loads
	}
	text := "no " + need + " between them"
	if t, ok := c.w.tried(op, at); ok {
		rule, text = WaitWeakened, trim(t)+" does not complete it"
	}
	verb := "has written it"
	if how == "overwritten" && slices.Contains(from.Data, r) && !slices.Contains(from.Defs, r) {
		verb, text = "has read it", "no s_waitcnt expcnt(0) between them"
	}
	f := Finding{Rule: rule.ID, Thread: c.s.Thread, Access: pos, Addr: int64(in.Addr),
		Detail: fmt.Sprintf("a register is %s by %s before %s %s: %s", how, trim(in.Text), trim(from.Text), verb, text)}
	c.r.Findings = append(c.r.Findings, f)
}
