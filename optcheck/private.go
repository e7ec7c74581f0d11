package optcheck

import (
	"cmp"
	"maps"
	"slices"

	"optcheck/isa"
)

// slot is a word of a thread's private memory (scratch). Its address is base, which is an expression or none, plus
// off; so is the low word of its flat address.
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

// extension says what becomes of a register into which less than a word is loaded.
type extension struct {
	zero bool   // the upper bytes of the register, or of its half, are cleared
	half string // the half, "l" or "h", in which the access finds its bytes; empty for the whole register
}

// private evaluates a load from private memory or a store to it, as if the memory were registers.
func (m *machine) private(i int, in *isa.Inst, addr value, ext extension, guardV value, guardT taint) {
	p := m.tr.pool
	at := slot{base: none}
	switch n := p.nodes[addr]; {
	case n.kind == kConst:
		at.off = int64(int32(n.imm))
	case n.kind == kAdd && n.b == none:
		at.base, at.off = n.a, int64(int32(n.imm))
	default:
		at.base = addr
	}
	words := (in.Mem.Width + 3) / 4
	if in.Role == isa.RoleStore {
		for k := range words {
			c := cell{m.opaque(i, 200+k), m.taintOf(in.Data), 4}
			if k < len(in.Data) {
				c.v, c.t = m.get(in.Data[k]), m.taintOf(in.Data[k:k+1])
			}
			if in.Mem.Width < 4 {
				c.v, c.bytes = m.low(m.half(c.v, ext.half), in.Mem.Width), in.Mem.Width
			}
			m.put(at, c, guardV, guardT)
			at.off += 4
		}
		return
	}
	var out []assign
	for k, d := range in.Defs {
		a := assign{regIndex(d), m.opaque(i, k), 0}
		if c, ok := m.cur.slots[at]; ok {
			a.t = c.t
			if c.bytes == min(in.Mem.Width, 4) && (c.bytes == 4 || ext.zero) {
				a.v = m.halved(m.get(d), c.v, ext.half)
			}
		}
		out = append(out, a)
		at.off += 4
	}
	m.commit(out, guardV, in.Guard.Neg, guardT)
}

// put stores a word in private memory, perhaps under a guard. Whatever else may be there becomes unknown: words that
// share a byte with it, and words at an address that may be the same.
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
			old.v = m.blank()
		}
		if old.v != c.v {
			c.v = m.tr.pool.mk(node{kind: kSel, a: c.v, b: old.v, c: guardV})
		}
		c.t |= old.t | guardT
	}
	m.cur.slots[at] = c
}

// blank returns a word of private memory of which nothing is known. It equals no other value.
func (m *machine) blank() value {
	p := m.tr.pool
	return p.mk(node{kind: kSpecial, imm: p.str("private memory"), a: value(len(p.nodes)), b: none, c: none})
}

// mergeSlots joins private memory where control flow joins: a word becomes one of two values, of which one may be
// unknown.
func (m *machine) mergeSlots(b, p int, st, q *state, j *join) {
	if st.slots == nil && len(q.slots) > 0 {
		st.slots = make(map[slot]cell, len(q.slots))
	}
	for at, o := range q.slots {
		if _, ok := st.slots[at]; !ok {
			st.slots[at] = cell{v: none, bytes: o.bytes}
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(st.slots), slot.compare) {
		c := st.slots[at]
		o, ok := q.slots[at]
		switch {
		case !ok:
			o = cell{v: m.blank(), bytes: c.bytes}
		case c.v == none:
			c.v = m.blank()
		case o.bytes != c.bytes:
			delete(st.slots, at)
			continue
		}
		if c.v != o.v {
			v, ok := m.arch.join(m, c.v, o.v, st, q, j)
			if !ok {
				v = m.phi(phiOf(b, p, m.arch.registers()), c.v, o.v, j)
			}
			c.v = v
		}
		c.t |= o.t
		st.slots[at] = c
	}
}

// compare orders slots.
func (s slot) compare(o slot) int {
	return cmp.Or(cmp.Compare(s.base, o.base), cmp.Compare(s.off, o.off))
}
