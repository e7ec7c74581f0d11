package toolchain

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/internal/patient"
)

// faults are the ways in which one unit spoils a batch, and what that is.
var faults = []struct {
	mark string
	kind error
}{
	{"refuse", ErrCompile}, {"syntax", ErrCompile}, {"noline", ErrCrashed}, {"crash", ErrInfrastructure}, {"segv", ErrCrashed},
	{"empty", ErrInfrastructure}, {"garbage", ErrInfrastructure}, {"truncated", ErrInfrastructure},
	{"nofile", ErrInfrastructure},
}

func fakeJob(n int) Job {
	job := Job{Target: "sm_70", Level: "O3", Version: "6.4"}
	for i := range n {
		job.Units = append(job.Units, Unit{Name: fmt.Sprintf("u%d", i), Text: fmt.Sprintf(".entry %s\n{\n}", kernelName(i))})
	}
	return job
}

// k bad of n units, each bad in any way, batches of any size: exactly the bad
// ones fail, each with its own fault; temporary files are gone.
func TestBisectionIsExact(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	tc := fake(t, patient.Long)
	require.NoError(t, flag.Set("rapid.checks", "60"), "each case starts many processes")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		job := fakeJob(n)
		job.BatchUnits = rapid.IntRange(1, n).Draw(t, "batch")
		want := map[int]error{}
		var bad []int
		for i := range job.Units {
			if rapid.IntRange(0, 4).Draw(t, "bad") != 0 {
				continue
			}
			f := rapid.SampledFrom(faults).Draw(t, "fault")
			job.Units[i].Text += "\n// fake: " + f.mark
			want[i], bad = f.kind, append(bad, i)
		}
		res, err := tc.Compile(context.Background(), job)
		require.NoError(t, err)
		checkPartition(t, res, n, bad)
		for i, kind := range want {
			require.ErrorIs(t, res.Failed[i], kind)
			var e *Error
			require.ErrorAs(t, res.Failed[i], &e)
			require.Equal(t, job.Units[i].Name, e.Input)
			for _, d := range e.Diagnostics {
				require.Equal(t, 4, d.Line, "lines count from the start of the unit")
			}
		}
		left, err := filepath.Glob(filepath.Join(tmp, "*", "*"))
		require.NoError(t, err)
		for _, file := range left {
			require.Equal(t, "lock", filepath.Base(file))
		}
	})
}

// One crash among 64 costs a logarithmic number of processes.
func TestBisectionIsCheap(t *testing.T) {
	tc := fake(t, patient.Long)
	job := fakeJob(64)
	job.Units[37].Text += "\n// fake: crash"
	res, err := tc.Compile(context.Background(), job)
	require.NoError(t, err)
	checkPartition(t, res, 64, []int{37})
	// whole, header, then per level the half with the fault and the other
	assert.LessOrEqual(t, tc.Stats().Processes, int64(2+2*6))
	assert.Equal(t, "killed", res.Failed[37].(*Error).Signal)
}

func TestHangIsIsolated(t *testing.T) {
	job := fakeJob(6)
	job.Units[2].Text += "\n// fake: hang"
	patient.Limits(t, time.Second, func(c *patient.Trial, limit time.Duration) {
		res, err := fake(t, limit).Compile(context.Background(), job)
		require.NoError(c, err)
		checkPartition(c, res, 6, []int{2})
		assert.ErrorIs(c, res.Failed[2], ErrTimeout)
	})
}

// Hanging units may not use up unlimited time: the rest is given up, loudly.
func TestHangsAreBounded(t *testing.T) {
	job := fakeJob(6)
	job.MaxHangs = 1
	for i := range job.Units {
		job.Units[i].Text += "\n// fake: hang"
	}
	patient.Limits(t, 500*time.Millisecond, func(c *patient.Trial, limit time.Duration) {
		tc := fake(t, limit)
		res, err := tc.Compile(context.Background(), job)
		require.NoError(c, err)
		checkPartition(c, res, 6, []int{0, 1, 2, 3, 4, 5})
		assert.ErrorContains(c, res.Failed[5], "u5: ")
		assert.ErrorContains(c, res.Failed[5], "not tried")
		assert.LessOrEqual(c, tc.Stats().Processes, int64(5))
	})
}

