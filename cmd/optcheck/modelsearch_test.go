package main

import (
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

// TestSearchOrder: from the results of one half of the tests that an H200 has run,
// the order in which the other half is expected to be weak puts a test that was
// weak before one that was not, nearly always.
func TestSearchOrder(t *testing.T) {
	env := &environment{ctx: t.Context(), stderr: io.Discard, getenv: func(string) string { return "" }}
	d, err := seenBy(env, []string{"../../docs/results/h200/paper.jsonl.gz"})
	require.NoError(t, err)
	var learnt []model.Past
	c := &model.Comparison{}
	weak := map[string]bool{}
	for i, h := range slices.Sorted(maps.Keys(d.past)) {
		p := d.past[h]
		if i%2 == 0 {
			learnt = append(learnt, *p)
			continue
		}
		sp, err := cycle.ParseName(p.Name)
		require.NoError(t, err)
		weak[p.Name] = p.Weak > 0
		c.Differences = append(c.Differences, model.Difference{Test: sp.Test()})
	}
	var before, pairs, seen float64 // of those so far
	list := model.Deciders(c, learnt)
	for i := range list {
		if weak[list[i].Test.Name] {
			seen++
		} else {
			before += seen
			pairs++
		}
	}
	auc := before / (pairs * seen)
	t.Logf("%d tests learnt from, %d ordered, %.0f of them weak: a weak one before another in %.1f %% of pairs", len(learnt),
		len(list), seen, 100*auc)
	require.Greater(t, auc, 0.9)
}
