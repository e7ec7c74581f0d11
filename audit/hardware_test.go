package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/report"
	"optcheck/spec"
)

var details = regexp.MustCompile(`T\d+: cannot lift .* at 0x[0-9a-f]+: `)

// TestHardwareOfPreserved: what the model of the hardware says of machine code that
// is its test. LLVM's lowering is believed: an outcome that OpenCL forbids would be
// a fault of the model. The share of cells that it understands is printed.
func TestHardwareOfPreserved(t *testing.T) {
	o := Options{Tests: corpus.OpenCL(), Toolchains: llvms(t), Layouts: []spec.Layout{spec.Pointers}, KeepVerdicts: true,
		Targets: []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}}
	if !full() {
		o.Toolchains, o.Levels = o.Toolchains[len(o.Toolchains)-1:], []string{"O0", "O2"}
	}
	run := report.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	judged, whole := 0, 0
	why := map[string]int{}
	var wrong []string
	for i := range run.Cells {
		c := &run.Cells[i]
		if strings.HasPrefix(c.Reason, "tool error") {
			wrong = append(wrong, fmt.Sprintf("%s %s %s %s: %s", c.Test, c.Toolchain, c.Target, c.Level, c.Reason))
		}
		if c.Class != report.Preserved || c.Verdict == nil || c.Verdict.Race != report.RaceFree {
			continue
		}
		whole++
		if c.Verdict.Unjudged == "" {
			judged++
		} else {
			why[details.ReplaceAllString(c.Verdict.Unjudged, "")+" | "+c.Test+" "+c.Target+" "+c.Level]++
		}
	}
	t.Logf("%d of %d preserved cells of tests without a race were judged", judged, whole)
	var reasons []string
	for k, n := range why {
		reasons = append(reasons, fmt.Sprintf("%6d  %s", n, k))
	}
	slices.Sort(reasons)
	t.Log("no verdict:\n" + strings.Join(reasons[:min(len(reasons), 40)], "\n"))
	require.Empty(t, wrong)
}
