package toolchain

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChanged: an installed tool that is not what was installed is not run, however
// it was changed; installing puts it right.
func TestChanged(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	_, err := d.install(t.Context(), "cuda-11.8")
	require.NoError(t, err)
	tree := filepath.Join(d.managed, "cuda-11.8")
	bin := filepath.Join(tree, "root", "usr", "bin")
	ptxas := filepath.Join(bin, "ptxas")
	ran := filepath.Join(t.TempDir(), "ran")
	cache := filepath.Join(t.TempDir(), "identities.json")
	discover := func() (int, []error) {
		forgetVerified(tree) // as another process would
		all, errs := Discover(context.Background(), Options{Managed: d.managed, Cache: cache, Env: func(string) string { return "" }})
		return len(all), errs
	}
	n, errs := discover()
	require.Empty(t, errs)
	require.Equal(t, 1, n)
	for name, change := range map[string]func(){
		"a script": func() { script(t, ptxas, "touch "+ran+"\n") },
		"a byte, with the same size and time": func() {
			st, err := os.Stat(ptxas)
			require.NoError(t, err)
			text, err := os.ReadFile(ptxas)
			require.NoError(t, err)
			text[len(text)-2] ^= 1
			require.NoError(t, os.WriteFile(ptxas, text, 0o755))
			require.NoError(t, os.Chtimes(ptxas, time.Time{}, st.ModTime()))
		},
		"another file of that time": func() {
			st, err := os.Stat(ptxas)
			require.NoError(t, err)
			require.NoError(t, os.Rename(filepath.Join(bin, "nvdisasm"), ptxas))
			require.NoError(t, os.Chtimes(ptxas, time.Time{}, st.ModTime()))
		},
		"a library beside": func() {
			require.NoError(t, os.WriteFile(filepath.Join(bin, "libc.so.6"), []byte("x"), 0o644))
		},
		"a link":      func() { require.NoError(t, os.Remove(ptxas)); require.NoError(t, os.Symlink("nvdisasm", ptxas)) },
		"a file gone": func() { require.NoError(t, os.Remove(filepath.Join(bin, "cuobjdump"))) },
		"the record": func() {
			require.NoError(t, os.WriteFile(filepath.Join(tree, recordName), []byte(`{"files":{}}`), 0o644))
		},
		"through LLVM": func() { script(t, filepath.Join(bin, "clang"), "touch "+ran+"\n") },
	} {
		t.Run(name, func(t *testing.T) {
			change()
			n, errs := discover()
			require.Zero(t, n)
			require.NotEmpty(t, errs)
			require.ErrorIs(t, errs[0], ErrChanged)
			require.ErrorContains(t, errs[0], "optcheck toolchain install cuda-11.8 puts it right")
			found, err := Verify(t.Context(), d.managed, nil)
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.ErrorIs(t, found[0].Err, ErrChanged)

			done, err := d.install(t.Context(), "cuda-11.8")
			require.NoError(t, err)
			require.True(t, done, "it was not taken for installed")
			n, errs = discover()
			require.Empty(t, errs)
			require.Equal(t, 1, n)
			require.NoFileExists(t, ran)
		})
	}
}

// TestOldRecord: of what an older version installed nothing is known, until
// installing it again takes it as it is.
func TestOldRecord(t *testing.T) {
	d := newDebian(t, "11.8.89", nil)
	_, err := d.install(t.Context(), "cuda-11.8")
	require.NoError(t, err)
	tree := filepath.Join(d.managed, "cuda-11.8")
	require.NoError(t, os.Rename(filepath.Join(tree, recordName), filepath.Join(tree, oldRecord)))
	found, err := Verify(t.Context(), d.managed, []string{"cuda-11.8"})
	require.NoError(t, err)
	require.ErrorIs(t, found[0].Err, fs.ErrNotExist)
	done, err := d.install(t.Context(), "cuda-11.8")
	require.NoError(t, err)
	require.False(t, done)
	found, err = Verify(t.Context(), d.managed, []string{"cuda-11.8"})
	require.NoError(t, err)
	require.NoError(t, found[0].Err)
	require.Equal(t, 4, found[0].Files)
	_, err = Verify(t.Context(), d.managed, []string{"../cuda-11.8"})
	require.Error(t, err)
}

// TestHashesAreKept: a file is read once as long as it is in the same state.
func TestHashesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o755))
	o := Options{Cache: filepath.Join(t.TempDir(), "identities.json")}
	time.Sleep(2 * clockTick)
	c := openCache(o)
	one, err := c.hash(path)
	require.NoError(t, err)
	c.save()
	c = openCache(o)
	again, err := c.hash(path)
	require.NoError(t, err)
	require.Equal(t, one, again)
	require.False(t, c.dirty)
	require.NoError(t, os.WriteFile(path, []byte("two"), 0o755))
	two, err := c.hash(path)
	require.NoError(t, err)
	require.NotEqual(t, one, two)
}
