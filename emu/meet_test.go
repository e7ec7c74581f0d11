package emu

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
)

// meeting is a kernel of two lanes that store what they have got: lane 0 performs one, lane 1 other, both behind what they share.
type meetingKernel struct {
	*ir.Builder
	out, tid, odd, got ir.Reg
}

func (m *meetingKernel) do(e ir.Effect) *ir.Inst {
	in := m.Begin()
	in.Do = e
	return in
}

// run performs the kernel, whose lanes go apart behind start, and gives what each of them stores.
func meet(t *testing.T, machine bool, one, other func(m *meetingKernel)) ([2]uint32, error) {
	t.Helper()
	b := ir.NewBuilder("meet")
	m := &meetingKernel{b, b.Reg(), b.Reg(), b.Reg(), b.Reg()}
	addr := b.Reg()
	b.P.Params, b.P.Machine = []ir.Var{{Name: "out", Size: 8}}, machine
	m.do(&ir.Special{Reg: ir.TidX, Dst: m.tid})
	in := b.Begin()
	b.To(&in.Pre, m.odd, ir.Cmp, ir.U32, m.tid, b.Const(0)).Cond = ir.NE
	jump := &ir.Flow{Kind: ir.Jump, Cond: m.odd, Mask: ir.None}
	m.do(jump)
	end := func() {
		in := b.Begin()
		b.To(&in.Pre, addr, ir.Shl, ir.U64, m.tid, b.Const(2))
		in = b.Begin()
		b.To(&in.Pre, addr, ir.Add, ir.U64, addr, b.Const(out))
		m.do(&ir.Access{Kind: ir.Store, Space: ir.Global, Bytes: 4, Elems: 1, Type: ir.U32, Addr: addr, Data: []ir.Reg{m.got}, Done: ir.None, AddrBits: 64})
		m.do(&ir.Flow{Kind: ir.Exit, Cond: ir.None, Mask: ir.None})
	}
	one(m)
	end()
	jump.Target = int32(len(b.P.Insts))
	other(m)
	end()
	b.P.Funcs = []ir.Func{{Name: "meet", End: int32(len(b.P.Insts))}}
	c, err := Prepare(&b.P)
	require.NoError(t, err)
	g, err := NewGrid(c, launch(2), NewMemory(func(Word, Kind) uint32 { return 0 }), Policy{}, true)
	require.NoError(t, err)
	if err := g.Run(); err != nil {
		return [2]uint32{}, err
	}
	return [2]uint32{binary.LittleEndian.Uint32(g.Memory.Bytes(out, 4)), binary.LittleEndian.Uint32(g.Memory.Bytes(out+4, 4))}, nil
}

// TestMeetAnywhere: lanes meet at several instructions of PTX that say the same of the same lanes, each with its own operands.
func TestMeetAnywhere(t *testing.T) {
	warp := func(k ir.WarpKind, value uint64, not bool) func(m *meetingKernel) {
		return func(m *meetingKernel) {
			w := &ir.Warp{Kind: k, Mask: m.Const(3), Src: m.Const(value), Not: not, Lane: ir.None, Clamp: ir.None, Type: ir.U32, Dst: m.got, Pred: ir.None}
			if k == ir.ShflBfly {
				w.Lane, w.Clamp = m.Const(1), m.Const(31)
			}
			if k == ir.VoteAny || k == ir.VoteAll {
				w.Dst, w.Pred = ir.None, m.got
			}
			m.do(w)
		}
	}
	wide := func(k ir.WarpKind, mask uint64, ty ir.Type) func(m *meetingKernel) {
		return func(m *meetingKernel) {
			m.do(&ir.Warp{Kind: k, Mask: m.Const(mask), Src: m.tid, Lane: ir.None, Clamp: ir.None, Type: ty, Dst: m.got, Pred: ir.None})
		}
	}
	bar := func(mask uint64) func(m *meetingKernel) {
		return func(m *meetingKernel) {
			m.do(&ir.Barrier{Kind: ir.BarrierWarp, Count: m.Const(mask), ID: ir.None, Src: ir.None, Dst: ir.None})
		}
	}
	for name, c := range map[string]struct {
		one, other func(m *meetingKernel)
		want       [2]uint32
		hangs      bool
	}{
		"shuffle":            {warp(ir.ShflBfly, 7, false), warp(ir.ShflBfly, 9, false), [2]uint32{9, 7}, false},
		"sum":                {warp(ir.ReduxAdd, 7, false), warp(ir.ReduxAdd, 9, false), [2]uint32{16, 16}, false},
		"ballot, both":       {warp(ir.VoteBallot, 1, false), warp(ir.VoteBallot, 0, true), [2]uint32{3, 3}, false},
		"ballot, one":        {warp(ir.VoteBallot, 1, true), warp(ir.VoteBallot, 1, false), [2]uint32{2, 2}, false},
		"all, of what is 0":  {warp(ir.VoteAll, 0, true), warp(ir.VoteAll, 1, false), [2]uint32{1, 1}, false},
		"match":              {warp(ir.MatchAny, 7, false), warp(ir.MatchAny, 9, false), [2]uint32{1, 2}, false},
		"barrier":            {bar(3), bar(3), [2]uint32{0, 0}, false},
		"other masks":        {wide(ir.ReduxAdd, 3, ir.U32), wide(ir.ReduxAdd, 7, ir.U32), [2]uint32{}, true},
		"other operations":   {wide(ir.ReduxAdd, 3, ir.U32), wide(ir.ReduxMax, 3, ir.U32), [2]uint32{}, true},
		"other types":        {wide(ir.ReduxMax, 3, ir.U32), wide(ir.ReduxMax, 3, ir.S32), [2]uint32{}, true},
		"a barrier, a vote":  {bar(3), warp(ir.VoteAny, 1, false), [2]uint32{}, true},
		"barriers, by masks": {bar(3), bar(7), [2]uint32{}, true},
		"not in its mask":    {wide(ir.ReduxAdd, 1, ir.U32), wide(ir.ReduxAdd, 1, ir.U32), [2]uint32{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := meet(t, false, c.one, c.other)
			if c.hangs {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// TestCollective: lanes of machine code that come from several collectives perform the code of one, and go on behind their own; nobody knows
// of which one if they differ.
func TestCollective(t *testing.T) {
	collective := func(value, behind uint64, text string) func(m *meetingKernel) {
		return func(m *meetingKernel) {
			in := m.Begin()
			m.To(&in.Pre, m.got, ir.Add, ir.U32, m.tid, m.Const(value))
			f := &ir.Flow{Kind: ir.WarpCollective, Cond: ir.None, Mask: m.Const(3)}
			m.do(f)
			m.do(&ir.Warp{Kind: ir.ReduxAdd, Mask: ir.None, Src: m.got, Lane: ir.None, Clamp: ir.None, Type: ir.U32, Dst: m.got, Pred: ir.None}).Text = text
			m.do(&ir.Flow{Kind: ir.CollectiveEnd, Cond: ir.None, Mask: ir.None})
			f.Target = int32(len(m.P.Insts))
			in = m.Begin()
			m.To(&in.Pre, m.got, ir.Add, ir.U32, m.got, m.Const(behind))
		}
	}
	got, err := meet(t, true, collective(10, 100, "REDUX"), collective(20, 200, "REDUX"))
	require.NoError(t, err)
	require.Equal(t, [2]uint32{131, 231}, got)
	_, err = meet(t, true, collective(10, 100, "REDUX"), collective(20, 200, "REDUX.other"))
	var cannot *Cannot
	require.True(t, errors.As(err, &cannot), err)
	require.Contains(t, cannot.Why, "collectives of different code")
}
