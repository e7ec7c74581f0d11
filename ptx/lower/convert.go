package lower

import "optcheck/ir"

// floatTypes are types of conversions that no register has by name.
var floatTypes = map[string]ir.Type{"e4m3x2": ir.E4M3, "e5m2x2": ir.E5M2}

// cvtFloat converts numbers of floating point to others: PTX ISA 9.7.9.21.
func (x *inst) cvtFloat() {
	t, s := x.t(), types[x.mods["s"]]
	if x.mods["rnd"] == "" && (t.Bits() < s.Bits() || t != s && t.Bits() == s.Bits()) {
		x.fail("%s without a rounding is not understood", x.in.Op)
	}
	r := x.readWide(&x.in.Args[1], s)
	o := x.with(ir.FCvt, s, r)
	if o.To, o.Mode = t, x.mode(); t == ir.F16 && s == t { // chip: NaNs become the one
		o.Code, o.Src[1] = ir.FMul, x.imm(0x3c00)
	}
	x.extended(&x.in.Args[0], bitsOf(t), o.Dst)
}

// bitsOf is the unsigned integer with the width of a type.
func bitsOf(t ir.Type) ir.Type { return ir.Unsigned(t.Bits()) }

// cvtRound rounds to integral numbers of the same type.
func (x *inst) cvtRound() {
	t := x.t()
	if t != types[x.mods["s"]] {
		x.fail("%s is not understood", x.in.Op)
	}
	o := x.with(ir.FRint, t, x.readWide(&x.in.Args[1], t))
	o.Mode = x.mode()
	x.extended(&x.in.Args[0], bitsOf(t), o.Dst)
}

// cvtFromInt converts integers to numbers of floating point.
func (x *inst) cvtFromInt() {
	t, s := x.t(), types[x.mods["s"]]
	o := x.with(ir.IToF, s, x.readWide(&x.in.Args[1], s))
	o.To, o.Mode = t, x.mode()
	x.extended(&x.in.Args[0], bitsOf(t), o.Dst)
}

// cvtToInt converts numbers of floating point to integers: clamped to the type, and NaN to 0 or, from f64 or to 64
// bits, to the top bit.
func (x *inst) cvtToInt() {
	t, s := x.t(), types[x.mods["s"]]
	o := x.with(ir.FToI, s, x.readWide(&x.in.Args[1], s))
	if o.To, o.Mode = t, x.mode()&^ir.Sat; s == ir.F64 || t.Bits() == 64 {
		o.Mode |= ir.IntNaN
	}
	x.extended(&x.in.Args[0], t, o.Dst)
}

// cvtPair converts two numbers of f32 to a pair, the first the high one.
func (x *inst) cvtPair() {
	x.pairOf(x.src(1, ir.F32), x.src(2, ir.F32), ir.F32)
}

// pairOf converts two numbers to a pair of narrow ones.
func (x *inst) pairOf(high, low ir.Reg, from ir.Type) {
	to := map[string]ir.Type{"f16x2": ir.F16, "bf16x2": ir.BF16, "e4m3x2": ir.E4M3, "e5m2x2": ir.E5M2}[x.mods["t"]]
	var r [2]ir.Reg
	for i, s := range []ir.Reg{low, high} {
		o := x.with(ir.FCvt, from, s)
		o.To, o.Mode = to, x.mode()
		r[i] = o.Dst
	}
	t, n := bitsOf(to), x.imm(uint64(to.Bits()))
	t = ir.Unsigned(2 * t.Bits())
	x.to(x.dst(0, t), ir.Bfi, t, r[1], r[0], n, n)
}

// cvtHalves converts both halves of f16x2 to narrower numbers.
func (x *inst) cvtHalves() {
	r := x.src(1, ir.U32)
	x.pairOf(x.op(ir.Shr, ir.U32, r, x.imm(16)), r, ir.F16)
}

// cvtSmall converts a pair of 8-bit numbers to f16x2.
func (x *inst) cvtSmall() {
	from := floatTypes[x.mods["s"]]
	r := x.src(1, ir.U16)
	x.pairOf(x.op(ir.Shr, ir.U16, r, x.imm(8)), r, from)
}

// cvtPack is cvt.pack: PTX ISA 9.7.9.22. Operand a is above b, and both are above the low bits of c.
func (x *inst) cvtPack() {
	t := x.t()
	part := func(i int) ir.Reg { return x.clamp(x.ext(ir.S32, ir.U64, x.src(i, ir.S32)), true, t) }
	n := uint64(t.Bits())
	r := x.op(ir.Bfi, ir.U32, part(1), part(2), x.imm(n), x.imm(n))
	if (len(x.in.Args) == 4) != (x.mods["c"] != "") {
		x.fail("the number of operands is not understood")
	}
	switch {
	case x.mods["c"] != "":
		r = x.op(ir.Bfi, ir.U32, x.src(3, ir.U32), r, x.imm(2*n), x.imm(32-2*n))
	}
	x.to(x.dst(0, ir.U32), ir.Mov, ir.U32, r)
}
