package ir

import (
	"math"
	"math/bits"

	"optcheck/ir/fp"
)

// Eval computes an operation of one lane. undefined is what a result is that nothing defines (a
// division by zero): two runs that differ in it show what depends on it.
func Eval(o *Op, s *[4]uint64, undefined uint64) uint64 {
	f := evals[o.Code]
	if o.Type.Float() && floats[o.Code] != nil {
		f = floats[o.Code]
	}
	if f == nil {
		panic("ir: an operation without meaning")
	}
	return f(o, s, undefined)
}

// floats has the operations whose meaning is another one for floating-point numbers, or that are of those alone.
var floats [256]evalFunc

type evalFunc func(o *Op, s *[4]uint64, undefined uint64) uint64

// evals has the meaning of each operation. Floating-point operations are in evalfloat.go.
var evals = [256]evalFunc{
	Mov: func(o *Op, s *[4]uint64, _ uint64) uint64 { return s[0] & mask(o.Type) },
	Add: func(o *Op, s *[4]uint64, _ uint64) uint64 { return addSat(o, s[0], s[1], s[0]+s[1], false) },
	Sub: func(o *Op, s *[4]uint64, _ uint64) uint64 { return addSat(o, s[0], s[1], s[0]-s[1], true) },
	Carry: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		m := mask(o.Type)
		sum, c1 := bits.Add64(s[0]&m, s[1]&m, s[2]&1)
		if o.Type.Bits() == 64 {
			return c1
		}
		return sum >> o.Type.Bits() & 1
	},
	Borrow: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		m := mask(o.Type)
		_, b := bits.Sub64(s[0]&m, s[1]&m, s[2]&1)
		return b
	},
	Mul:   func(o *Op, s *[4]uint64, _ uint64) uint64 { return s[0] * s[1] & mask(o.Type) },
	MulHi: mulHi,
	Div:   divide,
	Rem:   divide,
	And:   func(o *Op, s *[4]uint64, _ uint64) uint64 { return s[0] & s[1] & mask(o.Type) },
	Or:    func(o *Op, s *[4]uint64, _ uint64) uint64 { return (s[0] | s[1]) & mask(o.Type) },
	Xor:   func(o *Op, s *[4]uint64, _ uint64) uint64 { return (s[0] ^ s[1]) & mask(o.Type) },
	Not:   func(o *Op, s *[4]uint64, _ uint64) uint64 { return ^s[0] & mask(o.Type) },
	Lop3: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		return Lop(uint8(o.Imm), s[0], s[1], s[2]) & mask(o.Type)
	},
	Shl:    shift,
	Shr:    shift,
	Funnel: funnel,
	Min:    minMax,
	Max:    minMax,
	Abs: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		if x := sext(o.Type, s[0]); x < 0 {
			return uint64(-x) & mask(o.Type)
		}
		return s[0] & mask(o.Type)
	},
	Neg: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		return -s[0] & mask(o.Type)
	},
	Sel: func(o *Op, s *[4]uint64, undefined uint64) uint64 {
		v := s[2] & mask(o.Type)
		if s[0] != 0 {
			v = s[1] & mask(o.Type)
		}
		switch {
		case o.Mode&AnyNaN == 0 || undefined == 0:
			return v
		case o.Type.Bits() == 64:
			return anyNaN(fp.F64, v)
		}
		return anyNaN(fp.F32, v)
	},
	Cmp: compare,
	Clz: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		return uint64(bits.LeadingZeros64(s[0]&mask(o.Type)) - 64 + o.Type.Bits())
	},
	Popc: func(o *Op, s *[4]uint64, _ uint64) uint64 { return uint64(bits.OnesCount64(s[0] & mask(o.Type))) },
	Brev: func(o *Op, s *[4]uint64, _ uint64) uint64 { return bits.Reverse64(s[0]) >> (64 - o.Type.Bits()) },
	Find: find,
	Ext: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		if o.Type.Signed() {
			return uint64(sext(o.Type, s[0])) & mask(o.To)
		}
		return s[0] & mask(o.Type) & mask(o.To)
	},
	Bfe:  bfe,
	Bfi:  bfi,
	Mask: maskBits,
	Sgxt: sgxt,
	Perm: func(o *Op, s *[4]uint64, _ uint64) uint64 { return perm(o.Imm, s[0], s[1], s[2]) },
	Dot4: dot4,
	Dot2: dot2,
	Sad: func(o *Op, s *[4]uint64, _ uint64) uint64 {
		a, b, m := s[0]&mask(o.Type), s[1]&mask(o.Type), mask(o.Type)
		if o.Type.Signed() {
			a, b = uint64(sext(o.Type, a)), uint64(sext(o.Type, b))
			if int64(a) < int64(b) {
				a, b = b, a
			}
		} else if a < b {
			a, b = b, a
		}
		return (s[2] + a - b) & m
	},
	Nth:      nth,
	Join:     func(_ *Op, s *[4]uint64, _ uint64) uint64 { return s[1]<<32 | s[0]&0xffffffff },
	HighWord: func(_ *Op, s *[4]uint64, _ uint64) uint64 { return s[0] >> 32 },
	Texel:    texel,
}

