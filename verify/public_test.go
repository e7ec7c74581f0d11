package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublic: of mistakes that were reported in public, each is found in the kernel that has it, and nothing in the one that has what the report asks for.
func TestPublic(t *testing.T) {
	m := module(t, "testdata/public.ptx")
	cases := map[string]struct {
		grid, block int
		rule        Rule
	}{
		"refill":     {1, 32, DataRace},
		"reused":     {1, 32, DataRace},
		"reduced":    {1, 32, DataRace},
		"serial":     {3, 32, DataRace},
		"retired":    {3, 32, DataRace},
		"devicewide": {3, 64, DataRace},
		"uneven":     {1, 64, BarrierDivergence},
		"branched":   {1, 32, DataRace},
		"idle":       {1, 64, Stuck},
		"counters":   {1, 32, DataRace},
		"once":       {1, 64, DataRace},
		"ahead":      {1, 64, Stuck},
	}
	kernels := 0
	for _, f := range m.Funcs {
		name, bug := strings.CutSuffix(f.Name, "_bug")
		name, fix := strings.CutSuffix(name, "_fix")
		if !bug && !fix {
			continue
		}
		kernels++
		c := cases[name]
		o := Options{Launch: Launch{Grid: [3]int{c.grid, 1, 1}, Block: [3]int{c.block, 1, 1}}, Inputs: 1, Schedules: 4, CUDA: true, Unmended: true}
		r, err := Kernel(m, f.Name, &o)
		require.NoError(t, err)
		require.Empty(t, r.Unknown, r.Text())
		if fix {
			require.Empty(t, r.Found, r.Text())
		} else {
			require.True(t, slices.ContainsFunc(r.Found, func(x *Finding) bool { return x.Rule == c.rule }), r.Text())
		}
	}
	require.Equal(t, 2*len(cases), kernels)
}
