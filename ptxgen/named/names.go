package named

import (
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/litmus"
)

// Names knows tests by their names.
type Names struct {
	// Renamed are the new names of tests that had that of a different one.
	Renamed []string

	hashes map[string]string  // by name
	apart  map[[2]string]bool // name as written and hash of those that have another one now
}

// NewNames returns Names that knows no test.
func NewNames() *Names { return &Names{hashes: map[string]string{}, apart: map[[2]string]bool{}} }

// Take notes a test and reports whether it is known. A different test of a known
// name is called by its file, too, or if the file has that name by its folder.
func (n *Names) Take(o Origin, t *litmus.Test, hash string) (known bool, err error) {
	old, ok := n.hashes[t.Name]
	switch written := [2]string{t.Name, hash}; {
	case ok && old == hash, n.apart[written]:
		return true, nil
	case ok && o.File == "":
		return false, fmt.Errorf("two different tests have the name %s", t.Name)
	case ok:
		n.apart[written] = true
		by := fileStem(o.File)
		if by == t.Name {
			by = fileStem(filepath.Dir(o.File))
		}
		name := t.Name + "~" + by
		for i := 2; n.hashes[name] != ""; i++ {
			name = fmt.Sprintf("%s~%s~%d", t.Name, by, i)
		}
		t.Name = name
		n.Renamed = append(n.Renamed, name)
	}
	n.hashes[t.Name] = hash
	return false, nil
}

// fileStem is the name of a file without folder and ending, as it can stand in the
// name of a test.
func fileStem(path string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_.+-", c)) {
			return c
		}
		return '_'
	}, strings.TrimSuffix(filepath.Base(path), ".litmus"))
}
