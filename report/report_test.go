package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func genRun(t *rapid.T) *Run {
	r := NewRun()
	r.Config = Config{Schema: Schema, Tool: "t", Tests: 2, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"},
		Toolchains: []Toolchain{{ID: "a 1", Build: "x"}, {ID: "b 2", Build: "y"}}}
	text := rapid.StringMatching(`[ -~<>&"'éß\\]{0,20}`)
	for i, n := 0, rapid.IntRange(0, 12).Draw(t, "cells"); i < n; i++ {
		c := Cell{Test: text.Draw(t, "test"), Hash: "h", Toolchain: rapid.SampledFrom([]string{"a 1", "b 2"}).Draw(t, "tc"), Target: "sm_80",
			Level: rapid.SampledFrom(r.Config.Levels).Draw(t, "level"), Layout: "pointers",
			Result: Result{Class: rapid.SampledFrom([]string{"preserved", "changed", "unsupported", "unknown"}).Draw(t, "class")}}
		if c.Class == "changed" {
			c.Findings = []Finding{{Rule: "merged", Thread: 1, Access: 1, Detail: text.Draw(t, "detail")}}
			c.Code = rapid.SampledFrom([]string{"aa", "bb"}).Draw(t, "code")
			r.Listings[c.Code] = &Listing{Code: c.Code, Threads: []ThreadListing{{Thread: 1, Source: []Line{{Pos: 0, Text: "s"}},
				Machine: []Line{{Pos: 0, Text: "m"}}}}}
		}
		r.Cells = append(r.Cells, c)
	}
	r.Tests = []Test{{Name: "t", Hash: "h", Dialect: "PTX", Text: text.Draw(t, "text")}}
	r.Stats = &Stats{Cells: len(r.Cells), Wall: 1.5}
	return r
}

// TestRoundTrip: a run survives the stream, and rendering it twice is the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRun(t)
		var a, b bytes.Buffer
		require.NoError(t, r.Replay(NewJSONLines(&a)))
		back := NewRun()
		require.NoError(t, Read("f", bytes.NewReader(a.Bytes()), back.Handle))
		require.NoError(t, back.Replay(NewJSONLines(&b)))
		require.Equal(t, a.String(), b.String())
		var x, y bytes.Buffer
		require.NoError(t, WriteText(&x, r, TextOptions{Cells: true, Unsupported: true, Notes: true}))
		require.NoError(t, WriteText(&y, back, TextOptions{Cells: true, Unsupported: true, Notes: true}))
		require.Equal(t, x.String(), y.String())
		n := Compare(r, back, all)
		require.Empty(t, n.Differences)
		require.Zero(t, n.Class+n.Found+n.Code+n.OnlyLeft+n.OnlyRight)
	})
}

func TestSideBySide(t *testing.T) {
	l := ThreadListing{Source: []Line{{Pos: 0, Text: "st x"}, {Pos: 1, Text: "ld y"}, {Pos: 2, Text: "ld z"}},
		Machine: []Line{{Pos: 1, Text: "LDG y"}, {Pos: -1, Text: "ERRBAR", Part: true}, {Pos: 0, Text: "STG x"}, {Pos: -1, Text: "STG q"}}}
	var got []string
	for _, r := range SideBySide(l) {
		got = append(got, strings.TrimSpace(string(r.Mark)+" "+r.Left.Text+"|"+r.Right.Text))
	}
	require.Equal(t, []string{"> |LDG y", "|ERRBAR", "st x|STG x", "< ld y|", "- ld z|", "+ |STG q"}, got)
}

// all wants every cell.
func all(*Cell) bool { return true }

func TestCompareAcrossReleases(t *testing.T) {
	mk := func(tc, class string) *Run {
		r := NewRun()
		r.Config.Toolchains = []Toolchain{{ID: tc}}
		r.Cells = []Cell{{Test: "mp", Toolchain: tc, Target: "sm_80", Level: "O3", Layout: "pointers", Result: Result{Class: class, Code: "c"}}}
		return r
	}
	x := Compare(mk("ptxas 1", "preserved"), mk("ptxas 2", "changed"), all)
	require.Equal(t, Compared{Both: 1, Class: 1}, x.Compared)
	require.Len(t, x.Differences, 1)
	require.True(t, x.Differences[0].Class)
	require.False(t, x.Differences[0].Code)
	require.Equal(t, []string{"changed"}, x.Worse(false))
	x = Compare(mk("ptxas 1", "changed"), mk("ptxas 2", "preserved"), all)
	require.Empty(t, x.Worse(false))
	x = Compare(mk("ptxas 1", "changed"), mk("ptxas 2", "changed"), all)
	require.Empty(t, x.Differences)
	require.Equal(t, Compared{Both: 1}, x.Compared)
	gone := NewRun()
	gone.Config.Toolchains = []Toolchain{{ID: "ptxas 1"}}
	x = Compare(mk("ptxas 1", "preserved"), gone, all)
	require.Equal(t, Compared{OnlyLeft: 1}, x.Compared)
	require.Len(t, x.Differences, 1)
	require.Nil(t, x.Differences[0].Right)
	require.Empty(t, x.Worse(false))
	require.Equal(t, []string{"changed"}, Compare(gone, mk("ptxas 2", "changed"), all).Worse(true), "what is only there is new")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"config":{"schema":1}}` + "\n" + `{"cell":{"test":"x"}}`))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewRun()
		if err := Read("f", bytes.NewReader(data), r.Handle); err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Cells: true}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTextPlain: no name or detail of a run makes a terminal do something or
// poses as a line of the report.
func TestTextPlain(t *testing.T) {
	r := NewRun()
	name := "x\x1b[2J\n\u202eMISCOMPILED: y"
	r.Cells = []Cell{{Test: name, Result: Result{Class: Unknown, Reason: "\x1b]0;y\x07"}}}
	r.Histograms = []Histogram{{Test: name, Outcomes: []Outcome{{Count: 1, Effect: "forbidden"}}}}
	r.Problems = []Problem{{Kind: "tool", Detail: "\x1bc\nMISCOMPILED: z"}}
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, r, TextOptions{}))
	require.NoError(t, WriteComparison(&b, &Comparison{Compared: Compared{Both: 1, Class: 1}, Instructions: NewCodeChanges(),
		Differences: []Difference{{Test: name, Class: true, Left: &r.Cells[0], Right: &r.Cells[0]}},
		Only:        [2]Lone{{Cells: 1, Tests: []string{name}, Bad: []string{name}}}}, true))
	require.NotContains(t, b.String(), "\x1b")
	require.NotContains(t, b.String(), "\u202e")
	require.NotContains(t, b.String(), "\nMISCOMPILED")
	require.Contains(t, b.String(), `UNKNOWN: x\u001b[2J\n\u202eMISCOMPILED: y`)
	require.Contains(t, b.String(), "0 tests, 1 cell;")
	require.Contains(t, b.String(), "Of 1 cell in both, 1 differs in class")
}
