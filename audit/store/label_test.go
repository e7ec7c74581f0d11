package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLabels(t *testing.T) {
	ctx := t.Context()
	open := func(name string) *Store {
		s, err := Open(ctx, filepath.Join(t.TempDir(), name), Create)
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	a, b := open("a"), open("b")
	big := []byte(strings.Repeat("cubin", 100000))
	require.NoError(t, a.Put(ctx, "x/1", "cubins", big))
	require.NoError(t, a.Put(ctx, "x/2", "cubins", big))
	require.NoError(t, a.Put(ctx, "y", "text", nil))
	got, kind, err := a.Get(ctx, "x/2")
	require.NoError(t, err)
	require.Equal(t, "cubins", kind)
	require.Equal(t, big, got)
	_, _, err = a.Get(ctx, "z")
	require.ErrorIs(t, err, ErrNoLabel)
	names, err := a.Labels(ctx, "x/")
	require.NoError(t, err)
	require.Equal(t, []string{"x/1", "x/2"}, names)
	var n int
	_, err = a.row("SELECT count(*) FROM artefact", nil, &n)
	require.NoError(t, err)
	require.Equal(t, 2, n, "equal data is kept once")

	// Merging in either order gives the same.
	require.NoError(t, b.Put(ctx, "x/1", "cubins", []byte("other")))
	c, d := open("c"), open("d")
	for _, m := range []struct{ to, from *Store }{{c, a}, {c, b}, {d, b}, {d, a}} {
		_, err := m.to.Merge(ctx, m.from)
		require.NoError(t, err)
	}
	for _, name := range []string{"x/1", "x/2", "y"} {
		one, _, err := c.Get(ctx, name)
		require.NoError(t, err)
		two, _, err := d.Get(ctx, name)
		require.NoError(t, err)
		require.Equal(t, one, two, name)
	}

	// Damage is noticed.
	_, err = a.exec("UPDATE artefact SET data=x'0041' WHERE kind='cubins'")
	require.NoError(t, err)
	_, _, err = a.Get(ctx, "x/1")
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, a.Put(ctx, "big", "x", make([]byte, MaxArtefact+1)), "more than")
	require.NoError(t, a.Put(ctx, "largest", "x", make([]byte, MaxArtefact)))
	got, _, err = a.Get(ctx, "largest")
	require.NoError(t, err)
	require.Len(t, got, MaxArtefact)
}
