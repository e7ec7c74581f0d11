package verify

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// TestFenceOrder: threads of a block that fence in front of a barrier, behind which another thread signals, release what they wrote only if the
// fences are sequentially consistent. All executions and the runs say the same.
func TestFenceOrder(t *testing.T) {
	m := module(t, "testdata/fences.ptx")
	for kernel, free := range map[string]bool{"sc": true, "acq_rel": false, "one": false, "chain": true, "none": false} {
		o := &Options{Launch: Launch{Grid: [3]int{3, 1, 1}, Block: [3]int{2, 1, 1}, Args: []Arg{{Name: "flag", Buffer: true, Bytes: 4}, {Name: "data", Buffer: true, Bytes: 4}}},
			Inputs: 1, Schedules: 6, Unmended: true}
		r, err := Kernel(m, kernel, o)
		require.NoError(t, err)
		require.Empty(t, r.Unknown)
		require.Equal(t, free, len(r.Found) == 0, r.Text())
		x, err := All(context.Background(), m, kernel, o, time.Minute)
		require.NoError(t, err)
		require.Equal(t, free, x.Answer == AnswerFree, x.Text())
	}
}

// TestLocks: all executions of small launches with locks are looked at, and the test that is judged can be read again.
func TestLocks(t *testing.T) {
	m := module(t, "testdata/locks.ptx")
	for _, c := range []struct {
		kernel, lock, data string
		grid, block        int
	}{{"spin", "lock", "count", 2, 2}, {"spin", "lock", "count", 4, 1}, {"ticket", "lock", "count", 2, 2}, {"gridbar", "bar", "data", 2, 2}} {
		o := &Options{Launch: Launch{Grid: [3]int{c.grid, 1, 1}, Block: [3]int{c.block, 1, 1}, Args: []Arg{{Name: c.lock, Buffer: true, Bytes: 8}, {Name: c.data, Buffer: true, Bytes: 16}}}}
		start := time.Now()
		x, err := All(context.Background(), m, c.kernel, o, time.Minute)
		require.NoError(t, err)
		require.Equal(t, AnswerFree, x.Answer, x.Text())
		t.Logf("%s of %d x %d: %.3f s", c.kernel, c.grid, c.block, time.Since(start).Seconds())
		_, err = litmus.Parse("launch.litmus", []byte(x.Test))
		require.NoError(t, err, x.Test)
	}
}

// TestEvery: where threads meet at barriers alone, one run stands for every schedule; where they wait for each other's writes it does not.
func TestEvery(t *testing.T) {
	for _, c := range []struct {
		file, kernel string
		every        bool
	}{{"kernels.ptx", "reduce_synced", true}, {"kernels.ptx", "flag_fenced", false}, {"kernels.ptx", "flag_plain", false},
		{"kernels.ptx", "warp_synced", true}, {"kernels.ptx", "last_block", false}, {"kernels.ptx", "named", false}, {"pairs.ptx", "store_fix", false}} {
		r, err := Kernel(module(t, "testdata/"+c.file), c.kernel, &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}}, Schedules: 2, Unmended: true})
		require.NoError(t, err)
		require.Equal(t, c.every, r.Every, c.kernel)
	}
}
