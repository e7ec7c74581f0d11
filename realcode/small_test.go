package realcode

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestPerforms: which instructions are images of an operation that lanes perform together: in their general or uniform forms, and
// those of a cluster.
func TestPerforms(t *testing.T) {
	for _, x := range []struct {
		name, op string
		want     bool
	}{
		{"vote", "VOTE", true}, {"vote", "VOTEU", true}, {"redux", "REDUX", true}, {"redux", "CREDUX", true}, {"elect", "ELECT", true}, {"elect", "UELECT", true},
		{"vote", "MATCH", false}, {"match", "MATCH", true}, {"shfl", "SHFL", true}, {"vote", "VOTEX", false}, {"vote", "VOT", false}, {"bar", "BAR", false},
	} {
		require.Equal(t, x.want, performs(x.name, &isa.Inst{Op: x.op}), "%s %s", x.name, x.op)
	}
}

// TestLocks: what takes a lock, and what gives it back to those that take it.
func TestLocks(t *testing.T) {
	op := func(f *ptx.Func, kind ptx.Kind, atom, root string) *Op {
		x := &Op{Func: f}
		x.Effect.Kind, x.Effect.Atom, x.addr.root = kind, atom, root
		return x
	}
	f, g := &ptx.Func{}, &ptx.Func{}
	cas, exch := op(f, ptx.Atomic, "cas", "p"), op(f, ptx.Atomic, "exch", "q")
	add, elsewhere, other := op(f, ptx.Atomic, "add", "r"), op(g, ptx.Atomic, "cas", "s"), op(f, ptx.Atomic, "cas", "")
	dead := op(f, ptx.Atomic, "cas", "d")
	dead.Dead = true
	c := &checker{matcher: &matcher{src: &source{ops: []*Op{cas, exch, add, elsewhere, other, dead}}}}
	for what, x := range map[string]struct {
		op   *Op
		want bool
	}{
		"a store to a lock":          {op(f, ptx.Store, "", "p"), true},
		"an exchange of a lock":      {op(f, ptx.Atomic, "exch", "p"), true},
		"another cas of it":          {op(f, ptx.Atomic, "cas", "q"), true},
		"a load of it":               {op(f, ptx.Load, "", "p"), false},
		"a sum of it":                {op(f, ptx.Atomic, "add", "p"), false},
		"a store to a counter":       {op(f, ptx.Store, "", "r"), false},
		"a lock of another function": {op(f, ptx.Store, "", "s"), false},
		"a place that nobody knows":  {op(f, ptx.Store, "", ""), false},
		"a lock that nobody takes":   {op(f, ptx.Store, "", "d"), false},
		"what takes it, by itself":   {cas, false},
		"an exchange, by itself":     {exch, false},
	} {
		require.Equal(t, x.want, c.frees(x.op), what)
	}
	for op, want := range map[*Op]bool{cas: true, exch: true, add: false, dead: false, op(f, ptx.Store, "", "p"): false, op(f, ptx.Load, "cas", "p"): false} {
		require.Equal(t, want, takes(op), "%+v", op.Effect)
	}
}

