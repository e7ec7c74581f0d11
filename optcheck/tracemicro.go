package optcheck

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/isa"
	"optcheck/spec"
)

// Functions that are not plain micro-operations.
const (
	funNeg  = 1 << 49
	funPrmt = 1 << 50
	funPair = 1 << 51 // a list of values
	funBit  = 1 << 52 // a lane's bit of a mask
)

// operands holds the values of a micro-operation's sources, none after the last one.
type operands [5]value

// maxOperands is the number of sources that the general evaluation handles.
const maxOperands = 4

// micro evaluates micro-operation k of an instruction: what its destination then holds.
func (m *machine) micro(inst, k int, mi *isa.Micro) (value, taint) {
	v, t := m.result(inst, k, mi)
	if mi.Half == "" {
		return v, t
	}
	return m.halved(m.get(mi.Dst), v, mi.Half), t | m.taintOf([]isa.Reg{mi.Dst})
}

// result evaluates a micro-operation.
func (m *machine) result(inst, k int, mi *isa.Micro) (value, taint) {
	src := operands{none, none, none, none, none}
	var t taint
	for i, s := range mi.Src {
		v, st := m.operand(s)
		if t |= st; i < len(src) {
			src[i] = v
		}
	}
	if v, ok := m.arch.micro(m, inst, k, mi, src); ok {
		return v, t
	}
	if len(mi.Src) > maxOperands || mi.Op == isa.MicroOpaque {
		return m.opaque(inst, 100+k), t
	}
	if v, ok := m.compute(inst, mi, src); ok {
		return v, t
	}
	p := m.tr.pool
	if src[3] != none {
		src[2] = p.mk(node{kind: kFun, imm: funPair, a: src[2], b: src[3], c: none})
	}
	return p.mk(node{kind: kFun, imm: m.funCode(mi), a: src[0], b: src[1], c: src[2]}), t
}

// compute evaluates the micro-operations that the pool treats as more than functions.
func (m *machine) compute(inst int, mi *isa.Micro, src operands) (value, bool) {
	p := m.tr.pool
	switch mi.Op {
	case isa.MicroMov:
		return src[0], true
	case isa.MicroAdd:
		v := src[0]
		for _, s := range src[1:len(mi.Src)] {
			v = p.add(v, s)
		}
		return v, true
	case isa.MicroLop3:
		v := m.unmasked(p.bits(mi.LUT, src[0], src[1], src[2]))
		m.foldedMarker(inst, mi, src, v)
		return v, true
	case isa.MicroShl:
		return m.shl(src[0], src[1]), true
	case isa.MicroSel:
		c, ok := p.isConst(src[2])
		switch {
		case ok && c != 0:
			return src[0], true
		case ok:
			return src[1], true
		}
		return p.mk(node{kind: kSel, a: src[0], b: src[1], c: src[2]}), true
	case isa.MicroMul, isa.MicroMad:
		v := m.mul(src[0], src[1])
		if mi.Op == isa.MicroMad {
			v = p.add(v, src[2])
		}
		return v, true
	case isa.MicroLea:
		return p.add(m.shl(src[0], src[1]), src[2]), true
	case isa.MicroMulHi, isa.MicroMadHi, isa.MicroLeaHi:
		return m.highWord(mi, src)
	case isa.MicroPlop: // predicates are words of equal bits
		return p.bits(mi.LUT, src[0], src[1], src[2]), true
	case isa.MicroTest:
		return p.mk(node{kind: kCmp, imm: uint64(cmpCodes["NE"]), a: p.bits(mi.LUT, src[0], src[1], src[2]), b: p.constant(0), c: none}), true
	case isa.MicroSelCmp:
		imm := uint64(cmpCodes[mi.Cmp])
		if mi.Signed {
			imm |= cmpSigned
		}
		return p.mk(node{kind: kSel, a: src[0], b: src[1], c: p.mk(node{kind: kCmp, imm: imm, a: src[2], b: p.constant(0), c: none})}), true
	case isa.MicroSetp:
		return m.compare(mi, src)
	case isa.MicroPrmt:
		return m.prmt(src[0], src[1], src[2]), true
	case isa.MicroSpecial:
		return p.mk(node{kind: kSpecial, imm: p.str(mi.Sym), a: none, b: none, c: none}), true
	}
	return none, false
}

