package values

import "fmt"

// features are all kinds of statements. What optimisers get wrong most comes most often.
var features []feature

func init() {
	features = []feature{
		{"int32", 8, 0, 0, int32s}, {"int16", 5, 0, 0, int16s}, {"int64", 7, 0, 0, int64s}, {"narrow", 7, 0, 0, narrow},
		{"shift", 6, 0, 0, shifts}, {"bits", 5, 0, 0, bitFields}, {"count", 3, 0, 0, counts}, {"logic", 5, 0, 0, logic}, {"permute", 6, 0, 0, permute},
		{"minmax", 6, 0, 0, minMax}, {"product", 6, 0, 0, products}, {"carry", 4, 0, 0, carries}, {"address", 6, 0, 0, addresses},
		{"negated", 5, 0, 0, negated}, {"words", 5, 0, 0, words}, {"divide", 3, 0, 0, divide}, {"dot", 2, 0, 61, dot}, {"video", 2, 0, 0, video},
		{"paired", 2, 80, 90, paired}, {"compare", 6, 0, 0, compare}, {"predicate", 5, 0, 0, predicates}, {"select", 5, 0, 0, selects},
		{"f32", 4, 0, 0, f32s}, {"f64", 2, 0, 0, f64s}, {"f16", 3, 70, 80, f16s}, {"fconvert", 3, 0, 0, fconvert}, {"fcompare", 3, 0, 0, fcompare},
		{"branch", 5, 0, 0, branch}, {"loop", 4, 0, 0, loop}, {"call", 2, 0, 0, call}, {"load", 3, 0, 0, loads}, {"local", 3, 0, 0, locals},
		{"shared", 3, 0, 0, shared}, {"atomic", 2, 0, 0, atomics}, {"shuffle", 2, 0, 70, shuffle}, {"vote", 2, 0, 70, votes}, {"reduce", 1, 70, 80, reductions},
		{"range", 8, 0, 0, ranges}, {"square", 4, 0, 0, squares}, {"funnel", 4, 0, 0, funnels}, {"borrow", 5, 0, 0, borrowed}, {"halfword", 5, 0, 0, halfwords},
		{"piece", 7, 0, 0, pieces}, {"recurrence", 5, 0, 0, recurrences}, {"lanes", 3, 80, 90, lanes}, {"bytes", 5, 0, 0, bytes},
	}
}

func int32s(g *generator) {
	d := g.dst("r")
	switch g.IntN(10) {
	case 0, 1, 2:
		g.line(pickOf(g, "add.s32", "add.u32"), d, g.src("r"), g.any("r"))
	case 3, 4:
		g.line(pickOf(g, "sub.s32", "sub.u32"), d, g.any("r"), g.src("r"))
	case 5:
		g.line(pickOf(g, "add.sat.s32", "sub.sat.s32"), d, g.src("r"), g.any("r"))
	case 6:
		g.line(pickOf(g, "neg.s32", "abs.s32", "not.b32"), d, g.src("r"))
	case 7:
		g.line(pickOf(g, "sad.s32", "sad.u32"), d, g.src("r"), g.any("r"), g.any("r"))
	case 8:
		g.line("mul.lo.s32", d, g.src("r"), g.any("r"))
	default:
		g.line(pickOf(g, "and", "or", "xor")+".b32", d, g.src("r"), g.any("r"))
	}
}

func int16s(g *generator) {
	d := g.dst("h")
	sign := pickOf(g, "s16", "u16")
	switch g.IntN(9) {
	case 0, 1, 2:
		g.line(pickOf(g, "add.", "sub.", "mul.lo.")+sign, d, g.src("h"), g.any("h"))
	case 3:
		g.line(pickOf(g, "min.", "max.", "mul.hi.")+sign, d, g.src("h"), g.any("h"))
	case 4:
		g.line(pickOf(g, "shl.b16", "shr.u16", "shr.s16"), d, g.src("h"), g.amount(16))
	case 5:
		g.line(pickOf(g, "and", "or", "xor")+".b16", d, g.src("h"), g.any("h"))
	case 6:
		g.line(pickOf(g, "neg.s16", "abs.s16", "not.b16"), d, g.src("h"))
	case 7:
		g.line("mad.lo."+sign, d, g.src("h"), g.any("h"), g.any("h"))
	default:
		g.line("mul.wide."+sign, g.dst("r"), g.src("h"), g.any("h"))
	}
	if g.IntN(3) == 0 {
		g.line("cvt."+pickOf(g, "u32", "s32")+"."+sign, g.dst("r"), d)
	}
	if g.IntN(4) == 0 {
		g.line("cvt.u16.u32", g.dst("h"), g.src("r"))
	}
}

