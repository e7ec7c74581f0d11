package toolchain

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"optcheck/sass/cubin"
)

func kernelName(i int) string { return fmt.Sprintf("k%d", i) }

// checkPartition requires that exactly the bad units failed and that each
// other unit is in one batch, whose cubin has its kernel.
func checkPartition(t require.TestingT, res *Result, n int, bad []int) {
	var failed, compiled, want []int
	for u := range res.Failed {
		failed = append(failed, u)
	}
	slices.Sort(failed)
	require.Equal(t, bad, failed, "%v", res.Failed)
	for _, b := range res.Batches {
		functions, err := cubin.Functions(b.Cubin)
		require.NoError(t, err)
		require.Len(t, functions, len(b.Units))
		for _, u := range b.Units {
			require.Contains(t, functions, kernelName(u))
		}
		compiled = append(compiled, b.Units...)
	}
	slices.Sort(compiled)
	for u := range n {
		if !slices.Contains(bad, u) {
			want = append(want, u)
		}
	}
	require.Equal(t, want, compiled)
}