// TestShuffleHalves: a shuffle whose value goes one way and whose answer, whether the lane was there, another, is one instruction.
func TestShuffleHalves(t *testing.T) {
	r := func(n uint16) isa.Operand {
		return isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: isa.ClassGPR, Num: n}}
	}
	zero := isa.Operand{Kind: isa.OpdReg, Zero: true}
	p := isa.Operand{Kind: isa.OpdPred, Reg: isa.Reg{Class: isa.ClassPred, Num: 1}}
	of := func(pred, dst, src isa.Operand) isa.Inst {
		return isa.Inst{Op: "SHFL", Mods: []string{"BFLY"}, Args: []isa.Operand{pred, dst, src, {Kind: isa.OpdImm, Imm: 1}}, Uses: []isa.Reg{src.Reg}}
	}
	for what, x := range map[string]struct {
		change func(value, pred *isa.Inst)
		one    bool
	}{
		"halves":               {func(value, pred *isa.Inst) {}, true},
		"other lanes":          {func(value, pred *isa.Inst) { pred.Args[3].Imm = 2 }, false},
		"another mode":         {func(value, pred *isa.Inst) { pred.Mods = []string{"UP"} }, false},
		"another condition":    {func(value, pred *isa.Inst) { pred.Guard.Neg = true }, false},
		"no shuffle in front":  {func(value, pred *isa.Inst) { value.Op = "MOV" }, false},
		"no shuffle behind":    {func(value, pred *isa.Inst) { pred.Op = "MOV" }, false},
		"two values":           {func(value, pred *isa.Inst) { pred.Args[1] = r(9) }, false},
		"two answers":          {func(value, pred *isa.Inst) { value.Args[0] = p }, false},
		"no value":             {func(value, pred *isa.Inst) { value.Args[1] = zero }, false},
		"no answer":            {func(value, pred *isa.Inst) { pred.Args[0] = zero }, false},
		"of what was shuffled": {func(value, pred *isa.Inst) { pred.Uses = []isa.Reg{r(3).Reg} }, false},
	} {
		value, pred := of(zero, r(3), r(2)), of(p, zero, r(2))
		x.change(&value, &pred)
		m := &matcher{mach: &machine{insts: []*isa.Inst{{Op: "NOP"}, &value, &pred}}}
		g := &images{main: []int32{1, 2}}
		m.halves(g)
		require.Equal(t, map[bool][]int32{true: {1}, false: {1, 2}}[x.one], g.main, what)
		m.mach.steps = []step{{next: []int32{1}}, {next: []int32{2}}, {}}
		g = &images{main: []int32{1, 2}}
		m.halves(g)
		require.Equal(t, map[bool][]int32{true: {1}, false: {1, 2}}[x.one], g.main, "%s: one after the other", what)
		m.mach.steps[0].next = []int32{1, 2}
		g = &images{main: []int32{1, 2}}
		m.halves(g)
		require.Equal(t, []int32{1, 2}, g.main, "%s: a jump to the second", what)
		g = &images{main: []int32{2}}
		m.halves(g)
		require.Equal(t, []int32{2}, g.main, "%s: the first is of another operation", what)
	}
}

// TestSizes: a variable has no known size if functions have several of its name that differ, in whatever order they are looked at.
func TestSizes(t *testing.T) {
	f := func(name string, sizes ...int64) *ptx.Func {
		f := &ptx.Func{Name: name}
		for i, n := range sizes {
			f.Vars = append(f.Vars, ptx.Var{Name: string(rune('a' + i)), Size: n})
		}
		return f
	}
	for range 20 {
		s := &source{m: &ptx.Module{Vars: []ptx.Var{{Name: "all", Size: 8}}}, entries: map[*ptx.Func]int32{f("f", 4, 4, 0): 0, f("g", 4, 8, 4): 1, f("h", 4, 4, 4): 2}}
		require.Equal(t, map[string]int64{"all": 8, "a": 4, "b": 0, "c": 0}, s.sizes())
	}
}