func int64s(g *generator) {
	d := g.dst("d")
	switch g.IntN(10) {
	case 0, 1, 2:
		g.line(pickOf(g, "add.s64", "sub.s64"), d, g.src("d"), g.any("d"))
	case 3:
		g.line("mul.lo.s64", d, g.src("d"), g.any("d"))
	case 4:
		g.line(pickOf(g, "and", "or", "xor")+".b64", d, g.src("d"), g.any("d"))
	case 5:
		g.line(pickOf(g, "neg.s64", "abs.s64", "not.b64"), d, g.src("d"))
	case 6:
		g.line(pickOf(g, "shl.b64", "shr.u64", "shr.s64"), d, g.src("d"), g.amount(64))
	case 7:
		g.line(pickOf(g, "min", "max")+pickOf(g, ".s64", ".u64"), d, g.src("d"), g.any("d"))
	case 8:
		g.line(pickOf(g, "mul.hi.s64", "mul.hi.u64"), d, g.src("d"), g.any("d"))
	default:
		g.line(pickOf(g, "mad.lo.s64", "sad.s64", "sad.u64"), d, g.src("d"), g.any("d"), g.src("d"))
	}
	if g.IntN(3) == 0 {
		g.line("cvt.u32.u64", g.dst("r"), d)
	}
}

// narrow makes chains of narrow integers and their extensions.
func narrow(g *generator) {
	x := g.src("r")
	for range 1 + g.IntN(4) {
		y := g.t("r")
		switch g.IntN(9) {
		case 0, 1:
			g.line("cvt."+pickOf(g, "s32", "u32")+"."+pickOf(g, "s8", "u8", "s16", "u16"), y, x)
		case 2:
			g.line("shl.b32", y, x, pickOf(g, "24", "16", "8"))
			z := g.t("r")
			g.line(pickOf(g, "shr.s32", "shr.u32"), z, y, pickOf(g, "24", "16", "8"))
			y = z
		case 3:
			g.line("and.b32", y, x, pickOf(g, "255", "65535", "127", "1"))
		case 4:
			h := g.t("h")
			g.line("cvt.u16.u32", h, x)
			g.line("cvt."+pickOf(g, "s32.s16", "u32.u16", "s32.s8", "u32.u8", "u32.s16"), y, h)
		case 5:
			g.line(pickOf(g, "add.s32", "sub.s32"), y, x, g.any("r"))
		case 6:
			g.line("cvt.sat."+pickOf(g, "s8.s32", "u8.s32", "u8.u32", "s16.s32", "u16.s32", "u16.u32", "s8.u32"), y, x)
		case 7:
			w := g.t("d")
			g.line("cvt."+pickOf(g, "s64.s32", "u64.u32", "s64.s16", "u64.u8", "s64.s8"), w, x)
			g.line(pickOf(g, "add.s64", "sub.s64"), g.dst("d"), g.src("d"), w)
			continue
		default:
			g.line("mul.lo.s32", y, x, g.any("r"))
		}
		x = y
	}
	g.line("mov.b32", g.dst("r"), x)
}

