package optcheck

import "optcheck/isa"

// lane evaluates writes and reads of single lanes of a vector register, which compilers use to save scalar registers:
// v_writelane_b32 v16, s4, 2.
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
	w, ok := m.laneOf(v, uint64(k&63))
	if !ok {
		return false // a lane of other data: v_readlane_b32 reads a value that all lanes agree on
	}
	m.cur.v[d], m.cur.t[d] = w.v, w.t
	return true
}

// laneOf is what a lane of a register was set to, if that is known on all paths.
// Where control flow joins, it is one of two values as any register is. Where a mask
// decides, both must agree: the mask says which of the two a lane has, and this lane
// is another one than that for which the kernel is evaluated.
func (m *machine) laneOf(v value, lane uint64) (cell, bool) {
	known := map[value]*cell{} // nil: not known
	var of func(v value) *cell
	of = func(v value) *cell {
		for v != none && m.tr.pool.nodes[v].kind == kFun && m.tr.pool.nodes[v].imm&^63 == funLane {
			n := m.tr.pool.nodes[v]
			if n.imm == funLane|lane {
				return &cell{v: n.b, t: m.laneT[v]}
			}
			v = n.a
		}
		if v == none || m.tr.pool.nodes[v].kind != kPhi && m.tr.pool.nodes[v].kind != kSel {
			return nil
		}
		if c, ok := known[v]; ok {
			return c
		}
		known[v] = nil
		n := m.tr.pool.nodes[v]
		if x, y := of(n.a), of(n.b); x != nil && y != nil {
			known[v] = m.eitherLane(v, *x, *y)
		}
		return known[v]
	}
	c := of(v)
	if c == nil {
		return cell{}, false
	}
	return *c, true
}

// eitherLane is a lane that is x or y where control flow joins to v, nil if it must be
// one and is not.
func (m *machine) eitherLane(v value, x, y cell) *cell {
	w := cell{v: x.v, t: x.t | y.t}
	if x.v == y.v {
		return &w
	}
	if m.tr.pool.nodes[v].kind != kPhi {
		return nil
	}
	var way *join
	if j, ok := m.tr.joins[v]; ok {
		way = &j
	}
	w.v = m.phi(m.tr.pool.nodes[v].imm, x.v, y.v, way)
	return &w
}

// funLane marks an expression "a with lane imm&63 replaced by b".
const funLane = 1 << 53

// implied reports whether, when EXEC is exec, the mask in force is cond: the two are the same, or exec is a subset of
// cond.
func (m *machine) implied(exec, cond value) bool {
	return exec == cond || exec != none && m.tr.pool.implies(exec, cond)
}

// implies reports whether predicate a is true only if b is.
func (p *valuePool) implies(a, b value) bool {
	p.visit()
	return p.narrows(a, b)
}

func (p *valuePool) narrows(a, b value) bool {
	if a == b {
		return true
	}
	n := p.nodes[a]
	if n.kind != kBits || !p.first(a) {
		return false
	}
	for i, x := range []value{n.a, n.b, n.c} {
		if x != none && restrict(uint8(n.imm), i, false) == 0 && p.narrows(x, b) {
			return true
		}
	}
	// Both may be functions of the same inputs.
	f, isC := p.isConst(p.flat(lutAnd, a, p.bits(^uint8(lutA), b, none, none), none))
	return isC && f == 0
}
