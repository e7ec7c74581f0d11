package toolchain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// oneByOne is a compiler that works on one unit after the other, as llc does: it
// gives up at the first that it refuses, and crashes at the first that it cannot
// stand, whatever comes behind.
type oneByOne struct {
	llc
	calls atomic.Int64
	names bool // it says at which unit it gave up
}

func (o *oneByOne) tool() string { return "llc" }

func (o *oneByOne) compile(_ context.Context, job *Job, units []int) (Batch, error) {
	o.calls.Add(1)
	for _, u := range units {
		c := command{path: "llc"}
		switch job.Units[u].Text {
		case "refuse":
			e := c.fail(ErrCompile, "aborted", nil)
			e.Stderr = "LLVM ERROR: Cannot select: 0x5581: ch = AtomicFence\n"
			if o.names {
				e.Stderr += "In function: " + job.Units[u].Name + "\nPLEASE submit a bug report\n"
			}
			return Batch{}, e
		case "crash":
			e := c.fail(ErrInfrastructure, "killed by signal", nil)
			e.Stderr = "PLEASE submit a bug report\n2.\tRunning pass on function '@" + job.Units[u].Name + "'\n"
			return Batch{}, e
		}
	}
	return Batch{Text: []byte("ok")}, nil
}

// TestSkip: whatever units such a compiler refuses or dies of, exactly those fail,
// each with its own reason; and refusals that name their unit cost a process each.
func TestSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &oneByOne{names: rapid.Bool().Draw(t, "names")}
		var job Job
		bad, crashes := map[int]error{}, 0
		for i := range rapid.IntRange(1, 40).Draw(t, "units") {
			text := rapid.SampledFrom([]string{"good", "good", "good", "refuse", "crash"}).Draw(t, "unit")
			job.Units = append(job.Units, Unit{Name: fmt.Sprintf("u%d", i), Text: text})
			switch text {
			case "refuse":
				bad[i] = ErrCompile
			case "crash":
				bad[i], crashes = ErrInfrastructure, crashes+1
			}
		}
		job.BatchUnits = 100
		res, err := compileAll(context.Background(), c, &job)
		require.NoError(t, err)
		require.Len(t, res.Failed, len(bad))
		var good []int
		for _, b := range res.Batches {
			require.True(t, slices.IsSorted(b.Units))
			good = append(good, b.Units...)
		}
		require.Len(t, good, len(job.Units)-len(bad))
		for i, kind := range bad {
			require.NotContains(t, good, i)
			var e *Error
			require.ErrorAs(t, res.Failed[i], &e)
			require.ErrorIs(t, e, kind)
			require.Equal(t, job.Units[i].Name, e.Input)
			if kind == ErrCompile && c.names {
				require.Len(t, e.Diagnostics, 1)
				require.Equal(t, job.Units[i].Name, e.Diagnostics[0].Unit)
				require.True(t, strings.HasPrefix(e.Diagnostics[0].Message, "Cannot select"))
			}
		}
		if crashes == 0 && c.names {
			require.LessOrEqual(t, int(c.calls.Load()), len(bad)+2)
		}
	})
}
