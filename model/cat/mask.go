package cat

import "math/bits"

// MaxInputs is the largest number of base sets and relations that one model
// may use.
const MaxInputs = 128

// Mask is a set of inputs of a Program, by index.
type Mask [2]uint64

// MaskOf returns the set of the given inputs.
func MaskOf(inputs ...int) Mask {
	var m Mask
	for _, i := range inputs {
		m[i>>6] |= 1 << (i & 63)
	}
	return m
}

// Or returns the union.
func (m Mask) Or(o Mask) Mask { return Mask{m[0] | o[0], m[1] | o[1]} }

// Without returns the difference.
func (m Mask) Without(o Mask) Mask { return Mask{m[0] &^ o[0], m[1] &^ o[1]} }

// IsZero reports whether m is empty.
func (m Mask) IsZero() bool { return m == Mask{} }

// Meets reports whether m and o have a common input.
func (m Mask) Meets(o Mask) bool { return m[0]&o[0]|m[1]&o[1] != 0 }

// Within reports whether m is included in o.
func (m Mask) Within(o Mask) bool { return m[0]&^o[0]|m[1]&^o[1] == 0 }

// Indexes returns the inputs of m in ascending order.
func (m Mask) Indexes() []int {
	var out []int
	for k, w := range m {
		for ; w != 0; w &= w - 1 {
			out = append(out, k<<6+bits.TrailingZeros64(w))
		}
	}
	return out
}
