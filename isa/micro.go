package isa

// MicroOp is the operation of a Micro.
//
// The words of an instruction are unsigned 32-bit numbers w; predicates and the
// carry flag count as 1 when true. Source operands carry their own modifiers:
// Not is the bitwise inverse of a word (the logical one of a predicate), Neg is
// 2^32 - w. Neg of 0 is therefore 2^32, which matters only to MicroCarry: it is
// how the machine computes "no borrow". Everywhere else results are taken
// modulo 2^32.
type MicroOp uint8

// The micro-operations. A consumer must treat an unknown one like MicroOpaque.
const (
	// MicroOpaque: dst = unknown function of everything the instruction uses.
	MicroOpaque MicroOp = iota
	// MicroMov: dst = src0.
	MicroMov
	// MicroAdd: dst = src0 + src1 (+ src2).
	MicroAdd
	// MicroAddHi: dst = sum of all sources, the last one or two of which are
	// carries (predicates or CC): the high part of a wider addition.
	MicroAddHi
	// MicroCarry: dst (predicate or CC) = the exact sum of all sources is at
	// least 2^32. Sources are words and then at most two carries.
	MicroCarry
	// MicroLop3: dst = bitwise function of src0, src1, src2: bit i of dst is bit
	// 4a+2b+c of Micro.LUT, where a, b, c are the bits i of the sources.
	// 0xc0 is a&b, 0xfc a|b, 0x3c a^b.
	MicroLop3
	// MicroMul: dst = low word of src0 * src1.
	MicroMul
	// MicroMulHi: dst = high word of src0 * src1, as signed numbers if Micro.Signed.
	MicroMulHi
	// MicroMad: dst = low word of src0 * src1 + src2.
	MicroMad
	// MicroMadHi: dst = high word of the 64-bit src0 * src1 + (src3:src2); the
	// factors are signed if Micro.Signed.
	MicroMadHi
	// MicroShl: dst = src0 << src1; 0 when src1 is 32 or more.
	MicroShl
	// MicroShr: dst = src0 >> src1, arithmetic if Micro.Signed; a shift of 32 or
	// more gives 0, or copies of the sign.
	MicroShr
	// MicroShfHi: dst = high word of (src1:src0) << src2, src2 below 32.
	MicroShfHi
	// MicroSel: dst = src2 (a predicate) ? src0 : src1.
	MicroSel
	// MicroSetp: dst (predicate) = (src0 Cmp src1) Bool src2, signed if
	// Micro.Signed. With a fourth source, the result of comparing the low words,
	// the comparison is src0 == src1 ? src3 : src0 Cmp src1.
	MicroSetp
	// MicroPlop: dst (predicate) = bit 4a+2b+c of Micro.LUT, where a, b, c are
	// the predicates src0, src1, src2.
	MicroPlop
	// MicroSpecial: dst = special register Micro.Sym.
	MicroSpecial
	// MicroPrmt: byte i of dst is byte (src1 >> 4i & 7) of src2:src0, bytes 0
	// to 3 being those of src0. src1 is constant, without sign replication.
	MicroPrmt
	// MicroCarry2: dst (predicate) = the exact sum of all sources is at least
	// 2*2^32: the second carry of a three-way addition.
	MicroCarry2
	// MicroLea: dst = (src0 << src1) + src2, src1 below 32.
	MicroLea
	// MicroLeaCarry: dst (predicate or CC) = carry out of the 32-bit addition
	// (src0 << src1 mod 2^32) + src2.
	MicroLeaCarry
	// MicroLeaHi: dst = high word of (src1:src0) << src2, plus src3, plus a
	// carry if there is a fifth source. If Micro.Signed, src1 is ignored and
	// src0 is sign-extended instead.
	MicroLeaHi
	// MicroShfLo: dst = low word of (src1:src0) >> src2, src2 below 32.
	MicroShfLo
	// MicroAddWide: dst = high word of the 64-bit sum (src1:src0) + (src3:src2).
	// With a fifth source, below 32, the first number is shifted left by it.
	MicroAddWide
	// MicroBfe: dst = src2 bits of src0 from bit src1 on, sign-extended if
	// Micro.Signed; 0 if src2 is 0. src1 and src2 are below 32.
	MicroBfe
	// MicroShlOr: dst = (src0 << src1) | src2, src1 below 32.
	MicroShlOr
	// MicroAddShl: dst = (src0 + src1) << src2, src2 below 32.
	MicroAddShl
	// MicroXorAdd: dst = (src0 ^ src1) + src2.
	MicroXorAdd
	// MicroMin: dst = the smaller of src0 and src1, signed if Micro.Signed.
	MicroMin
	// MicroMax: dst = the larger of src0 and src1, signed if Micro.Signed.
	MicroMax
	// MicroBit: dst (predicate) = bit src1 (below 32) of src0.
	MicroBit
	// MicroSetpWide: dst (predicate) = (src1:src0) Cmp (src3:src2), 64-bit
	// numbers, signed if Micro.Signed; and, with a fifth source, a predicate:
	// Bool that one.
	MicroSetpWide
	// MicroFirst: dst = src0 as the first active lane of the wave has it
	// (v_readfirstlane_b32); with two sources, as lane src1 has it
	// (v_readlane_b32). It is src0 when all lanes agree.
	MicroFirst
	// MicroLaneCount: dst = src1 plus the number of set bits of the lane mask
	// src0 below this lane's, among lanes 0 to 31 (Micro.Sym "lo") or 32 to 63
	// ("hi"): v_mbcnt. With an all-ones mask and src1 = 0 the two together give
	// the number of the lane.
	MicroLaneCount
	// MicroLaneBits: dst = number of set bits of (src1:src0), over the whole wave
	// when that is a lane mask (s_bcnt1_i32_b64); src1 is missing in 32 bits.
	MicroLaneBits
	// MicroTest: dst (predicate) = the bitwise function of src0, src1, src2 that
	// MicroLop3 computes is not zero.
	MicroTest
	// MicroSelCmp: dst = (src2 Cmp 0) ? src0 : src1, signed if Micro.Signed.
	MicroSelCmp
	// MicroLaneSet: dst = src0 with the word of lane src2 replaced by src1
	// (v_writelane_b32, which spills scalar registers into lanes; src0 is the old
	// content of dst). MicroFirst of the result with the same constant lane is
	// src1, with another constant lane that of src0.
	MicroLaneSet
)

// Micro is one 32-bit (or predicate) assignment that an instruction performs
// when its guard holds. Micros of one instruction read the register values from
// before it. A definition (see Inst.Defs) that no Micro has as Dst is an unknown
// function of the uses.
type Micro struct {
	Op  MicroOp
	Dst Reg
	// Half is the half of Dst that gets the low 16 bits of the result, "l" or "h", whose other
	// half stays; empty for all of Dst.
	Half string
	// Src holds one-word operands of kind OpdReg, OpdPred, OpdImm, OpdConst,
	// OpdSym or OpdSpecial. Zero registers appear as OpdImm 0, immediates with
	// their modifiers applied as numbers from 0 to 2^32-1; the always-true
	// predicate is an OpdPred with Zero set. A register with Part "l" or "h" is that
	// half of it as a word. The words of a pair are separate
	// operands: the next register, or the constant at Off+4.
	Src    []Operand
	LUT    uint8
	Signed bool
	Cmp    string // EQ, NE, LT, LE, GT, GE
	Bool   string // AND, OR, XOR: how a MicroSetp combines with src2
	Sym    string
}
