package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// TestLeftOut: of four turns of which the last one alone needs what it reads 12.4 leaves out the acquiring loads, and keeps their
// invalidations; 11.8 drops these, too. That it is the last turn whose load is kept is unknown without execution. A load that each turn
// needs must not be left out: the comparison says so, and so does execution.
func TestLeftOut(t *testing.T) {
	const dead, live = "add.u32 %r5, %r5, 0", "add.u32 %r5, %r5, %r2"
	left := module(t, "testdata/last.ptx")
	needed, err := ptx.Parse("last.ptx", []byte(strings.Replace(left.Plain(""), dead, live, 1)))
	require.NoError(t, err)
	for _, row := range []struct {
		release           string
		m                 *ptx.Module
		compared, checked string
	}{{"12.4", left, Unknown, Preserved}, {"11.8", left, Changed, Changed}, {"12.4", needed, Changed, Miscompiled}} {
		by := map[int]string{}
		for _, st := range row.m.Func("last").Body {
			if st.Inst != nil && st.Inst.Text == live {
				by[st.Inst.N] = dead + ";"
			}
		}
		tc := releases(t, row.release)[0]
		data, err := compile(t.Context(), tc, apply(row.m.Lined(lineFile, ""), by), "sm_80", "O3", nil)
		require.NoError(t, err)
		code, err := pipeline.Decode(t.Context(), tc, row.m.File, "sm_80", data)
		require.NoError(t, err)
		class := func(runs int) string {
			res := Check(row.m, code.Program, 80)
			if runs > 0 {
				require.NoError(t, res.execute(t.Context(), row.m, code, nil, refine.Options{Runs: runs}))
			}
			res.settle(runs > 0)
			class, why := res.Class()
			require.Equal(t, class == Unknown, strings.HasSuffix(why, "the load is left out, and its invalidation stays"), why)
			return class
		}
		require.Equal(t, row.compared, class(0), row.release)
		require.Equal(t, row.checked, class(10), row.release)
	}
}
