// Package rel holds sets of events and binary relations over events as bit
// matrices, with the operations of relational algebra in destination-passing
// form: no operation here allocates, the caller owns all memory.
//
// Events are numbered 0…n-1 with n ≤ MaxEvents. A row takes one machine word
// up to 64 events, which is the case that the code is tuned for, and up to
// four words beyond. The package knows nothing of memory models.
//
// Destination rules: dst may be the same slice as any operand unless the
// operation's comment says otherwise; all operands must be of one universe
// (equal length). Bits beyond n are zero in every well-formed value and stay
// zero under every operation.
package rel

import "math/bits"

// MaxEvents is the largest number of events of a universe.
const MaxEvents = 256

// Set is a set of events: bit e%64 of word e/64 is set if e is a member. Its
// length is Words(n).
type Set []uint64

// Rel is a binary relation in row-major order: n rows of Words(n) words, row
// i being the set of the successors of event i. The length determines n.
type Rel []uint64

// Words returns the number of words of a set over n events.
func Words(n int) int { return (n + 63) / 64 }

// NewSet returns an empty set over n events.
func NewSet(n int) Set { return make(Set, Words(n)) }

// NewRel returns an empty relation over n events.
func NewRel(n int) Rel { return make(Rel, n*Words(n)) }

// N returns the number of events of the relation's universe.
func (r Rel) N() int {
	l := len(r)
	switch {
	case l <= 64:
		return l
	case l <= 256:
		return l / 2
	case l <= 576:
		return l / 3
	}
	return l / 4
}

// words returns the words per row.
func (r Rel) words() int {
	l := len(r)
	switch {
	case l <= 64:
		return 1
	case l <= 256:
		return 2
	case l <= 576:
		return 3
	}
	return 4
}

// Row returns the successors of event i, sharing memory with r.
func (r Rel) Row(i int) Set {
	w := r.words()
	return Set(r[i*w : i*w+w])
}

// Has reports whether the pair (i, j) is in r.
func (r Rel) Has(i, j int) bool {
	w := r.words()
	return r[i*w+j>>6]>>(j&63)&1 != 0
}

// Add puts the pair (i, j) into r.
func (r Rel) Add(i, j int) {
	w := r.words()
	r[i*w+j>>6] |= 1 << (j & 63)
}

// Remove takes the pair (i, j) out of r.
func (r Rel) Remove(i, j int) {
	w := r.words()
	r[i*w+j>>6] &^= 1 << (j & 63)
}

// Has reports whether e is in s.
func (s Set) Has(e int) bool { return s[e>>6]>>(e&63)&1 != 0 }

// Add puts e into s.
func (s Set) Add(e int) { s[e>>6] |= 1 << (e & 63) }

// Remove takes e out of s.
func (s Set) Remove(e int) { s[e>>6] &^= 1 << (e & 63) }

// Fill makes s the set of all events 0…n-1.
func (s Set) Fill(n int) {
	for k := range s {
		switch left := n - 64*k; {
		case left >= 64:
			s[k] = ^uint64(0)
		case left <= 0:
			s[k] = 0
		default:
			s[k] = 1<<left - 1
		}
	}
}

// Fill makes r the relation of all pairs.
func (r Rel) Fill() {
	n := r.N()
	for i := 0; i < n; i++ {
		r.Row(i).Fill(n)
	}
}

// Clear empties the value.
func Clear[T ~[]uint64](x T) {
	for i := range x {
		x[i] = 0
	}
}

// Clone returns a copy in fresh memory.
func Clone[T ~[]uint64](x T) T {
	y := make(T, len(x))
	copy(y, x)
	return y
}

// Count returns the number of members (or pairs).
func Count[T ~[]uint64](x T) int {
	c := 0
	for _, w := range x {
		c += bits.OnesCount64(w)
	}
	return c
}

// IsEmpty reports whether the value has no member.
func IsEmpty[T ~[]uint64](x T) bool {
	for _, w := range x {
		if w != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether two values of one universe are the same.
func Equal[T ~[]uint64](a, b T) bool {
	b = b[:len(a)]
	for i, w := range a {
		if w != b[i] {
			return false
		}
	}
	return true
}

// Subset reports whether a is included in b.
func Subset[T ~[]uint64](a, b T) bool {
	b = b[:len(a)]
	for i, w := range a {
		if w&^b[i] != 0 {
			return false
		}
	}
	return true
}

// Each calls f for every member in ascending order until f returns false.
func (s Set) Each(f func(e int) bool) {
	for k, w := range s {
		for ; w != 0; w &= w - 1 {
			if !f(k<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// Each calls f for every pair in lexicographic order until f returns false.
// It is an iterator over pairs.
func (r Rel) Each(f func(i, j int) bool) {
	n := r.N()
	for i := 0; i < n; i++ {
		for k, w := range r.Row(i) {
			for ; w != 0; w &= w - 1 {
				if !f(i, k<<6+bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Events returns the members in ascending order, in fresh memory.
func (s Set) Events() []int {
	out := make([]int, 0, Count(s))
	s.Each(func(e int) bool { out = append(out, e); return true })
	return out
}

// Pairs returns the pairs in lexicographic order, in fresh memory.
func (r Rel) Pairs() [][2]int {
	out := make([][2]int, 0, Count(r))
	r.Each(func(i, j int) bool { out = append(out, [2]int{i, j}); return true })
	return out
}

// Disjoint reports whether a and b have no common member.
func Disjoint[T ~[]uint64](a, b T) bool {
	b = b[:len(a)]
	for i, w := range a {
		if w&b[i] != 0 {
			return false
		}
	}
	return true
}
