package lower

import "optcheck/ir"

// rounds are the roundings, as ir.Mode has them: those of package fp.
var rounds = map[string]ir.Mode{"": 0, "rn": 0, "rz": 1, "rm": 2, "rp": 3, "rna": 4, "rni": 0, "rzi": 1, "rmi": 2, "rpi": 3}

// flags are the modifiers of operations of floating-point numbers.
var flags = map[string]ir.Mode{"ftz": ir.FTZ, "sat": ir.Sat, "relu": ir.Relu, "satfinite": ir.SatFinite,
	"NaN": ir.NaN, "xorsign": ir.XorSign}

// mode is what the modifiers say.
func (x *inst) mode() ir.Mode {
	m := rounds[x.mods["rnd"]]
	for name, f := range flags {
		if x.is(name) {
			m |= f
		}
	}
	return m
}

// float is a function of as many operands as the instruction has, in the way that its modifiers say.
func float(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		x.to(x.dst(0, t), code, t, x.srcs(1, t)...).Mode = x.arithmetic(t)
	}
}

// arithmetic is the mode of arithmetic. PTX names the NaN of f32 and of narrower types; of f64 sign and payload are open, as IEEE 754 (6.3) leaves
// them.
func (x *inst) arithmetic(t ir.Type) ir.Mode {
	if t == ir.F64 {
		return x.mode() | ir.AnyNaN
	}
	return x.mode()
}

// sign is abs or neg, of which a NaN becomes "an unspecified NaN".
func sign(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		x.to(x.dst(0, t), code, t, x.src(1, t)).Mode = x.mode() | ir.AnyNaN
	}
}

// floatSub is a - b: a + (-b), where a NaN stays one.
func (x *inst) floatSub() {
	t := x.t()
	x.to(x.dst(0, t), ir.FAdd, t, x.src(1, t), x.op(ir.Neg, t, x.src(2, t))).Mode = x.arithmetic(t)
}

// pairOf is a function of both numbers of f32x2, which is in 64 bits.
func pairOf(code ir.Code, negate bool) func(*inst) {
	return func(x *inst) {
		src := x.srcs(1, ir.U64)
		var r [2]ir.Reg
		for h := range r {
			var part []ir.Reg
			for i, s := range src {
				if h == 1 {
					s = x.op(ir.Shr, ir.U64, s, x.imm(32))
				}
				if negate && i == 1 {
					s = x.op(ir.Neg, ir.F32, s)
				}
				part = append(part, s)
			}
			o := x.with(code, ir.F32, part...)
			o.Mode = x.mode()
			r[h] = o.Dst
		}
		x.to(x.dst(0, ir.U64), ir.Bfi, ir.U64, r[1], r[0], x.imm(32), x.imm(32))
	}
}

// floatMinMax is min and max, of three operands as of two and one more.
func floatMinMax(code ir.Code) func(*inst) {
	return func(x *inst) {
		t := x.t()
		m := x.arithmetic(t)
		src := x.srcs(1, t)
		if x.is("abs") && !x.is("xorsign") {
			for i, s := range src {
				o := x.with(ir.Abs, t, s)
				o.Mode = m & ir.FTZ
				src[i] = o.Dst
			}
		}
		r := src[0]
		for i, s := range src[1:] {
			d := x.b.Temp()
			if i == len(src)-2 {
				d = x.dst(0, t)
			}
			x.to(d, code, t, r, s).Mode = m
			r = d
		}
	}
}

var tests = map[string]uint64{"finite": 0, "infinite": 1, "number": 2, "notanumber": 3, "normal": 4, "subnormal": 5}

// testp is PTX ISA 9.7.3.1.
func (x *inst) testp() {
	t := x.t()
	x.to(x.dst(0, ir.Pred), ir.TestP, t, x.src(1, t)).Imm = tests[x.mods["test"]]
}

// setpHalf compares both halves: PTX ISA 9.7.7.2.
func (x *inst) setpHalf() {
	p, q := x.pair(0, ir.Pred, ir.Pred)
	t := ir.F16
	if x.mods["s"] == "bf16x2" {
		t = ir.BF16
	}
	var r [2]ir.Reg
	a, b := x.src(1, ir.U32), x.src(2, ir.U32)
	for h := range r {
		if h == 1 {
			a, b = x.op(ir.Shr, ir.U32, a, x.imm(16)), x.op(ir.Shr, ir.U32, b, x.imm(16))
		}
		o := x.with(ir.Cmp, t, a, b)
		o.Cond, o.Mode = conds[x.mods["cmp"]], x.mode()
		r[h] = x.combined(o.Dst)
	}
	x.to(p, ir.Mov, ir.Pred, r[0])
	if q == ir.None {
		x.fail("a comparison of halves with one destination is not understood")
	}
	x.to(q, ir.Mov, ir.Pred, r[1])
}

// setHalf makes halves of comparisons: 1.0, or ones, PTX ISA 9.7.7.1.
func (x *inst) setHalf() {
	one := map[string]uint64{"f16x2": 0x3c00, "bf16x2": 0x3f80, "u32": 0xffff, "s32": 0xffff}
	t := ir.F16
	if x.mods["s"] == "bf16x2" {
		t = ir.BF16
	}
	a, b := x.src(1, ir.U32), x.src(2, ir.U32)
	var r [2]ir.Reg
	for h := range r {
		if h == 1 {
			a, b = x.op(ir.Shr, ir.U32, a, x.imm(16)), x.op(ir.Shr, ir.U32, b, x.imm(16))
		}
		o := x.with(ir.Cmp, t, a, b)
		o.Cond, o.Mode = conds[x.mods["cmp"]], x.mode()
		r[h] = x.op(ir.Sel, ir.U32, x.combined(o.Dst), x.imm(one[x.mods["t"]]), x.imm(0))
	}
	x.to(x.dst(0, ir.U32), ir.Bfi, ir.U32, r[1], r[0], x.imm(16), x.imm(16))
}
