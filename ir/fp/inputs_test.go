package fp

import (
	"math"
	"math/rand/v2"
)

// operands returns the i-th operands of a form: a function of i alone, so that a chip and this package get the same.
// They gather at what is difficult: few or many bits at the ends of significands, ties, cancellation, subnormals, infinities and NaNs.
type operands struct{ rng *rand.Rand }

func newOperands(seed uint64) operands { return operands{rand.New(rand.NewPCG(seed, 0x5eed))} }

// float returns a pattern of format f.
func (o operands) float(f Format) uint64 {
	l, r := &layouts[f], o.rng
	significand := r.Uint64() >> (64 - l.fraction)
	ones := uint64(1)<<l.fraction - 1
	switch r.IntN(6) {
	case 0: // few bits at the top, and perhaps one at a place that a narrower format drops
		significand &^= 1<<r.UintN(l.fraction+1) - 1
		if r.IntN(2) == 0 {
			significand |= 1 << r.UintN(l.fraction)
		}
	case 1:
		significand |= 1<<r.UintN(l.fraction+1) - 1
	case 2: // ones, zeros, and perhaps one more
		significand = ones &^ (1<<r.UintN(l.fraction+1) - 1)
		if r.IntN(2) == 0 {
			significand |= 1 << r.UintN(l.fraction)
		}
	case 3:
		significand = []uint64{0, 1, ones, 1 << (l.fraction - 1), ones - 1, 2}[r.IntN(6)]
	}
	top := int(l.last >> l.fraction)
	exponent := r.IntN(top + 1)
	switch r.IntN(8) {
	case 0, 1, 2: // about as large as integers are, and about as small as subnormals of narrow formats
		exponent = l.bias + r.IntN(100) - 35
	case 3:
		exponent = r.IntN(3)
	case 4:
		exponent = top - r.IntN(3)
	case 5: // about the ends of float32, seen from float64
		exponent = l.bias + []int{-150, -149, -127, -126, -125, 127, 128, 15, 16, -14, -15, -24, -25}[r.IntN(13)]
	case 6:
		exponent = l.bias + r.IntN(5) - 2
	}
	exponent = max(0, min(top, exponent))
	return (uint64(exponent)<<l.fraction|significand)<<l.pad | r.Uint64()&f.sign()
}

// value returns the number that a stands for; of what is none, 0.
func value(f Format, a uint64) float64 {
	l := &layouts[f]
	e, s := int(f.magnitude(a)>>l.fraction), a&(1<<l.fraction-1)
	switch {
	case f.magnitude(a) > l.max:
		return 0
	case e == 0:
		e = 1
	default:
		s |= 1 << l.fraction
	}
	v := math.Ldexp(float64(s), e-l.bias-int(l.fraction))
	if a&f.sign() != 0 {
		return -v
	}
	return v
}

// near returns a pattern that stands for about v. It uses nothing of what is tested, so that operands stay what they are.
func near(f Format, v float64) uint64 {
	l := &layouts[f]
	frac, e := math.Frexp(math.Abs(v))
	e += l.bias - 1
	a := l.inf
	switch {
	case v != v || v == 0:
		a = 0
	case math.IsInf(v, 0):
	case e < 1:
		a = uint64(math.Ldexp(frac, int(l.fraction)+e))
	case e <= int(l.max>>l.fraction):
		a = uint64(math.Ldexp(frac, int(l.fraction)+1)) + uint64(e-1)<<l.fraction
	}
	if math.Signbit(v) {
		a |= f.sign()
	}
	return a
}

// floats returns three patterns, of which the last often cancels the product or the sum of the others.
func (o operands) floats(f Format) [3]uint64 {
	a, b, c := o.float(f), o.float(f), o.float(f)
	some := func() uint64 { return uint64(o.rng.IntN(5)) - 2 } // steps of the last place
	smallest := value(f, 1<<layouts[f].fraction)
	switch o.rng.IntN(10) {
	case 0:
		b = a ^ f.sign() + some()
	case 1, 2:
		c = near(f, -value(f, a)*value(f, b)) + some()
	case 3: // far below the product: only the side matters
		c = o.rng.Uint64()&f.sign() | o.rng.Uint64N(1<<12)
	case 4:
		b = near(f, smallest/value(f, a)) + some() // product about the smallest normal number
		c = o.rng.Uint64()&f.sign() | o.rng.Uint64N(3)
	case 5:
		b = near(f, value(f, a)/smallest) + some() // quotient, too
	case 6:
		c = a
	case 7: // sum of a product and something a few places away
		c = near(f, math.Ldexp(value(f, a)*value(f, b), o.rng.IntN(70)-35))
	}
	mask := f.sign()<<1 - 1
	return [3]uint64{a & mask, b & mask, c & mask}
}

// integer returns an integer of any size; about powers of two more often than not.
func (o operands) integer() uint64 {
	v := o.rng.Uint64() >> o.rng.UintN(64)
	switch o.rng.IntN(4) {
	case 0:
		v = 1<<o.rng.UintN(64) + uint64(o.rng.IntN(5)) - 2
	case 1:
		v &^= 1<<o.rng.UintN(64) - 1
	case 2:
		v = v&^(1<<o.rng.UintN(64)-1) | 1<<o.rng.UintN(64)
	}
	if o.rng.IntN(2) == 0 {
		v = -v
	}
	return v
}

// of returns operands of the types in src.
func (o operands) of(src []string) [3]uint64 {
	switch src[0] {
	case "f16":
		return o.floats(F16)
	case "bf16":
		return o.floats(BF16)
	case "f32":
		return o.floats(F32)
	case "f64":
		return o.floats(F64)
	case "f16x2":
		return [3]uint64{o.float(F16)<<16 | o.float(F16)}
	case "f8x2":
		return [3]uint64{o.rng.Uint64() & 0xffff}
	}
	return [3]uint64{o.integer()}
}
