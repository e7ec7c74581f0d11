package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// some returns a store of a few hundred cells in one closed file.
func some(t *testing.T) (file string, cells int) {
	t.Helper()
	s := fresh(t, t.TempDir(), "a.store")
	require.NoError(t, synthetic(12, 2, s.Writer()))
	require.NoError(t, s.Close())
	require.NoFileExists(t, s.path+"-wal")
	return s.path, 12 * 2 * 36
}

// use does with a store whatever reads it.
func use(ctx context.Context, file string) error {
	s, err := Open(ctx, file, Read)
	if err != nil {
		return err
	}
	defer s.Close()
	_, errInfo := s.Info(ctx)
	faults, errCheck := s.Check(ctx)
	errExport := s.Export(ctx, View{}, event.Tee{})
	errRun := s.ExportRun(ctx, 1, event.Tee{})
	_, errKnown := s.known(ctx, &event.Config{Tool: "test", Build: "b", Spec: 2, Model: "default"})
	if len(faults) > 0 {
		errCheck = errors.New(faults[0])
	}
	return errors.Join(errInfo, errCheck, errExport, errRun, errKnown)
}

// TestBitFlips: a damaged file makes errors, not panics, and what is read in
// spite of it is what was written.
func TestBitFlips(t *testing.T) {
	file, _ := some(t)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, use(t.Context(), file))
	found := 0
	const n = 150
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		bad := bytes.Clone(data)
		for range 1 + rnd.IntN(8) {
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
		}
		if i%5 == 0 {
			bad = bad[:rnd.IntN(len(bad))]
		}
		require.NoError(t, os.WriteFile(file, bad, 0o666))
		if use(t.Context(), file) != nil {
			found++
		}
	}
	t.Logf("%d of %d damaged files were noticed", found, n) // free pages and counters may change unnoticed
	require.Greater(t, found, n/2)
}

// TestForeign: what is no store is refused and stays as it was.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE cell(x)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	lines := filepath.Join(dir, "run.jsonl")
	require.NoError(t, os.WriteFile(lines, bytes.Repeat([]byte("{\"config\":{}}\n"), 99), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o666))
	for _, f := range []string{other, lines} {
		before, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range []Mode{Read, Write, Create} {
			_, err := Open(t.Context(), f, m)
			require.ErrorIs(t, err, ErrNoStore, "%s", f)
		}
		after, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	_, err = Open(t.Context(), filepath.Join(dir, "empty"), Read)
	require.ErrorIs(t, err, ErrNoStore)
	require.ErrorContains(t, err, "the file is empty")
	_, err = Open(t.Context(), filepath.Join(dir, "none"), Read)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(t.Context(), dir, Create)
	require.ErrorContains(t, err, "is a folder")
	_, err = Open(t.Context(), filepath.Join(dir, "no", "folder"), Create)
	require.Error(t, err)
}

