package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestOnlyFiles: what is no regular file is neither opened as a store nor taken as one of the files beside it.
func TestOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o666))
	for _, m := range []Mode{Read, Write, Create} {
		_, err := Open(t.Context(), pipe, m)
		require.ErrorContains(t, err, "is not a regular file")
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		file, _ := some(t)
		require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), file+suffix))
		_, err := Open(t.Context(), file, Write)
		require.ErrorContains(t, err, suffix+" is not a regular file: remove it")
		require.NoFileExists(t, filepath.Join(dir, "elsewhere"))
	}
}

// TestUntold: what two runs of one setting tell in equal words is told once, sorted, and what a matrix leaves out is not told.
func TestUntold(t *testing.T) {
	problem := func(toolchain, target, detail string) event.Event {
		return event.Event{Problem: &event.Problem{Kind: "compile", Toolchain: toolchain, Target: target, Level: "O3", Detail: detail}}
	}
	histogram := func(test string) event.Event {
		return event.Event{Histogram: &event.Histogram{Test: test, Status: event.StatusDone}}
	}
	cell := func(test string) event.Event {
		return event.Event{Cell: cellOf(test, event.Result{Class: event.Preserved})}
	}
	config := story("x")[0]
	one := []event.Event{config, problem("ptxas 1", "sm_90", "b"), problem("ptxas 1", "sm_80", "c"), histogram("sb"), cell("mp"), problem("", "", "all"),
		{Stats: &event.Stats{Cells: 1}}}
	two := []event.Event{config, histogram("mp"), problem("ptxas 1", "sm_80", "a"), problem("ptxas 1", "sm_90", "b"), histogram("sb"), cell("sb")}
	for i, runs := range [][][]event.Event{{one, two}, {two, one}, {one, two, one}} {
		s := storeOf(t, t.TempDir(), runs...)
		set, err := s.Load(t.Context(), View{})
		require.NoError(t, err)
		var told []string
		for _, p := range set.Problems {
			told = append(told, p.Target+p.Detail)
		}
		require.Equal(t, []string{"all", "sm_80a", "sm_80c", "sm_90b"}, told, i)
		require.Len(t, set.Histograms, 2)
		require.Equal(t, []string{"mp", "sb"}, []string{set.Histograms[0].Test, set.Histograms[1].Test})
		require.Nil(t, set.Stats, "they are those of one run")
		var out []event.Event
		require.NoError(t, s.Export(t.Context(), View{}, handler(func(e event.Event) { out = append(out, e) })))
		require.Equal(t, []string{"mp", "sb"}, []string{out[len(out)-2].Histogram.Test, out[len(out)-1].Histogram.Test})
		only, err := s.Load(t.Context(), View{Matrix: &event.Config{Toolchains: []event.Toolchain{{ID: "ptxas 1"}}, Targets: []string{"sm_80"},
			Levels: []string{"O3"}, Layouts: []string{"pointers"}}})
		require.NoError(t, err)
		told = nil
		for _, p := range only.Problems {
			told = append(told, p.Target+p.Detail)
		}
		require.Equal(t, []string{"all", "sm_80a", "sm_80c"}, told)
		require.NoError(t, s.Close())
	}
	s := storeOf(t, t.TempDir(), one)
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.NotNil(t, set.Stats)
	require.NoError(t, s.Close())
}

// handler is a report.Handler of a function.
type handler func(event.Event)

func (h handler) Handle(e event.Event) error { h(e); return nil }
func (h handler) Close() error               { return nil }

