package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/patient"
)

// gcRun returns a run of a build of optcheck that came to its end, with one cell of each
// test; its code and listing are of this build.
func gcRun(build string, tests ...string) []event.Event {
	out := []event.Event{{Config: &event.Config{Schema: event.Schema, Spec: 2, Tool: "t", Build: build,
		Toolchains: []event.Toolchain{{ID: "ptxas 1", Build: "b"}},
		Tests:      len(tests), Cells: len(tests), Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []string{"pointers"}}}}
	for _, test := range tests {
		code := "code " + build + test
		out = append(out, event.Event{Test: &event.Test{Name: test, Hash: "h", Dialect: "GPU_PTX", Text: "text"}},
			event.Event{Listing: &event.Listing{Code: code}},
			event.Event{Cell: &event.Cell{Test: test, Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers",
				Result: event.Result{Class: event.Optimised, Code: code, Reason: build}}})
	}
	return append(out, event.Event{Stats: &event.Stats{Cells: len(tests)}})
}

func storeOf(t require.TestingT, dir string, runs ...[]event.Event) *Store {
	var streams [][]byte
	for _, r := range runs {
		streams = append(streams, stream(t, r))
	}
	return imported(t, dir, "a.store", streams...)
}

func count(t *testing.T, s *Store, table string) (n int64) {
	t.Helper()
	require.NoError(t, s.c.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// left lists the cells that a store has, by build and test.
func left(t *testing.T, s *Store) (out []string) {
	t.Helper()
	err := s.each(t.Context(),
		"SELECT n.data, t.name FROM cell c JOIN col k ON k.id=c.col JOIN setting n ON n.id=k.setting JOIN test t ON t.id=c.test ORDER BY c.seq",
		nil, func(scan func(...any) error) error {
			var data []byte
			var name string
			if err := scan(&data, &name); err != nil {
				return err
			}
			var x Setting
			if err := unmarshal(data, &x); err != nil {
				return err
			}
			out = append(out, x.Build+" "+name)
			return nil
		})
	require.NoError(t, err)
	return out
}

func sane(t *testing.T, s *Store) {
	t.Helper()
	faults, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
}

// TestGC: what goes by each policy, and that a dry run says the same and does
// nothing.
func TestGC(t *testing.T) {
	day := 24 * time.Hour
	failed := gcRun("b3", "mp")
	failed[3].Cell.Result = event.Result{Class: event.Unknown, Reason: "timeout: ptxas"}
	flags := gcRun("b3", "mp", "lb", "sb")
	flags[0].Config.Flags = []string{"-v"}
	compiler := gcRun("b1", "mp")
	compiler[0].Config.Toolchains = []event.Toolchain{{ID: "ptxas 1", Build: "c"}}
	three := [][]event.Event{gcRun("b1", "mp", "lb"), gcRun("b2", "mp", "sb"), gcRun("b3", "mp")}
	for name, x := range map[string]struct {
		runs    [][]event.Event
		policy  Policy
		want    []string
		removed int64
	}{
		"nothing newer":             {[][]event.Event{gcRun("b1", "mp"), gcRun("b2", "lb")}, Policy{}, []string{"b1 mp", "b2 lb"}, 0},
		"the same cells":            {three, Policy{}, []string{"b1 lb", "b2 sb", "b3 mp"}, 2},
		"an older one merged later": {[][]event.Event{gcRun("b2", "mp", "sb"), gcRun("b1", "mp")}, Policy{}, []string{"b2 sb", "b1 mp"}, 1},
		"keep one build":            {three, Policy{KeepBuilds: 1}, []string{"b3 mp"}, 4},
		"keep two builds":           {three, Policy{KeepBuilds: 2}, []string{"b2 mp", "b2 sb", "b3 mp"}, 2},
		"keep many builds":          {three, Policy{KeepBuilds: 9}, []string{"b1 mp", "b1 lb", "b2 mp", "b2 sb", "b3 mp"}, 0},
		"older than a day":          {three, Policy{OlderThan: day}, []string{"b2 mp", "b2 sb", "b3 mp"}, 2},
		"older than ten days":       {three, Policy{OlderThan: 10 * day}, []string{"b1 mp", "b1 lb", "b2 mp", "b2 sb", "b3 mp"}, 0},
		"older, and two are kept":   {three, Policy{OlderThan: day, KeepBuilds: 2}, []string{"b2 mp", "b2 sb", "b3 mp"}, 2},
		"older, and three":          {three, Policy{OlderThan: day, KeepBuilds: 3}, []string{"b1 mp", "b1 lb", "b2 mp", "b2 sb", "b3 mp"}, 0},
		"only a failed attempt":     {[][]event.Event{gcRun("b1", "mp"), failed}, Policy{}, []string{"b1 mp", "b3 mp"}, 0},
		"with other options":        {[][]event.Event{gcRun("b1", "mp"), flags}, Policy{}, []string{"b1 mp", "b3 mp", "b3 lb", "b3 sb"}, 0},
		"another compiler's build":  {[][]event.Event{gcRun("b1", "mp", "lb"), compiler}, Policy{}, []string{"b1 lb", "b1 mp"}, 1},
		"the latest, though old":    {[][]event.Event{gcRun("b1", "mp")}, Policy{OlderThan: day}, []string{"b1 mp"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOf(t, t.TempDir(), x.runs...)
			defer s.Close()
			// The first run was two days ago.
			_, err := s.c.ExecContext(t.Context(),
				"UPDATE run SET seen=seen-172800, sum=optcheck_sum('run', uid, setting, config, started, seen-172800, cells, events) WHERE id=1")
			require.NoError(t, err)
			before, all := exported(t, s, View{}), left(t, s)
			rows := func() (n [4]int64) {
				for i, table := range []string{"run", "body", "listing", "test"} {
					n[i] = count(t, s, table)
				}
				return n
			}
			had := rows()
			p := x.policy
			p.Dry = true
			dry, err := s.GC(t.Context(), p)
			require.NoError(t, err)
			require.Equal(t, all, left(t, s), "a dry run removes nothing")
			require.Positive(t, dry.After)
			require.Equal(t, x.removed > 0, dry.After < dry.Before, "what goes takes space")
			live, err := s.Follow(t.Context(), View{})
			require.NoError(t, err)
			g, err := s.GC(t.Context(), x.policy)
			require.NoError(t, err)
			require.Equal(t, x.want, left(t, s))
			require.Equal(t, x.removed, g.Cells)
			for i, has := range rows() {
				require.Equal(t, had[i]-has, []int64{g.Runs, g.Results, g.Listings, g.Tests}[i], "what is removed is counted: %d", i)
			}
			dry.Dry, dry.After, dry.Before, g.Before, g.After = false, 0, 0, 0, 0
			require.Equal(t, dry, g, "a dry run says what will be done")
			if x.policy.KeepBuilds+int(x.policy.OlderThan) > 0 || name == "the same cells" {
				require.Equal(t, before, exported(t, s, View{}), "the newest build stays as it was")
			}
			require.Equal(t, count(t, s, "cell"), count(t, s, "listing"), "what only removed cells referred to is gone")
			_, again, err := live.Refresh(t.Context())
			require.NoError(t, err)
			require.True(t, again, "who follows the store reads it again")
			sane(t, s)
			if x.removed > 0 {
				require.Zero(t, count(t, s, "col WHERE id NOT IN (SELECT col FROM cell)"), "columns go with their last cells")
				require.Zero(t, count(t, s, "run WHERE id NOT IN (SELECT run FROM cell) AND id NOT IN (SELECT max(id) FROM run)"), "and so do runs")
				require.Zero(t, count(t, s, "setting WHERE id NOT IN (SELECT setting FROM run)"))
			}
			var kept int64
			seen := map[string]bool{}
			for _, b := range g.Builds {
				kept += b.Kept
				name := fmt.Sprint(b.Tool, b.Build, b.Compiler)
				require.False(t, seen[name], "%s is told twice", name)
				seen[name] = true
			}
			require.Len(t, x.want, int(kept))
		})
	}
}

// TestGCNoCells: the latest run of a setting stays, though it has no cells, unless its build goes.
func TestGCNoCells(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b1"), gcRun("b2"), gcRun("b3", "mp"))
	defer s.Close()
	for _, x := range []struct {
		policy Policy
		runs   int64
	}{{Policy{}, 3}, {Policy{KeepBuilds: 2}, 2}, {Policy{KeepBuilds: 1}, 1}} {
		_, err := s.GC(t.Context(), x.policy)
		require.NoError(t, err)
		require.Equal(t, x.runs, count(t, s, "run"), "%+v", x.policy)
	}
	sane(t, s)
}

// TestGCRefers: whatever is referred to stays: machine code of cells and of what ran
// on a device, sources of cells, and what has a name.
func TestGCRefers(t *testing.T) {
	dir := t.TempDir()
	s := fresh(t, dir, "a.store")
	defer s.Close()
	for _, build := range []string{"b1", "b2"} {
		w := s.Writer()
		for _, e := range gcRun(build, "mp", "lb") {
			if c := e.Cell; c != nil {
				require.NoError(t, w.Artefacts(c, []event.Artefact{{Kind: event.ArtefactMachine, Text: "machine " + c.Code},
					{Kind: "ptx", Text: "ptx " + c.Code}}))
			}
			require.NoError(t, w.Handle(e))
		}
		require.NoError(t, w.Close())
	}
	w := s.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Tool: "t", Build: "b1",
		OnDevice: &event.DeviceRun{}}}))
	require.NoError(t, w.Handle(event.Event{Histogram: &event.Histogram{Test: "mp", Code: "code b1mp"}}))
	require.NoError(t, w.Close())
	require.NoError(t, s.Put(t.Context(), "name", "word", []byte("ptx code b1lb")))
	require.EqualValues(t, 9, count(t, s, "artefact"))
	g, err := s.GC(t.Context(), Policy{})
	require.NoError(t, err)
	require.EqualValues(t, 2, g.Cells)
	all, err := s.Artefacts(t.Context())
	require.NoError(t, err)
	var texts []string
	for _, a := range all {
		data, err := s.Artefact(t.Context(), a.Hash)
		require.NoError(t, err)
		texts = append(texts, string(data))
	}
	require.ElementsMatch(t, []string{"machine code b2mp", "machine code b2lb", "ptx code b2mp", "ptx code b2lb", "machine code b1mp",
		"ptx code b1lb"}, texts)
	sane(t, s)
}

