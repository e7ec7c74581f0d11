package optcheck

import "optcheck/isa"

// slot is a word of a thread's private memory (scratch): its address is base,
// an expression or none, plus off. The lower word of a flat address is the same.
type slot struct {
	base value
	off  int64
}

// cell is what a slot holds: a word, or the low bytes of one.
type cell struct {
	v     value
	t     taint
	bytes int
}

// isWordReg reports whether a register holds a word of data, as a load may
// write it.
func isWordReg(r isa.Reg) bool {
	switch r.Class {
	case isa.ClassGPR, isa.ClassUGPR, isa.ClassAcc:
		return true
	case isa.ClassSpecial: // AMD code loads into VCC
		return r.Num == isa.SpecVCCLo || r.Num == isa.SpecVCCHi
	}
	return false
}

// launch sets what a kernel finds at its entry: on AMD all lanes that the
// launch asked for are active.
func (m *machine) launch(st *state) {
	if m.abi.amd == nil {
		return
	}
	all := m.tr.pool.constant(^uint32(0))
	st.v[regIndex(isa.RegExec)] = all
	st.v[regIndex(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecExecHi})] = all
	st.slots = map[slot]cell{}
}

// stepAMD evaluates one instruction of AMD code. Its guard is EXEC, or for
// branches the mask that is tested; a guard that is known counts as none.
func (m *machine) stepAMD(i int, in *isa.Inst) {
	guardV, guardT := none, taint(0)
	neg := in.Guard.Neg
	if in.Guard.Reg.Class != isa.ClassNone {
		g := m.maskBit(m.get(in.Guard.Reg))
		if in.Flow != isa.FlowNext {
			g = m.asBool(m.get(in.Guard.Reg))
		}
		if c, ok := m.tr.pool.isConst(g); !ok {
			guardV, guardT = g, m.cur.t[regIndex(in.Guard.Reg)]
		} else if (c != 0) == neg && in.Flow == isa.FlowNext {
			return // masked off
		}
	}
	m.guardV, m.guardNeg = guardV, neg
	defer func() { m.guardV = none }()
	if in.Flow == isa.FlowIndirect && len(in.Targets) == 0 {
		m.tr.indirect = true
	}
	if in.Flow == isa.FlowCall {
		m.tr.calls = append(m.tr.calls, i)
	}
	if in.Flow != isa.FlowNext && in.Guard.Reg.Class != isa.ClassNone {
		m.preds[m.block] = sense{m.asBool(m.get(in.Guard.Reg)), !neg}
	}
	if in.Role.IsAccess() && m.private(i, in, guardV, guardT) {
		return
	}
	ev := -1
	switch in.Role {
	case isa.RoleLoad, isa.RoleStore, isa.RoleAtomic, isa.RoleReduction, isa.RoleCopy, isa.RoleFence, isa.RoleBarrier, isa.RoleCache:
		ev = m.event(i, in)
	}
	if m.lane(i, in) {
		return
	}
	m.define(i, in, ev, guardV, guardT)
}

// decided reports whether a condition is known to hold, so that it decides
// nothing.
func (m *machine) decided(s sense) bool {
	if m.abi.amd == nil {
		return false
	}
	c, ok := m.tr.pool.isConst(s.pred)
	return ok && (c != 0) == s.want
}

// lane evaluates writes and reads of single lanes of a vector register, which
// compilers use to keep scalar registers: v_writelane_b32 v16, s4, 2.
func (m *machine) lane(i int, in *isa.Inst) bool {
	p := m.tr.pool
	write := in.Op == "v_writelane_b32"
	if !write && in.Op != "v_readlane_b32" || len(in.Defs) != 1 || len(in.Args) != 3 {
		return false
	}
	n, _ := m.operand(in.Args[2])
	k, isC := p.isConst(n)
	if !isC {
		return false
	}
	d := regIndex(in.Defs[0])
	if write {
		v, t := m.operand(in.Args[1])
		old := m.cur.v[d]
		if old == none {
			old = m.get(in.Defs[0])
		}
		w := p.mk(node{kind: kFun, imm: funLane | uint64(k&63), a: old, b: v, c: none})
		if m.laneT == nil {
			m.laneT = map[value]taint{}
		}
		m.laneT[w] |= t
		m.cur.v[d] = w
		m.cur.t[d] |= t
		return true
	}
	v, _ := m.operand(in.Args[1])
	w, ok := m.laneOf(v, uint64(k&63), 0)
	if !ok {
		return false // a lane of other data: v_readlane_b32 reads what all lanes agree on
	}
	m.cur.v[d], m.cur.t[d] = w.v, w.t
	return true
}

