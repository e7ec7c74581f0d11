package reduce

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/verify"
)

// TestRunFault: what is left of a kernel has the same fault, and nothing that it does not need.
func TestRunFault(t *testing.T) {
	text, err := os.ReadFile("../verify/testdata/kernels.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("kernels.ptx", text)
	require.NoError(t, err)
	for kernel, most := range map[string]int{"flag_plain": 9, "lock_block": 8, "reduce_unsynced": 7, "copy_early": 9, "barrier_lanes": 7} {
		o := verify.Options{Launch: verify.Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}}, Schedules: 2, Unmended: true}
		if kernel == "flag_plain" {
			o.Launch.Args = []verify.Arg{{Name: "0", Buffer: true, Bytes: 4}, {Name: "1", Buffer: true, Bytes: 4}, {Name: "2", Buffer: true, Bytes: 8}}
		}
		r, err := verify.Kernel(m, kernel, &o)
		require.NoError(t, err)
		f := &Fault{Module: m, Kernel: kernel, Options: o, Found: r.Found[0], All: r.Found}
		k, tried, err := RunFault(t.Context(), f, 0)
		require.NoError(t, err, kernel)
		require.LessOrEqual(t, k.Len(), most, "%s\n%s", kernel, k)
		require.Greater(t, tried, 1)
		small, err := ptx.Parse("min.ptx", []byte(k.String()))
		require.NoError(t, err)
		o.Launch.Args = nil
		again, err := verify.Kernel(small, "k", &o)
		require.NoError(t, err)
		require.True(t, alike(again.Found[0], r.Found[0]), "%s\n%s", k, again.Text())
	}
}
