package optcheck

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// slot is a word of a thread's private memory (scratch): its address is base,
// an expression or none, plus off.
type slot struct {
	space isa.Space // SpaceLocal, or SpaceGeneric for private memory reached by flat addresses
	base  value
	off   int64
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
		g := m.asBool(m.get(in.Guard.Reg))
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

// laneOf is what a lane of a register was set to, if that is known and the same
// on all paths.
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
		return cell{v: x.v, t: x.t | y.t}, ok && ok2 && x.v == y.v
	}
	return cell{}, false
}

// funLane marks an expression "a with lane imm&63 replaced by b".
const funLane = 1 << 53

// private evaluates an access to private memory: registers in another place.
// It reports whether the access was one.
func (m *machine) private(i int, in *isa.Inst, guardV value, guardT taint) bool {
	space := in.Mem.Space
	if space != isa.SpaceLocal && space != isa.SpaceGeneric || in.Role != isa.RoleLoad && in.Role != isa.RoleStore {
		return false
	}
	v, hi := m.addressWords(in)
	if space == isa.SpaceGeneric && !m.privateBase(v, hi) {
		return false
	}
	p := m.tr.pool
	at := slot{space: space, base: none}
	switch n := p.nodes[v]; {
	case n.kind == kConst:
		at.off = int64(int32(n.imm))
	case n.kind == kAdd && n.b == none:
		at.base, at.off = n.a, int64(int32(n.imm))
	default:
		at.base = v
	}
	words := (in.Mem.Width + 3) / 4
	if in.Role == isa.RoleStore {
		for k := 0; k < words; k++ {
			c := cell{m.opaque(i, 200+k), m.taintOf(in.Data), 4}
			if k < len(in.Data) {
				c.v, c.t = m.get(in.Data[k]), m.taintOf(in.Data[k:k+1])
			}
			if in.Mem.Width < 4 {
				c.v, c.bytes = m.low(c.v, in.Mem.Width), in.Mem.Width
			}
			m.put(at, c, guardV, guardT)
			at.off += 4
		}
		return true
	}
	var out []assign
	for k, d := range in.Defs {
		r := regIndex(d)
		if r < 0 {
			continue
		}
		a := assign{r, m.opaque(i, k), 0}
		if c, ok := m.cur.slots[at]; ok {
			a.t = c.t
			if c.bytes == min(in.Mem.Width, 4) && (c.bytes == 4 || unsignedLoad(in.Op)) {
				a.v = c.v
			}
		}
		out = append(out, a)
		at.off += 4
	}
	m.commit(out, guardV, in.Guard.Neg, guardT)
	return true
}

// low is a value's lowest bytes.
func (m *machine) low(v value, bytes int) value {
	mask := m.tr.pool.constant(1<<(8*bytes) - 1)
	if x, ok := m.distribute(lutAnd, [4]value{v, mask, none, none}); ok {
		return x
	}
	return m.tr.pool.bits(lutAnd, v, mask, none)
}

// unsignedLoad tells loads that clear the upper bytes: buffer_load_ubyte,
// scratch_load_u8.
func unsignedLoad(op string) bool {
	return strings.HasSuffix(op, "_ubyte") || strings.HasSuffix(op, "_ushort") || strings.HasSuffix(op, "_u8") || strings.HasSuffix(op, "_u16")
}

// put stores a word in private memory, perhaps under a guard.
func (m *machine) put(at slot, c cell, guardV value, guardT taint) {
	if m.cur.slots == nil {
		m.cur.slots = map[slot]cell{}
	}
	if guardV != none {
		old, ok := m.cur.slots[at]
		if !ok {
			old.v = m.tr.pool.mk(node{kind: kSpecial, imm: m.tr.pool.str("private memory"), a: value(len(m.cur.slots)), b: none, c: none})
		}
		if old.v != c.v {
			c.v = m.tr.pool.mk(node{kind: kSel, a: c.v, b: old.v, c: guardV})
		}
		c.t |= old.t | guardT
	}
	m.cur.slots[at] = c
}