// If the header or the tool itself is at fault, all units fail, after few
// processes.
func TestNoUnitToBlame(t *testing.T) {
	for _, c := range []struct {
		mode, header string
		kind         error
	}{
		{"", "// fake: refuse\n", ErrCompile},
		{"", "// fake: noline\n", ErrCompile},
		{"crash", "", ErrInfrastructure},
		{"panic", "", ErrInfrastructure},
		{"babble", "", ErrInfrastructure},
		{"loader", "", ErrInfrastructure},
	} {
		tc := fake(t, patient.Long)
		dir := tc.Describe().Dir
		setMode(t, dir, c.mode)
		job := fakeJob(16)
		job.Header = c.header
		res, err := tc.Compile(context.Background(), job)
		require.NoError(t, err)
		require.Len(t, res.Failed, 16, "%+v", c)
		for i, err := range res.Failed {
			assert.ErrorIs(t, err, c.kind)
			assert.Equal(t, job.Units[i].Name, err.(*Error).Input)
		}
		assert.LessOrEqual(t, tc.Stats().Processes, int64(2), "%+v", c)
	}
}

func TestToolThatIsNotThere(t *testing.T) {
	tc := fake(t, patient.Long)
	tc.Ptxas = "/nonexistent/ptxas"
	res, err := tc.Compile(context.Background(), fakeJob(40))
	require.NoError(t, err)
	require.Len(t, res.Failed, 40)
	assert.ErrorIs(t, res.Failed[0], ErrInfrastructure)
	assert.ErrorIs(t, res.Failed[0], os.ErrNotExist)
}

func TestCancel(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	tc := fake(t, time.Hour)
	job := fakeJob(20)
	job.BatchUnits = 3
	for i := range job.Units {
		job.Units[i].Text += "\n// fake: hang"
	}
	cause := errors.New("the user had enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(300*time.Millisecond, func() { cancel(cause) })
	res, err := tc.Compile(ctx, job)
	assert.Nil(t, res)
	assert.ErrorIs(t, err, ErrCancelled)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, cause)
	assert.NotErrorIs(t, err, ErrTimeout)
	left, err := filepath.Glob(filepath.Join(tmp, "*", "*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "lock", filepath.Base(left[0]))
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ n, units, bytes, want int }{
		{0, 4, 0, 0}, {1, 4, 0, 1}, {4, 4, 0, 1}, {5, 4, 0, 2}, {512, 0, 0, 1}, {513, 0, 0, 2}, {10, 100, 1, 10}, {10, 100, 40, 4},
	} {
		job := fakeJob(c.n)
		job.BatchUnits, job.BatchBytes = c.units, c.bytes
		batches := split(job)
		assert.Len(t, batches, c.want, "%+v", c)
		var all []int
		for _, b := range batches {
			all = append(all, b...)
		}
		assert.Len(t, all, c.n)
		assert.True(t, slices.IsSorted(all))
	}
}

// Batches cost about the same: a large unit weighs what many small ones do.
func TestSplitByCost(t *testing.T) {
	job := Job{BatchUnits: 95}
	for i := range 100 {
		n := 100
		if i < 10 {
			n = 1000
		}
		job.Units = append(job.Units, Unit{Name: fmt.Sprint(i), Text: strings.Repeat("x", n)})
	}
	batches := split(job)
	require.Len(t, batches, 2)
	for _, b := range batches {
		size := 0
		for _, i := range b {
			size += len(job.Units[i].Text)
		}
		assert.LessOrEqual(t, len(b), 95)
		assert.InDelta(t, 9500, size, 500)
	}
}

func TestBadJobs(t *testing.T) {
	tc := fake(t, patient.Long)
	for _, job := range []Job{{Target: "sm_80 -o x", Level: "O3"}, {Target: "sm_80", Level: "O9"}, {Target: "tahiti", Level: "O0"}} {
		_, err := tc.Compile(context.Background(), job)
		assert.Error(t, err)
	}
	res, err := tc.Compile(context.Background(), Job{Target: "sm_80", Level: "O3", Version: "6.4"})
	require.NoError(t, err)
	assert.Empty(t, res.Batches)
}
