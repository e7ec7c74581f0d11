package lower

import (
	"slices"

	"optcheck/ir"
	"optcheck/ptx"
)

var bools = map[string]ir.Code{"and": ir.And, "or": ir.Or, "xor": ir.Xor}

var conds = map[string]ir.Cond{"eq": ir.EQ, "ne": ir.NE, "lt": ir.LT, "le": ir.LE, "gt": ir.GT, "ge": ir.GE,
	"lo": ir.LT, "ls": ir.LE, "hi": ir.GT, "hs": ir.GE,
	"equ": ir.EQU, "neu": ir.NEU, "ltu": ir.LTU, "leu": ir.LEU, "gtu": ir.GTU, "geu": ir.GEU, "num": ir.Num, "nan": ir.Unordered}

// cmp compares.
func (x *inst) cmp(c ir.Cond, t ir.Type, a, b ir.Reg) ir.Reg {
	o := x.with(ir.Cmp, t, a, b)
	o.Cond = c
	return o.Dst
}

// compared is the comparison that the instruction names, of operands 1 and 2: PTX ISA 9.3.1. Some are of signed or
// unsigned integers only, and bits are equal or not.
func (x *inst) compared() ir.Reg {
	r := x.b.Temp()
	x.compare(r)
	return r
}

// compare is the same with a destination.
func (x *inst) compare(dst ir.Reg) {
	s, name := x.mods["s"], x.mods["cmp"]
	t := types[s]
	switch {
	case s[0] == 'b' && name != "eq" && name != "ne" && s != "bf16",
		slices.Contains([]string{"lo", "ls", "hi", "hs"}, name) && s[0] != 'u':
		x.fail("%s of %s is not understood", name, s)
	}
	a, b := x.src(1, t), x.src(2, t)
	o := x.to(dst, ir.Cmp, t, a, b)
	if o.Cond = conds[name]; x.is("ftz") {
		o.Mode |= ir.FTZ
	}
}

// both combines a truth with the operand c if the instruction says so.
func (x *inst) combined(p ir.Reg) ir.Reg {
	if (x.mods["bool"] != "") != (len(x.in.Args) == 4) {
		x.fail("the number of operands is not understood")
	}
	if x.mods["bool"] == "" {
		return p
	}
	return x.op(bools[x.mods["bool"]], ir.Pred, p, x.src(3, ir.Pred))
}

// setp is PTX ISA 9.7.6.2.
func (x *inst) setp() {
	if o := &x.in.Args[0]; o.Kind != ptx.Pair {
		d := x.dst(0, ir.Pred)
		if !x.is("bool") && len(x.in.Args) == 3 {
			x.compare(d)
			return
		}
		x.to(d, ir.Mov, ir.Pred, x.combined(x.compared()))
		return
	}
	p, q := x.pair(0, ir.Pred, ir.Pred)
	r := x.compared()
	yes, no := x.combined(r), x.combined(x.op(ir.Xor, ir.Pred, r, x.imm(1)))
	x.to(p, ir.Mov, ir.Pred, yes)
	x.to(q, ir.Mov, ir.Pred, no)
}

// set is PTX ISA 9.7.6.1: all ones, or 1.0, where it is true.
func (x *inst) set() {
	t := x.t()
	one := uint64(1)<<t.Bits() - 1
	switch t {
	case ir.F32:
		one = 0x3f800000
	case ir.F16:
		one = 0x3c00
	case ir.BF16:
		one = 0x3f80
	}
	x.to(x.dst(0, t), ir.Sel, raw(t), x.combined(x.compared()), x.imm(one), x.imm(0))
}

// selp is PTX ISA 9.7.6.3.
func (x *inst) selp() {
	t := x.t()
	a, b := x.src(1, t), x.src(2, t)
	x.to(x.dst(0, t), ir.Sel, raw(t), x.src(3, ir.Pred), a, b).Mode = chosen(t)
}

// chosen is the mode of a choice between two numbers: which NaN a NaN of f32 or f64 becomes is open. The PTX ISA names none for choices,
// and ptxas 13.0 makes minima of some, which have one NaN only.
func chosen(t ir.Type) ir.Mode {
	if t == ir.F32 || t == ir.F64 {
		return ir.AnyNaN
	}
	return 0
}

// slct is PTX ISA 9.7.6.4: a NaN chooses b.
func (x *inst) slct() {
	t, s := x.t(), types[x.mods["s"]]
	o := x.with(ir.Cmp, s, x.src(3, s), x.imm(0))
	if o.Cond = ir.GE; x.is("ftz") {
		o.Mode |= ir.FTZ
	}
	x.to(x.dst(0, t), ir.Sel, raw(t), o.Dst, x.src(1, t), x.src(2, t)).Mode = chosen(t)
}
