package optcheck

import (
	"slices"

	"optcheck/isa"
)

// step evaluates one instruction.
func (m *machine) step(i int) {
	in := &m.tr.fn.Insts[i]
	if in.Guard.Never {
		return
	}
	if in.Role == isa.RoleUnknown {
		m.tr.unknown = append(m.tr.unknown, i)
	}
	if m.arch.effect(in) && !m.stackCheck(in) {
		m.tr.effects = append(m.tr.effects, i)
	}
	guard, guardT, off := m.arch.guard(m, in)
	if off {
		return
	}
	m.guardV, m.guardNeg = guard, in.Guard.Neg
	m.perform(i, in, guard, guardT)
	m.guardV = none
}

// perform evaluates an instruction under its guard.
func (m *machine) perform(i int, in *isa.Inst, guard value, guardT taint) {
	if m.tr.guards != nil {
		m.decides(i, in, guard)
	}
	if in.Flow == isa.FlowIndirect && len(in.Targets) == 0 {
		m.tr.indirect = true
	}
	if in.Flow == isa.FlowCall {
		m.tr.calls = append(m.tr.calls, i)
	}
	if in.Flow != isa.FlowNext {
		m.returns(in)
		m.arch.branch(m, in, guard)
	}
	if m.arch.instruction(m, i, in, guard, guardT) {
		return
	}
	if two := twoAddresses(in); two != nil {
		first, second := m.event(i, &two[0]), m.event(i, &two[1])
		m.define(i, &two[0], first, guard, guardT)
		m.define(i, &two[1], second, guard, guardT)
		return
	}
	ev := -1
	switch in.Role {
	case isa.RoleLoad, isa.RoleStore, isa.RoleAtomic, isa.RoleReduction, isa.RoleCopy, isa.RoleFence, isa.RoleBarrier, isa.RoleCache:
		ev = m.event(i, in)
	}
	m.define(i, in, ev, guard, guardT)
}

// twoAddresses returns the two accesses of an instruction that has two addresses (AMD's ds_read2_b32 and ds_write2_b32),
// nil for any other.
func twoAddresses(in *isa.Inst) []isa.Inst {
	var at []int
	for k := range in.Args {
		if in.Args[k].Kind == isa.OpdMem {
			at = append(at, k)
		}
	}
	if len(at) != 2 || in.Role != isa.RoleLoad && in.Role != isa.RoleStore && in.Role != isa.RoleAtomic {
		return nil
	}
	out := []isa.Inst{*in, *in}
	for k := range out {
		half := &out[k]
		half.Args = []isa.Operand{in.Args[at[k]]}
		half.Mem.Width /= 2
		half.Defs = in.Defs[k*len(in.Defs)/2 : (k+1)*len(in.Defs)/2]
		half.Data = in.Data[k*len(in.Data)/2 : (k+1)*len(in.Data)/2]
	}
	return out
}

// stackCheck reports whether a trap is taken only if the stack is too small: its condition consists only of words of
// constant banks that are no parameters.
func (m *machine) stackCheck(in *isa.Inst) bool {
	p := m.tr.pool
	if in.Flow != isa.FlowTrap || len(m.when) == 0 {
		return false
	}
	return !slices.ContainsFunc(m.when, func(s sense) bool {
		return p.contains(s.pred, kLoad) || p.contains(s.pred, kParam) || p.contains(s.pred, kOpaque) ||
			!p.contains(s.pred, kBank)
	})
}

type assign struct {
	reg int
	v   value
	t   taint
}

// define computes and stores all definitions of an instruction.
func (m *machine) define(i int, in *isa.Inst, ev int, guardV value, guardT taint) {
	var buf [8]assign
	out := buf[:0]
	covered := func(r int) bool {
		for _, a := range out {
			if a.reg == r {
				return true
			}
		}
		return false
	}
	for k := range in.Micro {
		mi := &in.Micro[k]
		r := regIndex(mi.Dst)
		if r < 0 {
			continue
		}
		v, t := m.micro(i, k, mi)
		out = append(out, assign{r, v, t})
		m.findMarker(i, v, t)
	}
	var useT taint
	useKnown := false
	word := value(0)
	for k, d := range in.Defs {
		r := regIndex(d)
		if covered(r) {
			continue
		}
		if ev >= 0 && m.tr.events[ev].read >= 0 {
			rd := m.tr.events[ev].read
			a := assign{reg: r, t: 1 << uint(rd)}
			if isWordReg(d) {
				a.v = m.tr.pool.mk(node{kind: kLoad, a: value(rd), b: word, c: none})
				word++
			} else {
				a.v = m.opaque(i, k)
			}
			out = append(out, a)
			continue
		}
		if !useKnown {
			useT, useKnown = m.taintOf(in.Uses), true
		}
		out = append(out, assign{r, m.opaque(i, k), useT})
	}
	m.commit(out, guardV, in.Guard.Neg, guardT)
}

// commit stores the definitions of an instruction, under its guard if it has one.
func (m *machine) commit(out []assign, guardV value, neg bool, guardT taint) {
	for _, a := range out {
		if guardV != none {
			if m.chosen != nil {
				m.chosen[a.reg] = chosen{guardV, neg, a.t | guardT}
			}
			a.v = m.selected(a, guardV, neg)
			a.t |= m.cur.t[a.reg] | guardT
		} else {
			delete(m.chosen, a.reg)
		}
		m.cur.v[a.reg], m.cur.t[a.reg] = a.v, a.t
	}
}

// selected returns the value of a register after a definition under a predicate.
func (m *machine) selected(a assign, guard value, neg bool) value {
	p := m.tr.pool
	m.guardV = none // the register's own content, not what a guard selects
	old := m.get(regOf(a.reg))
	m.guardV = guard
	if n := p.nodes[old]; n.kind == kSel && n.c == guard {
		// If the definition does not happen, the predicate has its other value.
		old = n.b
		if neg {
			old = n.a
		}
	}
	if old == a.v {
		return old
	}
	if neg {
		return p.mk(node{kind: kSel, a: old, b: a.v, c: guard})
	}
	return p.mk(node{kind: kSel, a: a.v, b: old, c: guard})
}

// opaque returns a definition of which only the sources are known; c lists them.
func (m *machine) opaque(inst, def int) value {
	p := m.tr.pool
	src := none
	in := &m.tr.fn.Insts[inst]
	if in.Role == isa.RoleALU {
		for i := range in.Args {
			if o := &in.Args[i]; o.Kind == isa.OpdReg && !o.Zero && slices.Contains(in.Uses, o.Reg) || o.Kind == isa.OpdConst {
				w := *o
				w.Words = 1
				v, _ := m.operand(w)
				src = p.mk(node{kind: kFun, imm: funPair, a: v, b: src, c: none})
			}
		}
	}
	return p.mk(node{kind: kOpaque, a: value(inst), b: value(def), c: src})
}
