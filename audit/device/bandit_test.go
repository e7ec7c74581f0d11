package device

import (
	"strconv"
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
		q := b.add(traits{shapes: []string{"", family, family + "x"}})
		arm := b.choose(q, can).arm
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
	q, seen := b.add(traits{shapes: []string{""}}), map[int]int{}
	for range 100 {
		arm := b.choose(q, func(a int) bool { return a != 3 }).arm
		seen[arm]++
		b.learn(q, arm, 0.04, false)
	}
	require.Len(t, seen, 4)
	require.Zero(t, seen[3])
	for arm, n := range seen {
		require.Greater(t, n, 5, "setting %d: %v", arm, seen)
	}
}

// TestBanditVain: a test that has waited in vain is tried under another setting, tests of its
// shape that have not are preferred, and so are those in whose place something was seen.
func TestBanditVain(t *testing.T) {
	b := newBandit(1, 2)
	both, second := func(int) bool { return true }, func(a int) bool { return a == 1 }
	at := func(place string) *quest {
		of := []string{"", "A", "A|x", "A|x|" + place}
		return b.add(traits{shapes: of, features: of, skeleton: strconv.Itoa(len(b.groups))}) // without relatives
	}
	prefers := func(x, y *quest) (n int) {
		for range 1000 {
			a := b.choose(x, second)
			if c := b.choose(y, second); a.rate > c.rate {
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
		arm := b.choose(old, both).arm
		other += arm
	}
	require.Greater(t, other, 950)
	for range 10 {
		q := at("together")
		for n := range 10 {
			b.learn(q, n%2, 0.04, false)
		}
	}
	require.Greater(t, prefers(at("apart"), at("together")), 950)
}

// TestBanditLike: for a test of a family not yet seen, the setting is tried first that pays for
// others of its synchronisation, not the one that pays for most tests.
func TestBanditLike(t *testing.T) {
	const arms, most, fenced = 8, 2, 5
	b := newBandit(1, arms)
	quest := func(name string) *quest {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		return b.quest(x)
	}
	learn := func(times, pays int, names ...string) {
		for n := range times {
			b.learn(quest(names[n%len(names)]), n/len(names)%arms, 0.04, n/len(names)%arms == pays)
		}
	}
	learn(800, most, "mp", "lb")
	learn(160, fenced, "mp+membar.gls", "lb+membar.gls")
	chosen := make([]int, arms)
	for range 1000 {
		arm := b.choose(quest("iriw+membar.gls"), func(int) bool { return true }).arm
		chosen[arm]++
	}
	require.Greater(t, chosen[fenced], 500, "%v", chosen)
}

// TestBanditUntried: a setting that is the only one to pay for a class is found there soon, although
// it has been tried in vain in another class for long, where another one pays.
func TestBanditUntried(t *testing.T) {
	const arms, elsewhere, pays = 20, 2, 13
	b := newBandit(1, arms)
	at := func(class string) *quest {
		return b.add(traits{shapes: []string{"", "s", "s|" + class, "s|" + class + "|0+1"}})
	}
	for n := range 100 * arms {
		b.learn(at("A"), n%arms, 0.04, n%arms == elsewhere)
	}
	found := make([]int, arms)
	for range 120 {
		q := at("B")
		arm := b.choose(q, func(int) bool { return true }).arm
		b.learn(q, arm, 0.04, arm == pays)
		found[arm]++
	}
	require.Greater(t, found[pays], 20, "%v", found)
}

// TestBanditFades: a setting that paid for the easy tests of a class, which are gone, is left for one
// that pays less, but for those that remain.
func TestBanditFades(t *testing.T) {
	b := newBandit(1, 2)
	at := func() *quest { return b.add(traits{shapes: []string{"", "s", "s|A"}}) }
	for range 400 {
		b.learn(at(), 0, 0.04, true)
	}
	for n := range 300 {
		b.learn(at(), 0, 0.04, false)
		b.learn(at(), 1, 0.04, n%8 == 0)
	}
	second := 0
	for range 1000 {
		arm := b.choose(at(), func(int) bool { return true }).arm
		second += arm
	}
	require.Greater(t, second, 900)
}

// TestOpen: what is looked for is what the first model allows that has an answer, and interleaving does not give.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		says []string // ptx, ptx-async, sc
		want bool
	}{
		{[]string{Allowed, Allowed, Forbidden}, true},
		{[]string{Allowed, Forbidden, Forbidden}, true},
		{[]string{Allowed, Allowed, Allowed}, false},
		{[]string{Forbidden, Allowed, Forbidden}, false},
		{[]string{Undecided, Allowed, Undecided}, true},
		{[]string{Undecided, Allowed, Allowed}, false},
		{[]string{Undecided, Forbidden, Undecided}, false},
		{[]string{Undecided, Undecided, Forbidden}, false},
		{[]string{Undecided, Undecided, Allowed}, false},
	} {
		r := &Judgement{Models: []string{"ptx", "ptx-async", sc}, cond: c.says}
		require.Equal(t, c.want, r.open(), c.says)
	}
}
