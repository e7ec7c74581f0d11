package toolchain

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBuildWith: what is linked belongs to what identifies a compiler, where it is
// linked.
func TestBuildWith(t *testing.T) {
	folder := func(text string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tahiti-amdgcn-mesa-mesa3d.bc"), []byte(text), 0o600))
		require.NoError(t, os.Symlink("tahiti-amdgcn-mesa-mesa3d.bc", filepath.Join(dir, "verde-amdgcn-mesa-mesa3d.bc")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvptx64--.bc"), []byte(t.TempDir()), 0o600))
		return dir
	}
	seen := map[string]bool{}
	for _, dir := range []string{"", folder("one"), folder("two")} {
		tc := &Toolchain{Build: "clang 1", Kind: &LLVM{Libclc: dir}}
		with, err := tc.BuildWith(true)
		require.NoError(t, err)
		require.False(t, seen[with], with)
		seen[with] = true
		without, err := tc.BuildWith(false)
		require.NoError(t, err)
		require.Equal(t, "clang 1", without)
	}
	again, err := (&Toolchain{Build: "clang 1", Kind: &LLVM{Libclc: folder("one")}}).BuildWith(true)
	require.NoError(t, err)
	require.True(t, seen[again], "the place of a library does not count")
	_, err = (&Toolchain{Kind: &LLVM{Libclc: filepath.Join(t.TempDir(), "none")}}).BuildWith(true)
	require.Error(t, err)
	ptxas, err := (&Toolchain{Kind: CUDA{}, Build: "b"}).BuildWith(true)
	require.NoError(t, err)
	require.Equal(t, "b", ptxas)
}
