package ir

import (
	"math"

	"optcheck/ir/fp"
)

func init() {
	for c, f := range map[Code]evalFunc{
		FAdd:  packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Add(f, m, s[0], s[1]) }),
		FMul:  packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Mul(f, m, s[0], s[1]) }),
		FFma:  packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.FMA(f, m, s[0], s[1], s[2]) }),
		FDiv:  packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Div(f, m, s[0], s[1]) }),
		FSqrt: packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Sqrt(f, m, s[0]) }),
		FRcp:  packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Rcp(f, m, s[0]) }),
		FCvt: func(o *Op, s *[4]uint64, _ uint64) uint64 {
			return fp.Convert(format(o.To), format(o.Type), o.Mode.float(), s[0])
		},
		FRint: packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Integral(f, m, s[0]) }),
		FToI: func(o *Op, s *[4]uint64, _ uint64) uint64 {
			t, f := integer(o.To), format(o.Type)
			nan := fp.NaNOf(t, f)
			if o.Mode&IntNaN != 0 {
				nan = 1 << (t.Bits - 1)
			}
			return fp.ToInt(t, f, o.Mode.float(), s[0], nan) & mask(o.To)
		},
		CopySign: packed(func(f fp.Format, _ fp.Mode, s *[4]uint64) uint64 { return fp.CopySign(f, s[0], s[1]) }),
		TestP: func(o *Op, s *[4]uint64, _ uint64) uint64 {
			return truth(fp.Test(format(o.Type), testClasses[o.Imm], s[0]))
		},
		Approx: approximate,
		Abs:    magnitude,
		Neg:    negate,
		Min:    smaller,
		Max:    larger,
		Cmp:    compareFloats,
	} {
		floats[c] = f
	}
	evals[IToF] = fromInteger
}

func fromInteger(o *Op, s *[4]uint64, _ uint64) uint64 {
	return fp.FromInt(format(o.To), o.Mode.float(), integer(o.Type), s[0])
}

var testClasses = [...]fp.Class{fp.FiniteNumber, fp.Infinite, fp.Number, fp.NotANumber, fp.Normal, fp.Subnormal}

// format is the floating-point format of a type; of packed ones that of a half.
func format(t Type) fp.Format {
	switch t {
	case F16, F16x2:
		return fp.F16
	case BF16, BF16x2:
		return fp.BF16
	case F64:
		return fp.F64
	case TF32:
		return fp.TF32
	case E4M3:
		return fp.E4M3
	case E5M2:
		return fp.E5M2
	}
	return fp.F32
}

func integer(t Type) fp.Int { return fp.Int{Bits: uint(t.Bits()), Signed: t.Signed()} }

// float is the mode of package fp.
func (m Mode) float() fp.Mode {
	var f fp.Flags
	for _, x := range []struct {
		m Mode
		f fp.Flags
	}{{FTZ, fp.FTZ}, {Sat, fp.Sat}, {Relu, fp.Relu}, {SatFinite, fp.Finite}, {NaN, fp.NaN}, {XorSign, fp.XorSign}} {
		if m&x.m != 0 {
			f |= x.f
		}
	}
	return fp.Mode{Round: fp.Round(m & RoundMask), Flags: f}
}

// packed computes on both halves of packed types. A NaN that may be any one is another one where undefined content is.
func packed(compute func(fp.Format, fp.Mode, *[4]uint64) uint64) evalFunc {
	return func(o *Op, s *[4]uint64, undefined uint64) uint64 {
		f, m := format(o.Type), o.Mode.float()
		do := compute
		if o.Mode&AnyNaN != 0 && undefined != 0 {
			do = func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 {
				return anyNaN(f, compute(f, m, s))
			}
		}
		if o.Type != F16x2 && o.Type != BF16x2 {
			return do(f, m, s)
		}
		lo, hi := *s, *s
		for i := range s {
			lo[i], hi[i] = s[i]&0xffff, s[i]>>16&0xffff
		}
		return do(f, m, &lo) | do(f, m, &hi)<<16
	}
}

var (
	negate    = packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Neg(f, m.Flags, s[0]) })
	magnitude = packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 { return fp.Abs(f, m.Flags, s[0]) })
	smaller   = packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 {
		return relu(f, m, fp.Min(f, m.Flags, s[0], s[1]))
	})
	larger = packed(func(f fp.Format, m fp.Mode, s *[4]uint64) uint64 {
		return relu(f, m, fp.Max(f, m.Flags, s[0], s[1]))
	})
)

