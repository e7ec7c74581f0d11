package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// sel is the part of a register that an operand of a video instruction names: its first bit, and its type.
func (x *inst) sel(o *ptx.Operand, signed bool) (bit int, t ir.Type) {
	n := 32
	switch s := o.Name; s {
	case "":
	case "b0", "b1", "b2", "b3":
		n, bit = 8, 8*int(s[1]-'0')
	case "h0", "h1":
		n, bit = 16, 16*int(s[1]-'0')
	default:
		x.fail("the part .%s is not understood", s)
	}
	if signed {
		return bit, ir.Signed(n)
	}
	return bit, ir.Unsigned(n)
}

// chosen is operand number i, or the part of it that it names, as a number of 64 bits.
func (x *inst) chosen(i int, signed bool) ir.Reg {
	o := x.in.Args[i]
	bit, t := x.sel(&o, signed)
	o.Name = ""
	r := x.read(&o, ir.U32)
	if bit > 0 {
		r = x.op(ir.Shr, ir.U32, r, x.imm(uint64(bit)))
	}
	return x.ext(t, ir.S64, r)
}

func (x *inst) signed(slot string) bool { return x.mods[slot] == "s32" }

// video64 is a function of two numbers of 64 bits, exact.
type video64 func(x *inst, a, b ir.Reg) ir.Reg

func videoOp(code ir.Code) video64 {
	return func(x *inst, a, b ir.Reg) ir.Reg { return x.op(code, ir.S64, a, b) }
}

func absDiff(x *inst, a, b ir.Reg) ir.Reg { return x.op(ir.Abs, ir.S64, x.op(ir.Sub, ir.S64, a, b)) }

func videoCompare(x *inst, a, b ir.Reg) ir.Reg { return x.cmp(conds[x.mods["cmp"]], ir.S64, a, b) }

// average rounds halves away from zero.
func average(x *inst, a, b ir.Reg) ir.Reg {
	r := x.op(ir.Add, ir.S64, a, b)
	return x.op(ir.Shr, ir.S64, x.op(ir.Add, ir.S64, r, x.cmp(ir.GE, ir.S64, r, x.imm(0))), x.imm(1))
}

// videoShift is vshl and vshr: by at most 32 bits, or modulo 32.
func videoShift(code ir.Code) video64 {
	return func(x *inst, a, b ir.Reg) ir.Reg {
		if x.mods["mode"] == "wrap" {
			b = x.op(ir.And, ir.U32, b, x.imm(31))
		} else {
			b = x.op(ir.Min, ir.U32, b, x.imm(32))
		}
		return x.op(code, ir.S64, a, b)
	}
}

// agreed fails where an H200 does not do what PTX says: it saturates, and finds minima and maxima, as other numbers of bits would.
func (x *inst) agreed() {
	minMax := x.mods["op2"] == "min" || x.mods["op2"] == "max"
	name := x.in.Name
	switch same := x.signed("d") && x.signed("a") && (x.signed("b") || name == "vshr"); {
	case name == "vset" && minMax && x.mods["a"] == x.mods["b"]:
	case minMax && (!same || name == "vabsdiff"), x.is("sat") && !same, name == "vshl" && (minMax || x.is("sat")):
		x.fail("machines do not do what PTX says of %s", x.in.Op)
	}
}

// video is a scalar video instruction: PTX ISA 9.7.20.1. The result is clamped, and combined with c.
func video(f video64) func(*inst) {
	return func(x *inst) {
		x.agreed()
		r := f(x, x.chosen(1, x.signed("a")), x.chosen(2, x.signed("b")))
		if x.is("sat") {
			r = x.clamp(r, true, ir.S32)
		}
		if (len(x.in.Args) == 4) != x.is("op2") {
			x.fail("the number of operands is not understood")
		}
		if x.is("op2") {
			t := ir.U32 // chip: the sources decide
			if x.signed("a") || x.signed("b") {
				t = ir.S32
			}
			r = x.op(map[string]ir.Code{"add": ir.Add, "min": ir.Min, "max": ir.Max}[x.mods["op2"]], t, r, x.src(3, ir.U32))
		}
		x.to(x.dst(0, ir.U32), ir.Mov, ir.U32, r)
	}
}

