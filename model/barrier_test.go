package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// TestBarriers: a barrier orders what stands before it before what stands after
// it, in every model that knows barriers, and forbids no execution besides.
func TestBarriers(t *testing.T) {
	for name, models := range map[string][]string{"cl-mp+barriers": {"sc", "tso", "opencl"}, "mp+bar.syncs": {"sc", "tso", "ptx", "opencl"}} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok)
		for _, m := range models {
			l, err := Load(m)
			require.NoError(t, err)
			v, err := l.Judge(t.Context(), x, Options{})
			require.NoError(t, err)
			require.Len(t, v.States, 1, "%s of %s", m, name)
			require.Equal(t, []int64{1}, v.States[0].Values)
			require.Empty(t, v.Flags)
		}
	}
	// What only runs beside a barrier races.
	x, err := litmus.Parse("race", []byte("GPU_OPENCL race\n{\nx=0;\n1:int r0;\n}\n T0                            | T1                            ;\n"+
		" barrier(CLK_GLOBAL_MEM_FENCE) | barrier(CLK_GLOBAL_MEM_FENCE) ;\n *x = 1                        | r0 = *x                       ;\n"+
		"ScopeTree(grid(cta(warp T0) (warp T1)))\nx: global\nexists (1:r0=0)\n"))
	require.NoError(t, err)
	l, err := Load("opencl")
	require.NoError(t, err)
	v, err := l.Judge(t.Context(), x, Options{})
	require.NoError(t, err)
	require.Len(t, v.States, 2)
	require.Equal(t, []string{"data-race"}, v.Flags)
}
