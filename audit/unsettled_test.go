package audit

import (
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

// TestUnsettled: control codes of a test are taken away one at a time. No cell with a claim is preserved. Where what the registers hold can be
// no address, stored value or condition, the model decides; else the cell is miscompiled if it reaches one.
func TestUnsettled(t *testing.T) {
	const target = "sm_80"
	x, ok := corpus.Lookup("coRR")
	require.True(t, ok)
	tc := release(t, "12.4")[0]
	u, err := ptxgen.Emit(x, ptxgen.Options{Target: target})
	require.NoError(t, err)
	res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O0", LineInfo: true, Header: ptxgen.Header(u.Version, target),
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
	judged, wild := 0, 0
	for _, th := range threads {
		fn := th.Func
		for i := range fn.Insts {
			was := fn.Insts[i].Control
			for _, edit := range []func(c *isa.Control){func(c *isa.Control) { c.Wait = 0 }, func(c *isa.Control) { c.Write = isa.NoBarrier },
				func(c *isa.Control) { c.Read = isa.NoBarrier }} {
				edit(&fn.Insts[i].Control)
				claims := hazard.Judge(fn).Claims
				if len(claims) == 0 {
					fn.Insts[i].Control = was
					continue
				}
				cell, _, err := Decide(t.Context(), x, threads, false)
				require.NoError(t, err)
				require.Len(t, cell.Findings, len(claims))
				loose := optcheck.NewChecker()
				loose.Consts, loose.Literals, loose.Unsettled = th.Consts, th.Literals, unsettled(fn, claims)
				r, err := loose.CheckAgainst(fn, th.Spec)
				require.NoError(t, err)
				switch {
				case r.Wild():
					wild++
					require.Contains(t, []string{event.Miscompiled, event.Changed}, cell.Class, claims[0].Detail)
				default:
					judged++
					require.Equal(t, event.Optimised, cell.Class, claims[0].Detail)
					require.NotNil(t, cell.Verdict)
					require.Empty(t, cell.Verdict.New)
				}
				fn.Insts[i].Control = was
			}
		}
	}
	t.Log(judged, wild)
	require.Positive(t, judged)
	require.Positive(t, wild)
}
