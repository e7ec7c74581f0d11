package litmus

import (
	"strconv"

	"pgregory.net/rapid"
)

// genTest draws tests that the printer can write: any instruction with any
// qualifiers, sensible or not, but names that are declared.
func genTest(t *rapid.T) *Test {
	lt := &Test{
		Dialect: rapid.SampledFrom([]Dialect{GPUPTX, PTX}).Draw(t, "dialect"),
		Name:    rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9+.\-]{0,12}`).Draw(t, "name"),
		Doc:     rapid.StringMatching(`[a-z (*);{|\n]{0,20}`).Draw(t, "doc"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "metas") {
		lt.Meta = append(lt.Meta, Meta{rapid.StringMatching(`[A-Z][a-z]{0,5}`).Draw(t, "key"),
			rapid.StringMatching(`([A-Za-z(*]([A-Za-z ]{0,6}[A-Za-z;{])?)?`).Draw(t, "value")})
	}
	names := []string{"x", "y", "flag", "_z$1", "f1", "rd7"}
	for _, n := range names[:rapid.IntRange(1, 6).Draw(t, "locs")] {
		lt.Locations = append(lt.Locations, Location{
			Name:  n,
			Init:  rapid.Int64().Draw(t, "init"),
			Space: rapid.SampledFrom([]Space{Generic, Global, Shared}).Draw(t, "space"),
		})
		if l := &lt.Locations[len(lt.Locations)-1]; l.Space != Generic && rapid.Bool().Draw(t, "homed") {
			l.Homed, l.Device = true, rapid.IntRange(0, MaxDevices-1).Draw(t, "device")
		}
	}
	if rapid.Bool().Draw(t, "alias") {
		lt.Locations = append(lt.Locations, Location{Name: "al", Alias: "x",
			Proxy: Proxy(rapid.IntRange(int(ProxyGeneric), int(ProxyConstant)).Draw(t, "proxy"))})
	}
	lt.sortLocations()
	n := rapid.IntRange(1, 5).Draw(t, "threads")
	prefix := rapid.SampledFrom([]string{"P", "T", "th_"}).Draw(t, "prefix")
	placed := rapid.Bool().Draw(t, "placed")
	for i := range n {
		lt.Threads = append(lt.Threads, genThread(t, lt, i, prefix, placed))
	}
	if placed && lt.Dialect == GPUPTX {
		canonicalPlaces(lt.Threads)
	}
	for range rapid.IntRange(0, 2).Draw(t, "observed") {
		lt.Observed = append(lt.Observed, genTerm(t, lt, false))
	}
	if rapid.IntRange(0, 5).Draw(t, "cond") > 0 {
		lt.Cond.Quant = rapid.SampledFrom([]Quantifier{Exists, NotExists, Forall}).Draw(t, "quant")
		lt.Cond.Expr = genExpr(t, lt, 3)
	}
	return lt
}

func genThread(t *rapid.T, lt *Test, i int, prefix string, placed bool) Thread {
	th := Thread{ID: i, Name: prefix + strconv.Itoa(i), Placed: placed}
	if placed {
		small := rapid.IntRange(0, 2)
		th.Place = Place{small.Draw(t, "gpu"), small.Draw(t, "grid"), small.Draw(t, "cluster"), small.Draw(t, "cta"), small.Draw(t, "warp")}
	}
	for _, r := range []string{"r0", "r1", "rd2", "tmp", "p3", "%r4"}[:rapid.IntRange(1, 6).Draw(t, "regs")] {
		d := RegDecl{Name: r, Type: Type(rapid.IntRange(0, int(Pred)).Draw(t, "type"))}
		switch rapid.IntRange(0, 2).Draw(t, "init") {
		case 0:
			d.Init = Const(rapid.Int64().Draw(t, "value"))
		case 1:
			d.Init = Loc(lt.Locations[0].Name)
		}
		th.Regs = append(th.Regs, d)
	}
	for range rapid.IntRange(0, 5).Draw(t, "body") {
		th.Body = append(th.Body, genInstr(t, lt, &th))
	}
	return th
}

func genReg(t *rapid.T, th *Thread) string {
	return th.Regs[rapid.IntRange(0, len(th.Regs)-1).Draw(t, "reg")].Name
}

func genOperand(t *rapid.T, lt *Test, th *Thread) Operand {
	switch rapid.IntRange(0, 2).Draw(t, "operand") {
	case 0:
		return Const(rapid.Int64().Draw(t, "const"))
	case 1:
		return Reg(genReg(t, th))
	}
	return Loc(lt.Locations[0].Name)
}

func genInstr(t *rapid.T, lt *Test, th *Thread) Instr {
	in := rapid.SampledFrom(legalOf(lt.Dialect)).Draw(t, "instruction")
	if rapid.Bool().Draw(t, "rare") { // most are accesses
		op := Op(rapid.IntRange(0, int(OpBra)).Draw(t, "op"))
		in = rapid.SampledFrom(legalOf(lt.Dialect)).Filter(func(in Instr) bool { return in.Op == op }).Draw(t, "of op")
	}
	for range rapid.IntRange(0, 2).Draw(t, "labels") {
		in.Labels = append(in.Labels, rapid.StringMatching(`LC[0-9]{2}`).Draw(t, "label"))
	}
	if rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
		in.Guard = &Guard{genReg(t, th), rapid.Bool().Draw(t, "neg")}
	}
	switch in.Op {
	case OpLd, OpSt, OpAtom, OpRed:
		genAddr(t, lt, th, &in)
	case OpBar:
		in.Barrier = genBarrier(t, lt, th)
	case OpBra:
		in.Target = "LC00"
	case OpNop:
		in.Guard = nil
	}
	if in.Op == OpLd || in.Op == OpAtom || in.Op >= OpMov && in.Op <= OpSelp {
		in.Dst = genReg(t, th)
	}
	for range arity(&in) {
		in.Src = append(in.Src, genOperand(t, lt, th))
	}
	return in
}

func genAddr(t *rapid.T, lt *Test, th *Thread, in *Instr) {
	if rapid.Bool().Draw(t, "direct") {
		in.Addr.Loc = rapid.SampledFrom(lt.Locations).Draw(t, "location").Name
	} else {
		in.Addr.Reg = genReg(t, th)
	}
	in.Addr.Offset = rapid.SampledFrom([]int64{0, 0, 4, -8, 1<<31 - 1}).Draw(t, "offset")
}

func genBarrier(t *rapid.T, lt *Test, th *Thread) Barrier {
	operand := func(max, unit int) Operand {
		if rapid.Bool().Draw(t, "constant") {
			return Const(int64(unit * rapid.IntRange(1, max).Draw(t, "number")))
		}
		return Reg(genReg(t, th))
	}
	b := Barrier{Arrive: rapid.Bool().Draw(t, "arrive"), ID: operand(15, 1)}
	if lt.Dialect == PTX && rapid.Bool().Draw(t, "resource") {
		b.Resource = operand(15, 1)
	}
	if b.Arrive && lt.Dialect != PTX || rapid.Bool().Draw(t, "quorum") {
		b.Quorum = operand(32, 32)
	}
	return b
}

func genTerm(t *rapid.T, lt *Test, constant bool) Term {
	switch k := rapid.IntRange(0, 2).Draw(t, "term"); {
	case k == 0 && constant:
		return Term{Kind: TermConst, Value: rapid.Int64().Draw(t, "value")}
	case k == 1:
		return Term{Kind: TermLoc, Name: lt.Locations[0].Name}
	}
	i := rapid.IntRange(0, len(lt.Threads)-1).Draw(t, "thread")
	return Term{Kind: TermReg, Thread: i, Name: genReg(t, &lt.Threads[i])}
}

func genExpr(t *rapid.T, lt *Test, depth int) Expr {
	k := rapid.IntRange(0, 5).Draw(t, "expr")
	if depth == 0 && k < 3 {
		k = 4
	}
	list := func() []Expr {
		var l []Expr
		for range rapid.IntRange(2, 3).Draw(t, "list") {
			l = append(l, genExpr(t, lt, depth-1))
		}
		return l
	}
	switch k {
	case 0:
		return And{list()}
	case 1:
		return Or{list()}
	case 2:
		return Not{genExpr(t, lt, depth-1)}
	case 3:
		return True{}
	}
	return Atom{Left: genTerm(t, lt, true), Right: genTerm(t, lt, true), Cmp: Cmp(rapid.IntRange(int(CmpEq), int(CmpGe)).Draw(t, "rel"))}
}
