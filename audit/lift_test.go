package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/toolchain"
)

// lifted audits tests and keeps all verdicts.
func lifted(t *testing.T, o Options) *event.Run {
	t.Helper()
	o.KeepVerdicts = true
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Empty(t, run.Problems)
	return run
}

func corpusTest(t *testing.T, name string) *litmus.Test {
	t.Helper()
	for _, x := range corpus.Tests() {
		if x.Name == name {
			return x
		}
	}
	require.Fail(t, "no test "+name)
	return nil
}

// TestLiftedAreTests: what is lifted from machine code is a sound litmus test
// that can be printed, read again and judged, with the same outcomes.
func TestLiftedAreTests(t *testing.T) {
	run := lifted(t, Options{Tests: corpus.Tests(), Toolchains: releases(t), Levels: []string{"O0", "O3"}, Targets: []string{"sm_35", "sm_60", "sm_80", "sm_90"},
		Layouts: []spec.Layout{spec.Pointers, spec.Offsets}})
	seen := map[string]bool{}
	for i := range run.Cells {
		c := &run.Cells[i]
		if c.Class == event.Unsupported {
			continue
		}
		v := c.Verdict
		require.NotNil(t, v, "%+v", c)
		if key := v.Model + v.Lifted; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		back, err := litmus.Parse("lifted", []byte(v.Lifted))
		require.NoError(t, err, "%s:\n%s", c.Test, v.Lifted)
		require.NoError(t, back.Check(), "%s:\n%s", c.Test, v.Lifted)
		require.Equal(t, v.Lifted, back.String())
		m, err := model.Load(v.Model)
		require.NoError(t, err)
		states, _, err := m.Outcomes(t.Context(), back, model.Options{})
		require.NoError(t, err)
		require.Len(t, states, v.Machine, "%s:\n%s", c.Test, v.Lifted)
	}
	require.Greater(t, len(seen), 200)
	t.Logf("%d cells, %d distinct lifted tests", len(run.Cells), len(seen))
}

// TestVerdicts: what is known of real compilers comes out with the right
// outcomes and reasons.
func TestVerdicts(t *testing.T) {
	for _, w := range []struct {
		test, release, target string
		layout                spec.Layout
		class                 string
		fresh, lost, sc       string
		check                 string
		contains              []string
	}{
		{test: "coRR", release: "12.4", target: "sm_80", class: "optimised", lost: "1:r1=0; 1:r2=1; x=1;,1:r1=1; 1:r2=0; x=1;", contains: []string{"mov.s32 r2,r1"}},
		{test: "sb-inter", release: "12.4", target: "sm_90", layout: spec.Offsets, class: "optimised", sc: "0:r1=0; 1:r1=0; x=1; y=1;"},
		{test: "sb-inter", release: "12.4", target: "sm_90", layout: spec.Pointers, class: "preserved"},
		{test: "coWW", release: "11.8", target: "sm_60", class: "optimised"},
		{test: "mp+membar.gls", release: "11.8", target: "sm_35", class: "miscompiled", fresh: "1:r1=1; 1:r2=0; x=1; y=1;", check: "gl-constraint", contains: []string{"membar.cta"}},
		{test: "mp+membar.gls", release: "11.8", target: "sm_50", class: "preserved", contains: []string{"membar.gl"}},
		{test: "mp+release.gpu+acquire.gpu", release: "12.4", target: "sm_70", class: "preserved", contains: []string{"st.release.gpu", "ld.acquire.gpu"}},
		{test: "mp+release.cta+acquire.cta", release: "12.4", target: "sm_90", class: "preserved", contains: []string{"st.release.cta", "ld.acquire.cta"}},
	} {
		t.Run(strings.Join([]string{w.test, w.release, w.target, w.layout.String()}, " "), func(t *testing.T) {
			run := lifted(t, Options{Tests: []*litmus.Test{corpusTest(t, w.test)}, Toolchains: release(t, w.release), Levels: []string{"O3"},
				Targets: []string{w.target}, Layouts: []spec.Layout{w.layout}})
			require.Len(t, run.Cells, 1)
			c := run.Cells[0]
			require.Equal(t, w.class, c.Class)
			v := c.Verdict
			require.Equal(t, w.fresh, strings.Join(v.New, ","))
			require.Equal(t, w.sc, strings.Join(v.SCNew, ","))
			if w.lost != "" {
				require.Equal(t, w.lost, strings.Join(v.Lost, ","))
			}
			require.Equal(t, w.check, v.Check)
			require.Equal(t, w.fresh != "", slices.Equal(v.Visible, []string{"1:r1=1; 1:r2=0;"}))
			require.Equal(t, DefaultModel(w.target), v.Model)
			for _, s := range w.contains {
				require.Contains(t, v.Lifted, s)
			}
		})
	}
}

// TestModelOverride: another model gives another verdict.
func TestModelOverride(t *testing.T) {
	o := Options{Tests: []*litmus.Test{corpusTest(t, "sb-inter")}, Toolchains: release(t, "12.4"), Levels: []string{"O3"}, Targets: []string{"sm_90"},
		Layouts: []spec.Layout{spec.Offsets}, Model: "sc"}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Equal(t, event.Miscompiled, run.Cells[0].Class, "store and load are swapped, which sc forbids")
	require.Equal(t, "sc", run.Cells[0].Verdict.Model)
	o.Model = "none.such"
	require.Error(t, Run(t.Context(), o, event.NewRun()))
	o.Model, o.NoVerdict = "", true
	run = event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Equal(t, event.Changed, run.Cells[0].Class)
	require.Nil(t, run.Cells[0].Verdict)
}

// TestAsking: outcomes are questions to a model again.
func TestAsking(t *testing.T) {
	x := corpusTest(t, "mp")
	a, err := Asking(x, "1:r1=1; 1:r2=0;")
	require.NoError(t, err)
	require.NoError(t, a.Check())
	require.Equal(t, `exists (1:r1=1 /\ 1:r2=0)`, a.Cond.String())
	a, err = Asking(x, "1:r1=1; 1:r2=0; x=1; y=1;")
	require.NoError(t, err)
	require.Equal(t, `exists (1:r1=1 /\ 1:r2=0 /\ x=1 /\ y=1)`, a.Cond.String())
	for _, bad := range []string{"", "1:r1=1;", "1:r2=1; 1:r1=0;", "1:r1=x; 1:r2=0;", "1:r1=1; 1:r2=0; 1:r3=0;", "1:r1=1; 1:r2=0; y=0; x=0;"} {
		_, err := Asking(x, bad)
		require.Error(t, err, bad)
	}
}

// TestMeanings: every row of the table says in PTX what its fields say.
func TestMeanings(t *testing.T) {
	for _, m := range optcheck.Meanings {
		require.NotEmpty(t, m.Source, m.Machine)
		require.NotEmpty(t, m.Machine)
		for _, part := range []string{m.Sem.String(), m.Op.String()} {
			require.Contains(t, m.Means, part)
		}
		if strings.HasPrefix(m.Means, "membar") {
			continue
		}
		require.Contains(t, m.Means, m.To.String())
	}
}

// release returns the toolchain of one release.
func release(t *testing.T, name string) []*toolchain.Toolchain {
	t.Helper()
	tcs, err := toolchain.Find(releases(t), name)
	require.NoError(t, err)
	return tcs
}
