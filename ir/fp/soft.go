package fp

import (
	"math"
	"math/bits"
)

// special returns the sum of x and y if one of them is not finite. Operands are those of the operation, for nan.
func special(f Format, x, y number, operands ...uint64) (uint64, bool) {
	switch {
	case x.kind == finite && y.kind == finite:
		return 0, false
	case x.kind == notANumber || y.kind == notANumber || x.kind == infinite && y.kind == infinite && x.neg != y.neg:
		return f.nan(operands...), true
	case x.kind == infinite:
		return f.signed(x.neg, layouts[f].inf), true
	}
	return f.signed(y.neg, layouts[f].inf), true
}

// product returns the kind and sign of x · y; only these are set unless the product is finite.
func product(x, y number) number {
	p := number{neg: x.neg != y.neg}
	switch {
	case x.kind == notANumber || y.kind == notANumber || x.zero() && y.kind == infinite || x.kind == infinite && y.zero():
		p.kind = notANumber
	case x.kind == infinite || y.kind == infinite:
		p.kind = infinite
	}
	return p
}

func softAdd(f Format, m Mode, a, b uint64) uint64 {
	x, y := f.unpack(a), f.unpack(b)
	if r, ok := special(f, x, y, b, a); ok {
		return r
	}
	return sum(f, m, x.widen(), y.widen())
}

func softMul(f Format, m Mode, a, b uint64) uint64 {
	x, y := f.unpack(a), f.unpack(b)
	p := product(x, y)
	if r, ok := special(f, p, number{}, b, a); ok {
		return r
	}
	if w := x.times(y); !w.zero() {
		return w.round(f, m)
	}
	return f.signed(p.neg, 0)
}

func softFMA(f Format, m Mode, a, b, c uint64) uint64 {
	x, y, z := f.unpack(a), f.unpack(b), f.unpack(c)
	if r, ok := special(f, product(x, y), z, b, c, a); ok {
		return r
	}
	return sum(f, m, x.times(y), z.widen())
}

func softDiv(f Format, m Mode, a, b uint64) uint64 {
	x, y := f.unpack(a), f.unpack(b)
	neg := x.neg != y.neg
	switch {
	case x.kind == notANumber || y.kind == notANumber || x.kind == infinite && y.kind == infinite || x.zero() && y.zero():
		return f.nan(a, b)
	case x.kind == infinite || y.zero():
		return f.signed(neg, layouts[f].inf)
	case x.zero() || y.kind == infinite:
		return f.signed(neg, 0)
	}
	q, rest := bits.Div64(x.sig>>1, x.sig<<63, y.sig)
	return wide{hi: q, lo: min(rest, 1), exp: x.exp - y.exp - 127, neg: neg}.round(f, m)
}

func softSqrt(f Format, m Mode, a uint64) uint64 {
	x := f.unpack(a)
	switch {
	case x.zero():
		return f.signed(x.neg, 0)
	case x.kind == notANumber || x.neg:
		return f.nan(a)
	case x.kind == infinite:
		return layouts[f].inf
	}
	odd := x.exp & 1
	v := math.Float64frombits(uint64(1022+odd)<<52 + x.sig>>11) // in [1, 4)
	s := math.Sqrt(v)
	sig := math.Float64bits(s)<<11 | 1<<63
	if rest := math.FMA(-s, s, v); rest > 0 { // exact: of which side of s the root is
		sig++
	} else if rest < 0 {
		sig--
	}
	return f.round(m, false, (x.exp-odd)/2, sig)
}
