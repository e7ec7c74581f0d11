package verify

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