// TestOperandValues: what an operand is worth where registers are known: constants by their places, and what is negated by what it is of.
func TestOperandValues(t *testing.T) {
	a, b, c := isa.Reg{Class: isa.ClassGPR, Num: 1}, isa.Reg{Class: isa.ClassGPR, Num: 2}, isa.Reg{Class: isa.ClassGPR, Num: 3}
	w := &regWalk{from: 7, number: map[isa.Reg]int{a: 0, b: 1}, state: values{{root: "0", offset: 8}, {root: "c0.360"}}}
	for what, x := range map[string]struct {
		o    isa.Operand
		want address
	}{
		"a number":               {isa.Operand{Kind: isa.OpdImm, Imm: 5}, address{root: "0", offset: 5}},
		"a constant":             {isa.Operand{Kind: isa.OpdConst, Bank: 0, Off: 16}, wordOf(0, 16)},
		"a constant, indexed":    {isa.Operand{Kind: isa.OpdConst, Bank: 3, Off: 16, Reg: a}, wordOf(3, 24)},
		"by what is not known":   {isa.Operand{Kind: isa.OpdConst, Off: 16, Reg: b}, address{}},
		"a negated constant":     {isa.Operand{Kind: isa.OpdConst, Off: 16, Neg: true}, address{}},
		"without its sign":       {isa.Operand{Kind: isa.OpdConst, Off: 16, Abs: true}, address{}},
		"a symbol":               {isa.Operand{Kind: isa.OpdSym, Sym: "s", Part: "lo"}, address{root: "s.lo"}},
		"no register":            {isa.Operand{Kind: isa.OpdReg, Zero: true, Reg: a}, address{root: "0"}},
		"a register":             {isa.Operand{Kind: isa.OpdReg, Reg: b}, address{root: "c0.360"}},
		"from before":            {isa.Operand{Kind: isa.OpdReg, Reg: c}, address{root: "?in7.R3"}},
		"negated":                {isa.Operand{Kind: isa.OpdReg, Reg: b, Neg: true}, hash("modified", "true false false", w.state[1].String())},
		"without its sign, one":  {isa.Operand{Kind: isa.OpdReg, Reg: b, Abs: true}, hash("modified", "false false true", w.state[1].String())},
		"inverted":               {isa.Operand{Kind: isa.OpdReg, Reg: b, Not: true}, hash("modified", "false true false", w.state[1].String())},
		"negated, from before":   {isa.Operand{Kind: isa.OpdReg, Reg: c, Neg: true}, address{}},
		"nothing that is a word": {isa.Operand{Kind: isa.OpdMem, Reg: b}, address{}},
	} {
		require.Equal(t, x.want, w.value(&x.o), what)
	}
	for _, x := range []struct {
		args []isa.Operand
		want int64
	}{{nil, 0}, {[]isa.Operand{{Kind: isa.OpdImm, Imm: 2}}, 2}, {[]isa.Operand{{Kind: isa.OpdReg}, {Kind: isa.OpdImm, Imm: 1}}, 1}, {[]isa.Operand{{Kind: isa.OpdImm, Imm: 1}, {Kind: isa.OpdReg, Imm: 3}}, 0}} {
		require.Equal(t, x.want, groups(&isa.Inst{Args: x.args}))
	}
}

// TestPromised: what nobody writes is what a load of the PTX says that nobody does, to the byte, and no byte beside it.
func TestPromised(t *testing.T) {
	m := &matcher{src: &source{constant: []address{{root: "p", offset: 8, width: 8}}}, mach: &machine{}, distance: map[rootPair]int64{{"p", "m"}: 100}}
	for _, x := range []struct {
		at   address
		want bool
	}{
		{address{root: "m", offset: 108, width: 8}, true}, {address{root: "m", offset: 112, width: 4}, true}, {address{root: "m", offset: 104, width: 4}, false},
		{address{root: "m", offset: 104, width: 8}, false}, {address{root: "m", offset: 112, width: 8}, false}, {address{root: "n", offset: 108, width: 8}, false},
	} {
		m.mach.addrs = []address{x.at}
		require.Equal(t, x.want, m.promised(0), "%+v", x.at)
	}
}

// TestScopedText: the words of an access in a slice.
func TestScopedText(t *testing.T) {
	for _, x := range [][4]string{
		{"ld", "volatile", "", "ld.volatile"}, {"st", "mmio", "sys", "st.volatile"}, {"ld", "", "", "ld.weak"}, {"ld", "weak", "gpu", "ld.weak"},
		{"ld", "relaxed", "", "ld.weak"}, {"ld", "acquire", "gpu", "ld.acquire.gpu"},
	} {
		require.Equal(t, x[3], scoped(x[0], x[1], x[2]))
	}
}

// TestOrderNothing: stores and loads are those that order nothing, and no atomic is either.
func TestOrderNothing(t *testing.T) {
	for _, kind := range []ptx.Kind{ptx.Load, ptx.Store, ptx.Atomic, ptx.Fence} {
		for _, sem := range []string{"weak", "relaxed", "acquire", "release"} {
			op := &Op{Effect: ptx.Effect{Kind: kind, Sem: sem}}
			require.Equal(t, kind == ptx.Load && sem != "acquire", loads(op), "%v %s", kind, sem)
			require.Equal(t, kind == ptx.Store && sem != "release", stores(op), "%v %s", kind, sem)
		}
	}
}

