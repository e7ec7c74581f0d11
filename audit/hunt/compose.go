package hunt

import (
	"math/rand/v2"
	"slices"

	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
)

// composition is a test of a hunt and how it was made.
type composition struct {
	test   *litmus.Test
	family string
	key    *key // that the first opportunity covers
	base   int
}

// composer makes the tests of a hunt: a sequence that depends on the seed, the bases
// and what it is told of results, and on nothing else.
//
// Each round covers all keys, in a random order (deal) but for those near shapes that
// yielded something new, of which every third one is. The first round does so for
// the bases that have been looked at, and looks at more when none is left. Two in five compositions
// have a second opportunity and some a third, one in four is made race-free.
type composer struct {
	*index
	rand  *rand.Rand
	left  []*key          // of this round, in the order of deal
	seen  map[string]bool // hashes of tests
	round int

	kinds, across, families map[string]bool // of what yielded something new
	next                    []*composition  // to be tried at once
}

func newComposer(bases []Base, seed uint64) *composer {
	return &composer{
		index:    newIndex(bases, rand.New(rand.NewPCG(seed, 2))),
		round:    1,
		rand:     rand.New(rand.NewPCG(seed, 1)),
		seen:     map[string]bool{},
		kinds:    map[string]bool{},
		across:   map[string]bool{},
		families: map[string]bool{},
	}
}

// covered is the number of keys that this round has covered.
func (c *composer) covered() int { return len(c.keys) - len(c.left) }

// emptyRounds is how often all keys are gone through without a single new test
// before a composer gives up: the bases are exhausted.
const emptyRounds = 3

// batch returns the next n tests; fewer only when nothing new can be composed.
func (c *composer) batch(n int) []*composition {
	var out []*composition
	empty := 0
	for len(out) < n && empty < emptyRounds {
		if len(c.next) > 0 {
			out, c.next = append(out, c.next[0]), c.next[1:]
			continue
		}
		if len(c.left) == 0 {
			c.left = deal(c.index.more(), c.rand)
		}
		if len(c.left) == 0 {
			c.left = deal(c.keys, c.rand)
			c.round++
			empty++
		}
		if len(c.left) == 0 {
			break
		}
		if x := c.compose(c.take()); x != nil {
			out, empty = append(out, x), 0
		}
	}
	return out
}

// take removes a key from those that are left.
func (c *composer) take() *key {
	at := 0
	if c.rand.IntN(3) == 0 {
		near := func(k *key) bool { return c.kinds[k.kind] && c.across[k.across] }
		at = max(0, slices.IndexFunc(c.left, near))
	}
	k := c.left[at]
	copy(c.left[1:at+1], c.left[:at])
	c.left = c.left[1:]
	return k
}

// tries is how often a composition that cannot be specified, or that was there
// already, is replaced by another one of the same key.
const tries = 12

// compose makes a new test with an opportunity of the key; nil if that was not
// possible.
func (c *composer) compose(k *key) *composition {
	for range tries {
		p := c.placeOf(k)
		base := c.bases[p.base].Test()
		t, err := cycle.Apply(base, c.mixed(base, p.o))
		if err != nil {
			continue
		}
		t = c.further(t)
		if c.rand.IntN(4) == 0 {
			if free := raceFree(t); free != nil {
				t = free
			}
		}
		if c.fresh(t) {
			return &composition{test: t, family: c.bases[p.base].Family, key: k, base: p.base}
		}
	}
	return nil
}

// placeOf picks a place of a key: every second time, if there is one, of a family
// that yielded something.
func (c *composer) placeOf(k *key) place {
	p := k.places[c.rand.IntN(len(k.places))]
	if c.rand.IntN(2) == 0 {
		for range 3 {
			if c.families[c.bases[p.base].Family] {
				break
			}
			p = k.places[c.rand.IntN(len(k.places))]
		}
	}
	return p
}

// further adds no, one or two further opportunities to a test.
func (c *composer) further(t *litmus.Test) *litmus.Test {
	n := 0
	switch x := c.rand.IntN(10); {
	case x >= 9:
		n = 2
	case x >= 6:
		n = 1
	}
	for range n {
		var list []cycle.Opportunity
		cycle.Opportunities(t, nil, func(o cycle.Opportunity) bool {
			list = append(list, o)
			return true
		})
		for range tries {
			if len(list) == 0 {
				break
			}
			o := c.mixed(t, list[c.rand.IntN(len(list))])
			if next, err := cycle.Apply(t, o); err == nil && specified(next) {
				t = next
				break
			}
		}
	}
	return t
}

// mixed gives one in four additions a strength and a scope at random: programs mix them around
// one fence.
func (c *composer) mixed(t *litmus.Test, o cycle.Opportunity) cycle.Opportunity {
	if c.rand.IntN(4) > 0 {
		return o
	}
	if list := o.Mixed(t); len(list) > 0 {
		return list[c.rand.IntN(len(list))]
	}
	return o
}

// raceFree is a test without its data race, nil if it has none or there is no way.
func raceFree(t *litmus.Test) *litmus.Test {
	free, err := cycle.Apply(t, cycle.Opportunity{Kind: "racefree", Slot: -1})
	if err != nil || !specified(free) {
		return nil
	}
	return free
}

// specified reports whether the kernels of a test can carry its specification.
func specified(t *litmus.Test) bool {
	t = t.Canonical()
	for i := range t.Threads {
		if _, err := spec.FromTest(t, i, spec.Layouts[0]); err != nil {
			return false
		}
	}
	return true
}

// fresh reports whether a test can be had and was not there before, and notes it.
func (c *composer) fresh(t *litmus.Test) bool {
	if !specified(t) {
		return false
	}
	h := t.Hash()
	if c.seen[h] {
		return false
	}
	c.seen[h] = true
	return true
}

// yielded tells the composer that a test showed something new. racy asks for the same
// without the data race.
func (c *composer) yielded(x *composition, racy bool) {
	c.kinds[x.key.kind], c.across[x.key.across], c.families[x.family] = true, true, true
	if racy {
		if t := raceFree(x.test); t != nil && c.fresh(t) {
			c.next = append(c.next, &composition{test: t, family: x.family, key: x.key, base: x.base})
		}
	}
}
