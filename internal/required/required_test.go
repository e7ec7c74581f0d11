package required

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSome: a seed chooses the same cases again, in their order, and another one others; all are taken where all is asked for.
func TestSome(t *testing.T) {
	t.Setenv("OPTCHECK_FULL", "")
	all := make([]int, 50)
	for i := range all {
		all[i] = i
	}
	of := func(seed string) []int {
		t.Setenv("OPTCHECK_SEED", seed)
		return Some(t, 9, all)
	}
	require.Len(t, of("7"), 9)
	require.IsIncreasing(t, of("7"))
	require.Equal(t, of("7"), of("7"))
	require.NotEqual(t, of("7"), of("8"))
	require.IsIncreasing(t, of(""))
	require.Equal(t, all, Some(t, 50, all))
	t.Setenv("OPTCHECK_FULL", "1")
	require.Equal(t, all, of("7"))
}
