package audit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/match"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

var pairsOnce = sync.OnceValue(func() []*toolchain.Toolchain {
	tcs, _ := tested.LLC(context.Background(), toolchain.Options{})
	return tcs
})

// pairs finds the toolchains of llc and ptxas that names mean; see releases.
func pairs(t testing.TB, names ...string) []*toolchain.Toolchain {
	t.Helper()
	tcs, err := toolchain.Find(pairsOnce(), names...)
	if err != nil || len(tcs) == 0 {
		required.Missing(t, "no llc and ptxas %v found", names)
	}
	return tcs
}

// broken lists the findings of a cell: rule, thread, access, stage.
func broken(c *event.Cell) string {
	var s []string
	for _, f := range c.Findings {
		s = append(s, fmt.Sprintf("%s T%d#%d %s", f.Rule, f.Thread, f.Access, f.Stage))
	}
	sort.Strings(s)
	return strings.Join(slices.Compact(s), ", ")
}

// TestLLVMIR: what releases of LLVM make of the order of atomics and fences, all
// the way to a verdict, and which compiler lost it.
func TestLLVMIR(t *testing.T) {
	const (
		lockLost = "fence-removed T0#1 llc, fence-removed T1#0 llc"
		casLost  = "fence-removed T0#1 llc"
		sysLost  = "fence-removed T0#1 llc, weakened T0#1 llc"
	)
	type want struct{ class, text string }
	for _, c := range []struct {
		test string
		want map[int]want
	}{
		{"exch-sl+release.gpu+acquire.gpu", map[int]want{14: {"miscompiled", lockLost}, 19: {"miscompiled", lockLost}, 22: {"miscompiled", lockLost}}},
		{"cas-sl+release.gpu+acquire.gpu", map[int]want{14: {"miscompiled", lockLost}, 19: {"miscompiled", lockLost}, 22: {"miscompiled", casLost}}},
		{"cas-sl+release.sys+acquire.sys", map[int]want{19: {"miscompiled", lockLost + ", weakened T0#1 llc, weakened T1#0 llc"}, 22: {"miscompiled", sysLost}}},
		{"dlb-lb+acq_rel.gpus", map[int]want{19: {"miscompiled", "fence-removed T0#0 llc, fence-removed T1#1 llc"}, 22: {"preserved", ""}}},
		{"coRR+weaks", map[int]want{14: {"optimised", "merged T1#1 llc"}, 22: {"optimised", "merged T1#1 llc"}}},
		{"add.cta+add.gpu-inter", map[int]want{22: {"optimised", "strengthened T0#0 llc"}}},
		{"mp+relaxed.gpus", map[int]want{14: {"preserved", ""}, 19: {"preserved", ""}, 22: {"preserved", ""}}},
		{"mp+fence.sc.gpus", map[int]want{14: {"unsupported", "Cannot select: ch = AtomicFence seq_cst with a named scope"},
			19: {"unsupported", "Cannot select: ch = AtomicFence seq_cst with a named scope"}, 22: {"preserved", ""}}},
		{"mp+release.gpu+acquire.gpu", map[int]want{19: {"unsupported", `Cannot select: ch = AtomicStore<(store syncscope("device") release (s32), addrspace 1)>`}, 22: {"preserved", ""}}},
		{"sb+fence.sc.syss", map[int]want{19: {"unsupported", "AtomicFence seq_cst of the whole system"}, 22: {"preserved", ""}}},
		{"mp", map[int]want{22: {"unsupported", "LLVM IR has no cache operators"}}},
		{"coRR-volatile", map[int]want{22: {"unsupported", "not said with a scope"}}},
	} {
		for major, w := range c.want {
			for _, tc := range pairs(t, fmt.Sprint(major)) {
				o := Options{Tests: lookup(t, c.test), Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}}
				if !full() && tc.Release() != "12.4" {
					continue
				}
				run := event.NewRun()
				require.NoError(t, Run(t.Context(), o, run))
				require.Len(t, run.Cells, 6)
				require.Empty(t, run.Problems)
				for i := range run.Cells {
					x := &run.Cells[i]
					where := fmt.Sprintf("%s %s %s %s", c.test, tc.ID, x.Level, x.Layout)
					require.Equal(t, tc.ID, x.Toolchain)
					require.Equal(t, w.class, x.Class, where)
					if w.class == "unsupported" {
						require.Contains(t, x.Reason, w.text, where)
						require.NotContains(t, x.Reason, ptxgen.SourceName, where)
						require.NotContains(t, x.Reason, "0x", where)
						continue
					}
					require.Equal(t, w.text, broken(x), where)
					if w.class == "miscompiled" {
						require.NotEmpty(t, x.Verdict.New, where)
						require.Equal(t, "ptx", x.Verdict.Model)
					}
				}
			}
		}
	}
}

