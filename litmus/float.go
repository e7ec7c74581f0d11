package litmus

import "math"

// Sums of floating point as atomic additions compute them (PTX ISA, atom, red, cp.reduce.async.bulk): rounded to the nearest, ties to even;
// of binary32 in global memory with subnormal operands and results flushed to zeros of their sign; a result that is
// no number is the canonical one. Of bulk copies there are also the lesser and the greater one.

// floatFormat is a binary format narrower than binary64.
type floatFormat struct {
	fraction, exponent uint // bits
	nan                int64
}

var floatFormats = map[Type]floatFormat{F16: {10, 5, 0x7fff}, BF16: {7, 8, 0x7fff}, F32: {23, 8, 0x7fffffff}}

// FloatAdd adds two numbers of a type, which are bit patterns; flush is set where subnormal numbers of binary32 are zeros.
func FloatAdd(t Type, a, b int64, flush bool) int64 {
	if t == F64 {
		sum := math.Float64frombits(uint64(a)) + math.Float64frombits(uint64(b))
		if sum != sum {
			return math.MaxInt64
		}
		return int64(math.Float64bits(sum))
	}
	f := floatFormats[t]
	if flush = flush && t == F32; flush {
		a, b = f.flushed(a), f.flushed(b)
	}
	sum := f.value(a) + f.value(b) // exact, or far from a tie
	if sum != sum {
		return f.nan
	}
	r := f.rounded(sum)
	if flush {
		r = f.flushed(r)
	}
	return r
}

// FloatLeast returns the lesser of two numbers of a type, or with greatest the greater one; -0 is below +0, and a number is chosen
// before what is none, as min and max do (PTX ISA). Of two that are no numbers it is the canonical one.
func FloatLeast(t Type, a, b int64, greatest bool) int64 {
	f, ok := floatFormats[t]
	if !ok {
		f = floatFormat{52, 11, math.MaxInt64}
	}
	none := func(bits int64) bool { return bits&(1<<(f.fraction+f.exponent)-1) > int64(1<<f.exponent-1)<<f.fraction }
	order := func(bits int64) int64 { // below zero, and in the opposite order, if it has a sign
		if bits>>(f.fraction+f.exponent)&1 == 1 {
			return ^(bits & (1<<(f.fraction+f.exponent) - 1))
		}
		return bits
	}
	switch {
	case none(a) && none(b):
		return f.nan
	case none(a) || !none(b) && order(b) < order(a) != greatest:
		return b
	}
	return a
}

func (f floatFormat) bias() int { return 1<<(f.exponent-1) - 1 }

// flushed makes a subnormal number a zero.
func (f floatFormat) flushed(bits int64) int64 {
	if bits>>f.fraction&(1<<f.exponent-1) == 0 {
		return bits &^ (1<<f.fraction - 1)
	}
	return bits
}

func (f floatFormat) value(bits int64) float64 {
	fraction, e := bits&(1<<f.fraction-1), int(bits>>f.fraction&(1<<f.exponent-1))
	sign := 1.0
	if bits>>(f.fraction+f.exponent)&1 == 1 {
		sign = -1
	}
	switch {
	case e == 1<<f.exponent-1 && fraction != 0:
		return math.NaN()
	case e == 1<<f.exponent-1:
		return math.Inf(int(sign))
	case e == 0:
		e = 1
	default:
		fraction |= 1 << f.fraction
	}
	return sign * math.Ldexp(float64(fraction), e-f.bias()-int(f.fraction))
}

func (f floatFormat) rounded(x float64) int64 {
	sign := int64(0)
	if math.Signbit(x) {
		sign, x = 1<<(f.fraction+f.exponent), -x
	}
	if x == 0 {
		return sign
	}
	infinity := int64(1<<f.exponent-1) << f.fraction
	if math.IsInf(x, 0) {
		return sign | infinity
	}
	_, e := math.Frexp(x)
	e = max(e-1, 1-f.bias()) // of the unit that x has, or the least one
	n := int64(math.RoundToEven(math.Ldexp(x, int(f.fraction)-e)))
	return sign | min(n+int64(e+f.bias()-1)<<f.fraction, infinity)
}
