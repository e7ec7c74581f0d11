package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// planEvents returns a run over two tests, one toolchain, one target, two levels and
// one layout, of which it did some cells. shard "" is all.
func planEvents(shard string, cells int, done ...string) []event.Event {
	tc := event.Toolchain{ID: "ptxas 12.4.131", Build: "b"}
	out := []event.Event{{Config: &event.Config{Schema: event.Schema, Tool: "t", Tests: 2, Cells: cells, Toolchains: []event.Toolchain{tc},
		Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"}, Shard: shard}}}
	for _, name := range []string{"a", "b"} {
		out = append(out, event.Event{Test: &event.Test{Name: name, Hash: "h" + name, Dialect: "PTX", Text: name}})
	}
	for _, d := range done {
		out = append(out, event.Event{Cell: &event.Cell{Test: d[:1], Hash: "h" + d[:1], Toolchain: tc.ID, Target: "sm_80",
			Level: d[1:], Layout: "pointers",
			Result: event.Result{Class: event.Preserved}}})
	}
	return out
}

// TestPlanned: what a store lacks of what its runs set out to do is told,
// whoever wrote it and in whatever order.
func TestPlanned(t *testing.T) {
	first := planEvents("1/2", 2, "aO0", "bO3")
	newer, tools := planEvents("", 4, "aO0", "aO3", "bO0", "bO3"), []event.Toolchain{{ID: "ptxas 12.4.131", Build: "c"}}
	newer[0].Config.Toolchains = tools
	two := planEvents("", 4, "aO0") // with a second compiler
	for i, id := range []string{"ptxas 11.8.89", "ptxas 12.4.131"} {
		two[0].Config.Toolchains = append(two[0].Config.Toolchains[:i:i], event.Toolchain{ID: id, Build: "b"})
	}
	other := event.Event{Cell: new(event.Cell)}
	*other.Cell = *two[len(two)-1].Cell
	other.Cell.Toolchain = "ptxas 11.8.89"
	two[0].Config.Cells, two = 8, append(two, other)
	newerKilled := planEvents("", 4, "bO0")
	newerKilled[0].Config.Toolchains = tools
	second := planEvents("2/2", 2, "aO3", "bO0")
	for name, x := range map[string]struct {
		runs    [][]event.Event
		missing int
		problem string
	}{
		"whole":                       {[][]event.Event{planEvents("", 4, "aO0", "aO3", "bO0", "bO3")}, 0, ""},
		"killed":                      {[][]event.Event{planEvents("", 4, "aO0")}, 3, ""},
		"two compilers, killed":       {[][]event.Event{two}, 6, ""},
		"killed, went on":             {[][]event.Event{planEvents("", 4, "aO0"), planEvents("", 4, "aO3", "bO0", "bO3")}, 0, ""},
		"both shards":                 {[][]event.Event{first, second}, 0, ""},
		"one shard":                   {[][]event.Event{first}, 2, "of 2 shards, no run did 2: merge their stores, too"},
		"other shard":                 {[][]event.Event{second}, 2, "of 2 shards, no run did 1: merge their stores, too"},
		"shard killed":                {[][]event.Event{first, planEvents("2/2", 2, "aO3")}, 1, ""},
		"shard and a whole":           {[][]event.Event{first, planEvents("", 4, "aO0", "aO3", "bO0", "bO3")}, 0, ""},
		"cut in two ways":             {[][]event.Event{planEvents("3/3", 1, "bO3"), first, second}, 0, ""},
		"part of another":             {[][]event.Event{first, planEvents("", 4, "aO0")}, 2, ""},
		"another build, killed":       {[][]event.Event{planEvents("", 4, "aO0", "aO3"), newer}, 0, ""},
		"another build's shard":       {[][]event.Event{first, newer}, 0, ""},
		"killed with the newer build": {[][]event.Event{planEvents("", 4, "aO0", "aO3", "bO0", "bO3"), newerKilled}, 3, ""},
		"hostile": {[][]event.Event{planEvents("1/2000000000", 2, "aO0", "bO3")}, 2,
			"of 2000000000 shards, no run did 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1999999989 more: merge their stores, too"},
	} {
		t.Run(name, func(t *testing.T) {
			var streams [][]byte
			for _, r := range x.runs {
				streams = append(streams, stream(t, r))
			}
			s := imported(t, t.TempDir(), "a.store", streams...)
			defer s.Close()
			set, err := s.Load(t.Context(), View{})
			require.NoError(t, err)
			require.Equal(t, x.missing, set.Config.Cells-len(set.Cells))
			require.Equal(t, x.missing > 0, set.Incomplete() != "")
			var got string
			for _, p := range set.Problems {
				got += p.Detail
			}
			require.Equal(t, x.problem, got)
		})
	}
}

// TestPlannedWider: what was killed is complete when a wider run did all of it.
func TestPlannedWider(t *testing.T) {
	narrow := planEvents("", 2, "aO0")
	c := *narrow[0].Config
	c.Levels = []string{"O0"}
	narrow[0].Config = &c
	s := imported(t, t.TempDir(), "a.store", stream(t, narrow), stream(t, planEvents("", 4, "aO3", "bO0", "bO3")))
	defer s.Close()
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Empty(t, set.Incomplete())
	unfinished, err := s.Unfinished(t.Context(), 0)
	require.NoError(t, err)
	require.False(t, unfinished)
}

// TestPlannedOtherTests: a run that is done makes up for nothing that another one
// with an equal config lacks of other tests.
func TestPlannedOtherTests(t *testing.T) {
	killed := planEvents("", 4, "aO0")
	for _, e := range killed {
		switch {
		case e.Test != nil:
			e.Test.Name, e.Test.Hash = "other "+e.Test.Name, "other "+e.Test.Hash
		case e.Cell != nil:
			e.Cell.Test, e.Cell.Hash = "other "+e.Cell.Test, "other "+e.Cell.Hash
		}
	}
	s := imported(t, t.TempDir(), "a.store", stream(t, planEvents("", 4, "aO0", "aO3", "bO0", "bO3")), stream(t, killed))
	defer s.Close()
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Len(t, set.Cells, 5)
	require.Equal(t, "the run is incomplete: 5 of 8 cells are there", set.Incomplete())
}

// TestPlannedAtOnce: a run that was killed before it named its tests lacks them all,
// however many others there are.
func TestPlannedAtOnce(t *testing.T) {
	other := planEvents("", 3)[:1]
	s := imported(t, t.TempDir(), "a.store", stream(t, planEvents("", 4, "aO0", "aO3", "bO0", "bO3")), stream(t, other))
	defer s.Close()
	other[0].Config.Tests = 1
	_, err := s.Import(t.Context(), "b", bytes.NewReader(stream(t, other)))
	require.NoError(t, err)
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Equal(t, 3, set.Config.Cells-len(set.Cells))
}

// TestPlannedGC: a shard that found everything known is not missing after a
// cleaning.
func TestPlannedGC(t *testing.T) {
	dir := t.TempDir()
	s := imported(t, dir, "a.store", stream(t, planEvents("1/2", 2, "aO0", "bO3")), stream(t, planEvents("2/3", 2, "aO3", "bO0")),
		stream(t, planEvents("2/2", 2, "aO3", "bO0")), stream(t, planEvents("1/2", 2)))
	defer s.Close()
	_, err := s.GC(t.Context(), Policy{})
	require.NoError(t, err)
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Empty(t, set.Incomplete(), fmt.Sprint(set.Problems))
}

// TestPlannedMerge: merging what was missing makes a store whole, and what was
// exported of a part does not call it a part for ever.
func TestPlannedMerge(t *testing.T) {
	dir := t.TempDir()
	a := imported(t, dir, "a.store", stream(t, planEvents("1/2", 2, "aO0", "bO3")))
	part := exported(t, a, View{})
	b := imported(t, dir, "b.store", stream(t, planEvents("2/2", 2, "aO3", "bO0")), []byte(part))
	for k, s := range []*Store{a, b} {
		set, err := s.Load(t.Context(), View{})
		require.NoError(t, err)
		require.Equal(t, []int{2, 0}[k], set.Config.Cells-len(set.Cells), fmt.Sprint(set.Problems))
		require.NoError(t, s.Close())
	}
}
