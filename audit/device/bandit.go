package device

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"optcheck/litmus"
)

// bandit chooses settings by what they have paid: outcomes seen first per second.
// For each shape of tests the rate of a setting has a gamma distribution whose prior
// is the rate for the next coarser kind of shape; the setting is chosen whose drawn
// rate is best (Thompson sampling). The easy tests of a shape are seen first, so that
// what was paid fades. Tests of one shape differ, too: the more often an outcome should
// have been seen by these rates and was not, under this setting or at all, the less is
// expected of it, and so much less as it is likely that it cannot be seen (see chances).
type bandit struct {
	src  *rand.PCG
	arms int
	paid map[string][]payment // by shape, by setting
	chances
}

// payment is what a setting has paid for some tests.
type payment struct{ seen, seconds float64 }

// quest is a test for whose outcome a bandit chooses settings.
type quest struct {
	traits
	kin
	paid   [][]payment // for its shapes
	spent  []float64   // seconds under each setting
	missed float64     // the outcomes that were to be expected by now
	seen   bool
}

func newBandit(seed uint64, arms int) *bandit {
	src := rand.NewPCG(seed, 19)
	return &bandit{src: src, arms: arms, paid: map[string][]payment{}, chances: newChances(rand.New(src))}
}

// quest returns a test's.
func (b *bandit) quest(t *litmus.Test) *quest { return b.add(traitsOf(t)) }

// add returns the quest for a test with some traits.
func (b *bandit) add(t traits) *quest {
	q := &quest{traits: t, spent: make([]float64, b.arms)}
	for _, s := range t.shapes {
		if b.paid[s] == nil {
			b.paid[s] = make([]payment, b.arms)
		}
		q.paid = append(q.paid, b.paid[s])
	}
	b.relate(q)
	return q
}

const (
	prior        = 1.0  // outcomes per second of a setting of which nothing is known: it is tried before one that has paid less
	priorSeconds = 0.3  // what is known of a coarser shape counts as so many seconds
	leastSeen    = 0.03 // a setting that has not paid keeps a small chance, as if it had shown so many outcomes
	variety      = 5.0  // what a test has not shown under a setting so soon, another one may show at once: expected per second, besides
	memory       = 3.0  // what was paid fades with so many seconds that a setting has had since
)

// less is the factor by which less is expected where so many outcomes were expected in vain.
func less(missed float64) float64 { return 1 / (1 + missed) }

// posterior is what is known of a setting for a test's finest shape by way of the coarser
// ones: outcomes seen in so many seconds.
func (q *quest) posterior(arm int) (seen, seconds float64) {
	rate := prior
	for _, of := range q.paid {
		seen, seconds = of[arm].seen+rate*priorSeconds, of[arm].seconds+priorSeconds
		rate = seen / seconds
	}
	return seen, seconds
}

// choice is a setting for a test's next slice, and why.
type choice struct {
	arm    int
	chance float64 // that the outcome can be seen
	rate   float64 // outcomes to be expected per second
}

// choose returns the best setting for a test.
func (b *bandit) choose(q *quest, can func(int) bool) choice {
	best := choice{rate: -1, chance: b.chance(q)}
	for arm := range b.arms {
		if !can(arm) {
			continue
		}
		seen, seconds := q.posterior(arm)
		rate := distuv.Gamma{Alpha: max(seen, leastSeen), Beta: seconds, Src: b.src}.Rand()
		if rate *= less(q.spent[arm] * (seen/seconds + variety)); rate > best.rate {
			best.rate, best.arm = rate, arm
		}
	}
	best.rate *= best.chance * less(q.missed)
	return best
}

// learn notes what a setting has paid for a test.
func (b *bandit) learn(q *quest, arm int, seconds float64, seen bool) {
	if q.missed == 0 {
		b.tried = append(b.tried, q)
	}
	paid, in := q.posterior(arm)
	q.spent[arm] += seconds
	q.missed += seconds * paid / in
	one := 0.0
	if seen {
		one, q.seen = 1, true
	}
	fade := math.Exp(-seconds / memory)
	for _, of := range q.paid {
		of[arm] = payment{of[arm].seen*fade + one, of[arm].seconds*fade + seconds}
	}
	b.fit()
}