// TestAsked: what is not there is named, with what lists what is; an end of the caller's context ends the work.
func TestAsked(t *testing.T) {
	file, cells := some(t)
	s, err := Open(t.Context(), file, Write)
	require.NoError(t, err)
	defer s.Close()
	require.ErrorContains(t, s.ExportRun(t.Context(), 9, event.Tee{}), "no run 9 (optcheck store info")
	_, err = s.Artefact(t.Context(), "x")
	require.ErrorContains(t, err, `no artefact "x"`)
	require.NoError(t, s.Put(t.Context(), "x", "word", []byte("text")))
	data, err := s.Artefact(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, "text", string(data))
	list, err := s.Artefacts(t.Context())
	require.NoError(t, err)
	require.Equal(t, []ArtefactInfo{{Hash: list[0].Hash, Kind: "word", Size: 4, Name: "x"}}, list)
	data, err = s.Artefact(t.Context(), list[0].Hash)
	require.NoError(t, err)
	require.Equal(t, "text", string(data))

	live, err := s.Follow(t.Context(), View{})
	require.NoError(t, err)
	before := live.Set
	added, again, err := live.Refresh(t.Context())
	require.NoError(t, err)
	require.Zero(t, added)
	require.False(t, again)
	require.Same(t, before, live.Set)

	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	seen := 0
	err = s.Export(ctx, View{}, handler(func(e event.Event) {
		if e.Cell != nil {
			if seen++; seen == 5 {
				cancel(enough)
			}
		}
	}))
	require.ErrorIs(t, err, enough)
	require.Less(t, seen, cells)
	for _, n := range []int{10, 5000} {
		ctx, cancel = context.WithCancelCause(t.Context())
		tests := make([]string, n)
		for i := range tests {
			tests[i] = fmt.Sprint("t", i)
		}
		text := string(stream(t, story("long", tests...)))
		_, err = s.Import(ctx, "x", ends{strings.NewReader(text), func() { cancel(enough) }})
		if n == 10 {
			require.NoError(t, err, "what is read is not thrown away for being late")
			continue
		}
		require.ErrorIs(t, err, enough)
	}
	require.EqualValues(t, 2, count(t, s, "run"))
	sane(t, s)
}

// ends is a reader that calls a function when it is read.
type ends struct {
	*strings.Reader
	f func()
}

func (r ends) Read(p []byte) (int, error) {
	r.f()
	return r.Reader.Read(p)
}

// TestPending: a writer that is given much writes it unasked, all or nothing at a time.
func TestPending(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	w := s.Writer()
	w.limit = 3
	events := story("x", "a", "b", "c")
	for i, e := range events {
		require.NoError(t, w.Handle(e))
		require.Len(t, w.items, i%3, "after %d", i)
	}
	require.NoError(t, w.Close())
	require.Empty(t, w.items)
	require.Equal(t, string(stream(t, events)), ran(t, s, 1))
}

// TestCounts: a writer counts each cell as new, as one that was there, or as one that takes the place of another.
func TestCounts(t *testing.T) {
	good, failed := event.Result{Class: event.Preserved, Code: "0123456789abcdef"}, event.Result{Class: event.Unknown, Reason: "timeout: ptxas"}
	also := event.Result{Class: event.Unknown, Reason: "infrastructure: nvdisasm"} // the same is kept in either order
	found := event.Result{Class: event.Changed, Code: "0123456789abcdef", Findings: []event.Finding{{Rule: "merged", Stage: "back end"}}}
	nowhere, known := found, found
	nowhere.Findings = []event.Finding{{Rule: "merged"}}
	known.Known = []string{"a"}
	for name, x := range map[string]struct {
		old, new event.Result
		want     Counts
		kept     event.Result
	}{
		"the same":          {good, good, Counts{Repeated: 1}, good},
		"better":            {failed, good, Counts{Replaced: 1}, good},
		"worse":             {good, failed, Counts{Repeated: 1}, good},
		"failed twice":      {failed, also, Counts{Replaced: 1}, also},
		"failed, the other": {also, failed, Counts{Repeated: 1}, also},
		"a stage":           {nowhere, found, Counts{Repeated: 1}, found},
		"no stage":          {found, nowhere, Counts{Repeated: 1}, found},
		"known":             {found, known, Counts{Repeated: 1}, known},
		"known no more":     {known, found, Counts{Repeated: 1}, known},
	} {
		s := fresh(t, t.TempDir(), "a")
		w := s.Writer()
		put := func(r event.Result) Counts {
			before := w.Added()
			require.NoError(t, w.Handle(event.Event{Cell: cellOf("mp", r)}))
			require.NoError(t, w.Flush())
			after := w.Added()
			return Counts{after.Cells - before.Cells, after.Repeated - before.Repeated, after.Replaced - before.Replaced, after.Runs - before.Runs}
		}
		require.NoError(t, w.Handle(story("x")[0]))
		require.Equal(t, Counts{Runs: 1}, w.Added())
		require.Equal(t, Counts{Cells: 1}, put(x.old), name)
		require.Equal(t, x.want, put(x.new), name)
		set, err := s.Load(t.Context(), View{})
		require.NoError(t, err)
		require.Len(t, set.Cells, 1)
		c := set.Cell(0)
		require.Equal(t, x.kept, c.Result, name)
		require.Equal(t, Counts{Repeated: 1}, put(x.kept), name)
		sane(t, s)
		require.NoError(t, s.Close())
	}
}

