package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestProgramCells: tests with asynchronous operations are compared by their PTX. A wait for an mbarrier of which nothing uses the answer is
// the one thing that ptxas 12.4 does not keep.
func TestProgramCells(t *testing.T) {
	var tests []*litmus.Test
	for _, name := range []string{"mbar-mp", "mbar-mp-unguarded", "bulk-source-fence", "bulk-out-read", "copy-mbarrier", "cluster-mp-shared", "dsm-mp",
		"dsm-mbar", "dsm-mbar-unguarded", "sizes-mp-halves"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		tests = append(tests, x)
	}
	tc := tested.Release(t, "12.4")
	run := event.NewRun()
	o := Options{Tests: tests, Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O3"},
		Layouts: []spec.Layout{spec.Pointers, spec.Symbols}, Execute: 1}
	require.NoError(t, Run(t.Context(), o, run))
	classes := map[string]int{}
	for _, c := range run.Cells {
		classes[c.Class]++
		switch {
		case c.Class == event.Unsupported:
			assert.Equal(t, "sm_80", c.Target, c.Test)
		case c.Level == "O3" && c.Test == "mbar-mp-unguarded":
			assert.Equal(t, event.Miscompiled, c.Class, "%s %s", c.Test, c.Target)
			assert.True(t, strings.Contains(c.Findings[0].Detail, "nothing waits for its answer"), c.Findings)
		default:
			assert.Equal(t, event.Preserved, c.Class, "%s %s %s %s: %s", c.Test, c.Target, c.Level, c.Layout, c.Reason)
		}
	}
	require.Equal(t, map[string]int{event.Miscompiled: 4, event.Preserved: 52, event.Unsupported: 24}, classes)
}
