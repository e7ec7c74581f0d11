package audit

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/toolchain"
)

// amdChanged lists the tests of the OpenCL corpus that releases of clang change
// at O2; docs/results/amd.md explains each.
var amdChanged = map[int]map[string][]string{
	14: {"gfx900": scalarReads, "gfx1030": slices.Concat(scalarReads, storesNotAwaited, nearFirst)},
	19: {"gfx900": scalarReads, "gfx1030": slices.Concat(scalarReads, storesNotAwaited)},
	22: {"gfx900": slices.Concat(scalarReads, []string{"cl-coRR+mem_fences", "cl-coRR+rw_mem_fences"}), "gfx1030": scalarReads},
}

var (
	scalarReads = []string{"cl-IRIW+weaks+fence.sc.devices", "cl-coRR", "cl-coRR+weaks+fence.sc.devices", "cl-mp+barriers",
		"cl-mp+weaks+fence.sc.devices"}
	// nearFirst are invalidated in the wrong order: the L0, then the GL1 after it.
	nearFirst = []string{"cl-IRIW+fence.sc.devices", "cl-IRIW+sc.devices", "cl-cas-sl+acquire+release", "cl-coRR+fence.sc.devices", "cl-coRR+sc.devices",
		"cl-mp+fence.release+fence.acquire", "cl-mp+fence.sc.devices", "cl-mp+release.allsvmdevices+acquire.allsvmdevices",
		"cl-mp+release.device+acquire.device", "cl-mp+sc.devices", "cl-sb+fence.sc.devices", "cl-sb+weaks+fence.sc.devices"}
	storesNotAwaited = []string{"cl-dlb-mp+mem_fences", "cl-dlb-mp-plain+mem_fences", "cl-mp+mem_fence+addr", "cl-mp+mem_fences",
		"cl-mp+rw_mem_fences", "cl-sb+mem_fences"}
)

// TestAMDMatrix pins what is changed and what is not: every cell is decided.
func TestAMDMatrix(t *testing.T) {
	for _, tc := range clangs(t) {
		known, ok := amdChanged[tc.Major()]
		if !ok {
			continue
		}
		o := Options{Tests: corpus.OpenCL(), Toolchains: []*toolchain.Toolchain{tc}, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Pointers}, Targets: []string{"gfx900", "gfx1030"}}
		jobs, err := o.plan()
		require.NoError(t, err)
		run := event.NewRun()
		require.NoError(t, newAuditor(o, run).run(context.Background(), jobs))
		got := map[string][]string{}
		for _, c := range run.Cells {
			switch c.Class {
			case optcheck.Preserved.String():
			case optcheck.Unknown.String(), optcheck.UnsupportedClass.String():
				assert.Fail(t, "undecided", "%s %s %s: %s %s", tc.ID, c.Target, c.Test, c.Class, c.Reason)
			default:
				got[c.Target] = append(got[c.Target], c.Test)
			}
		}
		for target, tests := range known {
			assert.ElementsMatch(t, tests, got[target], "%s %s", tc.ID, target)
		}
	}
}