// mask has the bits of a type.
func mask(t Type) uint64 { return ^uint64(0) >> (64 - uint(min(t.Bits(), 64))) }

// sext is the number that the low bits of a word are, with the sign if the type has one.
func sext(t Type, x uint64) int64 {
	if t.Signed() {
		sh := 64 - uint(t.Bits())
		return int64(x<<sh) >> sh
	}
	return int64(x & mask(t))
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// addSat cuts a sum or difference, or clamps it to the signed type.
func addSat(o *Op, a, b, sum uint64, sub bool) uint64 {
	if o.Mode&Sat == 0 || !o.Type.Signed() {
		return sum & mask(o.Type)
	}
	n := o.Type.Bits()
	x, y := sext(o.Type, a), sext(o.Type, b)
	if sub && y == -1<<63 || n == 64 {
		return sum // PTX has no saturation of 64 bits
	}
	if sub {
		y = -y
	}
	r, top := x+y, int64(1)<<(n-1)
	return uint64(max(-top, min(top-1, r))) & mask(o.Type)
}

func mulHi(o *Op, s *[4]uint64, _ uint64) uint64 {
	n := o.Type.Bits()
	if n < 64 {
		if o.Type.Signed() {
			return uint64(sext(o.Type, s[0])*sext(o.Type, s[1])>>n) & mask(o.Type)
		}
		return (s[0] & mask(o.Type)) * (s[1] & mask(o.Type)) >> n
	}
	hi, _ := bits.Mul64(s[0], s[1])
	if o.Type.Signed() {
		hi -= uint64(int64(s[0])>>63)&s[1] + uint64(int64(s[1])>>63)&s[0]
	}
	return hi
}

// divide is Div and Rem. PTX ISA, 9.7.1.8: division by zero is unspecified, and for the content zero all bits are one, as the machine mostly computes it;
// the lowest number divided by -1 is itself, as the machine computes it.
func divide(o *Op, s *[4]uint64, undefined uint64) uint64 {
	m := mask(o.Type)
	if s[1]&m == 0 {
		return ^undefined & m
	}
	if !o.Type.Signed() {
		if o.Code == Div {
			return s[0] & m / (s[1] & m)
		}
		return s[0] & m % (s[1] & m)
	}
	a, b := sext(o.Type, s[0]), sext(o.Type, s[1])
	if b == -1 { // Go's quotient of the lowest number would do, too
		if o.Code == Div {
			return uint64(-a) & m
		}
		return 0
	}
	if o.Code == Div {
		return uint64(a/b) & m
	}
	return uint64(a%b) & m
}

// Lop is the bitwise function of three words that a table gives: bit 4a+2b+c of lut.
func Lop(lut uint8, a, b, c uint64) uint64 {
	switch lut { // the common ones
	case 0xc0:
		return a & b
	case 0xfc:
		return a | b
	case 0x3c:
		return a ^ b
	case 0x96:
		return a ^ b ^ c
	}
	var r uint64
	for i := range 8 {
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

func shift(o *Op, s *[4]uint64, _ uint64) uint64 {
	n, k := uint64(o.Type.Bits()), s[1]&0xffffffff
	if o.Mode&Wrap != 0 {
		k &= n - 1
	}
	if o.Code == Shl {
		if k >= n {
			return 0
		}
		return s[0] << k & mask(o.Type)
	}
	if o.Type.Signed() {
		return uint64(sext(o.Type, s[0])>>min(k, 63)) & mask(o.Type)
	}
	if k >= n {
		return 0
	}
	return s[0] & mask(o.Type) >> k
}

// funnel is PTX's shf and the low or high word of a 64-bit shift by at most 32 (PTX ISA, 9.7.8.7).
func funnel(o *Op, s *[4]uint64, _ uint64) uint64 {
	v, k := s[1]<<32|s[0]&0xffffffff, s[2]&0xffffffff
	if o.Mode&Wrap != 0 {
		k &= 31
	} else {
		k = min(k, 32)
	}
	if o.Mode&Left != 0 {
		v <<= k
	} else {
		v >>= k
	}
	if o.Mode&High != 0 {
		return v >> 32
	}
	return v & 0xffffffff
}

func minMax(o *Op, s *[4]uint64, u uint64) uint64 {
	a, b := s[0]&mask(o.Type), s[1]&mask(o.Type)
	less := a < b
	if o.Type.Signed() {
		less = sext(o.Type, a) < sext(o.Type, b)
	}
	r := b
	if less == (o.Code == Min) {
		r = a
	}
	if o.Mode&Relu != 0 && sext(o.Type, r) < 0 {
		return 0
	}
	return r
}

func compare(o *Op, s *[4]uint64, _ uint64) uint64 {
	a, b := s[0]&mask(o.Type), s[1]&mask(o.Type)
	if o.Type.Signed() {
		a, b = uint64(sext(o.Type, a))^1<<63, uint64(sext(o.Type, b))^1<<63
	}
	switch o.Cond {
	case EQ:
		return truth(a == b)
	case NE:
		return truth(a != b)
	case LT:
		return truth(a < b)
	case LE:
		return truth(a <= b)
	case GT:
		return truth(a > b)
	case GE:
		return truth(a >= b)
	case Always:
		return 1
	}
	return 0
}

// find is PTX's bfind (9.7.1.16) and the machine's FLO.
func find(o *Op, s *[4]uint64, _ uint64) uint64 {
	x := s[0] & mask(o.Type)
	if o.Type.Signed() && sext(o.Type, x) < 0 {
		x = ^x & mask(o.Type)
	}
	at := bits.Len64(x) - 1
	if at < 0 {
		return 0xffffffff
	}
	if o.Mode&High != 0 {
		return uint64(o.Type.Bits() - 1 - at)
	}
	return uint64(at)
}

// bfe is PTX's bfe (9.7.1.19).
func bfe(o *Op, s *[4]uint64, _ uint64) uint64 {
	n := o.Type.Bits()
	pos, length := int(s[1]&0xff), int(s[2]&0xff)
	a := s[0] & mask(o.Type)
	var sign uint64
	if o.Type.Signed() && length > 0 {
		sign = a >> min(pos+length-1, n-1) & 1
	}
	var r uint64
	for i := range n {
		bit := sign
		if i < length && pos+i < n {
			bit = a >> (pos + i) & 1
		}
		r |= bit << i
	}
	return r
}

// bfi is PTX's bfi (9.7.1.20).
func bfi(o *Op, s *[4]uint64, _ uint64) uint64 {
	n, pos, length := uint64(o.Type.Bits()), s[2]&0xff, s[3]&0xff
	r := s[1] & mask(o.Type)
	for i := uint64(0); i < length && pos+i < n; i++ {
		r = r&^(1<<(pos+i)) | s[0]>>i&1<<(pos+i)
	}
	return r
}

func maskBits(o *Op, s *[4]uint64, _ uint64) uint64 {
	pos, length := s[0]&0xffffffff, s[1]&0xffffffff
	if o.Mode&Wrap != 0 {
		pos, length = pos&31, length&31
	}
	if pos >= 32 {
		return 0
	}
	return (1<<min(length, 32) - 1) << pos & 0xffffffff
}

func sgxt(o *Op, s *[4]uint64, _ uint64) uint64 {
	n := s[1] & 0xffffffff
	if o.Mode&Wrap != 0 {
		n &= 31
	}
	if n == 0 {
		return 0
	}
	n = min(n, 32)
	if o.Type.Signed() {
		return uint64(int64(s[0]<<(64-n))>>(64-n)) & 0xffffffff
	}
	return s[0] & (1<<n - 1)
}

// perm is PTX's prmt (9.7.8.8).
func perm(mode, a, b, c uint64) uint64 {
	v := b<<32 | a&0xffffffff
	at := func(sel uint64) uint64 { return v >> (8 * (sel & 7)) & 0xff }
	k := c & 3
	var r uint64
	for i := range uint64(4) {
		var x uint64
		switch mode {
		case 0:
			sel := c >> (4 * i) & 15
			if x = at(sel); sel&8 != 0 {
				x = x >> 7 * 0xff
			}
		case 1:
			x = at(k + i)
		case 2:
			x = at(k - i)
		case 3:
			x = at(k)
		case 4:
			x = at(max(k, i))
		case 5:
			x = at(min(k, i))
		case 6:
			x = at(k&1*2 + i&1)
		}
		r |= x << (8 * i)
	}
	return r
}

// part is byte or half number i of a word, with its sign or without.
func part(x uint64, bits, i int, signed bool) int64 {
	x >>= bits * i
	if signed {
		return int64(x<<(64-bits)) >> (64 - bits)
	}
	return int64(x & (1<<bits - 1))
}

func dot4(o *Op, s *[4]uint64, _ uint64) uint64 {
	r := int64(s[2])
	for i := range 4 {
		r += part(s[0], 8, i, o.Imm&1 != 0) * part(s[1], 8, i, o.Imm&2 != 0)
	}
	return uint64(r) & 0xffffffff
}

func dot2(o *Op, s *[4]uint64, _ uint64) uint64 {
	r := int64(s[2])
	for i := range 2 {
		r += part(s[0], 16, i, o.Imm&1 != 0) * part(s[1], 8, i+int(o.Imm>>2&1)*2, o.Imm&2 != 0)
	}
	return uint64(r) & 0xffffffff
}

// nth is PTX's fns (9.7.1.17). What PTX leaves open is what the code of every release does: the offset -1<<31, which has no
// absolute value, finds bit 0, and there is nothing from a bit beyond 31 on.
func nth(_ *Op, s *[4]uint64, _ uint64) uint64 {
	m, base, off := uint32(s[0]), int(uint32(s[1])), int32(s[2])
	if off == math.MinInt32 {
		return 0
	}
	step := 1
	if off < 0 {
		step, off = -1, -off
	}
	if off == 0 {
		if base < 32 && m>>base&1 == 1 {
			return uint64(base)
		}
		return 0xffffffff
	}
	for at := base; at >= 0 && at < 32; at += step {
		if m>>at&1 == 1 {
			if off--; off == 0 {
				return uint64(at)
			}
		}
	}
	return 0xffffffff
}