// privateBase reports whether an address is in the private aperture of flat
// addresses: its upper word is src_private_base, or, where the hardware has no
// such register (gfx8), hidden_private_base behind the kernel's arguments or
// private_segment_aperture_base_hi of the queue. No pointer of the test has a
// constant lower word.
func (m *machine) privateBase(lo, hi value) bool {
	p := m.tr.pool
	if hi < 0 {
		return false
	}
	n := p.nodes[hi]
	_, fixed := p.isConst(lo)
	switch n.kind {
	case kSpecial:
		return n.imm < uint64(len(p.names)) && strings.Contains(p.names[n.imm], "private_base")
	case kParam: // at a multiple of 8 behind the arguments; hidden_shared_base follows
		return fixed && n.imm%8 == 0
	case kBank:
		return fixed && n.imm == isa.ConstQueue<<32|0x44
	}
	return false
}

// mergeSlots joins private memory where control flow joins: what both sides do
// not agree on is one of two values, what one side does not have is unknown.
func (m *machine) mergeSlots(b int, st, q *state) {
	for at, c := range st.slots {
		o, ok := q.slots[at]
		if !ok {
			delete(st.slots, at)
			continue
		}
		if c.v != o.v {
			v, ok := m.maskedJoin(c.v, o.v, st, q)
			if !ok {
				v = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(regCountAMD), a: c.v, b: o.v, c: none})
			}
			c.v = v
		}
		c.t |= o.t
		st.slots[at] = c
	}
}

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

// addressWords evaluates the address of an access (see amdisa for the form of its
// operand): the low word, and the upper one if the address has two words, else
// none. Offsets of 32 bits reach the upper word only by a carry, which is left
// out.
func (m *machine) addressWords(in *isa.Inst) (lo, hi value) {
	p := m.tr.pool
	for k := range in.Args {
		o := &in.Args[k]
		if o.Kind != isa.OpdMem {
			continue
		}
		lo, hi = p.constant(uint32(o.Off)), none
		add := func(r isa.Reg, pair bool) {
			if r.Class == isa.ClassNone {
				return
			}
			lo = p.add(lo, m.get(r))
			if !pair {
				return
			}
			switch h := m.get(isa.Reg{Class: r.Class, Num: r.Num + 1}); {
			case hi == none:
				hi = h
			default:
				hi = p.add(hi, h)
			}
		}
		// A scratch descriptor is where the wave's memory is, and one that the
		// launch provides covers all of memory.
		if in.Mem.Space != isa.SpaceLocal && !m.initial(o.Desc) {
			add(o.Desc, true)
		}
		if !o.Zero {
			add(o.Reg, o.Words == 2 || o.Part == "addr64")
		}
		if o.Part == "dword" { // TeraScale's memory writes take an index of words
			lo = m.bytes(lo, 0)
		}
		add(o.Base2, o.Desc.Class == isa.ClassNone && !in.Mem.Scalar && slices.Contains(in.Addrs, isa.Reg{Class: o.Base2.Class, Num: o.Base2.Num + 1}))
		return lo, hi
	}
	return none, none
}

// initial reports whether a register still holds what the launch put there.
func (m *machine) initial(r isa.Reg) bool {
	if r.Class == isa.ClassNone {
		return false
	}
	n := m.tr.pool.nodes[m.get(r)]
	return n.kind == kSpecial && n.imm >= 1<<40
}

// bytes is the byte address of which a value is the index of the word: compilers
// shift it right.
func (m *machine) bytes(v value, depth int) value {
	p := m.tr.pool
	n := p.nodes[v]
	two, _ := p.isConst(n.b)
	switch {
	case n.kind == kConst:
		return p.constant(uint32(n.imm) * 4)
	case n.kind == kAdd && n.b == none:
		return p.addConst(m.bytes(n.a, depth+1), uint32(n.imm)*4)
	case n.kind == kAdd && depth < maxDepth:
		return p.add(m.bytes(n.a, depth+1), m.bytes(n.b, depth+1))
	case n.kind == kFun && n.imm == uint64(isa.MicroShr)<<8 && n.b >= 0 && two == 2:
		return n.a
	}
	return m.shl(v, p.constant(2))
}

// addressAMD evaluates the address of an access.
func (m *machine) addressAMD(in *isa.Inst) (value, key) {
	lo, hi := m.addressWords(in)
	if lo == none {
		return none, key{}
	}
	k := m.normalise(lo, in.Mem.Space)
	if hi != none && !m.upper(k, hi) {
		k.base = baseUnknown // the halves do not belong together
	}
	return lo, k
}