// combined maps the ways of combining a comparison with a further predicate to their functions.
var combined = map[string]uint8{"AND": lutAnd, "OR": lutOr, "XOR": lutXor}

// compare returns the predicate of a comparison, combined with a further one if the instruction has one.
func (m *machine) compare(mi *isa.Micro, src operands) (value, bool) {
	c, known := cmpCodes[mi.Cmp]
	lut, known2 := combined[mi.Bool]
	if !known || mi.Bool != "" && (!known2 || src[2] == none) || src[3] != none {
		return none, false
	}
	imm := uint64(c)
	v, fixed := m.view.compare(m.tr.pool, c, src[0], src[1])
	if !fixed && m.fold {
		v, fixed = m.tr.pool.compared(c, mi.Signed, src[0], src[1])
	}
	if !fixed {
		if mi.Signed {
			imm |= cmpSigned
		}
		v = m.tr.pool.mk(node{kind: kCmp, imm: imm, a: src[0], b: src[1], c: none})
	}
	if mi.Bool != "" {
		v = m.tr.pool.bits(lut, v, src[2], none)
	}
	return v, true
}

// compared decides a comparison of constants.
func (p *valuePool) compared(code uint8, signed bool, a, b value) (value, bool) {
	x, okX := p.isConst(a)
	y, okY := p.isConst(b)
	if !okX || !okY {
		return none, false
	}
	return p.truth(compare(code, signed, x, y)), true
}

// funCode returns the number of a micro-operation with its variant.
func (m *machine) funCode(mi *isa.Micro) uint64 {
	if mi.Cmp == "" && mi.Bool == "" && mi.Sym == "" && !mi.Signed {
		return uint64(mi.Op)<<8 | uint64(mi.LUT)
	}
	code := 1<<32 | m.tr.pool.str(fmt.Sprint("fn", mi.Op, mi.LUT, mi.Cmp, mi.Bool, mi.Sym, mi.Signed))
	m.tr.pool.micros[code] = isa.Micro{Op: mi.Op, LUT: mi.LUT, Cmp: mi.Cmp, Bool: mi.Bool, Signed: mi.Signed}
	return code
}

func (m *machine) shl(a, n value) value {
	p := m.tr.pool
	if k, ok := p.isConst(n); ok {
		if k == 0 {
			return a
		}
		if c, ok := p.isConst(a); ok {
			return p.constant(c << k)
		}
	}
	return p.mk(node{kind: kFun, imm: uint64(isa.MicroShl) << 8, a: a, b: n, c: none})
}

// prmt permutes bytes; the selector is constant.
func (m *machine) prmt(a, sel, b value) value {
	p := m.tr.pool
	ca, okA := p.isConst(a)
	cb, okB := p.isConst(b)
	cs, okS := p.isConst(sel)
	if okA && okB && okS {
		return p.constant(isa.Permute(ca, cs, cb))
	}
	if v, ok := p.composed(a, cs, b); okS && ok {
		return v
	}
	return p.mk(node{kind: kFun, imm: funPrmt, a: a, b: sel, c: b})
}

