package optcheck

import "slices"

// flat is bits for predicates and lane masks. It merges nested functions with at most three inputs in total into one,
// so that equal masks become equal values.
func (p *valuePool) flat(lut uint8, a, b, c2 value) value {
	in := [3]value{a, b, c2}
	var leaves []value
	for _, v := range in {
		if v == none {
			continue
		}
		if n := p.nodes[v]; n.kind == kBits && p.isBool(v) {
			for _, x := range []value{n.a, n.b, n.c} {
				leaves = appendLeaf(leaves, x)
			}
			continue
		}
		if _, ok := p.isConst(v); !ok {
			leaves = appendLeaf(leaves, v)
		}
	}
	nested := false
	for _, v := range in {
		if c, ok := p.isConst(v); ok && c != 0 && c != ^uint32(0) {
			return p.bits(lut, a, b, c2)
		}
		nested = nested || v != none && p.nodes[v].kind == kBits && p.isBool(v)
	}
	slices.Sort(leaves)
	if !nested || len(leaves) > 3 {
		return p.bits(lut, a, b, c2)
	}
	var table uint8
	for idx := range uint(8) {
		at := func(v value) bool {
			for k, l := range leaves {
				if l == v {
					return idx>>uint(2-k)&1 != 0
				}
			}
			return false
		}
		var bitsOf [3]uint
		for i, v := range in {
			if v != none && p.boolAt(v, at) {
				bitsOf[i] = 1
			}
		}
		if lut>>(bitsOf[0]<<2|bitsOf[1]<<1|bitsOf[2])&1 != 0 {
			table |= 1 << idx
		}
	}
	leaves = append(leaves, none, none, none)
	return p.bits(table, leaves[0], leaves[1], leaves[2])
}

func appendLeaf(l []value, v value) []value {
	if v == none {
		return l
	}
	for _, x := range l {
		if x == v {
			return l
		}
	}
	return append(l, v)
}

// boolAt evaluates an input of flat for truth values of its leaves.
func (p *valuePool) boolAt(v value, at func(value) bool) bool {
	n := p.nodes[v]
	if n.kind == kConst {
		return n.imm != 0
	}
	if n.kind != kBits || !p.isBool(v) {
		return at(v)
	}
	idx := 0
	for _, x := range []value{n.a, n.b, n.c} {
		idx <<= 1
		if x != none && at(x) {
			idx |= 1
		}
	}
	return n.imm>>idx&1 != 0
}
