package input

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// OpenIn is Open for a file in a folder that nothing leads out of.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return regular(name, func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// Update opens a regular file for reading and writing, which it makes if it is not there.
func Update(path string, perm os.FileMode) (*os.File, error) {
	return regular(path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, perm) })
}

// ReadDir lists a folder, sorted by name.
func ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

// ReadDirIn is ReadDir for a folder in a folder that nothing leads out of.
func ReadDirIn(root *os.Root, dir string) ([]fs.DirEntry, error) { return fs.ReadDir(root.FS(), dir) }

// Walk is filepath.WalkDir: it follows no links.
func Walk(dir string, visit fs.WalkDirFunc) error { return filepath.WalkDir(dir, visit) }

// Glob lists what matches a pattern that is well-formed, below a folder whose name is no part of
// the pattern. What cannot be read has no matches.
func Glob(dir string, pattern ...string) []string {
	found, _ := filepath.Glob(filepath.Join(append([]string{escape.Replace(dir)}, pattern...)...))
	return found
}

// escape has the characters of a pattern stand for themselves.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// Files lists the files below a folder whose names pass, sorted. Links are those to such
// files, and to folders; they are not followed: they lead anywhere.
func Files(dir string, pass func(name string) bool) (files, links []string, err error) {
	err = Walk(dir+"/", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular() && pass(path):
			files = append(files, path)
		case d.Type()&fs.ModeSymlink != 0:
			if st, err := os.Stat(path); pass(path) || err == nil && st.IsDir() {
				links = append(links, path)
			}
		}
		return nil
	})
	slices.Sort(files)
	return files, links, err
}
