package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
)

// TestVerdicts: of what a compiler does wrong with the patterns, the model says which
// outcome it makes possible, by a test of the kernel's thread and a partner. What
// stands between, and orders, too, is not passed over.
func TestVerdicts(t *testing.T) {
	m := module(t, "testdata/patterns.ptx")
	tc := releases(t, "12.4")[0]
	text := m.Lined(lineFile, "")
	patterns := func(kernel, what string) map[string]string {
		out := map[string]string{}
		for _, x := range mutants(m) {
			if x.kernel != kernel || !strings.HasPrefix(x.what, what) {
				continue
			}
			data, err := compile(t.Context(), tc, apply(text, x.text), "sm_80", "O3", nil)
			require.NoError(t, err)
			code, err := pipeline.Decode(t.Context(), tc, m.File, "sm_80", data)
			require.NoError(t, err)
			cell := &Cell{Target: "sm_80"}
			require.NoError(t, cell.judge(t.Context(), m, code))
			for _, f := range cell.Result.Findings {
				if v := f.Verdict; v != nil && v.Class == Miscompiled {
					require.Equal(t, Miscompiled, cell.Class)
					require.NotEqual(t, v.Source, v.Machine)
					require.Equal(t, v.Pattern != "counting", v.Check != "")
					out[v.Pattern] = v.Machine
				}
			}
		}
		return out
	}
	reader, writer := "message passing, the reader", "message passing, the writer"
	require.Contains(t, patterns("called", "drop 229: fence.sc.gpu"), writer)
	require.Contains(t, patterns("called", "weaken 229: fence.sc.gpu")[writer], "fence.sc.cta")
	require.Contains(t, patterns("called", "move 229: fence.sc.gpu"), writer)
	require.Contains(t, patterns("generic", "weaken 64: atom.add.acq_rel"), reader)
	require.Contains(t, patterns("dropped", "weaken 192: ld.acquire.gpu"), reader)
	require.Contains(t, patterns("dropped", "duplicate 187: atom.add.release"), "counting")
	require.Empty(t, patterns("aggregated", "drop 21: membar.gl"), "another fence stands between it and the next access")
}
