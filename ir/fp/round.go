package fp

import "math/bits"

// shift returns sig·2^-n, rounded to an integer.
func (r Round) shift(neg bool, sig uint64, n uint) uint64 {
	if n == 0 {
		return sig
	}
	kept := sig >> n
	rest, half := sig<<(64-n), uint64(1<<63) // the bits that go, left aligned
	if n > 64 {
		rest = min(sig, 1)
	}
	if rest == 0 {
		return kept
	}
	var up bool
	switch r {
	case RN:
		up = rest > half || rest == half && kept&1 != 0
	case RNA:
		up = rest >= half
	case RM:
		up = neg
	case RP:
		up = !neg
	}
	if up {
		kept++
	}
	return kept
}

// round encodes ±sig·2^(exp-63), where the top bit of sig is set and its lowest bit stands for all bits below it.
func (f Format) round(m Mode, neg bool, exp int, sig uint64) uint64 {
	l := &layouts[f]
	biased, drop := exp+l.bias, 63-l.fraction
	if biased > int(l.max>>l.fraction) {
		return f.overflow(m, neg)
	}
	if biased < 1 {
		if m.Flags&FTZ != 0 {
			return f.signed(neg, f.tiny(m, neg, biased, sig))
		}
		drop += uint(1 - biased)
		biased = 1
	}
	r := uint64(biased-1)<<l.fraction + m.Round.shift(neg, sig, drop)
	if r > l.max {
		return f.overflow(m, neg)
	}
	return f.signed(neg, r<<l.pad)
}

// tiny returns the magnitude of what FTZ makes of a number below the smallest normal one: that one if the number rounds to it as if
// exponents had no lower bound, else zero. Rounded as a subnormal number, some more would reach it.
func (f Format) tiny(m Mode, neg bool, biased int, sig uint64) uint64 {
	l := &layouts[f]
	if biased == 0 && m.Round.shift(neg, sig, 63-l.fraction)>>(l.fraction+1) != 0 {
		return 1 << (l.fraction + l.pad)
	}
	return 0
}

// overflow returns what a number beyond the largest finite one becomes.
func (f Format) overflow(m Mode, neg bool) uint64 {
	l := &layouts[f]
	r := l.inf
	if m.Flags&Finite != 0 || m.Round == RZ || m.Round == RM && !neg || m.Round == RP && neg {
		r = l.max
	}
	return f.signed(neg, r<<l.pad)
}

// wide is ±(hi:lo)·2^exp. Bit 127 is clear; bit 126 is set unless the value is zero or a result that has cancelled.
type wide struct {
	hi, lo uint64
	exp    int
	neg    bool
}

// widen returns n with room for a carry.
func (n number) widen() wide { return wide{n.sig >> 1, n.sig << 63, n.exp - 126, n.neg} }

// times returns the exact product of two finite numbers. Significands have at most 53 bits, hence the shift loses none.
func (n number) times(o number) wide {
	w := wide{exp: n.exp + o.exp - 126, neg: n.neg != o.neg}
	w.hi, w.lo = bits.Mul64(n.sig, o.sig)
	if w.hi>>63 != 0 {
		w.hi, w.lo, w.exp = w.hi>>1, w.hi<<63|w.lo>>1, w.exp+1
	}
	return w
}

func (w wide) zero() bool { return w.hi|w.lo == 0 }

// less compares magnitudes.
func (w wide) less(o wide) bool {
	if w.exp != o.exp {
		return w.exp < o.exp
	}
	return w.hi < o.hi || w.hi == o.hi && w.lo < o.lo
}

// down shifts right; the lowest bit keeps what is lost.
func (w wide) down(n int) wide {
	w.exp += n
	switch {
	case n == 0:
	case n < 64:
		lost := w.lo << (64 - n)
		w.hi, w.lo = w.hi>>n, w.hi<<(64-n)|w.lo>>n|min(lost, 1)
	case n < 128:
		lost := w.lo | w.hi<<(128-n)
		w.hi, w.lo = 0, w.hi>>(n-64)|min(lost, 1)
	default:
		w.hi, w.lo = 0, 1
	}
	return w
}

// plus returns the sum, exact but for a sticky lowest bit, of two values of which neither is zero.
func (w wide) plus(o wide) wide {
	if w.less(o) {
		w, o = o, w
	}
	o = o.down(w.exp - o.exp)
	var c uint64
	if w.neg == o.neg {
		w.lo, c = bits.Add64(w.lo, o.lo, 0)
		w.hi, _ = bits.Add64(w.hi, o.hi, c)
	} else {
		w.lo, c = bits.Sub64(w.lo, o.lo, 0)
		w.hi, _ = bits.Sub64(w.hi, o.hi, c)
	}
	return w
}

// round encodes a value that is not zero.
func (w wide) round(f Format, m Mode) uint64 {
	if w.hi == 0 {
		w.hi, w.lo, w.exp = w.lo, 0, w.exp-64
	}
	if lead := bits.LeadingZeros64(w.hi); lead != 0 {
		w.hi, w.lo, w.exp = w.hi<<lead|w.lo>>(64-lead), w.lo<<lead, w.exp-lead
	}
	return f.round(m, w.neg, w.exp+127, w.hi|min(w.lo, 1))
}

// sum encodes x + y. The sign of an exact zero is that of both, else minus only where the mode rounds down.
func sum(f Format, m Mode, x, y wide) uint64 {
	switch {
	case x.zero() && y.zero():
		if x.neg == y.neg {
			return f.signed(x.neg, 0)
		}
		return f.signed(m.Round == RM, 0)
	case x.zero():
		return y.round(f, m)
	case y.zero():
		return x.round(f, m)
	}
	z := x.plus(y)
	if z.zero() {
		return f.signed(m.Round == RM, 0)
	}
	return z.round(f, m)
}
