// Package whole writes files completely or not at all: a reader sees the old or the new
// content, also after a crash of this process.
package whole

import (
	"errors"
	"os"
	"path/filepath"
)

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
	f, err := os.CreateTemp(dir, ".new-"+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing if the file got its name
	_, err = f.Write(data)
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Chmod(perm), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
