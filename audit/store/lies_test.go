package store

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestCodeInResult: a result that has the code of its cell in it is damage, though its hash is right.
func TestCodeInResult(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp"))
	defer s.Close()
	text := []byte(`{"class":"optimised","code":"x"}`)
	hash := digestOf(text)
	_, err := s.c.ExecContext(t.Context(), "UPDATE body SET hash=?, data=?", hash[:], append([]byte{codecPlain}, text...))
	require.NoError(t, err)
	faults, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, faults, 1)
}

// TestLostTest: a cell whose test is gone makes no other test one that has been done.
func TestLostTest(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp", "sb"))
	defer s.Close()
	done := func() (out []string) {
		w := s.Writer()
		require.NoError(t, w.Handle(gcRun("b", "mp")[0]))
		require.NoError(t, w.Remember(t.Context()))
		for _, name := range []string{"mp", "sb"} {
			if w.Have(&event.Cell{Test: name, Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}) {
				out = append(out, name)
			}
		}
		return out
	}
	require.Equal(t, []string{"mp", "sb"}, done())
	_, err := s.exec("DELETE FROM cell WHERE test=(SELECT id FROM test WHERE name='mp')")
	require.NoError(t, err)
	_, err = s.exec("UPDATE cell SET test=-1")
	require.NoError(t, err)
	require.Empty(t, done())
}

// TestPack: what cannot be made smaller is stored as it is.
func TestPack(t *testing.T) {
	noise, text := make([]byte, 1<<12), bytes.Repeat([]byte("text"), 1<<10)
	for i := range noise {
		noise[i] = byte(rand.New(rand.NewPCG(uint64(i), 1)).Uint32())
	}
	for _, x := range []struct {
		data []byte
		most int
	}{{noise, 1 + len(noise)}, {text, len(text) / 10}, {text[:128], 129}, {nil, 1}} {
		blob := pack(x.data)
		require.LessOrEqual(t, len(blob), x.most)
		require.Equal(t, len(x.data) <= 128 || x.most > len(x.data), blob[0] == codecPlain, "little, and noise, as it is")
		data, err := unpack(blob)
		require.NoError(t, err)
		require.True(t, bytes.Equal(x.data, data))
	}
}

// TestEmptySum: the function that sums rows up refuses a query that names no table.
func TestEmptySum(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	for query, want := range map[string]string{"SELECT optcheck_sum()": "of nothing", "SELECT optcheck_sum(7)": "no table"} {
		_, err := s.row(query, nil, new(int64))
		require.ErrorContains(t, err, want)
	}
}

// TestImportedRuns: a stream counts as a run when it is new, not when it is imported again.
func TestImportedRuns(t *testing.T) {
	s := fresh(t, t.TempDir(), "a")
	defer s.Close()
	for _, want := range []Counts{{Runs: 1, Cells: 1}, {Repeated: 1}} {
		n, err := s.Import(t.Context(), "x", bytes.NewReader(stream(t, gcRun("b", "mp"))))
		require.NoError(t, err)
		require.Equal(t, want.Runs, n.Runs)
		require.Equal(t, want.Cells, n.Cells)
	}
}

// TestGCEmptyRun: a build that is not kept goes, though it has no cells.
func TestGCEmptyRun(t *testing.T) {
	for keep, runs := range map[int]int64{0: 2, 1: 1, 2: 2} {
		s := storeOf(t, t.TempDir(), gcRun("b1"), gcRun("b2", "mp"))
		_, err := s.GC(t.Context(), Policy{KeepBuilds: keep})
		require.NoError(t, err)
		require.Equal(t, runs, count(t, s, "run"), keep)
		require.NoError(t, s.Close())
	}
}

