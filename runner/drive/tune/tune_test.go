package tune

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chip is a made-up chip: locations of a test fall into the same bank as stress if their
// patches are congruent.
type chip struct {
	patch, spread int
	sequence      string
	cells         int
	now           time.Time
}

func (c *chip) measure(_ context.Context, x Cell) (Count, error) {
	c.cells++
	c.now = c.now.Add(time.Millisecond)
	weak := 2 // noise
	if (x.Location/c.patch+x.Distance/c.patch)%2 == 0 || x.Spread > 1 {
		weak = 50
	}
	if x.Sequence == c.sequence {
		weak *= 3
	}
	if !strings.Contains(x.Sequence, "ld") {
		weak /= 2
	}
	weak -= 2 * max(x.Spread-c.spread, c.spread-x.Spread)
	return Count{uint64(max(weak+x.Idiom, 0)), 1000}, nil
}

// TestTune: the procedure finds what a made-up chip has, within its time, and each of the
// searches goes through at least one distance.
func TestTune(t *testing.T) {
	for _, want := range []chip{{patch: 32, spread: 2, sequence: "ld st st ld"}, {patch: 64, spread: 7, sequence: "st ld"}} {
		for _, total := range []time.Duration{time.Millisecond, time.Minute} {
			c := want
			u := &Tuner{Measure: c.measure, Total: total, Epsilon: 5, Seed: 1, Now: func() time.Time { return c.now }}
			got, err := u.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, want.patch, got.Patch)
			require.True(t, got.Agreed)
			require.Equal(t, want.sequence, got.Sequence)
			require.Equal(t, want.spread, got.Spread)
			require.Len(t, got.Sequences, 62)
			if total < time.Second {
				require.Equal(t, [3]int{1, 1, 1}, got.Rounds)
			} else {
				require.Less(t, got.Took, 2*total)
				require.Greater(t, got.Rounds[0], 10)
			}
			var b strings.Builder
			require.NoError(t, got.WriteText(&b, "Chip"))
			require.Contains(t, b.String(), "Chip")
		}
	}
}

func TestTuneFails(t *testing.T) {
	bad := errors.New("device lost")
	u := &Tuner{Measure: func(context.Context, Cell) (Count, error) { return Count{}, bad }, Total: time.Hour}
	_, err := u.Run(t.Context())
	require.ErrorIs(t, err, bad)
}

func TestChoose(t *testing.T) {
	weak := func(runs ...int) (out []uint64) { // lengths of runs of noise and of patches
		for i, n := range runs {
			for range n {
				out = append(out, uint64(10*(i%2)))
			}
		}
		return out
	}
	list := []Patch{{0, 0, weak(4, 4, 8, 4, 12)}, {0, 32, weak(8, 8, 16)}, {0, 64, weak(0, 32)}}
	require.Equal(t, map[int]int{32: 2, 64: 1}, sizes(list, 0, 3))
	size, agreed := critical(list, 3)
	require.Equal(t, usualPatch, size)
	require.False(t, agreed, "two idioms show nothing")
	for idiom := 1; idiom < 3; idiom++ {
		list = append(list, Patch{idiom, 0, weak(8, 8, 16)})
	}
	size, agreed = critical(list, 3)
	require.Equal(t, 64, size)
	require.False(t, agreed, "one idiom says 32")

	require.Equal(t, "b", best([]Scores{{"a", []uint64{9, 1, 1}}, {"b", []uint64{8, 2, 2}}, {"c", []uint64{1, 1, 1}}}).Name, "two of three")
	require.Equal(t, "a", best([]Scores{{"c", []uint64{1, 1, 1}}, {"a", []uint64{2, 2, 2}}}).Name)
	cycle := []Scores{{"x", []uint64{3, 1, 2}}, {"y", []uint64{2, 3, 1}}, {"z", []uint64{1, 2, 3}}}
	require.Equal(t, "x", best(cycle).Name, "a cycle: the first of those with the best ranks")
	seen := map[int]bool{}
	for d := range coarse(16) {
		seen[d] = true
	}
	require.Len(t, seen, 16)
}
