package optcheck

import (
	"strings"

	"optcheck/isa"
)

// micro evaluates what AMD code needs beyond the general evaluation: lane masks are words that compilers compare,
// select and combine.
func (*amd) micro(m *machine, inst, k int, mi *isa.Micro, src operands) (value, bool) {
	p := m.tr.pool
	switch {
	case mi.Op == isa.MicroSetpWide:
		return m.opaque(inst, 100+k), true
	case len(mi.Src) > maxOperands:
		return none, false
	}
	switch mi.Op {
	case isa.MicroMov:
		if o := &mi.Src[0]; o.Kind == isa.OpdSym && o.Part == "lo" && o.Off != 0 {
			return m.relocated(inst, o, src[0]), true
		}
	case isa.MicroLop3:
		if v, ok := m.distribute(mi.LUT, src); ok {
			return v, true
		}
		v := p.flat(mi.LUT, src[0], src[1], src[2])
		m.foldedMarker(inst, mi, src, v)
		return v, true
	case isa.MicroPlop:
		return p.flat(mi.LUT, m.laneBit(mi, src, 0), m.laneBit(mi, src, 1), m.laneBit(mi, src, 2)), true
	case isa.MicroSel:
		return m.choose(src[0], src[1], m.laneBit(mi, src, 2)), true
	case isa.MicroSetp:
		if src[3] != none {
			return none, false
		}
		return m.setp(mi, m.relation(mi.Cmp, mi.Signed, src[0], src[1]), m.laneBit(mi, src, 2))
	case isa.MicroFirst:
		return src[0], true
	case isa.MicroLaneBits:
		if all := p.truth(true); src[0] == all && (src[1] == none || src[1] == all) {
			return p.mk(node{kind: kSpecial, imm: p.str("lanes"), a: none, b: none, c: none}), true
		}
	case isa.MicroLaneCount:
		if src[0] == p.truth(true) && p.isLaneNumber(src[1]) {
			return p.mk(node{kind: kSpecial, imm: p.str("lane" + mi.Sym), a: none, b: none, c: none}), true
		}
	case isa.MicroAddHi:
		return m.carryless(mi, src)
	case isa.MicroCarry:
		return m.carry(mi, src)
	}
	return none, false
}

// isLaneNumber reports whether a value is zero or a count of the lanes below this one.
func (p *valuePool) isLaneNumber(v value) bool {
	if c, ok := p.isConst(v); ok {
		return c == 0
	}
	return strings.HasPrefix(p.nameOf(&p.nodes[v]), "lane")
}

// nameOf is the name of a special value, "" for what has none.
func (p *valuePool) nameOf(n *node) string {
	if n.kind != kSpecial || n.imm >= unwritten {
		return ""
	}
	return p.names[n.imm]
}

// setp combines the result of a comparison with a further predicate (EXEC).
func (m *machine) setp(mi *isa.Micro, cmp, with value) (value, bool) {
	if with == none {
		return cmp, true
	}
	switch mi.Bool {
	case "AND":
		return m.tr.pool.flat(lutAnd, cmp, with, none), true
	case "OR":
		return m.tr.pool.flat(lutOr, cmp, with, none), true
	case "XOR":
		return m.tr.pool.flat(lutXor, cmp, with, none), true
	case "":
		return cmp, true
	}
	return none, false
}

// isBool reports whether a value is all ones or all zeros.
func (p *valuePool) isBool(v value) bool {
	return known(p, &p.bools, v, p.bool)
}

// known is a question about a value whose answers are kept, false for none: expressions share parts.
func known(p *valuePool, answers *[]int8, v value, is func(value) bool) bool {
	if v == none {
		return false
	}
	*answers = append(*answers, make([]int8, len(p.nodes)-len(*answers))...)
	if (*answers)[v] == 0 {
		(*answers)[v] = -1
		if is(v) {
			(*answers)[v] = 1
		}
	}
	return (*answers)[v] > 0
}

func (p *valuePool) bool(v value) bool {
	switch n := p.nodes[v]; n.kind {
	case kConst:
		return n.imm == 0 || n.imm == 1<<32-1
	case kCmp:
		return true
	case kBits:
		return p.isBool(n.a) && (n.b == none || p.isBool(n.b)) && (n.c == none || p.isBool(n.c))
	case kSel, kPhi:
		return p.isBool(n.a) && p.isBool(n.b)
	}
	return false
}

// asBool returns the predicate "v is not zero".
func (m *machine) asBool(v value) value {
	if m.tr.pool.isBool(v) {
		return v
	}
	return m.relation("NE", false, v, m.tr.pool.constant(0))
}

