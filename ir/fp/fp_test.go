package fp

import (
	"math"
	"math/big"
	"testing"
)

var (
	arithmetic = []Format{F16, BF16, F32, F64}
	allRounds  = []Round{RN, RZ, RM, RP, RNA}
)

// exact returns the number that a stands for. It must be finite.
func exact(f Format, a uint64) *big.Rat {
	r := new(big.Rat).SetFloat64(value(f, a))
	if f.unpack(a).kind != finite {
		panic("not a number")
	}
	return r
}

// encode returns the pattern of x, rounded by definition: it looks for the neighbours of x among all patterns.
// A zero has the sign neg.
func encode(f Format, r Round, x *big.Rat, neg bool) uint64 {
	l := &layouts[f]
	if x.Sign() == 0 {
		return f.signed(neg, 0)
	}
	neg = x.Sign() < 0
	x = new(big.Rat).Abs(x)
	lo, hi := uint64(0), l.max+1 // lo <= x < hi, where hi may stand for infinity
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if exact(f, mid).Cmp(x) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	low := exact(f, lo)
	if low.Cmp(x) == 0 {
		return f.signed(neg, lo)
	}
	// The neighbour above the largest number is what would follow if exponents went on: rounding to nearest overflows half-way to it.
	high := new(big.Rat).Add(low, new(big.Rat).Sub(low, exact(f, max(lo, 1)-1)))
	if hi <= l.max {
		high = exact(f, hi)
	}
	side := new(big.Rat).Sub(x, low).Cmp(new(big.Rat).Sub(high, x))
	up := map[Round]bool{
		RN: side > 0 || side == 0 && lo&1 != 0, RNA: side >= 0, RZ: false, RM: neg, RP: !neg,
	}[r]
	if up {
		lo = hi
	}
	if lo > l.max {
		lo = l.inf
	}
	return f.signed(neg, lo)
}

// finiteOnly says whether all operands are finite.
func finiteOnly(f Format, operands ...uint64) bool {
	for _, a := range operands {
		if !Test(f, FiniteNumber, a) {
			return false
		}
	}
	return true
}

// checkExact compares the operations on finite operands with rational arithmetic.
func checkExact(t *testing.T, f Format, r Round, a, b, c uint64) {
	t.Helper()
	if !finiteOnly(f, a, b, c) {
		return
	}
	m, x, y, z := Mode{Round: r}, exact(f, a), exact(f, b), exact(f, c)
	product := new(big.Rat).Mul(x, y)
	opposite := (a^b)&f.sign() != 0
	zero := func(s, o uint64) bool { // the sign of a sum that is zero
		if s&f.sign() == o&f.sign() {
			return s&f.sign() != 0
		}
		return r == RM
	}
	psign := (a ^ b) & f.sign()
	for _, v := range []struct {
		op        string
		got, want uint64
	}{
		{"add", Add(f, m, a, b), encode(f, r, new(big.Rat).Add(x, y), zeroSign(x, y, r, zero(a, b)))},
		{"mul", Mul(f, m, a, b), encode(f, r, product, opposite)},
		{"fma", FMA(f, m, a, b, c), encode(f, r, new(big.Rat).Add(product, z), zeroSign(product, z, r, zero(psign, c)))},
		{"soft add", softAdd(f, m, a, b), Add(f, m, a, b)},
		{"soft mul", softMul(f, m, a, b), Mul(f, m, a, b)},
		{"soft fma", softFMA(f, m, a, b, c), FMA(f, m, a, b, c)},
	} {
		if v.got != v.want {
			t.Errorf("%s %v %v (%#x, %#x, %#x) = %#x, want %#x", v.op, ptxName[f], roundNames[r], a, b, c, v.got, v.want)
		}
	}
	if y.Sign() != 0 {
		q := encode(f, r, new(big.Rat).Quo(x, y), opposite)
		if got, soft := Div(f, m, a, b), softDiv(f, m, a, b); got != q || soft != q {
			t.Errorf("div %v %v (%#x, %#x) = %#x and %#x, want %#x", ptxName[f], roundNames[r], a, b, got, soft, q)
		}
		one := encode(f, r, new(big.Rat).Inv(y), false)
		if got := Rcp(f, m, b); got != one {
			t.Errorf("rcp %v %v (%#x) = %#x, want %#x", ptxName[f], roundNames[r], b, got, one)
		}
	}
	checkSqrt(t, f, m, a)
}

