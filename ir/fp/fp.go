// Package fp is the exactly rounded floating point of NVIDIA's GPUs: pure functions on bit patterns, for PTX and for machine code alike.
//
// A value is a bit pattern in the low bits of a uint64; operands may have anything above the width of their format, results have zeros.
// Packed types (f16x2, bf16x2) are two calls. The functions compute what an H200 computes, bit for bit, NaNs included: testdata/h200.txt
// holds what that chip stored for 816 forms of the PTX ISA. What is approximate (ex2, lg2, sin, rcp.approx, …) is not here: no formula
// defines its results.
package fp

import "math/bits"

// Format is the encoding of a floating point number.
type Format uint8

// The formats. TF32 occupies a 32-bit register: its 19 bits are the upper ones. TF32, E4M3 and E5M2 are operands of Convert only.
const (
	F16 Format = iota
	BF16
	TF32
	F32
	F64
	E4M3
	E5M2
)

// Round is the rule that chooses one of the two neighbours of an exact result.
type Round uint8

// The roundings, with the names of the PTX ISA.
const (
	RN  Round = iota // to nearest, ties to even
	RZ               // toward zero
	RM               // toward minus infinity
	RP               // toward plus infinity
	RNA              // to nearest, ties away from zero
)

// Flags are the modifiers of an instruction beside its rounding.
type Flags uint8

// The modifiers, with the names of the PTX ISA.
const (
	FTZ     Flags = 1 << iota // .ftz: subnormal operands and results become zeros of their signs
	Sat                       // .sat: the result is clamped to [+0, 1]; NaN becomes +0
	Relu                      // .relu: negative results become +0
	Finite                    // .satfinite: what exceeds the largest finite number becomes that number
	NaN                       // .NaN of Min and Max: one NaN suffices for a NaN
	XorSign                   // .xorsign.abs of Min and Max: of the magnitudes, with the exclusive or of the signs
)

// Mode is how an instruction rounds and what it does with its result. Its zero value is round to nearest even and nothing else.
type Mode struct {
	Round Round
	Flags Flags
}

// layout describes the encoding of a format.
type layout struct {
	width    uint   // bits of a register that a value occupies
	fraction uint   // bits of the significand behind the point
	pad      uint   // bits below the encoding
	bias     int    // of the exponent
	max      uint64 // the largest finite number
	inf      uint64 // infinity; of E4M3, which has none, NaN
	last     uint64 // the largest magnitude that is not NaN
	nan      uint64 // the NaN that operations make
	one      uint64 // 1.0
}

// The NaNs are those that an H200 stores; the PTX ISA names only that of .f32.
var layouts = [...]layout{
	F16:  {width: 16, fraction: 10, bias: 15, max: 0x7bff, inf: 0x7c00, last: 0x7c00, nan: 0x7fff, one: 0x3c00},
	BF16: {width: 16, fraction: 7, bias: 127, max: 0x7f7f, inf: 0x7f80, last: 0x7f80, nan: 0x7fff, one: 0x3f80},
	TF32: {width: 32, fraction: 10, pad: 13, bias: 127, max: 0x3fbff, inf: 0x3fc00, last: 0x3fc00, nan: 0x3ffff, one: 0x1fc00},
	F32:  {width: 32, fraction: 23, bias: 127, max: 0x7f7fffff, inf: 0x7f800000, last: 0x7f800000, nan: 0x7fffffff, one: 0x3f800000},
	F64: {width: 64, fraction: 52, bias: 1023, max: 0x7fefffffffffffff, inf: 0x7ff0000000000000, last: 0x7ff0000000000000,
		nan: 0xfff8000000000000, one: 0x3ff0000000000000},
	E4M3: {width: 8, fraction: 3, bias: 7, max: 0x7e, inf: 0x7f, last: 0x7e, nan: 0x7f, one: 0x38},
	E5M2: {width: 8, fraction: 2, bias: 15, max: 0x7b, inf: 0x7c, last: 0x7c, nan: 0x7f, one: 0x3c},
}

// Width returns the number of bits of a value in a register.
func (f Format) Width() uint { return layouts[f].width }

// QuietNaN returns the NaN that an operation makes of operands that are not NaNs.
func (f Format) QuietNaN() uint64 { return layouts[f].nan << layouts[f].pad }

// sign returns the mask of the sign.
func (f Format) sign() uint64 { return 1 << (layouts[f].width - 1) }

// magnitude returns a without its sign and without what lies above its width.
func (f Format) magnitude(a uint64) uint64 { return a & (f.sign() - 1) }

// signed returns magnitude with a sign.
func (f Format) signed(neg bool, magnitude uint64) uint64 {
	if neg {
		return magnitude | f.sign()
	}
	return magnitude
}

// OtherNaN is a NaN that no operation makes of numbers: it is negative, and its payload has ones and zeros in turn, from the top. As another
// format it is that one's. f has more than 8 bits.
func (f Format) OtherNaN() uint64 {
	l := &layouts[f]
	quiet, payload := uint64(1)<<(l.fraction-1), uint64(0x5555555555555555)
	if payload&quiet == 0 {
		payload <<= 1
	}
	return f.sign() | (l.inf|payload&(2*quiet-1))<<l.pad
}

// IsNaN says whether a is not a number.
func (f Format) IsNaN(a uint64) bool {
	l := &layouts[f]
	return f.magnitude(a)>>l.pad > l.last
}

// nan returns the NaN that an operation makes of its operands. F64 alone keeps the sign and the payload of an operand, the first of those
// given that is NaN, and makes it quiet.
func (f Format) nan(operands ...uint64) uint64 {
	if f == F64 {
		for _, a := range operands {
			if f.IsNaN(a) {
				return a | 1<<(layouts[F64].fraction-1)
			}
		}
	}
	return f.QuietNaN()
}

// Flush returns a, or the zero of its sign if a is subnormal.
func (f Format) Flush(a uint64) uint64 {
	l := &layouts[f]
	if f.magnitude(a) < 1<<(l.fraction+l.pad) {
		return a & f.sign()
	}
	return a
}

// finish applies what a mode does to a result behind the rounding.
func (f Format) finish(m Mode, r uint64) uint64 {
	if m.Flags&(Sat|Relu) == 0 {
		return r
	}
	l := &layouts[f]
	switch {
	case f.IsNaN(r):
		if m.Flags&Sat != 0 {
			return 0
		}
		return f.QuietNaN()
	case r&f.sign() != 0:
		return 0
	case m.Flags&Sat != 0 && r > l.one:
		return l.one
	}
	return r
}

// kind tells numbers from what is none.
type kind uint8

const (
	finite kind = iota
	infinite
	notANumber
)

// number is an unpacked value: ±sig·2^(exp-63), where the top bit of sig is set unless the number is zero.
type number struct {
	sig  uint64
	exp  int
	neg  bool
	kind kind
}

func (n number) zero() bool { return n.kind == finite && n.sig == 0 }

// unpack reads a bit pattern.
func (f Format) unpack(a uint64) number {
	l := &layouts[f]
	n := number{neg: a&f.sign() != 0}
	a = f.magnitude(a) >> l.pad
	switch {
	case a > l.last:
		n.kind = notANumber
	case a > l.max:
		n.kind = infinite
	case a>>l.fraction == 0:
		if a != 0 {
			lead := bits.LeadingZeros64(a)
			n.sig, n.exp = a<<lead, 1-l.bias-int(l.fraction)+63-lead
		}
	default:
		n.sig, n.exp = (a|1<<l.fraction)<<(63-l.fraction), int(a>>l.fraction)-l.bias
		n.sig |= 1 << 63
	}
	return n
}