// changed runs SQL on a store, after its back.
func changed(t *testing.T, file, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec(query, args...)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// TestHostile: every lie in a database is noticed.
func TestHostile(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	bomb := enc.EncodeAll(make([]byte, maxBlob+1), []byte{codecZstd})
	for _, x := range []struct {
		query, want string
		args        []any
	}{
		{"PRAGMA user_version=99", "newer version", nil},
		{"CREATE TRIGGER x AFTER INSERT ON cell BEGIN DELETE FROM cell; END", "does not belong there", nil},
		{"CREATE VIEW v AS SELECT 1", "does not belong there", nil},
		{"DROP TABLE label", "does not match this version's schema", nil},
		{"ALTER TABLE cell ADD COLUMN x", "does not match this version's schema", nil},
		{"UPDATE body SET data=x'' WHERE id=1", "empty blob", nil},
		{"UPDATE body SET data=x'07aa' WHERE id=1", "unknown coding", nil},
		{"UPDATE body SET data=? WHERE id=1", "damaged", []any{bomb}},
		{"UPDATE body SET data=zeroblob(70000000) WHERE id=1", "too big", nil},
		{"UPDATE body SET data=? WHERE id=1", "does not match its hash", []any{[]byte("\x00{\"class\":\"preserved\",\"reason\":\"x\"}")}},
		{"UPDATE body SET data=? WHERE id=1", "damaged", []any{[]byte("\x00{\"class\":\"preserved\",\"evil\":1}")}},
		{"UPDATE body SET class='optimised' WHERE id=1", "not \"optimised\"", nil},
		{"UPDATE cell SET body=9999 WHERE seq=1", "refer to no body", nil},
		{"UPDATE cell SET test=-1 WHERE seq=1", "refer to no test", nil},
		{"UPDATE cell SET col=1<<60 WHERE seq=1", "refer to no col", nil},
		{"UPDATE cell SET code=1.5 WHERE seq=1", "of type real", nil},
		{"UPDATE cell SET run=77 WHERE seq=1", "refer to no run", nil},
		{"UPDATE event SET count=1<<40 WHERE kind=1", "is invalid", nil},
		{"UPDATE event SET kind=9", "is invalid", nil},
		{"UPDATE event SET kind=0", "is invalid", nil},
		{"UPDATE event SET ref=99999 WHERE kind=2", "refers to nothing", nil},
		{"UPDATE run SET config='{'", "run 1", nil},
		{"UPDATE run SET config='{\"schema\":3,\"x\":1}'", "run 1", nil},
		{"UPDATE setting SET data='{}'", "does not match its hash", nil},
		{"UPDATE listing SET code='x' WHERE id=1", "of another code", nil},
		{"UPDATE listing SET code='x', hash=x'00' WHERE id=1", "listing of code \"x\": does not match its hash", nil},
		{"UPDATE test SET text=x'01ff' WHERE id=1", "test 1", nil},
		{"UPDATE test SET about='[]' WHERE id=1", "test 1", nil},
		{"INSERT INTO artefact VALUES(1, 'ptx', x'00', 5, x'0041', 0)", "artefact 1 does not match its hash", nil},
		{"INSERT INTO artefact VALUES(1, 'ptx', x'5feceb66ffc86f38d952786c6d696c79', 2, x'0030', optcheck_sum('artefact', 'ptx', x'5feceb66ffc86f38d952786c6d696c79', 2))",
			"artefact 1 has 1 bytes, not 2", nil},
	} {
		file, _ := some(t)
		changed(t, file, x.query, x.args...)
		require.ErrorContains(t, use(t.Context(), file), x.want, x.query)
	}
}

// TestConflict: two results for one cell are an error that names it, and leave
// the store as it was; a failed attempt gives way.
func TestConflict(t *testing.T) {
	cfg := event.Config{Schema: event.Schema, Spec: 2, Toolchains: []event.Toolchain{{ID: "ptxas 1", Build: "b"}}}
	run := func(r event.Result) []byte {
		return stream(t, []event.Event{{Config: &cfg}, {Cell: &event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 1", Target: "sm_80",
			Level: "O3", Layout: "pointers", Result: r}}})
	}
	good := event.Result{Class: event.Preserved, Code: "0123456789abcdef"}
	failed := event.Result{Class: event.Unknown, Reason: "timeout: ptxas"}
	failed2 := event.Result{Class: event.Unknown, Reason: "infrastructure: nvdisasm"}
	bad := event.Result{Class: event.Preserved, Code: "0123456789abcdee"}
	dir := t.TempDir()
	s := imported(t, dir, "a", run(good))
	before := exported(t, s, View{})
	_, err := s.Import(t.Context(), "bad.jsonl", bytes.NewReader(run(bad)))
	require.ErrorIs(t, err, ErrConflict)
	require.EqualError(t, err,
		`bad.jsonl: conflicting results for "mp" (hash h) in ptxas 1 sm_80 O3 pointers: stored is preserved code 0123456789abcdef, new is preserved code 0123456789abcdee`)
	require.Equal(t, before, exported(t, s, View{}))
	for i, order := range [][]event.Result{{good, failed, failed2}, {failed, good, failed2}, {failed2, failed, good}} {
		x := imported(t, dir, fmt.Sprint("x", i), run(order[0]), run(order[1]), run(order[2]))
		require.Equal(t, before, exported(t, x, View{}))
		require.NoError(t, x.Close())
	}
	w := s.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &cfg}))
	require.NoError(t, w.Remember(t.Context()))
	require.True(t, w.Have(&event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}))
	require.False(t, w.Have(&event.Cell{Test: "mp", Hash: "i", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}))
	require.False(t, w.Have(&event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O2", Layout: "pointers"}))
	y := imported(t, dir, "y", run(failed))
	w = y.Writer()
	require.NoError(t, w.Handle(event.Event{Config: &cfg}))
	require.NoError(t, w.Remember(t.Context()))
	require.False(t, w.Have(&event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}),
		"a failed attempt is not known")
	require.NoError(t, y.Close())
	require.NoError(t, s.Close())
}