// laneOf is what a lane of a register was set to, if that is known on all paths.
// Where control flow joins, it is one of two values as any register is. Where a mask
// decides, both must agree: the mask says which of the two a lane has, and this lane
// is another one than that for which the kernel is evaluated.
func (m *machine) laneOf(v value, lane uint64, depth int) (cell, bool) {
	if v < 0 || depth > maxDepth {
		return cell{}, false
	}
	n := m.tr.pool.nodes[v]
	switch {
	case n.kind == kFun && n.imm == funLane|lane:
		return cell{v: n.b, t: m.laneT[v]}, true
	case n.kind == kFun && n.imm&^63 == funLane:
		return m.laneOf(n.a, lane, depth+1)
	case n.kind == kPhi || n.kind == kSel:
		x, ok := m.laneOf(n.a, lane, depth+1)
		y, ok2 := m.laneOf(n.b, lane, depth+1)
		if !ok || !ok2 {
			return cell{}, false
		}
		w := cell{v: x.v, t: x.t | y.t}
		if x.v == y.v {
			return w, true
		}
		if n.kind == kPhi {
			w.v = m.joined(n.imm, x.v, y.v, v)
		}
		return w, n.kind == kPhi
	}
	return cell{}, false
}

// joined is the value of a register at the join at (block and register), which is a
// or b, and like is another one that this join merges.
func (m *machine) joined(at uint64, a, b, like value) value {
	v := m.tr.pool.mk(node{kind: kPhi, imm: at, a: a, b: b, c: none})
	if j, ok := m.tr.joins[like]; ok {
		m.tr.joins[v] = j
	}
	return v
}

// funLane marks an expression "a with lane imm&63 replaced by b".
const funLane = 1 << 53

// maskedJoin is the value of a register (or slot) behind two paths of AMD code
// of which one skips what no lane is active for: on one side stands a selection by
// EXEC, on the other the old value, and the selection is right for both.
func (m *machine) maskedJoin(x, y value, st, q *state) (value, bool) {
	if m.abi.amd == nil || x < 0 || y < 0 {
		return none, false
	}
	e := regIndex(isa.RegExec)
	for _, s := range [2][2]value{{x, y}, {y, x}} {
		n := m.tr.pool.nodes[s[0]]
		if n.kind == kSel && n.b == s[1] && m.implied(st.v[e], n.c) && m.implied(q.v[e], n.c) {
			return s[0], true
		}
	}
	return none, false
}

// underMask is what a value is for a lane that the mask in force leaves active: a
// selection made under the same mask or a wider one is the selected value.
func (m *machine) underMask(v value) value {
	p := m.tr.pool
	for m.guardV != none && !m.guardNeg && v >= 0 && p.nodes[v].kind == kSel {
		switch n := p.nodes[v]; {
		case p.implies(m.guardV, n.c):
			v = n.a
		case p.implies(m.guardV, p.flat(^uint8(lutA), n.c, none, none)):
			v = n.b
		default:
			return v
		}
	}
	return v
}

// implied reports whether EXEC being exec means that cond is the mask in force:
// both are the same, or exec is part of cond.
func (m *machine) implied(exec, cond value) bool {
	return exec == cond || exec >= 0 && m.tr.pool.implies(exec, cond)
}

// implies reports whether predicate a can be true only if b is.
func (p *valuePool) implies(a, b value) bool {
	if a == b {
		return true
	}
	n := p.nodes[a]
	if n.kind != kBits {
		return false
	}
	for i, x := range []value{n.a, n.b, n.c} {
		if x != none && restrict(uint8(n.imm), i, false) == 0 && p.implies(x, b) {
			return true
		}
	}
	// Both may be functions of the same inputs.
	if f := p.flat(lutAnd, a, p.bits(^uint8(lutA), b, none, none), none); p.nodes[f].kind == kConst && p.nodes[f].imm == 0 {
		return true
	}
	return false
}
