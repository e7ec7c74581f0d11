package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// cellOf is a cell of ptxas 1 for sm_80 at O3.
func cellOf(test string, r event.Result) *event.Cell {
	return &event.Cell{Test: test, Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers", Result: r}
}

// story is a run in which events of all kinds follow each other, with tests in a given order.
func story(flag string, tests ...string) []event.Event {
	out := []event.Event{{Config: &event.Config{Schema: event.Schema, Spec: 2, Tool: "t", Build: "b", Flags: []string{flag},
		Toolchains: []event.Toolchain{{ID: "ptxas 1", Build: "b"}}}}}
	for _, test := range tests {
		out = append(out, event.Event{Test: &event.Test{Name: test, Hash: "h", Dialect: "GPU_PTX", Text: test}})
	}
	for i, test := range tests {
		code := fmt.Sprintf("%016x", i)
		out = append(out, event.Event{Problem: &event.Problem{Kind: "compile", Detail: flag + test}},
			event.Event{Listing: &event.Listing{Code: code}},
			event.Event{Cell: cellOf(test, event.Result{Class: event.Optimised, Code: code, Reason: flag})})
	}
	return append(out, event.Event{Stats: &event.Stats{Cells: len(tests), Wall: 1}})
}

// TestSeveralRuns: of each run that one writer writes the events come out as they came, whatever the runs before it had, and so
// they do where the runs are merged into a store that has the first of them.
func TestSeveralRuns(t *testing.T) {
	runs := [][]event.Event{story("one", "a", "b", "c", "d"), story("two", "d", "c", "a", "b"), story("three", "b"), story("four", "c", "d", "a", "b")}
	dir := t.TempDir()
	s, part := fresh(t, dir, "a"), fresh(t, dir, "part")
	w := s.Writer()
	check := func(s *Store, n int) {
		for i, events := range runs[:n] {
			require.Equal(t, string(stream(t, events)), ran(t, s, int64(i+1)), "run %d", i+1)
		}
		sane(t, s)
	}
	for i, events := range runs {
		for _, e := range events {
			require.NoError(t, w.Handle(e))
		}
		require.NoError(t, w.Flush())
		require.EqualValues(t, i+1, w.Added().Runs)
		check(s, i+1)
		if i == 0 {
			_, err := part.Merge(t.Context(), s)
			require.NoError(t, err)
		}
	}
	require.Equal(t, Counts{Cells: 13, Runs: 4}, w.Added())
	// Tests that stand beside each other in the store take one row: of the first run all, of the others what follows each other.
	for i, rows := range []int64{1, 3, 1, 2} {
		require.Equal(t, rows, count(t, s, fmt.Sprintf("event WHERE kind=%d AND run=%d", kindTests, i+1)), "run %d", i+1)
	}
	n, err := part.Merge(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, Counts{Cells: 9, Repeated: 4, Runs: 3}, n)
	check(part, 4)
	again, err := part.Merge(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, Counts{Repeated: 13}, again)
	check(part, 4)

	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Len(t, info.Settings, 4)
	for i, x := range info.Settings {
		require.Equal(t, runs[i][0].Config.Flags, x.Flags)
		require.EqualValues(t, 1, x.Columns)
		require.EqualValues(t, len(runs[i])/4, x.Cells)
		require.EqualValues(t, len(runs[i])/4, info.Runs[i].Cells)
		require.Equal(t, StateDone, info.Runs[i].State)
		require.Equal(t, x.ID, info.Runs[i].Setting)
	}
	require.Equal(t, []int64{13, 4, 4, 4}, []int64{info.Cells, info.Tests, info.Results, info.Listings})
	require.NoError(t, s.Close())
	require.NoError(t, part.Close())
}

// TestMisplaced: what comes before its run, and what is nothing, is an error, and a writer that failed is closed without another one.
func TestMisplaced(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	c := cellOf("mp", event.Result{Class: event.Preserved})
	w := s.Writer()
	require.NoError(t, w.Flush())
	require.ErrorContains(t, w.Handle(event.Event{Cell: c}), "before the config")
	require.ErrorContains(t, w.Artefacts(c, nil), "before the config")
	require.NoError(t, w.Handle(story("x")[0]))
	require.ErrorContains(t, w.Handle(event.Event{}), "no kind")
	require.NoError(t, w.Close())
	require.EqualValues(t, 1, count(t, s, "run"))
	require.Zero(t, count(t, s, "event"))
	require.NoError(t, w.Handle(event.Event{Cell: c}))
	require.NoError(t, w.Flush())
	require.NoError(t, w.Handle(event.Event{Cell: cellOf("mp", event.Result{Class: event.Optimised})}))
	require.ErrorIs(t, w.Flush(), ErrConflict)
	require.NoError(t, w.Close(), "it was said")
	_, err := s.Import(t.Context(), "two", strings.NewReader(string(stream(t, story("x", "a")))+string(stream(t, story("y", "a")))))
	require.ErrorContains(t, err, "two: a second config in event 7: streams are merged one by one")
	require.EqualValues(t, 1, count(t, s, "run"))
	_, err = s.Merge(t.Context(), s)
	require.ErrorContains(t, err, "into itself")
}

// TestHave: a writer knows of the run's own setting what it has: not what failed and may succeed, nor cells of other tests, columns,
// compilers' builds or builds of optcheck, which it counts.
func TestHave(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	run := func(change func(*event.Config), cells ...*event.Cell) {
		c := *story("x")[0].Config
		if change != nil {
			change(&c)
		}
		w := s.Writer()
		require.NoError(t, w.Handle(event.Event{Config: &c}))
		for _, cell := range cells {
			require.NoError(t, w.Handle(event.Event{Cell: cell}))
		}
		require.NoError(t, w.Close())
	}
	good := event.Result{Class: event.Preserved, Code: "0123456789abcdef"}
	var many []*event.Cell
	for i := range 150 { // more than two words of bits
		many = append(many, cellOf(fmt.Sprint("t", i), good))
	}
	run(nil, append(many, cellOf("undecided", event.Result{Class: event.Unknown, Reason: "a loop is not understood"}),
		cellOf("failed", event.Result{Class: event.Unknown, Reason: "timeout: ptxas"}))...)
	run(func(c *event.Config) { c.Build = "other" }, cellOf("other build", good), cellOf("t0", good))
	run(func(c *event.Config) { c.Tool = "newer" }, cellOf("newer tool", good))
	run(func(c *event.Config) { c.Flags = []string{"y"} }, cellOf("other flags", good))
	run(func(c *event.Config) { c.Toolchains[0] = event.Toolchain{ID: "ptxas 1", Build: "c"} }, cellOf("other compiler", good))
	w := s.Writer()
	require.False(t, w.Have(many[0]), "nobody asked to remember")
	require.Zero(t, w.Skipped())
	require.Zero(t, w.OtherBuilds())
	cfg := *story("x")[0].Config
	require.NoError(t, w.Handle(event.Event{Config: &cfg}))
	require.NoError(t, w.Remember(t.Context()))
	for _, c := range many {
		require.True(t, w.Have(c), c.Test)
	}
	for test, want := range map[string]bool{"undecided": true, "failed": false, "other build": false, "newer tool": false, "other flags": false,
		"other compiler": false, "none": false} {
		require.Equal(t, want, w.Have(cellOf(test, good)), test)
	}
	for i, change := range []func(*event.Cell){func(c *event.Cell) { c.Hash = "i" }, func(c *event.Cell) { c.Level = "O2" }, func(c *event.Cell) { c.Target = "sm_90" },
		func(c *event.Cell) { c.Layout = "offsets" }, func(c *event.Cell) { c.Toolchain = "ptxas 2" }} {
		c := cellOf("t0", good)
		change(c)
		require.False(t, w.Have(c), i)
	}
	require.EqualValues(t, 151, w.Skipped())
	require.EqualValues(t, 3, w.OtherBuilds())
	require.NoError(t, w.Close())
}

// TestTestWords: what two events say of one test is united to the same, whichever comes first, and again changes nothing.
func TestTestWords(t *testing.T) {
	var all []event.Test
	for _, dialect := range []string{"", "C", "PTX"} {
		for _, text := range []string{"", "one", "two"} {
			for _, from := range [][2]string{{}, {"quick"}, {"", "a.litmus"}, {"", "b.litmus"}} {
				all = append(all, event.Test{Name: "mp", Hash: "h", Dialect: dialect, Text: text, Preset: from[0], File: from[1]})
			}
		}
	}
	for i := range all {
		for k := range all {
			a, b := all[i], all[k]
			if a.Dialect == "" && (a.Preset != "" || a.File != "") || b.Dialect == "" && (b.Preset != "" || b.File != "") {
				continue // whoever knows where a test comes from knows its dialect
			}
			one, err := mergeTests(&a, &b)
			require.NoError(t, err)
			two, err := mergeTests(&b, &a)
			require.NoError(t, err)
			require.Equal(t, one, two, "%+v %+v", a, b)
			for _, x := range []*event.Test{&a, &b} {
				again, err := mergeTests(&one, x)
				require.NoError(t, err)
				require.Equal(t, one, again)
			}
			said := func(get func(*event.Test) string) bool { return get(&one) != "" || get(&a) == "" && get(&b) == "" }
			require.True(t, said(func(x *event.Test) string { return x.Text }))
			require.True(t, said(func(x *event.Test) string { return x.Dialect }))
			require.True(t, said(func(x *event.Test) string { return x.Preset + x.File }), "%+v %+v", a, b)
			require.Contains(t, []string{a.Text, b.Text}, one.Text)
		}
	}
}

// TestCodes: hashes of machine code of any form are stored and read as they are, those of 16 digits as numbers; what is none is no
// other's.
func TestCodes(t *testing.T) {
	for _, s := range []string{"", "0", "0123456789abcdef", "ffffffffffffffff", "0000000000000000", "0123456789ABCDEF", "0123456789abcdeg",
		"0123456789abcdef0", "00112233445566778899aabbccddeeff", "x"} {
		v := codeValue(s)
		got, err := codeText(v)
		require.NoError(t, err)
		require.Equal(t, s, got)
		_, number := v.(int64)
		require.Equal(t, s == "0123456789abcdef" || s == "ffffffffffffffff" || s == "0000000000000000", number, s)
		require.True(t, sameCode(v, codeValue(s)))
		require.Equal(t, s == "", sameCode(v, nil))
		require.False(t, sameCode(v, 1.5))
		require.False(t, sameCode(1.5, v))
	}
	require.Nil(t, codeValue(""))
	got, err := codeText([]byte("x"))
	require.NoError(t, err)
	require.Equal(t, "x", got)
}

// TestCellByNumber: each cell is read by its number, as it was written; a number of none, and a changed cell, are errors.
func TestCellByNumber(t *testing.T) {
	file, cells := some(t)
	s, err := Open(t.Context(), file, Write)
	require.NoError(t, err)
	defer s.Close()
	l, err := s.Follow(t.Context(), View{})
	require.NoError(t, err)
	require.Len(t, l.Numbers, cells)
	for i, n := range l.Numbers {
		if i%17 == 0 {
			c, err := s.Cell(t.Context(), n)
			require.NoError(t, err)
			require.Equal(t, l.Cell(i), c)
			test, err := s.Test(t.Context(), c.Test, c.Hash)
			require.NoError(t, err)
			require.Equal(t, l.Tests[l.Cells[i].Test], *test)
		}
	}
	_, err = s.Cell(t.Context(), 0)
	require.ErrorContains(t, err, "no cell 0")
	_, err = s.Test(t.Context(), "none", "h")
	require.ErrorContains(t, err, `no test "none" with hash "h"`)
	_, err = s.c.ExecContext(t.Context(), "UPDATE cell SET body=body+1 WHERE seq=1")
	require.NoError(t, err)
	_, err = s.Cell(t.Context(), 1)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = s.Cell(t.Context(), 2)
	require.NoError(t, err)
}