// TestMany: cells that are put many at a time are counted one by one, and stored, where some of
// them are there and one comes twice.
func TestMany(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	w := s.Writer()
	require.NoError(t, w.Handle(story("x")[0]))
	put := func(tests ...int) {
		for _, i := range tests {
			require.NoError(t, w.Handle(event.Event{Cell: cellOf(fmt.Sprint("t", i), event.Result{Class: event.Preserved})}))
		}
		require.NoError(t, w.Flush())
	}
	put(3, 40, 41, 97)
	var all []int
	for i := range 101 {
		all = append(all, i)
	}
	put(append(all, 7)...)
	require.Equal(t, Counts{Cells: 101, Repeated: 5, Runs: 1}, w.Added())
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Len(t, set.Cells, len(all))
	sane(t, s)
	// Where no number is left, a cell is refused, and not lost.
	_, err = s.exec("UPDATE cell SET seq=? WHERE seq=1", math.MaxInt64)
	require.NoError(t, err)
	put(200)
	require.NoError(t, w.Handle(event.Event{Cell: cellOf("t201", event.Result{Class: event.Preserved})}))
	require.ErrorIs(t, w.Flush(), ErrDamaged)
}

// TestExplain: an error of the database says what it means for a store that is read, and for one that is written.
func TestExplain(t *testing.T) {
	file, _ := some(t)
	for mode, want := range map[Mode]bool{Read: false, Write: true} {
		s, err := Open(t.Context(), file, mode)
		require.NoError(t, err)
		_, cannot := s.c.ExecContext(t.Context(), "ATTACH 'file:/none/there/x' AS other")
		require.Error(t, cannot)
		require.Equal(t, want, errors.Is(s.explain(cannot), ErrReadOnly), "%v", cannot)
		require.Equal(t, !want, strings.HasPrefix(s.explain(cannot).Error(), "cannot be read: "))
		require.ErrorIs(t, (*Store)(nil).explain(cannot), ErrReadOnly)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.GC(ctx, Policy{})
		require.Error(t, err)
		require.NoError(t, s.Close())
	}
}

