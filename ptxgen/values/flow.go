package values

import (
	"fmt"
	"slices"
)

var relations = []string{"eq", "ne", "lt", "le", "gt", "ge"}

// relation is a comparison with its type.
func (g *generator) relation(letter string) string {
	if letter == "h" {
		return pickOf(g, relations...) + pickOf(g, ".s16", ".u16")
	}
	if letter == "d" {
		return pickOf(g, relations...) + pickOf(g, ".s64", ".u64")
	}
	return pickOf(g, relations...) + pickOf(g, ".s32", ".u32", ".s32")
}

// compare compares, often what was compared before, or its neighbours.
func compare(g *generator) {
	c := pickOf(g, "r", "r", "r", "h", "d")
	x, y := g.src(c), g.any(c)
	switch g.IntN(6) {
	case 0:
		g.line("setp."+g.relation(c), g.dst("p"), x, y)
	case 1: // twice
		p, q := g.t("p"), g.t("p")
		g.line("setp."+g.relation(c), p, x, y)
		g.line("setp."+g.relation(c), q, x, pickOf(g, y, g.any(c)))
		g.line(pickOf(g, "and.pred", "or.pred", "xor.pred"), g.dst("p"), p, q)
	case 2:
		p := g.dst("p")
		if q := g.dst("p"); p != q {
			p += "|" + q
		}
		g.line("setp."+pickOf(g, "lt", "eq", "ge")+pickOf(g, ".and", ".or", ".xor")+".s32", p, g.src("r"), g.any("r"), pickOf(g, "", "!")+g.src("p"))
	case 3: // of a sum
		z := g.t("r")
		g.line(pickOf(g, "add.s32", "sub.s32"), z, g.src("r"), g.imm("r"))
		g.line("setp."+g.relation("r"), g.dst("p"), z, g.any("r"))
	case 4:
		g.line("set."+pickOf(g, relations...)+pickOf(g, ".u32.s32", ".s32.u32"), g.dst("r"), g.src("r"), g.any("r"))
	default: // a range
		p, q, x := g.t("p"), g.t("p"), g.src("r")
		g.line("setp."+pickOf(g, "gt", "ge")+".s32", p, x, g.imm("r"))
		g.line("setp."+pickOf(g, "lt", "le")+".s32", q, x, g.imm("r"))
		g.line("and.pred", g.dst("p"), p, q)
	}
}

// predicates combines predicates.
func predicates(g *generator) {
	switch g.IntN(6) {
	case 0, 1, 2:
		g.line(pickOf(g, "and", "or", "xor")+".pred", g.dst("p"), g.src("p"), g.src("p"))
	case 3:
		g.line("not.pred", g.dst("p"), g.src("p"))
	case 4:
		g.line("setp."+pickOf(g, relations...)+pickOf(g, ".and", ".or", ".xor")+".s32", g.dst("p"), g.src("r"), g.any("r"), g.src("p"))
	default:
		y, z := g.t("r"), g.t("r")
		g.line("selp.b32", y, "1", "0", g.src("p"))
		g.line("selp.b32", z, "1", "0", g.src("p"))
		w := g.t("r")
		g.line(pickOf(g, "and.b32", "or.b32", "xor.b32", "add.s32", "shl.b32"), w, y, z)
		g.line("setp.ne.s32", g.dst("p"), w, pickOf(g, "0", "1"))
	}
}

// selects chooses values by predicates.
func selects(g *generator) {
	switch g.IntN(7) {
	case 0, 1:
		g.line("selp.b32", g.dst("r"), g.any("r"), g.any("r"), g.src("p"))
	case 2:
		g.line("selp.b64", g.dst("d"), g.src("d"), g.any("d"), g.src("p"))
	case 3:
		g.line("slct"+pickOf(g, ".u32", ".s32", ".b32")+".s32", g.dst("r"), g.any("r"), g.any("r"), g.src("r"))
	case 4:
		x, y, p := g.src("r"), g.any("r"), g.t("p")
		g.line("setp."+g.relation("r"), p, x, y)
		g.line("selp.b32", g.dst("r"), x, y, p)
	case 5:
		g.line("@"+pickOf(g, "", "!")+g.src("p")+" "+pickOf(g, "add.s32", "sub.s32", "xor.b32", "mul.lo.s32", "min.s32"), g.dst("r"), g.src("r"), g.any("r"))
	default:
		g.line("@"+pickOf(g, "", "!")+g.src("p")+" mov.b32", g.dst("r"), g.any("r"))
	}
}

// maxDepth bounds nested blocks.
const maxDepth = 3

// inside makes the statements of a body. apart says that not all lanes perform it.
func (g *generator) inside(n int, apart bool) []*Stmt {
	var body []*Stmt
	list, now, was := g.list, g.now, g.apart
	g.list, g.apart = &body, g.apart || apart
	g.depth++
	g.statements(n)
	g.depth--
	g.list, g.now, g.apart = list, now, was
	return body
}

