package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// oldStore unpacks a store of an older schema: runs of real compilers in two shards
// and one more, a run on a device, artefacts of findings and one with a name.
func oldStore(t *testing.T, name string) (file string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", name+".store.gz"))
	require.NoError(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), name+".store")
	require.NoError(t, os.WriteFile(file, data, 0o666))
	return file
}

func golden(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(data)
}

// TestKept: a store of an earlier version says what it said then.
func TestKept(t *testing.T) {
	file := oldStore(t, "kept")
	for range 2 {
		s, err := Open(t.Context(), file, Write)
		require.NoError(t, err)
		require.Equal(t, golden(t, "kept.jsonl"), exported(t, s, View{}))
		runs := ""
		for run := range int64(4) {
			runs += ran(t, s, run+1)
		}
		require.Equal(t, golden(t, "kept.runs.jsonl"), runs)
		var b bytes.Buffer
		require.NoError(t, s.ExportCSV(t.Context(), View{}, &b))
		want, err := csv.NewReader(strings.NewReader(golden(t, "kept.csv"))).ReadAll()
		require.NoError(t, err)
		got, err := csv.NewReader(&b).ReadAll()
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range got {
			require.Equal(t, want[i], got[i][:len(want[i])], "later versions may have further columns")
		}
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Empty(t, faults)
		data, _, err := s.Get(t.Context(), "greeting")
		require.NoError(t, err)
		require.Equal(t, "hello\n", string(data))
		require.NoError(t, s.Close())
	}
	fresh := fresh(t, t.TempDir(), "new.store")
	old, err := Open(t.Context(), file, Read)
	require.NoError(t, err)
	_, err = fresh.Merge(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, exported(t, old, View{}), exported(t, fresh, View{}))
	faults, err := fresh.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
	require.NoError(t, old.Close())
	require.NoError(t, fresh.Close())
}

// TestOlder: a store of another schema is refused and stays as it was.
func TestOlder(t *testing.T) {
	file := oldStore(t, "kept")
	changed(t, file, "PRAGMA user_version=1")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, mode := range []Mode{Read, Write, Create} {
		_, err = Open(t.Context(), file, mode)
		require.ErrorIs(t, err, ErrOlder)
	}
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestNumbers: another number in any row is noticed when it is checked, and those
// that decide what an export says when they are read.
func TestNumbers(t *testing.T) {
	for _, x := range []struct {
		query, want string
		read        bool
	}{
		{"UPDATE cell SET body=body%2+1 WHERE seq=5", "cell 5 does not match its checksum", true},
		{"UPDATE cell SET code=code+1 WHERE seq=5", "cell 5 does not match its checksum", true},
		{"UPDATE cell SET run=1, sum=sum+1 WHERE seq=3", "cell 3 does not match its checksum", true},
		{"UPDATE col SET level='O9' WHERE id=2", "column 2 does not match", true},
		{"UPDATE toolchain SET build='y' WHERE id=1", "toolchain 1 does not match", true},
		{"UPDATE test SET text=x'0041' WHERE id=2", "test 2 does not match", true},
		{"UPDATE test SET hash='x' WHERE id=2", "test 2 does not match", true},
		{"UPDATE run SET config=replace(config, '\"tests\":12', '\"tests\":13')", "run 1 does not match", true},
		{"UPDATE event SET pos=pos+1 WHERE n=(SELECT max(n) FROM event)", "event \"1/", true},
		{"INSERT INTO artefact VALUES(1, 'ptx', x'5feceb66ffc86f38d952786c6d696c79', 1, x'0030', 0)", "artefact 1 does not match", false},
		{"INSERT INTO label VALUES('x', 1, 0); INSERT INTO artefact VALUES(1, 'ptx', x'5feceb66ffc86f38d952786c6d696c79', 1, x'0030', optcheck_sum('artefact', 'ptx', x'5feceb66ffc86f38d952786c6d696c79', 1))",
			"reference to an artefact \"x\" does not match", false},
		{"UPDATE meta SET name='epocg'", "the change counter is missing", true},
	} {
		file, _ := some(t)
		changed(t, file, x.query)
		s, err := Open(t.Context(), file, Read)
		require.NoError(t, err)
		faults, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(faults), x.want, x.query)
		err = s.Export(t.Context(), View{}, event.Tee{})
		if x.read {
			require.ErrorIs(t, err, ErrDamaged, x.query)
			require.ErrorIs(t, s.ExportRun(t.Context(), 1, event.Tee{}), ErrDamaged, x.query)
		} else {
			require.NoError(t, err, x.query)
		}
		require.NoError(t, s.Close())
	}
}

// says returns all that a store's exports say: the stream, each run, and the table.
func says(ctx context.Context, file string) (sum [32]byte, err error) {
	s, err := Open(ctx, file, Read)
	if err != nil {
		return sum, err
	}
	defer s.Close()
	h := sha256.New()
	j := event.NewJSONLines(h)
	info, errInfo := s.Info(ctx)
	errs := []error{errInfo, s.Export(ctx, View{}, j)}
	if info != nil {
		for _, x := range info.Settings {
			errs = append(errs, s.Export(ctx, View{Setting: x.ID}, j))
		}
		for _, r := range info.Runs {
			errs = append(errs, s.ExportRun(ctx, r.ID, j))
		}
	}
	errs = append(errs, j.Close(), s.ExportCSV(ctx, View{}, h))
	return [32]byte(h.Sum(nil)), errors.Join(errs...)
}

// TestFlips damages stores at random, mostly by a single bit: whatever changes what
// an export says makes an error of the export, or a fault that Check finds.
func TestFlips(t *testing.T) {
	n := 120
	if v, err := strconv.Atoi(os.Getenv("OPTCHECK_FLIPS")); err == nil {
		n = v
	}
	small, _ := some(t)
	real := oldStore(t, "kept")
	s, err := Open(t.Context(), real, Write)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, file := range []string{small, real} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := says(t.Context(), file)
		require.NoError(t, err)
		var failed, differ, faulty, nothing int
		for i := range n {
			bad := bytes.Clone(data)
			flips := 1
			if i%4 == 3 {
				flips = 1 + rnd.IntN(8)
			}
			var where []int
			for range flips {
				k := rnd.IntN(len(bad))
				where = append(where, k)
				bad[k] ^= 1 << rnd.IntN(8)
			}
			if i%10 == 0 {
				bad = bad[:rnd.IntN(len(bad))]
			}
			require.NoError(t, os.WriteFile(file, bad, 0o666))
			got, err := says(t.Context(), file)
			noticed := err != nil
			if !noticed {
				s, err := Open(t.Context(), file, Read)
				require.NoError(t, err)
				faults, err := s.Check(t.Context())
				noticed = err != nil || len(faults) > 0
				require.NoError(t, s.Close())
			}
			switch {
			case err != nil:
				failed++
			case got != want:
				differ++
				require.True(t, noticed, "flips at %v change what %s says, and nobody notices", where, file)
			case noticed:
				faulty++
			default:
				nothing++
			}
		}
		t.Logf("of %d damaged files of %d bytes: %d could not be exported, %d said something else, which the check found, %d had faults without consequences, %d none",
			n, len(data), failed, differ, faulty, nothing)
		require.Positive(t, failed)
	}
}
