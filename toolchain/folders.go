package toolchain

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/input"
)

// Bounds of the search for compilers below a folder that a person has named.
const (
	maxDepth   = 6      // wheels have nvidia/cuda_nvcc/bin, packages usr/local/cuda-12.8/bin
	maxEntries = 50_000 // a whole toolkit has 20,000
)

// compilerFolders lists the folders that hold compilers where a person has named a
// path: the path of ptxas, nvcc or clang itself, their folder, a toolkit with a bin folder, or
// a folder somewhere above several. Links below it are not followed. It is the path
// alone if there is no compiler, so that an error can name it.
func compilerFolders(path string) []string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if executable(path) {
		if name := filepath.Base(path); name == "ptxas" || name == "nvcc" || name == "clang" || clangName.MatchString(name) {
			return []string{filepath.Dir(path)}
		}
		return []string{path}
	}
	for _, dir := range []string{path, filepath.Join(path, "bin")} {
		if holdsCompiler(dir) {
			return []string{dir}
		}
	}
	var found []string
	seen := 0
	_ = input.Walk(path, func(dir string, d fs.DirEntry, err error) error {
		if seen++; seen > maxEntries {
			return fs.SkipAll
		}
		if err != nil || !d.IsDir() {
			return nil // what cannot be read holds nothing for us
		}
		if holdsCompiler(dir) {
			found = append(found, dir)
			return fs.SkipDir
		}
		if below, err := filepath.Rel(path, dir); err != nil || strings.Count(below, string(filepath.Separator)) >= maxDepth-1 {
			return fs.SkipDir
		}
		return nil
	})
	if len(found) == 0 {
		return []string{path}
	}
	slices.Sort(found)
	return found
}

// holdsCompiler tells whether a folder has a ptxas, an nvcc or a clang itself.
func holdsCompiler(dir string) bool {
	return executable(filepath.Join(dir, "ptxas")) || holdsNvcc(dir) || len(place{dir: dir, must: true}.clangs()) > 0
}

// whyNot says why a path that was named has no compilers.
func whyNot(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "no such file or folder"
	case info.IsDir():
		return "no ptxas, nvcc or clang in this folder"
	case archiveKind(path) != "":
		return "an archive: optcheck toolchain add unpacks it"
	}
	return "no folder, and neither ptxas nor nvcc nor clang"
}
