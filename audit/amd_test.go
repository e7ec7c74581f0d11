package audit

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/llvmir"
	"optcheck/match"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestMain also is the child that reads LLVM IR with a library.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == llvmir.ChildCommand {
		if err := llvmir.Run(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var llvmOnce = sync.OnceValue(func() []*toolchain.Toolchain {
	tcs, _ := tested.LLVM(context.Background(), toolchain.Options{})
	return tcs
})

// llvms finds the releases of LLVM that have libclc; without one, the test is
// skipped, unless OPTCHECK_REQUIRE_TOOLS=1 makes that a failure.
func llvms(t testing.TB) (out []*toolchain.Toolchain) {
	for _, tc := range llvmOnce() {
		if tc.Kind.(*toolchain.LLVM).Libclc != "" {
			out = append(out, tc)
		}
	}
	if len(out) == 0 {
		required.Missing(t, "no LLVM with libclc on this machine")
	}
	return out
}

func lookup(t *testing.T, names ...string) (tests []*litmus.Test) {
	for _, n := range names {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		tests = append(tests, x)
	}
	return tests
}

// TestAMDCorpus: every cell of the tests in OpenCL C is decided.
func TestAMDCorpus(t *testing.T) {
	o := Options{Tests: corpus.OpenCL(), Toolchains: llvms(t), Targets: []string{"gfx900", "gfx1030"}, Levels: []string{"O0", "O2"}, Layouts: spec.Layouts}
	if !full() {
		o.Targets, o.Levels = o.Targets[:1], o.Levels[1:]
	}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Len(t, run.Cells, len(o.Tests)*len(o.Toolchains)*len(o.Targets)*len(o.Levels)*len(o.Layouts))
	for _, c := range run.Cells {
		require.NotEqual(t, optcheck.Unknown.String(), c.Class, "%s %s %s %s %s: %s", c.Test, c.Toolchain, c.Target, c.Level, c.Layout, c.Reason)
	}
	preserved, _, _, _ := run.Count()
	require.Greater(t, preserved, len(run.Cells)/2)
	require.Less(t, run.Stats.OwnCPU, run.Stats.ToolCPU, "the compilers are the work")
}

// TestAMDStages: duplicate plain loads are merged by LLVM's passes, whatever the
// release; volatile ones are not merged; a fence of libclc 14 is waits, which is
// the library's doing.
func TestAMDStages(t *testing.T) {
	o := Options{Tests: lookup(t, "cl-coRR", "cl-coRR-volatile"), Toolchains: llvms(t), Targets: []string{"gfx900"}, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Pointers}}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	for _, c := range run.Cells {
		if c.Test == "cl-coRR-volatile" {
			require.Equal(t, optcheck.Preserved.String(), c.Class, "%v", c)
			continue
		}
		require.Equal(t, optcheck.Changed.String(), c.Class, "%v", c)
		require.Equal(t, optcheck.Merged.ID, c.Findings[0].Rule)
		require.Equal(t, match.StagePasses, c.Findings[0].Stage, c.Toolchain)
	}
}

// TestAMDUnsupported: what a back end or a release lacks is said, not guessed.
func TestAMDUnsupported(t *testing.T) {
	o := Options{Tests: lookup(t, "cl-cas-sl", "cl-mp+relaxed.devices", "mp+relaxed.clusters"), Toolchains: llvms(t)[:1],
		Targets: []string{"cypress"}, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Pointers}}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	reasons := map[string]string{}
	for _, c := range run.Cells {
		require.Equal(t, optcheck.UnsupportedClass.String(), c.Class, "%v", c)
		reasons[c.Test] = c.Reason
	}
	require.Contains(t, reasons["cl-cas-sl"], "the compiler cannot: ")
	require.Contains(t, reasons["cl-mp+relaxed.devices"], "r600 has no ordered atomics")
	require.Contains(t, reasons["mp+relaxed.clusters"], "no scope between work-group and device")
}

// TestAMDDeterministic: the same events on any number of workers.
func TestAMDDeterministic(t *testing.T) {
	o := Options{Tests: corpus.OpenCL()[:12], Toolchains: llvms(t)[:1], Targets: []string{"gfx900", "tahiti"}, Levels: []string{"O0", "O3"}, Layouts: spec.Layouts[:2]}
	var runs [2]*event.Run
	for i := range runs {
		o.Jobs = 1 + 3*i
		runs[i] = event.NewRun()
		require.NoError(t, Run(t.Context(), o, runs[i]))
	}
	require.Equal(t, runs[0].Cells, runs[1].Cells)
}

// TestValueOfThreePaths: what is known after a load that one of two predicates performs
// is known, though the compiler made branches of three ways of it.
func TestValueOfThreePaths(t *testing.T) {
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), Options{Tests: []*litmus.Test{generatedTest(t, "S+all-vol-p0::p1-xgyg@twin.weak-1.0")}, Toolchains: llvms(t),
		Targets: []string{"gfx900", "gfx1030"}, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Pointers, spec.Offsets}}, run))
	require.Positive(t, run.Len())
	for i := range run.Cells {
		c := &run.Cells[i]
		require.Equal(t, event.Preserved, c.Class, "%s %s %s: %s", c.Toolchain, c.Target, c.Layout, c.Reason)
	}
}

// TestAdjacentAMD: neighbours of one variable are told apart by what a relocation adds to
// its symbol, and by offsets; O2 makes one access of two weak ones.
func TestAdjacentAMD(t *testing.T) {
	tcs := llvms(t)
	for _, source := range []string{"opencl", "llvm-ir"} {
		tests := []*litmus.Test{generatedTest(t, "MP-p0::p1-xgyg"), generatedTest(t, "MP+fence.sc.gpus+all-rlx.gpu-p0::p1-xgyg")}
		run := event.NewRun()
		require.NoError(t, Run(t.Context(), Options{Tests: tests, Toolchains: tcs[len(tcs)-1:], Source: source, Targets: []string{"gfx900", "gfx1030", "gfx1200"},
			Levels: []string{"O0", "O2"}, Layouts: []spec.Layout{spec.Adjacent}}, run))
		require.Equal(t, 12, run.Len())
		for i := range run.Cells {
			c := &run.Cells[i]
			rules := map[string]bool{}
			for _, f := range c.Findings {
				rules[f.Rule] = true
			}
			weak := c.Test == tests[0].Name
			require.Equal(t, weak && c.Level == "O2", rules[optcheck.Merged.ID], "%s %+v", source, c)
			require.False(t, rules[optcheck.Retargeted.ID], "%s %+v", source, c)
			if !weak {
				require.Equal(t, event.Preserved, c.Class, "%s %+v", source, c)
			}
		}
	}
}
