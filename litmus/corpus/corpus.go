// Package corpus holds the litmus tests that come with optcheck: the tests of
// the 2015 study of weak GPU behaviour (seed 000, Sec. 1, 3 and 5), the same
// shapes in present-day PTX at each scope, shapes with manufactured
// dependencies, and a few in the dialect of present-day model checkers.
//
// It gives the tests as data only; it says nothing of their outcomes.
package corpus

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"optcheck/litmus"
)

// FS holds the tests as files tests/NAME.litmus.
//
//go:embed tests/*.litmus
var FS embed.FS

const dir = "tests"

var load = sync.OnceValue(func() []*litmus.Test {
	entries, err := FS.ReadDir(dir)
	if err != nil {
		panic(fmt.Sprintf("corpus: %v", err)) // the files are part of the binary
	}
	var list []*litmus.Test
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		src, err := FS.ReadFile(file)
		if err != nil {
			panic(fmt.Sprintf("corpus: %v", err))
		}
		t, err := litmus.Parse(file, src)
		if err != nil {
			panic(fmt.Sprintf("corpus: %v", err))
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *litmus.Test) int { return strings.Compare(a.Name, b.Name) })
	return list
})

// Tests returns all tests, sorted by name. The list is a copy; the tests are
// shared and must not be changed (Clone them).
func Tests() []*litmus.Test { return slices.Clone(load()) }

// Lookup returns the test of that name.
func Lookup(name string) (*litmus.Test, bool) {
	list := load()
	i, ok := slices.BinarySearchFunc(list, name, func(t *litmus.Test, n string) int { return strings.Compare(t.Name, n) })
	if !ok {
		return nil, false
	}
	return list[i], true
}
