package audit

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

// someTests are tests of the corpora, generated ones, and one read from a file
// whose condition holds everything that conditions can hold.
func someTests(t testing.TB, every int) []*litmus.Test {
	t.Helper()
	tests := slices.Concat(corpus.Tests(), corpus.OpenCL())
	for _, preset := range []string{"paper", "ptx", "scopes"} {
		g, err := cycle.Preset(preset)
		require.NoError(t, err)
		n := 0
		for x := range g.Tests() {
			if n++; n%every == 0 {
				tests = append(tests, x)
			}
		}
	}
	mp, ok := corpus.Lookup("mp")
	require.True(t, ok)
	for i, e := range []litmus.Expr{nil, litmus.True{}, litmus.Not{X: litmus.True{}}, litmus.Or{List: []litmus.Expr{litmus.And{List: []litmus.Expr{mp.Cond.Expr, litmus.True{}}}, mp.Cond.Expr}}} {
		x, err := litmus.Parse(fmt.Sprintf("folder/file-%d.litmus", i), mp.Append(nil))
		require.NoError(t, err)
		x.Cond.Expr = e
		tests = append(tests, x)
	}
	return tests
}

// TestPackedTests: what is unpacked is what was packed, wherever it is cut.
func TestPackedTests(t *testing.T) {
	tests := someTests(t, 150)
	require.Greater(t, len(tests), 3*blockTests)
	require.NotZero(t, len(tests)%blockTests)
	p, err := NewPacked()
	require.NoError(t, err)
	for i, x := range tests {
		require.NoError(t, p.Add(x, x.Hash(), fmt.Sprint("preset ", i), "file"))
	}
	require.Equal(t, len(tests), p.Len())
	all, err := p.Tests()
	require.NoError(t, err)
	for i := range tests {
		tests[i] = tests[i].Canonical()
	}
	require.Equal(t, tests, all)
	for _, c := range [][2]int{{0, 1}, {0, blockTests}, {1, blockTests}, {blockTests - 1, 2}, {blockTests, 2 * blockTests}, {17, 150}, {len(tests) - 1, 1}, {len(tests) - 70, 70}} {
		some, err := p.unpack(c[0], c[1])
		require.NoError(t, err)
		require.Len(t, some, c[1])
		for i, x := range some {
			require.Equal(t, packedTest{tests[c[0]+i], fmt.Sprint("preset ", c[0]+i), "file"}, x)
			require.Equal(t, tests[c[0]+i].Name, p.Name(c[0]+i))
		}
	}
	p.blocks[1] = p.blocks[1][:len(p.blocks[1])/2]
	_, err = p.unpack(0, 100)
	require.ErrorContains(t, err, "packed tests")
}

// retained returns what a value keeps of the heap.
func retained(t testing.TB, build func() any) float64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := build()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// TestPackedTestsAreSmall: each further generated test takes at most 300 bytes,
// and less than a tenth of what it takes unpacked.
func TestPackedTestsAreSmall(t *testing.T) {
	g, err := cycle.Preset("paper")
	require.NoError(t, err)
	first := func(n int) (list []*litmus.Test) {
		for x := range g.Tests() {
			if list = append(list, x); len(list) == n {
				break
			}
		}
		return list
	}
	packed := func(n int) float64 {
		return retained(t, func() any {
			p, err := NewPacked()
			require.NoError(t, err)
			for _, x := range first(n) {
				require.NoError(t, p.Add(x, x.Hash(), "paper", ""))
			}
			require.Equal(t, n, p.Len())
			return p
		})
	}
	const few, many = 1024, 5120
	each := (packed(many) - packed(few)) / (many - few)
	whole := retained(t, func() any { return first(few) }) / few
	t.Logf("a test takes %.0f bytes packed, %.0f unpacked", each, whole)
	require.Greater(t, each, 50.0, "nothing was measured")
	require.Less(t, each, 300.0)
	require.Less(t, each, whole/10)
}
