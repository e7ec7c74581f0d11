package report

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/plain"
)

// TestCounts: a table of classes stands where the first line does not say it: not for one program, nor for one row of programs.
func TestCounts(t *testing.T) {
	for _, x := range []struct {
		layout        string
		tests, levels int
		want          string
	}{
		{event.OwnLayout, 1, 2, ""}, {event.OwnLayout, 2, 1, ""}, {event.OwnLayout, 2, 2, "2 tests, 2 cells\n"}, {"pointers", 1, 1, "1 test, 1 cell; layouts pointers\n"},
	} {
		r := event.NewRun()
		r.Config = event.Config{Tests: x.tests, Layouts: []string{x.layout}, Toolchains: []event.Toolchain{{ID: "ptxas 1"}}, Levels: []string{"O0", "O1"}}
		for i := range x.levels {
			c := event.Cell{Test: "t", Toolchain: "ptxas 1", Target: "sm_80", Level: fmt.Sprint("O", i), Layout: x.layout}
			c.Class = []string{event.Preserved, event.Optimised}[i]
			r.Cells = append(r.Cells, c)
		}
		var b strings.Builder
		w := bufio.NewWriter(&b)
		writeCounts(w, r)
		require.NoError(t, w.Flush())
		if x.want == "" {
			require.Empty(t, b.String(), x)
			continue
		}
		require.True(t, strings.HasPrefix(b.String(), "\n"+x.want), "%+v %s", x, b.String())
		require.Equal(t, x.levels > 1, strings.Contains(b.String(), " all "), "a sum of several rows")
	}
}

// TestClip: what is cut stays text, no longer than allowed, and what differs behind the cut stays apart.
func TestClip(t *testing.T) {
	require.Equal(t, "abc", plain.Clip("abc", 3))
	a, b := plain.Clip(strings.Repeat("ä", 100)+"x", 64), plain.Clip(strings.Repeat("ä", 100)+"y", 64)
	require.NotEqual(t, a, b)
	for n := 20; n < 64; n++ {
		s := plain.Clip(strings.Repeat("ä", 100), n)
		require.True(t, utf8.ValidString(s), n)
		require.LessOrEqual(t, len(s), n, n)
	}
	require.Len(t, plain.Clip("\x80\x80\x80"+strings.Repeat("\x80", 60), 22), len("…")+16)
	require.Equal(t, "One.", beginning("One."))
	long := "First. Second. " + strings.Repeat("x", maxDescription)
	require.Equal(t, "First. Second.", beginning(long))
	require.LessOrEqual(t, len(beginning(strings.Repeat("x", 2*maxDescription))), maxDescription)
	require.Equal(t, strings.Repeat("y", maxDescription), beginning(strings.Repeat("y", maxDescription)))
}

// TestVerdictCut: a verdict names some outcomes and counts the others.
func TestVerdictCut(t *testing.T) {
	v := &event.Verdict{Model: "ptx", Source: 3, Machine: 9}
	for i := range maxOutcomes + 2 {
		v.New = append(v.New, fmt.Sprintf("x=%d;", i))
	}
	v.Visible = v.New[:maxOutcomes]
	var b strings.Builder
	WriteVerdict(&b, v)
	lines := strings.Split(b.String(), "\n")
	require.Contains(t, lines[0], fmt.Sprintf("x=%d;  and 2 more (model ptx: 3 outcomes of the test, 9 of the machine code)", maxOutcomes-1))
	require.Equal(t, "  in the terms of the condition: "+strings.Join(v.Visible, "  "), lines[1])
	b.Reset()
	v.Visible = v.New
	WriteVerdict(&b, v)
	require.NotContains(t, b.String(), "in the terms of the condition", "they are the same")
}

