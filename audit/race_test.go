package audit

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/report"
	"optcheck/spec"
)

// TestRace: what OpenCL makes of tests, of both dialects. The narrow meaning of
// mem_fence matters only between work-groups.
func TestRace(t *testing.T) {
	g := newJudge("", false)
	for name, want := range map[string]string{
		"cl-coRR": event.DataRace, "cl-mp+mem_fences": event.DataRace, "cl-mp-local": event.DataRace,
		"cl-mp+barriers": event.RaceFree, "cl-cas-sl+acquire+release": event.RaceFree, "cl-mp-volatile+mem_fences": event.RaceFree,
		"cl-dlb-mp+mem_fences": event.FenceScope, "cl-cas-sl+mem_fences": event.FenceScope,
		"coRR": event.DataRace, "mp+relaxed.gpus": event.RaceFree,
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
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	want := map[string]string{"cl-coRR": event.DataRace, "cl-mp+barriers": event.RaceFree}
	seen := 0
	for i := range run.Cells {
		c := &run.Cells[i]
		if c.Class == event.Preserved {
			require.Nil(t, c.Verdict)
			continue
		}
		seen++
		require.NotNil(t, c.Verdict)
		require.Equal(t, want[c.Test], c.Verdict.Race)
		require.Equal(t, c.Verdict.HasRace(), c.Class == event.Changed)
	}
	require.Equal(t, 2, seen)
	o.NoVerdict = true
	run = event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	for i := range run.Cells {
		require.Nil(t, run.Cells[i].Verdict)
	}
}

// TestPTXRaces: what the PTX memory model says of tests; what cannot be decided is not
// known, and never free of races. Targets before sm_70 have no definition of a race.
func TestPTXRaces(t *testing.T) {
	g := newJudge("", false)
	ask := func(x *litmus.Test, target string) *event.Verdict {
		v := &event.Verdict{Model: DefaultModel(target)}
		for range 2 { // the second answer is remembered
			require.NoError(t, g.ptxRace(t.Context(), &subject{t: x, hash: x.Hash(), target: target}, v))
		}
		return v
	}
	for name, want := range map[string]string{"coRR": event.DataRace, "mp+relaxed.gpus": event.RaceFree, "mp-volatile": event.RaceFree} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		v := ask(x, "sm_80")
		require.Equal(t, want, v.Race, name)
		require.Equal(t, "ptx", v.RaceModel)
		require.False(t, v.Meaningless(), "PTX gives races a meaning")
		v = ask(x, "sm_35")
		require.Equal(t, event.RaceUnknown, v.Race, name)
		require.Contains(t, v.RaceText(), "the model ptx-2015 does not say what a race is")
	}
	loop, err := litmus.Parse("loop.litmus", []byte(`PTX loop
{ x=0; y=0; }
 P0@cta 0,gpu 0           | P1@cta 1,gpu 0       ;
 LC0: st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1  ;
 ld.relaxed.gpu r0, x     | ld.relaxed.gpu r0, y ;
 bne r0, 1, LC0           |                      ;
exists (P1:r0 == 0)
`))
	require.NoError(t, err)
	v := ask(loop, "sm_80")
	require.Equal(t, event.RaceUnknown, v.Race)
	require.Contains(t, v.RaceWhy, "more often than 16 times")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, _ := corpus.Lookup("mp+relaxed.gpus")
	g = newJudge("", false)
	require.ErrorIs(t, g.ptxRace(ctx, &subject{t: x, hash: x.Hash(), target: "sm_80"}, v), context.Canceled)
	require.NoError(t, g.ptxRace(t.Context(), &subject{t: x, hash: x.Hash(), target: "sm_80"}, v), "what was interrupted is not remembered")
	require.Equal(t, event.RaceFree, v.Race)
}

// guardedTwice reads data twice, after a look at the flag that its release set: the
// compiler merges weak loads, and there is no race.
const guardedTwice = `PTX guarded-twice
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, y ;
 st.release.gpu y, 1 | bne r0, 1, LC0       ;
                     | ld.weak r1, x        ;
                     | ld.weak r2, x        ;
                     | LC0:                 ;
exists (P1:r0 == 1 /\ P1:r1 == 1 /\ P1:r2 == 1)
`

// TestPTXRaceInCells: every finding in PTX says whether its test has a race; its class
// does not depend on that.
func TestPTXRaceInCells(t *testing.T) {
	x, err := litmus.Parse("guarded-twice.litmus", []byte(guardedTwice))
	require.NoError(t, err)
	o := Options{Tests: append(lookup(t, "coRR", "mp+relaxed.gpus"), x), Toolchains: release(t, "11.8"), Targets: []string{"sm_60", "sm_80"},
		Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	got := map[string]string{}
	for i := range run.Cells {
		if c := &run.Cells[i]; c.HasFindings() {
			require.Equal(t, event.Optimised, c.Class)
			got[c.Test+" "+c.Target] = c.Verdict.Race
		} else {
			require.Nil(t, c.Verdict)
		}
	}
	require.Equal(t, map[string]string{"coRR sm_60": event.RaceUnknown, "coRR sm_80": event.DataRace, "guarded-twice sm_80": event.RaceFree}, got)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text, run, report.TextOptions{Notes: true}))
	for _, want := range []string{"1  of 1 test without a data race: to be looked at first\n          1  guarded-twice  optimised: merged\n",
		"1  of 1 test of which it is not known", "1  of 1 test with a data race, to which PTX gives a meaning", "the test has no data race (model ptx)"} {
		require.Contains(t, text.String(), want)
	}
	require.Less(t, strings.Index(text.String(), "OPTIMISED: guarded-twice"), strings.Index(text.String(), "OPTIMISED: coRR"), "those without a race come first")
}