// composed is a permutation of bytes of what is one itself, as one of the words that they come from, if those are two at most: half of a
// register is often put where the other half is what nobody uses.
func (p *valuePool) composed(a value, sel uint32, b value) (value, bool) {
	var words []value
	out, nested := uint32(0), false
	for i := range 4 {
		from := sel >> (4 * i) & 7
		v := a
		if from >= 4 {
			v = b
		}
		for {
			from %= 4
			if d := p.decided(v, 0xff<<(8*from)); d != v {
				v, nested = d, true
				continue
			}
			n := p.nodes[v]
			if n.kind != kFun || n.imm != funPrmt {
				break
			}
			inner, ok := p.isConst(n.b)
			if !ok {
				break
			}
			nested = true
			from = inner >> (4 * from) & 7
			if v = n.a; from >= 4 {
				v = n.c
			}
		}
		at := slices.Index(words, v)
		if at < 0 {
			at, words = len(words), append(words, v)
		}
		out |= (uint32(at)*4 + from) << (4 * i)
	}
	switch {
	case !nested || len(words) > 2:
		return none, false
	case len(words) == 1 && out == 0x3210:
		return words[0], true
	case len(words) == 1:
		words = append(words, p.constant(0))
	}
	return p.mk(node{kind: kFun, imm: funPrmt, a: words[0], b: p.constant(out), c: words[1]}), true
}

func (m *machine) mul(a, b value) value {
	p := m.tr.pool
	ca, okA := p.isConst(a)
	cb, okB := p.isConst(b)
	switch {
	case okA && okB:
		return p.constant(ca * cb)
	case okA && ca == 0, okB && cb == 0:
		return p.constant(0)
	case okA && ca == 1:
		return b
	case okB && cb == 1:
		return a
	case okA:
		a, b = b, a
	}
	return p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: a, b: b, c: none})
}

// highWord returns the high word of an unsigned word times a power of two, plus a word: a shift to the right, by which
// compilers compute one together with an addition.
func (m *machine) highWord(mi *isa.Micro, src operands) (value, bool) {
	p := m.tr.pool
	a, k, plus := src[0], uint32(0), none
	switch zero := p.constant(0); {
	case mi.Signed:
		return none, false
	case mi.Op == isa.MicroLeaHi:
		n, ok := p.isConst(src[2])
		if !ok || len(mi.Src) != 4 || src[1] != zero {
			return none, false
		}
		k, plus = n, src[3]
	default:
		n, ok := p.isConst(src[1])
		if !ok || bits.OnesCount32(n) != 1 || n == 1 || mi.Op == isa.MicroMadHi && src[2] != zero {
			return none, false
		}
		k, plus = uint32(bits.TrailingZeros32(n)), src[3]
	}
	v := p.mk(node{kind: kFun, imm: uint64(isa.MicroShr) << 8, a: a, b: p.constant(32 - k), c: none})
	if plus != none {
		v = p.add(v, plus)
	}
	return v, true
}

// foldedMarker records a marker whose operand is constant too: the xor itself folds, so that only the instruction
// shows the literal.
func (m *machine) foldedMarker(inst int, mi *isa.Micro, src operands, v value) {
	if _, folded := m.tr.pool.isConst(v); !folded {
		return
	}
	pair, ok := map[uint8][2]int{lutA ^ lutB: {0, 1}, lutA ^ lutC: {0, 2}, lutB ^ lutC: {1, 2}}[mi.LUT]
	if !ok {
		return
	}
	for i := range pair {
		lit, known := m.tr.pool.isConst(src[pair[i]])
		if mk, ok := spec.DecodeLiteral(lit); known && ok {
			m.tr.markers = append(m.tr.markers, marker{m: mk, oper: src[pair[1-i]], inst: inst})
			m.tr.folded = append(m.tr.folded, v)
		}
	}
}

// findMarker records v if it is the xor of a value with a marker literal.
func (m *machine) findMarker(inst int, v value, t taint) {
	x, k, ok := m.tr.pool.xorConst(v)
	if !ok {
		return
	}
	mk, ok := spec.DecodeLiteral(k)
	if !ok {
		return
	}
	for _, o := range m.tr.markers {
		if o.m.Literal == k && o.oper == x {
			return
		}
	}
	m.tr.markers = append(m.tr.markers, marker{m: mk, oper: x, t: t, inst: inst})
}
