package audit

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestControlFaults: a compiler that breaks down over one kernel costs the cells
// of that kernel, says so, and costs no others; no breakdown is taken for a
// finding but a crash or a hang that is there each time. Two kernels that break down in different ways do not hide each other.
func TestControlFaults(t *testing.T) {
	tcs := releases(t)
	real := tcs[len(tcs)-1]
	dir := t.TempDir()
	require.NoError(t, fakeptxas.Build(dir, real.Nvdisasm, real.Cuobjdump))
	require.NoError(t, (&fakeptxas.Config{Real: real.Ptxas}).Write(dir))
	discover := func(t require.TestingT, limit time.Duration) []*toolchain.Toolchain {
		found, errs := tested.CUDA(context.Background(), toolchain.Options{Cache: "off", Runner: toolchain.NewRunner(0, limit),
			Env: func(key string) string { return map[string]string{"OPTCHECK_TOOLCHAIN_DIRS": dir}[key] }})
		require.Empty(t, errs)
		require.Len(t, found, 1)
		return found
	}
	var tests []*litmus.Test
	for _, n := range []string{"mp", "sb", "lb+addrs", "iriw", "coWW", "cas-sl", "r+relaxed.gpus"} {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		tests = append(tests, x)
	}
	o := Options{Tests: tests, Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}, BatchUnits: 4}
	o.Toolchains = discover(t, patient.Long)
	run := func(faults map[string]fakeptxas.Fault) *event.Run {
		require.NoError(t, (&fakeptxas.Config{Real: real.Ptxas, Faults: faults}).Write(dir))
		r := event.NewRun()
		require.NoError(t, Run(t.Context(), o, r))
		return r
	}
	kernel := func(test, thread int) string {
		u, err := ptxgen.Emit(tests[test], ptxgen.Options{Target: "sm_80", Layout: spec.Pointers})
		require.NoError(t, err)
		return u.Kernels[thread].Name
	}
	want := run(nil)
	reasons := map[fakeptxas.Fault]string{fakeptxas.Flicker: "infrastructure: ", fakeptxas.Killed: "killed", fakeptxas.Hang: "timeout", fakeptxas.Garbage: "not a cubin", fakeptxas.Truncated: "truncated",
		fakeptxas.Empty: "empty", fakeptxas.NoOutput: "no cubin", fakeptxas.Refusal: "compile", fakeptxas.Lost: "not in the machine code"}
	check := func(t require.TestingT, r *event.Run, bad map[string]fakeptxas.Fault) {
		require.Len(t, r.Cells, len(want.Cells))
		for i, c := range r.Cells {
			f, hit := bad[c.Test]
			if !hit {
				require.Equal(t, want.Cells[i], c)
				continue
			}
			if rule := map[fakeptxas.Fault]string{fakeptxas.Crash: event.RuleCrash, fakeptxas.Hang: event.RuleHang}[f]; rule != "" {
				require.Equal(t, event.Crashed, c.Class)
				require.Len(t, c.Findings, 1)
				require.Equal(t, rule, c.Findings[0].Rule)
				require.Contains(t, c.Findings[0].Detail, map[bool]string{
					true: "ptxas: killed by signal: segmentation fault; it says: ptxas: wild pointer … at …phase.c:…", false: "ptxas: no end within the time limit"}[f == fakeptxas.Crash])
				require.Nil(t, c.Verdict)
				continue
			}
			require.Equal(t, event.Unknown, c.Class)
			require.Contains(t, c.Reason, reasons[f], f)
			require.Empty(t, c.Findings)
			require.Nil(t, c.Verdict)
		}
	}
	for _, f := range fakeptxas.Faults {
		t.Run(string(f), func(t *testing.T) {
			limit := patient.Long
			if f == fakeptxas.Hang {
				limit = 2 * time.Second
			}
			patient.Limits(t, limit, func(t *patient.Trial, limit time.Duration) {
				o.Toolchains = discover(t, limit)
				r := run(map[string]fakeptxas.Fault{kernel(2, 0): f})
				check(t, r, map[string]fakeptxas.Fault{"lb+addrs": f})
				if !slices.Contains([]fakeptxas.Fault{fakeptxas.Lost, fakeptxas.Crash, fakeptxas.Hang}, f) { // the cells say it
					require.NotEmpty(t, r.Problems)
				}
			})
		})
	}
	t.Run("two", func(t *testing.T) {
		r := run(map[string]fakeptxas.Fault{kernel(2, 0): fakeptxas.Crash, kernel(5, 1): fakeptxas.Truncated})
		check(t, r, map[string]fakeptxas.Fault{"lb+addrs": fakeptxas.Crash, "cas-sl": fakeptxas.Truncated})
	})
	t.Run("the fake itself", func(t *testing.T) {
		edits := map[string]map[string][]fakeptxas.Edit{"sm_80": {kernel(0, 0): {{Op: fakeptxas.Delete, Pos: 30}}}}
		require.NoError(t, (&fakeptxas.Config{Real: real.Ptxas, Edits: edits}).Write(dir))
		r := event.NewRun()
		require.NoError(t, Run(t.Context(), o, r))
		for _, c := range r.Cells {
			if c.Test == "mp" {
				require.Equal(t, event.Unknown, c.Class, "an injection that does not fit must not pass for none")
				require.True(t, strings.HasPrefix(c.Reason, "infrastructure"), c.Reason)
			}
		}
	})
}