// zeroSign returns the sign of a zero sum: that of zero operands, else that of an exact cancellation.
func zeroSign(x, y *big.Rat, r Round, zeros bool) bool {
	if x.Sign() == 0 && y.Sign() == 0 {
		return zeros
	}
	return r == RM
}

// checkSqrt asserts what defines the root: the result and its neighbours, squared, enclose a.
func checkSqrt(t *testing.T, f Format, m Mode, a uint64) {
	t.Helper()
	if a&f.sign() != 0 || a == 0 {
		return
	}
	square := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }
	x, got := exact(f, a), Sqrt(f, m, a)
	s, below, above := exact(f, got), exact(f, got-1), exact(f, got+1)
	half := big.NewRat(1, 2)
	middle := func(p, q *big.Rat) *big.Rat { return square(new(big.Rat).Mul(half, new(big.Rat).Add(p, q))) }
	var ok bool
	switch m.Round {
	case RN, RNA: // no root lies half-way
		ok = middle(below, s).Cmp(x) < 0 && x.Cmp(middle(s, above)) < 0
	case RP:
		ok = square(below).Cmp(x) < 0 && x.Cmp(square(s)) <= 0
	default:
		ok = square(s).Cmp(x) <= 0 && x.Cmp(square(above)) < 0
	}
	if !ok {
		t.Errorf("sqrt %v %v (%#x) = %#x", ptxName[f], roundNames[m.Round], a, got)
	}
	if soft := softSqrt(f, m, a); soft != got {
		t.Errorf("soft sqrt %v %v (%#x) = %#x, want %#x", ptxName[f], roundNames[m.Round], a, soft, got)
	}
}

func TestArithmeticIsExactlyRounded(t *testing.T) {
	o := newOperands(2)
	for _, f := range arithmetic {
		for range 500 {
			x := o.floats(f)
			for _, r := range allRounds {
				checkExact(t, f, r, x[0], x[1], x[2])
			}
		}
	}
}

// TestHalfPairs meets each pattern of F16 and BF16 with another. Their products are exact in float64, and so are the sums that it
// compares; roots are rounded so far behind that a second rounding does no harm.
func TestHalfPairs(t *testing.T) {
	o := newOperands(3)
	for _, f := range []Format{F16, BF16} {
		for a := range uint64(1 << 16) {
			b := o.float(f)
			if !finiteOnly(f, a, b) {
				continue
			}
			x, y := value(f, a), value(f, b)
			for _, r := range allRounds {
				m := Mode{Round: r}
				if p := x * y; p != 0 {
					same16(t, "mul", f, m, a, b, Mul(f, m, a, b), Convert(f, F64, m, math.Float64bits(p)))
				}
				if s := x + y; s != 0 && s-x == y && s-y == x {
					same16(t, "add", f, m, a, b, Add(f, m, a, b), Convert(f, F64, m, math.Float64bits(s)))
				}
			}
			if x >= 0 {
				same16(t, "sqrt", f, Mode{}, a, 0, Sqrt(f, Mode{}, a), Convert(f, F64, Mode{}, math.Float64bits(math.Sqrt(x))))
			}
		}
	}
}

func same16(t *testing.T, op string, f Format, m Mode, a, b, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s %v %v (%#x, %#x) = %#x, want %#x", op, ptxName[f], roundNames[m.Round], a, b, got, want)
	}
}