// TestDangling: a cell of which something is gone is damage for whoever reads it, also where its checksum fits.
func TestDangling(t *testing.T) {
	for column, x := range map[string]struct{ loaded, exported string }{
		"body": {"cell 1 has no result", "no result 9999"},
		"test": {"cell 1 is of no test", "no test 9999"},
		"col":  {"cell 1 is in no column", "cell 1 is in no column"},
	} {
		s := storeOf(t, t.TempDir(), gcRun("b", "mp"))
		to := map[string]string{"col": "col", "test": "test", "body": "body"}
		to[column] = "9999"
		_, err := s.c.ExecContext(t.Context(), fmt.Sprintf("UPDATE cell SET %s=9999, sum=optcheck_sum('cell', %s, %s, %s, code, run) WHERE seq=1", column, to["col"],
			to["test"], to["body"]))
		require.NoError(t, err)
		_, err = s.Load(t.Context(), View{})
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, x.loaded)
		err = s.ExportRun(t.Context(), 1, event.Tee{})
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, x.exported)
		_, err = s.Cell(t.Context(), 1)
		require.ErrorContains(t, err, x.exported)
		if column == "body" { // what is to be compared with a new result
			_, err = s.Import(t.Context(), "again", strings.NewReader(string(stream(t, gcRun("b", "mp")))))
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, x.exported)
		}
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Contains(t, faults, fmt.Sprintf("1 rows of cell refer to no %s", column))
		require.NoError(t, s.Close())
	}
	s := storeOf(t, t.TempDir(), gcRun("b", "mp"))
	for kind, want := range map[int]string{kindTests: "no test 99", kindListing: "no listing 99"} {
		_, err := s.c.ExecContext(t.Context(), "UPDATE event SET ref=99, sum=optcheck_sum('event', run, n, pos, kind, 99, count, data) WHERE kind=?", kind)
		require.NoError(t, err)
		require.ErrorContains(t, s.ExportRun(t.Context(), 1, event.Tee{}), want)
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Len(t, faults, 1)
		require.Contains(t, faults[0], "refers to nothing")
		_, err = s.c.ExecContext(t.Context(), "DELETE FROM event WHERE kind=?", kind)
		require.NoError(t, err)
	}
	for _, bad := range []string{"pos=-1", "count=0", "count=2"} {
		_, err := s.c.ExecContext(t.Context(), "DELETE FROM event")
		require.NoError(t, err)
		w := s.Writer()
		require.NoError(t, w.Handle(story("x")[0]))
		require.NoError(t, w.Handle(event.Event{Problem: &event.Problem{Kind: "compile"}}))
		require.NoError(t, w.Close())
		_, err = s.c.ExecContext(t.Context(), "UPDATE event SET "+bad+"; UPDATE event SET sum=optcheck_sum('event', run, n, pos, kind, ref, count, data)")
		require.NoError(t, err)
		var run int64
		require.NoError(t, s.c.QueryRowContext(t.Context(), "SELECT run FROM event").Scan(&run))
		require.ErrorIs(t, s.ExportRun(t.Context(), run, event.Tee{}), ErrDamaged, bad)
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, bad != "count=2", len(faults) == 1, "%s: %v", bad, faults)
	}
	require.NoError(t, s.Close())
}

// TestOtherSetting: who follows the latest run follows it to another setting.
func TestOtherSetting(t *testing.T) {
	s := storeOf(t, t.TempDir(), story("one", "a", "b"))
	defer s.Close()
	latest, err := s.Follow(t.Context(), View{})
	require.NoError(t, err)
	own, err := s.Follow(t.Context(), View{Setting: 1})
	require.NoError(t, err)
	for i, x := range []struct {
		flag         string
		tests        []string
		latest, kept int
	}{{"two", []string{"c"}, 1, 2}, {"one", []string{"c"}, 3, 3}, {"two", []string{"a", "b", "d"}, 4, 3}} {
		_, err = s.Import(t.Context(), "x", strings.NewReader(string(stream(t, story(x.flag, x.tests...)))))
		require.NoError(t, err)
		for l, want := range map[*Live]int{latest: x.latest, own: x.kept} {
			_, again, err := l.Refresh(t.Context())
			require.NoError(t, err)
			require.True(t, again, "there is a new run")
			require.Len(t, l.Cells, want, i)
			require.Len(t, l.Numbers, want)
		}
		require.Equal(t, []string{x.flag}, latest.Config.Flags)
		require.Equal(t, []string{"one"}, own.Config.Flags)
	}
}

// TestArtefactDamage: an artefact that is not what its hash says is damage, whatever its size.
func TestArtefactDamage(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	require.NoError(t, s.Put(t.Context(), "x", "word", []byte("text")))
	sane(t, s)
	_, err := s.c.ExecContext(t.Context(), "UPDATE artefact SET data=x'0074657374'")
	require.NoError(t, err)
	faults, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"artefact 1 does not match its hash"}, faults)
	_, _, err = s.Get(t.Context(), "x")
	require.ErrorIs(t, err, ErrDamaged)
	_, err = s.c.ExecContext(t.Context(), "UPDATE artefact SET data=x'0174657374'")
	require.NoError(t, err)
	faults, err = s.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.Contains(t, faults[0], "artefact 1: ")
}

