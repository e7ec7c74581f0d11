package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/spec"
)

// TestMicroValues: what the checker makes of a micro-operation, for operands that are constants or what was read, is computed to what
// the operation computes.
func TestMicroValues(t *testing.T) {
	words := func(t *rapid.T) uint32 {
		return rapid.SampledFrom([]uint32{0, 1, 2, 15, 16, 31, 32, 33, 0xff, 0x5410, 0x7632, 0x3210, 0xffff, 0xffff0000, 1 << 31, 1<<31 - 1, 1<<32 - 1}).Draw(t, "w")
	}
	known := 0
	for op, sources := range map[isa.MicroOp]int{isa.MicroMov: 1, isa.MicroAdd: 3, isa.MicroLop3: 3, isa.MicroShl: 2, isa.MicroSel: 3, isa.MicroMul: 2,
		isa.MicroMad: 3, isa.MicroLea: 3, isa.MicroMulHi: 2, isa.MicroMadHi: 4, isa.MicroLeaHi: 4, isa.MicroPlop: 3, isa.MicroTest: 3, isa.MicroSelCmp: 3,
		isa.MicroSetp: 2, isa.MicroPrmt: 3} {
		rapid.Check(t, func(t *rapid.T) {
			p := newValuePool()
			read := someWords{words(t), words(t), words(t), words(t), words(t)}
			tr := &trace{pool: p, fn: &isa.Func{Insts: make([]isa.Inst, 5)}, arch: nvidia{sm: 80}, joins: map[value]join{}}
			for i := range 5 {
				tr.events, tr.reads = append(tr.events, event{inst: i, role: isa.RoleLoad, read: i}), append(tr.reads, i)
			}
			m := &machine{tr: tr, arch: tr.arch, guardV: none}
			m.fold = rapid.Bool().Draw(t, "fold")
			e := newEvaluator(&pass{tr: tr, s: &spec.Spec{}, owner: make([][]int, len(tr.events))})
			mi := isa.Micro{Op: op, LUT: rapid.Byte().Draw(t, "lut"), Signed: rapid.Bool().Draw(t, "signed")}
			if op == isa.MicroSetp || op == isa.MicroSelCmp {
				mi.Cmp = rapid.SampledFrom([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}).Draw(t, "cmp")
			}
			src, is := operands{none, none, none, none, none}, []uint64{}
			for i := range sources {
				w := read[(unmatched+i)%len(read)]
				pred := op == isa.MicroPlop || op == isa.MicroSel && i == 2
				if pred {
					w = ones(w != 0)
				}
				src[i] = p.mk(node{kind: kLoad, a: value(i), c: none})
				if rapid.Bool().Draw(t, "constant") {
					src[i] = p.constant(w)
				} else if pred {
					src[i] = p.mk(node{kind: kCmp, imm: uint64(cmpCodes["NE"]), a: src[i], b: p.constant(0), c: none})
				}
				mi.Src = append(mi.Src, isa.Operand{Kind: isa.OpdReg})
				if is = append(is, uint64(w)); pred && w != 0 {
					is[i] = 1
				}
			}
			want, ok := mi.Eval(is)
			if !ok || op == isa.MicroLea && is[1] > 31 || op == isa.MicroLeaHi && is[2] > 31 {
				return // a shift that no encoding has
			}
			v, ok := m.compute(0, &mi, src)
			if !ok || v == none {
				return
			}
			known++
			e.set(read)
			got, ok := e.eval(v, 0)
			if op.IsPredicate() {
				want = ones(want != 0)
			}
			require.True(t, ok, "%v %x", mi, is)
			require.Equal(t, want, got, "%v %x", mi, is)
		})
	}
	require.Greater(t, known, 500)
}
