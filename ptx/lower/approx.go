package lower

import (
	"math"

	"optcheck/ir"
)

// PTX bounds the errors of approximate functions and says no more. They are made here of the machine's approximations in the
// way in which ptxas 12.4 makes them for sm_80 and sm_90 at O3: then both sides agree bit for bit.

func (x *inst) f32(v float32) ir.Reg { return x.imm(uint64(math.Float32bits(v))) }

// machine is the machine's approximation of a function of f32, to which subnormal operands are zero.
func (x *inst) machine(a ir.Approximate, r ir.Reg) ir.Reg {
	o := x.with(ir.Approx, ir.F32, x.fmul(ir.FTZ, r, x.f32(1)))
	o.Imm = uint64(a)
	return o.Dst
}

func (x *inst) fmul(m ir.Mode, a, b ir.Reg) ir.Reg {
	o := x.with(ir.FMul, ir.F32, a, b)
	o.Mode = m
	return o.Dst
}

// Beyond these magnitudes the machine's approximations do not hold.
const (
	smallest = 0x1p-126
	largest  = 0x1p126
)

// beyond reports whether the magnitude of a number is below (LT) or above (GT) another.
func (x *inst) beyond(c ir.Cond, m ir.Mode, r ir.Reg, bound float32) ir.Reg {
	o := x.with(ir.Cmp, ir.F32, x.op(ir.And, ir.U32, r, x.imm(0x7fffffff)), x.f32(bound))
	o.Cond, o.Mode = c, m
	return o.Dst
}

// scale is what a number of that magnitude is multiplied with: by 2^24 if it is small, by 1/4 if it is large.
func (x *inst) scale(r ir.Reg, small, large bool, m ir.Mode) ir.Reg {
	s := x.f32(1)
	if small {
		s = x.op(ir.Sel, ir.U32, x.beyond(ir.LT, m, r, smallest), x.f32(0x1p24), s)
	}
	if large {
		s = x.op(ir.Sel, ir.U32, x.beyond(ir.GT, m, r, largest), x.f32(0.25), s)
	}
	return s
}

// divide is div.approx and div.full.
func (x *inst) divide() {
	a, b, m := x.src(1, ir.F32), x.src(2, ir.F32), x.mode()
	if full, ftz := x.is("full"), x.is("ftz"); full || !ftz {
		s := x.scale(b, !ftz, full, m)
		a, b = x.fmul(m, a, s), x.fmul(m, b, s)
	}
	x.to(x.dst(0, ir.F32), ir.FMul, ir.F32, x.machine(ir.ApproxRcp, b), a).Mode = m
}

// reciprocal is rcp.approx of f32.
func (x *inst) reciprocal() {
	a := x.src(1, ir.F32)
	if x.is("ftz") {
		x.to(x.dst(0, ir.F32), ir.Mov, ir.U32, x.machine(ir.ApproxRcp, a))
		return
	}
	s := x.scale(a, true, true, 0)
	x.to(x.dst(0, ir.F32), ir.FMul, ir.F32, s, x.machine(ir.ApproxRcp, x.fmul(0, a, s)))
}

// root is sqrt.approx and rsqrt.approx of f32: the result of what was scaled by 2^24 is scaled by post.
func root(f ir.Approximate, post float32) func(*inst) {
	return func(x *inst) {
		a := x.src(1, ir.F32)
		if x.is("ftz") {
			x.to(x.dst(0, ir.F32), ir.Mov, ir.U32, x.machine(f, a))
			return
		}
		small := x.beyond(ir.LT, 0, a, smallest)
		r := x.machine(f, x.fmul(0, a, x.op(ir.Sel, ir.U32, small, x.f32(0x1p24), x.f32(1))))
		x.to(x.dst(0, ir.F32), ir.FMul, ir.F32, r, x.op(ir.Sel, ir.U32, small, x.f32(post), x.f32(1)))
	}
}

// turn is 1/2π.
const turn = 0x3e22f983

// circular is sin.approx and cos.approx.
func circular(f ir.Approximate) func(*inst) {
	return func(x *inst) {
		x.to(x.dst(0, ir.F32), ir.Mov, ir.U32, x.machine(f, x.fmul(rounds["rz"], x.src(1, ir.F32), x.imm(turn))))
	}
}

// logarithm is lg2.approx.
func (x *inst) logarithm() {
	a := x.src(1, ir.F32)
	d := x.dst(0, ir.F32)
	if x.is("ftz") {
		x.to(d, ir.Mov, ir.U32, x.machine(ir.ApproxLg2, a))
		return
	}
	small := x.beyond(ir.LT, 0, a, smallest)
	r := x.machine(ir.ApproxLg2, x.fmul(0, a, x.op(ir.Sel, ir.U32, small, x.f32(0x1p24), x.f32(1))))
	x.to(d, ir.Sel, ir.U32, small, x.op(ir.FAdd, ir.F32, r, x.f32(-24)), r)
}

// exponential is ex2.approx of f32.
func (x *inst) exponential() {
	a, d := x.src(1, ir.F32), x.dst(0, ir.F32)
	if x.is("ftz") {
		x.to(d, ir.Mov, ir.U32, x.machine(ir.ApproxEx2, a))
		return
	}
	small := x.cmp(ir.LT, ir.F32, a, x.f32(-126))
	r := x.machine(ir.ApproxEx2, x.fmul(0, a, x.op(ir.Sel, ir.U32, small, x.f32(0.5), x.f32(1))))
	x.to(d, ir.Sel, ir.U32, small, x.fmul(0, r, r), r)
}

func (x *inst) tangent() {
	x.to(x.dst(0, ir.F32), ir.Mov, ir.U32, x.machine(ir.ApproxTanh, x.src(1, ir.F32)))
}

// high is an approximation of f64 by the high word alone.
func high(f ir.Approximate) func(*inst) {
	return func(x *inst) {
		o := x.with(ir.Approx, ir.F32, x.op(ir.Shr, ir.U64, x.src(1, ir.F64), x.imm(32)))
		o.Imm = uint64(f)
		x.to(x.dst(0, ir.F64), ir.Shl, ir.U64, o.Dst, x.imm(32))
	}
}

// rootOfDouble is rsqrt.approx.f64.
func (x *inst) rootOfDouble() {
	x.to(x.dst(0, ir.F64), ir.Approx, ir.F64, x.src(1, ir.F64)).Imm = uint64(ir.ApproxRsqrt)
}

// half is an approximation of f16 or bf16, or of both halves of a pair.
func half(f ir.Approximate) func(*inst) {
	return func(x *inst) {
		t := x.t()
		approximate := func(t ir.Type, r ir.Reg) ir.Reg {
			o := x.with(ir.Approx, t, r)
			o.Imm = uint64(f)
			return o.Dst
		}
		a, d := x.src(1, t), x.dst(0, t)
		if t.Bits() == 16 {
			x.to(d, ir.Mov, ir.U16, approximate(t, a))
			return
		}
		one := map[ir.Type]ir.Type{ir.F16x2: ir.F16, ir.BF16x2: ir.BF16}[t]
		low, top := approximate(one, a), approximate(one, x.op(ir.Shr, ir.U32, a, x.imm(16)))
		x.to(d, ir.Bfi, ir.U32, top, low, x.imm(16), x.imm(16))
	}
}