// shifts makes shifts of shifts.
func shifts(g *generator) {
	switch g.IntN(7) {
	case 0:
		g.line("shf."+pickOf(g, "l", "r")+"."+pickOf(g, "wrap", "clamp")+".b32", g.dst("r"), g.src("r"), g.any("r"), g.amount(32))
	case 1: // a rotation
		x := g.src("r")
		g.line("shf."+pickOf(g, "l", "r")+".wrap.b32", g.dst("r"), x, x, g.amount(32))
	case 2:
		x, y, s := g.src("r"), g.t("r"), 1+g.IntN(31)
		z := g.t("r")
		g.line("shl.b32", y, x, fmt.Sprint(s))
		g.line("shr.u32", z, x, fmt.Sprint(32-s))
		g.line(pickOf(g, "or.b32", "add.u32", "xor.b32"), g.dst("r"), y, z)
	case 3, 4:
		x := g.src("r")
		for range 2 + g.IntN(2) {
			y := g.t("r")
			g.line(pickOf(g, "shl.b32", "shr.u32", "shr.s32"), y, x, g.amount(32))
			x = y
		}
		g.line("mov.b32", g.dst("r"), x)
	default:
		x := g.src("d")
		for range 1 + g.IntN(3) {
			y := g.t("d")
			g.line(pickOf(g, "shl.b64", "shr.u64", "shr.s64"), y, x, g.amount(64))
			x = y
		}
		g.line("mov.b64", g.dst("d"), x)
	}
}

func bitFields(g *generator) {
	field := func(bits int) (string, string) { // PTX restricts position and length to 0 … 255
		if g.IntN(5) == 0 {
			pos, n := g.t("r"), g.t("r")
			g.line("and.b32", pos, g.src("r"), pickOf(g, "255", "31", "63"))
			g.line("and.b32", n, g.src("r"), pickOf(g, "255", "31", "63"))
			return pos, n
		}
		return g.number(0, bits), g.number(0, bits/2+2)
	}
	switch g.IntN(6) {
	case 0, 1:
		pos, n := field(32)
		g.line(pickOf(g, "bfe.u32", "bfe.s32"), g.dst("r"), g.src("r"), pos, n)
	case 2:
		pos, n := field(32)
		g.line("bfi.b32", g.dst("r"), g.any("r"), g.any("r"), pos, n)
	case 3:
		pos, n := field(64)
		g.line(pickOf(g, "bfe.u64", "bfe.s64"), g.dst("d"), g.src("d"), pos, n)
	case 4:
		pos, n := field(64)
		g.line("bfi.b64", g.dst("d"), g.src("d"), g.any("d"), pos, n)
	default: // a field by hand
		y, z := g.t("r"), g.t("r")
		g.line(pickOf(g, "shr.u32", "shr.s32"), y, g.src("r"), g.number(1, 31))
		g.line("and.b32", z, y, fmt.Sprint(1<<(1+g.IntN(20))-1))
		g.line(pickOf(g, "or.b32", "add.s32", "xor.b32"), g.dst("r"), z, g.any("r"))
	}
}

func counts(g *generator) {
	d := g.dst("r")
	switch g.IntN(6) {
	case 0:
		g.line("popc.b32", d, g.src("r"))
	case 1:
		g.line("clz.b32", d, g.src("r"))
	case 2:
		g.line(pickOf(g, "popc.b64", "clz.b64"), d, g.src("d"))
	case 3:
		g.line("bfind"+pickOf(g, "", ".shiftamt")+pickOf(g, ".u32", ".s32"), d, g.src("r"))
	case 4:
		g.line("bfind"+pickOf(g, "", ".shiftamt")+pickOf(g, ".u64", ".s64"), d, g.src("d"))
	default:
		if g.IntN(2) == 0 {
			g.line("brev.b64", g.dst("d"), g.src("d"))
		} else {
			g.line("brev.b32", d, g.src("r"))
		}
	}
}

func logic(g *generator) {
	switch g.IntN(5) {
	case 0, 1:
		g.line("lop3.b32", g.dst("r"), g.src("r"), g.any("r"), g.any("r"), fmt.Sprint(g.IntN(256)))
	case 2:
		y := g.t("r")
		g.line(pickOf(g, "and", "or", "xor")+".b32", y, g.src("r"), g.any("r"))
		z := g.t("r")
		g.line("not.b32", z, y)
		g.line(pickOf(g, "and", "or", "xor")+".b32", g.dst("r"), z, g.any("r"))
	case 3:
		g.line(pickOf(g, "cnot.b32", "not.b32"), g.dst("r"), g.src("r"))
	default:
		y := g.t("d")
		g.line(pickOf(g, "and", "or", "xor")+".b64", y, g.src("d"), g.any("d"))
		g.line(pickOf(g, "and", "or", "xor")+".b64", g.dst("d"), y, g.any("d"))
	}
}

