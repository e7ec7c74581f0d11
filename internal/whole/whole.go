// Package whole writes files that are there as a whole or not at all: who reads one
// sees the old or the new content, also after a crash of this process.
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

// WriteSynced is Write for what must also be there after a crash of the machine.
// The file is made in another folder of the same file system, so that what an
// interrupted call leaves lies there.
func WriteSynced(dir, path string, data []byte, perm os.FileMode) error {
	return write(dir, path, data, perm, true)
}

func write(dir, path string, data []byte, perm os.FileMode, sync bool) error {
	f, err := os.CreateTemp(dir, ".new-"+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, if it got its name
	_, err = f.Write(data)
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Chmod(perm), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
