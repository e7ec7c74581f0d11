package fp

import (
	"math/big"
	"testing"
)

// TestConvert compares conversions between all formats, from integers and to integers with rational arithmetic.
func TestConvert(t *testing.T) {
	o := newOperands(5)
	formats := []Format{F16, BF16, F32, F64, E4M3, E5M2}
	for range 400 {
		for _, from := range formats {
			a := o.float(from)
			if !finiteOnly(from, a) {
				continue
			}
			x := exact(from, a)
			for _, r := range allRounds {
				for _, to := range formats {
					got, want := Convert(to, from, Mode{Round: r}, a), encode(to, r, x, a&from.sign() != 0)
					if got != want {
						t.Errorf("%v to %v %v (%#x) = %#x, want %#x", ptxName[from], ptxName[to], roundNames[r], a, got, want)
					}
				}
				checkInts(t, from, r, a, x)
			}
		}
	}
}

// checkInts compares conversions of a, which stands for x, to integers.
func checkInts(t *testing.T, f Format, r Round, a uint64, x *big.Rat) {
	t.Helper()
	n := integral(r, x)
	for _, w := range []uint{8, 16, 32, 64} {
		for _, signed := range []bool{false, true} {
			lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), w)
			if signed {
				hi.Rsh(hi, 1)
				lo.Neg(hi)
			}
			hi.Sub(hi, big.NewInt(1))
			v := new(big.Int).Set(n)
			if v.Cmp(lo) < 0 {
				v.Set(lo)
			} else if v.Cmp(hi) > 0 {
				v.Set(hi)
			}
			want := v.Uint64()
			if v.Sign() < 0 {
				want = -new(big.Int).Neg(v).Uint64()
			}
			want &= 1<<w - 1
			i := Int{w, signed}
			if got := ToInt(i, f, Mode{Round: r}, a, 7); got != want {
				t.Errorf("%v to %+v %v (%#x) = %#x, want %#x", ptxName[f], i, roundNames[r], a, got, want)
			}
			back := encode(f, r, new(big.Rat).SetInt(v), false)
			if got := FromInt(f, Mode{Round: r}, i, want); got != back {
				t.Errorf("%+v to %v %v (%#x) = %#x, want %#x", i, ptxName[f], roundNames[r], want, got, back)
			}
		}
	}
}

// integral rounds x to an integer.
func integral(r Round, x *big.Rat) *big.Int {
	floor := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean, and the denominator is positive
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(floor))
	side, neg := rest.Cmp(big.NewRat(1, 2)), x.Sign() < 0
	up := map[Round]bool{
		RN: side > 0 || side == 0 && floor.Bit(0) != 0, RNA: side > 0 || side == 0 && !neg,
		RZ: neg && rest.Sign() != 0, RM: false, RP: rest.Sign() != 0,
	}[r]
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// TestRoundTrips asserts that each pattern of a small format survives the way through each wider one.
func TestRoundTrips(t *testing.T) {
	wider := map[Format][]Format{E4M3: {F16, BF16, F32, F64}, E5M2: {F16, BF16, F32, F64}, F16: {F32, F64}, BF16: {F32, F64}}
	for f, ws := range wider {
		for _, w := range ws {
			for a := range uint64(1) << f.Width() {
				want := a
				if f.IsNaN(a) {
					continue
				}
				if got := Convert(f, w, Mode{}, Convert(w, f, Mode{}, a)); got != want {
					t.Errorf("%#x of %v through %v = %#x", a, ptxName[f], ptxName[w], got)
				}
			}
		}
	}
}
