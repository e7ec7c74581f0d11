package refine

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
)

// Apart counts the floating-point numbers between two words.
func Apart(a, b uint64) uint64 { return apart(a, b) }

// Known are, by instruction, what registers hold at least and at most where a thread performs it; nil where none does. ok tells that
// anything is known.
func Known(p *ir.Program) (at [][][2]uint64, ok bool) {
	a := rangesOf(p)
	if a == nil {
		return nil, false
	}
	at = make([][][2]uint64, len(p.Insts))
	a.watch = func(i int32, regs []bounds) {
		first := at[i] == nil
		if first {
			at[i] = make([][2]uint64, p.Regs)
		}
		for r := range at[i] {
			b := regs[r]
			if a.bars[ir.Reg(r)] {
				b = within(64)
			}
			if !first {
				b = b.join(bounds{at[i][r][0], at[i][r][1]})
			}
			at[i][r] = [2]uint64{b.low, b.high}
		}
	}
	for _, to := range slices.Sorted(maps.Keys(a.at)) {
		a.block(to)
	}
	for i := range at {
		if !a.seen[i] {
			at[i] = nil
		}
	}
	return at, true
}

// ResultOf are the bounds of an operation of registers with bounds.
func ResultOf(o *ir.Op, of map[ir.Reg][2]uint64) (low, high uint64) {
	x := &registers{of: func(_ int, r ir.Reg) bounds { return bounds{of[r][0], of[r][1]} }, sizes: func(int, ir.Reg) (bounds, bool) { return bounds{}, false }}
	b := x.result(0, o)
	return b.low, b.high
}

// Slight are the inputs with several of two things, and those with a subnormal parameter.
func Slight(t testing.TB, p *ir.Program) (pairs, tiny []*Input) {
	c, err := newComparison(p, p, Options{Runs: 2, Search: 1 << 22})
	require.NoError(t, err)
	a, err := c.reference(c.input(0))
	require.NoError(t, err)
	require.NoError(t, c.compare(c.input(0), a))
	return c.pairs(), c.tiny()
}

// Opened is what two runs of a program say of one thread: whether all that it does depends on undefined content.
func Opened(a, b *emu.Record) (all bool) {
	return opened(&emu.Grid{Records: []*emu.Record{a}}, &emu.Grid{Records: []*emu.Record{b}})[0].all
}

// Accuses reports whether a difference of a thread is one if it is open which events the program's thread has.
func Accuses(open bool) bool {
	r := &replay{w: &emu.Warp{}}
	r.lanes[0] = &lane{open: &undefined{all: open}}
	a, err := accused(&emu.Warp{}, r, &accuse{Lane: 0, Pc: -1})
	return a != nil && err == nil
}

// First is what memory holds at an address before the first thread runs.
func First(in *Input, addr uint64, k emu.Kind) uint32 {
	return in.first(0)(emu.WordOf(emu.Place{Space: ir.Global, Addr: addr}, 0), k)
}

// MayBe are the outcomes that a comparison of registers with bounds may have: whether it may be false, and true.
func MayBe(o *ir.Op, of map[ir.Reg][2]uint64) (may [2]bool) {
	x := &registers{of: func(_ int, r ir.Reg) bounds { return bounds{of[r][0], of[r][1]} }, sizes: func(int, ir.Reg) (bounds, bool) { return bounds{}, false }}
	what := x.possible(0, o)
	return [2]bool{what&seenFalse != 0, what&seenTrue != 0}
}

// SameNumber reports whether two results of one operation are the same.
var SameNumber = sameNumber
