// Package whole writes files completely or not at all: a reader sees the old or the new
// content, also after a crash of this process.
package whole

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"optcheck/internal/input"
)

// File is written under another name, until Place. What is no file, but a pipe or a device, is written as it is.
type File struct {
	*os.File
	path, temp string // temp is "" if no other name is needed
}

// Create begins a file in an existing folder. What must not be replaced (input.Replaceable) is an error.
func Create(path string, perm os.FileMode) (*File, error) {
	return create(filepath.Dir(path), path, perm)
}

func create(dir, path string, perm os.FileMode) (*File, error) {
	regular, err := input.Replaceable(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path}
	if !regular {
		f.File, err = input.Append(path)
		return f, err
	}
	f.temp = filepath.Join(dir, fmt.Sprintf(".new-%s-%x", filepath.Base(path), rand.Uint64()))
	if f.File, err = os.OpenFile(f.temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm); err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.Unwrap(err)} // the other name is that of no file of the user's
	}
	return f, nil
}

// Place closes the file and gives it its name.
func (f *File) Place() error {
	if err := f.Close(); err != nil || f.temp == "" {
		return err
	}
	return os.Rename(f.temp, f.path)
}

// Discard removes what was not placed; behind Place it does nothing.
func (f *File) Discard() {
	f.Close()
	if f.temp != "" {
		os.Remove(f.temp)
	}
}

// Write replaces a file. Its folder must exist.
func Write(path string, data []byte, perm os.FileMode) error {
	return write(filepath.Dir(path), path, data, perm, false)
}

// WriteSynced is Write for content that must also survive a crash of the machine. The file is
// created in another folder of the same file system, so that leftovers of an interrupted call
// are there.
func WriteSynced(dir, path string, data []byte, perm os.FileMode) error {
	return write(dir, path, data, perm, true)
}

func write(dir, path string, data []byte, perm os.FileMode, sync bool) error {
	f, err := create(dir, path, perm)
	if err != nil {
		return err
	}
	defer f.Discard()
	_, err = f.Write(data)
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err != nil {
		return err
	}
	return f.Place()
}
