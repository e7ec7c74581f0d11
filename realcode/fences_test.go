package realcode

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestMinimum: in shared memory a minimum of 64 bits at a generic address is a load if nothing
// changes; what always writes is right, and so is a loop around a wider compare-and-exchange.
func TestMinimum(t *testing.T) {
	o := Options{Toolchains: releases(t), Targets: []string{"sm_70", "sm_80", "sm_90"}, Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, module(t, "testdata/minimum.ptx"), func(c *Cell) error {
		if c.Class == Unsupported {
			return nil
		}
		at := c.Toolchain + " " + c.Target + " " + c.Level
		require.NotNil(t, c.Result, "%s: %s", at, c.Reason)
		uncompared(t, c, at)
		require.Len(t, c.Result.Findings, 1, at)
		f := c.Result.Findings[0]
		assert.Equal(t, Missing, f.Rule, at)
		assert.Equal(t, "ordered", f.Kernel, at)
		assert.Contains(t, f.Detail, "a weak load of it, and nothing else", at)
		return nil
	}))
}

// TestNeighbourOfRelease: a weak store that 11.8 makes a part of the releasing store of its neighbour
// is no longer in front of the fence. 12.4, which does not know the alignment, keeps both.
func TestNeighbourOfRelease(t *testing.T) {
	data, err := os.ReadFile("../docs/reports/neighbours-across-release/min.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("min.ptx", data)
	require.NoError(t, err)
	for release, class := range map[string]string{"11.8": Miscompiled, "12.4": Preserved} {
		o := Options{Toolchains: releases(t, release), Targets: []string{"sm_90"}, Levels: []string{"O3"}}
		require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
			assert.Equal(t, class, c.Class, "%s: %s", c.Toolchain, c.Reason)
			return nil
		}))
	}
}

// TestEndOfMbarrier: sm_90 has an instruction that gives up an mbarrier, and it is missed; sm_80 needs none.
func TestEndOfMbarrier(t *testing.T) {
	m := module(t, "testdata/inval.ptx")
	all := mutants(m)
	i := slices.IndexFunc(all, func(x mutant) bool { return x.kind == "drop" && strings.Contains(x.what, "mbarrier.inval") })
	for _, tc := range releases(t, "11.8", "12.4") {
		for gpu, missed := range map[string]int{"sm_80": 0, "sm_90": 1} {
			honest := Check(m, changed(t, tc, m, nil, gpu, "O3").Program, number(gpu))
			require.Empty(t, slices.Concat(honest.Findings, honest.Unknown), "%s %s", tc.ID, gpu)
			require.Len(t, Check(m, changed(t, tc, m, all[i].text, gpu, "O3").Program, number(gpu)).Findings, missed, "%s %s", tc.ID, gpu)
		}
	}
}
