package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
)

func TestIssues(t *testing.T) {
	require.Len(t, Issues, 10, "the study has ten")
	for _, x := range Issues {
		for _, name := range append(x.Tests, x.Fenced...) {
			_, ok := corpus.Lookup(name)
			require.True(t, ok, name)
		}
	}
	a, d := NewRun(), NewRun()
	a.Cells = []Cell{
		{Test: "coRR-volatile", Toolchain: "ptxas 5.5", Target: "sm_35", Result: Result{Class: "optimised", Findings: []Finding{{Rule: "reordered"}, {Rule: "reordered"}}}},
		{Test: "coRR-volatile", Toolchain: "ptxas 5.5", Target: "sm_20", Result: Result{Class: "preserved"}},
		{Test: "coRR-volatile", Toolchain: "ptxas 12.4", Target: "sm_90", Result: Result{Class: "preserved"}},
		{Test: "mp", Toolchain: "ptxas 12.4", Target: "sm_90", Result: Result{Class: "preserved"}},
		{Test: "cl-mp+mem_fences", Toolchain: "clang 22", Target: "tahiti", Result: Result{Class: "unsupported"}},
	}
	d.Histograms = []Histogram{
		{Test: "cas-sl", Device: TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: StatusDone, Weak: 3, Instances: 100, Says: []string{"allowed"}},
		{Test: "cas-sl", Device: TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: StatusDone, Instances: 100},
		{Test: "cas-sl+membar.gls", Device: TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: StatusTimeout, Instances: 7},
		{Test: "coRR", Device: TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Unvalidated: "changed: merged", Status: StatusRefused},
	}
	var b strings.Builder
	require.NoError(t, WriteIssues(&b, []*Run{a, d}))
	for _, want := range []string{
		"1. Fermi, Kepler: coherence of load-load pairs (Sec. 3.1.1; the chip's)\n   coRR                     H200 (ptxas 13.0 O3): not run: changed: merged\n",
		"   cas-sl                   H200 (ptxas 13.0 O3): seen 3 times of 200; the model: allowed\n",
		"   cas-sl+membar.gls        H200 (ptxas 13.0 O3): no run ended well\n",
		"8. CUDA 5.5: the compiler reorders volatile loads (Sec. 4.4; the compiler's: reordered)\n" +
			"   coRR-volatile            ptxas 12.4: 1 preserved; never reordered\n" +
			"   coRR-volatile            ptxas 5.5: 1 optimised, 1 preserved; reordered in 1 cell (sm_35)\n",
		"   nothing is known of cl-mp+mem_fences: no run has it\n",
	} {
		require.Contains(t, b.String(), want)
	}
}