// permute makes chains of byte permutations.
func permute(g *generator) {
	selector := func() string {
		switch g.IntN(4) {
		case 0:
			return g.src("r")
		case 1:
			return pickOf(g, "0x3210", "0x7654", "0x0123", "0x5410", "0x7632", "0x4440", "0x8880", "0x1032", "0x6540", "0xba98")
		}
		return fmt.Sprintf("%#x", g.IntN(1<<16))
	}
	x := g.src("r")
	for range 1 + g.IntN(3) {
		y := g.t("r")
		switch g.IntN(6) {
		case 0:
			g.line("prmt.b32."+pickOf(g, "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"), y, x, g.any("r"), g.any("r"))
		case 1:
			g.line("and.b32", y, x, pickOf(g, "0xff", "0xff00", "0xff0000", "0xffff", "0xff00ff00", "-65536"))
		case 2:
			g.line(pickOf(g, "shl.b32", "shr.u32"), y, x, pickOf(g, "8", "16", "24"))
		default:
			a, b := x, g.any("r")
			if g.IntN(2) == 0 {
				a, b = g.src("r"), x
			}
			g.line("prmt.b32", y, a, b, selector())
		}
		x = y
	}
	g.line("mov.b32", g.dst("r"), x)
}

// minMax makes chains of minima and maxima, with sums between them.
func minMax(g *generator) {
	x := g.src("r")
	for range 1 + g.IntN(4) {
		y := g.t("r")
		switch g.IntN(5) {
		case 0:
			g.line(pickOf(g, "add.s32", "sub.s32"), y, x, g.any("r"))
		default:
			g.line(pickOf(g, "min.s32", "max.s32", "min.s32", "max.s32", "min.u32", "max.u32"), y, x, g.any("r"))
		}
		x = y
	}
	g.line("mov.b32", g.dst("r"), x)
}

// products multiplies by constants, and adds.
func products(g *generator) {
	switch g.IntN(9) {
	case 0, 1:
		g.line(pickOf(g, "mad.lo.s32", "mad.lo.u32"), g.dst("r"), g.src("r"), g.any("r"), g.any("r"))
	case 2:
		g.line(pickOf(g, "mul.hi.s32", "mul.hi.u32"), g.dst("r"), g.src("r"), g.any("r"))
	case 3:
		g.line(pickOf(g, "mad.hi.s32", "mad.hi.u32"), g.dst("r"), g.src("r"), g.any("r"), g.any("r"))
	case 4:
		g.line(pickOf(g, "mul.wide.s32", "mul.wide.u32"), g.dst("d"), g.src("r"), g.any("r"))
	case 5:
		g.line(pickOf(g, "mad.wide.s32", "mad.wide.u32"), g.dst("d"), g.src("r"), g.any("r"), g.any("d"))
	case 6:
		g.line(pickOf(g, "mul24.lo.s32", "mul24.lo.u32", "mul24.hi.s32", "mul24.hi.u32"), g.dst("r"), g.src("r"), g.any("r"))
	case 7: // a product of products
		y := g.t("r")
		g.line("mul.lo.s32", y, g.src("r"), g.imm("r"))
		g.line(pickOf(g, "mul.lo.s32", "add.s32", "sub.s32"), g.dst("r"), y, g.imm("r"))
	default:
		y := g.t("r")
		g.line("shl.b32", y, g.src("r"), g.number(1, 12))
		g.line(pickOf(g, "mad.lo.s32"), g.dst("r"), y, g.imm("r"), g.any("r"))
	}
}

