package whole

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrite: a file is replaced with its mode, and one that cannot be replaced stays,
// with nothing beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(t, Write(file, []byte("old"), 0o600))
	require.NoError(t, Write(file, []byte("new"), 0o755))
	require.NoError(t, WriteSynced(dir, filepath.Join(dir, "b"), nil, 0o644))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "new", string(data))
	st, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), st.Mode())
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "folder", "x"), nil, 0o600))
	require.Error(t, Write(filepath.Join(dir, "folder"), []byte("x"), 0o600))
	require.Error(t, Write(filepath.Join(dir, "none", "a"), []byte("x"), 0o600))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 3)
}
