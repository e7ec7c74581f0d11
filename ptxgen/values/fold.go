package values

import "fmt"

// The statements of this file are what optimisers fold: values of a known range that are compared, products of which bits are
// known, carries of known sums, small conditional pieces, loops whose result follows from their number of iterations.

// bounded32 is a new register of which an optimiser may know more than that it is a number.
func (g *generator) bounded32() string {
	y, x := g.t("r"), g.src("r")
	switch g.IntN(14) {
	case 0:
		g.line("and.b32", y, x, pickOf(g, "1", "7", "31", "255", "65535", "0x7fffffff", "0x80000000", "-8"))
	case 1:
		g.line("shr.u32", y, x, g.number(1, 32))
	case 2:
		g.line("shr.s32", y, x, g.number(1, 32))
	case 3:
		g.line(pickOf(g, "popc.b32", "clz.b32", "bfind.u32", "bfind.s32", "bfind.shiftamt.u32"), y, x)
	case 4:
		g.line("cnot.b32", y, x)
	case 5:
		g.line("abs.s32", y, x)
	case 6:
		g.line("or.b32", y, x, pickOf(g, "1", "0x80000000", "255", "0x7fffffff", "64"))
	case 7:
		g.line("shl.b32", y, x, g.number(1, 32))
	case 8:
		g.line("set."+g.relation("r")[:2]+pickOf(g, ".u32.s32", ".s32.s32", ".u32.u32"), y, x, g.any("r"))
	case 9:
		g.line("selp.b32", y, g.imm("r"), g.imm("r"), g.src("p"))
	case 10:
		g.line(pickOf(g, "min.u32", "max.u32", "min.s32", "max.s32"), y, x, g.imm("r"))
	case 11:
		g.line("cvt."+pickOf(g, "u32.u8", "s32.s8", "u32.u16", "s32.s16"), y, x)
	case 12:
		g.line("bfe."+pickOf(g, "u32", "s32"), y, x, g.number(0, 32), g.number(0, 33))
	default:
		if g.function {
			return x
		}
		return "%tid0"
	}
	return y
}

// wrapped is what an optimiser may take for something that does not overflow.
func (g *generator) wrapped(x string) string {
	y := g.t("r")
	switch g.IntN(10) {
	case 0:
		g.line("neg.s32", y, x)
	case 1:
		g.line("not.b32", y, x)
	case 2:
		g.line("sub."+pickOf(g, "s32", "u32"), y, g.imm("r"), x)
	case 3:
		g.line("sub."+pickOf(g, "s32", "u32"), y, x, g.any("r"))
	case 4:
		g.line("add."+pickOf(g, "s32", "u32"), y, x, g.any("r"))
	case 5:
		g.line("mul.lo."+pickOf(g, "s32", "u32"), y, x, g.any("r"))
	case 6:
		g.line("xor.b32", y, x, pickOf(g, "-1", "0x80000000", "1", "255"))
	case 7:
		g.line("shl.b32", y, x, g.number(1, 32))
	case 8:
		g.line("abs.s32", y, x)
	default:
		return x
	}
	return y
}

// ranges compares what has a known range, perhaps wrapped.
func ranges(g *generator) {
	x := g.wrapped(g.bounded32())
	if g.IntN(3) == 0 {
		x = g.wrapped(x)
	}
	y := pickOf(g, "0", "1", "-1", "31", "32", "0x80000000", g.any("r"), g.any("r"))
	rel := g.relation("r")
	switch g.IntN(6) {
	case 0:
		g.line("setp."+rel, g.dst("p"), x, y)
	case 1:
		g.line("set."+rel[:2]+pickOf(g, ".u32", ".s32")+rel[2:], g.dst("r"), x, y)
	case 2:
		g.line(pickOf(g, "min.s32", "max.s32", "min.u32", "max.u32"), g.dst("r"), x, y)
	case 3:
		g.line("slct"+pickOf(g, ".u32", ".s32")+".s32", g.dst("r"), g.any("r"), g.any("r"), x)
	case 4:
		g.line(pickOf(g, "shr.u32", "shr.s32", "and.b32", "or.b32", "mul.lo.s32", "add.s32", "add.sat.s32", "sub.sat.s32"), g.dst("r"), x, y)
	default:
		p := g.t("p")
		g.line("setp."+rel, p, x, y)
		g.line("selp.b32", g.dst("r"), g.any("r"), x, p)
	}
}

