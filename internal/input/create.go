package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrNobodyReads: what is to be written is a pipe or a socket, and nobody reads it.
var ErrNobodyReads = errors.New("a pipe that nobody reads")

// ErrLink: what is to be written is a link that leads to a file, or nowhere, or a file with a second name. Who fills a folder chooses where it
// leads.
var ErrLink = errors.New("a link, or a file that has another name, too: name another file, or remove it")

// readerWait is how long the reader of a pipe may take to come: a shell starts both at once.
const readerWait = 2 * time.Second

// Create opens a file for writing, and empties it or makes it, as os.Create does. Of a pipe it does not wait for ever that
// somebody reads it, and it writes no file that a link leads to or that has a second name, but for those of the system (/dev/stdout).
func Create(path string) (*os.File, error) { return named(path, os.O_TRUNC) }

// CreateIn is Create below a folder.
func CreateIn(root *os.Root, path string, perm os.FileMode) (*os.File, error) {
	if _, err := replaceable(path, root.Lstat, root.Stat); err != nil {
		return nil, err
	}
	return output(root.OpenFile, path, os.O_TRUNC, perm)
}

// Append is Create for a file that keeps what it has.
func Append(path string) (*os.File, error) { return named(path, os.O_APPEND) }

func named(path string, flags int) (*os.File, error) {
	if _, err := Replaceable(path); err != nil {
		return nil, err
	}
	return output(os.OpenFile, path, flags, 0o666)
}

// Replaceable decides for all outputs what their names may stand for: for a file that has no other name, or none yet (regular),
// for a pipe, a device, or what the system calls a file. A link to a file or to nothing, and a file with a second name, are ErrLink.
func Replaceable(path string) (regular bool, err error) { return replaceable(path, os.Lstat, os.Stat) }

func replaceable(path string, lstat, stat func(string) (fs.FileInfo, error)) (regular bool, err error) {
	st, err := lstat(path)
	if err != nil {
		return true, nil // none yet, or who opens it says why not
	}
	second := false
	switch {
	case st.Mode().IsRegular():
		s, ok := st.Sys().(*syscall.Stat_t)
		second = ok && s.Nlink > 1
	case st.Mode()&fs.ModeSymlink != 0 && !ofSystem(path):
		to, err := stat(path)
		second = err != nil || to.Mode().IsRegular()
	}
	if second {
		return false, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	}
	return st.Mode().IsRegular(), nil
}

// ofSystem reports whether a path is one of the names of open files and devices.
func ofSystem(path string) bool {
	path = filepath.Clean(path)
	return strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
}

func output(open func(string, int, os.FileMode) (*os.File, error), path string, flags int, perm os.FileMode) (*os.File, error) {
	for start := time.Now(); ; time.Sleep(readerWait / 40) {
		f, err := open(path, os.O_WRONLY|os.O_CREATE|flags|syscall.O_NONBLOCK, perm)
		switch {
		case !errors.Is(err, syscall.ENXIO):
			return f, err
		case time.Since(start) > readerWait:
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNobodyReads}
		}
	}
}

// WriteFile writes a file that Create opens.
func WriteFile(path string, data []byte) error {
	f, err := Create(path)
	return write(f, err, data)
}

// WriteFileIn writes a file that CreateIn opens.
func WriteFileIn(root *os.Root, path string, data []byte, perm os.FileMode) error {
	f, err := CreateIn(root, path, perm)
	return write(f, err, data)
}

func write(f *os.File, err error, data []byte) error {
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
