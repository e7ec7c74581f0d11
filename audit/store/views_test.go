package store

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestViews: a view has the cells of the tests and of the matrix that are asked for, and no others, also while the
// store grows.
func TestViews(t *testing.T) {
	dir := t.TempDir()
	s := fresh(t, dir, "a.store")
	defer s.Close()
	matrix := &event.Config{Toolchains: []event.Toolchain{{ID: "ptxas 12.1.1"}}, Targets: []string{"sm_51"}, Levels: []string{"O2", "O3"}, Layouts: []string{"offsets"}}
	odd := func(name, hash string) bool { return strings.Contains(name, "x1-") || strings.HasSuffix(hash, "0") }
	views := map[string]View{"tests": {Tests: odd}, "matrix": {Matrix: matrix}, "both": {Tests: odd, Matrix: matrix}, "all": {}, "no text": {NoText: true}}
	matches := func(v View, c *event.Cell) bool {
		return (v.Tests == nil || v.Tests(c.Test, c.Hash)) && (v.Matrix == nil || c.Toolchain == "ptxas 12.1.1" && c.Target == "sm_51" &&
			(c.Level == "O2" || c.Level == "O3") && c.Layout == "offsets")
	}
	live := map[string]*Live{}
	for name, v := range views {
		l, err := s.Follow(t.Context(), v)
		require.NoError(t, err)
		live[name] = l
	}
	require.NoError(t, synthetic(8, 2, flushed{s.Writer(), func() {
		for _, l := range live {
			_, _, err := l.Refresh(t.Context())
			require.NoError(t, err)
		}
	}}))
	all, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	for name, v := range views {
		want := map[string]bool{}
		for i := range all.Cells {
			if c := all.Cell(i); matches(v, &c) {
				want[strings.Join([]string{c.Test, c.Hash, c.Toolchain, c.Target, c.Level, c.Layout, c.Class, c.Code}, " ")] = true
			}
		}
		require.NotEmpty(t, want, name)
		set, err := s.Load(t.Context(), v)
		require.NoError(t, err)
		for _, x := range []*event.Set{set, live[name].Set} {
			got := map[string]bool{}
			for i := range x.Cells {
				c := x.Cell(i)
				got[strings.Join([]string{c.Test, c.Hash, c.Toolchain, c.Target, c.Level, c.Layout, c.Class, c.Code}, " ")] = true
			}
			require.Equal(t, want, got, name)
			require.Len(t, x.Cells, len(want), name)
			shown := map[string]bool{}
			for i := range x.Cells {
				c := x.Cell(i)
				shown[c.ListingKey()] = true
			}
			for code := range x.Listings {
				require.True(t, shown[code], "%s: a listing of no cell", name)
			}
			require.Equal(t, len(want), x.Config.Cells)
			for _, test := range x.Tests {
				require.Equal(t, v.NoText, test.Text == "", name)
			}
		}
	}
	_, err = s.Load(t.Context(), View{Setting: 77})
	require.ErrorContains(t, err, "no setting 77")
}