// squares multiplies what has known low or high bits.
func squares(g *generator) {
	x := g.bounded32()
	y, z := g.t("r"), g.t("r")
	switch g.IntN(4) {
	case 0:
		g.line("mul.lo."+pickOf(g, "s32", "u32"), y, x, x)
	case 1:
		g.line("mul.hi."+pickOf(g, "s32", "u32"), y, x, pickOf(g, x, g.any("r")))
	case 2:
		w := g.t("d")
		g.line("mul.wide."+pickOf(g, "s32", "u32"), w, x, pickOf(g, x, g.any("r")))
		g.line("cvt.u32.u64", y, w)
		if g.IntN(3) == 0 {
			g.line(pickOf(g, "shr.u64", "shr.s64"), g.dst("d"), w, "32")
		}
	default:
		g.line("mad.lo.s32", y, x, pickOf(g, x, g.any("r")), g.any("r"))
	}
	g.line(pickOf(g, "and.b32", "or.b32", "shr.u32", "shr.s32", "xor.b32", "sub.s32"), z, y, pickOf(g, "1", "3", "4", "8", "16", "31", "255", g.any("r")))
	g.line("mov.b32", g.dst("r"), z)
}

// funnels adds to shifted pairs of words.
func funnels(g *generator) {
	x, y, z := g.wrapped(g.bounded32()), pickOf(g, g.any("r"), g.src("r")), g.t("r")
	if g.IntN(2) == 0 {
		x, y = y, x
	}
	g.line("shf."+pickOf(g, "l", "r")+"."+pickOf(g, "wrap", "clamp")+".b32", z, x, y, g.amount(32))
	g.line(pickOf(g, "add.s32", "sub.s32", "or.b32", "xor.b32", "and.b32"), g.dst("r"), z, g.any("r"))
}

// borrowed adds and subtracts with carries whose operands are known in part.
func borrowed(g *generator) {
	op, x, y := pickOf(g, "add", "sub"), g.wrapped(g.bounded32()), g.bounded32()
	t := pickOf(g, "u32", "s32")
	low := pickOf(g, g.t("r"), g.dst("r"))
	g.line(op+".cc."+t, low, x, pickOf(g, y, g.any("r")))
	switch g.IntN(4) {
	case 0:
		g.line(op+"c."+t, g.dst("r"), pickOf(g, "0", g.any("r")), pickOf(g, "0", "-1", g.any("r")))
	case 1:
		g.line("mad.hi.cc."+t, g.dst("r"), g.src("r"), g.any("r"), g.src("r"))
		g.line("addc."+t, g.dst("r"), "0", "0")
	case 2:
		g.line("madc.lo.cc."+t, g.dst("r"), g.src("r"), g.any("r"), g.any("r"))
		g.line("madc.hi."+t, g.dst("r"), g.src("r"), g.any("r"), g.any("r"))
	default:
		g.line(op+"c."+t, g.dst("r"), g.src("r"), y)
	}
}

