package whole

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
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

// TestReplaceable: a name that is a link stays one, a file with a second name keeps both, and a device is written, not replaced.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("file"), []byte("mine"), 0o600))
	require.NoError(t, os.Link(in("file"), in("hard")))
	for name, to := range map[string]string{"link": "file", "nowhere": "none", "null": os.DevNull} {
		require.NoError(t, os.Symlink(to, in(name)))
	}
	for _, name := range []string{"link", "nowhere", "hard", "file"} {
		require.ErrorIs(t, Write(in(name), []byte("x"), 0o600), input.ErrLink, name)
	}
	require.NoError(t, Write(in("null"), []byte("x"), 0o600))
	to, err := os.Readlink(in("null"))
	require.NoError(t, err)
	require.Equal(t, os.DevNull, to)
	f, err := os.OpenFile(in("out"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, Write(fmt.Sprint("/dev/fd/", f.Fd()), []byte("through the system"), 0o600))
	data, err := os.ReadFile(in("out"))
	require.NoError(t, err)
	require.Equal(t, "through the system", string(data))
	for name, want := range map[string]string{"file": "mine", "hard": "mine"} {
		data, err := os.ReadFile(in(name))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 6, "nothing is left beside them")
}
