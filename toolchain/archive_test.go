package toolchain

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
)

func tarOf(t *testing.T, w io.Writer, files map[string]string) {
	a := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, a.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}))
		_, err := a.Write([]byte(files[name]))
		require.NoError(t, err)
	}
	require.NoError(t, a.Close())
}

// pack writes an archive of a form.
func pack(t *testing.T, form string, files map[string]string) string {
	var out bytes.Buffer
	switch form {
	case "whl":
		z := zip.NewWriter(&out)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = w.Write([]byte(files[name]))
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
	case "tar.gz":
		z := gzip.NewWriter(&out)
		tarOf(t, z, files)
		require.NoError(t, z.Close())
	case "tar.zst":
		z, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		tarOf(t, z, files)
		require.NoError(t, z.Close())
	case "tar.xz":
		if _, err := exec.LookPath("xz"); err != nil {
			required.Missing(t, "no xz")
		}
		var plain bytes.Buffer
		tarOf(t, &plain, files)
		cmd := exec.Command("xz", "-c")
		cmd.Stdin, cmd.Stdout = &plain, &out
		require.NoError(t, cmd.Run())
	case "deb":
		if _, err := exec.LookPath("dpkg-deb"); err != nil {
			required.Missing(t, "no dpkg-deb")
		}
		var data, control bytes.Buffer
		tarOf(t, &data, files)
		tarOf(t, &control, map[string]string{"./control": "Package: cuda\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: none\n"})
		out.WriteString("!<arch>\n")
		for _, part := range []struct{ name, text string }{{"debian-binary", "2.0\n"}, {"control.tar", control.String()}, {"data.tar", data.String()}} {
			fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", part.name, 0, 0, 0, "100644", len(part.text), part.text)
			if len(part.text)%2 == 1 {
				out.WriteByte('\n')
			}
		}
	}
	file := filepath.Join(t.TempDir(), "archive."+form)
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	return file
}

func added(t *testing.T, dir string, paths ...string) ([]string, error) {
	all, err := Add(t.Context(), paths, InstallOptions{Dir: dir, Runner: NewRunner(2, patient.Long)})
	var ids []string
	for _, tc := range all {
		ids = append(ids, tc.Name+" "+tc.Version)
	}
	return ids, err
}