// halfwords computes in 16 bits and looks at the result in more.
func halfwords(g *generator) {
	h, x := g.t("h"), g.src("h")
	switch g.IntN(7) {
	case 0:
		g.line(pickOf(g, "abs.s16", "neg.s16", "not.b16", "cnot.b16"), h, x)
	case 1:
		g.line("sub."+pickOf(g, "s16", "u16"), h, pickOf(g, "0", g.imm("h")), x)
	case 2:
		g.line(pickOf(g, "min.s16", "max.s16", "min.u16", "max.u16"), h, x, g.any("h"))
	case 3:
		g.line("mul.lo."+pickOf(g, "s16", "u16"), h, x, g.any("h"))
	case 4:
		g.line(pickOf(g, "shl.b16", "shr.u16", "shr.s16"), h, x, g.amount(16))
	case 5:
		g.line("cvt.u16.u32", h, g.wrapped(g.bounded32()))
	default:
		g.line(pickOf(g, "add.s16", "add.u16", "sub.s16"), h, x, g.any("h"))
	}
	switch g.IntN(6) {
	case 0, 1:
		g.line("cvt."+pickOf(g, "s32.s16", "u32.u16", "s32.u16", "u32.s16", "s32.s8", "u32.u8"), g.dst("r"), h)
	case 2:
		g.line("setp."+g.relation("h"), g.dst("p"), h, g.any("h"))
	case 3:
		g.line("mul.wide."+pickOf(g, "s16", "u16"), g.dst("r"), h, g.any("h"))
	case 4:
		g.line("cvt."+pickOf(g, "s64.s16", "u64.u16"), g.dst("d"), h)
	default:
		g.line("mad.wide."+pickOf(g, "s16", "u16"), g.dst("r"), h, g.any("h"), g.src("r"))
	}
}

// pieces are conditional pieces that become guards or selections.
func pieces(g *generator) {
	d, p := g.dst("r"), g.t("p")
	g.line("setp."+g.relation("r"), p, g.wrapped(g.bounded32()), pickOf(g, "0", "1", g.any("r")))
	g.temp++
	l := fmt.Sprintf("L%d", g.temp)
	s, op := g.now, func() *Stmt {
		n := &Stmt{}
		now := g.now
		g.now = n
		x := g.bounded32()
		g.line(pickOf(g, "add.s32", "sub.s32", "xor.b32", "or.b32", "and.b32", "mul.lo.s32", "shr.u32", "shl.b32"), d, pickOf(g, x, d), pickOf(g, g.any("r"), "-1"))
		g.now = now
		return n
	}
	if g.IntN(3) == 0 {
		g.line("mov.b32", d, g.imm("r"))
	}
	s.Lines = append(s.Lines, pickOf(g, "@", "@!")+p+" bra "+l+"a;")
	s.Body = []*Stmt{op()}
	if g.IntN(2) == 0 {
		s.End = []string{l + "a:"}
		return
	}
	s.Mid = []string{"bra " + l + "b;", l + "a:"}
	if g.IntN(3) > 0 {
		s.Else = []*Stmt{op()}
	}
	s.End = []string{l + "b:"}
}

// recurrences are loops that apply one operation to a register, often with nothing else.
func recurrences(g *generator) {
	if g.depth == maxDepth {
		int32s(g)
		return
	}
	i, p, s, d := g.t("r"), g.t("p"), g.now, g.dst("r")
	l := fmt.Sprintf("L%d", g.temp)
	switch g.IntN(3) {
	case 0:
		g.line("mov.u32", i, g.number(1, 40))
	case 1:
		g.line("and.b32", i, g.src("r"), "15")
		g.line("add.u32", i, i, "1")
	default:
		x := g.src("r")
		if !g.function {
			x = "%tid0"
		}
		g.line("and.b32", i, x, "7")
		g.line("add.u32", i, i, g.number(1, 5))
	}
	s.Lines = append(s.Lines, l+":")
	n := &Stmt{}
	g.now = n
	switch g.IntN(12) {
	case 0: // nothing
	case 1:
		g.line(pickOf(g, "neg.s32", "abs.s32", "not.b32", "cnot.b32", "brev.b32"), d, d)
	case 2:
		g.line("shf."+pickOf(g, "l", "r")+".wrap.b32", d, d, pickOf(g, d, g.src("r")), g.amount(32))
	case 3:
		g.line("lop3.b32", d, d, g.any("r"), g.any("r"), fmt.Sprint(g.IntN(256)))
	case 4:
		g.line("mul.lo.s32", d, d, g.any("r"))
	case 5:
		g.line("mul.hi."+pickOf(g, "s32", "u32"), d, d, g.any("r"))
	case 6:
		g.line("mad.lo.s32", d, d, g.any("r"), g.any("r"))
	case 7:
		g.line("add.cc.u32", d, d, g.any("r"))
		e := g.dst("r")
		g.line("addc.u32", e, e, g.any("r"))
	case 8:
		g.line("bfi.b32", d, d, g.src("r"), g.number(0, 32), g.number(0, 17))
	case 9:
		g.line(pickOf(g, "add.s32", "sub.s32", "xor.b32", "shl.b32", "shr.s32"), d, d, g.any("r"))
	case 10:
		g.line(pickOf(g, "add.s32", "sub.s32", "xor.b32"), d, d, i)
	default:
		g.line(pickOf(g, "min.s32", "max.u32", "add.sat.s32"), d, g.any("r"), d)
	}
	g.now = s
	if len(n.Lines) > 0 {
		s.Body = []*Stmt{n}
	}
	switch g.IntN(3) {
	case 0:
		s.End = []string{"sub.u32 " + i + ", " + i + ", 1;", "setp.ne.u32 " + p + ", " + i + ", 0;"}
	case 1:
		s.End = []string{"add.s32 " + i + ", " + i + ", -1;", "setp.gt.s32 " + p + ", " + i + ", 0;"}
	default:
		s.End = []string{"setp.gt.u32 " + p + ", " + i + ", 1;", "sub.u32 " + i + ", " + i + ", 1;"}
	}
	s.End = append(s.End, "@"+p+" bra "+l+";")
}

