package lower

import "optcheck/ir"

// binary is a function of as many operands as the instruction has, whose type is t.
func plain(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		x.to(x.dst(0, t), code, t, x.srcs(1, t)...)
	}
}

// saturated is a plain function that clamps to the type.
func saturated(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		o := x.to(x.dst(0, t), code, t, x.srcs(1, t)...)
		if x.is("sat") {
			o.Mode |= ir.Sat
		}
	}
}

// minMax is min and max of integers: PTX ISA 9.7.1.13.
func minMax(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		o := x.to(x.dst(0, t), code, t, x.srcs(1, t)...)
		if x.is("relu") {
			o.Mode |= ir.Relu
		}
	}
}

// halfTypes are the types of packed integers, by their halves.
var halfTypes = map[string]ir.Type{"u16x2": ir.U16, "s16x2": ir.S16}

// packed is a function of both halves: of u16x2 and s16x2.
func packed(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := halfTypes[x.mods["t"]]
		src := x.srcs(1, ir.U32)
		var r [2]ir.Reg
		for h := range r {
			var part []ir.Reg
			for _, s := range src {
				if h == 1 {
					s = x.op(ir.Shr, ir.U32, s, x.imm(16))
				}
				part = append(part, s)
			}
			o := x.with(code, t, part...)
			if x.is("relu") {
				o.Mode |= ir.Relu
			}
			if x.is("sat") {
				o.Mode |= ir.Sat
			}
			r[h] = o.Dst
		}
		x.to(x.dst(0, ir.U32), ir.Bfi, ir.U32, r[1], r[0], x.imm(16), x.imm(16))
	}
}

// extendedSum is a sum or difference of extended precision: PTX ISA 9.7.2. The flag is a carry; chip: of a difference it is 1
// if there is no borrow, which shows where sub.cc is followed by addc.
func (x *inst) extendedSum(dst ir.Reg, sub bool, t ir.Type, a, b ir.Reg) {
	code, overflow := ir.Add, ir.Carry
	invert := func(r ir.Reg) ir.Reg { return r }
	if sub {
		code, overflow = ir.Sub, ir.Borrow
		invert = func(r ir.Reg) ir.Reg { return x.op(ir.Xor, ir.Pred, r, x.imm(1)) }
	}
	r, src := x.op(code, t, a, b), []ir.Reg{a, b}
	switch x.in.Name {
	case "addc", "subc", "madc":
		c := invert(x.carry)
		r, src = x.op(code, t, r, c), append(src, c)
	}
	if x.is("cc") {
		x.to(x.carry, ir.Mov, ir.Pred, invert(x.op(overflow, t, src...)))
	}
	x.to(dst, ir.Mov, raw(t), r)
}

func (x *inst) addCarry() {
	t := raw(x.t())
	x.extendedSum(x.dst(0, t), false, t, x.src(1, t), x.src(2, t))
}

func (x *inst) subCarry() {
	t := raw(x.t())
	x.extendedSum(x.dst(0, t), true, t, x.src(1, t), x.src(2, t))
}

// twice is the type of twice as many bits.
func twice(t ir.Type) ir.Type {
	if t.Signed() {
		return ir.Signed(2 * t.Bits())
	}
	return ir.Unsigned(2 * t.Bits())
}

// product appends the low or high half of a product, or all of it; its type is the one that is returned. The destination
// is a register of the instruction if dst is None.
func (x *inst) product(dst ir.Reg) (ir.Reg, ir.Type) {
	t := x.t()
	a, b := x.src(1, t), x.src(2, t)
	code := ir.Mul
	switch x.mods["part"] {
	case "hi":
		code = ir.MulHi
	case "wide":
		w := twice(t)
		if t = w; w.Signed() { // unsigned numbers are extended by zeros as they are
			a, b = x.ext(x.t(), w, a), x.ext(x.t(), w, b)
		}
	}
	if dst == ir.None {
		dst = x.b.Temp()
	}
	x.to(dst, code, t, a, b)
	return dst, t
}

// mul is PTX ISA 9.7.1.3.
func (x *inst) mul() {
	t := x.t()
	if x.mods["part"] == "wide" {
		t = twice(t)
	}
	x.product(x.dst(0, t))
}

// mad is PTX ISA 9.7.1.4, and mad with a carry 9.7.2.5, 9.7.2.6.
func (x *inst) mad() {
	r, t := x.product(ir.None)
	c, d := x.src(3, t), x.dst(0, t)
	if x.is("cc") || x.in.Name == "madc" {
		x.extendedSum(d, false, raw(t), r, c)
		return
	}
	o := x.to(d, ir.Add, t, r, c)
	if x.is("sat") {
		o.Mode |= ir.Sat
	}
}

