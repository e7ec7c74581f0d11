package optcheck

import (
	"optcheck/isa"
	"optcheck/spec"
)

// affine is a word of the form (leaf and mask) xor k.
type affine struct {
	leaf value
	mask uint32
	k    uint32
}

// affineOf brings a value into that form. Compilers know which bits of a masked value can be set and combine
// constants across operations: if the test stores (r and 0x80000000) plus 1 and its marker is that xor LIT, the code
// computes x or 1 and x or LIT'.
func (p *valuePool) affineOf(v value, depth int) affine {
	whole := affine{v, ^uint32(0), 0}
	if v == none || depth > maxDepth {
		return whole
	}
	n := p.nodes[v]
	switch {
	case n.kind == kConst:
		return affine{none, 0, uint32(n.imm)}
	case n.kind == kAdd && n.b == none:
		a := p.affineOf(n.a, depth+1)
		c := uint32(n.imm)
		switch {
		case a.mask&^0x80000000 == 0: // adding to the highest bit is inverting it
			a.k += c
			return a
		case (a.mask|a.k)&c == 0:
			a.k |= c
			return a
		}
	case n.kind == kBits && n.c == none:
		x, c, ok := n.a, uint32(0), false
		lut := uint8(n.imm)
		if n.b == none {
			ok = true // a function of one input: the input or its inverse
		} else if k, isC := p.isConst(n.b); isC {
			c, ok = k, true
		} else if k, isC := p.isConst(n.a); isC {
			x, c, ok = n.b, k, true
			lut = reorder(lut, []int{1, 0})
		}
		if !ok {
			return whole
		}
		a := p.affineOf(x, depth+1)
		return a.apply(lut, c)
	}
	return whole
}

// apply computes the bitwise function lut of an affine word and a constant.
func (a affine) apply(lut uint8, c uint32) affine {
	at := func(x, k uint) bool { return lut>>(x<<2|k<<1)&1 != 0 }
	var out affine
	out.leaf = a.leaf
	for bit := range uint(32) {
		k := uint(c >> bit & 1)
		lo, hi := at(0, k), at(1, k)
		base, flips := a.k>>bit&1 != 0, a.mask>>bit&1 != 0
		if lo == hi { // the bit of x does not matter
			flips = false
			base = lo
		} else if hi {
			// the bit itself
		} else {
			base = !base
		}
		if flips {
			out.mask |= 1 << bit
		}
		if base {
			out.k |= 1 << bit
		}
	}
	if out.mask == 0 {
		out.leaf = none
	}
	return out
}

// disguised finds markers whose xor the compiler merged into the computation of the marked value: words stored
// through a parameter that differ from a word stored elsewhere by exactly a marker's literal, whatever the unknown
// bits are.
func (m *machine) disguised() {
	tr, p := m.tr, m.tr.pool
	results := map[int64]bool{} // parameters through which results are kept
	for i := range tr.events {
		if x := &tr.events[i]; x.result {
			results[x.addr.num] = true
		}
	}
	for i := range tr.events {
		x := &tr.events[i]
		if x.role != isa.RoleStore || x.addr.base != baseParam || x.result || !results[x.addr.num] || len(x.data) != 1 {
			continue
		}
		v := p.affineOf(x.data[0], 0)
		if v.leaf == none {
			continue
		}
		for j := range tr.events {
			y := &tr.events[j]
			if !writes(y.role) || y.addr.base == baseParam && results[y.addr.num] {
				continue
			}
			for _, d := range y.data {
				if w := p.affineOf(d, 0); w.leaf != v.leaf || w.mask != v.mask {
					continue
				} else if mk, ok := spec.DecodeLiteral(v.k ^ w.k); ok && !x.result {
					tr.markers = append(tr.markers, marker{m: mk, oper: d, t: x.dataT, inst: x.inst})
					x.result = true
				}
			}
		}
	}
}