// maskBit returns the predicate that this lane's bit of a mask is set. It is unknown for a word that differs between
// lanes: the kernel is evaluated for an arbitrary lane.
func (m *machine) maskBit(v value) value {
	if v == none || m.tr.pool.isBool(v) {
		return v
	}
	return m.tr.pool.mk(node{kind: kFun, imm: funBit, a: v, b: none, c: none})
}

// laneBit returns a source of a micro-operation as a predicate: SCC already is one, anything else is a mask.
func (m *machine) laneBit(mi *isa.Micro, src operands, i int) value {
	if i < len(mi.Src) && mi.Src[i].Reg == isa.RegSCC {
		return m.asBool(src[i])
	}
	return m.maskBit(src[i])
}

func (p *valuePool) truth(b bool) value { return p.constant(ones(b)) }

// relation returns the predicate a cmp b, simplified.
func (m *machine) relation(cmp string, signed bool, a, b value) value {
	p := m.tr.pool
	code, known := cmpCodes[cmp]
	if !known {
		return p.mk(node{kind: kFun, imm: 1<<32 | p.str("cmp "+cmp), a: a, b: b, c: none})
	}
	ca, okA := p.isConst(a)
	cb, okB := p.isConst(b)
	switch {
	case okA && okB:
		return p.truth(compare(code, signed, ca, cb))
	case okB && p.nodes[a].kind == kSel:
		n := p.nodes[a]
		x, okX := p.isConst(n.a)
		y, okY := p.isConst(n.b)
		if okX && okY {
			return m.choose(p.truth(compare(code, signed, x, cb)), p.truth(compare(code, signed, y, cb)), n.c)
		}
	}
	if okB && p.isBool(a) && code < 2 && (cb == 0 || cb == ^uint32(0)) {
		if (cb == 0) == (code == 1) {
			return a
		}
		return p.flat(^uint8(lutA), a, none, none)
	}
	imm := uint64(code)
	if signed {
		imm |= cmpSigned
	}
	return p.mk(node{kind: kCmp, imm: imm, a: a, b: b, c: none})
}

// choose returns c ? a : b.
func (m *machine) choose(a, b, c value) value {
	p := m.tr.pool
	if k, ok := p.isConst(c); ok {
		if k != 0 {
			return a
		}
		return b
	}
	if a == b {
		return a
	}
	if p.isBool(a) && p.isBool(b) {
		return p.flat(lutB&lutA|lutC&^uint8(lutA), c, a, b)
	}
	return p.mk(node{kind: kSel, a: a, b: b, c: c})
}

// distribute applies a bitwise and or or with constants to both arms of a selection between constants: some code
// keeps truth values as 0 and 1.
func (m *machine) distribute(lut uint8, src operands) (value, bool) {
	p := m.tr.pool
	at := -1
	var arms [2]uint32
	for i := range 3 {
		if src[i] == none {
			continue
		}
		if _, ok := p.isConst(src[i]); ok {
			continue
		}
		n := p.nodes[src[i]]
		if n.kind != kSel {
			return none, false
		}
		x, okX := p.isConst(n.a)
		y, okY := p.isConst(n.b)
		if !okX || !okY || at >= 0 {
			return none, false
		}
		at, arms = i, [2]uint32{x, y}
	}
	if at < 0 || lut != lutAnd && lut != lutOr {
		return none, false
	}
	var out [2]value
	for k := range out {
		s := src
		s[at] = p.constant(arms[k])
		out[k] = p.bits(lut, s[0], s[1], s[2])
	}
	return m.choose(out[0], out[1], p.nodes[src[at]].c), true
}

// carry evaluates the carry of a sum of constants.
func (m *machine) carry(mi *isa.Micro, src operands) (value, bool) {
	var sum uint64
	for i, o := range mi.Src {
		c, ok := m.tr.pool.isConst(src[i])
		if !ok || o.Kind == isa.OpdPred { // a predicate is all ones and counts as one
			return none, false
		}
		sum += uint64(c)
	}
	return m.tr.pool.truth(sum >= 1<<32), true
}

// carryless returns the high word of a sum to which only zeros are added.
func (m *machine) carryless(mi *isa.Micro, src operands) (value, bool) {
	word := none
	for i := range mi.Src {
		if src[i] == m.tr.pool.constant(0) {
			continue
		}
		if word != none || mi.Src[i].Kind == isa.OpdPred {
			return none, false
		}
		word = src[i]
	}
	return word, word != none
}
