package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
)

// TestBandit: the setting that pays for a family gets the time, and one that pays for
// another family does not.
func TestBandit(t *testing.T) {
	b := newBandit(1, 6)
	can := func(int) bool { return true }
	pays := map[string]int{"A": 2, "B": 4}
	chosen := map[string][]int{"A": make([]int, 6), "B": make([]int, 6)}
	for n := range 600 {
		family := string("AB"[n%2])
		q := &quest{shapes: []string{"", family, family + "x"}, spent: make([]float64, 6)}
		arm, _ := b.choose(q, can)
		chosen[family][arm]++
		b.learn(q, arm, 0.04, arm == pays[family])
	}
	for family, arm := range pays {
		require.Greater(t, chosen[family][arm], 150, "%v", chosen)
	}
}

// TestBanditVariety: a test that has waited in vain under one setting is tried under
// the others, and a setting that a test cannot use is not chosen.
func TestBanditVariety(t *testing.T) {
	b := newBandit(1, 5)
	q, seen := &quest{shapes: []string{""}, spent: make([]float64, 5)}, map[int]int{}
	for range 100 {
		arm, _ := b.choose(q, func(a int) bool { return a != 3 })
		seen[arm]++
		b.learn(q, arm, 0.04, false)
	}
	require.Len(t, seen, 4)
	require.Zero(t, seen[3])
	for arm, n := range seen {
		require.Greater(t, n, 5, "setting %d: %v", arm, seen)
	}
}

// TestShapes: tests of one shape differ in places and names only.
func TestShapes(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	require.Equal(t, []string{"", "WW+RR"}, Shapes(x)[:2])
	y, _ := corpus.Lookup("mp+relaxed.gpus")
	require.Equal(t, Shapes(x)[1], Shapes(y)[1])
	require.NotEqual(t, Shapes(x)[2], Shapes(y)[2])
}

// TestBanditVain: a test that has waited in vain is tried under another setting, tests of its
// shape that have not are preferred, and so are those in whose place something was seen.
func TestBanditVain(t *testing.T) {
	b := newBandit(1, 2)
	both, second := func(int) bool { return true }, func(a int) bool { return a == 1 }
	at := func(place string) *quest {
		return &quest{shapes: []string{"", "A"}, place: place, spent: make([]float64, 2)}
	}
	prefers := func(x, y *quest) (n int) {
		for range 1000 {
			_, a := b.choose(x, second)
			if _, c := b.choose(y, second); a > c {
				n++
			}
		}
		return n
	}
	for n := range 400 {
		b.learn(at("apart"), n%2, 0.04, n%4 < 2) // 12 a second under each
	}
	old := at("apart")
	for range 10 {
		b.learn(old, 0, 0.04, false)
	}
	require.Greater(t, prefers(at("apart"), old), 950, "it was to be seen five times")
	require.Greater(t, prefers(at("elsewhere"), old), 950, "nothing is known of the place")
	other := 0
	for range 1000 {
		arm, _ := b.choose(old, both)
		other += arm
	}
	require.Greater(t, other, 950)
	for range 50 {
		b.learn(at("together"), 0, 0.04, false)
	}
	require.Greater(t, prefers(at("apart"), at("together")), 950)
}
