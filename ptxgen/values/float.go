package values

// Floats: every operation has a rounding of its own, so that none may be contracted, and bits of a NaN are never looked at.

func (g *generator) float(letter string) string {
	if g.IntN(5) > 0 {
		return g.src(letter)
	}
	if letter == "f" {
		return pickOf(g, "0f3F800000", "0fBF800000", "0f00000000", "0f80000000", "0f40490FDB", "0f7F7FFFFF", "0f00800000", "0f3EAAAAAB", "0f4B800000", "0f7F800000", "0f3F000000")
	}
	return pickOf(g, "0d3FF0000000000000", "0dBFF0000000000000", "0d0000000000000000", "0d400921FB54442D18", "0d3FD5555555555555", "0d7FEFFFFFFFFFFFFF", "0d4330000000000000")
}

var roundings = []string{".rn", ".rn", ".rn", ".rz", ".rm", ".rp"}

func f32s(g *generator) {
	d, rnd, ftz := g.dst("f"), pickOf(g, roundings...), pickOf(g, "", "", ".ftz")
	switch g.IntN(9) {
	case 0, 1:
		g.line(pickOf(g, "add", "sub", "mul")+rnd+ftz+".f32", d, g.src("f"), g.float("f"))
	case 2, 3:
		g.line("fma"+rnd+ftz+".f32", d, g.src("f"), g.float("f"), g.float("f"))
	case 4:
		g.line(pickOf(g, "add", "mul")+rnd+ftz+".sat.f32", d, g.src("f"), g.float("f"))
	case 5, 6:
		g.line(pickOf(g, "min", "max")+ftz+".f32", d, g.src("f"), g.float("f"))
	case 7: // of a negated or absolute value
		y := g.t("f")
		g.line(pickOf(g, "neg", "abs")+ftz+".f32", y, g.src("f"))
		g.line(pickOf(g, "add", "mul", "sub")+rnd+ftz+".f32", d, g.float("f"), y)
	default:
		if g.IntN(4) == 0 {
			g.line(pickOf(g, "rcp.rn.f32", "sqrt.rn.f32"), d, g.src("f"))
		} else {
			y := g.t("f")
			g.line("mov.b32", y, g.src("r"))
			g.line("add.rn.f32", d, y, g.src("f"))
		}
	}
	g.bitsOf()
}

// bitsOf looks at the bits of a number now and then.
func (g *generator) bitsOf() {
	switch g.IntN(8) {
	case 0:
		g.line("mov.b32", g.dst("r"), g.bits32(g.src("f")))
	case 1:
		if named(g, "f64") {
			g.line("mov.b64", g.dst("d"), g.bits64(g.src("g")))
		}
	}
}

func named(g *generator, feature string) bool {
	for _, f := range g.picked {
		if f.name == feature {
			return true
		}
	}
	return false
}

func f64s(g *generator) {
	d, rnd := g.dst("g"), pickOf(g, roundings...)
	switch g.IntN(6) {
	case 0, 1:
		g.line(pickOf(g, "add", "sub", "mul")+rnd+".f64", d, g.src("g"), g.float("g"))
	case 2, 3:
		g.line("fma"+rnd+".f64", d, g.src("g"), g.float("g"), g.float("g"))
	case 4:
		g.line(pickOf(g, "min", "max")+".f64", d, g.src("g"), g.float("g"))
	default:
		y := g.t("g")
		g.line(pickOf(g, "neg", "abs")+".f64", y, g.src("g"))
		g.line(pickOf(g, "add", "mul")+rnd+".f64", d, y, g.float("g"))
	}
	g.bitsOf()
}

