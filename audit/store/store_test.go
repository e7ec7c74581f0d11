package store

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"os"

	"optcheck/report"
)

func TestTry(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "a.db"), Create)
	require.NoError(t, err)
	in, err := os.ReadFile("/tmp/store/run.jsonl")
	require.NoError(t, err)
	for range 2 {
		n, err := s.Import(t.Context(), "x", bytes.NewReader(in))
		require.NoError(t, err)
		t.Log(n)
	}
	var b bytes.Buffer
	h := report.NewJSONLines(&b)
	require.NoError(t, s.ExportRun(t.Context(), 1, h))
	require.NoError(t, h.Close())
	require.Equal(t, string(in), b.String())
	var c, d bytes.Buffer
	h = report.NewJSONLines(&c)
	require.NoError(t, s.Export(t.Context(), View{}, h))
	require.NoError(t, h.Close())
	s2, err := Open(t.Context(), filepath.Join(dir, "b.db"), Create)
	require.NoError(t, err)
	n, err := s2.Merge(t.Context(), s)
	require.NoError(t, err)
	t.Log(n)
	n, err = s2.Merge(t.Context(), s)
	require.NoError(t, err)
	t.Log(n)
	h = report.NewJSONLines(&d)
	require.NoError(t, s2.Export(t.Context(), View{}, h))
	require.NoError(t, h.Close())
	require.Equal(t, c.String(), d.String())
	require.NoError(t, s.Close())
	require.NoError(t, s2.Close())
	st, _ := os.Stat(filepath.Join(dir, "a.db"))
	t.Log(st.Size(), c.Len())
	os.WriteFile("/tmp/store/canon.jsonl", c.Bytes(), 0o666)
}
