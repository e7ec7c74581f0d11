package realcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerdicts: of what a compiler does wrong with kernels, the model says which outcome
// it makes possible, by a test of the kernel's thread and a partner. What stands between,
// and orders, too, is not passed over, but for barriers, which both tests have. Where the
// model says nothing, that is told.
func TestVerdicts(t *testing.T) {
	const (
		reader, writer = "message passing, the reader", "message passing, the writer"
		taken, free    = "lock, taken", "lock, given up"
	)
	for _, x := range []struct{ file, kernel, what, pattern, machine string }{
		{"patterns", "called", "drop 229: fence.sc.gpu", writer, ""},
		{"patterns", "called", "weaken 229: fence.sc.gpu", writer, "fence.sc.cta"},
		{"patterns", "called", "move 229: fence.sc.gpu", writer, ""},
		{"patterns", "generic", "weaken 64: atom.add.acq_rel", reader, ""},
		{"patterns", "dropped", "weaken 192: ld.acquire.gpu", reader, ""},
		{"patterns", "dropped", "duplicate 187: atom.add.release", "counting", ""},
		{"patterns", "conditions", "drop 169: st.release", "counting", "exists (x=0)"},
		{"patterns", "aggregated", "drop 21: membar.gl", writer, ""},
		{"patterns", "dropped", "drop 186: membar.gl", "", ""}, // a release stands behind it
		{"patterns", "copies", "drop 84: cp.async.wait_group", "", "no axioms for"},
		{"patterns", "diverged", "drop 46: barrier.sync 0", "barrier", "x: shared"},
		{"patterns", "diverged", "move 46: barrier.sync 0 before", "barrier", "bar.sync"},
		{"patterns", "diverged", "drop 50: barrier.sync 0", "", ""}, // there is nothing behind it
		{"verdicts", "fenced", "drop 18: membar.gl", taken, "exists (1:r1=0"},
		{"verdicts", "fenced", "drop 22: membar.gl", free, "exists (1:r1=0"},
		{"verdicts", "fenced", "weaken 22: membar.gl", free, "fence.sc.cta"},
		{"verdicts", "ordered", "weaken 37: atom.global.acquire", taken, "exists (0:r1=0"},
		{"verdicts", "ordered", "weaken 41: st.global.release", free, ""},
		{"verdicts", "tiled", "drop 57: membar.cta", "store buffering", "x: shared, y: shared"},
		{"verdicts", "waited", "weaken 75: ld.acquire.gpu", reader, "bar.sync 0"},
		{"verdicts", "produced", "drop 103: bar.arrive 1, 64", "", "waits for ever"},
		{"verdicts", "produced", "move 103: bar.arrive 1, 64", "barrier", "bar.arrive 0,64"},
	} {
		t.Run(x.kernel+" "+x.what, func(t *testing.T) {
			patterns := miscompiled(t, "testdata/"+x.file+".ptx", x.kernel, x.what)
			if x.pattern == "" {
				require.Contains(t, fmt.Sprint(patterns), x.machine)
				require.NotContains(t, fmt.Sprint(patterns), "GPU_PTX")
				return
			}
			require.Contains(t, patterns, x.pattern)
			require.Contains(t, patterns[x.pattern], x.machine)
		})
	}
}

// miscompiled makes changes of a kernel and judges them: the machine code's tests by
// pattern, or why there is none.
func miscompiled(t *testing.T, file, kernel, what string) map[string]string {
	m := module(t, file)
	tc := releases(t, "12.4")[0]
	out, tried := map[string]string{}, 0
	for _, x := range mutants(m) {
		if x.kernel != kernel || !strings.HasPrefix(x.what, what) {
			continue
		}
		tried++
		code := changed(t, tc, m, x.text, "sm_80", "O3")
		cell := &Cell{Target: "sm_80"}
		require.NoError(t, cell.judge(t.Context(), m, nil, code, 0))
		for _, f := range cell.Result.Findings {
			if f.Kernel != kernel {
				continue
			}
			if v := f.Verdict; v != nil && v.Class == Miscompiled {
				require.Equal(t, Miscompiled, cell.Class)
				require.NotEqual(t, v.Source, v.Machine)
				require.Equal(t, v.Pattern != "counting", v.Check != "")
				out[v.Pattern] = v.Machine
			} else if v == nil {
				out[""] = f.NoTest
			}
		}
	}
	require.Positive(t, tried, "there is no such change")
	return out
}
