package report

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// TestCounts: a table of classes stands where the first line does not say it: not for one program, nor for one row of programs.
func TestCounts(t *testing.T) {
	for _, x := range []struct {
		layout        string
		tests, levels int
		want          string
	}{
		{OwnLayout, 1, 2, ""}, {OwnLayout, 2, 1, ""}, {OwnLayout, 2, 2, "2 tests, 2 cells\n"}, {"pointers", 1, 1, "1 test, 1 cell; layouts pointers\n"},
	} {
		r := NewRun()
		r.Config = Config{Tests: x.tests, Layouts: []string{x.layout}, Toolchains: []Toolchain{{ID: "ptxas 1"}}, Levels: []string{"O0", "O1"}}
		for i := range x.levels {
			c := Cell{Test: "t", Toolchain: "ptxas 1", Target: "sm_80", Level: fmt.Sprint("O", i), Layout: x.layout}
			c.Class = []string{Preserved, Optimised}[i]
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

// TestNewTest: a test of a file has the lines of its accesses.
func TestNewTest(t *testing.T) {
	mp, ok := corpus.Lookup("mp")
	require.True(t, ok)
	x, err := litmus.Parse("mp.litmus", []byte(mp.String()))
	require.NoError(t, err)
	require.Empty(t, NewTest(x, "h", "mp", "").Lines)
	e := NewTest(x, "h", "", "mp.litmus")
	require.Len(t, e.Lines, len(x.Threads))
	require.Len(t, e.Columns, len(x.Threads))
	require.Positive(t, e.Lines[0][0])
	require.Equal(t, []string{"mp", "h", "mp.litmus", x.String()}, []string{e.Name, e.Hash, e.File, e.Text})
}

// TestPlansAdd: runs that tell no believable number of cells, or were on devices, plan nothing; a shard without cells has done its part.
func TestPlansAdd(t *testing.T) {
	for _, x := range []struct {
		c    Config
		want bool
	}{
		{Config{Cells: 1}, true}, {Config{Cells: MaxPlanned, Tests: MaxPlanned}, true}, {Config{Cells: 0, Shard: "1/2"}, true},
		{Config{Cells: 0}, false}, {Config{Cells: -1, Shard: "1/2"}, false}, {Config{Cells: MaxPlanned + 1}, false}, {Config{Cells: 1, Tests: -1}, false},
		{Config{Cells: 1, Tests: MaxPlanned + 1}, false}, {Config{Cells: 1, OnDevice: &DeviceRun{}}, false},
	} {
		p, err := (&Plans{}).Add(x.c, true)
		require.NoError(t, err)
		require.Equal(t, x.want, p != nil, "%+v", x.c)
	}
	var a, b bitset
	for _, i := range []uint32{0, 63, 64, 200} {
		a.add(i)
	}
	b.add(64)
	require.Equal(t, []int{4, 0, 3, 4}, []int{a.count(), a.plus(b), b.plus(a), bitset(nil).plus(a)})
	b.addAll(a)
	require.Equal(t, 4, b.count())
}

// TestVerdictCut: a verdict names some outcomes and counts the others.
func TestVerdictCut(t *testing.T) {
	v := &Verdict{Model: "ptx", Source: 3, Machine: 9}
	for i := range maxOutcomes + 2 {
		v.New = append(v.New, fmt.Sprintf("x=%d;", i))
	}
	v.Visible = v.New[:maxOutcomes]
	var b strings.Builder
	WriteVerdict(&b, v)
	lines := strings.Split(b.String(), "\n")
	require.Contains(t, lines[0], fmt.Sprintf("x=%d;  and 2 more (model ptx: 3 outcomes of the test, 9 of the machine code)", maxOutcomes-1))
	require.Equal(t, "  in the terms of the condition: "+strings.Join(v.Visible, "  "), lines[1])
}

// TestLacks: of what runs set out to do it is told how many cells are missing, of which tests they are, and which shards nobody did.
func TestLacks(t *testing.T) {
	tool := []Toolchain{{ID: "ptxas 1"}}
	config := func(cells int, shard string) Config {
		return Config{Tests: 2, Cells: cells, Shard: shard, Toolchains: tool, Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"}}
	}
	set := func(cells ...string) *Set {
		r := NewRun()
		r.Config = config(4, "")
		for _, name := range []string{"a", "b"} {
			r.Tests = append(r.Tests, Test{Name: name, Hash: name, Dialect: "PTX", Text: name})
		}
		for _, c := range cells {
			x := Cell{Test: c[:1], Hash: c[:1], Toolchain: "ptxas 1", Target: "sm_80", Level: c[1:], Layout: "pointers"}
			x.Class = Preserved
			r.Cells = append(r.Cells, x)
		}
		s := NewSet()
		for i := range r.Tests {
			require.NoError(t, s.Handle(Event{Test: &r.Tests[i]}))
		}
		for i := range r.Cells {
			require.NoError(t, s.Handle(Event{Cell: &r.Cells[i]}))
		}
		require.NoError(t, s.Close())
		return s
	}
	type plan struct {
		cells int
		shard string
		tests []uint32
	}
	for what, x := range map[string]struct {
		plans   []plan
		have    []string
		missing int
		told    string
	}{
		"whole":                       {[]plan{{4, "", []uint32{0, 1}}}, []string{"aO0", "aO3", "bO0", "bO3"}, 0, ""},
		"one cell":                    {[]plan{{4, "", []uint32{0, 1}}}, []string{"aO0", "aO3", "bO0"}, 1, ""},
		"cells of another test, cut":  {[]plan{{2, "", []uint32{0}}}, []string{"bO0", "bO3"}, 2, ""},
		"which tests nobody has said": {[]plan{{2, "", nil}}, []string{"bO0", "bO3"}, 0, ""},
		"a shard that nobody did":     {[]plan{{2, "1/2", []uint32{0}}}, []string{"aO0", "aO3"}, 2, "of 2 shards, no run did 2: merge their stores, too"},
		"two shards":                  {[]plan{{2, "1/2", []uint32{0}}, {2, "2/2", []uint32{1}}}, []string{"aO0", "aO3", "bO0"}, 1, ""},
		"nothing":                     {nil, nil, 0, ""},
	} {
		ps := &Plans{}
		for _, p := range x.plans {
			c := config(p.cells, p.shard)
			got, err := ps.Add(c, !strings.HasSuffix(what, ", cut"))
			require.NoError(t, err)
			for _, i := range p.tests {
				got.Test(i)
			}
		}
		cells, problems := ps.Lacks(set(x.have...))
		require.Equal(t, x.missing, cells, what)
		told := ""
		for _, p := range problems {
			told += p.Detail
		}
		require.Equal(t, x.told, told, what)
	}
}

// TestShared: which toolchains made the same machine code; cells without any count for nothing.
func TestShared(t *testing.T) {
	r := NewRun()
	for _, c := range [][2]string{{"x", "ptxas 1"}, {"x", "ptxas 2"}, {"x", "ptxas 1"}, {"y", "ptxas 2"}, {"z", "ptxas 2"}, {"z", "ptxas 1"}, {"", "ptxas 3"}} {
		x := Cell{Test: "t", Toolchain: c[1]}
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
	source := []Line{{Pos: 0, Text: "#0"}, {Pos: 1, Text: "#1"}}
	for what, x := range map[string]struct {
		machine []Line
		want    string
	}{
		"in order":        {[]Line{{Pos: 0, Text: "A"}, {Pos: 1, Text: "B"}}, "#0 A | #1 B"},
		"gone":            {[]Line{{Pos: 1, Text: "B"}}, "#0- | #1 B"},
		"beside":          {[]Line{{Pos: -1, Text: "F"}, {Pos: 0, Text: "A"}, {Pos: 1, Text: "B"}}, "+F | #0 A | #1 B"},
		"again":           {[]Line{{Pos: 0, Text: "A"}, {Pos: 0, Text: "A2"}, {Pos: 1, Text: "B"}}, "#0 A | >A2 | #1 B"},
		"a part":          {[]Line{{Pos: 0, Text: "A"}, {Pos: 0, Text: "P", Part: true}, {Pos: 1, Text: "B"}}, "#0 A |  P | #1 B"},
		"of another test": {[]Line{{Pos: 0, Text: "A"}, {Pos: 7, Text: "X"}, {Pos: 1, Text: "B"}}, "#0 A | >X | #1 B"},
	} {
		var rows []string
		for _, r := range SideBySide(ThreadListing{Source: source, Machine: x.machine}) {
			rows = append(rows, fmt.Sprintf("%s%c%s", r.Left.Text, r.Mark, r.Right.Text))
		}
		require.Equal(t, x.want, strings.Join(rows, " | "), what)
	}
	var moved []string
	for _, r := range SideBySide(ThreadListing{Source: source, Machine: []Line{{Pos: 1, Text: "B"}, {Pos: 0, Text: "A"}}}) {
		moved = append(moved, string(r.Mark))
	}
	require.Contains(t, moved, "<")
	require.Contains(t, moved, ">")
}

// TestSetParts: who looks at some cells sees no more; tests of old streams that tell nothing but a name are left out where texts are shown.
func TestSetParts(t *testing.T) {
	s := NewSet()
	tests := []Test{{Name: "a", Hash: "a"}, {Name: "b", Hash: "b", Dialect: "PTX"}, {Name: "c", Hash: "c", Text: "t"}}
	for i := range tests {
		require.NoError(t, s.Handle(Event{Test: &tests[i]}))
		c := Cell{Test: tests[i].Name, Hash: tests[i].Hash, Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class = Preserved
		require.NoError(t, s.Handle(Event{Cell: &c}))
	}
	require.NoError(t, s.Close())
	var names, seen []string
	for _, x := range s.Lean().Tests {
		names = append(names, x.Name)
	}
	for _, c := range s.All() {
		if seen = append(seen, c.Test); len(seen) == 2 {
			break
		}
	}
	require.Equal(t, []string{"b", "c"}, names)
	require.Equal(t, []string{"a", "b"}, seen)
}

// TestCrashList: a fault of a compiler is one, in whichever tests and cells it shows; a test is named once.
func TestCrashList(t *testing.T) {
	r := NewRun()
	for _, x := range [][3]string{{"a", Crashed, "signal 11 in f"}, {"b", Crashed, "signal 11 in f"}, {"a", Crashed, "signal 11 in f"}, {"c", Crashed, "signal 6 in g"}, {"d", Preserved, ""}} {
		c := Cell{Test: x[0], Toolchain: "ptxas 1"}
		if c.Class = x[1]; x[2] != "" {
			c.Findings = []Finding{{Rule: RuleCrash, Detail: x[2]}}
		}
		r.Cells = append(r.Cells, c)
	}
	list := r.Crashes()
	require.Len(t, list, 2)
	require.Equal(t, []string{"a", "b"}, list[0].Tests)
	require.Len(t, list[0].Cells, 3)
	require.Equal(t, []string{"c"}, list[1].Tests)
}

// TestCountRows: levels that say the same are one row, and so are all levels where there would be too many rows.
func TestCountRows(t *testing.T) {
	of := func(tools, levels int, same bool) *Run {
		r := NewRun()
		for i := range tools {
			r.Config.Toolchains = append(r.Config.Toolchains, Toolchain{ID: fmt.Sprint("ptxas ", i)})
		}
		for l := range levels {
			r.Config.Levels = append(r.Config.Levels, fmt.Sprint("O", l))
			for i := range tools {
				c := Cell{Test: "t", Toolchain: fmt.Sprint("ptxas ", i), Level: fmt.Sprint("O", l)}
				if c.Class = Preserved; l > 0 && !same {
					c.Class = Optimised
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
		r := NewRun()
		r.Config.Claims, r.Stats = x.claims, &Stats{Cells: 1, Kernels: 1, Wall: 1, Interrupted: true}
		var b strings.Builder
		w := bufio.NewWriter(&b)
		writeStats(w, r, TextOptions{Notes: x.notes})
		require.NoError(t, w.Flush())
		require.Contains(t, b.String(), "The run was interrupted: cells are missing.\n")
		require.Equal(t, x.cost, b.String() != "The run was interrupted: cells are missing.\n", x)
	}
}
