// Package scratch creates temporary folders that do not outlive the process: the next process
// removes those of a process that was killed. Each process has one folder, whose name contains
// its number. While it lives it holds a lock in it, so that a reused number, or the same number
// in another container, does no harm.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"optcheck/internal/input"
)

const (
	prefix   = "optcheck-tmp-"
	lockName = "lock"
)

var mine struct {
	sync.Mutex
	roots map[string]*root // by the folder for temporary files
}

// root is this process's folder.
type root struct {
	dir  string
	lock *os.File
}

// Dir creates a new folder, whose name begins with kind. The caller removes it.
func Dir(kind string) (string, error) {
	mine.Lock()
	defer mine.Unlock()
	base := os.TempDir()
	r, known := mine.roots[base]
	if !known {
		sweep(base)
	}
	for range 2 {
		if r == nil {
			var err error
			if r, err = newRoot(base); err != nil {
				return "", err
			}
			if mine.roots == nil {
				mine.roots = map[string]*root{}
			}
			mine.roots[base] = r
		}
		dir, err := os.MkdirTemp(r.dir, kind+"-")
		if !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
		r.lock.Close() // somebody has cleaned up
		r = nil
	}
	return "", fmt.Errorf("%s: temporary folders vanish there", base)
}

// Close removes what this process has left.
func Close() {
	mine.Lock()
	defer mine.Unlock()
	for _, r := range mine.roots {
		os.RemoveAll(r.dir)
		r.lock.Close()
	}
	mine.roots = nil
}

func newRoot(base string) (*root, error) {
	dir, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	// The lock exists at once: nobody looks at the folder before it has its name.
	f, err := os.OpenFile(filepath.Join(dir, "new"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		if _, err = tryLock(f); err == nil {
			err = os.Rename(f.Name(), filepath.Join(dir, lockName))
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &root{dir, f}, nil
}

// sweep removes what dead processes have left.
func sweep(base string) {
	for _, path := range input.Glob(base, prefix+"*", lockName) {
		dir := filepath.Dir(path)
		if st, err := os.Lstat(dir); err != nil || !st.IsDir() || !ours(st) {
			continue
		}
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		f, err := input.Open(path)
		if err != nil {
			continue
		}
		if free, err := tryLock(f); err == nil && free {
			os.RemoveAll(dir)
		}
		f.Close()
	}
}