// TestAfter: behind a jump comes its target, and the next instruction if it need not be taken.
func TestAfter(t *testing.T) {
	for _, x := range []struct {
		s    step
		want []int32
	}{
		{step{next: []int32{7}, guard: -1, cond: -1}, []int32{7}}, {step{next: []int32{7}, guard: 0, cond: -1}, []int32{7, 1}},
		{step{next: []int32{7}, guard: -1, cond: 0}, []int32{7, 1}}, {step{call: []int32{9}, guard: -1, cond: -1}, []int32{9, 1}},
	} {
		m := &matcher{mach: &machine{steps: []step{x.s}}}
		require.Equal(t, x.want, m.after(0))
	}
}

// TestAtomicText: an atomic that reads what its partner writes finds that and leaves more; one that writes finds what was there before.
func TestAtomicText(t *testing.T) {
	op := &Op{Effect: ptx.Effect{Kind: ptx.Atomic, Atom: "cas", Sem: "relaxed", Scope: "gpu"}}
	for _, x := range []struct {
		l    location
		want string
	}{
		{location{writes: true}, "atom.relaxed.gpu.cas.b32 r0,[rd0],0,1"}, {location{}, "atom.relaxed.gpu.cas.b32 r0,[rd0],1,2"},
		{location{writes: true, lock: true}, "atom.relaxed.gpu.cas.b32 r0,[rd0],1,0"},
	} {
		got, err := (&slicer{locs: [2]location{x.l, {}}}).text(member{op: op}, "r0")
		require.NoError(t, err)
		require.Equal(t, x.want, got)
	}
}

// TestPlaces: each instruction of a module has its place, by its number.
func TestPlaces(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { bar.sync 0; ret; }\n"))
	require.NoError(t, err)
	got := places(m)
	require.Len(t, got, 2)
	for _, s := range m.Funcs[0].Body {
		require.Equal(t, Place{"k", s.Inst.Pos, s.Inst.Text, s.Inst.Loc}, got[s.Inst.N])
	}
}

// TestReach: in which scope an operation orders memory.
func TestReach(t *testing.T) {
	for _, x := range []struct {
		e    ptx.Effect
		want isa.Scope
	}{
		{ptx.Effect{Kind: ptx.Load, Sem: "relaxed", Scope: "gpu"}, isa.ScopeGPU}, {ptx.Effect{Kind: ptx.Fence, Sem: "sc", Scope: "sys"}, isa.ScopeSys},
		{ptx.Effect{Kind: ptx.MbarArrive, Sem: "relaxed", Scope: "cluster"}, isa.ScopeNone},
		{ptx.Effect{Kind: ptx.Load, Sem: "acquire", Scope: "gpu", Objects: "mbarrier"}, isa.ScopeCTA},
	} {
		require.Equal(t, x.want, (&Op{Effect: x.e}).reach(), "%+v", x.e)
	}
}

// TestRelies: on a product may rely what orders memory, what is in shared memory, and what stands behind a jump; not an instruction of nobody.
func TestRelies(t *testing.T) {
	ops := []*Op{
		{Effect: ptx.Effect{Kind: ptx.Store, Sem: "release"}}, {Effect: ptx.Effect{Kind: ptx.Store, Sem: "weak", Space: "shared"}},
		{Effect: ptx.Effect{Kind: ptx.Store, Sem: "weak", Space: "global"}},
	}
	for owner, want := range map[int32]bool{-1: false, 0: true, 1: true, 2: false} {
		m := &matcher{src: &source{ops: ops}, mach: &machine{insts: []*isa.Inst{{}}}, owner: []int32{owner}}
		require.Equal(t, want, m.relies(0, 1), owner)
	}
	m := &matcher{mach: &machine{insts: []*isa.Inst{{Role: isa.RoleBranch}}}, owner: []int32{-1}}
	require.True(t, m.relies(0, 1))
}

