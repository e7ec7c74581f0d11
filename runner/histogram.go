package runner

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"optcheck/litmus"
)

// MaxOutcomes bounds the number of different outcomes of a histogram.
const MaxOutcomes = 1 << 20

// Histogram counts the outcomes of a test: tuples of the final values of its
// terms (registers and locations), in a fixed order.
type Histogram struct {
	terms  []litmus.Term
	counts map[string]uint64
	total  uint64
}

// Outcome is one line of a histogram.
type Outcome struct {
	Values []int64
	Count  uint64
}

// NewHistogram returns an empty histogram of a test: its terms are those that
// the test's condition and its locations clause name.
func NewHistogram(t *litmus.Test) *Histogram {
	return &Histogram{terms: t.Terms(), counts: map[string]uint64{}}
}

// Total is the number of instances counted.
func (h *Histogram) Total() uint64 { return h.total }

// Add counts n instances with the given values, one per term. It is an error
// if there are too many or too few values, too many outcomes, or more than
// 2^63−1 instances.
func (h *Histogram) Add(values []int64, n uint64) error {
	if len(values) != len(h.terms) {
		return fmt.Errorf("outcome of %d values, the test has %d terms", len(values), len(h.terms))
	}
	if n == 0 {
		return nil
	}
	if n > math.MaxInt64-h.total {
		return fmt.Errorf("more than %d instances", int64(math.MaxInt64))
	}
	key := make([]byte, 0, 8*len(values))
	for _, v := range values {
		key = binary.LittleEndian.AppendUint64(key, uint64(v))
	}
	if _, known := h.counts[string(key)]; !known && len(h.counts) >= MaxOutcomes {
		return fmt.Errorf("more than %d different outcomes", MaxOutcomes)
	}
	h.counts[string(key)] += n
	h.total += n
	return nil
}

// Outcomes lists what was counted, sorted by the values.
func (h *Histogram) Outcomes() []Outcome {
	list := make([]Outcome, 0, len(h.counts))
	for key, n := range h.counts {
		values := make([]int64, len(h.terms))
		for i := range values {
			values[i] = int64(binary.LittleEndian.Uint64([]byte(key[8*i:])))
		}
		list = append(list, Outcome{values, n})
	}
	slices.SortFunc(list, func(a, b Outcome) int { return slices.CompareFunc(a.Values, b.Values, cmp.Compare[int64]) })
	return list
}

// Satisfies tells whether an outcome satisfies the expression of a condition,
// whatever its quantifier. Terms that the histogram does not have are 0.
func (h *Histogram) Satisfies(c litmus.Cond, o Outcome) bool {
	return c.Eval(func(x litmus.Term) int64 {
		if i := slices.Index(h.terms, x); i >= 0 {
			return o.Values[i]
		}
		return 0
	})
}

// Count splits the instances into those that satisfy the expression of a
// condition (the weak ones, for a test in the usual form) and the others.
func (h *Histogram) Count(c litmus.Cond) (positive, negative uint64) {
	for _, o := range h.Outcomes() {
		if h.Satisfies(c, o) {
			positive += o.Count
		}
	}
	return positive, h.total - positive
}
