package mutants

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// Tries are inputs of a package that its tests make of seeds: each cell has kernels, which a seed changes at random. A function
// sought(*testing.T) *Tries of the package's tests returns them.
type Tries struct {
	Sizes [][]int                                                  // of each cell's kernels, in instructions
	Says  func(t *testing.T, cell, kernel int, seed uint64) string // all that the package says of a try
	Fresh func()                                                   // forgets what a mutant may have left behind; nil: nothing is left
}

// Try is one of them.
type Try struct {
	Cell, Kernel int
	Seed         uint64
}

// A seed has up to three rounds of changes: the first one's seed is below firstSeeds, each has seedBits.
const (
	seedBits   = 21
	firstSeeds = 2_000_000
)

// Rounds are the seeds of a seed's rounds of changes. There is always a first one.
func Rounds(seed uint64) []uint64 {
	list := []uint64{seed % (1 << seedBits)}
	for seed >>= seedBits; seed > 0; seed >>= seedBits {
		list = append(list, seed%(1<<seedBits))
	}
	return list
}

// further is a seed with one more round, or with another last one.
func further(rnd *rand.Rand, seed uint64) uint64 {
	n := len(Rounds(seed))
	if n == 3 || n == 2 && rnd.IntN(3) == 0 {
		n--
		seed %= 1 << (n * seedBits)
	}
	return seed | uint64(1+rnd.IntN(1<<seedBits-1))<<(n*seedBits)
}

func (x *Tries) hash(t *testing.T, y Try) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, x.Says(t, y.Cell, y.Kernel, y.Seed))
	return h.Sum32()
}

// readTries reads a file of tries, one a line.
func readTries(file string) (list []Try, lines []string, err error) {
	text, err := input.ReadFile(file, 16<<20)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var y Try
		if _, err := fmt.Sscan(line, &y.Cell, &y.Kernel, &y.Seed); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", file, len(lines)+1, err)
		}
		list, lines = append(list, y), append(lines, strings.TrimSpace(line))
	}
	return list, lines, nil
}

// Test compares what is said of the tries of a file with what was said of them before, or writes it.
func (x *Tries) Test(t *testing.T, file string, update bool) {
	t.Helper()
	list, lines, err := readTries(file)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	var out strings.Builder
	for i, y := range list {
		now := fmt.Sprintf("%d %d %d %08x", y.Cell, y.Kernel, y.Seed, x.hash(t, y))
		if !update {
			require.Equal(t, lines[i], now, "line %d of %s", i+1, file)
		}
		fmt.Fprintln(&out, now)
	}
	if update {
		require.NoError(t, input.WriteFile(file, []byte(out.String())))
	}
}