// TestGCMerged: a run of which a cleaning removed events is the same run for merging:
// with a copy that has them all, nothing is there twice, in either order, and what a
// copy lacks that was made while the run went on is added.
func TestGCMerged(t *testing.T) {
	whole := gcRun("b1", "mp", "lb")
	end := len(whole) - 1
	whole = append(whole[:end:end], event.Event{Histogram: &event.Histogram{Test: "mp"}},
		event.Event{Histogram: &event.Histogram{Test: "lb"}}, whole[end])
	dir := t.TempDir()
	running, err := Open(t.Context(), dir+"/running", Create)
	require.NoError(t, err)
	defer running.Close()
	w := running.Writer()
	put := func(events []event.Event) {
		for _, e := range events {
			require.NoError(t, w.Handle(e))
		}
		require.NoError(t, w.Flush())
	}
	merged := func(name string, from ...*Store) *Store {
		s, err := Open(t.Context(), dir+"/"+name, Create)
		require.NoError(t, err)
		for _, f := range from {
			_, err := s.Merge(t.Context(), f)
			require.NoError(t, err)
		}
		return s
	}
	put(whole[:6])
	half := merged("half", running)
	defer half.Close()
	put(whole[6:])
	cleaned := merged("cleaned", running)
	defer cleaned.Close()
	_, err = cleaned.Import(t.Context(), "b2", bytes.NewReader(stream(t, gcRun("b2", "mp", "lb"))))
	require.NoError(t, err)
	_, err = cleaned.GC(t.Context(), Policy{})
	require.NoError(t, err)
	require.Less(t, count(t, cleaned, "event WHERE run=1 AND kind=2"), int64(2), "an event is gone")
	for i, from := range [][]*Store{{cleaned, running}, {running, cleaned}, {half, cleaned}, {half, cleaned, running},
		{cleaned, half, cleaned}} {
		s := merged(fmt.Sprint(i), from...)
		run := "(SELECT id FROM run WHERE config LIKE '%b1%')"
		require.EqualValues(t, 2, count(t, s, "event WHERE kind=4 AND run="+run), i)
		require.EqualValues(t, 1, count(t, s, "event WHERE kind=5 AND run="+run), i)
		sane(t, s)
		require.NoError(t, s.Close())
	}
}