// anyNaN is a number, or another NaN if it is none.
func anyNaN(f fp.Format, v uint64) uint64 {
	if f.IsNaN(v) {
		return f.OtherNaN()
	}
	return v
}

// relu makes zero of a negative number if the mode says so.
func relu(f fp.Format, m fp.Mode, v uint64) uint64 {
	if m.Flags&fp.Relu != 0 && fp.Compare(f, 0, fp.LT, v, 0) {
		return 0
	}
	return v
}

var relations = map[Cond]fp.Relation{EQ: fp.EQ, NE: fp.NE, LT: fp.LT, LE: fp.LE, GT: fp.GT, GE: fp.GE, EQU: fp.EQU, NEU: fp.NEU, LTU: fp.LTU,
	LEU: fp.LEU, GTU: fp.GTU, GEU: fp.GEU, Num: fp.NUM, Unordered: fp.NAN, Never: 0, Always: fp.NUM | fp.NAN}

func compareFloats(o *Op, s *[4]uint64, _ uint64) uint64 {
	return truth(fp.Compare(format(o.Type), o.Mode.float().Flags, relations[o.Cond], s[0], s[1]))
}

// approximate computes approximate functions. The results are near the exact ones; what counts is that both sides have the
// same. Reciprocals, roots and their inverses are exactly rounded, because the code that refines them is exact then.
func approximate(o *Op, s *[4]uint64, _ uint64) uint64 {
	f, m := format(o.Type), o.Mode.float()
	switch Approximate(o.Imm) {
	case ApproxRcp:
		return fp.Rcp(f, m, s[0])
	case ApproxSqrt:
		return fp.Sqrt(f, m, s[0])
	case ApproxRcp64H:
		return highWord(fp.Rcp(fp.F64, fp.Mode{Round: fp.RZ}, s[0]<<32))
	case ApproxRsqrt64H:
		return highWord(math.Float64bits(1 / math.Sqrt(math.Float64frombits(s[0]<<32))))
	}
	x := toFloat64(f, m, s[0])
	var r float64
	switch Approximate(o.Imm) {
	case ApproxRsqrt:
		r = 1 / math.Sqrt(x)
	case ApproxEx2:
		r = math.Exp2(x)
	case ApproxLg2:
		r = math.Log2(x)
	case ApproxSin:
		r = math.Sin(x)
	case ApproxCos:
		r = math.Cos(x)
	case ApproxTanh:
		r = math.Tanh(x)
	case ApproxSinTurn:
		r = math.Sin(2 * math.Pi * x)
	case ApproxCosTurn:
		r = math.Cos(2 * math.Pi * x)
	default:
		r = x
	}
	if f != fp.F64 && math.IsNaN(r) {
		return f.QuietNaN() // whatever the operand is: an H200 shows it
	}
	return fp.Convert(f, fp.F64, m, math.Float64bits(r))
}

// highWord is the upper half of an approximation of f64: all NaNs have the same one.
func highWord(v uint64) uint64 {
	if fp.F64.IsNaN(v) {
		return fp.F32.QuietNaN()
	}
	return v >> 32
}

// ToFloat64 is a number of a type as a float64, which holds it exactly; FromFloat64 rounds to the nearest one of a type.
func ToFloat64(t Type, v uint64) float64 { return toFloat64(format(t), fp.Mode{}, v) }

// Float64s are numbers of a type as float64s.
func Float64s(t Type, vs []uint64) []float64 {
	out := make([]float64, len(vs))
	for i, v := range vs {
		out[i] = ToFloat64(t, v)
	}
	return out
}

// FromFloat64: see ToFloat64.
func FromFloat64(t Type, x float64) uint64 {
	if t == F32 && x == x {
		return uint64(math.Float32bits(float32(x))) // as Convert does
	}
	return fp.Convert(format(t), fp.F64, fp.Mode{}, math.Float64bits(x))
}

func toFloat64(f fp.Format, m fp.Mode, a uint64) float64 {
	if m.Flags == 0 && !f.IsNaN(a) { // as Convert does, without its steps
		switch f {
		case fp.F32:
			return float64(math.Float32frombits(uint32(a)))
		case fp.BF16:
			return float64(math.Float32frombits(uint32(a) << 16))
		}
	}
	return math.Float64frombits(fp.Convert(fp.F64, f, fp.Mode{Flags: m.Flags & fp.FTZ}, a))
}