// branch makes an if, with or without an else.
func branch(g *generator) {
	if g.depth == maxDepth {
		int32s(g)
		return
	}
	g.temp++
	l, p, apart := fmt.Sprintf("L%d", g.temp), g.src("p"), true
	if g.IntN(3) == 0 {
		p = g.t("p")
		g.line("setp."+g.relation("r"), p, g.src("r"), g.any("r"))
	} else if g.IntN(5) == 0 && !g.function {
		p, apart = g.t("p"), false
		g.line("setp."+g.relation("r"), p, "%n0", g.imm("r"))
	}
	s := g.now
	not := pickOf(g, "@", "@!")
	if g.IntN(2) == 0 {
		s.Lines = append(s.Lines, not+p+" bra "+l+";")
		s.Body = g.inside(1+g.IntN(6), apart)
		s.End = []string{l + ":"}
		return
	}
	s.Lines = append(s.Lines, not+p+" bra "+l+"a;")
	s.Body = g.inside(1+g.IntN(5), apart)
	s.Mid = []string{"bra " + l + "b;", l + "a:"}
	s.Else = g.inside(1+g.IntN(5), apart)
	s.End = []string{l + "b:"}
}

// loop makes a loop of a constant number of iterations, or one that depends on data.
func loop(g *generator) {
	if g.depth == maxDepth {
		int32s(g)
		return
	}
	i, p, s := g.t("r"), g.t("p"), g.now
	l := fmt.Sprintf("L%d", g.temp)
	apart, down, last := false, g.IntN(2) == 0, 1+g.IntN(9)
	switch g.IntN(3) {
	case 0: // constant
		if g.IntN(4) == 0 {
			last += 20
		}
		g.line("mov.u32", i, pickOf(g, fmt.Sprint(last)))
	case 1: // the same of all threads, where functions have parameters of their own
		from := g.src("r")
		apart = g.function
		if !g.function {
			from = "%n0"
		}
		g.line("and.b32", i, from, "7")
		g.line("add.u32", i, i, "1")
	default:
		apart = true
		g.line("and.b32", i, g.src("r"), pickOf(g, "3", "7", "15"))
		g.line("add.u32", i, i, "1")
	}
	most := i
	if !down {
		most, i = i, g.t("r")
		g.line("mov.u32", i, "0")
	}
	s.Lines = append(s.Lines, l+":")
	s.Body = g.inside(1+g.IntN(5), apart)
	if g.IntN(3) == 0 {
		b := &Stmt{}
		b.Lines = []string{fmt.Sprintf("%s %s, %s, %s;", pickOf(g, "add.s32", "xor.b32", "mul.lo.s32"), g.dst("r"), g.src("r"), i)}
		s.Body = slices.Insert(s.Body, 0, b)
	}
	if down {
		s.End = []string{"sub.u32 " + i + ", " + i + ", 1;", "setp.ne.u32 " + p + ", " + i + ", 0;"}
	} else {
		s.End = []string{"add.u32 " + i + ", " + i + ", 1;", "setp.lt.u32 " + p + ", " + i + ", " + most + ";"}
	}
	s.End = append(s.End, "@"+p+" bra "+l+";")
}

// inFunctions are the features that functions have.
var inFunctions = []string{"int32", "int16", "int64", "narrow", "shift", "bits", "logic", "permute", "minmax", "product", "compare", "predicate", "select", "branch", "loop"}

// call calls a function, a new one or one that is there.
func call(g *generator) {
	if g.function {
		int32s(g)
		return
	}
	k := g.kernel
	if len(k.Funcs) < 3 && (len(k.Funcs) == 0 || g.IntN(2) == 0) {
		k.Funcs = append(k.Funcs, g.newFunc(fmt.Sprintf("%s_f%d", mark, len(k.Funcs))))
	}
	f := k.Funcs[g.IntN(len(k.Funcs))]
	g.now.Lines = []string{"{", ".param .b32 x;", ".param .b32 y;", ".param .b32 res;", "st.param.b32 [x], " + g.src("r") + ";", "st.param.b32 [y], " + g.src("r") + ";",
		"call (res), " + f.Name + ", (x, y);", "ld.param.b32 " + g.dst("r") + ", [res];", "}"}
}

func (g *generator) newFunc(name string) *Func {
	f := &Func{Name: name}
	list, now, picked, recent, depth, budget := g.list, g.now, g.picked, g.recent, g.depth, g.budget
	g.picked = nil
	for i := range features {
		if slices.Contains(inFunctions, features[i].name) && !slices.Contains(g.o.Without, features[i].name) {
			g.picked = append(g.picked, &features[i])
		}
	}
	g.list, g.recent, g.function, g.budget, g.depth = &f.Body, map[string][]string{}, true, 2+g.IntN(10), 1
	g.statements(g.budget)
	g.list, g.now, g.picked, g.recent, g.depth, g.budget, g.function = list, now, picked, recent, depth, budget, false
	return f
}
