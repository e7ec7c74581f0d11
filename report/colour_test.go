package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestScreen: colours change nothing but themselves, however the text is cut.
func TestScreen(t *testing.T) {
	text := "2 new miscompilations\n\nMISCOMPILED: mp\n  known: k\nnothing\nlast"
	for cut := 1; cut < len(text); cut++ {
		var b strings.Builder
		w := Screen(&b, 0, true)
		for part := text; part != ""; part = part[min(cut, len(part)):] {
			_, err := w.Write([]byte(part[:min(cut, len(part))]))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.Equal(t, "\x1b[1m2 new miscompilations\x1b[0m\n\n\x1b[1;31mMISCOMPILED:\x1b[0m mp\n\x1b[2m  known:\x1b[0m k\nnothing\nlast", b.String())
	}
}

// TestFolded: no line that has blanks is wider than the screen and none loses a word. Of codes side by
// side each stays in a line, below the first if it does not fit.
func TestFolded(t *testing.T) {
	long := "  in " + strings.Repeat("ptxas 12.4.131 sm_90 ", 12)
	beside := "    " + strings.Repeat("ld ", 20) + "| " + strings.Repeat("LDG ", 20)
	for width := range 90 {
		var b strings.Builder
		w := Screen(&b, width, true)
		_, err := w.Write([]byte("head\n" + long + "\n" + beside + "\n" + strings.Repeat("x", 200)))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		lines := strings.Split(b.String(), "\n")
		require.Equal(t, strings.Repeat("x", 200), lines[len(lines)-1])
		codes := lines[len(lines)-2 : len(lines)-1]
		if width >= 4*hanging {
			codes = lines[len(lines)-3 : len(lines)-1]
			require.Len(t, strings.Fields(codes[1]), 21)
		}
		require.Equal(t, strings.Fields(beside), strings.Fields(strings.Join(codes, " ")))
		folded := lines[1 : len(lines)-1-len(codes)]
		require.Equal(t, strings.Fields(long), strings.Fields(strings.Join(folded, " ")))
		for _, line := range folded {
			if width > 40 {
				require.LessOrEqual(t, len(line), width)
			}
		}
	}
}

// TestTableRow: a row of a table that is wider than the screen stays whole; a finding of a few columns does not.
func TestTableRow(t *testing.T) {
	row := "mp  NVIDIA H200  none  0  0  0  0–0.362  " + strings.Repeat("word ", 20) + "end"
	columns := "  mp  O0  " + strings.Repeat("word ", 20) + "end"
	var b strings.Builder
	w := Screen(&b, 60, false)
	_, err := io.WriteString(w, row+"\n"+columns+"\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	lines := strings.Split(b.String(), "\n")
	require.Equal(t, row, lines[0])
	require.Greater(t, len(lines), 3)
	for _, l := range lines[1:] {
		require.LessOrEqual(t, len(l), 60)
	}
}

// TestFirstScreen: without findings the whole report of many releases, levels and layouts
// fits a screen of 24 lines of 100 columns; with many findings ten of them are told.
func TestFirstScreen(t *testing.T) {
	r := event.NewRun()
	r.Config = event.Config{Tests: 3, Levels: []string{"O0", "O1", "O2", "O3"}, Layouts: []string{"pointers", "adjacent", "offsets", "symbols"}}
	for i := range 6 {
		id := fmt.Sprintf("ptxas 1%d.4.131", i)
		r.Config.Toolchains = append(r.Config.Toolchains, event.Toolchain{ID: id})
		for _, l := range r.Config.Levels {
			for test := range 3 {
				c := event.Cell{Test: fmt.Sprint("t", test), Hash: fmt.Sprint(test), Toolchain: id, Target: "sm_80", Level: l, Layout: "pointers"}
				c.Class = event.Preserved
				r.Cells = append(r.Cells, c)
			}
		}
	}
	text := func() []string {
		var b strings.Builder
		require.NoError(t, WriteText(&b, r, TextOptions{}))
		return strings.Split(strings.TrimSpace(b.String()), "\n")
	}
	lines := text()
	require.LessOrEqual(t, len(lines), 24)
	for _, l := range lines {
		require.LessOrEqual(t, len(l), 100, l)
	}
	require.Equal(t, "All 72 decided cells are preserved", lines[0])
	for i := range r.Cells {
		r.Cells[i].Class = event.Miscompiled
		r.Cells[i].Findings = []event.Finding{{Rule: "missing", Access: i, Detail: strings.Repeat("x", i)}}
	}
	all := strings.Join(text(), "\n")
	require.Equal(t, MaxTold, strings.Count(all, "MISCOMPILED: "))
	require.Contains(t, all, "62 more of 72 findings")
}

// TestBelow: code that fits beside the first stays there; else it stands below, under its column where there is room, and as
// far left as a folded line where there is none.
func TestBelow(t *testing.T) {
	c := &screen{width: 30}
	for line, want := range map[string]string{
		"  thirty letters are just | so":                 "  thirty letters are just | so",
		"  thirty letters more ..... | so":               "  thirty letters more .....\n      | so",
		"  ld    | LDG":                                  "  ld    | LDG",
		"  a line that is quite long    | LDG":           "  a line that is quite long\n      | LDG",
		"  twelve wide | and some eighteen x":            "  twelve wide\n      | and some eighteen x",
		"  st    | LDG.E.STRONG | STG.E.STRONG.GPU":      "  st    | LDG.E.STRONG\n        | STG.E.STRONG.GPU",
		"  st    | LDG.E.STRONG | STG.E.STRONG.GPU.X2.Y": "  st    | LDG.E.STRONG\n      | STG.E.STRONG.GPU.X2.Y",
	} {
		first, rest := c.below(line, 6)
		assert.Equal(t, want, first+rest, line)
	}
}
