package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"optcheck/internal/input"
)

// Linked names the libraries that the release links to what it compiles, by a hash: they
// can come, go and change without a compiler's build saying so.
func (l *LLVM) Linked() (string, error) {
	if l.Libclc == "" {
		return "no libclc", nil
	}
	sum, err := clcHash(l.Libclc)
	if err != nil {
		return "", fmt.Errorf("libclc of %s: %w", l.Clang, err)
	}
	return "libclc " + sum, nil
}

// clcHashes remembers the hashes of libclc's folders as they were when they were
// first asked for.
var clcHashes sync.Map

// clcHash hashes the bitcode of a folder that AMD's targets may link: the names,
// many of which are links to one file, and the files.
func clcHash(dir string) (string, error) {
	if h, ok := clcHashes.Load(dir); ok {
		return h.(string), nil
	}
	entries, err := input.ReadDir(dir) // sorted
	if err != nil {
		return "", err
	}
	all, files := sha256.New(), map[string][]byte{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".bc") || !strings.Contains(name, "amdgcn") && !strings.Contains(name, "r600") {
			continue
		}
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue // a link that leads nowhere is no library
		}
		if files[path] == nil {
			if files[path], err = hashFile(path); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(all, "%q %x\n", name, files[path])
	}
	h := hex.EncodeToString(all.Sum(nil)[:6])
	clcHashes.Store(dir, h)
	return h, nil
}

func hashFile(path string) ([]byte, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}
