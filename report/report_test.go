package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/event/eventtest"
)

// TestRoundTrip: a run survives the stream, and rendering it twice is the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := eventtest.Run(t)
		var a, b bytes.Buffer
		require.NoError(t, r.Replay(event.NewJSONLines(&a)))
		back := event.NewRun()
		require.NoError(t, event.Read("f", bytes.NewReader(a.Bytes()), back.Handle))
		require.NoError(t, back.Replay(event.NewJSONLines(&b)))
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
	l := event.ThreadListing{Source: []event.Line{{Pos: 0, Text: "st x"}, {Pos: 1, Text: "ld y"}, {Pos: 2, Text: "ld z"}},
		Machine: []event.Line{{Pos: 1, Text: "LDG y"}, {Pos: -1, Text: "ERRBAR", Part: true}, {Pos: 0, Text: "STG x"}, {Pos: -1, Text: "STG q"}}}
	var got []string
	for _, r := range SideBySide(l) {
		got = append(got, strings.TrimSpace(string(r.Mark)+" "+r.Left.Text+"|"+r.Right.Text))
	}
	require.Equal(t, []string{"> |LDG y", "|ERRBAR", "st x|STG x", "< ld y|", "- ld z|", "+ |STG q"}, got)
}

// all wants every cell.
func all(*event.Cell) bool { return true }

func TestCompareAcrossReleases(t *testing.T) {
	mk := func(tc, class string) *event.Run {
		r := event.NewRun()
		r.Config.Toolchains = []event.Toolchain{{ID: tc}}
		r.Cells = []event.Cell{{Test: "mp", Toolchain: tc, Target: "sm_80", Level: "O3", Layout: "pointers", Result: event.Result{Class: class, Code: "c"}}}
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
	gone := event.NewRun()
	gone.Config.Toolchains = []event.Toolchain{{ID: "ptxas 1"}}
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
		r := event.NewRun()
		if err := event.Read("f", bytes.NewReader(data), r.Handle); err != nil {
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
	r := event.NewRun()
	name := "x\x1b[2J\n\u202eMISCOMPILED: y"
	r.Cells = []event.Cell{{Test: name, Result: event.Result{Class: event.Unknown, Reason: "\x1b]0;y\x07"}}}
	r.Histograms = []event.Histogram{{Test: name, Outcomes: []event.Outcome{{Count: 1, Effect: "forbidden"}}}}
	r.Problems = []event.Problem{{Kind: "tool", Detail: "\x1bc\nMISCOMPILED: z"}}
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
