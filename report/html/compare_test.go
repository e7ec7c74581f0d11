package html

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/report"
)

// TestCompare checks comparisons against those of package report.
func TestCompare(t *testing.T) {
	s := sample(60)
	x := NewIndex(s)
	run := s.Run()
	seen := 0
	rank := func(c Change) int {
		return report.ChangeRank(int(classIndex(c.From.Class)), int(classIndex(c.To.Class)))
	}
	for left := range x.Toolchains {
		for right := range x.Toolchains {
			if left == right {
				continue
			}
			a, err := run.Only(x.Toolchains[left])
			require.NoError(t, err)
			b, err := run.Only(x.Toolchains[right])
			require.NoError(t, err)
			n := report.Compare(a, b, func(*event.Cell) bool { return true }).Compared
			c := x.Compare(left, right, 1<<30)
			require.Equal(t, n, c.Compared, "what optcheck diff counts")
			sum, alone := 0, 0
			for _, d := range c.Changes {
				sum += d.Cells
			}
			for _, d := range c.Alone {
				for _, n := range d.Levels {
					alone += n
				}
			}
			require.Equal(t, n.Class+n.Found, sum)
			require.Zero(t, c.More)
			first := x.Compare(left, right, 2)
			require.Equal(t, c.Changes[:min(2, len(c.Changes))], first.Changes, "the worst ones, whatever the limit")
			require.Equal(t, len(c.Changes), len(first.Changes)+first.More)
			require.Equal(t, n.Code, alone)
			require.True(t, slices.IsSortedFunc(c.Changes, func(a, b Change) int { return rank(a) - rank(b) }))
			seen += sum
		}
	}
	require.Positive(t, seen)
	require.Equal(t, [][2]int{{0, 1}, {1, 2}}, x.Neighbours())
	require.Contains(t, x.Compare(0, 1, 1<<30).Summary(), "cells only with ptxas 11.8.89, among them all of sm_100.")
}

func TestCompareAlone(t *testing.T) {
	s := event.NewSet()
	for _, tc := range []string{"ptxas 1", "clang 2"} {
		require.NoError(t, s.Handle(event.Event{Cell: &event.Cell{Test: "a", Toolchain: tc, Target: "t", Level: "O0", Layout: "l",
			Result: event.Result{Class: event.Preserved}}}))
	}
	require.Empty(t, NewIndex(s).Neighbours())
	require.Equal(t, "1 cell in both, and no difference.", NewIndex(s).Compare(0, 1, 10).Summary())
}
