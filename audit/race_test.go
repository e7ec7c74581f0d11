package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/report"
	"optcheck/spec"
)

// TestRace: what OpenCL makes of tests, of both dialects. The narrow meaning of
// mem_fence matters only between work-groups.
func TestRace(t *testing.T) {
	g := newJudge("", false)
	for name, want := range map[string]string{
		"cl-coRR": report.DataRace, "cl-mp+mem_fences": report.DataRace, "cl-mp-local": report.DataRace,
		"cl-mp+barriers": report.RaceFree, "cl-cas-sl+acquire+release": report.RaceFree, "cl-mp-volatile+mem_fences": report.RaceFree,
		"cl-dlb-mp+mem_fences": report.FenceScope, "cl-cas-sl+mem_fences": report.FenceScope,
		"coRR": report.DataRace, "mp+relaxed.gpus": report.RaceFree,
	} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		before := x.Hash()
		for range 2 { // the second answer is remembered
			got, err := g.race(t.Context(), x, x.Hash())
			require.NoError(t, err, name)
			require.Equal(t, want, got, name)
		}
		require.Equal(t, before, x.Hash(), "the test was changed")
	}
	x, ok := corpus.Lookup("coRR+relaxed.clusters")
	require.True(t, ok)
	_, err := g.race(t.Context(), x, x.Hash())
	require.ErrorContains(t, err, "OpenCL", "what has no meaning there has no answer")
}

// TestRaceInCells: changed cells of AMD's say it, preserved ones and runs without
// verdicts do not.
func TestRaceInCells(t *testing.T) {
	o := Options{Tests: lookup(t, "cl-coRR", "cl-mp+barriers", "cl-mp-volatile"), Toolchains: llvms(t)[:1], Targets: []string{"gfx900"}, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Pointers}}
	run := report.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	want := map[string]string{"cl-coRR": report.DataRace, "cl-mp+barriers": report.RaceFree}
	seen := 0
	for i := range run.Cells {
		c := &run.Cells[i]
		if c.Class == report.Preserved {
			require.Nil(t, c.Verdict)
			continue
		}
		seen++
		require.NotNil(t, c.Verdict)
		require.Equal(t, want[c.Test], c.Verdict.Race)
		require.Equal(t, c.Verdict.HasRace(), c.Class == report.Changed)
	}
	require.Equal(t, 2, seen)
	o.NoVerdict = true
	run = report.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	for i := range run.Cells {
		require.Nil(t, run.Cells[i].Verdict)
	}
}