// product24 is the middle or low word of a product of 24 bits: PTX ISA 9.7.1.5.
func (x *inst) product24() ir.Reg {
	t, w := x.t(), twice(x.t())
	part := func(i int) ir.Reg {
		r := x.op(ir.Shl, ir.U32, x.src(i, t), x.imm(8))
		return x.ext(t, w, x.op(ir.Shr, t, r, x.imm(8)))
	}
	r := x.op(ir.Mul, w, part(1), part(2))
	if x.mods["part"] == "hi" {
		r = x.op(ir.Shr, w, r, x.imm(16))
	}
	return r
}

func (x *inst) mul24() { x.to(x.dst(0, x.t()), ir.Mov, x.t(), x.product24()) }

func (x *inst) mad24() {
	o := x.to(x.dst(0, x.t()), ir.Add, x.t(), x.product24(), x.src(3, x.t()))
	if x.is("sat") {
		o.Mode |= ir.Sat
	}
}

// count is a function to 32 bits: popc, clz, bfind.
func count(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		o := x.to(x.dst(0, ir.U32), code, t, x.src(1, t))
		if x.is("shiftamt") {
			o.Mode |= ir.High
		}
	}
}

// shift is shl and shr: the amount has 32 bits. PTX ISA 9.7.8.10, 9.7.8.11.
func shift(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		x.to(x.dst(0, t), code, t, x.src(1, t), x.src(2, ir.U32))
	}
}

// shf is PTX ISA 9.7.8.9.
func (x *inst) shf() {
	o := x.to(x.dst(0, ir.U32), ir.Funnel, ir.U32, x.srcs(1, ir.U32)...)
	if x.mods["dir"] == "l" {
		o.Mode |= ir.Left | ir.High
	}
	if x.mods["mode"] == "wrap" {
		o.Mode |= ir.Wrap
	}
}

// bound is operand number i as the position or length of a field. PTX restricts it to 8 bits; of 64-bit fields an H200
// takes all 32 bits of larger ones.
func (x *inst) bound(i int) ir.Reg {
	r := x.src(i, ir.U32)
	if _, constant := x.b.Value(r); constant || x.t().Bits() < 64 {
		return r
	}
	return x.op(ir.Min, ir.U32, r, x.imm(255))
}

// bfe is PTX ISA 9.7.1.19.
func (x *inst) bfe() {
	t := x.t()
	x.to(x.dst(0, t), ir.Bfe, t, x.src(1, t), x.bound(2), x.bound(3))
}

// bfi is PTX ISA 9.7.1.20.
func (x *inst) bfi() {
	t := x.t()
	x.to(x.dst(0, t), ir.Bfi, t, x.src(1, t), x.src(2, t), x.bound(3), x.bound(4))
}

// masked is bmsk and szext: .clamp or .wrap.
func masked(code ir.Code) func(*inst) {
	return func(x *inst) {
		o := x.to(x.dst(0, x.t()), code, x.t(), x.src(1, x.t()), x.src(2, ir.U32))
		if x.mods["mode"] == "wrap" {
			o.Mode |= ir.Wrap
		}
	}
}

// dot is dp4a and dp2a: PTX ISA 9.7.1.23, 9.7.1.24.
func dot(code ir.Code) func(*inst) {
	return func(x *inst) {
		o := x.to(x.dst(0, ir.U32), code, ir.U32, x.srcs(1, ir.U32)...)
		if x.mods["a"] == "s32" {
			o.Imm |= 1
		}
		if x.mods["b"] == "s32" {
			o.Imm |= 2
		}
		if x.mods["part"] == "hi" {
			o.Imm |= 4
		}
	}
}

func (x *inst) cnot() {
	t := x.t()
	x.to(x.dst(0, t), ir.Cmp, t, x.src(1, t), x.imm(0)).Cond = ir.EQ
}

// lop3 is PTX ISA 9.7.8.6.
func (x *inst) lop3() {
	lut := x.number(4)
	if lut > 255 {
		x.fail("the table %d is not understood", lut)
	}
	if x.mods["bool"] == "" {
		x.to(x.dst(0, ir.U32), ir.Lop3, ir.U32, x.src(1, ir.U32), x.src(2, ir.U32), x.src(3, ir.U32)).Imm = lut
		return
	}
	d, p := x.pair(0, ir.U32, ir.Pred)
	if p == ir.None || len(x.in.Args) != 6 {
		x.fail("lop3 with a predicate has two destinations and six operands")
	}
	o := x.with(ir.Lop3, ir.U32, x.src(1, ir.U32), x.src(2, ir.U32), x.src(3, ir.U32))
	o.Imm = lut
	r := o.Dst
	q := x.op(bools[x.mods["bool"]], ir.Pred, x.cmp(ir.NE, ir.U32, r, x.imm(0)), x.src(5, ir.Pred))
	x.to(d, ir.Mov, ir.U32, r)
	x.to(p, ir.Mov, ir.Pred, q)
}

var permutations = map[string]uint64{"": 0, "f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}

func (x *inst) prmt() {
	x.to(x.dst(0, ir.U32), ir.Perm, ir.U32, x.srcs(1, ir.U32)...).Imm = permutations[x.mods["mode"]]
}