// TestLLVMIRStages: faults planted into what llc hands to ptxas are llc's.
func TestLLVMIRStages(t *testing.T) {
	tc := pairs(t, "22+12.4")
	for _, c := range []struct {
		test, kernel, old, new string
		class, want            string
	}{
		{"mp+release.gpu+acquire.gpu", "_T0", "st.release.gpu.", "st.relaxed.gpu.", "miscompiled", "fence-removed T0#1 llc"},
		{"mp+release.gpu+acquire.gpu", "_T1", "ld.acquire.gpu.", "ld.relaxed.gpu.", "miscompiled", "fence-removed T1#0 llc"},
		{"mp+release.gpu+acquire.gpu", "_T0", "st.release.gpu.", "st.release.cta.", "miscompiled", "fence-weakened T0#1 llc, weakened T0#1 llc"},
		{"mp+fence.sc.gpus", "_T0", `fence\.sc\.gpu;`, "", "miscompiled", "fence-removed T0#1 llc"},
		{"mp+fence.sc.gpus", "_T1", `fence\.sc\.gpu;`, "fence.acq_rel.cta;", "miscompiled", "fence-weakened T1#1 llc"},
		{"sb+fence.sc.gpus", "_T1", `fence\.sc\.gpu;`, "fence.acq_rel.gpu;", "miscompiled", "fence-weakened T1#1 llc"},
		{"mp+relaxed.gpus", "_T0", `st\.relaxed\.gpu\.`, "st.", "optimised", "weakened T0#0 llc, weakened T0#1 llc"},
		{"mp+relaxed.syss", "_T0", `st\.relaxed\.sys\.`, "st.relaxed.gpu.", "optimised", "weakened T0#0 llc, weakened T0#1 llc"},
		{"coRR+relaxed.gpus", "_T1", `(?s)(\tld\.relaxed\.gpu\.global\.b32 \t(%r\d+), [^\n]*\n)(.*?)\tld\.relaxed\.gpu\.global\.b32 \t(%r\d+), [^\n]*\n`, "$1$3\tmov.b32 $4, $2;\n",
			"optimised", "merged T1#1 llc"},
		{"2+2w+relaxed.gpus", "_T0", `(?s)(\tst\.relaxed\.gpu[^\n]*\n)(.*?)(\tst\.relaxed\.gpu[^\n]*\n)`, "$2$3$1", "optimised", "reordered T0#1 llc"},
		{"lb+datas-relaxed.gpus", "_T0", `and\.b32 +\t(%r\d+), (%r\d+), -2147483648;`, "mov.b32 $1, 0;", "miscompiled", "dependency-broken T0#1 llc, value-changed T0#1 "},
		{"mp+release.gpu+acquire.gpu", "_T0", `(\tst\.release\.gpu[^\n]*\n)`, "$1$1", "optimised", "duplicated T0#1 llc"},
		{"mp+relaxed.gpus", "_T0", `nothing`, "", "preserved", ""},
	} {
		old := regexp.MustCompile(c.old)
		run := event.NewRun()
		o := Options{Tests: lookup(t, c.test), Toolchains: tc, Targets: []string{"sm_80"}, Levels: []string{"O1"}, Layouts: []spec.Layout{spec.Pointers}}
		jobs, err := o.plan()
		require.NoError(t, err)
		a := newAuditor(o, run)
		n := 0
		a.between = func(_ job, kernel, ptx string) string {
			if !strings.HasSuffix(kernel, c.kernel) {
				return ptx
			}
			n += len(old.FindAllString(ptx, -1))
			return old.ReplaceAllString(ptx, c.new)
		}
		require.NoError(t, a.run(context.Background(), jobs))
		require.Equal(t, c.want != "", n > 0, "%s: %s", c.test, c.old)
		if assert.Empty(t, run.Problems) && assert.Len(t, run.Cells, 1) {
			assert.Equal(t, c.want, broken(&run.Cells[0]), "%s: %s", c.test, c.old)
			assert.Equal(t, c.class, run.Cells[0].Class, "%s: %s", c.test, c.old)
		}
	}
}