// TestHardware compares F32 and F64, which take this machine's operations where they can, with arithmetic on integers, and conversions
// with this machine's.
func TestHardware(t *testing.T) {
	o := newOperands(4)
	for range 200_000 {
		x, y := o.floats(F32), o.floats(F64)
		for _, m := range []Mode{{}, {Flags: FTZ}, {Flags: Sat}, {Flags: FTZ | Sat}} {
			soft(t, F32, m, x)
			soft(t, F64, m, y)
		}
		d := math.Float64frombits(y[0])
		if narrow := Convert(F32, F64, Mode{}, y[0]); d == d && narrow != uint64(math.Float32bits(float32(d))) {
			t.Errorf("convert %#x = %#x", y[0], narrow)
		}
		if d == d && Integral(F64, Mode{}, y[0]) != math.Float64bits(math.RoundToEven(d)) {
			t.Errorf("integral %#x = %#x", y[0], Integral(F64, Mode{}, y[0]))
		}
	}
}

// soft compares the fast operations with those that use integers alone.
func soft(t *testing.T, f Format, m Mode, x [3]uint64) {
	t.Helper()
	a, b, c := x[0], x[1], x[2]
	if m.Flags&FTZ != 0 {
		a, b, c = f.Flush(a), f.Flush(b), f.Flush(c)
	}
	for _, v := range []struct {
		op        string
		got, want uint64
	}{
		{"add", Add(f, m, a, b), softAdd(f, m, a, b)},
		{"mul", Mul(f, m, a, b), softMul(f, m, a, b)},
		{"fma", FMA(f, m, a, b, c), softFMA(f, m, a, b, c)},
		{"div", Div(f, m, a, b), softDiv(f, m, a, b)},
		{"sqrt", Sqrt(f, Mode{Flags: m.Flags &^ Sat}, a), softSqrt(f, m, a)},
	} {
		if v.op != "sqrt" {
			v.want = f.finish(m, v.want)
		}
		if v.got != v.want {
			t.Errorf("%s %v %+v (%#x, %#x, %#x) = %#x, want %#x", v.op, ptxName[f], m, a, b, c, v.got, v.want)
		}
	}
}

// TestFlush pins what FTZ does at the border, where the chip rounds as if exponents had no lower bound.
func TestFlush(t *testing.T) {
	ftz := Mode{Flags: FTZ}
	for _, v := range []struct {
		name      string
		got, want uint64
	}{
		{"exactly representable below the border", Mul(F32, ftz, 0x3f7fffff, 0x00800000), 0},
		{"reaches the border as a subnormal", Mul(F32, Mode{}, 0x3f7fffff, 0x00800000), 0x00800000},
		{"rounds to the border", Mul(F32, ftz, 0x3f7ff800, 0x00800400), 0x00800000},
		{"negative", Mul(F32, ftz, 0xbf7fffff, 0x00800000), 0x80000000},
		{"subnormal operand", Add(F32, ftz, 0x807fffff, 0), 0},
		{"two of them", Add(F32, ftz, 0x807fffff, 0x80000001), 0x80000000},
		{"f16", Mul(F16, ftz, 0x3bff, 0x0400), 0},
	} {
		if v.got != v.want {
			t.Errorf("%s: %#x, want %#x", v.name, v.got, v.want)
		}
	}
}

// TestLayouts guards the table of formats.
func TestLayouts(t *testing.T) {
	for f, l := range layouts {
		f := Format(f)
		if encoded := l.width - l.pad; l.one != uint64(l.bias)<<l.fraction || !f.IsNaN(f.QuietNaN()) || l.inf>>(encoded-1) != 0 {
			t.Errorf("%v: %+v", ptxName[f], l)
		}
		if f.IsNaN(l.last << l.pad) {
			t.Errorf("%v: %#x is NaN", ptxName[f], l.last)
		}
		if f.IsNaN(l.max<<l.pad) || l.max >= l.inf {
			t.Errorf("%v: largest number %#x", ptxName[f], l.max)
		}
	}
}
