package optcheck

import (
	"strings"

	"optcheck/isa"
)

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
	at := slot{base: none}
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

// put stores a word in private memory, perhaps under a guard. What else may be there
// is not known any more: words that share a byte with it, and words at an address
// that may be the same.
func (m *machine) put(at slot, c cell, guardV value, guardT taint) {
	if m.cur.slots == nil {
		m.cur.slots = map[slot]cell{}
	}
	for o, old := range m.cur.slots {
		if o != at && (o.base != at.base || o.off < at.off+int64(c.bytes) && at.off < o.off+int64(old.bytes)) {
			delete(m.cur.slots, o)
		}
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
func (m *machine) mergeSlots(b int, st, q *state, j *join) {
	for at, c := range st.slots {
		o, ok := q.slots[at]
		if !ok || o.bytes != c.bytes {
			delete(st.slots, at)
			continue
		}
		if c.v != o.v {
			v, ok := m.maskedJoin(c.v, o.v, st, q)
			if !ok {
				v = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(regCountAMD), a: c.v, b: o.v, c: none})
				if j != nil {
					m.tr.joins[v] = *j
				}
			}
			c.v = v
		}
		c.t |= o.t
		st.slots[at] = c
	}
}
