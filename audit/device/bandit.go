package device

import (
	"math"
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
// rate is best (Thompson sampling). The easy tests of a shape are seen first, so that
// what was paid fades; and no setting is written off for a class before it has been
// tried in it. Tests of one shape differ, too: the more often an outcome should have
// been seen by these rates and was not, in this test, under this setting or in tests
// of the finest shape, the less is expected of it.
type bandit struct {
	src  *rand.PCG
	arms int
	paid map[string][]payment
	vain map[string]*record // of finest shapes
}

// payment is what a setting has paid for some tests.
type payment struct {
	seen, seconds float64
	tries         int
}

// record compares what was seen with what was to be expected.
type record struct{ seen, expected float64 }

// factor is how much more is seen than expected.
func (r record) factor() float64 { return (r.seen + doubt) / (r.expected + doubt) }

// quest is a test for whose outcome a bandit chooses settings.
type quest struct {
	shapes []string // the coarsest first
	spent  []float64
	vain   record
}

func newBandit(seed uint64, arms int) *bandit {
	return &bandit{src: rand.NewPCG(seed, 19), arms: arms, paid: map[string][]payment{}, vain: map[string]*record{}}
}

// quest returns a test's.
func (b *bandit) quest(t *litmus.Test) quest {
	return quest{shapes: Shapes(t), spent: make([]float64, b.arms)}
}

// class is the shape in which each setting is tried.
func (q *quest) class() string { return q.shapes[min(2, len(q.shapes)-1)] }

// finest is the finest shape.
func (q *quest) finest() string { return q.shapes[len(q.shapes)-1] }

// What is known of a coarser shape counts as so many seconds, and a record as if doubt
// outcomes had been expected and seen, besides. What was paid fades with the seconds
// that a setting has had since.
const (
	priorSeconds = 0.3
	doubt        = 1
	memory       = 3.0
)

// prior is the rate in outcomes per second of a setting of which nothing is known; it is tried
// before one that has paid less. One that has not paid keeps a small chance, as if it had
// shown leastSeen outcomes, and before leastTries tries in a class a good one.
const (
	prior      = 1.0
	leastSeen  = 0.03
	untried    = 1.0
	leastTries = 2
)

// payment is what a setting has paid for a shape.
func (b *bandit) payment(shape string, arm int) payment {
	if list := b.paid[shape]; list != nil {
		return list[arm]
	}
	return payment{}
}

// posterior is what is known of a setting for a shape by way of the coarser ones:
// outcomes seen in so many seconds.
func (b *bandit) posterior(shapes []string, arm int) (seen, seconds float64) {
	rate := prior
	for _, s := range shapes {
		p := b.payment(s, arm)
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
		least := leastSeen
		if b.payment(q.class(), arm).tries < leastTries {
			least = untried
		}
		rate := distuv.Gamma{Alpha: max(seen, least), Beta: seconds, Src: b.src}.Rand()
		if rate *= (record{expected: q.spent[arm] * seen / seconds}).factor(); rate > best {
			best, at = rate, arm
		}
	}
	best *= q.vain.factor()
	if r := b.vain[q.finest()]; r != nil {
		best *= r.factor()
	}
	return at, best
}

// learn notes what a setting has paid for a test.
func (b *bandit) learn(q *quest, arm int, seconds float64, seen bool) {
	r := b.vain[q.finest()]
	if r == nil {
		r = &record{}
		b.vain[q.finest()] = r
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
	fade := math.Exp(-seconds / memory)
	for _, s := range q.shapes {
		if b.paid[s] == nil {
			b.paid[s] = make([]payment, b.arms)
		}
		p := &b.paid[s][arm]
		*p = payment{p.seen*fade + one, p.seconds*fade + seconds, p.tries + 1}
	}
}

// Shapes are the kinds of test that a test is of, the coarsest first: all; those of the same
// synchronisation, which is the scopes of accesses and the kinds and scopes of fences; of the
// same family besides; with their threads in the same CTAs besides.
func Shapes(t *litmus.Test) []string {
	var family, places, synchronisation []string
	for i := range t.Threads {
		accesses := ""
		for j := range t.Threads[i].Body {
			in := &t.Threads[i].Body[j]
			switch {
			case in.Op.IsFence():
				synchronisation = append(synchronisation, in.Op.String()+in.Sem.String()+in.Scope.String())
				continue
			case !in.Op.IsAccess():
				continue
			case in.Op == litmus.OpLd:
				accesses += "R"
			case in.Op == litmus.OpSt:
				accesses += "W"
			default:
				accesses += "U"
			}
			synchronisation = append(synchronisation, in.Scope.String())
		}
		first := slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Place.SameScope(t.Threads[i].Place, litmus.ScopeCTA) })
		family, places = append(family, accesses), append(places, strconv.Itoa(first))
	}
	slices.Sort(synchronisation)
	shapes := []string{"", strings.Join(slices.Compact(synchronisation), " ")}
	for _, x := range [][]string{family, places} {
		shapes = append(shapes, shapes[len(shapes)-1]+"|"+strings.Join(x, "+"))
	}
	return shapes
}
