package event

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// partEvents returns a run over two tests, one toolchain, one target, two levels and one
// layout, of which it did some cells ("aO3"). change changes its config.
func partEvents(cells int, change func(*Config), done ...string) []Event {
	c := &Config{Schema: Schema, Tool: "t", Build: "b1", Model: "m1", Tests: 2, Cells: cells,
		Toolchains: []Toolchain{{ID: "ptxas 12.4.131", Build: "b"}},
		Targets:    []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"}}
	if change != nil {
		change(c)
	}
	out := []Event{{Config: c}}
	for _, name := range []string{"a", "b"} {
		out = append(out, Event{Test: &Test{Name: name, Hash: "h" + name, Dialect: "PTX", Text: name}})
	}
	for _, d := range done {
		out = append(out, Event{Cell: &Cell{Test: d[:1], Hash: "h" + d[:1], Toolchain: c.Toolchains[0].ID, Target: "sm_80",
			Level: d[1:3], Layout: "pointers",
			Result: Result{Class: Preserved, Code: d[3:]}}})
	}
	return append(out, Event{Stats: &Stats{Cells: len(done), Wall: 1.5}})
}

func shardOf(s string) func(*Config) { return func(c *Config) { c.Shard = s } }

func united(runs ...[]Event) (*Set, error) {
	s := NewSet()
	for _, r := range runs {
		for _, e := range r {
			if err := s.Handle(e); err != nil {
				return s, err
			}
		}
	}
	return s, s.Close()
}

// TestUnion: several runs are one whole, and what they lack or do not have in
// common is told, in whatever order they come.
func TestUnion(t *testing.T) {
	first, second := partEvents(2, shardOf("1/2"), "aO0", "bO3"), partEvents(2, shardOf("2/2"), "aO3", "bO0")
	whole := partEvents(4, nil, "aO0", "aO3", "bO0", "bO3")
	other := func(c *Config) { c.Toolchains = []Toolchain{{ID: "ptxas 11.8.89", Build: "x"}} }
	mine := func(f func(c *Config)) []Event { return partEvents(2, f, "aO0", "bO0") }
	killed := whole[:4]
	const only = ": what differs between cells may come from that"
	for name, x := range map[string]struct {
		runs           [][]Event
		cells, missing int
		problem        string
	}{
		"one":              {[][]Event{whole}, 4, 0, ""},
		"twice":            {[][]Event{whole, whole, whole}, 4, 0, ""},
		"shards":           {[][]Event{first, second}, 4, 0, ""},
		"shards twice":     {[][]Event{first, second, first, second}, 4, 0, ""},
		"one shard":        {[][]Event{first}, 2, 0, ""},
		"one shard, twice": {[][]Event{first, first}, 2, 0, ""},
		"shard missing": {[][]Event{partEvents(2, shardOf("1/3"), "aO0", "bO3"), partEvents(1, shardOf("3/3"), "aO3")}, 3, 1,
			"of 3 shards, no run did 2: merge their stores, too"},
		"shard killed": {[][]Event{first, second[:4]}, 3, 1, ""},
		"killed":       {[][]Event{killed, killed}, 1, 3, ""},
		"killed, done": {[][]Event{killed, whole}, 4, 0, ""},
		"two releases": {[][]Event{whole, partEvents(4, other, "aO0", "aO3", "bO0")}, 7, 1, ""},
		"builds": {[][]Event{whole, mine(func(c *Config) { c.Build = "b2" })}, 4, 0,
			"different builds of optcheck: t (build b1) and t (build b2)" + only},
		"models": {[][]Event{whole, mine(func(c *Config) { c.Model = "m2" })}, 4, 0, "different models: m1 and m2" + only},
		"flags": {[][]Event{whole, mine(func(c *Config) { c.Flags = []string{"-v"} })}, 4, 0,
			`different options of the compilers: [] and ["-v"]` + only},
		"plain": {[][]Event{whole, mine(func(c *Config) { c.Plain = true })}, 4, 0,
			"kernels with markers and without: markers true and markers false" + only},
		"compiler's build": {[][]Event{whole, mine(func(c *Config) { c.Toolchains = []Toolchain{{ID: "ptxas 12.4.131", Build: "c"}} })}, 4, 0,
			"different builds of ptxas 12.4.131: b and c" + only},
	} {
		t.Run(name, func(t *testing.T) {
			for _, back := range []bool{false, true} {
				runs := x.runs
				if back {
					runs = nil
					for _, r := range x.runs {
						runs = append([][]Event{r}, runs...)
					}
				}
				s, err := united(runs...)
				require.NoError(t, err)
				require.Len(t, s.Cells, x.cells)
				require.Equal(t, x.missing, s.Config.Cells-len(s.Cells))
				require.Equal(t, x.missing > 0, s.Incomplete() != "")
				require.Equal(t, 2, s.Config.Tests)
				var got []string
				for _, p := range s.Problems {
					got = append(got, p.Detail)
				}
				if !back || len(s.Mixed()) == 0 {
					require.Equal(t, x.problem, strings.Join(got, "\n"))
				} else {
					require.Len(t, got, 1)
				}
			}
		})
	}
}

// otherTests returns the same events for tests of other names.
func otherTests(events []Event) (out []Event) {
	for _, e := range events {
		switch {
		case e.Test != nil:
			x := *e.Test
			x.Name, x.Hash = "other "+x.Name, "other "+x.Hash
			e.Test = &x
		case e.Cell != nil:
			x := *e.Cell
			x.Test, x.Hash = "other "+x.Test, "other "+x.Hash
			e.Cell = &x
		}
		out = append(out, e)
	}
	return out
}

// TestUnionOfOtherTests: runs with equal configs that are of different tests make
// up for nothing that the other one lacks.
func TestUnionOfOtherTests(t *testing.T) {
	whole, killed := partEvents(4, nil, "aO0", "aO3", "bO0", "bO3"), partEvents(4, nil, "aO0")
	killed = killed[:4]
	first, second := partEvents(2, shardOf("1/2"), "aO0", "bO3"), partEvents(2, shardOf("2/2"), "aO3", "bO0")
	for name, x := range map[string]struct {
		runs           [][]Event
		cells, missing int
	}{
		"whole":                  {[][]Event{whole, otherTests(whole)}, 8, 0},
		"killed":                 {[][]Event{whole, otherTests(killed)}, 5, 3},
		"killed, named nothing":  {[][]Event{whole, append(otherTests(whole)[:1:1], otherTests(killed)[3])}, 5, 3},
		"both killed":            {[][]Event{killed, otherTests(killed)}, 2, 6},
		"killed and done":        {[][]Event{whole, otherTests(killed), otherTests(whole)}, 8, 0},
		"done in shards":         {[][]Event{first, otherTests(first), second, otherTests(second), otherTests(killed)}, 8, 0},
		"a shard of each":        {[][]Event{first, otherTests(second)}, 4, 4},
		"shard beside the whole": {[][]Event{whole, otherTests(first)}, 6, 2},
	} {
		for _, back := range []bool{false, true} {
			runs := slices.Clone(x.runs)
			if back {
				slices.Reverse(runs)
			}
			s, err := united(runs...)
			require.NoError(t, err)
			require.Len(t, s.Cells, x.cells, name)
			require.Equal(t, x.missing, s.Config.Cells-len(s.Cells), name)
			require.Equal(t, x.missing > 0, s.Incomplete() != "", name)
		}
	}
}

// TestUnionConflict: two results for one cell are an error that says what differs
// between their runs; a failed attempt gives way.
func TestUnionConflict(t *testing.T) {
	whole := partEvents(4, nil, "aO0", "aO3")
	_, err := united(whole, partEvents(4, nil, "aO3x"))
	require.ErrorIs(t, err, ErrConflict)
	require.EqualError(t, err,
		`conflicting results for "a" (hash ha) in ptxas 12.4.131 sm_80 O3 pointers: one run says preserved, another preserved code x`)
	_, err = united(whole, partEvents(4, func(c *Config) { c.Build = "b2" }, "aO3x"))
	require.ErrorContains(t, err,
		"(different builds of optcheck: t (build b1) and t (build b2): show one of them, or compare them with optcheck diff)")
	failed := partEvents(4, nil, "aO3")
	failed[3].Cell.Class, failed[3].Cell.Reason = Unknown, "timeout: ptxas"
	failed = append(failed, Event{Problem: &Problem{Kind: "timeout", Toolchain: "ptxas 12.4.131", Target: "sm_80",
		Level: "O3", Detail: "60 s"}})
	for _, runs := range [][][]Event{{whole, failed}, {failed, whole}} {
		s, err := united(runs...)
		require.NoError(t, err)
		require.Len(t, s.Cells, 2)
		for i := range s.Cells {
			require.Equal(t, Preserved, s.Cell(i).Class)
		}
		require.Empty(t, s.Problems, "what was overcome is no problem any more")
	}
}

// TestUnionDevice: a run on a device that did not come to its end is told, until
// the same one did.
func TestUnionDevice(t *testing.T) {
	audit := partEvents(4, nil, "aO0", "aO3", "bO0", "bO3")
	device := []Event{{Config: &Config{Schema: Schema, Tool: "t", Build: "b1", OnDevice: &DeviceRun{Seed: 7}}},
		{Histogram: &Histogram{Test: "a", Status: StatusDone}}}
	ended := append(device[:2:2], Event{Stats: &Stats{}})
	for i, x := range []struct {
		runs [][]Event
		ok   bool
	}{{[][]Event{audit, device}, false}, {[][]Event{device, audit}, false}, {[][]Event{device, device}, false}, {[][]Event{audit, ended},
		true}, {[][]Event{audit, device, ended}, true}} {
		s, err := united(x.runs...)
		require.NoError(t, err)
		require.Equal(t, x.ok, s.Incomplete() == "", "%d: %s", i, s.Incomplete())
		require.Len(t, s.Histograms, 1)
	}
}

// TestUnionStream: several streams in one are read like several files; a later
// config that this version does not know is refused.
func TestUnionStream(t *testing.T) {
	var b bytes.Buffer
	h := NewJSONLines(&b)
	for _, e := range append(partEvents(2, shardOf("1/2"), "aO0", "bO3"), partEvents(2, shardOf("2/2"), "aO3")...) {
		require.NoError(t, h.Handle(e))
	}
	require.NoError(t, h.Close())
	s := NewSet()
	require.NoError(t, Read("a", bytes.NewReader(b.Bytes()), s.Handle))
	require.NoError(t, s.Close())
	require.Equal(t, "the run is incomplete: 3 of 4 cells are there", s.Incomplete())
	fmt.Fprintf(&b, "{\"config\":{\"schema\":%d}}\n", Schema+1)
	require.ErrorContains(t, Read("a", &b, NewSet().Handle), "a:12: event stream of schema")
}