// carries adds and subtracts numbers of several words.
func carries(g *generator) {
	op := pickOf(g, "add", "sub")
	switch g.IntN(5) {
	case 0:
		g.line("mad.lo.cc.u32", g.dst("r"), g.src("r"), g.any("r"), g.src("r"))
		g.line("madc.hi.u32", g.dst("r"), g.src("r"), g.any("r"), g.src("r"))
	case 1:
		g.line(op+".cc.u64", g.dst("d"), g.src("d"), g.src("d"))
		g.line(op+"c.u64", g.dst("d"), g.src("d"), g.any("d"))
	case 2:
		g.line(op+".cc.u32", g.t("r"), g.src("r"), g.any("r"))
		g.line(op+"c.u32", g.dst("r"), "0", "0")
	default:
		g.line(op+".cc.u32", g.dst("r"), g.src("r"), g.any("r"))
		for range g.IntN(3) {
			g.line(op+"c.cc.u32", g.dst("r"), g.src("r"), g.any("r"))
		}
		g.line(op+"c.u32", g.dst("r"), g.src("r"), g.any("r"))
	}
}

// addresses computes as addresses of arrays are: a scaled index and a base.
func addresses(g *generator) {
	i, y := g.src("r"), g.t("d")
	switch g.IntN(6) {
	case 0:
		g.line(pickOf(g, "cvt.u64.u32", "cvt.s64.s32"), y, i)
		z := g.t("d")
		g.line("shl.b64", z, y, g.number(1, 33))
		g.line(pickOf(g, "add.s64", "sub.s64"), g.dst("d"), g.src("d"), z)
	case 1:
		g.line(pickOf(g, "mul.wide.s32", "mul.wide.u32"), y, i, fmt.Sprint(1<<g.IntN(12)))
		g.line(pickOf(g, "add.s64", "sub.s64"), g.dst("d"), g.any("d"), y)
	case 2:
		g.line("shl.b64", y, g.src("d"), g.number(1, 63))
		g.line(pickOf(g, "add.s64", "sub.s64"), g.dst("d"), y, g.any("d"))
	case 3:
		g.line(pickOf(g, "shr.u64", "shr.s64"), y, g.src("d"), g.number(1, 63))
		g.line(pickOf(g, "add.s64", "sub.s64"), g.dst("d"), y, g.any("d"))
		if g.IntN(2) == 0 {
			g.line("cvt.u32.u64", g.dst("r"), y)
		}
	case 4:
		z := g.t("r")
		g.line("shl.b32", z, i, g.number(1, 31))
		g.line(pickOf(g, "add.s32", "sub.s32"), g.dst("r"), g.any("r"), z)
	default:
		z := g.t("r")
		g.line(pickOf(g, "shr.u32", "shr.s32"), z, i, g.number(1, 31))
		g.line(pickOf(g, "add.s32", "sub.s32"), g.dst("r"), g.any("r"), z)
	}
}

// negated adds what was negated, above all high words and products.
func negated(g *generator) {
	y, z := g.t("d"), g.t("d")
	switch g.IntN(5) {
	case 0:
		g.line("neg.s64", y, g.src("d"))
		g.line("add.s64", g.dst("d"), y, g.any("d"))
	case 1:
		g.line(pickOf(g, "shl.b64", "shr.u64", "shr.s64"), y, g.src("d"), g.number(1, 63))
		g.line("neg.s64", z, y)
		g.line("add.s64", g.dst("d"), g.src("d"), z)
	case 2:
		g.line("neg.s64", y, g.src("d"))
		g.line(pickOf(g, "mad.wide.s32", "mad.wide.u32"), g.dst("d"), g.src("r"), g.any("r"), y)
	case 3:
		g.line(pickOf(g, "mul.wide.s32", "mul.wide.u32"), y, g.src("r"), g.any("r"))
		g.line("sub.s64", g.dst("d"), g.any("d"), y)
	default:
		a, b, w := g.src("r"), g.t("r"), g.t("r")
		g.line("neg.s32", b, a)
		g.line(pickOf(g, "mad.lo.s32", "mad.hi.s32", "mad.hi.u32"), w, b, g.any("r"), g.any("r"))
		g.line(pickOf(g, "sub.s32", "add.s32"), g.dst("r"), w, g.src("r"))
	}
}

