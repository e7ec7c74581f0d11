package runner_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/runner"
)

func test(t *testing.T, name string) *litmus.Test {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	return x
}

func TestHistogramCounts(t *testing.T) {
	mp := test(t, "mp")
	h := runner.NewHistogram(mp)
	require.NoError(t, h.Add([]int64{0, 0}, 5))
	require.NoError(t, h.Add([]int64{1, 0}, 3))
	require.NoError(t, h.Add([]int64{0, 0}, 2))
	require.NoError(t, h.Add([]int64{1, 1}, 0))
	require.EqualValues(t, 10, h.Total())
	require.Equal(t, []runner.Outcome{{Values: []int64{0, 0}, Count: 7}, {Values: []int64{1, 0}, Count: 3}}, h.Outcomes())
	weak, others := h.Count(mp.Cond)
	require.EqualValues(t, 3, weak)
	require.EqualValues(t, 7, others)

	require.ErrorContains(t, h.Add([]int64{1}, 1), "1 values")
	require.ErrorContains(t, h.Add([]int64{1, 1}, math.MaxInt64), "more than")
	require.NoError(t, h.Add([]int64{9, 9}, math.MaxInt64-10))
	require.ErrorContains(t, h.Add([]int64{9, 9}, 1), "more than")
}
