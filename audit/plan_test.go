package audit

import (
	"encoding/json"
	"sort"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/spec"
	"optcheck/toolchain"
)

// lines returns the cells of a run as JSON, sorted.
func lines(t *testing.T, cells []event.Cell) (out []string) {
	t.Helper()
	for i := range cells {
		b, err := json.Marshal(&cells[i])
		require.NoError(t, err)
		out = append(out, string(b))
	}
	sort.Strings(out)
	return out
}

// TestPartsMakeTheWhole: chunks, shards and cells that are known already change
// no result: together they are the run in one piece.
func TestPartsMakeTheWhole(t *testing.T) {
	tcs := releases(t)
	o := Options{Tests: corpus.Tests()[:23], Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_60", "sm_80"}, Levels: []string{"O0", "O3"},
		Layouts: []spec.Layout{spec.Pointers, spec.Offsets}}
	audited := func(o Options) *event.Run {
		run := event.NewRun()
		require.NoError(t, Run(t.Context(), o, run))
		return run
	}
	run := audited(o)
	require.Len(t, run.Tests, 23)
	whole := lines(t, run.Cells)
	require.Len(t, whole, 23*2*2*2)

	chunked := o
	chunked.Chunk = 5
	require.Equal(t, whole, lines(t, audited(chunked).Cells))

	const n = 7
	var parts []event.Cell
	for i := 1; i <= n; i++ {
		p := o
		p.Shard = Shard{i, n}
		r := audited(p)
		require.NotEmpty(t, r.Cells)
		require.Equal(t, len(r.Cells), r.Config.Cells)
		require.Less(t, len(r.Cells), len(whole)/3, "shards are of about one size")
		parts = append(parts, r.Cells...)
	}
	require.Equal(t, whole, lines(t, parts))

	known, rest := o, []event.Cell(nil)
	var mu sync.Mutex
	k := 0
	known.Have = func(c *event.Cell) bool {
		mu.Lock()
		defer mu.Unlock()
		if k++; k%3 == 0 || c.Level == "O0" && c.Target == "sm_60" {
			rest = append(rest, *c)
			return true
		}
		return false
	}
	r := audited(known)
	require.Len(t, r.Cells, len(whole)-len(rest))
	for _, c := range run.Cells {
		for _, x := range rest {
			if x.Test == c.Test && x.Target == c.Target && x.Level == c.Level && x.Layout == c.Layout {
				r.Cells = append(r.Cells, c)
			}
		}
	}
	require.Equal(t, whole, lines(t, r.Cells))
}

func TestShardErrors(t *testing.T) {
	for _, s := range []Shard{{0, 2}, {3, 2}, {-1, 1}, {1, 0}} {
		o := Options{Tests: corpus.Tests()[:1], Shard: s}
		_, err := o.plan()
		require.ErrorContains(t, err, "must be i/n")
	}
}

// TestAskedTwice: what is asked for twice is done once, and counted once.
func TestAskedTwice(t *testing.T) {
	tc := &toolchain.Toolchain{ID: "ptxas 1.0.0", Kind: toolchain.CUDA{}, Targets: []string{"sm_60", "sm_80"}, MaxPTX: "8.0"}
	o := Options{Tests: corpus.Tests()[:3], Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{"sm_80", "sm_80"}, Levels: []string{"O3", "O0", "O3"},
		Layouts: []spec.Layout{spec.Offsets, spec.Pointers, spec.Offsets}}
	jobs, err := o.plan()
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, []string{"O3", "O0"}, o.Levels)
	require.Equal(t, []spec.Layout{spec.Offsets, spec.Pointers}, o.Layouts)
	require.Equal(t, 3*2*2, o.cells(jobs))
}