func f16s(g *generator) {
	c, t := "x", ".f16x2"
	if g.IntN(3) == 0 {
		c, t = "e", ".f16"
	}
	d, ftz := g.dst(c), pickOf(g, "", "", ".ftz")
	switch g.IntN(7) {
	case 0, 1:
		g.line(pickOf(g, "add", "sub", "mul")+".rn"+ftz+pickOf(g, "", "", ".sat")+t, d, g.src(c), g.src(c))
	case 2, 3:
		g.line("fma.rn"+ftz+pickOf(g, "", "", ".sat", ".relu")+t, d, g.src(c), g.src(c), g.src(c))
	case 4:
		g.line(pickOf(g, "min", "max")+ftz+pickOf(g, "", ".NaN")+t, d, g.src(c), g.src(c))
	case 5:
		y := g.t(c)
		g.line(pickOf(g, "neg", "abs")+ftz+t, y, g.src(c))
		g.line(pickOf(g, "add", "mul")+".rn"+ftz+t, d, y, g.src(c))
	default:
		if c == "x" {
			lo, hi := g.halves(g.src("x"))
			g.line("mov.b32", d, "{"+pickOf(g, lo, hi, g.src("e"))+", "+pickOf(g, lo, hi)+"}")
			return
		}
		lo, hi := g.halves(g.src("x"))
		g.line("add.rn.f16", d, lo, hi)
	}
}

// fconvert converts between integers and floats, and between floats. NaN and what is out of range have a defined result:
// PTX ISA, cvt.
func fconvert(g *generator) {
	switch g.IntN(10) {
	case 0, 1:
		g.line("cvt."+pickOf(g, "rni", "rzi", "rmi", "rpi")+pickOf(g, "", "", ".ftz")+pickOf(g, ".s32", ".u32")+".f32", g.dst("r"), g.src("f"))
	case 2, 3:
		g.line("cvt"+pickOf(g, roundings...)+".f32"+pickOf(g, ".s32", ".u32"), g.dst("f"), g.any("r"))
	case 4:
		g.line("cvt"+pickOf(g, ".rni", ".rzi", ".rmi", ".rpi")+".f32.f32", g.dst("f"), g.src("f"))
	case 5:
		g.line("cvt.rn"+pickOf(g, "", ".sat")+".f16.f32", g.dst("e"), g.src("f"))
	case 6:
		g.line("cvt.f32.f16", g.dst("f"), g.src("e"))
	case 7:
		g.line("cvt.rn.f32"+pickOf(g, ".s64", ".u64"), g.dst("f"), g.src("d"))
	case 8:
		g.line("cvt"+pickOf(g, ".rn", ".rz", ".rm", ".rp")+".f64"+pickOf(g, ".s64", ".u64"), g.dst("g"), g.src("d"))
		g.line("cvt"+pickOf(g, ".rn", ".rz")+".f32.f64", g.dst("f"), g.src("g"))
	default:
		g.line("cvt.f64"+pickOf(g, ".f32"), g.dst("g"), g.src("f"))
		g.line("cvt"+pickOf(g, ".rzi", ".rni")+pickOf(g, ".s32", ".u32")+".f64", g.dst("r"), g.src("g"))
	}
	g.bitsOf()
}

var floatRelations = []string{"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

func fcompare(g *generator) {
	rel := pickOf(g, floatRelations...)
	switch g.IntN(6) {
	case 0, 1:
		g.line("setp."+rel+pickOf(g, "", "", ".ftz")+".f32", g.dst("p"), g.src("f"), g.float("f"))
	case 2:
		g.line("set."+rel+".u32.f32", g.dst("r"), g.src("f"), g.float("f"))
	case 3:
		p := g.t("p")
		g.line("setp."+rel+".f32", p, g.src("f"), g.float("f"))
		g.line("selp.f32", g.dst("f"), g.src("f"), g.float("f"), p)
	case 4:
		g.line("setp."+rel+".and.f32", g.dst("p"), g.src("f"), g.float("f"), g.src("p"))
	default:
		if named(g, "f64") {
			g.line("setp."+rel+".f64", g.dst("p"), g.src("g"), g.float("g"))
			return
		}
		g.line("testp."+pickOf(g, "finite", "infinite", "number", "notanumber", "normal", "subnormal")+".f32", g.dst("p"), g.src("f"))
	}
}
