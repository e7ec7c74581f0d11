package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

var updateRendered = flag.Bool("update", false, "write what is made of random streams, testdata/*.txt.gz")

// everything writes all that the package makes of two runs, in one form each; i says which.
func everything(w io.Writer, i int, a, b *event.Run) {
	part := func(name string, err error) { fmt.Fprintf(w, "\n== %s: %v\n", name, err) }
	part(fmt.Sprint("text ", i), WriteText(w, a, TextOptions{Cells: i&1 > 0, Unsupported: i&2 > 0, Notes: i&4 > 0, NewOnly: i&8 > 0}))
	part("markdown", WriteMarkdown(w, a, []int{1 << 20, 1500, 4000}[i%3]))
	part("sarif", WriteSARIF(w, a, func(id string) string { return map[string]string{"mine": "because"}[id] }))
	part("junit", WriteJUnit(w, a, false))
	part("junit, new only", WriteJUnit(w, a, true))
	part("annotations", WriteAnnotations(w, a))
	part("placements", WritePlacements(w, a))
	part("issues", WriteIssues(w, []*event.Run{a, b}))
	if i < 4 {
		part("plot", WritePlot(w, "svg", a.Histograms))
	}
	if i%2 == 0 {
		b = varied(a)
	}
	x := Compare(a, b, func(c *event.Cell) bool { return c.Level != "O1" })
	part("comparison", WriteComparison(w, x, true))
	part("short comparison", WriteComparison(w, x, false))
	part("comparison in JSON", WriteComparisonJSON(w, x))
	fmt.Fprintln(w, x.Worse(false), x.Worse(true), x.Conclusion())
	for _, tc := range []string{"12.4", "ptxas 11.8.89", "nothing"} {
		only, err := a.Only(tc)
		part("only "+tc, err)
		if err == nil {
			fmt.Fprintln(w, only.Len())
		}
	}
	fmt.Fprintf(w, "%q %q %q %q %d\n", a.Incomplete(), a.Broken(), a.Undecided(), a.Undone(), a.WithoutKnown().Len())
	var cells []*event.Cell
	for _, c := range a.All() {
		c := *c
		cells = append(cells, &c)
		fmt.Fprintf(w, "%q %q %q %q %v %d %q\n", c.Brief(), c.Signature(), c.Says(), c.RaceWord(), event.Transient(&c.Result), c.RaceRank(), Address(&event.Test{Name: c.Test}, &c))
		for i := range a.Tests {
			fmt.Fprintf(w, "%q %q\n", Address(&a.Tests[i], &c), Commands(&a.Config, &a.Tests[i], &c))
		}
		if v := c.Verdict; v != nil {
			fmt.Fprintln(w, v.Hidden(), v.Shown(), v.HasRace(), v.Meaningless(), v.RaceText(), v.RaceSentence())
		}
	}
	for i := range cells {
		agreed, err := event.Agree(&cells[i].Result, &cells[(i+1)%len(cells)].Result)
		fmt.Fprintln(w, agreed, err)
		other := cells[i].Result
		other.Findings = slices.Clone(other.Findings)
		for k := range other.Findings {
			other.Findings[k].Stage, other.Findings[k].At = "", ""
		}
		agreed, err = event.Agree(&cells[i].Result, &other)
		fmt.Fprintln(w, agreed, err)
		other.Known = nil
		agreed, err = event.Agree(&other, &cells[i].Result)
		fmt.Fprintln(w, agreed, err)
	}
	fmt.Fprintln(w, Places(cells))
	for _, c := range a.Crashes() {
		fmt.Fprintln(w, c.Finding, c.Tests, len(c.Cells), c.Known)
	}
	g := GroupsOf(a)
	for _, x := range g.List {
		fmt.Fprintln(w, x.ID, x.Class, len(g.InFull(x)), len(g.OfTest(x.Test)), len(g.TestCells(x.Test)))
	}
	tally := g.Tally(nil)
	fmt.Fprintf(w, "%d %q %q\n", tally.Decided(), tally.Headline(), tally.Rest())
	for _, code := range slices.Sorted(maps.Keys(a.Listings)) {
		l := a.Listings[code]
		part("listing "+l.Look(), WriteListing(w, l, []event.Finding{{Rule: "merged", Access: 1}}))
		for _, t := range l.Threads {
			fmt.Fprintln(w, t.Bare(), t.Near(1, 0, 2), SideBySide(t))
		}
	}
}

// varied is a run that differs from another in a little: cells that are gone, have other code, findings or classes.
func varied(a *event.Run) *event.Run {
	b := *a
	b.Cells = nil
	for i, c := range a.Cells {
		c.Findings = slices.Clone(c.Findings)
		switch i % 7 {
		case 0:
			continue
		case 1:
			c.Code = "c3"
		case 2:
			c.Findings = c.Findings[:len(c.Findings)/2]
		case 3:
			c.Class = event.Preserved
		case 4:
			c.Known = nil
		}
		b.Cells = append(b.Cells, c)
	}
	return &b
}

