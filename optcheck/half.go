package optcheck

import (
	"slices"

	"optcheck/isa"
)

// lutMerge takes the bits of b where c is set, else those of a.
const lutMerge = lutA&^lutC | lutB&lutC

// half returns half of a register as a word, or for a part that is neither "l" nor "h" all of it.
func (m *machine) half(v value, part string) value {
	p := m.tr.pool
	switch part {
	case "l":
		return m.low(v, 2)
	case "h":
		n := p.nodes[p.decided(v, 0xffff0000)]
		switch {
		case n.kind == kConst:
			return p.constant(uint32(n.imm) >> 16)
		case n.kind == kFun && n.imm == uint64(isa.MicroShl)<<8:
			if n.b == p.constant(16) {
				return m.low(n.a, 2)
			}
		}
		return p.mk(node{kind: kFun, imm: uint64(isa.MicroShr) << 8, a: v, b: p.constant(16), c: none})
	}
	return v
}

// halved returns a register of which half is replaced by the low half of v, or for a part that is neither v.
func (m *machine) halved(old, v value, part string) value {
	p := m.tr.pool
	switch part {
	case "l":
		return p.bits(lutMerge, old, v, p.constant(0xffff))
	case "h":
		return p.bits(lutMerge, old, m.shl(v, p.constant(16)), p.constant(0xffff0000))
	}
	return v
}

// low returns the lowest bytes of a value.
func (m *machine) low(v value, bytes int) value {
	mask := uint32(1<<(8*bytes) - 1)
	v = m.tr.pool.decided(v, mask)
	src := operands{v, m.tr.pool.constant(mask), none, none, none}
	if x, ok := m.distribute(lutAnd, src); ok {
		return x
	}
	return m.tr.pool.bits(lutAnd, src[0], src[1], none)
}

// decided returns a value that has the same bits as v where mask is set, without the constants that decide there.
func (p *valuePool) decided(v value, mask uint32) value {
	for n := p.nodes[v]; n.kind == kBits; n = p.nodes[v] {
		in, lut, known := [3]value{n.a, n.b, n.c}, uint8(n.imm), false
		for i, x := range in {
			if k, ok := p.isConst(x); ok && (k&mask == 0 || k&mask == mask) {
				lut, in[i], known = restrict(lut, i, k&mask != 0), none, true
			}
		}
		if !known {
			return v
		}
		v = p.bits(lut, in[0], in[1], in[2])
	}
	return v
}

// cut returns what an access of less than a word moves of a value.
func (p *valuePool) cut(v value, bytes int) value {
	if bytes <= 0 || bytes >= 4 {
		return v
	}
	mask := uint32(1<<(8*bytes) - 1)
	return p.bits(lutAnd, p.decided(v, mask), p.constant(mask), none)
}

// unmasked simplifies a value that is masked to a byte or half a word: to what was put there, or to a narrow load, which
// has cleared the rest.
func (m *machine) unmasked(v value) value {
	p := m.tr.pool
	n := p.nodes[v]
	if n.kind != kBits || uint8(n.imm) != lutAnd {
		return v
	}
	for _, x := range [2][2]value{{n.a, n.b}, {n.b, n.a}} {
		mask, _ := p.isConst(x[1])
		if mask != 0xff && mask != 0xffff {
			continue
		}
		of := p.decided(x[0], mask)
		if read := p.nodes[of]; read.kind == kLoad {
			if all, ok := m.tr.zeroExtended(int(read.a)); ok && mask&all == all {
				return of
			}
		}
		return p.bits(lutAnd, of, x[1], none)
	}
	return v
}

// zeroExtended returns the mask of the bits that a narrow load sets, if it clears all others.
func (tr *trace) zeroExtended(read int) (mask uint32, ok bool) {
	x := &tr.events[tr.reads[read]]
	mods := tr.fn.Insts[x.inst].Mods
	if x.role != isa.RoleLoad || !slices.Contains(mods, "U8") && !slices.Contains(mods, "U16") {
		return 0, false
	}
	return 1<<(8*x.mem.Width) - 1, true
}
