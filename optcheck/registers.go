package optcheck

import "math/bits"

// registers is a set of registers by their number in the flat state.
type registers [(regMax + 63) / 64]uint64

// add adds a register to the set.
func (s *registers) add(r int) { s[r/64] |= 1 << (r % 64) }

// join adds another set.
func (s *registers) join(o registers) {
	for i, w := range o {
		s[i] |= w
	}
}

// list returns the members in ascending order.
func (s *registers) list() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, 64*i+bits.TrailingZeros64(w))
		}
	}
	return out
}
