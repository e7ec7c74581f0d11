package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/amdisa"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
)

// TestLoopRoads audits loops in LLVM IR for NVIDIA, and in LLVM IR and OpenCL C for AMD:
// every cell is decided, and at O0 each is the test.
func TestLoopRoads(t *testing.T) {
	var tests []*litmus.Test
	for _, n := range []string{
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@loop-1.0.2",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@loop-0.0.3",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@spin-1.0",
		"LB+datas+all-rlx.gpu-p0::p1-xgyg@spin-0.0",
	} {
		tests = append(tests, generatedTest(t, n))
	}
	for _, n := range []string{"counted", "some", "two"} {
		tests = append(tests, killShape(t, n, loopShapes[n]))
	}
	o := Options{Tests: tests, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Pointers}}
	roads := map[string]Options{"nvidia": o, "amd": o, "amd halves": o, "amd ir": o}
	for name, o := range roads {
		t.Run(name, func(t *testing.T) {
			o.Source, o.Toolchains, o.Targets = "llvm-ir", pairs(t, "22+12.4"), []string{"sm_80"}
			if name != "nvidia" {
				o.Toolchains, o.Targets = clangs(t), []string{"gfx900"}
			}
			switch name {
			case "amd":
				o.Source = "" // OpenCL C
			case "amd halves":
				o.Source, o.Targets = "", []string{"gfx1100"}
				o.Toolchains = slices.DeleteFunc(o.Toolchains, func(tc *toolchain.Toolchain) bool { return tc.Major() != 22 })
			case "amd ir":
				o.Toolchains = slices.DeleteFunc(o.Toolchains, func(tc *toolchain.Toolchain) bool { return tc.Kind.(*toolchain.LLVM).LLC == "" })
			}
			run := event.NewRun()
			require.NoError(t, Run(t.Context(), o, run))
			require.NotZero(t, run.Len())
			classes := map[string]int{}
			for _, c := range run.All() {
				classes[c.Level+" "+c.Class]++
				require.NotContains(t, []string{event.Unknown, event.Unsupported}, c.Class, "%s %s %s: %s", c.Test, c.Toolchain, c.Level, c.Reason)
				if c.Level == "O0" {
					require.Equal(t, event.Preserved, c.Class, "%s %s: %v", c.Test, c.Toolchain, c.Findings)
				}
			}
			t.Log(classes)
			require.Positive(t, classes["O3 "+event.Preserved])
		})
	}
}

// TestLoopRoadEdited: AMD's machine code with a loop is not the test if the loop is
// another one.
func TestLoopRoadEdited(t *testing.T) {
	x := generatedTest(t, "MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@loop-1.0.1")
	u, err := ptxgen.EmitLLVMIR(x, ptxgen.Options{Target: "gfx900", Layout: spec.Pointers})
	require.NoError(t, err)
	k := &u.Kernels[1]
	tcs := clangs(t)
	res, err := tcs[len(tcs)-1].CompileLLVM(t.Context(), toolchain.LLVMJob{Source: toolchain.LLVMIR, Job: toolchain.Job{Target: "gfx900", Level: "O3",
		Header: ptxgen.HeaderAMD, Units: []toolchain.Unit{{Name: k.Name, Text: k.Text}}}})
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	for _, w := range []struct{ what, old, by, class, reason string }{
		{"nothing", "", "", "preserved", ""},
		{"fewer rounds", "s_cmp_lt_i32 s6, 4", "s_cmp_lt_i32 s6, 3", "changed", "missing"},
		{"one more round", "s_cmp_lt_i32 s6, 4", "s_cmp_lt_i32 s6, 5", "changed", "duplicated"},
		{"many rounds", "s_cmp_lt_i32 s6, 4", "s_cmp_lt_i32 s6, 6", "unknown", "may go round more often"},
		{"no end", "s_add_i32 s6, s6, 1", "s_nop 0", "unknown", "may go round more often"},
		{"an end that a value decides", "s_cmp_lt_i32 s6, 4", "v_readfirstlane_b32 s9, v0\n\ts_cmp_lt_i32 s9, 4", "unknown", "may go round more often"},
		{"no loop", "s_cbranch_scc1", "s_nop 0 ;", "changed", "missing"},
		{"no invalidation", "buffer_wbinvl1_vol", "s_nop 0", "changed", "invalidate-missing"},
	} {
		t.Run(w.what, func(t *testing.T) {
			text := string(res.Batches[0].Text)
			require.Contains(t, text, w.old, text[:min(len(text), 2500)])
			prog, err := amdisa.ParseFor("edited", []byte(strings.Replace(text, w.old, w.by, 1)), "gfx900")
			require.NoError(t, err)
			r, err := optcheck.NewChecker().CheckAgainst(prog.Funcs[0], k.Spec)
			require.NoError(t, err)
			reason := r.Reason
			for _, f := range r.Findings {
				reason += " " + f.Rule
			}
			require.Equal(t, w.class, r.Class.String(), reason)
			require.Contains(t, reason, w.reason)
		})
	}
}
