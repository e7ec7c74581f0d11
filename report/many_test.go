package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
func (f *filler) many(t *testing.T, cells int) *Run {
	t.Helper()
	r := NewRun()
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
func forms(w io.Writer, i int, a, b *Run) {
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
	part("issues", WriteIssues(w, []*Run{a, b}))
	part("plot", WritePlot(w, "svg", a.Histograms))
	x := Compare(a, b, func(*Cell) bool { return true })
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
	runs := []*Run{f.many(t, 30), f.many(t, 90), f.many(t, 60)}
	runs[1].Config.OnDevice, runs[1].Stats.Interrupted = &DeviceRun{}, true
	runs[2].Stats = nil
	for i, r := range runs {
		fmt.Fprintf(&out, "\n==== run %d\n", i)
		b := runs[(i+1)%len(runs)]
		if i == 1 {
			b = varied(r)
		}
		forms(&out, i, r, b)
	}
	none, device := NewRun(), *runs[1]
	device.Cells = nil
	for i, r := range []*Run{none, &device} {
		fmt.Fprintf(&out, "\n==== without cells %d: %v %v\n", i, WriteText(&out, r, TextOptions{}), WriteMarkdown(&out, r, 1<<20))
	}
	writeUnited(&out, streamOf(t, runs[0]), streamOf(t, runs[0]))
	writeUnited(&out, streamOf(t, runs[0]), streamOf(t, runs[2]), streamOf(t, runs[0]))
	for _, across := range []bool{false, true} {
		x := Compare(release(0, across), release(1, across), func(*Cell) bool { return true })
		for _, all := range []bool{false, true} {
			fmt.Fprintln(&out, WriteComparison(&out, x, all))
		}
		fmt.Fprintln(&out, WriteComparisonJSON(&out, x))
	}
	fmt.Fprintln(&out, WriteBars(&out, "title", "cells", []string{"one", "two"}, []Bars{{"first", []float64{1, 2}}, {"second", []float64{3, 0}}}))
	fmt.Fprintln(&out, WriteCurves(&out, "title", "seconds", "outcomes", []Curve{{"first", 1, 2, []uint64{1, 2, 3}}, {"second", 0, 1, []uint64{0, 9}}}))
	stored(t, "testdata/many.txt.gz", out.String())
}

func streamOf(t *testing.T, r *Run) []byte {
	t.Helper()
	own := *r
	own.Config.OnDevice, own.Config.Shard, own.Config.Flags = nil, "", nil
	var b bytes.Buffer
	require.NoError(t, own.Replay(NewJSONLines(&b)))
	return b.Bytes()
}

// release is what a release makes of tests of two threads: of the same operations, other instructions, more of them, none, or in another
// order. The newer of two releases makes of a test what the older one makes of the next.
func release(newer int, across bool) *Run {
	source := []string{"#0 ld.weak.u32 x", "#1 membar.gl", "#2 atom.cas.b32 y", "#3 st.relaxed.gpu.u32 z", "#4 ld.acquire.gpu.u32 x"}
	forms := [][]string{
		{"LDG.E R0, [R2.64]", "LDG.E.STRONG.GPU R0, [R2.64]", "@P0 LDG.E.64 R4, [R8.64]", ""},
		{"MEMBAR.SC.GPU", "MEMBAR.ALL.GPU", "MEMBAR.SC.SYS", "MEMBAR.SC.GPU|ERRBAR|CCTL.IVALL", ""},
		{"ATOMG.E.CAS R1, [R4.64]", "ATOMG.E.CAS.STRONG.GPU R1, [R4.64]", "LDG.E R1|ATOMG.E.CAS R1, [R4.64]"},
		{"STG.E [R2.64], R0", "STG.E.STRONG.GPU [R2.64], R0", "STG.E [R2.64], R0|STG.E [R2.64], R0", "UTMASTG x"},
		{"LDG.E.STRONG.GPU R0, [R2.64]|CCTL.IVALL", "LDG.E R0, [R2.64]", "", "LDG.E.STRONG.SYS R0, [R6.64]"},
	}
	r := NewRun()
	id := "ptxas 12.4.131"
	if across && newer == 0 {
		id = "ptxas 11.8.89"
	}
	r.Config = Config{Schema: Schema, Toolchains: []Toolchain{{ID: id}}}
	if !across {
		r.Config.Toolchains = append(r.Config.Toolchains, Toolchain{ID: "other"})
	}
	for i := range 60 {
		n := i + newer
		l := &Listing{Code: fmt.Sprintf("c%d", n)}
		for thread := range 2 {
			t := ThreadListing{Thread: thread}
			for pos, text := range source {
				line := Line{Pos: pos, Text: text}
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
						t.Machine = append(t.Machine, Line{Pos: at, Text: text, Part: k > 0})
					}
				}
			}
			if n%11 == 5 {
				t.Machine[0], t.Machine[1] = t.Machine[1], t.Machine[0]
			}
			for k := range n % 13 / 12 * 70 {
				t.Source = append(t.Source, Line{Pos: 5 + k, Text: fmt.Sprint("ld.weak a", k), At: k + 1})
				t.Machine = append(t.Machine, Line{Pos: 5 + k, Text: fmt.Sprint("LDS R, [a", k, "]")})
			}
			l.Threads = append(l.Threads, t)
		}
		r.Listings[l.Code] = l
		r.Cells = append(r.Cells, Cell{Test: fmt.Sprint("test", i/4), Toolchain: id, Target: []string{"sm_70", "sm_90"}[i%2], Level: []string{"O0", "O3"}[i/2%2],
			Layout: "pointers", Result: Result{Class: Optimised, Code: l.Code, Findings: []Finding{{Rule: "merged"}}}})
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

// TestStreams: what is no stream is refused with the line and why; runs in a row are read as such.
func TestStreams(t *testing.T) {
	const config = `{"config":{"schema":%d}}` + "\n"
	good := fmt.Sprintf(config, Schema)
	for text, want := range map[string]string{
		"":                                      "s: empty event stream",
		"\n \n":                                 "s: empty event stream",
		`{"stats":{}}` + "\n":                   "s:1: no event stream: the first line is no config",
		"\n\n" + `{"stats":{}}`:                 "s:3: no event stream",
		fmt.Sprintf(config, Schema+1):           fmt.Sprintf("s:1: event stream of schema %d, this tool reads %d to %d", Schema+1, oldestSchema, Schema),
		fmt.Sprintf(config, oldestSchema-1):     "s:1: event stream of schema",
		good + fmt.Sprintf(config, Schema+1):    "s:2: event stream of schema",
		good + `{"stats":{}} x`:                 "s:2: bad event: something stands behind it",
		good + `{"stats":{"cells":"x"}}`:        "s:2: bad event: stats.cells cannot be a JSON string",
		good + `{"stats":`:                      "s:2: bad event: the line is cut off",
		good + `{"stats":}`:                     "s:2: bad event: no JSON from byte 10 on",
		good + `{"more":1}`:                     `s:2: bad event: unknown field "more"`,
		good + `{}`:                             "s:2: bad event: not exactly one kind",
		good + strings.Repeat("\n", maxEmpty+1): "s:100002: no event stream: more than 100000 empty lines",
		good + `{"problem":{"detail":"` + strings.Repeat("x", maxLine): "s:2: line longer than 16777216 bytes",
	} {
		require.ErrorContains(t, Read("s", strings.NewReader(text), func(Event) error { return nil }), want, "%.80q", text)
	}
	require.EqualError(t, Read("s", io.MultiReader(strings.NewReader(good), cutOff{}), func(Event) error { return nil }), "s:2: the file is cut off")
	require.ErrorContains(t, Read("s", io.MultiReader(strings.NewReader(good), cutOff{io.ErrClosedPipe}), func(Event) error { return nil }), "s: io: read/write on closed pipe")
	var lines []int
	require.NoError(t, ReadLines("s", strings.NewReader("\n"+good+strings.Repeat("\n", maxEmpty-2)+`{"stats":{}}`+"\n"+fmt.Sprintf(config, oldestSchema)+"\n"), func(n int, _ Event) error {
		lines = append(lines, n)
		return nil
	}))
	require.Equal(t, []int{2, maxEmpty + 1, maxEmpty + 2}, lines)
	require.ErrorIs(t, Read("s", strings.NewReader(good), func(Event) error { return io.ErrNoProgress }), io.ErrNoProgress)
}

// cutOff is a reader that fails.
type cutOff struct{ err error }

func (c cutOff) Read([]byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	return 0, io.ErrUnexpectedEOF
}

// recorder is a handler that remembers what it was asked for, and fails if it is told to.
type recorder struct {
	did  []string
	fail map[string]error
}

func (r *recorder) do(what string) error {
	r.did = append(r.did, what)
	return r.fail[what]
}
func (r *recorder) Handle(Event) error { return r.do("handle") }
func (r *recorder) Flush() error       { return r.do("flush") }
func (r *recorder) Close() error       { return r.do("close") }

// TestTee: every handler gets every event until one fails; all are closed.
func TestTee(t *testing.T) {
	one, two := &recorder{fail: map[string]error{}}, &recorder{fail: map[string]error{}}
	tee := Tee{one, NewRun(), two}
	require.NoError(t, tee.Handle(Event{}))
	require.NoError(t, tee.Flush())
	require.NoError(t, tee.Close())
	require.Equal(t, []string{"handle", "flush", "close"}, one.did)
	require.Equal(t, one.did, two.did)
	for _, what := range []string{"handle", "flush", "close"} {
		one.fail[what], one.did, two.did = io.ErrShortWrite, nil, nil
	}
	require.ErrorIs(t, tee.Handle(Event{}), io.ErrShortWrite)
	require.ErrorIs(t, tee.Flush(), io.ErrShortWrite)
	require.Empty(t, two.did)
	require.ErrorIs(t, tee.Close(), io.ErrShortWrite)
	require.Equal(t, []string{"close"}, two.did)
	var b strings.Builder
	j := NewJSONLines(&b)
	require.NoError(t, j.Handle(Event{Stats: &Stats{}}))
	require.Empty(t, b.String())
	require.NoError(t, j.Flush())
	require.NotEmpty(t, b.String())
}

// TestEnough: whoever has seen enough of the cells is given no more.
func TestEnough(t *testing.T) {
	f := &filler{seed: 5}
	r := f.many(t, 9)
	set := NewSet()
	require.NoError(t, r.Replay(handled(set.Handle)))
	for _, x := range []*Run{r, set.Run(), set.Lean()} {
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
type handled func(Event) error

func (h handled) Handle(e Event) error { return h(e) }
func (h handled) Close() error         { return nil }

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
		"issues":     func(w io.Writer) error { return WriteIssues(w, []*Run{r}) },
		"comparison": func(w io.Writer) error {
			return WriteComparison(w, Compare(r, varied(r), func(*Cell) bool { return true }), true)
		},
		"stream": func(w io.Writer) error { return r.Replay(NewJSONLines(w)) },
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
		a := &alert{Finding: Finding{Rule: ruleRunFailed}, class: Unknown}
		for i := range n {
			a.reasons = append(a.reasons, fmt.Sprint("r", i))
		}
		text := a.text()
		require.Equal(t, want != "", strings.Contains(text, "more"), text)
		require.True(t, strings.HasSuffix(text, want), text)
		require.Contains(t, text, fmt.Sprint("r", min(n, maxOutcomes)-1))
	}
	for n, want := range map[int]string{1: "", maxPlaces: "", maxPlaces + 1: "and 1 more place", maxPlaces + 3: "and 3 more places"} {
		var cells []*Cell
		for i := range n {
			cells = append(cells, &Cell{Test: "mp", Toolchain: fmt.Sprint("ptxas ", i), Target: "sm_80", Level: "O3", Layout: "pointers"})
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
		r := NewRun()
		for i := range n {
			for range i + 1 {
				r.Cells = append(r.Cells, Cell{Result: Result{Class: Preserved, Reason: fmt.Sprint("r", i)}})
			}
		}
		r.Cells = append(r.Cells, Cell{Result: Result{Class: Unknown, Reason: "other"}}, Cell{Result: Result{Class: Preserved}})
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
	c := &Cell{Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers", Result: Result{Findings: []Finding{{Rule: "merged"}}}}
	for name, want := range map[string]bool{"mp": true, "m\x00p": false} {
		for _, x := range []*Test{{Name: name}, {Name: "mp", File: name}, {Name: name, Preset: "corpus"}} {
			require.Equal(t, want, len(Commands(&Config{}, x, c)) > 0)
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
	a, b := ThreadListing{Source: []Line{{Pos: 0, Text: "x"}, {Pos: 1, Text: "y"}}, Machine: []Line{{Pos: 0, Text: "X"}, {Pos: 1, Text: "Y"}, {Pos: 1, Text: "Z"}}},
		ThreadListing{Machine: []Line{{Pos: 0, Text: "V"}, {Pos: 0, Text: "W"}}}
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
		var l ThreadListing
		for i, text := range c.text {
			l.Machine = append(l.Machine, Line{Pos: c.pos[i], Text: text})
		}
		var got []int
		for _, x := range attached(l).Machine {
			got = append(got, x.Pos)
		}
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.pos[0], l.Machine[0].Pos, "a listing stays what it was")
	}
}
