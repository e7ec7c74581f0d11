package device

import (
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"optcheck/litmus"
)

// bandit chooses settings by what they have paid: outcomes seen first per second.
// For each shape of tests the rate of a setting has a gamma distribution whose prior
// is the rate for the next coarser kind of shape; the setting is chosen whose drawn
// rate is best (Thompson sampling), less the more time the same test has
// spent under it in vain.
type bandit struct {
	src  *rand.PCG
	arms int
	paid map[string][]payment
}

// payment is what a setting has paid for some tests.
type payment struct{ seen, seconds float64 }

func newBandit(seed uint64, arms int) *bandit {
	return &bandit{src: rand.NewPCG(seed, 19), arms: arms, paid: map[string][]payment{}}
}

// What is known of a coarser shape counts as so many seconds; patience is the time
// under a setting after which a test's chances there are taken to have halved.
const (
	priorSeconds = 0.2
	patience     = 0.1
)

// prior is the rate in outcomes per second, with its weight in seconds, of a setting
// of which nothing is known: it is tried before one that has paid less.
const prior = 5.0

// posterior is what is known of a setting for a shape by way of the coarser ones:
// outcomes seen in so many seconds.
func (b *bandit) posterior(shapes []string, arm int) (seen, seconds float64) {
	rate := prior
	for _, s := range shapes {
		p := payment{}
		if list := b.paid[s]; list != nil {
			p = list[arm]
		}
		seen, seconds = p.seen+rate*priorSeconds, p.seconds+priorSeconds
		rate = seen / seconds
	}
	return seen, seconds
}

// choose returns a setting for a test of some shapes, the coarsest first, that has
// spent so many seconds under each, and its prospects.
func (b *bandit) choose(shapes []string, spent []float64, can func(int) bool) (at int, best float64) {
	best = -1
	for arm := range b.arms {
		if !can(arm) {
			continue
		}
		seen, seconds := b.posterior(shapes, arm)
		rate := distuv.Gamma{Alpha: max(seen, 0.1), Beta: seconds, Src: b.src}.Rand() / (1 + spent[arm]/patience)
		if rate > best {
			best, at = rate, arm
		}
	}
	return at, best
}

// learn notes what a setting has paid.
func (b *bandit) learn(shapes []string, arm int, seconds float64, seen bool) {
	for _, s := range shapes {
		if b.paid[s] == nil {
			b.paid[s] = make([]payment, b.arms)
		}
		p := &b.paid[s][arm]
		p.seconds += seconds
		if seen {
			p.seen++
		}
	}
}

// Shapes are the kinds of test that a test is of, from all to those of its own
// accesses and fences: names, places and values apart.
func Shapes(t *litmus.Test) []string {
	var family, exact []string
	for i := range t.Threads {
		f, x := "", ""
		for j := range t.Threads[i].Body {
			in := &t.Threads[i].Body[j]
			switch {
			case in.Op == litmus.OpLd:
				f += "R"
			case in.Op == litmus.OpSt:
				f += "W"
			case in.Op.IsAccess():
				f += "U"
			case in.Op != litmus.OpMembar && in.Op != litmus.OpFence:
				x += in.Op.String() + ";"
				continue
			}
			x += in.Op.String() + in.Sem.String() + in.Scope.String() + ";"
		}
		family, exact = append(family, f), append(exact, x)
	}
	return []string{"", strings.Join(family, "+"), strings.Join(exact, "|")}
}