// lanes computes on pairs of 16-bit numbers and takes one out.
func lanes(g *generator) {
	y, h := g.t("r"), g.t("h")
	g.line(pickOf(g, "add.u16x2", "add.s16x2", "min.u16x2", "max.s16x2", "max.u16x2"), y, g.src("r"), pickOf(g, g.src("r"), "%tid0"))
	switch g.IntN(4) {
	case 0:
		g.line("cvt."+pickOf(g, "u16.u32", "s16.s32"), h, y)
		g.line("cvt."+pickOf(g, "u32.u16", "s32.s16"), g.dst("r"), h)
	case 1:
		g.line(pickOf(g, "shr.u32", "shr.s32", "and.b32"), g.dst("r"), y, "16")
	case 2:
		g.line(pickOf(g, "add.u16x2", "min.s16x2"), g.dst("r"), y, g.src("r"))
	default:
		k := g.t("h")
		g.line("mov.b32", "{"+h+", "+k+"}", y)
		g.line("mov.b32", g.dst("r"), "{"+pickOf(g, h, k)+", "+pickOf(g, h, k)+"}")
	}
}

// bytes puts bytes in place and sums, by shifts, masks, fields and permutations.
func bytes(g *generator) {
	x := g.src("r")
	part := func() string {
		y, at := g.t("r"), 8*g.IntN(4)
		switch g.IntN(5) {
		case 0:
			g.line("bfe."+pickOf(g, "u32", "s32"), y, x, fmt.Sprint(at), "8")
		case 1:
			g.line("prmt.b32", y, x, pickOf(g, "0", g.src("r")), pickOf(g, "0x4440", "0x4441", "0x4442", "0x4443", "0x8880", "0x9991", "0xbbb3"))
		case 2:
			z := g.t("r")
			g.line("shr.u32", z, x, fmt.Sprint(at))
			g.line("and.b32", y, z, "255")
		case 3:
			g.line("cvt."+pickOf(g, "u32.u8", "s32.s8"), y, x)
		default:
			g.line("and.b32", y, x, fmt.Sprintf("%#x", uint32(255)<<at))
		}
		return y
	}
	a := part()
	x = g.src("r")
	b, c, d := part(), g.t("r"), g.t("r")
	switch g.IntN(4) {
	case 0:
		g.line("shl.b32", c, a, pickOf(g, "8", "16", "24"))
		g.line(pickOf(g, "or.b32", "add.s32", "xor.b32"), d, b, c)
	case 1:
		g.line("bfi.b32", d, a, b, pickOf(g, "8", "16", "24"), "8")
	case 2:
		g.line("prmt.b32", d, a, b, pickOf(g, "0x5140", "0x0040", "0x3340", "0x1054", "0x0504"))
	default:
		g.line(pickOf(g, "sub.s32", "min.s32", "mul.lo.s32", "max.u32"), d, a, b)
	}
	g.line("mov.b32", g.dst("r"), d)
}
