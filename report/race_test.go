package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// raceRun returns a run of three changed tests of which one has no data race.
func raceRun() *event.Run {
	r := event.NewRun()
	r.Config = event.Config{Schema: event.Schema, Tests: 3, Cells: 3, Levels: []string{"O2"}, Toolchains: []event.Toolchain{{ID: "clang 19", Build: "b"}}}
	for i, race := range []string{event.DataRace, event.FenceScope, event.RaceFree} {
		name := string(rune('a' + i))
		r.Tests = append(r.Tests, event.Test{Name: name, Hash: name})
		v := &event.Verdict{Model: "opencl", Race: race}
		if race == event.RaceFree {
			v.Unjudged = "nobody knows"
		}
		r.Cells = append(r.Cells, event.Cell{Test: name, Hash: name, Toolchain: "clang 19", Target: "gfx900", Level: "O2", Layout: "pointers",
			Result: event.Result{Class: event.Changed, Code: name, Findings: []event.Finding{{Rule: "merged", Detail: "one instruction"}}, Verdict: v}})
	}
	return r
}

// TestRaceShown: every form says which changed cells are of tests without a race.
func TestRaceShown(t *testing.T) {
	r := raceRun()
	var text, md, sarif, junit bytes.Buffer
	require.NoError(t, WriteText(&text, r, TextOptions{Notes: true}))
	for _, want := range []string{"3 cells with findings, of 3 tests", "1  of 1 test with a data race, to which OpenCL",
		"1  of 1 test with a data race, for mem_fence",
		"1  of 1 test without a data race", "1  c  changed: merged", "no machine code of it is wrong", "the test has no data race (model opencl)",
		"the machine code was not judged: nobody knows"} {
		require.Contains(t, text.String(), want)
	}
	require.NotContains(t, text.String(), "0 outcomes")
	require.NoError(t, WriteMarkdown(&md, r, 0))
	require.NoError(t, WriteSARIF(&sarif, r, nil))
	require.NoError(t, WriteJUnit(&junit, r, false))
	for _, form := range []string{md.String(), sarif.String(), junit.String()} {
		require.Contains(t, strings.ToLower(form), "the test has a data race: opencl gives it no meaning")
		require.Contains(t, strings.ToLower(form), "the test has no data race")
	}
	require.Contains(t, md.String(), ", 3 warnings, 1 of all in race-free tests\n")
	require.Less(t, strings.Index(md.String(), "### <code>c</code>"), strings.Index(md.String(), "### <code>a</code>"),
		"tests without a race come first")
	for i, want := range []string{"data-race", "data-race", "race-free"} {
		require.Equal(t, want, r.Cells[i].RaceWord())
	}
}

// TestRaceFreeByClass: the worst of the tests without a race come first, as far as there is
// room.
func TestRaceFreeByClass(t *testing.T) {
	r := raceRun()
	cell := r.Cells[2]
	r.Cells = nil
	for i := range maxRaceFree + 3 {
		cell.Test, cell.Class = fmt.Sprintf("t%02d", i), event.Optimised
		if i == maxRaceFree+1 {
			cell.Class = event.Miscompiled
		}
		r.Cells = append(r.Cells, cell)
	}
	var text bytes.Buffer
	require.NoError(t, WriteText(&text, r, TextOptions{Notes: true}))
	require.Contains(t, text.String(), "to be looked at first\n          1  t21  miscompiled: merged\n          1  t00  optimised: merged\n")
	require.Contains(t, text.String(), "          and 3 more\n")
}

// TestRaceOfElsewhere: a word that this version does not know says nothing.
func TestRaceOfElsewhere(t *testing.T) {
	r := raceRun()
	for i := range r.Cells {
		r.Cells[i].Verdict.Race = "half"
		require.Empty(t, r.Cells[i].RaceWord())
	}
	var text, md bytes.Buffer
	require.NoError(t, WriteText(&text, r, TextOptions{Notes: true}))
	require.NoError(t, WriteMarkdown(&md, r, 0))
	require.NotContains(t, text.String(), "no machine code of it is wrong")
	require.Empty(t, (&event.Result{}).RaceWord())
}