// TestMutationLLVMIR plants faults in validated machine code that was LLVM IR,
// as TestMutation does. Since the PTX in between is as it should be, each is
// ptxas's. Lines of the IR are a second witness of every one of these kernels.
func TestMutationLLVMIR(t *testing.T) {
	o := Options{Tests: corpus.Tests(), Toolchains: pairs(t, "19", "22", "12.4"), Levels: []string{"O0", "O3"}, Targets: []string{"sm_70", "sm_80", "sm_90"}}
	if !full() {
		o.Targets, o.Toolchains = []string{"sm_80"}, pairs(t, "22+12.4")
	}
	var mu sync.Mutex
	ptx := map[string]string{}
	total, dead, kernels := map[string]int{}, 0, 0
	var missed []string
	jobs, err := o.plan()
	require.NoError(t, err)
	a := newAuditor(o, event.NewRun())
	key := func(ID, target, level, kernel string) string {
		return strings.Join([]string{ID, target, level, kernel}, "|")
	}
	a.between = func(j job, kernel, text string) string {
		mu.Lock()
		defer mu.Unlock()
		ptx[key(j.tc.ID, j.target, j.level, kernel)] = text
		return text
	}
	a.visit = func(v kernelVisit) {
		if !v.preserved() {
			return
		}
		test, _ := corpus.Lookup(v.cell.Test)
		again, err := v.check.Check(v.fn)
		mu.Lock()
		text := ptx[key(v.cell.Toolchain, v.cell.Target, v.cell.Level, v.fn.Name)]
		if err != nil || again.Class != optcheck.Preserved && !widened(again, v.kernel.Spec, text) {
			missed = append(missed, "an unmutated kernel is reported: "+v.fn.Name+": "+again.Reason)
		}
		kernels++
		if !v.result.Lines && slices.ContainsFunc(v.kernel.Spec.Entries, func(e spec.Entry) bool { return !e.IsFence() }) {
			missed = append(missed, "line information tells no story of "+v.fn.Name)
		}
		mu.Unlock()
		for _, m := range mutants(v, again.Placed()) {
			r, err := v.check.CheckAgainst(m.fn, v.kernel.Spec)
			hit := err == nil && reported(r.Result, m.want)
			why := ""
			if hit {
				why = notPtxas(r.Result, text, v, test)
			}
			mu.Lock()
			total[m.operator]++
			if hit && why == "" {
				dead++
			} else if len(missed) < 20 {
				missed = append(missed, fmt.Sprintf("%s of %s T%d %s %s %s %s: class %v, rules %s %s", m.operator, v.cell.Test, v.kernel.Thread,
					v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, r.Class, rules(r.Result), why))
			}
			mu.Unlock()
		}
	}
	require.NoError(t, a.run(context.Background(), jobs))
	all := 0
	for _, n := range total {
		all += n
	}
	t.Logf("mutation score: %d of %d mutants of %d validated kernels: %v", dead, all, kernels, total)
	require.Empty(t, missed)
	require.Equal(t, all, dead)
	for _, op := range []string{"swap", "drop", "double", "weaken", "drop-fence", "weaken-fence", "drop-invalidate", "cut-dependency", "change-value", "retarget", "merge"} {
		require.Positive(t, total[op], "no mutant of operator %s", op)
	}
}

// widened reports whether a kernel without findings is undecided because LLVM made it stronger than its test, which
// only a model can judge: a scope is wider, or a fence that only releases became one that acquires, too.
func widened(r *optcheck.Checked, s *spec.Spec, ptx string) bool {
	if r.Class != optcheck.Unknown || len(r.Findings) > 0 {
		return false
	}
	fence := func(sem litmus.Sem) bool {
		return slices.ContainsFunc(s.Entries, func(e spec.Entry) bool { return e.IsFence() && e.Kind.Sem == sem })
	}
	return strings.Contains(r.Reason, "has more strength") ||
		fence(litmus.SemRelease) && !fence(litmus.SemAcqRel) && strings.Contains(ptx, "fence.acq_rel.")
}

// notPtxas names a finding that is said to have arisen elsewhere than in ptxas.
func notPtxas(r *optcheck.Result, text string, v kernelVisit, test *litmus.Test) string {
	k, err := match.PTX(v.fn.Name, text, v.kernel.Spec, test)
	if err != nil {
		return err.Error()
	}
	for _, f := range appendFindings(nil, r.Findings) {
		if s := k.Stage(&f); s != match.StagePtxas && f.Rule != optcheck.ValueChanged.ID && f.Rule != optcheck.WitnessesDisagree.ID {
			return fmt.Sprintf("%s #%d arose in %q", f.Rule, f.Access, s)
		}
	}
	return ""
}

// TestLLVMIRDeterministic: the same events on any number of workers and however
// kernels are spread over processes.
func TestLLVMIRDeterministic(t *testing.T) {
	o := Options{Tests: corpus.Tests()[:40], Toolchains: pairs(t, "19", "22", "12.4"), Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}}
	var runs [2]*event.Run
	for i := range runs {
		o.Jobs, o.BatchUnits = 1+3*i, 11+200*i
		runs[i] = event.NewRun()
		require.NoError(t, Run(t.Context(), o, runs[i]))
	}
	require.Equal(t, runs[0].Cells, runs[1].Cells)
}

// TestAdjacentLLVMIR: llc keeps neighbours apart, ptxas 11.8 makes one access of them.
func TestAdjacentLLVMIR(t *testing.T) {
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), Options{Tests: []*litmus.Test{generatedTest(t, "MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg")}, Toolchains: pairs(t, "22+11.8"),
		Source: "llvm-ir", Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Adjacent}}, run))
	require.Equal(t, 2, run.Len())
	for i := range run.Cells {
		c := &run.Cells[i]
		if c.Level == "O0" {
			require.Equal(t, event.Preserved, c.Class, "%+v", c)
			continue
		}
		require.Equal(t, event.Miscompiled, c.Class, "%+v", c)
		require.Contains(t, broken(c), "merged T0#1 ptxas")
	}
}