// sharded is a stream in shards of a matrix, of which one may be missing.
func sharded(t *testing.T, stream []byte, n, without int) (parts [][]byte) {
	r := event.NewRun()
	require.NoError(t, event.Read("s", bytes.NewReader(stream), r.Handle))
	for i := 1; i <= n; i++ {
		part := *r
		part.Config.Shard, part.Config.OnDevice, part.Cells, part.Histograms, part.Problems = fmt.Sprintf("%d/%d", i, n), nil, nil, nil, nil
		for k, c := range r.Cells {
			if k%n == i-1 {
				part.Cells = append(part.Cells, c)
			}
		}
		part.Config.Cells = len(part.Cells) + i/n
		var b bytes.Buffer
		require.NoError(t, part.Replay(event.NewJSONLines(&b)))
		if i != without {
			parts = append(parts, b.Bytes())
		}
	}
	return parts
}

// writeUnited writes what a set makes of several streams.
func writeUnited(w io.Writer, streams ...[]byte) {
	s := event.NewSet()
	for _, b := range streams {
		if err := event.Read("s", bytes.NewReader(b), s.Handle); err != nil {
			fmt.Fprintln(w, err)
		}
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(w, err)
		return
	}
	stands := s.Standing()
	for i := range s.Problems {
		fmt.Fprintf(w, "%s %v\n", s.Problems[i], stands(&s.Problems[i]))
	}
	fmt.Fprintf(w, "%q %q\n", s.Incomplete(), s.Mixed())
	kept := s.Keep(func(i int) bool { return i%2 == 0 })
	for _, r := range []*event.Run{s.Run(), s.Lean(), kept.Run()} {
		fmt.Fprintln(w, r.Replay(event.NewJSONLines(w)))
		fmt.Fprintln(w, WriteText(w, r, TextOptions{}))
	}
}

// rendered is what becomes of random streams: all that is made of them, and what is said of those that are refused.
func rendered(t *testing.T) string {
	var out bytes.Buffer
	f := &filler{seed: 20261127}
	var runs []*event.Run
	var streams [][]byte
	for i := range 24 {
		b := f.stream()
		r := event.NewRun()
		if err := event.Read(fmt.Sprint(i), bytes.NewReader(b), r.Handle); err != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		runs, streams = append(runs, r), append(streams, b)
	}
	require.Greater(t, len(runs), 15, out.String())
	for i, r := range runs {
		fmt.Fprintf(&out, "\n==== run %d\n", i)
		everything(&out, i, r, runs[(i+1)%len(runs)])
		if i%4 == 0 {
			writeUnited(&out, streams[i], streams[(i+1)%len(runs)], streams[(i+2)%len(runs)])
			writeUnited(&out, sharded(t, streams[i], 3, i/4%4)...)
			writeUnited(&out, append(sharded(t, streams[i], 12, 5), sharded(t, streams[i], 2, 0)[0])...)
		}
	}
	return out.String()
}

// stored compares a text with the one in a file, or with -update writes it.
func stored(t *testing.T, file, got string) {
	t.Helper()
	f, err := os.Open(file)
	want := ""
	if err == nil {
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		b, err := io.ReadAll(z)
		require.NoError(t, err)
		want = string(b)
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if want != got {
		lines := strings.SplitN(string(diff.Diff("stored", []byte(want), "now", []byte(got))), "\n", 80)
		t.Logf("%.8000s", strings.Join(lines[:min(len(lines), 79)], "\n"))
	}
	if *updateRendered {
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		_, err := w.Write([]byte(got))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(file, z.Bytes(), 0o644))
		return
	}
	require.True(t, want == got, "the difference is above")
}

// TestEverything: what the package makes of streams with something in every field is what it was. Where it should be
// something else, go test ./report -run Everything -update stores it; the lines that differ are printed before.
func TestEverything(t *testing.T) {
	stored(t, "testdata/rendered.txt.gz", rendered(t))
}

// TestDamagedEvents: a line of a stream that is not an event is refused, with its number.
func TestDamagedEvents(t *testing.T) {
	f := &filler{seed: 3}
	config, err := json.Marshal(event.Event{Config: &event.Config{Schema: event.Schema}})
	require.NoError(t, err)
	for _, kind := range []string{"Test", "Cell", "Problem", "Histogram", "Listing", "Stats"} {
		line, err := json.Marshal(f.event(kind))
		require.NoError(t, err)
		for _, bad := range []string{string(line[:len(line)-1]), strings.Replace(string(line), "{", `{"more":1,`, 1), string(line) + string(line), "[]", `{}`,
			strings.Replace(string(line), "{", `{"stats":{"cells":1},"test":{"dialect":"PTX"},`, 1)} {
			err := event.Read("s", strings.NewReader(string(config)+"\n"+bad+"\n"), func(event.Event) error { return nil })
			require.ErrorContains(t, err, "s:2: bad event: ", "%.100s", bad)
		}
	}
}