// TestFull: when there is no space, what is being written is lost and nothing
// else.
func TestFull(t *testing.T) {
	s := fresh(t, t.TempDir(), "a.store")
	require.NoError(t, synthetic(12, 1, s.Writer()))
	before := exported(t, s, View{})
	var pages int
	require.NoError(t, s.c.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	_, err := s.c.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count=%d", pages+2))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, synthetic(200, 2, event.NewJSONLines(&b)))
	_, err = s.Import(t.Context(), "big.jsonl", &b)
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, before, exported(t, s, View{}))
	ps, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, ps)
	require.NoError(t, s.Close())
}

// TestTables: csv and parquet say the same, in the order of the export.
func TestTables(t *testing.T) {
	const cells = 58 * 2 * 36 // more than a batch
	s := fresh(t, t.TempDir(), "a.store")
	defer s.Close()
	require.NoError(t, synthetic(58, 2, s.Writer()))
	require.Greater(t, cells, parquetBatch)
	var a, b bytes.Buffer
	require.NoError(t, s.ExportCSV(t.Context(), View{}, &a))
	require.NoError(t, s.ExportParquet(t.Context(), View{}, &b))
	lines, err := csv.NewReader(&a).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, cells+1)
	rows, err := parquet.Read[Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	require.Len(t, rows, cells)
	changed := 0
	for i, r := range rows {
		l := lines[i+1]
		require.Equal(t, []string{l[1], l[4], l[5], l[8], l[9], l[12], l[18]}, []string{r.Test, r.Toolchain, r.Target, r.Class, r.Rules,
			r.Code, fmt.Sprint(r.Lost)})
		if r.Rules == "merged" {
			changed++
		}
	}
	require.Positive(t, changed)
	require.NoError(t, s.Close())
}

// TestFollow: a view that follows a growing store becomes what a fresh one is.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	s := fresh(t, dir, "a.store")
	other, err := Open(t.Context(), s.path, Read)
	require.NoError(t, err)
	live, err := other.Follow(t.Context(), View{})
	require.NoError(t, err)
	require.Empty(t, live.Cells)
	grown := 0
	h := flushed{s.Writer(), func() {
		n, again, err := live.Refresh(t.Context())
		require.NoError(t, err)
		if !again && n > 0 {
			grown++
		}
		require.Len(t, live.Cells, int(count(t, s, "cell")))
	}}
	require.NoError(t, synthetic(12, 2, h))
	require.Positive(t, grown)
	var b bytes.Buffer
	j := event.NewJSONLines(&b)
	require.NoError(t, Replay(t.Context(), live.Set, j))
	require.NoError(t, j.Close())
	require.Equal(t, exported(t, s, View{}), b.String())
	require.NoError(t, other.Close())
	require.NoError(t, s.Close())
}

// flushed calls f after each Flush.
type flushed struct {
	*Writer
	f func()
}

func (h flushed) Flush() error {
	defer h.f()
	return h.Writer.Flush()
}
