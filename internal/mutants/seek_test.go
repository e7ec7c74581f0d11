package mutants

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRounds: a round more leaves those before it as they are, and there are never more than three.
func TestRounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	require.Equal(t, []uint64{0}, Rounds(0))
	require.Equal(t, []uint64{firstSeeds - 1}, Rounds(firstSeeds-1))
	for range 100 {
		seed := uint64(rnd.IntN(firstSeeds))
		for range 5 {
			before := Rounds(seed)
			seed = further(rnd, seed)
			now := Rounds(seed)
			require.LessOrEqual(t, len(now), 3)
			require.Greater(t, len(now), 1)
			require.Equal(t, before[:len(now)-1], now[:len(now)-1])
		}
	}
}

// TestSeek: tries are kept that notice mutants, one that takes too long or panics among them; stored ones that notice nothing are not.
func TestSeek(t *testing.T) {
	var number int
	var until int64
	seen := make([]bool, 5)
	is := func(n int) bool {
		seen[n] = true
		return n == number
	}
	fresh := 0
	x := &Tries{Sizes: [][]int{{1}, {1, 2}}, Fresh: func() { fresh++ }, Says: func(_ *testing.T, cell, kernel int, seed uint64) string {
		switch {
		case cell == 0:
			return "nothing"
		case kernel == 1 && is(1), kernel == 1 && seed%2 == 1 && is(2):
			return "wrong"
		case kernel == 0 && is(3):
			for time.Now().UnixNano() < until {
				time.Sleep(time.Millisecond)
			}
			panic("a mutant takes too long")
		case is(4) && number == 0:
			return "never"
		}
		return "right"
	}}
	dir := t.TempDir()
	o := Seeking{File: filepath.Join(dir, "tries"), Log: filepath.Join(dir, "log"), State: filepath.Join(dir, "state"),
		End: time.Now().Add(2 * time.Second), Most: time.Second}
	require.NoError(t, os.WriteFile(o.File, []byte("0 0 7 0\n1 1 8 0\n"), 0o600))
	x.Seek(t, &Alive{&number, seen, &until}, o)
	log, err := os.ReadFile(o.Log)
	require.NoError(t, err)
	require.Contains(t, string(log), "replayed 1\nkill 1 1 1 8\nreplayed 2\n")
	require.Positive(t, fresh)
	noticed, err := keep(o.File, string(log))
	require.NoError(t, err)
	require.Equal(t, 3, noticed)
	list, _, err := readTries(o.File)
	require.NoError(t, err)
	require.Contains(t, list, Try{1, 1, 8})
	require.NotContains(t, list, Try{0, 0, 7})

	x.Test(t, o.File, true)
	x.Test(t, o.File, false)
	text, err := os.ReadFile(o.File)
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("1 1 8 %08x\n", x.hash(t, Try{1, 1, 8})))

	// The next process goes on where one ended that a mutant has killed.
	require.NoError(t, os.WriteFile(o.Log, []byte("kill 1 1 1 8\nreplayed 2\n"), 0o600))
	require.NoError(t, os.WriteFile(o.State, []byte("       3"), 0o600))
	o.End = time.Now()
	x.Seek(t, &Alive{&number, seen, &until}, o)
	log, err = os.ReadFile(o.Log)
	require.NoError(t, err)
	require.NotContains(t, string(log), "kill 1 1 1 8\nreplayed 1")
	require.NotContains(t, string(log), "kill 3")

	require.NoError(t, os.WriteFile(o.File, []byte("x\n"), 0o600))
	_, _, err = readTries(o.File)
	require.ErrorContains(t, err, "tries:1")
}
