package fp

import "math/bits"

// Int is a type of integers.
type Int struct {
	Bits   uint // 8, 16, 32 or 64
	Signed bool
}

// Convert returns a, of the format from, in the format to. FTZ concerns F32 alone, on either side (PTX ISA, cvt: "applies only to
// single precision inputs and results"). Conversions to E4M3, which has no infinity, saturate or make NaN of what is too large.
func Convert(to, from Format, m Mode, a uint64) uint64 {
	a &= from.sign()<<1 - 1
	if m.Flags&FTZ != 0 && from == F32 {
		if a = F32.Flush(a); F32.IsNaN(a) {
			a = F32.QuietNaN()
		}
	}
	n := from.unpack(a)
	if to != F32 {
		m.Flags &^= FTZ
	}
	var r uint64
	switch {
	case n.kind == notANumber:
		r = convertNaN(to, from, m, a)
	case n.kind == infinite && m.Flags&Finite != 0:
		r = to.overflow(m, n.neg)
	case n.kind == infinite:
		r = to.signed(n.neg, layouts[to].inf<<layouts[to].pad)
	case n.sig == 0:
		r = to.signed(n.neg, 0)
	default:
		r = to.round(m, n.neg, n.exp, n.sig)
	}
	return to.finish(m, r)
}

// convertNaN returns what a NaN becomes. To and from F64 it keeps its sign and its payload and becomes quiet; where a conversion only moves
// bits, nothing happens to it. (The PTX ISA leaves these NaNs open; unoptimised code may make others of them.)
func convertNaN(to, from Format, m Mode, a uint64) uint64 {
	up, down := layouts[to], layouts[from]
	moves := to == from || to == F32 && from == BF16
	switch {
	case m.Flags&(FTZ|Sat) == 0 && moves:
		return a << (up.width - down.width)
	case to == TF32 && m.Round == RNA && m.Flags&Finite == 0:
		return a &^ (1<<up.pad - 1)
	case to == F64 || from == F64:
		payload := a << (63 - down.fraction) << 1 >> (64 - up.fraction)
		return to.signed(a&from.sign() != 0, up.inf|payload|1<<(up.fraction-1))
	}
	return to.QuietNaN()
}

// Integral returns a rounded to an integer, in the same format (cvt.rni, .rzi, .rmi, .rpi between equal types).
func Integral(f Format, m Mode, a uint64) uint64 {
	if m.Flags&FTZ != 0 {
		a = f.Flush(a)
	}
	n := f.unpack(a)
	r := a & (f.sign()<<1 - 1)
	switch {
	case n.kind == notANumber:
		r = f.nan(a)
	case n.kind == infinite || n.sig == 0 || n.exp >= int(layouts[f].fraction):
	default:
		v := m.Round.shift(n.neg, n.sig, uint(63-n.exp))
		r = f.signed(n.neg, f.integer(Mode{}, false, v))
	}
	return f.finish(m, r)
}

// integer encodes ±v.
func (f Format) integer(m Mode, neg bool, v uint64) uint64 {
	if v == 0 {
		return f.signed(neg, 0)
	}
	lead := bits.LeadingZeros64(v)
	return f.round(m, neg, 63-lead, v<<lead)
}

// FromInt returns the integer a of type t in the format f.
func FromInt(f Format, m Mode, t Int, a uint64) uint64 {
	a <<= 64 - t.Bits
	neg := t.Signed && int64(a) < 0
	if neg {
		a = uint64(int64(a) >> (64 - t.Bits))
		a = -a
	} else {
		a >>= 64 - t.Bits
	}
	return f.finish(m, f.integer(m, neg, a))
}

// NaNOf returns what the PTX ISA makes of NaN in a conversion from f to t: zero if f is not F64 and t has at most 32 bits, else the top bit
// of t alone.
func NaNOf(t Int, f Format) uint64 {
	if f != F64 && t.Bits < 64 {
		return 0
	}
	return 1 << (t.Bits - 1)
}

// ToInt returns a rounded to an integer and clamped to the range of t, in the low bits. NaN becomes nan; see NaNOf. FTZ concerns F32 alone.
func ToInt(t Int, f Format, m Mode, a, nan uint64) uint64 {
	if m.Flags&FTZ != 0 && f == F32 {
		a = F32.Flush(a)
	}
	n := f.unpack(a)
	if n.kind == notANumber {
		return nan
	}
	limit := uint64(1)<<(t.Bits-1) - 1 // the largest magnitude on n's side
	switch {
	case !t.Signed && n.neg:
		limit = 0
	case !t.Signed:
		limit = limit<<1 | 1
	case n.neg:
		limit++
	}
	v := limit
	if n.kind == finite && n.exp < 64 {
		v = min(limit, m.Round.shift(n.neg, n.sig, uint(63-n.exp)))
	}
	if n.neg {
		v = -v
	}
	return v & (1<<t.Bits - 1)
}
