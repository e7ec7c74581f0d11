package fp

import "math"

// Add returns a + b.
func Add(f Format, m Mode, a, b uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a, b = f.Flush(a), f.Flush(b)
	}
	if m.Round == RN {
		switch f {
		case F32:
			if r := single(a) + single(b); settled32(m, r) {
				return F32.finish(m, bits32(r))
			}
		case F64:
			if r := double(a) + double(b); settled64(m, r) {
				return F64.finish(m, math.Float64bits(r))
			}
		}
	}
	if f != F64 {
		if r, ok := f.narrow(m, odd(f.float(a), f.float(b))); ok {
			return r
		}
	}
	return f.finish(m, softAdd(f, m, a, b))
}

// Mul returns a · b.
func Mul(f Format, m Mode, a, b uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a, b = f.Flush(a), f.Flush(b)
	}
	if m.Round == RN {
		switch f {
		case F32:
			if r := single(a) * single(b); settled32(m, r) {
				return F32.finish(m, bits32(r))
			}
		case F64:
			if r := double(a) * double(b); settled64(m, r) {
				return F64.finish(m, math.Float64bits(r))
			}
		}
	}
	if f != F64 {
		if r, ok := f.narrow(m, f.float(a)*f.float(b)); ok {
			return r
		}
	}
	return f.finish(m, softMul(f, m, a, b))
}

// FMA returns a · b + c, rounded once.
func FMA(f Format, m Mode, a, b, c uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a, b, c = f.Flush(a), f.Flush(b), f.Flush(c)
	}
	if m.Round == RN {
		switch f {
		case F32:
			if r := fma32(single(a), single(b), single(c)); settled32(m, r) {
				return F32.finish(m, bits32(r))
			}
		case F64:
			if r := math.FMA(double(a), double(b), double(c)); settled64(m, r) {
				return F64.finish(m, math.Float64bits(r))
			}
		}
	}
	if f != F64 {
		if r, ok := f.narrow(m, odd(f.float(a)*f.float(b), f.float(c))); ok {
			return r
		}
	}
	return f.finish(m, softFMA(f, m, a, b, c))
}

// Div returns a / b.
func Div(f Format, m Mode, a, b uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a, b = f.Flush(a), f.Flush(b)
	}
	if m.Round == RN {
		switch f {
		case F32:
			if r := single(a) / single(b); settled32(m, r) {
				return F32.finish(m, bits32(r))
			}
		case F64:
			if r := double(a) / double(b); settled64(m, r) {
				return F64.finish(m, math.Float64bits(r))
			}
		}
	}
	return f.finish(m, softDiv(f, m, a, b))
}

// Rcp returns 1 / a.
func Rcp(f Format, m Mode, a uint64) uint64 { return Div(f, m, layouts[f].one, a) }

// Sqrt returns the square root of a.
func Sqrt(f Format, m Mode, a uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a = f.Flush(a)
	}
	if m.Round == RN && f == F64 {
		if r := math.Sqrt(double(a)); settled64(m, r) {
			return math.Float64bits(r)
		}
	}
	return f.finish(m, softSqrt(f, m, a))
}

func single(a uint64) float32 { return math.Float32frombits(uint32(a)) }
func double(a uint64) float64 { return math.Float64frombits(a) }
func bits32(r float32) uint64 { return uint64(math.Float32bits(r)) }

// settled32 says whether a result of this machine is that of a GPU: NaNs are not, and with FTZ only what is too large to be flushed is.
func settled32(m Mode, r float32) bool {
	if m.Flags&FTZ == 0 {
		return r == r
	}
	return r > 0x1p-126 || r < -0x1p-126
}

// settled64 does so for F64.
func settled64(m Mode, r float64) bool {
	if m.Flags&FTZ == 0 {
		return r == r
	}
	return r > 0x1p-1022 || r < -0x1p-1022
}

// fma32 rounds twice only where the second rounding sees on which side of a tie the exact sum lies.
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := float64(p) + q
	if math.Float64bits(s)&(1<<28-1) != 0 { // what float32 drops has lower bits than a tie, or s is NaN
		return float32(s)
	}
	return float32(odd(p, q))
}

// odd returns p + q, rounded to the neighbour with the odd significand unless it is exact. A second rounding, to at least two bits less,
// then gives what one rounding of the exact sum gives (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). Sums that
// are not finite are what they are.
func odd(p, q float64) float64 {
	s := p + q
	d := s - p // s and the error e are exactly p + q (Knuth's TwoSum)
	e := (p - (s - d)) + (q - d)
	b := math.Float64bits(s)
	switch {
	case e == 0 || e != e || b&1 != 0:
		return s
	case (e > 0) == (s > 0):
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// float returns the value of a, of F16, BF16 or F32, where the products of two are exact. Infinities of F16 become NaN.
func (f Format) float(a uint64) float64 {
	switch f {
	case F32:
		return float64(single(a))
	case BF16:
		return float64(single(a << 16))
	}
	if a&0x7c00 == 0x7c00 {
		return math.NaN()
	}
	v := math.Float64frombits(a&0x7fff<<42) * 0x1p1008 // the exponent's bias differs
	if a&0x8000 != 0 {
		return -v
	}
	return v
}

// narrow encodes a sum or product that float64 holds exactly or rounded to odd. It leaves zeros and what is not finite to others.
func (f Format) narrow(m Mode, v float64) (uint64, bool) {
	b := math.Float64bits(v)
	exp := int(b >> 52 & 0x7ff)
	if exp == 0 || exp == 0x7ff {
		return 0, false
	}
	return f.finish(m, f.round(m, b>>63 != 0, exp-1023, b<<11|1<<63)), true
}
