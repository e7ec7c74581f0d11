// Package corpus contains the litmus tests that come with optcheck: the tests of the 2015 study
// of weak GPU behaviour (Alglave et al., ASPLOS 2015, Sec. 1, 3 and 5), the same shapes in
// present-day PTX at each scope, shapes with artificial dependencies, and a few in the dialect
// of present-day model checkers; and the tests of the study in OpenCL C.
//
// It provides the tests as data only; it says nothing about their outcomes.
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

// FS holds the tests as files tests/NAME.litmus, and those in OpenCL C as
// opencl/NAME.litmus; those with what only ptx-async judges as async/NAME.litmus.
//
//go:embed tests/*.litmus opencl/*.litmus async/*.litmus
var FS embed.FS

var (
	load   = sync.OnceValue(func() []*litmus.Test { return loadDir("tests") })
	loadCL = sync.OnceValue(func() []*litmus.Test { return loadDir("opencl") })

	loadAsync = sync.OnceValue(func() []*litmus.Test { return loadDir("async") })
)

func loadDir(dir string) []*litmus.Test {
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
}

// Tests returns all tests, sorted by name. The list is a copy; the tests are
// shared and must not be changed (Clone them).
func Tests() []*litmus.Test { return slices.Clone(load()) }

// OpenCL returns the tests of the 2015 study in OpenCL C, sorted by name: plain,
// volatile and atomic accesses, with and without fences. Their names begin with
// "cl-". As with Tests, they must not be changed.
func OpenCL() []*litmus.Test { return slices.Clone(loadCL()) }

// Async returns the tests with asynchronous copies, mbarriers, barriers of clusters, distributed shared memory
// and accesses of several sizes, sorted by name. The doc string of each says what ptx-async says of its condition, and
// which section of the PTX ISA decides it, if one does. As with Tests, they must not be changed.
func Async() []*litmus.Test { return slices.Clone(loadAsync()) }

// Lookup returns the test with a name, of any of the lists.
func Lookup(name string) (*litmus.Test, bool) {
	for _, list := range [][]*litmus.Test{load(), loadCL(), loadAsync()} {
		if i, ok := slices.BinarySearchFunc(list, name, func(t *litmus.Test, n string) int { return strings.Compare(t.Name, n) }); ok {
			return list[i], true
		}
	}
	return nil, false
}