// TestShared: which toolchains made the same machine code; cells without any count for nothing.
func TestShared(t *testing.T) {
	r := event.NewRun()
	for _, c := range [][2]string{{"x", "ptxas 1"}, {"x", "ptxas 2"}, {"x", "ptxas 1"}, {"y", "ptxas 2"}, {"z", "ptxas 2"}, {"z", "ptxas 1"}, {"", "ptxas 3"}} {
		x := event.Cell{Test: "t", Toolchain: c[1]}
		x.Code = c[0]
		r.Cells = append(r.Cells, x)
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	writeShared(w, r)
	require.NoError(t, w.Flush())
	require.Equal(t, "\n3 distinct machine codes; emitted by\n       2  ptxas 1, ptxas 2\n       1  ptxas 2\n", b.String())
	b.Reset()
	r.Cells = r.Cells[6:]
	writeShared(w, r)
	require.NoError(t, w.Flush())
	require.Empty(t, b.String(), "no code is known")
}

// TestURI: an absolute path is a file, also with a drive of Windows; a relative one stays one.
func TestURI(t *testing.T) {
	for file, want := range map[string]string{"a/b c": "a/b%20c", "/a/b": "file:///a/b", "C:/a": "file:///C:/a", "C:/": "file:///C:/", "ab": "ab", "": "", "a/": "a/"} {
		require.Equal(t, want, uri(file))
	}
}

// TestRowsBeside: accesses that stand where they stood are one row; what moved is told where it was and where it is, and what is of no
// access, part of one or there again has a row of its own.
func TestRowsBeside(t *testing.T) {
	source := []event.Line{{Pos: 0, Text: "#0"}, {Pos: 1, Text: "#1"}}
	for what, x := range map[string]struct {
		machine []event.Line
		want    string
	}{
		"in order":        {[]event.Line{{Pos: 0, Text: "A"}, {Pos: 1, Text: "B"}}, "#0 A | #1 B"},
		"gone":            {[]event.Line{{Pos: 1, Text: "B"}}, "#0- | #1 B"},
		"beside":          {[]event.Line{{Pos: -1, Text: "F"}, {Pos: 0, Text: "A"}, {Pos: 1, Text: "B"}}, "+F | #0 A | #1 B"},
		"again":           {[]event.Line{{Pos: 0, Text: "A"}, {Pos: 0, Text: "A2"}, {Pos: 1, Text: "B"}}, "#0 A | >A2 | #1 B"},
		"a part":          {[]event.Line{{Pos: 0, Text: "A"}, {Pos: 0, Text: "P", Part: true}, {Pos: 1, Text: "B"}}, "#0 A |  P | #1 B"},
		"of another test": {[]event.Line{{Pos: 0, Text: "A"}, {Pos: 7, Text: "X"}, {Pos: 1, Text: "B"}}, "#0 A | >X | #1 B"},
	} {
		var rows []string
		for _, r := range SideBySide(event.ThreadListing{Source: source, Machine: x.machine}) {
			rows = append(rows, fmt.Sprintf("%s%c%s", r.Left.Text, r.Mark, r.Right.Text))
		}
		require.Equal(t, x.want, strings.Join(rows, " | "), what)
	}
	var moved []string
	for _, r := range SideBySide(event.ThreadListing{Source: source, Machine: []event.Line{{Pos: 1, Text: "B"}, {Pos: 0, Text: "A"}}}) {
		moved = append(moved, string(r.Mark))
	}
	require.Contains(t, moved, "<")
	require.Contains(t, moved, ">")
}

// TestCountRows: levels that say the same are one row, and so are all levels where there would be too many rows.
func TestCountRows(t *testing.T) {
	of := func(tools, levels int, same bool) *event.Run {
		r := event.NewRun()
		for i := range tools {
			r.Config.Toolchains = append(r.Config.Toolchains, event.Toolchain{ID: fmt.Sprint("ptxas ", i)})
		}
		for l := range levels {
			r.Config.Levels = append(r.Config.Levels, fmt.Sprint("O", l))
			for i := range tools {
				c := event.Cell{Test: "t", Toolchain: fmt.Sprint("ptxas ", i), Level: fmt.Sprint("O", l)}
				if c.Class = event.Preserved; l > 0 && !same {
					c.Class = event.Optimised
				}
				r.Cells = append(r.Cells, c)
			}
		}
		return r
	}
	for _, x := range []struct {
		tools, levels int
		same          bool
		rows          int
	}{{1, 2, false, 2}, {1, 2, true, 1}, {2, 1, true, 2}, {2, 4, false, 8}, {3, 3, false, 3}, {maxRows, 1, true, maxRows}, {maxRows + 1, 1, true, 0}} {
		require.Len(t, countRows(of(x.tools, x.levels, x.same)), x.rows, x)
	}
}

// TestStatsText: what an audit costs stands at its end, that of programs only where notes are asked for.
func TestStatsText(t *testing.T) {
	for _, x := range []struct {
		claims      string
		notes, cost bool
	}{{"", false, true}, {"", true, true}, {"c", false, false}, {"c", true, true}} {
		r := event.NewRun()
		r.Config.Claims, r.Stats = x.claims, &event.Stats{Cells: 1, Kernels: 1, Wall: 1, Interrupted: true}
		var b strings.Builder
		w := bufio.NewWriter(&b)
		writeStats(w, r, TextOptions{Notes: x.notes})
		require.NoError(t, w.Flush())
		require.Contains(t, b.String(), "The run was interrupted: cells are missing.\n")
		require.Equal(t, x.cost, b.String() != "The run was interrupted: cells are missing.\n", x)
	}
}