// TestCombined: a comparison is combined with a predicate by "and" or "or", and only with one that is not constant.
func TestCombined(t *testing.T) {
	p := isa.Operand{Kind: isa.OpdPred, Reg: isa.Reg{Class: isa.ClassPred, Num: 1}, Not: true}
	always, r := isa.Operand{Kind: isa.OpdPred, Zero: true}, isa.Operand{Kind: isa.OpdReg}
	for _, x := range []struct {
		mi   isa.Micro
		want bool
	}{
		{isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, p}, Bool: "AND"}, true}, {isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, p}, Bool: "OR"}, true},
		{isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, p}, Bool: "XOR"}, false}, {isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, p}}, false},
		{isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, always}, Bool: "AND"}, false}, {isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r, r}, Bool: "AND"}, false},
		{isa.Micro{Op: isa.MicroSetp, Src: []isa.Operand{r, r}, Bool: "AND"}, false}, {isa.Micro{Op: isa.MicroPlop, Src: []isa.Operand{p, p, p}, Bool: "AND"}, false},
	} {
		got, ok := combined(&x.mi)
		require.Equal(t, x.want, ok, "%+v", x.mi)
		require.True(t, !ok || got.Not)
	}
}

// TestCallees: a call goes to the function that it names, or to those of its table, and what these do is the kernel's.
func TestCallees(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(`.version 7.0
.target sm_70
.address_size 64
.func f(.param .u64 p) { .reg .b64 d; ld.param.u64 d, [p]; st.global.u32 [d], 1; ret; }
.func g(.param .u64 p) { .reg .b64 d; ld.param.u64 d, [p]; st.global.u32 [d+4], 1; ret; }
.func h(.param .u64 p) { .reg .b64 d; ld.param.u64 d, [p]; st.global.u32 [d+8], 1; ret; }
.visible .entry k(.param .u64 p, .param .u64 q)
{
	.reg .b64 d<3>;
	.param .b64 a;
	ld.param.u64 d1, [q];
	st.param.b64 [a], d1;
	ld.param.u64 d2, [p];
targets: .calltargets f, g;
	call d2, (a), targets;
	call h, (a);
	ret;
}
`))
	require.NoError(t, err)
	src, err := readSource(m, m.Func("k"))
	require.NoError(t, err)
	var got []string
	for _, op := range src.ops {
		got = append(got, op.Func.Name)
	}
	require.Equal(t, []string{"f", "g", "h"}, got)
}

// TestNoGraph: where neither the graph with all that is known of conditions nor one for a single question could be made, nothing is
// said of what differs without that knowledge, but why.
func TestNoGraph(t *testing.T) {
	line := func(letters ...int32) (out []step) {
		for i, l := range letters {
			out = append(out, step{next: []int32{int32(i) + 1}, guard: -1, cond: -1, letter: l})
		}
		out[len(out)-1].next = []int32{end}
		return out
	}
	graph := func(steps []step) (*graph, [][]int32) {
		g, err := unroll(steps, 0, 0, nil, maxNodes())
		require.NoError(t, err)
		return g, nodesOf(g, len(steps), func(n int) int32 { return g.letter[n] })
	}
	large := errors.New("too large")
	code := line(0, 1)
	c := &checker{matcher: &matcher{mach: &machine{steps: code}, img: make([]images, 2)}, exactErr: large}
	c.pg, c.inPTX = graph(line(0, 1))
	c.loose, c.inLoose = graph(code)
	c.marks[0], c.marks[1] = make([]int32, len(c.pg.next)), make([]int32, len(c.loose.next))
	for _, x := range []struct {
		narrowed int
		x, y     []int32
		differ   bool
		err      error
	}{
		{0, []int32{0}, []int32{1}, false, nil}, {0, []int32{1}, []int32{0}, true, nil},
		{maxNarrowAll, []int32{0}, []int32{1}, false, nil}, {maxNarrowAll, []int32{1}, []int32{0}, false, large},
	} {
		c.narrowed = x.narrowed
		v, err := c.compare(0, 1, x.x, x.y, policy{})
		require.Equal(t, x.differ, v != nil, "%+v", x)
		require.Equal(t, x.err, err, "%+v", x)
	}
}
