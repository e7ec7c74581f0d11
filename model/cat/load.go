package cat

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"optcheck/internal/input"
)

// LibraryPrefix marks the paths of files that come from an embedded library.
const LibraryPrefix = "<library>/"

// NewLoader returns a loader that looks in the given libraries first, in
// order, and then, if disk is set, in the folder of the including file. A
// file of a library includes only files of libraries.
func NewLoader(disk bool, libraries ...fs.FS) Loader {
	return func(name, from string) (string, string, error) {
		for _, lib := range libraries {
			b, err := fs.ReadFile(lib, name)
			if err == nil {
				return LibraryPrefix + name, string(b), nil
			}
		}
		inLib := len(from) >= len(LibraryPrefix) && from[:len(LibraryPrefix)] == LibraryPrefix
		if !disk || inLib {
			return "", "", fmt.Errorf("%q is not in the library: %w", name, fs.ErrNotExist)
		}
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(from), name)
		}
		src, err := readSource(path)
		return path, src, err
	}
}

// ReadFile reads and parses a model from disk; its includes are looked up in
// the libraries and in the folders of the including files.
func ReadFile(path string, libraries ...fs.FS) (*File, error) {
	src, err := readSource(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src, NewLoader(true, libraries...))
}

// readSource reads a regular file of bounded size.
func readSource(path string) (string, error) {
	src, err := input.ReadFile(path, maxSource)
	if errors.Is(err, input.ErrTooLarge) {
		err = fmt.Errorf("%s: %w", path, errTooLarge)
	}
	return string(src), err
}

var errTooLarge = errors.New("file is too large for a model")
