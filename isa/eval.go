package isa

import "math/bits"

// Eval computes a micro-operation for the values of its sources; predicates and carries are 1
// or 0. A negated word w is given as 2^32 - w, which MicroCarry distinguishes from 0. ok is
// false for operations that depend on more than their sources, or that are unknown.
func (mi *Micro) Eval(src []uint64) (r uint32, ok bool) {
	var w [5]uint32
	if len(src) > len(w) || len(src) < mi.Op.sources() {
		return 0, false
	}
	var sum uint64
	for i, v := range src {
		w[i] = uint32(v)
		sum += v
	}
	switch mi.Op {
	case MicroMov:
		return w[0], true
	case MicroAdd, MicroAddHi:
		return uint32(sum), true
	case MicroCarry:
		return bit(sum >= 1<<32), true
	case MicroCarry2:
		return bit(sum >= 2<<32), true
	case MicroLop3:
		return Lut(mi.LUT, w[0], w[1], w[2]), true
	case MicroTest:
		return bit(Lut(mi.LUT, w[0], w[1], w[2]) != 0), true
	case MicroPlop:
		return uint32(mi.LUT >> (w[0]<<2 | w[1]<<1 | w[2]) & 1), true
	case MicroSel:
		if w[2] == 0 {
			return w[1], true
		}
		return w[0], true
	case MicroSetp:
		return bit(mi.setp(w[:len(src)])), true
	case MicroSetpWide:
		return bit(mi.setpWide(w[:len(src)])), true
	case MicroSelCmp:
		if Compare(mi.Cmp, mi.Signed, w[2], 0) {
			return w[0], true
		}
		return w[1], true
	case MicroMin, MicroMax:
		if Compare("LT", mi.Signed, w[0], w[1]) == (mi.Op == MicroMin) {
			return w[0], true
		}
		return w[1], true
	}
	return mi.arith(w, len(src))
}

// sources returns the minimum number of sources of an operation.
func (o MicroOp) sources() int {
	switch o {
	case MicroMadHi, MicroLeaHi, MicroAddWide, MicroSetpWide:
		return 4
	case MicroLop3, MicroTest, MicroPlop, MicroSel, MicroSelCmp, MicroMad, MicroShfHi, MicroShfLo, MicroPrmt, MicroLea, MicroLeaCarry,
		MicroBfe,
		MicroShlOr, MicroAddShl, MicroXorAdd:
		return 3
	case MicroSetp, MicroMul, MicroMulHi, MicroShl, MicroShr, MicroMin, MicroMax, MicroBit:
		return 2
	case MicroMov:
		return 1
	}
	return 0
}

// IsPredicate reports whether the result of an operation is a predicate or carry.
func (o MicroOp) IsPredicate() bool {
	switch o {
	case MicroCarry, MicroCarry2, MicroSetp, MicroPlop, MicroLeaCarry, MicroBit, MicroSetpWide, MicroTest:
		return true
	}
	return false
}

