package toolchain

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinked: what is linked belongs to what identifies a compiler, where it is
// linked.
func TestLinked(t *testing.T) {
	folder := func(text string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tahiti-amdgcn-mesa-mesa3d.bc"), []byte(text), 0o600))
		require.NoError(t, os.Symlink("tahiti-amdgcn-mesa-mesa3d.bc", filepath.Join(dir, "verde-amdgcn-mesa-mesa3d.bc")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvptx64--.bc"), []byte(t.TempDir()), 0o600))
		return dir
	}
	seen := map[string]bool{}
	for _, dir := range []string{"", folder("one"), folder("two")} {
		with, err := (&LLVM{Libclc: dir}).Linked()
		require.NoError(t, err)
		require.False(t, seen[with], with)
		seen[with] = true
	}
	again, err := (&LLVM{Libclc: folder("one")}).Linked()
	require.NoError(t, err)
	require.True(t, seen[again], "the place of a library does not count")
	_, err = (&LLVM{Libclc: filepath.Join(t.TempDir(), "none")}).Linked()
	require.Error(t, err)
}
