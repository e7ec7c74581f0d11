package optcheck

import (
	"math/rand/v2"
	"slices"

	"optcheck/spec"
)

// sampler chooses the words for which two pieces of code are compared. Conditions that compare words with constants
// and with each other depend only on how the words compare to the constants and to each other. Words next to the
// constants and to the ends of the signed and unsigned ranges therefore decide: on each side as many as words are
// compared, in all combinations. That is two words at most here, with up to maxSamples combinations. Masks, sums and
// products, and conditions on more words, are compared for single bits, words next to constants and random words.
type sampler struct {
	words  []uint32 // next to constants that are compared with
	near   int      // how many of them
	n      int      // samples so far
	all    int      // number of all combinations; 0 for too many
	order  [][2]int // reads, in the order in which they were requested
	asked  map[[2]int]bool
	chosen map[[2]int]uint32
	rnd    *rand.Rand
	// decides holds the parameters on which conditions of the machine code depend.
	decides map[int64]bool
}

// Numbers of samples: random ones at least, and combinations.
const (
	randomSamples = 24
	maxSamples    = 1 << 8
)

// newSampler gathers the constants of both sides.
func newSampler(c *comparison, code *spec.Code) *sampler {
	s := &sampler{asked: map[[2]int]bool{}, chosen: map[[2]int]uint32{}, decides: map[int64]bool{}, rnd: rand.New(rand.NewPCG(1, 2))}
	consts := append(slices.Clone(code.Consts()), 0, 1<<31)
	p := c.p.tr.pool
	p.visit()
	constant := func(_ value, n *node) bool {
		if n.kind == kConst || n.kind == kAdd && n.b == none {
			consts = append(consts, uint32(n.imm))
		}
		return false
	}
	for _, k := range c.open {
		for _, term := range c.p.tr.events[c.p.eventOf(k)].when {
			p.search(term.pred, func(v value, n *node) bool {
				if n.kind == kParam {
					s.decides[int64(n.imm)] = true
				}
				return constant(v, n)
			})
		}
	}
	for _, k := range c.open {
		x := &c.p.tr.events[c.p.eventOf(k)]
		for _, v := range append(slices.Clone(x.data), c.p.oper[k]) {
			p.search(v, constant)
		}
	}
	reads := 0
	for _, e := range c.p.s.Entries {
		if e.Reads() {
			reads++
		}
	}
	d := uint32(min(max(reads, 1), 2))
	for _, k := range consts {
		for i := k - d; i != k+d+1; i++ {
			s.words = append(s.words, i)
		}
	}
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	s.near = len(s.words)
	for i := range 32 {
		s.words = append(s.words, 1<<i, ^uint32(1<<i))
	}
	return s
}

// next chooses the next words. It returns false if there were enough.
func (s *sampler) next() bool {
	s.n++
	clear(s.chosen)
	if s.n <= randomSamples {
		return true
	}
	if s.n == randomSamples+1 {
		s.all = 1
		for range s.order {
			if s.all *= s.near; s.all > maxSamples {
				s.all = 0
				break
			}
		}
	}
	i := s.n - randomSamples - 1
	if s.all == 0 {
		return i < maxSamples/2
	}
	if i >= s.all || len(s.order) == 0 {
		return false
	}
	for _, r := range s.order {
		s.chosen[r] = s.words[i%s.near]
		i /= s.near
	}
	return true
}

// Read implements spec.Words.
func (s *sampler) Read(pos, word int) uint32 {
	r := [2]int{pos, word}
	if !s.asked[r] {
		s.asked[r] = true
		s.order = append(s.order, r)
	}
	w, ok := s.chosen[r]
	if !ok {
		switch k := s.rnd.IntN(8); {
		case k == 0:
			w = s.rnd.Uint32()
		case k < 3:
			w = s.words[s.rnd.IntN(len(s.words))]
		default:
			w = s.words[s.rnd.IntN(s.near)]
		}
		s.chosen[r] = w
	}
	return w
}

// Param implements spec.Words. A parameter that decides is chosen like a word read; any other may be any word.
func (s *sampler) Param(off int64) uint32 {
	if s.decides[off] {
		return s.Read(int(-1-off), 0)
	}
	return spec.Sample(s.n).Param(off)
}
