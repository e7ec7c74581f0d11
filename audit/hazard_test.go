package audit

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/sass/hazard"
	"optcheck/toolchain"
)

// TestHazards: a test whose code waits for its registers is preserved. Where one wait is taken away, what is stored or addressed
// is anything, and the cell is miscompiled.
func TestHazards(t *testing.T) {
	x, ok := corpus.Lookup("mp+membar.gl+addr")
	require.True(t, ok)
	tc := release(t, "12.4")[0]
	for _, target := range []string{"sm_80", "sm_90"} {
		u, err := ptxgen.Emit(x, ptxgen.Options{Target: target})
		require.NoError(t, err)
		res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O3", LineInfo: true, Header: ptxgen.Header(u.Version, target),
			Units: []toolchain.Unit{{Name: u.Name, Text: u.Text}}})
		require.NoError(t, err)
		code, err := pipeline.Decode(t.Context(), tc, "test", target, res.Batches[0].Cubin)
		require.NoError(t, err)
		var threads []Thread
		for _, k := range u.Kernels {
			fn, err := code.Func(k.Name)
			require.NoError(t, err)
			threads = append(threads, Thread{Func: fn, Consts: code.Consts, Literals: code.Literals[k.Name], Spec: k.Spec})
		}
		cell, _, err := Decide(t.Context(), x, threads, false)
		require.NoError(t, err)
		require.Equal(t, event.Preserved, cell.Class)

		const reader = 1 // the thread whose second load has its address from the first
		fn := threads[reader].Func
		load := slices.IndexFunc(fn.Insts, func(in isa.Inst) bool { return in.Role == isa.RoleLoad && in.Mem.Space == isa.SpaceGlobal })
		require.GreaterOrEqual(t, load, 0)
		board := fn.Insts[load].Control.Write
		for i := load + 1; i < len(fn.Insts); i++ {
			if in := &fn.Insts[i]; in.Control.Wait>>board&1 != 0 {
				in.Control.Wait &^= 1 << board
				break
			}
		}
		cell, listing, err := Decide(t.Context(), x, threads, false)
		require.NoError(t, err)
		require.Equal(t, event.Miscompiled, cell.Class, target)
		require.NotNil(t, listing)
		require.Equal(t, optcheck.HazardRAW.ID, cell.Findings[0].Rule)
		require.Equal(t, reader, cell.Findings[0].Thread)
		require.True(t, slices.ContainsFunc(cell.Findings[0].Flight.Lines, func(l hazard.Line) bool { return l.Text == fn.Insts[load].Text }))
	}
}