// TestIs: a store is told from other files by its whole first line.
func TestIs(t *testing.T) {
	dir := t.TempDir()
	file, _ := some(t)
	require.True(t, Is(file))
	for name, text := range map[string]string{"short": "SQLite format 3", "other": "SQLite format 4\x00 and more", "empty": "", "words": "SQLite format 3 is old"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		require.False(t, Is(path), name)
	}
	require.False(t, Is(filepath.Join(dir, "none")))
	_, err := Open(t.Context(), filepath.Join(dir, "short", "a.store"), Create)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

// TestGCSpace: what a cleaning removed the file no longer holds, and it says how large the store was and is.
func TestGCSpace(t *testing.T) {
	dir := t.TempDir()
	s := fresh(t, dir, "a.store")
	defer s.Close()
	require.NoError(t, synthetic(20, 2, s.Writer()))
	_, err := s.Import(t.Context(), "b", strings.NewReader(string(stream(t, gcRun("b1", "mp")))))
	require.NoError(t, err)
	size := func() int64 {
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		return info.Bytes
	}
	free := func() (n int64) {
		require.NoError(t, s.c.QueryRowContext(t.Context(), "PRAGMA freelist_count").Scan(&n))
		return n
	}
	before := size()
	dry, err := s.GC(t.Context(), Policy{KeepBuilds: 1, Dry: true})
	require.NoError(t, err)
	require.Equal(t, before, dry.Before)
	require.Less(t, dry.After, dry.Before)
	var steps []string
	var looked []int64
	g, err := s.GC(t.Context(), Policy{KeepBuilds: 1, Progress: func(what string, done, total int64) {
		require.LessOrEqual(t, done, total)
		if what == Looking {
			looked = append(looked, done)
		}
		if len(steps) == 0 || steps[len(steps)-1] != what {
			steps = append(steps, what)
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []string{Looking, Compacting}, steps)
	require.Equal(t, []int64{0, 1, 2}, looked, "before each build, and behind the last")
	require.Zero(t, free())
	require.Equal(t, size(), g.After)
	require.Less(t, g.After, before/2)
	again, err := s.GC(t.Context(), Policy{KeepBuilds: 1})
	require.NoError(t, err)
	require.Zero(t, again.Cells)
	require.Equal(t, size(), again.After)
}

// TestGCFails: a cleaning that cannot be done says so, whatever else it could do.
func TestGCFails(t *testing.T) {
	file, _ := some(t)
	s, err := Open(t.Context(), file, Read)
	require.NoError(t, err)
	_, err = s.GC(t.Context(), Policy{})
	require.ErrorIs(t, err, ErrReadOnly)
	require.NoError(t, s.Close())
	changed(t, file, "UPDATE toolchain SET build='y' WHERE id=1")
	s, err = Open(t.Context(), file, Write)
	require.NoError(t, err)
	_, err = s.GC(t.Context(), Policy{})
	require.ErrorIs(t, err, ErrDamaged)
	require.NoError(t, s.Close())
}

// TestRemovedBeside: a writer does not refer to a result that it wrote and others have removed since: it says so.
func TestRemovedBeside(t *testing.T) {
	s := fresh(t, t.TempDir(), "a.store")
	defer s.Close()
	cfg := event.Config{Schema: event.Schema, Spec: 2, Toolchains: []event.Toolchain{{ID: "ptxas 1", Build: "b"}}}
	cell := func(test string, r event.Result) event.Event {
		return event.Event{Cell: &event.Cell{Test: test, Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers", Result: r}}
	}
	failed := event.Result{Class: event.Unknown, Reason: "timeout: ptxas"}
	w := s.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &cfg}))
	require.NoError(t, w.Handle(cell("mp", failed)))
	require.NoError(t, w.Flush())
	other, err := Open(t.Context(), s.path, Write)
	require.NoError(t, err)
	_, err = other.Import(t.Context(), "b", strings.NewReader(string(stream(t, []event.Event{{Config: &cfg}, cell("mp", event.Result{Class: event.Preserved})}))))
	require.NoError(t, err)
	_, err = other.GC(t.Context(), Policy{})
	require.NoError(t, err)
	require.EqualValues(t, 1, count(t, other, "body"), "nobody has the failed attempt any more")
	require.NoError(t, other.Close())
	require.NoError(t, w.Handle(cell("sb", failed)))
	require.ErrorContains(t, w.Flush(), "were removed by another process")
	sane(t, s)
	require.EqualValues(t, 1, count(t, s, "cell"))
}

// TestFalseHistogram: a histogram that no device can have made is damage.
func TestFalseHistogram(t *testing.T) {
	s := fresh(t, t.TempDir(), "a.store")
	defer s.Close()
	w := s.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &event.Config{Schema: event.Schema}}))
	require.NoError(t, w.Close())
	c := w.commit()
	require.NoError(t, c.addEvent(7, 0, kindHistogram, 0, 1, pack([]byte(`{"test":"mp","status":"nonsense"}`))))
	faults, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.Contains(t, faults[0], "event 7 of run 1")
	require.ErrorIs(t, s.Export(t.Context(), View{}, event.Tee{}), ErrDamaged)
	require.ErrorIs(t, s.ExportRun(t.Context(), 1, event.Tee{}), ErrDamaged)
}

