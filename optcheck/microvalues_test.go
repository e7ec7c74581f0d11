package optcheck

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/spec"
)

// microSources is how many sources operations have whose results depend on these alone.
var microSources = map[isa.MicroOp]int{
	isa.MicroMov: 1, isa.MicroAdd: 3, isa.MicroLop3: 3, isa.MicroShl: 2, isa.MicroShr: 2, isa.MicroSel: 3, isa.MicroMul: 2,
	isa.MicroMad: 3, isa.MicroLea: 3, isa.MicroMulHi: 2, isa.MicroMadHi: 4, isa.MicroLeaHi: 4, isa.MicroPlop: 3, isa.MicroTest: 3,
	isa.MicroSelCmp: 3, isa.MicroSetp: 2, isa.MicroPrmt: 3, isa.MicroShfHi: 3, isa.MicroShfLo: 3, isa.MicroMin: 2, isa.MicroMax: 2,
	isa.MicroBfe: 3, isa.MicroShlOr: 3, isa.MicroAddShl: 3, isa.MicroXorAdd: 3,
}

// meantWord is a value, and the word that it stands for; that of a predicate is all ones or none.
type meantWord struct {
	v    value
	w    uint32
	pred bool
}

// TestMicroValues: what the checker makes of micro-operations that use each other's results, and of halves and bytes of these, is
// computed
// to what the operations compute, and so is what it is lifted to.
func TestMicroValues(t *testing.T) {
	ops := make([]isa.MicroOp, 0, len(microSources))
	for op := range microSources {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	known := 0
	for _, target := range []string{"sm_80", "sm_52", "gfx900", "gfx1100"} {
		arch, err := archOf(target)
		require.NoError(t, err)
		rapid.Check(t, func(t *rapid.T) {
			for range 20 {
				known += composed(t, target, arch, ops)
			}
		})
	}
	require.Greater(t, known, 10_000)
}

// composed composes some operations, and returns how many were compared.
func composed(t *rapid.T, target string, arch arch, ops []isa.MicroOp) (known int) {
	draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	word := func() uint32 {
		return rapid.SampledFrom([]uint32{0, 1, 2, 15, 16, 31, 32, 33, 0xff, 0x5410, 0x7632, 0x3210, 0xffff, 0xffff0000, 1 << 31, 1<<31 - 1,
			1<<32 - 1}).Draw(t, "w")
	}
	p := newValuePool()
	read := someWords{word(), word(), word()}
	tr := &trace{pool: p, fn: &isa.Func{Arch: target, Insts: make([]isa.Inst, 3)}, arch: arch, joins: map[value]join{}}
	m := &machine{tr: tr, arch: arch, guardV: none, laneT: map[value]taint{}}
	m.fold = draw(2) == 0
	ps := &pass{tr: tr, s: &spec.Spec{}, owner: make([][]int, 3), r: &Result{}}
	e := newEvaluator(ps)
	var list []meantWord
	for i := range 3 {
		tr.events, tr.reads = append(tr.events, event{inst: i, role: isa.RoleLoad, read: i}), append(tr.reads, i)
		list = append(list, meantWord{p.mk(node{kind: kLoad, a: value(i), c: none}), read[(unmatched+i)%3], false})
	}
	pick := func(pred bool) meantWord {
		for range 4 {
			if x := list[draw(len(list))]; x.pred == pred && draw(4) > 0 {
				return x
			}
		}
		w := word()
		if pred {
			w = ones(w&1 != 0)
		}
		return meantWord{p.constant(w), w, pred}
	}
	for k := range 4 {
		x, ok := partOf(m, draw(8), pick)
		if !ok {
			x, ok = microOf(t, m, k, ops[draw(len(ops))], pick, draw)
		}
		if !ok {
			continue
		}
		list = append(list, x)
		e.set(read)
		got, ok := e.eval(x.v, 0)
		require.True(t, ok, "%+v", p.nodes)
		require.Equal(t, x.w, got, "%s %+v", target, p.nodes)
		if lifted, err := newLifter(ps, nil).expr(x.v, 0, new(taint)); err == nil {
			got, ok := lifted.eval(nil, func(r int) (uint32, bool) { return read[(unmatched+r)%3], true })
			require.True(t, ok, "%+v", p.nodes)
			require.Equal(t, x.w, got, "lifted, %s %+v", target, p.nodes)
		}
		known++
	}
	return known
}

// partOf is half of a word, a byte, or a word of which half is another's.
func partOf(m *machine, k int, pick func(bool) meantWord) (meantWord, bool) {
	a, b := pick(false), pick(false)
	switch k {
	case 0:
		return meantWord{m.half(a.v, "h"), a.w >> 16, false}, true
	case 1:
		return meantWord{m.halved(a.v, b.v, "h"), a.w&0xffff | b.w<<16, false}, true
	case 2:
		return meantWord{m.halved(a.v, b.v, "l"), a.w&^0xffff | b.w&0xffff, false}, true
	case 3:
		return meantWord{m.low(a.v, 1), a.w & 0xff, false}, true
	case 4:
		return meantWord{m.tr.pool.cut(a.v, 2), a.w & 0xffff, false}, true
	}
	return meantWord{}, false
}

// microOf is the result of an operation.
func microOf(t *rapid.T, m *machine, k int, op isa.MicroOp, pick func(bool) meantWord, draw func(int) int) (meantWord, bool) {
	mi := isa.Micro{Op: op, LUT: rapid.Byte().Draw(t, "lut"), Signed: draw(2) == 0}
	n := microSources[op]
	if op == isa.MicroSetp || op == isa.MicroSelCmp {
		mi.Cmp = rapid.SampledFrom([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}).Draw(t, "cmp")
	}
	if op == isa.MicroSetp && draw(2) == 0 {
		n, mi.Bool = 3, rapid.SampledFrom([]string{"AND", "OR", "XOR"}).Draw(t, "bool")
	}
	src, is := operands{none, none, none, none, none}, []uint64{}
	for i := range n {
		pred := op == isa.MicroPlop || (op == isa.MicroSel || op == isa.MicroSetp) && i == 2
		x := pick(pred)
		if shift := map[isa.MicroOp]int{isa.MicroLea: 1, isa.MicroLeaHi: 2}[op]; shift > 0 && i == shift {
			x.w = 1 + uint32(draw(31)) // the encoding has no others
			x.v = m.tr.pool.constant(x.w)
		}
		src[i] = x.v
		mi.Src = append(mi.Src, isa.Operand{Kind: isa.OpdReg})
		if is = append(is, uint64(x.w)); pred && x.w != 0 {
			is[i] = 1
		}
	}
	want, ok := mi.Eval(is)
	if !ok {
		return meantWord{}, false
	}
	if op.IsPredicate() {
		want = ones(want != 0)
	}
	v, ok := m.arch.micro(m, 0, k, &mi, src)
	if !ok {
		v, ok = m.compute(0, &mi, src)
	}
	if !ok {
		p := m.tr.pool
		if src[3] != none {
			src[2] = p.mk(node{kind: kFun, imm: funPair, a: src[2], b: src[3], c: none})
		}
		v = p.mk(node{kind: kFun, imm: m.funCode(&mi), a: src[0], b: src[1], c: src[2]})
	}
	return meantWord{v, want, op.IsPredicate()}, true
}