// TestGCBeside: cleaning between any two commits of a running audit changes nothing
// of what it stores.
func TestGCBeside(t *testing.T) {
	dir := t.TempDir()
	s := storeOf(t, dir, gcRun("old", "mp"), gcRun("older", "lb"))
	other, err := Open(t.Context(), s.path, Write)
	require.NoError(t, err)
	require.NoError(t, synthetic(6, 2, flushed{s.Writer(), func() {
		_, err := other.GC(t.Context(), Policy{KeepBuilds: 1})
		require.NoError(t, err)
	}}))
	whole := fresh(t, dir, "whole.store")
	require.NoError(t, synthetic(6, 2, whole.Writer()))
	require.Equal(t, exported(t, whole, View{}), exported(t, s, View{}))
	sane(t, s)
	for _, x := range []*Store{s, other, whole} {
		require.NoError(t, x.Close())
	}
}

// TestGCKilled kills a cleaning at random moments: each time, all that was to go is
// there, or nothing of it, and nothing is damaged.
func TestGCKilled(t *testing.T) {
	dir := t.TempDir()
	s := fresh(t, dir, "a.store")
	require.NoError(t, synthetic(40, 4, s.Writer()))
	for i := range 20 {
		old := make([]string, 40)
		for k := range old {
			old[k] = fmt.Sprint("t", k)
		}
		_, err := s.Import(t.Context(), "x", bytes.NewReader(stream(t, gcRun(fmt.Sprint("b", i), old...))))
		require.NoError(t, err)
	}
	require.NoError(t, synthetic(40, 4, s.Writer())) // the latest run
	before, want := count(t, s, "cell"), exported(t, s, View{})
	require.NoError(t, s.Close())
	killed := 0
	for range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), gcChild+"="+s.path)
		if patient.Kill(t, 250*time.Millisecond, cmd) {
			killed++
		}
		s, err := Open(t.Context(), s.path, Write)
		require.NoError(t, err)
		require.Equal(t, want, exported(t, s, View{}))
		n := count(t, s, "cell")
		require.Contains(t, []int64{before, before - 20*40}, n)
		if n < before {
			require.EqualValues(t, 1, count(t, s, "setting"), "what belongs to cells goes with them")
		}
		sane(t, s)
		require.NoError(t, s.Close())
	}
	require.Positive(t, killed)
	s, err := Open(t.Context(), s.path, Write)
	require.NoError(t, err)
	g, err := s.GC(t.Context(), Policy{KeepBuilds: 1})
	require.NoError(t, err)
	require.EqualValues(t, before-20*40, count(t, s, "cell"))
	require.LessOrEqual(t, g.After, g.Before)
	require.NoError(t, s.Close())
}