// TestToldLate: what is told of a test behind its cells is known as well as what is told before, by the same writer or another one.
func TestToldLate(t *testing.T) {
	config := story("x")[0]
	cell := event.Event{Cell: cellOf("mp", event.Result{Class: event.Preserved})}
	test := event.Event{Test: &event.Test{Name: "mp", Hash: "h", Dialect: "GPU_PTX", Preset: "quick", Text: "text"}}
	want := ""
	for i, writes := range [][][]event.Event{{{config, test, cell}}, {{config, cell, test}}, {{config, cell}, {test}}, {{config, cell}, {config, test}}, {{config, test}, {config, cell}}, {{config, cell, cell}, {test, test}}} {
		s := fresh(t, t.TempDir(), "a")
		live, err := s.Follow(t.Context(), View{})
		require.NoError(t, err)
		w := s.Writer()
		for _, events := range writes {
			for _, e := range events {
				require.NoError(t, w.Handle(e))
			}
			require.NoError(t, w.Flush())
			_, _, err = live.Refresh(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, "text", live.Tests[0].Text, i)
		got := exported(t, s, View{})
		if i == 0 {
			want = got
			require.Contains(t, want, `"text":"text"`)
		}
		require.Equal(t, want, got, i)
		x, err := s.Test(t.Context(), "mp", "h")
		require.NoError(t, err)
		require.Equal(t, test.Test, x)
		sane(t, s)
		require.NoError(t, s.Close())
	}
}

// TestAfterFailure: what could not be written for want of space is written when there is some, though a result that it refers to was written
// before; if that is gone, it is said.
func TestAfterFailure(t *testing.T) {
	for _, gone := range []bool{false, true} {
		s := fresh(t, t.TempDir(), "a")
		good := event.Result{Class: event.Preserved, Code: "0123456789abcdef"}
		w := s.Writer()
		require.NoError(t, w.Handle(story("x")[0]))
		require.NoError(t, w.Handle(event.Event{Cell: cellOf("mp", good)}))
		require.NoError(t, w.Flush())
		limit := func(more int) {
			var pages int
			require.NoError(t, s.c.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
			_, err := s.c.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count=%d", pages+more))
			require.NoError(t, err)
		}
		limit(1)
		require.NoError(t, w.Handle(event.Event{Cell: cellOf("sb", good)}))
		for i := range 300 {
			require.NoError(t, w.Handle(event.Event{Problem: &event.Problem{Kind: "compile", Detail: fmt.Sprint(strings.Repeat("x", 200), i)}}))
		}
		require.ErrorIs(t, w.Flush(), ErrFull)
		limit(10_000)
		if gone {
			_, err := s.c.ExecContext(t.Context(), "DELETE FROM cell; DELETE FROM body")
			require.NoError(t, err)
			require.ErrorContains(t, w.Flush(), "were removed by another process")
			require.Zero(t, count(t, s, "cell"))
		} else {
			require.NoError(t, w.Flush())
			require.EqualValues(t, 2, count(t, s, "cell"))
		}
		sane(t, s)
		require.NoError(t, s.Close())
	}
}

// TestGCDamage: nothing is removed from a store of which a result cannot be read.
func TestGCDamage(t *testing.T) {
	run := gcRun("b1", "mp", "lb")
	for _, e := range run {
		if e.Cell != nil {
			e.Cell.Result = event.Result{Class: event.Preserved, Code: e.Cell.Code, Look: "look"}
		}
	}
	run[3].Cell.Reason = "another"
	s := storeOf(t, t.TempDir(), run, gcRun("b2", "mp", "lb"))
	defer s.Close()
	for id := range count(t, s, "body") {
		_, err := s.c.ExecContext(t.Context(), "SAVEPOINT x")
		require.NoError(t, err)
		_, err = s.c.ExecContext(t.Context(), "UPDATE body SET data=x'00' WHERE id=?", id+1)
		require.NoError(t, err)
		s.inTx = true
		_, err = s.GC(t.Context(), Policy{})
		s.inTx = false
		require.ErrorIs(t, err, ErrDamaged, "body %d", id+1)
		require.EqualValues(t, 4, count(t, s, "cell"))
		_, err = s.c.ExecContext(t.Context(), "ROLLBACK TO x; RELEASE x")
		require.NoError(t, err)
	}
	sane(t, s)
}

// TestRows: a table says of each cell what the cell says.
func TestRows(t *testing.T) {
	events := story("x", "a", "b")
	for i, e := range events {
		if e.Cell != nil {
			e.Cell.Result = event.Result{Class: event.Optimised, Code: fmt.Sprintf("%016x", i), Reason: fmt.Sprint("reason ", i), Known: []string{"k", fmt.Sprint(i)},
				Findings: []event.Finding{{Rule: "reordered"}, {Rule: "merged"}, {Rule: "merged", Thread: 1}}, Notes: []event.Finding{{Rule: "line-lost"}},
				Verdict: &event.Verdict{Model: "ptx", Source: 7, Machine: 5, New: []string{"x=1;"}, Lost: []string{"x=2;", "x=3;"}, Race: event.DataRace}}
		} else if e.Test != nil {
			e.Test.Preset = "quick"
		}
	}
	s := storeOf(t, t.TempDir(), events)
	defer s.Close()
	var rows []Row
	require.NoError(t, s.rows(t.Context(), View{}, func(r *Row) error { rows = append(rows, *r); return nil }))
	var want []Row
	n := int64(0)
	for i, e := range events {
		if e.Cell != nil {
			n++
			want = append(want, Row{ID: n, Test: e.Cell.Test, Hash: "h", Preset: "quick", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers",
				Class: event.Optimised, Rules: "merged reordered", Notes: "line-lost", Reason: fmt.Sprint("reason ", i), Code: fmt.Sprintf("%016x", i), Known: fmt.Sprint("k ", i),
				Model: "ptx", Source: 7, Machine: 5, New: 1, Lost: 2, Race: event.DataRace})
		}
	}
	require.Equal(t, want, rows)
	about, _, err := encodeTest(&event.Test{Name: "mp", Hash: "h", Text: "text", Dialect: "PTX"})
	require.NoError(t, err)
	require.JSONEq(t, `{"dialect":"PTX","hash":"","name":"","text":""}`, string(about), "what rows have of their own")
}

// TestFollowEvents: who follows a store sees what a run tells of problems and devices, though it has no new cell.
func TestFollowEvents(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	w := s.Writer()
	require.NoError(t, w.Handle(story("x")[0]))
	live, err := s.Follow(t.Context(), View{})
	require.NoError(t, err)
	for n := range 3 {
		require.NoError(t, w.Handle(event.Event{Problem: &event.Problem{Kind: "compile", Detail: fmt.Sprint(n)}}))
		require.NoError(t, w.Handle(event.Event{Histogram: &event.Histogram{Test: fmt.Sprint(n), Status: event.StatusDone}}))
		require.NoError(t, w.Flush())
		for range 2 {
			added, again, err := live.Refresh(t.Context())
			require.NoError(t, err)
			require.Zero(t, added)
			require.False(t, again)
			require.Len(t, live.Problems, n+1)
			require.Len(t, live.Histograms, n+1)
		}
	}
	require.NoError(t, w.Handle(event.Event{Stats: &event.Stats{Cells: 1}}))
	require.NoError(t, w.Flush())
	_, _, err = live.Refresh(t.Context())
	require.NoError(t, err)
	require.NotNil(t, live.Stats)
}

// TestFalseResult: a result that no version writes is damage, whatever its hash.
func TestFalseResult(t *testing.T) {
	for text, damaged := range map[string]bool{`{"class":"preserved"}`: false, `{"class":"miscompilee"}`: true, `{"class":""}`: true, `{}`: true} {
		s := storeOf(t, t.TempDir(), gcRun("b", "mp"))
		hash := digestOf([]byte(text))
		_, err := s.c.ExecContext(t.Context(), "UPDATE body SET hash=?, class='preserved', data=?", hash[:], append([]byte{codecPlain}, text...))
		require.NoError(t, err)
		_, err = s.Load(t.Context(), View{})
		require.Equal(t, damaged, errors.Is(err, ErrDamaged), text)
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, damaged, len(faults) > 0, text)
		require.NoError(t, s.Close())
	}
}

// TestModes: who opens a store to read it cannot write into it, and nobody but who creates one makes a file that is gone.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), path, Create)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = Open(t.Context(), path, Read)
	require.NoError(t, err)
	_, err = s.c.ExecContext(t.Context(), "DELETE FROM body")
	require.ErrorContains(t, err, "readonly")
	require.NoError(t, s.Close())
	for _, mode := range []Mode{Read, Write} {
		gone := &Store{path: filepath.Join(t.TempDir(), "gone.db"), mode: mode}
		require.Error(t, gone.connect(t.Context()))
		require.NoFileExists(t, gone.path)
	}
}
