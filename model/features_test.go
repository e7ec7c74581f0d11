package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

func TestFeatures(t *testing.T) {
	named := func(names ...string) (list []*litmus.Test) {
		for _, n := range names {
			x, ok := corpus.Lookup(n)
			require.True(t, ok, n)
			list = append(list, x)
		}
		return list
	}
	all := named("mp", "mp+membar.gls", "lb+datas", "add+add.gpus", "cas-sl", "mp+bar.syncs")
	for feature, left := range map[string][]string{
		"dependencies": {"mp", "mp+membar.gls", "add+add.gpus", "mp+bar.syncs"},
		"atomics":      {"mp", "mp+membar.gls", "lb+datas", "mp+bar.syncs"},
		"fences":       {"mp", "lb+datas", "add+add.gpus", "cas-sl", "mp+bar.syncs"},
		"barriers":     {"mp", "mp+membar.gls", "lb+datas", "add+add.gpus", "cas-sl"},
	} {
		got, err := Without(all, []string{feature})
		require.NoError(t, err)
		var names []string
		for _, x := range got {
			names = append(names, x.Name)
		}
		require.Equal(t, left, names, feature)
	}
	require.Error(t, ParseFeatures([]string{"magic"}))
	require.NoError(t, ParseFeatures(Features))
}
