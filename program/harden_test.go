package program

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wrongWithout is a program that is wrong without some fences: in a run with a
// probability.
func wrongWithout(needed []int, rate float64, rnd *rand.Rand) func(context.Context, []int, string, Limit) (*Result, error) {
	return func(_ context.Context, fences []int, what string, limit Limit) (*Result, error) {
		r := &Result{Key: Key{What: what}}
		missing := slices.ContainsFunc(needed, func(n int) bool { return !slices.Contains(fences, n) })
		for r.Runs < 1000000 && !limit.reached(&r.Count) {
			o := Outcome{}
			if missing && rnd.Float64() < rate {
				o = Outcome{Wrong, "wrong"}
			}
			r.add(o)
			r.Seconds += 0.001
		}
		return r, nil
	}
}

func numbers(n int) (list []int) {
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

// TestHardenFinds: where each check shows what is missing, what is left are the fences
// that are needed, whichever they are.
func TestHardenFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		sites := numbers(1 + rnd.IntN(40))
		needed := []int{}
		for _, s := range sites {
			if rnd.IntN(8) == 0 {
				needed = append(needed, s)
			}
		}
		h := Hardening{Check: wrongWithout(needed, 1, rnd), Iterations: 4, Stable: Limit{Runs: 100}, Rounds: 3}
		out, err := h.Run(t.Context(), sites)
		require.NoError(t, err)
		require.Equal(t, needed, out.Fences)
		require.Equal(t, 1, out.Rounds)
		require.True(t, out.Stable)
		require.Len(t, out.Needed, len(needed))
		for _, n := range needed {
			require.Positive(t, out.Needed[n].Errors)
			require.NotContains(t, out.Needed[n].Fences, n)
		}
	}
}

// TestHardenRare: where a wrong run is rare, rounds with more runs find what the first
// ones miss.
func TestHardenRare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	again := 0
	for range 20 {
		var last uint64
		h := Hardening{Check: wrongWithout([]int{3, 7}, 0.005, rnd), Iterations: 32, Stable: Limit{Runs: 20000}, Rounds: 12,
			Told: func(s Step) {
				if s.Phase == "halves" {
					require.GreaterOrEqual(t, s.Runs+s.Errors*1000000, last)
				}
			}}
		out, err := h.Run(t.Context(), numbers(10))
		require.NoError(t, err)
		require.Subset(t, out.Fences, []int{3, 7})
		require.EqualValues(t, 32<<(out.Rounds-1), out.Runs)
		again += out.Rounds - 1
	}
	require.Positive(t, again, "a rare error was never missed")
}

// TestHardenText: the first check is of all fences, the next of the second half alone
// (without F1, as the paper's text has it), and the last of the result for the time of
// stability.
func TestHardenText(t *testing.T) {
	var steps []Step
	rnd := rand.New(rand.NewPCG(1, 1))
	h := Hardening{Check: wrongWithout([]int{2}, 1, rnd), Iterations: 2, Stable: Limit{Time: time.Second}, Rounds: 1,
		Told: func(s Step) { steps = append(steps, s) }}
	_, err := h.Run(t.Context(), numbers(4))
	require.NoError(t, err)
	type brief struct {
		phase  string
		fences []int
		wrong  bool
	}
	var got []brief
	for _, s := range steps {
		got = append(got, brief{s.Phase, s.Fences, s.Errors > 0})
	}
	require.Equal(t, []brief{
		{"all", []int{1, 2, 3, 4}, false},
		{"halves", []int{3, 4}, true},  // without 1, 2
		{"halves", []int{1, 2}, false}, // without 3, 4
		{"halves", []int{2}, false},
		{"singles", []int{}, true},
		{"stability", []int{2}, false},
	}, got)
	require.GreaterOrEqual(t, steps[5].Seconds, 1.0)
}

// TestHardenNot: a program that fences do not help, and one that no round makes stable.
func TestHardenNot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	h := Hardening{Check: wrongWithout([]int{99}, 1, rnd), Iterations: 2, Stable: Limit{Runs: 10}, Rounds: 3}
	_, err := h.Run(t.Context(), numbers(4))
	require.ErrorIs(t, err, ErrUnstable)
	require.ErrorContains(t, err, "fences do not help")
	h = Hardening{Check: wrongWithout([]int{99}, 1e-3, rnd), Iterations: 1, Stable: Limit{Runs: 1000000}, Rounds: 3}
	out, err := h.Run(t.Context(), numbers(4))
	require.ErrorIs(t, err, ErrUnstable)
	require.False(t, out.Stable)
	require.Equal(t, 3, out.Rounds)
}
