package fp

// Relation is a set of the relations that two values can have: a comparison is true if theirs is in its set.
type Relation uint8

// The four relations, and the comparisons of the PTX ISA (setp, set) as their sets. Those that end in U hold for NaNs, too.
const (
	LT  Relation = 1 << iota
	EQ           // −0 is equal to +0
	GT           //
	NAN          // one of the two, or both, is NaN

	NE  = LT | GT
	LE  = LT | EQ
	GE  = GT | EQ
	NUM = LT | EQ | GT
	LTU = LT | NAN
	LEU = LE | NAN
	GTU = GT | NAN
	GEU = GE | NAN
	EQU = EQ | NAN
	NEU = NE | NAN
)

// Compare says whether the relation of a to b is one of r. Of the flags, FTZ has a meaning.
func Compare(f Format, flags Flags, r Relation, a, b uint64) bool {
	return r&f.relation(flags, a, b) != 0
}

func (f Format) relation(flags Flags, a, b uint64) Relation {
	if f.IsNaN(a) || f.IsNaN(b) {
		return NAN
	}
	if flags&FTZ != 0 {
		a, b = f.Flush(a), f.Flush(b)
	}
	x, y := f.order(a), f.order(b)
	switch {
	case x < y:
		return LT
	case x > y:
		return GT
	}
	return EQ
}

// order maps numbers to integers in the same order; both zeros to 0.
func (f Format) order(a uint64) int64 {
	m := int64(f.magnitude(a))
	if a&f.sign() != 0 {
		return -m
	}
	return m
}

// Min returns the smaller of a and b, where −0 is below +0. Of a number and NaN it returns the number unless NaN is among the flags.
func Min(f Format, flags Flags, a, b uint64) uint64 { return f.choose(flags, LT, a, b) }

// Max returns the larger of a and b; see Min.
func Max(f Format, flags Flags, a, b uint64) uint64 { return f.choose(flags, GT, a, b) }

func (f Format) choose(flags Flags, want Relation, a, b uint64) uint64 {
	if flags&FTZ != 0 {
		a, b = f.Flush(a), f.Flush(b)
	}
	xor := (a ^ b) & f.sign()
	if flags&XorSign != 0 {
		a, b = f.magnitude(a), f.magnitude(b)
	}
	r := a
	switch x, y := f.IsNaN(a), f.IsNaN(b); {
	case x && y, flags&NaN != 0 && (x || y):
		return f.nan(b, a)
	case x:
		r = b
	case y:
	default:
		rel := f.relation(0, a, b)
		if rel == EQ { // equal, or zeros: the sign decides
			rel = GT
			if a&f.sign() != 0 {
				rel = LT
			}
		}
		if rel != want {
			r = b
		}
	}
	r &= f.sign()<<1 - 1
	if flags&XorSign != 0 {
		r |= xor
	}
	return r
}

// Neg returns −a. Of the flags, FTZ has a meaning. A NaN keeps its sign, as it does where machine code negates an operand.
func Neg(f Format, flags Flags, a uint64) uint64 { return f.signs(flags, a, a^f.sign()) }

// Abs returns |a|. Of the flags, FTZ has a meaning. A NaN keeps its sign.
func Abs(f Format, flags Flags, a uint64) uint64 { return f.signs(flags, a, f.magnitude(a)) }

// signs returns r, which is a with another sign, unless a is NaN.
func (f Format) signs(flags Flags, a, r uint64) uint64 {
	switch {
	case f.IsNaN(a):
		return f.nan(a)
	case flags&FTZ != 0:
		r = f.Flush(r)
	}
	return r & (f.sign()<<1 - 1)
}

// CopySign returns the magnitude of b with the sign of a, as copysign of the PTX ISA orders its operands.
func CopySign(f Format, a, b uint64) uint64 { return f.magnitude(b) | a&f.sign() }

// Class is a set of classes of values.
type Class uint8

// The classes, and the tests of the PTX ISA (testp) as their sets. Zero is normal there: an H200 says so.
const (
	Subnormal Class = 1 << iota
	Normal
	Infinite
	NotANumber

	FiniteNumber = Subnormal | Normal
	Number       = FiniteNumber | Infinite
)

// Test says whether the class of a is one of c.
func Test(f Format, c Class, a uint64) bool {
	l := &layouts[f]
	a = f.magnitude(a)
	is := Normal
	switch {
	case f.IsNaN(a):
		is = NotANumber
	case a != 0 && a < 1<<(l.fraction+l.pad):
		is = Subnormal
	case a > l.max<<l.pad:
		is = Infinite
	}
	return is&c != 0
}
