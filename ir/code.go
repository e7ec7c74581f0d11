package ir

// Code is what an operation computes. Widths come from Op.Type: operands are taken modulo
// 2^bits, results are zero-extended.
type Code uint8

// The operations. a, b, c, d are the sources.
const (
	// Mov: a.
	Mov Code = iota
	// Add, Sub: a + b, a - b. With Sat they clamp to the signed type.
	Add
	Sub
	// Carry: 1 if a + b + c, as unsigned numbers, is at least 2^bits (c a carry, or None).
	Carry
	// Borrow: 1 if a < b + c as unsigned numbers (c a borrow, or None).
	Borrow
	// Mul: the low half of a * b. MulHi: the high half.
	Mul
	MulHi
	// Div, Rem: the quotient rounded to zero, the remainder. By zero: Op.Imm tells nothing, the result is undefined.
	Div
	Rem
	And
	Or
	Xor
	Not
	// Lop3: bit i of the result is bit 4a+2b+c of Imm, where a, b, c are the bits i.
	Lop3
	// Shl, Shr: a shifted by b (unsigned, 32 bits); Shr copies the sign of signed types. Amounts are
	// clamped at the width, or taken modulo it (Wrap).
	Shl
	Shr
	// Funnel: {b, a} (b the high word of 32 bits) shifted by c: Left and High as the Mode says; PTX's
	// shf.l is Left|High, shf.r none. The amount is clamped at 32, or taken modulo 32 (Wrap).
	Funnel
	// Min, Max; of floating-point numbers with FTZ, NaN, XorSign.
	Min
	Max
	Abs
	Neg
	// Sel: a != 0 ? b : c.
	Sel
	// Cmp: 1 if a Cond b, else 0.
	Cmp
	// Clz: leading zeros; Popc: ones; Brev: bits in reverse; Find: the position of the highest bit that
	// differs from the sign (of unsigned types, of the highest one), 2^32-1 if none; with High the
	// shift that brings it to the top.
	Clz
	Popc
	Brev
	Find
	// Ext: a, cut to Type and extended as Type says, as a number of type To.
	Ext
	// Bfe: c bits of a from bit b on, as PTX's bfe; b and c are taken modulo 256.
	Bfe
	// Bfi: a inserted into b from bit c on, d bits, as PTX's bfi.
	Bfi
	// Mask: b ones from bit a on (bmsk), clamped at 32, or modulo 32 (Wrap).
	Mask
	// Sgxt: the low b bits of a, extended as Type says (szext), b clamped at 32 or modulo 32.
	Sgxt
	// Perm: bytes of {b, a} chosen by c as PTX's prmt does; Imm is the mode: 0 default, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16.
	Perm
	// Dot4: c + the sum of the products of the four bytes; Dot2: of the two halves of a and two bytes of
	// b (Imm bit 2: the upper two). Imm bit 0: a is signed, bit 1: b is signed.
	Dot4
	Dot2
	// Sad: c + |a - b|.
	Sad
	// FAdd … are exactly rounded. FFma: a*b + c.
	FAdd
	FMul
	FFma
	FDiv
	FSqrt
	FRcp
	// FCvt: a of Type as a number of To; FToI, IToF likewise; FRint: to an integral number.
	FCvt
	FToI
	IToF
	FRint
	// CopySign: b with the sign of a.
	CopySign
	// TestP: 1 if a is finite (0), infinite (1), a number (2), NaN (3), normal (4), subnormal (5): Imm.
	TestP
	// Approx: an approximate function of a, the same on both sides: Imm is an Approximate.
	Approx
	// Nth: the position of the c-th one of a from bit b on (fns).
	Nth
	// Join: the 64-bit number with the low word a and the high word b. HighWord: the high word of the 64-bit number a.
	Join
	HighWord
	// Texel: a function of the operands and Imm that is the same on both sides: what a texture holds, which only the host knows. See Texels.
	Texel
)

// Approximate is an approximate function: its result is a function of the operand that is the same in PTX and in
// machine code, and need not be the chip's.
type Approximate uint64

// The approximate functions; the type of the operation is that of operand and result.
const (
	ApproxRcp Approximate = iota
	ApproxRsqrt
	ApproxSqrt
	ApproxEx2
	ApproxLg2
	ApproxSin // of PTX: the angle in radians
	ApproxCos
	ApproxTanh
	ApproxSinTurn // of machine code: the angle as the result of ApproxRange
	ApproxCosTurn
	ApproxRange  // RRO
	ApproxRcp64H // of the high word of an f64
	ApproxRsqrt64H
)
