package isa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fn makes a function of instructions with only control flow.
func fn(ins ...Inst) *Func {
	f := &Func{Name: "f"}
	for i := range ins {
		ins[i].Addr = uint64(16 * i)
		f.Insts = append(f.Insts, ins[i])
	}
	f.BuildCFG()
	return f
}

func op(o string, flow Flow, target int) Inst {
	pair := map[string]Pair{"PBK": PairBreak, "BRK": PairBreak, "BSSY": PairBarrier, "BSYNC": PairBarrier}[o]
	return Inst{Op: o, Flow: flow, Pair: pair, Target: target}
}

var guarded = Guard{Reg: Reg{Class: ClassPred}}

func succs(f *Func) [][]int {
	var out [][]int
	for _, b := range f.Blocks {
		out = append(out, b.Succs)
	}
	return out
}

func TestCFGBranch(t *testing.T) {
	bra := op("BRA", FlowJump, 3)
	bra.Guard = guarded
	f := fn(op("MOV", FlowNext, -1), bra, op("ST", FlowNext, -1), op("LD", FlowNext, -1), op("EXIT", FlowExit, -1), op("BRA", FlowJump, 5),
		op("NOP", FlowNext, -1))
	assert.Equal(t, [][]int{{1, 2}, {2}, nil, {3}, nil}, succs(f))
	assert.Equal(t, []bool{true, true, true, false, false}, f.Reachable())
	assert.Empty(t, f.Blocks[4].Preds, "padding behind the jump to itself")
}

func TestCFGGuardedExitAndNever(t *testing.T) {
	ex := op("EXIT", FlowExit, -1)
	ex.Guard = guarded
	never := op("BRA", FlowJump, 0)
	never.Guard = Guard{Never: true}
	f := fn(ex, never, op("EXIT", FlowExit, -1))
	assert.Equal(t, [][]int{{1}, {2}, nil}, succs(f))
}

// A stack of two SSY: each SYNC goes to its own target only.
func TestCFGNestedStack(t *testing.T) {
	bra1, bra2 := op("BRA", FlowJump, 7), op("BRA", FlowJump, 5)
	bra1.Guard, bra2.Guard = guarded, guarded
	f := fn(
		op("SSY", FlowPush, 8), // 0
		bra1,                   // 1: else of the outer
		op("SSY", FlowPush, 6), // 2
		bra2,                   // 3
		op("SYNC", FlowPop, -1),
		op("SYNC", FlowPop, -1),
		op("SYNC", FlowPop, -1), // 6: outer, then-part
		op("SYNC", FlowPop, -1), // 7: outer, else-part
		op("EXIT", FlowExit, -1),
	)
	at := func(inst int) int {
		for b := range f.Blocks {
			if inst >= f.Blocks[b].First && inst < f.Blocks[b].End {
				return b
			}
		}
		return -1
	}
	for inst, target := range map[int]int{4: 6, 5: 6, 6: 8, 7: 8} {
		assert.Equal(t, []int{at(target)}, f.Blocks[at(inst)].Succs, "pop at %d", inst)
	}
}

// The same barrier register used twice in sequence: no edge back.
func TestCFGBarrierReuse(t *testing.T) {
	b0 := []Operand{{Kind: OpdReg, Reg: Reg{Class: ClassBarrier}}}
	bar := func(in Inst) Inst { in.Args = b0; return in }
	bra := op("BRA", FlowJump, 2)
	bra.Guard = guarded
	bra2 := op("BRA", FlowJump, 5)
	bra2.Guard = guarded
	f := fn(bar(op("BSSY", FlowPush, 3)), bra, bar(op("BSYNC", FlowPop, -1)),
		bar(op("BSSY", FlowPush, 6)), bra2, bar(op("BSYNC", FlowPop, -1)), op("EXIT", FlowExit, -1))
	for _, b := range f.Blocks {
		for _, s := range b.Succs {
			assert.Greater(t, f.Blocks[s].First, b.First, "no loop")
		}
	}
	assert.NotContains(t, f.Reachable(), false)
}

func TestCFGIndirectAndCall(t *testing.T) {
	brx := op("BRX", FlowIndirect, -1)
	brx.Targets = []int{2, 3}
	f := fn(op("CAL", FlowCall, 4), brx, op("EXIT", FlowExit, -1), op("EXIT", FlowExit, -1), op("RET", FlowReturn, -1))
	assert.Equal(t, [][]int{{1, 4}, {2, 3}, nil, nil, nil}, succs(f))
}

// TestCFGProperties: for any instructions the blocks partition the function,
// edges are symmetric and the search ends.
func TestCFGProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		var ins []Inst
		for i := 0; i < n; i++ {
			k := rapid.SampledFrom([]struct {
				op   string
				flow Flow
			}{{"MOV", FlowNext}, {"BRA", FlowJump}, {"SSY", FlowPush}, {"SYNC", FlowPop}, {"PBK", FlowPush}, {"BRK", FlowPop}, {"BSSY", FlowPush},
				{"BSYNC", FlowPop}, {"EXIT", FlowExit}, {"CAL", FlowCall}, {"RET", FlowReturn}, {"BPT", FlowTrap}}).Draw(t, "op")
			in := op(k.op, k.flow, rapid.IntRange(-1, n-1).Draw(t, "target"))
			if rapid.Bool().Draw(t, "guard") {
				in.Guard = guarded
			}
			in.Args = []Operand{{Kind: OpdReg, Reg: Reg{Class: ClassBarrier, Num: uint16(rapid.IntRange(0, 17).Draw(t, "b"))}}}
			ins = append(ins, in)
		}
		f := fn(ins...)
		next := 0
		for b, blk := range f.Blocks {
			require.Equal(t, next, blk.First)
			next = blk.End
			for _, s := range blk.Succs {
				require.Contains(t, f.Blocks[s].Preds, b)
			}
			for _, p := range blk.Preds {
				require.Contains(t, f.Blocks[p].Succs, b)
			}
		}
		require.Equal(t, n, next)
		require.True(t, f.Reachable()[0])
	})
}

func TestEmptyFunction(t *testing.T) {
	f := fn()
	assert.Empty(t, f.Blocks)
	assert.Empty(t, f.Reachable())
}