// words takes 64-bit numbers apart, and makes them.
func words(g *generator) {
	lo, hi := g.t("r"), g.t("r")
	switch g.IntN(5) {
	case 0:
		g.line("mov.b64", "{"+lo+", "+hi+"}", g.src("d"))
		g.line("mov.b64", g.dst("d"), "{"+hi+", "+lo+"}")
	case 1:
		g.line("mov.b64", g.dst("d"), "{"+g.src("r")+", "+g.src("r")+"}")
	case 2:
		g.line("mov.b64", "{"+lo+", "+hi+"}", g.src("d"))
		g.line(pickOf(g, "add.s32", "xor.b32", "sub.s32"), g.dst("r"), lo, hi)
	case 3:
		y := g.t("d")
		g.line("shr.u64", y, g.src("d"), "32")
		g.line("cvt.u32.u64", g.dst("r"), y)
	default:
		y, z := g.t("d"), g.t("d")
		g.line("cvt.u64.u32", y, g.src("r"))
		g.line("shl.b64", z, y, "32")
		w := g.t("d")
		g.line("cvt.u64.u32", w, g.src("r"))
		g.line(pickOf(g, "or.b64", "add.s64", "xor.b64"), g.dst("d"), z, w)
	}
}

// divide divides by what is not zero; signed divisors are positive, so that no quotient overflows.
func divide(g *generator) {
	op := pickOf(g, "div", "rem")
	switch g.IntN(6) {
	case 0:
		y, z := g.t("r"), g.t("r")
		g.line("and.b32", y, g.src("r"), "0x7fffffff")
		g.line("or.b32", z, y, "1")
		g.line(op+pickOf(g, ".u32", ".s32"), g.dst("r"), g.src("r"), z)
	case 1, 2:
		g.line(op+".u32", g.dst("r"), g.src("r"), g.number(1, 1000))
	case 3:
		g.line(op+".s32", g.dst("r"), g.src("r"), pickOf(g, "1", "2", "3", "7", "10", "16", "100", "128", "641", "65536", "2147483647", "-3", "-8", "-100"))
	case 4:
		g.line(op+pickOf(g, ".u16", ".s16"), g.dst("h"), g.src("h"), g.number(1, 300))
	default:
		g.line(op+pickOf(g, ".u64", ".s64"), g.dst("d"), g.src("d"), pickOf(g, "3", "10", "8", "1000", "4294967297", "1099511627776"))
	}
}

func dot(g *generator) {
	types := pickOf(g, ".u32.u32", ".s32.s32", ".u32.s32", ".s32.u32")
	g.line(pickOf(g, "dp4a", "dp2a.lo", "dp2a.hi")+types, g.dst("r"), g.src("r"), g.any("r"), g.any("r"))
}

func video(g *generator) {
	types := pickOf(g, ".s32.s32.s32", ".u32.u32.u32", ".s32.u32.u32", ".s32.s32.u32")
	part := func(op string, n int) string { return g.src("r") + "." + op + g.number(0, n) }
	switch g.IntN(4) {
	case 0:
		g.line(pickOf(g, "vadd", "vsub", "vabsdiff", "vmin", "vmax")+types, g.dst("r"), g.src("r"), g.src("r"))
	case 1:
		g.line(pickOf(g, "vadd", "vsub", "vabsdiff", "vmin", "vmax")+types, g.dst("r"), part("b", 4), part("h", 2))
	case 2:
		name, second := pickOf(g, "vadd", "vsub", "vabsdiff", "vmin", "vmax"), pickOf(g, ".add", ".min", ".max")
		if second != ".add" { // of other types chips do not do what PTX says
			types = ".s32.s32.s32"
		}
		if name == "vabsdiff" {
			second = ".add"
		}
		g.line(name+types+second, g.dst("r"), part("b", 4), g.src("r"), g.src("r"))
	default:
		g.line(pickOf(g, "vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax")+pickOf(g, "2", "4")+pickOf(g, ".s32.s32.s32", ".u32.u32.u32"),
			g.dst("r"), g.src("r"), g.src("r"), g.src("r"))
	}
}

// paired computes on pairs of 16-bit integers.
func paired(g *generator) {
	t := pickOf(g, ".u16x2", ".s16x2")
	if g.IntN(6) == 0 {
		g.line(pickOf(g, "min", "max")+pickOf(g, ".relu.s32", ".s16x2.relu"), g.dst("r"), g.src("r"), g.src("r"))
		return
	}
	g.line(pickOf(g, "add", "min", "max")+t, g.dst("r"), g.src("r"), g.src("r"))
}
