package device

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/report"
	"optcheck/report/html"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// TestLiftedHarness: the machine code of a binary that is the test allows what the test
// allows, no more and no less.
func TestLiftedHarness(t *testing.T) {
	tool := newest(t, "sm_90")
	j, err := NewJudge("ptx")
	require.NoError(t, err)
	g, err := cycle.Preset("opportunities")
	require.NoError(t, err)
	var some []*litmus.Test
	k, stride := 0, g.Count()/60
	for x := range g.Tests() {
		if k++; k%stride == 0 {
			some = append(some, x)
		}
	}
	c := &Compiler{Target: "sm_90", Level: "O3", Tool: tool}
	more, err := c.Build(t.Context(), some, ptxgen.FormFast)
	require.NoError(t, err)
	for _, bins := range [][]*Binary{corpusBins(t, ptxgen.FormFast), more} {
		n := 0
		for _, b := range bins {
			if b.Image == nil {
				continue
			}
			n++
			require.NotEqual(t, "unknown", b.State, "%s: %s", b.Test.Name, b.Why)
			require.Empty(t, b.Unlifted, b.Test.Name)
			want, got := j.Test(t.Context(), b.Test), map[string]bool{}
			for _, m := range b.Machine {
				states, _, err := want.ask(t.Context(), j.models[0], m.Test)
				require.NoError(t, err, b.Test.Name)
				for k := range states {
					got[k] = true
				}
			}
			if b.Validated {
				require.Equal(t, want.allows[0], got, "%s\n%s", b.Test, b.Machine[0].Test)
			}
		}
		require.Greater(t, n, len(bins)*8/10)
	}
}

// aroundAcquire loads the data in front of an acquire and again behind it: ptxas takes one
// load for both.
const aroundAcquire = `PTX around-acquire
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.weak r0, x        ;
 st.release.gpu y, 1 | ld.acquire.gpu r1, y ;
                     | ld.weak r2, x        ;
exists (P1:r0 == 0 /\ P1:r1 == 1 /\ P1:r2 == 0)
`

// TestEffectsOfChangedBinaries: what the test forbids and the machine code allows is the
// compiler's, what both forbid the chip's, what both allow the chip's again, unless the
// machine code needs no weakness of the chip for it.
func TestEffectsOfChangedBinaries(t *testing.T) {
	x, err := litmus.Parse("around-acquire.litmus", []byte(aroundAcquire))
	require.NoError(t, err)
	c := &Compiler{Target: "sm_80", Level: "O3", Tool: newest(t, "sm_80")}
	bins, err := c.Build(t.Context(), []*litmus.Test{x, tests(t, "coRR")[0], tests(t, "sb")[0]}, ptxgen.FormFast)
	require.NoError(t, err)
	j, err := NewJudge("ptx", "ptx-2015")
	require.NoError(t, err)
	judged := func(b *Binary) *Judgement {
		require.Equal(t, stateChanged, b.State, b.Test.Name)
		r := j.Binary(t.Context(), b)
		require.Empty(t, r.Unjudged)
		return r
	}
	r := judged(bins[0])
	require.Equal(t, EffectCompilerForbid, r.Effect([]int64{0, 1, 0}, false))
	require.Equal(t, EffectNone, r.Effect([]int64{0, 1, 1}, false))
	require.Equal(t, EffectForbid, r.Effect([]int64{1, 1, 0}, false), "neither the test nor its code may read backwards")
	require.Equal(t, EffectForbid, r.Effect([]int64{0, 7, 0}, false), "a value from nowhere")

	r = judged(bins[1]) // the second load reads what the first has read
	require.Equal(t, Allowed, r.Says(0, []int64{1, 0}))
	require.Equal(t, EffectCodeForbid, r.Effect([]int64{1, 0}, false))

	r = judged(bins[2]) // the load stands in front of the store
	require.Equal(t, EffectCompilerAllow, r.Effect([]int64{0, 0}, false))

	// What cannot be lifted or judged stays what it was.
	b := *bins[0]
	b.Machine, b.Unlifted = nil, "a loop"
	r = j.Binary(t.Context(), &b)
	require.Equal(t, "a loop", r.Unjudged)
	require.Equal(t, EffectCompiler, r.Effect([]int64{0, 1, 0}, false))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r = j.Binary(ctx, bins[0])
	require.NotEqual(t, EffectCompilerForbid, r.Effect([]int64{0, 1, 0}, false))
	b = *bins[0]
	b.State = "unknown"
	require.Equal(t, EffectCompiler, j.Binary(t.Context(), &b).Effect([]int64{0, 1, 0}, false))
}

// TestChangedBinaryInReports: the results of a changed binary tell whose effect each outcome
// is, with the machine code that says so; events, alerts and pages follow.
func TestChangedBinaryInReports(t *testing.T) {
	x, err := litmus.Parse("around-acquire.litmus", []byte(aroundAcquire))
	require.NoError(t, err)
	c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
	bins, err := c.Build(t.Context(), []*litmus.Test{x}, ptxgen.FormFast)
	require.NoError(t, err)
	j, err := NewJudge("ptx")
	require.NoError(t, err)
	h := runner.NewHistogram(x)
	for values, n := range map[[3]int64]uint64{{0, 0, 0}: 900, {0, 1, 0}: 90, {1, 1, 0}: 9, {0, 1, 1}: 1} {
		require.NoError(t, h.Add(values[:], n))
	}
	r := (&series{o: Options{Compiler: c}}).empty(bins[0], j.Binary(t.Context(), bins[0]))
	r.fill(&drive.Outcome{Histogram: h}, j.Binary(t.Context(), bins[0]))
	require.Contains(t, r.Lifted, "ld r2, r0")
	e := &r.Histogram
	require.NoError(t, e.Check())
	effects, code := map[string]string{}, map[string]string{}
	for _, o := range e.Outcomes {
		effects[fmt.Sprint(o.Values)], code[fmt.Sprint(o.Values)] = o.Effect, o.CodeSays
	}
	require.Equal(t, map[string]string{"[0 0 0]": EffectNone, "[0 1 0]": EffectCompilerForbid, "[1 1 0]": EffectForbid,
		"[0 1 1]": EffectNone}, effects)
	require.Equal(t, map[string]string{"[0 0 0]": Allowed, "[0 1 0]": Allowed, "[1 1 0]": Forbidden, "[0 1 1]": Forbidden}, code)

	run := event.NewRun()
	run.Histograms = []event.Histogram{*e}
	var md, sarif bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&md, run, 0))
	require.NoError(t, report.WriteSARIF(&sarif, run, nil))
	var junit, text bytes.Buffer
	require.NoError(t, report.WriteJUnit(&junit, run, false))
	require.NoError(t, report.WriteText(&text, run, report.TextOptions{}))
	require.Contains(t, junit.String(), "compiled-outcome")
	require.Contains(t, text.String(), "around-acquire: 1:r0=0; 1:r1=1; 1:r2=0;, 90 times: compiler, forbidden")
	for _, form := range []string{md.String(), sarif.String()} {
		require.Contains(t, form, "compiled-outcome")
		require.Contains(t, form, "compiler, forbidden")
		require.Contains(t, form, "forbidden-outcome")
	}
	set := event.NewSet()
	require.NoError(t, run.Replay(set))
	runs := html.NewRuns(set)
	page, err := html.RunBody(runs, runs.List[0])
	require.NoError(t, err)
	require.Contains(t, string(page), "what the test forbids and it allows is the compiler's effect")
	require.Contains(t, string(page), "compiler, forbidden")
}
