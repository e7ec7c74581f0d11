package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// crowd is what the events of large runs are made of beside the usual: rules, crashes and reasons of several kinds, in many places.
var crowd = map[string][]string{
	"Rule":      {"merged", "missing", "crash", "hang", "no-such-rule", "invalid", "extra-access", "undecided"},
	"At":        {"", "ptxas+0x28", "ptxas+0x40"},
	"Detail":    {"", "lost", "SIGSEGV", "the load of x"},
	"Level":     {"O0", "O1", "O2", "O3"},
	"Layout":    {"pointers", "symbols", "offsets"},
	"Target":    {"sm_70", "sm_80", "sm_90", "gfx900", "gfx1030"},
	"Toolchain": {"ptxas 11.8.89", "ptxas 12.4.131", "llc 19.1.7 + ptxas 12.4.131", "nvcc 12.4.131 + ptxas 12.4.131", "clang 19.1.7", "own"},
	"Test":      {"mp", "coRR", "sb", "lb", "iriw", "k.ptx:kernel", "dir/k.cu@sm_90:kernel", "mp+membar.gls", "sl-future", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"},
	"Name":      {"mp", "coRR", "sb", "lb", "iriw", "k.ptx:kernel", "dir/k.cu@sm_90:kernel", "-x", "a"},
	"File":      {"", "k.ptx", "dir/k.cu", "-k.litmus", "a b.litmus", "k.cu@sm_90"},
	"Setting":   {"none", "stress+random", "dense", "meet", "roles", "flood"},
	"Reason":    {"", "timeout: ptxas", "infrastructure: nvdisasm", "not reached", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"},
	"Unjudged":  {"", "", "a loop", "x: cannot lift y", "a", "b", "c", "d", "e", "f"},
	"Rules":     {"merged", "missing"},
	"Flags":     {"-v", "-O1", "-x,y", "\"", "-fplugin=x"},
}

// many is a run of many cells, problems and histograms.
func (f *filler) many(t *testing.T, cells int) *event.Run {
	t.Helper()
	r := event.NewRun()
	put := func(kind string, n int) {
		for range n {
			require.NoError(t, r.Handle(f.event(kind)))
		}
	}
	put("Config", 1)
	put("Test", 12)
	put("Problem", 30)
	put("Listing", 8)
	put("Cell", cells)
	put("Histogram", 30)
	put("Stats", 1)
	for _, l := range r.Listings {
		for i := range l.Threads {
			for k := range l.Threads[i].Source {
				l.Threads[i].Source[k].At = k + 2
			}
		}
	}
	return r
}

// forms writes a run, and its comparison with another, in each form.
func forms(w io.Writer, i int, a, b *event.Run) {
	part := func(name string, err error) { fmt.Fprintf(w, "\n== %s: %v\n", name, err) }
	for i, o := range []TextOptions{{}, {Cells: true, Notes: true, Claims: true}, {Unsupported: true, NewOnly: true}} {
		part(fmt.Sprint("text ", i), WriteText(w, a, o))
	}
	for _, limit := range []int{3000, 9000, 1 << 20} {
		part(fmt.Sprint("markdown of ", limit), WriteMarkdown(w, a, limit))
	}
	part("sarif", WriteSARIF(w, a, func(id string) string { return map[string]string{"mine": "because"}[id] }))
	part("junit", WriteJUnit(w, a, i%2 == 0))
	part("annotations", WriteAnnotations(w, a))
	part("placements", WritePlacements(w, a))
	part("issues", WriteIssues(w, []*event.Run{a, b}))
	part("plot", WritePlot(w, "svg", a.Histograms))
	x := Compare(a, b, func(*event.Cell) bool { return true })
	x.OperationsAsked, x.Operations = i > 0, OperationChanges(operations(40*i))
	for _, all := range []bool{false, true} {
		part(fmt.Sprint("comparison, all ", all), WriteComparison(w, x, all))
	}
	part("comparison in JSON", WriteComparisonJSON(w, x))
	for _, c := range a.Crashes() {
		fmt.Fprintln(w, c.Finding, c.Tests, len(c.Cells), c.Known)
	}
	for _, c := range a.All() {
		for k := range a.Tests[:3] {
			fmt.Fprintf(w, "%q %q\n", Address(&a.Tests[k], c), Commands(&a.Config, &a.Tests[k], c))
		}
	}
	fmt.Fprintf(w, "%q %q %q %q\n", a.Incomplete(), a.Broken(), a.Undecided(), a.Undone())
}

// operations are so many changes of operations, of which some change alike.
func operations(n int) (list []Operation) {
	texts := []string{"LDG.E", "LDG.E)", "LDG.E.STRONG.GPU", "MEMBAR.SC.SYS ; ERRBAR", "@P0 LDG.E", "@P0 LDG.E.STRONG.SYS", "[ATOMG.E.CAS]", "[ATOMG.E.CAS.STRONG.GPU]", "(LDG.E)", "x ; LDG.E", "y ; LDG.E.STRONG.GPU",
		"x ; LDG.E.STRONG.GPU", OperationNothing, OperationRefused, OperationUnknown, "CCTL.IVALL ; LDG.E", "x ; y", "y ; x", "FENCE.VIEW.ASYNC", "MEMBAR.ALL.GPU", "MEMBAR.SC.GPU.IVALLD"}
	for i := range n {
		for k := range 3 {
			list = append(list, Operation{Name: fmt.Sprint("op", i%50), Target: fmt.Sprint("sm_", 70+10*k), Level: fmt.Sprint("O", i%4),
				Left: texts[i%len(texts)], Right: texts[(i/len(texts)+i+k/2)%len(texts)]})
		}
	}
	return list
}

// TestManyCells: what the package makes of runs with so many cells that some are left out is what it was; -update as with TestEverything.
func TestManyCells(t *testing.T) {
	var out bytes.Buffer
	f := &filler{seed: 31, words: crowd}
	runs := []*event.Run{f.many(t, 30), f.many(t, 90), f.many(t, 60)}
	runs[1].Config.OnDevice, runs[1].Stats.Interrupted = &event.DeviceRun{}, true
	runs[2].Stats = nil
	for i, r := range runs {
		fmt.Fprintf(&out, "\n==== run %d\n", i)
		b := runs[(i+1)%len(runs)]
		if i == 1 {
			b = varied(r)
		}
		forms(&out, i, r, b)
	}
	none, device := event.NewRun(), *runs[1]
	device.Cells = nil
	for i, r := range []*event.Run{none, &device} {
		fmt.Fprintf(&out, "\n==== without cells %d: %v %v\n", i, WriteText(&out, r, TextOptions{}), WriteMarkdown(&out, r, 1<<20))
	}
	writeUnited(&out, streamOf(t, runs[0]), streamOf(t, runs[0]))
	writeUnited(&out, streamOf(t, runs[0]), streamOf(t, runs[2]), streamOf(t, runs[0]))
	for _, across := range []bool{false, true} {
		x := Compare(release(0, across), release(1, across), func(*event.Cell) bool { return true })
		for _, all := range []bool{false, true} {
			fmt.Fprintln(&out, WriteComparison(&out, x, all))
		}
		fmt.Fprintln(&out, WriteComparisonJSON(&out, x))
	}
	fmt.Fprintln(&out, WriteBars(&out, "title", "cells", []string{"one", "two"}, []Bars{{"first", []float64{1, 2}}, {"second", []float64{3, 0}}}))
	fmt.Fprintln(&out, WriteCurves(&out, "title", "seconds", "outcomes", []Curve{{"first", 1, 2, []uint64{1, 2, 3}}, {"second", 0, 1, []uint64{0, 9}}}))
	stored(t, "testdata/many.txt.gz", out.String())
}

func streamOf(t *testing.T, r *event.Run) []byte {
	t.Helper()
	own := *r
	own.Config.OnDevice, own.Config.Shard, own.Config.Flags = nil, "", nil
	var b bytes.Buffer
	require.NoError(t, own.Replay(event.NewJSONLines(&b)))
	return b.Bytes()
}

// release is what a release makes of tests of two threads: of the same operations, other instructions, more of them, none, or in another
// order. The newer of two releases makes of a test what the older one makes of the next.
func release(newer int, across bool) *event.Run {
	source := []string{"#0 ld.weak.u32 x", "#1 membar.gl", "#2 atom.cas.b32 y", "#3 st.relaxed.gpu.u32 z", "#4 ld.acquire.gpu.u32 x"}
	forms := [][]string{
		{"LDG.E R0, [R2.64]", "LDG.E.STRONG.GPU R0, [R2.64]", "@P0 LDG.E.64 R4, [R8.64]", ""},
		{"MEMBAR.SC.GPU", "MEMBAR.ALL.GPU", "MEMBAR.SC.SYS", "MEMBAR.SC.GPU|ERRBAR|CCTL.IVALL", ""},
		{"ATOMG.E.CAS R1, [R4.64]", "ATOMG.E.CAS.STRONG.GPU R1, [R4.64]", "LDG.E R1|ATOMG.E.CAS R1, [R4.64]"},
		{"STG.E [R2.64], R0", "STG.E.STRONG.GPU [R2.64], R0", "STG.E [R2.64], R0|STG.E [R2.64], R0", "UTMASTG x"},
		{"LDG.E.STRONG.GPU R0, [R2.64]|CCTL.IVALL", "LDG.E R0, [R2.64]", "", "LDG.E.STRONG.SYS R0, [R6.64]"},
	}
	r := event.NewRun()
	id := "ptxas 12.4.131"
	if across && newer == 0 {
		id = "ptxas 11.8.89"
	}
	r.Config = event.Config{Schema: event.Schema, Toolchains: []event.Toolchain{{ID: id}}}
	if !across {
		r.Config.Toolchains = append(r.Config.Toolchains, event.Toolchain{ID: "other"})
	}
	for i := range 60 {
		n := i + newer
		l := &event.Listing{Code: fmt.Sprintf("c%d", n)}
		for thread := range 2 {
			t := event.ThreadListing{Thread: thread}
			for pos, text := range source {
				line := event.Line{Pos: pos, Text: text}
				if i%3 == 0 {
					line.At = 10*i + pos
				}
				t.Source = append(t.Source, line)
				for k, text := range strings.Split(forms[pos][(n/(pos+1)+thread*n)%len(forms[pos])], "|") {
					if text != "" {
						at := pos
						if k > 0 && n%2 == 0 {
							at = -1
						}
						t.Machine = append(t.Machine, event.Line{Pos: at, Text: text, Part: k > 0})
					}
				}
			}
			if n%11 == 5 {
				t.Machine[0], t.Machine[1] = t.Machine[1], t.Machine[0]
			}
			for k := range n % 13 / 12 * 70 {
				t.Source = append(t.Source, event.Line{Pos: 5 + k, Text: fmt.Sprint("ld.weak a", k), At: k + 1})
				t.Machine = append(t.Machine, event.Line{Pos: 5 + k, Text: fmt.Sprint("LDS R, [a", k, "]")})
			}
			l.Threads = append(l.Threads, t)
		}
		r.Listings[l.Code] = l
		r.Cells = append(r.Cells, event.Cell{Test: fmt.Sprint("test", i/4), Toolchain: id, Target: []string{"sm_70", "sm_90"}[i%2], Level: []string{"O0", "O3"}[i/2%2],
			Layout: "pointers", Result: event.Result{Class: event.Optimised, Code: l.Code, Findings: []event.Finding{{Rule: "merged"}}}})
	}
	return r
}

// TestShownBounds: bars and curves show what they are given, with a name each, and nothing of which numbers are missing.
func TestShownBounds(t *testing.T) {
	var b strings.Builder
	require.NoError(t, WriteBars(&b, "title", "cells", []string{"one", "two"}, []Bars{{"first", []float64{1, 2}}, {"second", []float64{3, 0}}}))
	for _, word := range []string{"title", "cells", "one", "two", "first", "second"} {
		require.Contains(t, b.String(), ">"+word+"<")
	}
	require.ErrorContains(t, WriteBars(&b, "title", "y", []string{"one"}, []Bars{{"first", nil}}), "plot title: first has 0 values for 1 groups")
	b.Reset()
	require.NoError(t, WriteCurves(&b, "title", "seconds", "outcomes", []Curve{{"first", 1, 2, []uint64{1, 2, 3}}, {"second", 0, 1, []uint64{0, 9}}}))
	for _, word := range []string{"title", "seconds", "outcomes", "first", "second"} {
		require.Contains(t, b.String(), ">"+word+"<")
	}
}

// TestEnough: whoever has seen enough of the cells is given no more.
func TestEnough(t *testing.T) {
	f := &filler{seed: 5}
	r := f.many(t, 9)
	set := event.NewSet()
	require.NoError(t, r.Replay(handled(set.Handle)))
	for _, x := range []*event.Run{r, set.Run(), set.Lean()} {
		for most := 1; most < 4; most++ {
			n := 0
			for i, c := range x.All() {
				require.Equal(t, n, i)
				require.Equal(t, x.At(i), *c)
				if n++; n == most {
					break
				}
			}
			require.Equal(t, most, n)
		}
		require.Equal(t, 9, x.Len())
	}
	n := 0
	for order := range permutations(4) {
		require.Len(t, order, 4)
		if n++; n == 7 {
			break
		}
	}
	require.Equal(t, 7, n)
}

// handled is a handler of a function.
type handled func(event.Event) error

func (h handled) Handle(e event.Event) error { return h(e) }
func (h handled) Close() error               { return nil }

// broken is a writer that fails once, at the nth write.
type broken struct{ n, at int }

func (b *broken) Write(p []byte) (int, error) {
	if b.n++; b.n == b.at {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestWriteFails: a write that fails is told, whatever is written behind it.
func TestWriteFails(t *testing.T) {
	f := &filler{seed: 31, words: crowd}
	r := f.many(t, 30)
	for name, write := range map[string]func(io.Writer) error{
		"placements": func(w io.Writer) error { return WritePlacements(w, r) },
		"text":       func(w io.Writer) error { return WriteText(w, r, TextOptions{}) },
		"markdown":   func(w io.Writer) error { return WriteMarkdown(w, r, 1<<20) },
		"junit":      func(w io.Writer) error { return WriteJUnit(w, r, false) },
		"sarif":      func(w io.Writer) error { return WriteSARIF(w, r, nil) },
		"annotation": func(w io.Writer) error { return WriteAnnotations(w, r) },
		"issues":     func(w io.Writer) error { return WriteIssues(w, []*event.Run{r}) },
		"comparison": func(w io.Writer) error {
			return WriteComparison(w, Compare(r, varied(r), func(*event.Cell) bool { return true }), true)
		},
		"stream": func(w io.Writer) error { return r.Replay(event.NewJSONLines(w)) },
		"plot":   func(w io.Writer) error { return WritePlot(w, "svg", r.Histograms) },
	} {
		require.NoError(t, write(&broken{at: -1}), name)
		require.ErrorIs(t, write(&broken{at: 1}), io.ErrShortWrite, name)
	}
	require.ErrorIs(t, WritePlacements(&broken{at: 3}, r), io.ErrShortWrite)
}

// TestRest: what is left out is counted, and nothing is said of nothing.
func TestRest(t *testing.T) {
	for n, want := range map[int]string{1: "", maxOutcomes: "", maxOutcomes + 1: "; and 1 more reason", maxOutcomes + 2: "; and 2 more reasons"} {
		a := &alert{Finding: event.Finding{Rule: ruleRunFailed}, class: event.Unknown}
		for i := range n {
			a.reasons = append(a.reasons, fmt.Sprint("r", i))
		}
		text := a.text()
		require.Equal(t, want != "", strings.Contains(text, "more"), text)
		require.True(t, strings.HasSuffix(text, want), text)
		require.Contains(t, text, fmt.Sprint("r", min(n, maxOutcomes)-1))
	}
	for n, want := range map[int]string{1: "", maxPlaces: "", maxPlaces + 1: "and 1 more place", maxPlaces + 3: "and 3 more places"} {
		var cells []*event.Cell
		for i := range n {
			cells = append(cells, &event.Cell{Test: "mp", Toolchain: fmt.Sprint("ptxas ", i), Target: "sm_80", Level: "O3", Layout: "pointers"})
		}
		list := whereShort(cells)
		require.Len(t, list, min(n, maxPlaces+1))
		if want != "" {
			require.Equal(t, want, list[maxPlaces])
		}
	}
	for n, want := range map[int]string{1: "a0", maxNamed: "a0, a1, a2, a3, a4, a5", maxNamed + 1: "a0, a1, a2, a3, a4, a5 and 1 more"} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprint("a", i))
		}
		require.Equal(t, want, named(list))
	}
	for n, want := range map[int]int{0: 0, maxLimits: maxLimits, maxLimits + 1: maxLimits + 1, maxLimits + 5: maxLimits + 1} {
		r := event.NewRun()
		for i := range n {
			for range i + 1 {
				r.Cells = append(r.Cells, event.Cell{Result: event.Result{Class: event.Preserved, Reason: fmt.Sprint("r", i)}})
			}
		}
		r.Cells = append(r.Cells, event.Cell{Result: event.Result{Class: event.Unknown, Reason: "other"}}, event.Cell{Result: event.Result{Class: event.Preserved}})
		lines := limitsOf(r)
		require.Len(t, lines, want)
		for i := range min(n, maxLimits) {
			require.Equal(t, fmt.Sprintf("of %d preserved: r%d", i+1, i), lines[i])
		}
		if n > maxLimits {
			require.Contains(t, lines[maxLimits], fmt.Sprintf("and %d remark", n-maxLimits))
		}
	}
}

// TestUnsayable: a name with a zero byte is in no command line.
func TestUnsayable(t *testing.T) {
	c := &event.Cell{Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers", Result: event.Result{Findings: []event.Finding{{Rule: "merged"}}}}
	for name, want := range map[string]bool{"mp": true, "m\x00p": false} {
		for _, x := range []*event.Test{{Name: name}, {Name: "mp", File: name}, {Name: name, Preset: "corpus"}} {
			require.Equal(t, want, len(Commands(&event.Config{}, x, c)) > 0)
			require.Equal(t, want, Address(x, c) != "")
		}
	}
}

// TestNames: names of files and rules are words of other formats: addresses, and names in camel case.
func TestNames(t *testing.T) {
	for file, want := range map[string]string{"a/b c.ptx": "a/b%20c.ptx", "/a": "file:///a", "C:/x": "file:///C:/x", "c:x": "./c:x", "ab/c": "ab/c", "C/": "C/", "a:/": "file:///a:/", "": "",
		"ab:/c": "./ab:/c"} {
		require.Equal(t, want, uri(file), file)
	}
	for id, want := range map[string]string{"fence-weakened": "FenceWeakened", "a": "A", "a--b": "AB", "": "", "-": ""} {
		require.Equal(t, want, camel(id), id)
	}
	for n := range 8 {
		require.Equal(t, n < 2, nth([]string{"a", "b"}, n) != "")
	}
	a, b := event.ThreadListing{Source: []event.Line{{Pos: 0, Text: "x"}, {Pos: 1, Text: "y"}}, Machine: []event.Line{{Pos: 0, Text: "X"}, {Pos: 1, Text: "Y"}, {Pos: 1, Text: "Z"}}},
		event.ThreadListing{Machine: []event.Line{{Pos: 0, Text: "V"}, {Pos: 0, Text: "W"}}}
	require.Equal(t, [][3]string{{"x", "X", "V"}, {"", "", "W"}, {"y", "Y", ""}, {"", "Z", ""}}, Trio{a, b}.Rows())
	b.Machine[0].Pos = 1
	require.Equal(t, [][3]string{{"x", "#0 X", "#1 V"}, {"y", "#1 Y", "#0 W"}, {"", "#1 Z", ""}}, Trio{a, b}.Rows())
}

// TestAttached: what belongs to no access is told with the next one, what invalidates a cache with the one before it, and what has neither with
// the other.
func TestAttached(t *testing.T) {
	for _, c := range []struct {
		pos  []int
		text []string
		want []int
	}{
		{[]int{-1, 0, -1, 1}, []string{"MEMBAR", "STG", "MEMBAR", "LDG"}, []int{0, 0, 1, 1}},
		{[]int{0, -1, 1, -1}, []string{"LDG", "CCTL.IVALL", "LDG", "MEMBAR"}, []int{0, 0, 1, 1}},
		{[]int{-1, 0, -1, 1}, []string{"CCTL.IVALL", "LDG", "buffer_gl0_inv", "LDG"}, []int{-1, 0, 0, 1}},
		{[]int{-1, -1}, []string{"MEMBAR", "CCTL.IVALL"}, []int{-1, -1}},
		{[]int{2, -1, -1, 1}, []string{"LDG", "CCTL.IVALL", "MEMBAR", "LDG"}, []int{2, 2, 1, 1}},
	} {
		var l event.ThreadListing
		for i, text := range c.text {
			l.Machine = append(l.Machine, event.Line{Pos: c.pos[i], Text: text})
		}
		var got []int
		for _, x := range attached(l).Machine {
			got = append(got, x.Pos)
		}
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.pos[0], l.Machine[0].Pos, "a listing stays what it was")
	}
}
