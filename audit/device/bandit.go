package device

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"optcheck/litmus"
)

// bandit chooses settings by what they have paid: outcomes seen first per second.
// For each shape of tests the rate of a setting has a gamma distribution whose prior
// is the rate for the next coarser kind of shape; the setting is chosen whose drawn
// rate is best (Thompson sampling). Tests of one shape differ: the more often an outcome
// should have been seen by these rates and was not, in this test, under this setting or in
// tests of the same places, the less is expected of it.
type bandit struct {
	src    *rand.PCG
	arms   int
	paid   map[string][]payment
	places map[string]*record
}

// payment is what a setting has paid for some tests.
type payment struct{ seen, seconds float64 }

// record compares what was seen with what was to be expected.
type record struct{ seen, expected float64 }

// factor is how much more is seen than expected.
func (r record) factor() float64 { return (r.seen + doubt) / (r.expected + doubt) }

// quest is a test for whose outcome a bandit chooses settings.
type quest struct {
	shapes []string // the coarsest first
	place  string   // tests with the same one have the same threads, in the same CTAs
	spent  []float64
	vain   record
}

func newBandit(seed uint64, arms int) *bandit {
	return &bandit{src: rand.NewPCG(seed, 19), arms: arms, paid: map[string][]payment{}, places: map[string]*record{}}
}

// quest returns a test's.
func (b *bandit) quest(t *litmus.Test) quest {
	shapes := Shapes(t)
	q := quest{shapes: shapes, place: shapes[1], spent: make([]float64, b.arms)}
	for i := range t.Threads {
		k := slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Place.SameScope(t.Threads[i].Place, litmus.ScopeCTA) })
		q.place += " " + strconv.Itoa(k)
	}
	return q
}

// What is known of a coarser shape counts as so many seconds, and a record as if doubt
// outcomes had been expected and seen, besides.
const (
	priorSeconds = 0.3
	doubt        = 2
)

// prior is the rate in outcomes per second of a setting of which nothing is known; it is tried
// before one that has paid less. One that has not paid keeps a small chance, as if it had
// shown leastSeen outcomes.
const (
	prior     = 1.0
	leastSeen = 0.03
)

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

// choose returns a setting for a test and its prospects.
func (b *bandit) choose(q *quest, can func(int) bool) (at int, best float64) {
	best = -1
	for arm := range b.arms {
		if !can(arm) {
			continue
		}
		seen, seconds := b.posterior(q.shapes, arm)
		rate := distuv.Gamma{Alpha: max(seen, leastSeen), Beta: seconds, Src: b.src}.Rand()
		if rate *= (record{expected: q.spent[arm] * seen / seconds}).factor(); rate > best {
			best, at = rate, arm
		}
	}
	best *= q.vain.factor()
	if r := b.places[q.place]; r != nil {
		best *= r.factor()
	}
	return at, best
}

// learn notes what a setting has paid for a test.
func (b *bandit) learn(q *quest, arm int, seconds float64, seen bool) {
	r := b.places[q.place]
	if r == nil {
		r = &record{}
		b.places[q.place] = r
	}
	one := 0.0
	if seen {
		one = 1
	}
	paid, in := b.posterior(q.shapes, arm)
	q.spent[arm] += seconds
	q.vain.expected += seconds * paid / in
	r.expected += seconds * paid / in
	r.seen += one
	for _, s := range q.shapes {
		if b.paid[s] == nil {
			b.paid[s] = make([]payment, b.arms)
		}
		b.paid[s][arm].seconds += seconds
		b.paid[s][arm].seen += one
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