// TestAddArchive: what is in an archive of each form becomes a toolchain whose files
// are remembered, and is removed again.
func TestAddArchive(t *testing.T) {
	for _, form := range []string{"whl", "tar.gz", "tar.zst", "tar.xz", "deb"} {
		t.Run(form, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "managed")
			ptxas := pack(t, form, map[string]string{"nvidia/cu13/bin/ptxas": toolScript("ptxas", "13.0.88"), "x-1.0/License.txt": "read me",
				"../../../evil": "evil", "nvidia/cu13/bin/nvcc": "not wanted"})
			nvdisasm := pack(t, form, map[string]string{"../../bin/nvdisasm": toolScript("nvdisasm", "13.0.39")})
			_, err := added(t, dir, nvdisasm)
			require.ErrorContains(t, err, "no ptxas of release 13.0")
			ids, err := added(t, dir, nvdisasm, ptxas)
			require.NoError(t, err)
			assert.Equal(t, []string{"cuda-13.0 13.0.88"}, ids)
			found, err := Verify(t.Context(), dir, nil)
			require.NoError(t, err)
			require.Len(t, found, 1)
			assert.NoError(t, found[0].Err)
			assert.Equal(t, 3, found[0].Files, "ptxas, nvdisasm, licence")
			assert.NoFileExists(t, filepath.Join(dir, "..", "evil"))

			// Another build of the release lies beside it, the same one is there already.
			other := pack(t, form, map[string]string{"bin/ptxas": toolScript("ptxas", "13.0.11")})
			ids, err = added(t, dir, other)
			require.NoError(t, err)
			assert.Equal(t, []string{"cuda-13.0.11 13.0.11"}, ids)
			_, err = added(t, dir, other)
			require.NoError(t, err)

			did, err := Remove(dir, []string{"cuda-13.0", "13.0.11"})
			require.NoError(t, err)
			assert.Len(t, did, 2)
			left, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestAddRefuses: what is no compiler, or does not answer, adds nothing.
func TestAddRefuses(t *testing.T) {
	good := toolScript("ptxas", "13.0.88")
	folder := func(files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
		}
		return dir
	}
	for _, c := range []struct{ name, path, words string }{
		{"missing", filepath.Join(t.TempDir(), "nowhere"), "no such file or folder"},
		{"empty", t.TempDir(), "no ptxas, nvcc or clang in this folder"},
		{"broken", folder(map[string]string{"bin/ptxas": "#!/bin/sh\nexit 3\n"}), "exit status 3"},
		{"one of several broken", folder(map[string]string{"a/ptxas": good, "b/ptxas": "#!/bin/sh\nkill -SEGV $$\n"}), "b/ptxas"},
		{"nothing in the archive", pack(t, "whl", map[string]string{"a": "b"}), "none of ptxas, nvdisasm, cuobjdump is in it"},
		{"two in the archive", pack(t, "tar.gz", map[string]string{"a/ptxas": good, "b/ptxas": good}), "two of ptxas: a/ptxas and b/ptxas"},
		{"liar", pack(t, "tar.gz", map[string]string{"a/ptxas": toolScript("nvdisasm", "13.0.88")}), "it says it is nvdisasm"},
		{"no program", pack(t, "tar.gz", map[string]string{"a/ptxas": "text"}), "ptxas"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "managed")
			_, err := added(t, dir, c.path)
			require.ErrorContains(t, err, c.words)
			left, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestAddFolders: all ways to name a folder mean the compilers in it; links are not
// followed.
func TestAddFolders(t *testing.T) {
	root := t.TempDir()
	for name, v := range map[string]string{"cuda-12.9/bin": "12.9.1", "deep/x/y/cuda-13.1/bin": "13.1.1"} {
		dir := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ptxas"), []byte(toolScript("ptxas", v)), 0o700))
	}
	require.NoError(t, os.Symlink(filepath.Join(root, "cuda-12.9"), filepath.Join(root, "cuda")))
	for path, want := range map[string][]string{
		"":                    {"cuda-12.9 12.9.1", "cuda-13.1 13.1.1"},
		"cuda-12.9":           {"cuda-12.9 12.9.1"},
		"cuda-12.9/bin":       {"cuda-12.9 12.9.1"},
		"cuda-12.9/bin/ptxas": {"cuda-12.9 12.9.1"},
		"deep":                {"cuda-13.1 13.1.1"},
	} {
		dir := filepath.Join(t.TempDir(), "managed")
		ids, err := added(t, dir, filepath.Join(root, path))
		require.NoError(t, err, path)
		assert.Equal(t, want, ids, path)
		all, errs := Discover(t.Context(), Options{Managed: dir, Cache: "off", Env: func(string) string { return "" }})
		assert.Empty(t, errs)
		assert.Len(t, all, len(want))
		if path == "" {
			_, err := Remove(dir, []string{"12.9"})
			require.NoError(t, err)
			_, err = Remove(dir, []string{"12.9"})
			require.ErrorContains(t, err, "there are cuda-13.1 in")
		}
	}
}

// TestNamesOfInstalled: verify and remove take the names that other commands print.
func TestNamesOfInstalled(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"cuda-12.4", "nvcc-12.4", "llvm-22"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, folder, "root"), 0o700))
	}
	for name, want := range map[string][]string{"ptxas 12.4.131": {"cuda-12.4"}, "12.4": {"cuda-12.4"}, "12.4.131": {"cuda-12.4", "nvcc-12.4"}, "clang-22": {"llvm-22"}} {
		found, err := Verify(t.Context(), dir, []string{name})
		require.NoError(t, err)
		var names []string
		for _, v := range found {
			names = append(names, v.Name)
		}
		require.Equal(t, want, names, name)
	}
	_, err := Verify(t.Context(), dir, []string{"../cuda-12.4"})
	require.ErrorContains(t, err, "is not installed")
	_, err = Remove(dir, []string{"12.4.131"})
	require.EqualError(t, err, "12.4.131 may be cuda-12.4 or nvcc-12.4: say which")
}