// gcChild is the variable that makes this program clean a store and end.
const gcChild = "OPTCHECK_TEST_GC"

// gcMain returns the child of TestGCKilled.
func gcMain(path string) int {
	s, err := Open(context.Background(), path, Write)
	if err == nil {
		_, err = s.GC(context.Background(), Policy{KeepBuilds: 1})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestGCLooks: what a preserved cell shows stays as long as a cell shows it.
func TestGCLooks(t *testing.T) {
	look := func(build string) []event.Event {
		run := gcRun(build, "mp")
		run[2].Listing.Code = "look of " + build
		run[3].Cell.Result = event.Result{Class: event.Preserved, Code: "code", Look: "look of " + build}
		return run
	}
	s := storeOf(t, t.TempDir(), look("b1"), look("b2"))
	defer s.Close()
	sane(t, s)
	_, err := s.GC(t.Context(), Policy{})
	require.NoError(t, err)
	require.Equal(t, []string{"b2 mp"}, left(t, s))
	require.EqualValues(t, 1, count(t, s, "listing WHERE code='look of b2'"))
	require.EqualValues(t, 1, count(t, s, "listing"))
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Contains(t, set.Listings, "look of b2")
	sane(t, s)
}

// TestGCCompilers: the builds that GC tells of are those of optcheck, and of each the compilers that a newer build of the same name
// followed in the same setting; what no run names is as new as the latest one.
func TestGCCompilers(t *testing.T) {
	run := func(build, flag, ptxas, clang string, cells ...string) []event.Event {
		out := gcRun(build)
		cfg := out[0].Config
		cfg.Flags, cfg.Toolchains = []string{flag}, nil
		for _, x := range []event.Toolchain{{ID: "ptxas 1", Build: ptxas}, {ID: "clang 1", Build: clang}} {
			if x.Build != "" {
				cfg.Toolchains = append(cfg.Toolchains, x)
			}
		}
		for _, tc := range cells {
			c := cellOf("mp", event.Result{Class: event.Preserved, Code: "0123456789abcdef"})
			c.Toolchain = tc
			out = append(out, event.Event{Cell: c})
		}
		return out
	}
	told := func(runs ...[]event.Event) (out []string) {
		s := storeOf(t, t.TempDir(), runs...)
		defer s.Close()
		g, err := s.GC(t.Context(), Policy{Dry: true})
		require.NoError(t, err)
		for _, b := range g.Builds {
			out = append(out, fmt.Sprintf("%s %s: %d of %d", b.Build, b.Compiler, b.Removed, b.Removed+b.Kept))
		}
		return out
	}
	for name, x := range map[string]struct {
		runs [][]event.Event
		want []string
	}{
		"one": {[][]event.Event{run("b", "", "p", "c", "ptxas 1", "clang 1")}, []string{"b : 0 of 2"}},
		"a newer one": {[][]event.Event{run("b", "", "p", "c", "ptxas 1", "clang 1"), run("b", "", "q", "c", "ptxas 1")},
			[]string{"b : 0 of 2", "b ptxas 1 (build p): 1 of 1"}},
		"a newer one of another setting": {[][]event.Event{run("b", "", "p", "c", "ptxas 1", "clang 1"), run("b", "-v", "q", "c", "ptxas 1")},
			[]string{"b : 0 of 3"}},
		"two newer ones": {[][]event.Event{run("b", "", "p", "", "ptxas 1"), run("b", "", "q", "", "ptxas 1"), run("b", "", "r", "", "ptxas 1")},
			[]string{"b : 0 of 1", "b ptxas 1 (build p): 1 of 1", "b ptxas 1 (build q): 1 of 1"}},
		"an older one again": {[][]event.Event{run("b", "", "p", "", "ptxas 1"), run("b", "", "q", "", "ptxas 1"), run("b", "", "p", "")},
			[]string{"b : 0 of 1", "b ptxas 1 (build q): 1 of 1"}},
		"two compilers":   {[][]event.Event{run("b", "", "p", "", "ptxas 1"), run("b", "", "", "c", "clang 1")}, []string{"b : 0 of 2"}},
		"named by none":   {[][]event.Event{run("b", "", "", "", "ptxas 1"), run("b", "", "p", "", "ptxas 1")}, []string{"b : 0 of 2"}},
		"two of optcheck": {[][]event.Event{run("b", "", "p", "", "ptxas 1"), run("b2", "", "q", "", "ptxas 1")}, []string{"b2 : 0 of 1", "b : 1 of 1"}},
		"two of optcheck, the older one merged later": {[][]event.Event{run("b2", "", "p", "", "ptxas 1"), run("b", "", "p", "", "ptxas 1")},
			[]string{"b : 0 of 1", "b2 : 1 of 1"}},
	} {
		require.Equal(t, x.want, told(x.runs...), name)
	}
}
