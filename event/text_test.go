package event

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

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