// TestWrittenWhileRead: who reads a store that nobody writes sees what somebody writes later.
func TestWrittenWhileRead(t *testing.T) {
	dir := t.TempDir()
	s := storeOf(t, dir, gcRun("b1", "mp"))
	require.NoError(t, s.Close())
	require.NoFileExists(t, s.Path()+"-wal")
	reader, err := Open(t.Context(), s.Path(), Read)
	require.NoError(t, err)
	defer reader.Close()
	live, err := reader.Follow(t.Context(), View{})
	require.NoError(t, err)
	require.Len(t, live.Cells, 1)
	writer, err := Open(t.Context(), s.Path(), Write)
	require.NoError(t, err)
	_, err = writer.Import(t.Context(), "x", bytes.NewReader(stream(t, gcRun("b1", "sb"))))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	n, _, err := live.Refresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// full is a file on a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullTable: a table that could not be written is an error, however short it is.
func TestFullTable(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b1", "mp"))
	defer s.Close()
	require.ErrorIs(t, s.ExportCSV(t.Context(), View{}, full{}), syscall.ENOSPC)
}

// TestWants: a clock that went back keeps no build of which only the number decides.
func TestWants(t *testing.T) {
	old, now := &BuildGarbage{Build: "b1", LastUsed: time.Now().Add(time.Hour).Unix()}, &BuildGarbage{Build: "b2"}
	builds := []*BuildGarbage{now, old}
	require.True(t, (&Policy{KeepBuilds: 1}).wants(builds, old))
	require.False(t, (&Policy{KeepBuilds: 1, OlderThan: time.Minute}).wants(builds, old))
	require.False(t, (&Policy{KeepBuilds: 1}).wants(builds, now))
}

// TestCodeAsBlob: a cell whose code is a blob is read like any other, if its checksum says so.
func TestCodeAsBlob(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp", "sb"))
	defer s.Close()
	_, err := s.exec("UPDATE cell SET code=CAST(code AS BLOB), sum=optcheck_sum('cell', col, test, body, CAST(code AS BLOB), run)")
	require.NoError(t, err)
	set, err := s.Load(t.Context(), View{})
	require.NoError(t, err)
	require.Len(t, set.Cells, 2)
	require.Equal(t, "code bmp", set.Results[set.Cells[0].Result].Code)
}

// TestFarEvents: the numbers that a merged store gives its events are kept, but no number so large that counting on ends.
func TestFarEvents(t *testing.T) {
	for n, want := range map[int64]int64{1 << 30: 1 << 30, maxEvents: 2, math.MaxInt64 - 1: 2} {
		from := storeOf(t, t.TempDir(), gcRun("b", "mp"))
		_, err := from.exec("UPDATE event SET n=?1, sum=optcheck_sum('event', run, ?1, pos, kind, ref, count, data) WHERE kind=?2", n, kindStats)
		require.NoError(t, err)
		s := fresh(t, t.TempDir(), "b.store")
		_, err = s.Merge(t.Context(), from)
		require.NoError(t, err)
		var got int64
		_, err = s.row("SELECT max(n) FROM event", nil, &got)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, s.Close())
		require.NoError(t, from.Close())
	}
}

// TestUnreadableCell: a store that cannot be read does not claim that a cell is not there.
func TestUnreadableCell(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp"))
	defer s.Close()
	_, err := s.Cell(t.Context(), 7)
	require.ErrorContains(t, err, "no cell 7")
	_, err = s.exec("DROP TABLE cell")
	require.NoError(t, err)
	_, err = s.Cell(t.Context(), 1)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "no cell")
}

// TestLockedTable: a table that is in use is waited for, as a store is that somebody writes.
func TestLockedTable(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp", "sb"))
	defer s.Close()
	rows, err := s.c.QueryContext(t.Context(), "SELECT seq FROM cell")
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	_, err = s.c.ExecContext(t.Context(), "DROP TABLE cell")
	require.Error(t, err)
	require.True(t, isBusy(err), err)
	require.NoError(t, rows.Close())
	require.NoError(t, rows.Err())
}

// TestCompactInVain: where another process writes, nothing claims that the store is compact.
func TestCompactInVain(t *testing.T) {
	s := storeOf(t, t.TempDir(), gcRun("b", "mp", "sb"))
	defer s.Close()
	for _, q := range []string{"CREATE TABLE x AS SELECT zeroblob(100000)", "DROP TABLE x", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA busy_timeout=0"} {
		_, err := s.c.ExecContext(t.Context(), q)
		require.NoError(t, err)
	}
	other, err := Open(t.Context(), s.Path(), Write)
	require.NoError(t, err)
	defer other.Close()
	_, err = other.exec("BEGIN IMMEDIATE")
	require.NoError(t, err)
	s.busy = 0
	whole := false
	progress := func(_ string, done, total int64) { whole = whole || done == total }
	require.Error(t, s.compact(t.Context(), progress))
	require.False(t, whole)
	_, err = other.exec("ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, s.compact(t.Context(), progress))
	require.True(t, whole)
}

// TestWritableCloses: who asks whether a folder can be written keeps no file open.
func TestWritableCloses(t *testing.T) {
	dir, open := t.TempDir(), func() (n int) {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, f := range list {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.Contains(to, "/.optcheck-") {
				n++
			}
		}
		return n
	}
	require.True(t, writable(dir))
	require.False(t, writable(dir+"/none"))
	require.Zero(t, open())
}

// TestOrderOfTests: a run is given back as it was told, with each test in front of its cells.
func TestOrderOfTests(t *testing.T) {
	told := gcRun("b", "mp", "sb")
	told = slices.DeleteFunc(told, func(e event.Event) bool { return e.Listing != nil })
	s := storeOf(t, t.TempDir(), told)
	defer s.Close()
	require.Equal(t, string(stream(t, told)), ran(t, s, 1))
}
