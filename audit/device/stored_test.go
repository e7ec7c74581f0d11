package device

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit/store"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
	"optcheck/ptxgen"
)

// TestStoredCubins compiles with a real compiler into two stores, merges them,
// and checks that what comes out is validated like what is compiled at once.
func TestStoredCubins(t *testing.T) {
	c := &Compiler{Target: "sm_80", Level: "O3", Tool: newest(t, "sm_80")}
	ctx := t.Context()
	var stores []*store.Store
	for _, name := range []string{"a", "b", "all"} {
		s, err := store.Open(ctx, filepath.Join(t.TempDir(), name), store.Create)
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		stores = append(stores, s)
	}
	_, err := StoredCubins(ctx, stores[2], c.Target, c.Level, "")
	require.ErrorContains(t, err, "has no cubins for")
	tests := corpus.Tests()
	half := len(tests) / 2
	for i, some := range [][]*litmus.Test{tests[:half], tests[half:]} {
		n, err := c.StoreCubins(ctx, stores[i], []string{"1", "2"}[i], some)
		require.NoError(t, err)
		require.Positive(t, n)
		_, err = stores[2].Merge(ctx, stores[i])
		require.NoError(t, err)
	}
	direct, err := c.Build(ctx, tests, ptxgen.FormFast)
	require.NoError(t, err)
	elsewhere := *c
	cubins, err := StoredCubins(ctx, stores[2], c.Target, c.Level, c.Tool.ID)
	require.NoError(t, err)
	elsewhere.Maker, err = pipeline.NewStoredMaker(c.Tool, c.Target, c.Level, cubins)
	require.NoError(t, err)
	stored, err := elsewhere.Build(ctx, tests, ptxgen.FormFast)
	require.NoError(t, err)
	for i := range tests {
		require.Equal(t, direct[i].State, stored[i].State, tests[i].Name)
		require.Equal(t, direct[i].Code, stored[i].Code, tests[i].Name)
	}
	require.True(t, slices.ContainsFunc(stored, func(b *Binary) bool { return b.Validated }))
	_, err = elsewhere.Collector(ctx)
	require.NoError(t, err)

	// Another compiler's are not taken for the one that was asked for.
	require.NoError(t, stores[2].Put(ctx, storedName(c.Target, c.Level, "ptxas 0.1", "1/1"), cubinsKind, nil))
	_, err = StoredCubins(ctx, stores[2], c.Target, c.Level, "")
	require.ErrorContains(t, err, "say which")
	_, err = StoredCubins(ctx, stores[2], c.Target, c.Level, "ptxas 0.1")
	require.Error(t, err)
}