// TestEndEmpty: work that failed leaves no store that it made, but what there was before, or has results; a store may be
// closed again.
func TestEndEmpty(t *testing.T) {
	dir := t.TempDir()
	failure := errors.New("failure")
	s := fresh(t, dir, "new")
	require.Equal(t, failure.Error(), s.End(failure).Error())
	require.NoFileExists(t, s.Path())
	require.NoError(t, s.Close())

	s = fresh(t, dir, "done")
	require.NoError(t, s.End(nil))
	require.FileExists(t, s.Path())
	require.NoError(t, s.Close())
	s, err := Open(t.Context(), filepath.Join(dir, "done"), Create)
	require.NoError(t, err)
	require.ErrorIs(t, s.End(failure), failure)
	require.FileExists(t, s.Path(), "somebody else has made it")

	s = fresh(t, dir, "results")
	_, err = s.Import(t.Context(), "x", strings.NewReader(string(stream(t, gcRun("b", "mp")))))
	require.NoError(t, err)
	require.ErrorIs(t, s.End(failure), failure)
	require.FileExists(t, s.Path(), "it has results")

	// Where no journal can be written, an empty file goes without one.
	path := filepath.Join(dir, "full")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere", "journal"), path+"-journal"))
	s = &Store{path: path, mode: Create, made: true}
	require.NoError(t, s.connect(t.Context()))
	require.ErrorIs(t, s.End(failure), failure)
	require.NoFileExists(t, path)
}

// TestMergeSources: a store whose sources are nowhere is not merged.
func TestMergeSources(t *testing.T) {
	dir := t.TempDir()
	from, to := twins(t, dir, "from", "11.2"), fresh(t, dir, "to")
	_, err := from.c.ExecContext(t.Context(), "UPDATE source SET artefact=99, sum=optcheck_sum('source', test, col, thread, 99)")
	require.NoError(t, err)
	_, err = to.Merge(t.Context(), from)
	require.ErrorIs(t, err, ErrDamaged)
	require.Zero(t, count(t, to, "cell"), "all of it, or nothing")
	require.NoError(t, from.Close())
	require.NoError(t, to.Close())
}

// TestKeep: an export and its tables have the cells that are chosen, in the same order, and no others.
func TestKeep(t *testing.T) {
	file, cells := some(t)
	s, err := Open(t.Context(), file, Read)
	require.NoError(t, err)
	defer s.Close()
	all, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	var want []string
	for _, i := range Canonical(all) {
		if c := all.Cell(i); c.Class == event.Optimised {
			want = append(want, strings.Join([]string{c.Test, c.Hash, c.Toolchain, c.Target, c.Level, c.Layout}, " "))
		}
	}
	require.NotEmpty(t, want)
	require.Less(t, len(want), cells)
	v := View{Keep: func(set *event.Set) (func(int) bool, error) {
		return func(i int) bool { c := set.Cell(i); return c.Class == event.Optimised }, nil
	}}
	got := event.NewSet()
	require.NoError(t, s.Export(t.Context(), v, got))
	var lines []string
	for i := range got.Cells {
		c := got.Cell(i)
		lines = append(lines, strings.Join([]string{c.Test, c.Hash, c.Toolchain, c.Target, c.Level, c.Layout}, " "))
	}
	require.Equal(t, want, lines)
	var b strings.Builder
	require.NoError(t, s.ExportCSV(t.Context(), v, &b))
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns, rows[0])
	lines = nil
	for _, r := range rows[1:] {
		lines = append(lines, strings.Join([]string{r[1], r[2], r[4], r[5], r[6], r[7]}, " "))
	}
	require.Equal(t, want, lines)
	failure := errors.New("failure")
	v.Keep = func(*event.Set) (func(int) bool, error) { return nil, failure }
	require.ErrorIs(t, s.Export(t.Context(), v, event.Tee{}), failure)
	require.ErrorIs(t, s.ExportCSV(t.Context(), v, &b), failure)
}

// TestOtherErrors: an error that is none of the database's stays what it is.
func TestOtherErrors(t *testing.T) {
	err := errors.New("other")
	require.Equal(t, err, (&Store{}).explain(err))
}
