package optcheck

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/spec"
)

// TestExchanged: what the lanes of a warp vote, count, and tell each other is computed where all that decides it is known, and
// nothing else is.
func TestExchanged(t *testing.T) {
	imm := func(k int64) isa.Operand { return isa.Operand{Kind: isa.OpdImm, Imm: k} }
	pt := isa.Operand{Kind: isa.OpdPred, Zero: true}
	notPT, p0 := isa.Operand{Kind: isa.OpdPred, Zero: true, Not: true}, isa.Operand{Kind: isa.OpdPred}
	guarded := isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: 1}}
	const word, other = uint32(0x00f0_1234), uint32(3)
	for what, x := range map[string]struct {
		in    isa.Inst
		args  []uint32 // the last one first
		value func(lane int, active uint32) (uint32, bool)
	}{
		"a vote": {isa.Inst{Op: "VOTE", Args: []isa.Operand{imm(0), pt}}, nil,
			func(_ int, a uint32) (uint32, bool) { return a, true }},
		"a uniform vote": {isa.Inst{Op: "VOTEU", Args: []isa.Operand{imm(0), pt}}, nil,
			func(_ int, a uint32) (uint32, bool) { return a, true }},
		"a vote for nothing":   {isa.Inst{Op: "VOTE", Args: []isa.Operand{imm(0), notPT}}, nil, nil},
		"a vote for something": {isa.Inst{Op: "VOTE", Args: []isa.Operand{imm(0), p0}}, nil, nil},
		"a vote for a word":    {isa.Inst{Op: "VOTE", Args: []isa.Operand{imm(0), {Kind: isa.OpdReg, Zero: true}}}, nil, nil},
		"a vote of some lanes": {isa.Inst{Op: "VOTE", Guard: guarded, Args: []isa.Operand{imm(0), pt}}, nil, nil},
		"what a lane tells": {isa.Inst{Op: "SHFL", Mods: []string{"IDX"}}, []uint32{other, word},
			func(_ int, a uint32) (uint32, bool) {
				return word, a>>other&1 != 0
			}},
		"what no lane tells":         {isa.Inst{Op: "SHFL", Mods: []string{"IDX"}}, []uint32{32, word}, nil},
		"what some lanes tell":       {isa.Inst{Op: "SHFL", Mods: []string{"IDX"}, Guard: guarded}, []uint32{other, word}, nil},
		"a neighbour":                {isa.Inst{Op: "SHFL", Mods: []string{"UP"}}, []uint32{other, word}, nil},
		"a butterfly":                {isa.Inst{Op: "SHFL", Mods: []string{"BFLY"}}, []uint32{other, word}, nil},
		"an exchange without a mode": {isa.Inst{Op: "SHFL"}, []uint32{other, word}, nil},
		"an exchange of nothing":     {isa.Inst{Op: "SHFL", Mods: []string{"IDX"}}, []uint32{other}, nil},
		"a count": {isa.Inst{Op: "POPC"}, []uint32{word},
			func(int, uint32) (uint32, bool) { return uint32(bits.OnesCount32(word)), true }},
		"a uniform count": {isa.Inst{Op: "UPOPC"}, []uint32{word},
			func(int, uint32) (uint32, bool) { return uint32(bits.OnesCount32(word)), true }},
		"the highest bit": {isa.Inst{Op: "FLO", Mods: []string{"U32"}}, []uint32{word},
			func(int, uint32) (uint32, bool) { return 23, true }},
		"of no bits": {isa.Inst{Op: "UFLO", Mods: []string{"U32"}}, []uint32{0},
			func(int, uint32) (uint32, bool) { return 1<<32 - 1, true }},
		"of a number with a sign": {isa.Inst{Op: "FLO", Mods: []string{"S32"}}, []uint32{word}, nil},
		"a copy": {isa.Inst{Op: "R2UR"}, []uint32{word},
			func(int, uint32) (uint32, bool) { return word, true }},
		"a match":            {isa.Inst{Op: "MATCH", Mods: []string{"ANY"}}, []uint32{word}, nil},
		"a count of nothing": {isa.Inst{Op: "POPC"}, nil, nil},
	} {
		p := newValuePool()
		list := none
		for i := len(x.args) - 1; i >= 0; i-- {
			list = p.mk(node{kind: kFun, imm: funPair, a: p.constant(x.args[i]), b: list, c: none})
		}
		tr := &trace{pool: p, fn: &isa.Func{Insts: []isa.Inst{x.in}, Blocks: []isa.Block{{First: 0, End: 1}}}, when: map[int][]sense{}}
		v := p.mk(node{kind: kOpaque, a: 0, b: 0, c: list})
		for _, active := range warps {
			w := newWarp(&pass{tr: tr, s: &spec.Spec{}}, active, laneWords{1})
			for l := range w.each(active) {
				got, ok := l.eval(v, 0)
				var want uint32
				known := false
				if x.value != nil {
					want, known = x.value(l.lane, active)
				}
				require.Equal(t, known, ok, "%s in lane %d of %x", what, l.lane, active)
				if ok {
					require.Equal(t, want, got, "%s in lane %d of %x", what, l.lane, active)
				}
			}
		}
	}
	for name, want := range map[string]func(int) (uint32, bool){"SR_LANEID": func(l int) (uint32, bool) { return uint32(l), true },
		"SR_LTMASK": func(l int) (uint32, bool) { return 1<<l - 1, true }, "SR_TID.X": func(int) (uint32, bool) { return 0, false }} {
		for lane := range 32 {
			is, known := want(lane)
			got, ok := (&evaluator{lane: lane}).place(name)
			require.Equal(t, []any{is, known}, []any{got, ok}, name)
		}
	}
}
