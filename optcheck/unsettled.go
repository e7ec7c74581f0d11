package optcheck

import (
	"slices"

	"optcheck/isa"
)

// Unsettled is a register that may hold anything when an instruction reads it, because an instruction that writes it is still in flight
// (package sass/hazard).
type Unsettled struct {
	Addr uint64 // of the instruction
	Reg  isa.Reg
	Left bool // it holds anything behind the instruction, not before
}

// anyContent marks, in the b of a kOpaque, what an unsettled register holds.
const anyContent = 1 << 20

// unsettle gives registers any content while an instruction is evaluated; what it returns puts back what the instruction leaves.
func (m *machine) unsettle(in *isa.Inst) (settle func()) {
	type held struct {
		reg     int
		is, was value
		t       taint
		left    bool
	}
	var list []held
	for _, u := range m.unsettled {
		reg := regIndex(u.Reg)
		if u.Addr != in.Addr || reg < 0 {
			continue
		}
		h := held{reg: reg, left: u.Left, was: m.get(u.Reg), t: m.cur.t[reg]}
		h.is = m.tr.pool.mk(node{kind: kOpaque, a: value(in.Addr >> 4), b: anyContent | value(reg), c: none})
		if !u.Left {
			m.cur.v[reg], m.cur.t[reg] = h.is, 0
		}
		delete(m.chosen, reg)
		list = append(list, h)
	}
	return func() {
		for _, h := range list {
			switch {
			case h.left:
				m.cur.v[h.reg], m.cur.t[h.reg] = h.is, 0
			case !slices.ContainsFunc(in.Defs, func(r isa.Reg) bool { return regIndex(r) == h.reg }):
				m.cur.v[h.reg], m.cur.t[h.reg] = h.was, h.t
			}
		}
	}
}

// settled evaluates an instruction that may use unsettled registers, and finds out whether what they hold may matter in a way that is not a
// value: as an address, as what is stored, as a condition, or in an instruction of which only the operands are known.
func (m *machine) settled(i int, evaluate func()) {
	in := &m.tr.fn.Insts[i]
	settle := m.unsettle(in)
	if in.Flow != isa.FlowNext || len(in.Micro) == 0 || in.Guard != (isa.Guard{}) {
		for _, r := range in.Uses {
			m.tr.wild = m.tr.wild || m.anything(m.get(r))
		}
	}
	evaluate()
	settle()
}

// anything reports whether a value depends on what an unsettled register holds.
func (m *machine) anything(v value) bool {
	p := m.tr.pool
	if v == none {
		return false
	}
	p.visit()
	return p.search(v, func(_ value, n *node) bool { return n.kind == kOpaque && n.b >= anyContent })
}

// leave is told of the end of a block: values that paths join are not followed.
func (m *machine) leave(b int) {
	for _, s := range m.flow.blocks[b].Succs {
		preds := 0
		for k := range m.flow.blocks {
			if slices.Contains(m.flow.blocks[k].Succs, s) {
				preds++
			}
		}
		if preds > 1 {
			m.tr.wild = m.tr.wild || slices.ContainsFunc(m.cur.v, m.anything)
		}
	}
}

// Wild reports whether an unsettled register may decide what is stored, where, or whether; else all that it can take away are dependencies, and
// Lift says what is left of the test.
func (c *Checked) Wild() bool { return c.pass == nil || c.pass.tr.wild }