// vmad is PTX ISA 9.7.20.1.4.
func (x *inst) vmad() {
	if (x.is("sat") || x.is("scale")) && !(x.signed("a") && x.signed("b")) {
		x.fail("machines do not do what PTX says of %s", x.in.Op)
	}
	r := x.op(ir.Mul, ir.U64, x.chosen(1, x.signed("a")), x.chosen(2, x.signed("b")))
	r = x.op(ir.Add, ir.U64, r, x.ext(ir.S32, ir.S64, x.src(3, ir.U32)))
	if x.is("po") {
		r = x.op(ir.Add, ir.U64, r, x.imm(1))
	}
	switch x.mods["scale"] {
	case "shr7":
		r = x.op(ir.Shr, ir.S64, r, x.imm(7))
	case "shr15":
		r = x.op(ir.Shr, ir.S64, r, x.imm(15))
	}
	if x.is("sat") {
		r = x.clamp(r, true, ir.S32)
	}
	x.to(x.dst(0, ir.U32), ir.Mov, ir.U32, r)
}

// simd is a video instruction on n parts: PTX ISA 9.7.20.2. The result is a part each, or, with .add, c plus the sum of
// all. Chosen parts and masks are not understood, so c counts only with .add.
func simd(n int, f video64) func(*inst) {
	return func(x *inst) {
		w := 32 / n
		lane := func(signed bool) ir.Type {
			if signed {
				return ir.Signed(w)
			}
			return ir.Unsigned(w)
		}
		part := func(r ir.Reg, k int, signed bool) ir.Reg {
			if k > 0 {
				r = x.op(ir.Shr, ir.U32, r, x.imm(uint64(w*k)))
			}
			return x.ext(lane(signed), ir.S64, r)
		}
		a, b, c := x.src(1, ir.U32), x.src(2, ir.U32), x.src(3, ir.U32)
		out := c
		for k := range n {
			r := f(x, part(a, k, x.signed("a")), part(b, k, x.signed("b")))
			t := lane(x.signed("d"))
			if x.is("sat") {
				r = x.clamp(r, true, t)
			}
			switch {
			case x.is("add"):
				out = x.op(ir.Add, ir.U32, out, r)
			case k == 0:
				out = r
			default:
				out = x.op(ir.Bfi, ir.U32, r, out, x.imm(uint64(w*k)), x.imm(uint64(w)))
			}
		}
		x.to(x.dst(0, ir.U32), ir.Mov, ir.U32, out)
	}
}

var videos = videoTable()

func videoTable() map[string][]form {
	const (
		types = " d:u32,s32 a:u32,s32 b:u32,s32"
		op2   = " op2?:add,min,max"
	)
	m := map[string][]form{
		"vshl": {row("3-4 d:u32,s32 a:u32,s32 b:u32 sat? mode:clamp,wrap"+op2, video(videoShift(ir.Shl)), "9.7.20.1.3")},
		"vshr": {row("3-4 d:u32,s32 a:u32,s32 b:u32 sat? mode:clamp,wrap"+op2, video(videoShift(ir.Shr)), "9.7.20.1.3")},
		"vmad": {row("4"+types+" po? sat? scale?:shr7,shr15", (*inst).vmad, "9.7.20.1.4")},
		"vset": {row("3-4 a:u32,s32 b:u32,s32 cmp:eq,ne,lt,le,gt,ge"+op2, video(videoCompare), "9.7.20.1.5")},
	}
	for name, f := range map[string]video64{"vadd": videoOp(ir.Add), "vsub": videoOp(ir.Sub), "vmin": videoOp(ir.Min), "vmax": videoOp(ir.Max),
		"vabsdiff": absDiff} {
		m[name] = []form{row("3-4"+types+" sat?"+op2, video(f), "9.7.20.1.1")}
		for n, suffix := range map[int]string{2: "2", 4: "4"} {
			m[name+suffix] = []form{row("4"+types+" sat?", simd(n, f), "9.7.20.2.1"), row("4"+types+" add", simd(n, f), "9.7.20.2.1")}
		}
	}
	for n, suffix := range map[int]string{2: "2", 4: "4"} {
		m["vavrg"+suffix] = []form{row("4"+types+" sat?", simd(n, average), "9.7.20.2.1"), row("4"+types+" add", simd(n, average), "9.7.20.2.1")}
		m["vset"+suffix] = []form{row("4 a:u32,s32 b:u32,s32 cmp:eq,ne,lt,le,gt,ge", simd(n, videoCompare), "9.7.20.2.2"),
			row("4 a:u32,s32 b:u32,s32 cmp:eq,ne,lt,le,gt,ge add", simd(n, videoCompare), "9.7.20.2.2")}
	}
	return m
}