// arith computes products, shifts and bit operations.
func (mi *Micro) arith(w [5]uint32, n int) (uint32, bool) {
	pair := func(hi, lo uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }
	switch mi.Op {
	case MicroMul:
		return w[0] * w[1], true
	case MicroMad:
		return w[0]*w[1] + w[2], true
	case MicroMulHi, MicroMadHi:
		p := uint64(w[0]) * uint64(w[1])
		if mi.Signed {
			p = uint64(int64(int32(w[0])) * int64(int32(w[1])))
		}
		if mi.Op == MicroMadHi {
			p += pair(w[3], w[2])
		}
		return uint32(p >> 32), true
	case MicroShl:
		return uint32(uint64(w[0]) << min(w[1], 32)), true
	case MicroShr:
		if mi.Signed {
			return uint32(int64(int32(w[0])) >> min(w[1], 32)), true
		}
		return uint32(uint64(w[0]) >> min(w[1], 32)), true
	case MicroShfHi:
		return uint32(pair(w[1], w[0]) << (w[2] & 31) >> 32), true
	case MicroShfLo:
		return uint32(pair(w[1], w[0]) >> (w[2] & 31)), true
	case MicroLea:
		return w[0]<<(w[1]&31) + w[2], true
	case MicroLeaCarry:
		_, c := bits.Add32(w[0]<<(w[1]&31), w[2], 0)
		return c, true
	case MicroLeaHi:
		x := pair(w[1], w[0])
		if mi.Signed {
			x = uint64(int64(int32(w[0])))
		}
		return uint32(x<<(w[2]&31)>>32) + w[3] + w[4], true
	case MicroPrmt:
		return Permute(w[0], w[1], w[2]), true
	case MicroAddWide:
		return uint32((pair(w[1], w[0])<<(w[4]&31) + pair(w[3], w[2])) >> 32), true
	case MicroBfe:
		return mi.bfe(w), true
	case MicroShlOr:
		return w[0]<<(w[1]&31) | w[2], true
	case MicroAddShl:
		return (w[0] + w[1]) << (w[2] & 31), true
	case MicroXorAdd:
		return w[0] ^ w[1] + w[2], true
	case MicroBit:
		return w[0] >> (w[1] & 31) & 1, true
	}
	return 0, false
}

func (mi *Micro) bfe(w [5]uint32) uint32 {
	at, n := w[1]&31, min(w[2]&31, 32-w[1]&31)
	if n == 0 {
		return 0
	}
	x := w[0] << (32 - n - at)
	if mi.Signed {
		return uint32(int32(x) >> (32 - n))
	}
	return x >> (32 - n)
}

// setp returns the result of MicroSetp: a comparison, combined with a further predicate.
func (mi *Micro) setp(w []uint32) bool {
	r := Compare(mi.Cmp, mi.Signed, w[0], w[1])
	if len(w) > 3 && w[0] == w[1] {
		r = w[3] != 0
	}
	if len(w) > 2 {
		r = combine(mi.Bool, r, w[2] != 0)
	}
	return r
}

func (mi *Micro) setpWide(w []uint32) bool {
	r := Compare(mi.Cmp, mi.Signed, w[1], w[3])
	if w[1] == w[3] {
		r = Compare(mi.Cmp, false, w[0], w[2])
	}
	if len(w) > 4 {
		r = combine(mi.Bool, r, w[4] != 0)
	}
	return r
}

func combine(op string, a, b bool) bool {
	switch op {
	case "AND":
		return a && b
	case "OR":
		return a || b
	case "XOR":
		return a != b
	}
	return a
}

// Compare compares two words: EQ, NE, LT, LE, GT or GE.
func Compare(cmp string, signed bool, a, b uint32) bool {
	x, y := int64(a), int64(b)
	if signed {
		x, y = int64(int32(a)), int64(int32(b))
	}
	switch cmp {
	case "EQ":
		return x == y
	case "NE":
		return x != y
	case "LT":
		return x < y
	case "LE":
		return x <= y
	case "GT":
		return x > y
	}
	return x >= y
}

// Lut computes the bitwise function of MicroLop3.
func Lut(lut uint8, a, b, c uint32) (r uint32) {
	for i := 0; i < 8; i++ {
		if lut>>i&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if i&4 == 0 {
			x = ^x
		}
		if i&2 == 0 {
			y = ^y
		}
		if i&1 == 0 {
			z = ^z
		}
		r |= x & y & z
	}
	return r
}

// Permute returns the byte permutation of MicroPrmt.
func Permute(a, sel, b uint32) (r uint32) {
	ab := uint64(b)<<32 | uint64(a)
	for i := uint(0); i < 4; i++ {
		r |= uint32(ab>>(8*(sel>>(4*i)&7))&0xff) << (8 * i)
	}
	return r
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
