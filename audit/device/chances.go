package device

import (
	"math"
	"math/rand/v2"
	"slices"
)

// chances says how likely it is that a test's outcome can be seen at all. Tests differ: what the
// model allows, a chip may never show. A test's chance is a logistic regression on its traits, fitted
// to what has been seen and what was expected in vain. What a weaker relative has not shown by
// now, a test is unlikely to show; what a stronger one has shown, it can.
type chances struct {
	rnd     *rand.Rand
	weights map[string]*weight  // of traits
	groups  map[string][]*quest // relatives, by skeleton
	tried   []*quest
}

// weight is that of a trait, which so many tests have.
type weight struct{ value, tests float64 }

// kin are the relatives of a test, which differ from it in synchronisation alone.
type kin struct {
	weights          []*weight
	weaker, stronger []*quest // at most and at least as strong
}

func newChances(rnd *rand.Rand) chances {
	return chances{rnd: rnd, weights: map[string]*weight{}, groups: map[string][]*quest{}}
}

// relate makes a test known to its relatives.
func (c *chances) relate(q *quest) {
	for _, f := range q.features {
		if c.weights[f] == nil {
			c.weights[f] = new(weight)
		}
		c.weights[f].tests++
		q.weights = append(q.weights, c.weights[f])
	}
	link := func(weak, strong *quest) {
		if weak.atMost(&strong.traits) {
			weak.stronger, strong.weaker = append(weak.stronger, strong), append(strong.weaker, weak)
		}
	}
	for _, r := range c.groups[q.skeleton] {
		link(r, q)
		link(q, r)
	}
	c.groups[q.skeleton] = append(c.groups[q.skeleton], q)
}

// prior is the chance by a test's traits alone.
func (c *chances) prior(q *quest) float64 {
	x := 0.0
	for _, w := range q.weights {
		x += w.value
	}
	return 1 / (1 + math.Exp(-x))
}

// chance is the chance after what was seen, and what was missed in the test and in its weaker relatives.
func (c *chances) chance(q *quest) float64 {
	if q.seen || slices.ContainsFunc(q.stronger, func(r *quest) bool { return r.seen }) {
		return 1
	}
	missed := 0.0
	for _, r := range q.weaker {
		if !r.seen {
			missed = max(missed, r.missed)
		}
	}
	p, all := c.prior(q), less(q.missed+missed)
	return p * all / (1 - p + p*all)
}

// The regression takes so many steps of such a size after each slice, each with a test that is drawn. A
// weight is normal with deviation 1 before anything is known, so that few tests which waited a short
// time in vain do not write off all that are like them.
const (
	steps    = 100
	stepSize = 0.1
)

func (c *chances) fit() {
	for range steps {
		q := c.tried[c.rnd.IntN(len(c.tried))]
		off := c.chance(q) - c.prior(q)
		for _, w := range q.weights {
			w.value += stepSize * (off - w.value/w.tests)
		}
	}
}
