package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

var (
	gprOf  = func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: n} }
	predOf = func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassPred, Num: n} }
	regOpd = func(n uint16) isa.Operand { return isa.Operand{Kind: isa.OpdReg, Reg: gprOf(n), Words: 1} }
	pOpd   = func(n uint16) isa.Operand { return isa.Operand{Kind: isa.OpdPred, Reg: predOf(n)} }
)

// program is code of functions, whose last instruction is an exit or a return.
func program(funcs map[string][]isa.Inst, order ...string) *isa.Program {
	p := &isa.Program{}
	for _, name := range order {
		f := &isa.Func{Name: name, Insts: funcs[name]}
		f.BuildCFG()
		p.Funcs = append(p.Funcs, f)
	}
	return p
}

// TestMachineFlow: where control goes from an instruction, in a function and what it calls.
func TestMachineFlow(t *testing.T) {
	plain := isa.Inst{Op: "MOV", Role: isa.RoleALU, Target: -1}
	exit := isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	back := isa.Inst{Op: "RET", Role: isa.RoleBranch, Flow: isa.FlowReturn, Target: -1}
	branch := func(flow isa.Flow, target int, args ...isa.Operand) isa.Inst {
		return isa.Inst{Op: "BRA", Role: isa.RoleBranch, Flow: flow, Target: target, Args: args}
	}
	sym := func(name string) isa.Operand { return isa.Operand{Kind: isa.OpdSym, Sym: name} }
	mods := func(in isa.Inst, mods ...string) isa.Inst { in.Mods = mods; return in }
	under := func(in isa.Inst, g isa.Guard) isa.Inst { in.Guard = g; return in }
	indirect := branch(isa.FlowIndirect, -1)
	indirect.Targets = []int{2, 1}
	for _, x := range []struct {
		name  string
		in    isa.Inst // the first of k: it is followed by two others
		want  step
		lost  bool // where it goes is not known
		calls bool // of what is elsewhere
	}{
		{name: "no jump", in: plain, want: step{next: []int32{1}}},
		{name: "a jump", in: branch(isa.FlowJump, 2), want: step{next: []int32{2}}},
		{name: "a jump to nowhere", in: branch(isa.FlowJump, -1), want: step{}, lost: true},
		{name: "a jump by a condition", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Reg: predOf(0), Not: true}), want: step{next: []int32{2}, cond: 1, condNeg: true}},
		{name: "a jump by the constant true", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Zero: true}), want: step{next: []int32{2}}},
		{name: "a jump by both", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Zero: true}, pOpd(0)), want: step{next: []int32{2}, cond: 1}},
		{name: "a jump if the warp has diverged", in: mods(branch(isa.FlowJump, 2), "CONV"), want: step{next: []int32{2, 1}}},
		{name: "a jump by a mask", in: branch(isa.FlowJump, 2, regOpd(1)), want: step{next: []int32{2, 1}}},
		{name: "a jump of a known kind", in: mods(branch(isa.FlowJump, 2), "U"), want: step{next: []int32{2}}},
		{name: "a jump under a condition", in: under(branch(isa.FlowJump, 2), isa.Guard{Reg: predOf(0), Neg: true}), want: step{next: []int32{2}, guard: 1, guardNeg: true}},
		{name: "never", in: under(branch(isa.FlowJump, 2), isa.Guard{Reg: predOf(0), Never: true}), want: step{next: []int32{1}}},
		{name: "a jump to some", in: indirect, want: step{next: []int32{2, 1}}},
		{name: "a jump to any", in: branch(isa.FlowIndirect, -1), want: step{}, lost: true},
		{name: "the end", in: exit, want: step{next: []int32{end}}},
		{name: "the end by a condition", in: branch(isa.FlowExit, -1, pOpd(0)), want: step{next: []int32{end}, cond: 1}},
		{name: "a return", in: back, want: step{ret: true}},
		{name: "a trap", in: branch(isa.FlowTrap, -1), want: step{}},
		{name: "a call", in: branch(isa.FlowCall, -1, sym("f")), want: step{next: []int32{1}, call: []int32{3}}},
		{name: "a call of what is called, too", in: branch(isa.FlowCall, -1, sym("g")), want: step{next: []int32{1}, call: []int32{3}}},
		{name: "a call within", in: branch(isa.FlowCall, 2), want: step{next: []int32{1}, call: []int32{2}}},
		{name: "a label", in: branch(isa.FlowCall, 2, sym(".L_x")), want: step{next: []int32{2}}},
		{name: "a call of what is elsewhere", in: branch(isa.FlowCall, -1, sym("h")), want: step{next: []int32{1}}, calls: true},
		{name: "a call by a register", in: branch(isa.FlowCall, -1, sym("f"), regOpd(2)), want: step{next: []int32{1}}, calls: true},
		{name: "a division", in: branch(isa.FlowCall, -1, sym("$__cuda_div")), want: step{next: []int32{1}}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := program(map[string][]isa.Inst{"k": {x.in, plain, exit}, "f": {plain, back}, "g": {branch(isa.FlowCall, -1, sym("f")), back}}, "k", "f", "g")
			m := readMachine(p, p.Funcs[0], 80)
			got := m.steps[0]
			if x.want.cond == 0 {
				x.want.cond = -1
			} else {
				x.want.cond = m.condOf(predOf(0))
			}
			if x.want.guard == 0 {
				x.want.guard = -1
			} else {
				x.want.guard = m.condOf(predOf(0))
			}
			x.want.letter = -1
			require.Equal(t, x.want, got)
			require.Equal(t, x.lost, len(m.lost) == 1)
			require.Equal(t, x.calls, len(m.calls) == 1)
		})
	}
}

// TestMachineFunctions: a function is laid out once, with all that it calls, and is left for where it was called if that is one place.
func TestMachineFunctions(t *testing.T) {
	call := func(name string) isa.Inst {
		return isa.Inst{Op: "CALL", Role: isa.RoleBranch, Flow: isa.FlowCall, Target: -1, Args: []isa.Operand{{Kind: isa.OpdSym, Sym: name}}}
	}
	exit := isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	back := isa.Inst{Op: "RET", Role: isa.RoleBranch, Flow: isa.FlowReturn, Target: -1}
	p := program(map[string][]isa.Inst{"k": {call("f"), call("g"), exit}, "f": {call("g"), back}, "g": {back}}, "g", "k", "f")
	m := readMachine(p, p.Funcs[1], 80)
	require.Len(t, m.steps, 6)
	require.Equal(t, []int32{0, 0, 0, 3, 3, 5}, m.funcOf)
	require.Equal(t, [][]int32{{3}, {5}, nil, {5}, nil, nil}, [][]int32{m.steps[0].call, m.steps[1].call, m.steps[2].call, m.steps[3].call, m.steps[4].call, m.steps[5].call})
	require.Equal(t, map[int32][]int32{3: {1}}, m.returns, "g is called from two places")
	require.NotContains(t, m.reach, false)
}

// TestPops: the end of a divergent stretch goes to where its beginning said.
func TestPops(t *testing.T) {
	pop := func(g isa.Guard) isa.Inst {
		return isa.Inst{Op: "BSYNC", Role: isa.RoleBranch, Flow: isa.FlowPop, Target: -1, Guard: g}
	}
	push := isa.Inst{Op: "BSSY", Role: isa.RoleBranch, Flow: isa.FlowPush, Target: 3}
	nop, exit := isa.Inst{Op: "NOP", Role: isa.RoleNop, Target: -1}, isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	for _, x := range []struct {
		code []isa.Inst
		want []int32
	}{
		{[]isa.Inst{push, pop(isa.Guard{}), nop, exit}, []int32{3}}, {[]isa.Inst{push, pop(isa.Guard{Reg: predOf(0)}), nop, exit}, []int32{3}},
		{[]isa.Inst{nop, pop(isa.Guard{}), nop, exit}, []int32{2}},
	} {
		p := program(map[string][]isa.Inst{"k": x.code}, "k")
		m := readMachine(p, p.Funcs[0], 80)
		require.Subset(t, m.steps[1].next, x.want)
		require.Equal(t, x.code[1].Guard.Reg.Class == isa.ClassPred, m.steps[1].guard >= 0)
	}
}

// TestLogic: which operations on predicates are constants, copies or inversions.
func TestLogic(t *testing.T) {
	yes, p, q, np := isa.Operand{Kind: isa.OpdPred, Zero: true}, pOpd(1), pOpd(2), isa.Operand{Kind: isa.OpdPred, Reg: predOf(1), Not: true}
	no := yes
	no.Not = true
	const and, or, xor, first, always = 0x80, 0xfe, 0x96, 0xf0, 0xff
	for _, x := range []struct {
		name string
		lut  uint8
		src  []isa.Operand
		dst  uint16
		want assign // src is a number of a predicate, -1 for a constant
		ok   bool
	}{
		{"a copy", and, []isa.Operand{p, yes, yes}, 3, assign{src: 1, fork: true}, true}, {"a copy, further on", and, []isa.Operand{yes, yes, p}, 3, assign{src: 1, fork: true}, true},
		{"of itself", and, []isa.Operand{p, yes, yes}, 1, assign{src: 1}, true}, {"twice", and, []isa.Operand{p, p, yes}, 3, assign{src: 1, fork: true}, true},
		{"an inversion", and, []isa.Operand{np, yes, yes}, 3, assign{src: 1, neg: true, fork: true}, true},
		{"true", or, []isa.Operand{p, yes, yes}, 3, assign{src: -1, neg: true}, true}, {"false", and, []isa.Operand{p, no, yes}, 3, assign{src: -1}, true},
		{"of nothing", and, []isa.Operand{yes, yes, yes}, 3, assign{src: -1, neg: true}, true}, {"it and its contrary", and, []isa.Operand{p, np, yes}, 3, assign{src: -1}, true},
		{"always", always, []isa.Operand{p, p, p}, 3, assign{src: -1, neg: true}, true},
		{"of two", and, []isa.Operand{p, q, yes}, 3, assign{}, false}, {"the first of two", first, []isa.Operand{p, q, yes}, 3, assign{}, false},
		{"of a register", xor, []isa.Operand{p, regOpd(1), yes}, 3, assign{}, false}, {"of too few", and, []isa.Operand{p}, 3, assign{}, false},
	} {
		m := &machine{conds: conds{}}
		for n := range uint16(4) {
			require.Equal(t, int32(n), m.condOf(predOf(n)))
		}
		got, ok := m.logic(&isa.Micro{Op: isa.MicroPlop, LUT: x.lut, Src: x.src, Dst: predOf(x.dst)})
		require.Equal(t, x.ok, ok, x.name)
		require.Equal(t, x.want, got, x.name)
	}
	_, ok := (&machine{conds: conds{}}).logic(&isa.Micro{Op: isa.MicroLop3, LUT: and, Src: []isa.Operand{p, yes, yes}})
	require.False(t, ok)
}

// TestAccessAddress: where an access goes that its registers, its symbol and its number tell.
func TestAccessAddress(t *testing.T) {
	for name, x := range map[string]struct {
		o    isa.Operand
		want address
	}{
		"a number":                {isa.Operand{Off: 4}, address{root: "0", offset: 4}},
		"a register":              {isa.Operand{Reg: gprOf(1), Off: 4}, address{root: "p", offset: 12}},
		"a uniform one":           {isa.Operand{Base2: gprOf(1), Off: 4}, address{root: "p", offset: 12}},
		"a number and one":        {isa.Operand{Reg: gprOf(2), Base2: gprOf(1)}, address{root: "p", offset: 24}},
		"one and a number":        {isa.Operand{Reg: gprOf(1), Base2: gprOf(2)}, address{root: "p", offset: 24}},
		"two":                     {isa.Operand{Reg: gprOf(1), Base2: gprOf(3)}, address{root: "p+q", offset: 9}},
		"a symbol":                {isa.Operand{Sym: "s", Off: 4}, address{root: "s", offset: 4}},
		"a symbol and a number":   {isa.Operand{Reg: gprOf(2), Sym: "s"}, address{root: "s", offset: 16}},
		"a symbol and a register": {isa.Operand{Reg: gprOf(1), Sym: "s"}, address{root: "p+s", offset: 8}},
	} {
		w := &regWalk{number: map[isa.Reg]int{gprOf(1): 0, gprOf(2): 1, gprOf(3): 2}, state: values{{root: "p", offset: 8}, {root: "0", offset: 16}, {root: "q", offset: 1}}}
		x.o.Kind, x.want.width = isa.OpdMem, 4
		require.Equal(t, x.want, w.access(&isa.Inst{Args: []isa.Operand{regOpd(7), x.o}, Mem: isa.Mem{Width: 4}}), name)
	}
	require.Equal(t, address{width: 8}, (&regWalk{}).access(&isa.Inst{Args: []isa.Operand{regOpd(7)}, Mem: isa.Mem{Width: 8}}))
}

// TestWindows: an address in the shared memory of a CTA of the cluster.
func TestWindows(t *testing.T) {
	own := address{root: "SR_CgaCtaId"}
	for _, x := range []struct{ cta, at, want address }{
		{own, address{root: "s", offset: 8}, address{root: "cta SR_CgaCtaId+0 s", offset: 8}},
		{address{root: "c0.16"}, address{root: "s"}, address{root: "cta c0.16+0 s"}},
		{own, address{root: "?phi1.R2"}, address{root: "?cta SR_CgaCtaId+0 ?phi1.R2"}},
		{address{root: "?v3.R1"}, address{root: "s"}, address{root: "?cta ?v3.R1+0 s"}},
		{own, address{root: "cta c0.16+0 s", offset: 8}, address{root: "cta SR_CgaCtaId+0 s", offset: 8}},
		{address{}, address{root: "s"}, address{}}, {own, address{}, address{}},
	} {
		require.Equal(t, x.want, (&regWalk{}).window(x.cta, x.at))
	}
}

// TestNextRegister: what stands in the register behind that of an address.
func TestNextRegister(t *testing.T) {
	w := &regWalk{number: map[isa.Reg]int{gprOf(1): 0, gprOf(2): 1}, state: values{{root: "p"}, {root: "q"}}}
	for _, x := range []struct {
		args []isa.Operand
		want string
	}{
		{nil, ""}, {[]isa.Operand{regOpd(1)}, ""}, {[]isa.Operand{{Kind: isa.OpdMem, Reg: gprOf(1)}}, "q"}, {[]isa.Operand{{Kind: isa.OpdMem, Base2: gprOf(1)}}, "q"},
		{[]isa.Operand{{Kind: isa.OpdMem, Off: 8}}, ""}, {[]isa.Operand{regOpd(1), {Kind: isa.OpdMem, Reg: gprOf(1)}}, ""},
	} {
		require.Equal(t, x.want, w.next(&isa.Inst{Args: x.args}).root)
	}
}

// TestTurnsOfLanes: forms of code in which each lane has its turn, or one acts for its warp.
func TestTurnsOfLanes(t *testing.T) {
	up := isa.Reg{Class: isa.ClassUPred, Num: 1}
	r2ur := isa.Inst{Op: "R2UR", Defs: []isa.Reg{predOf(1), {Class: isa.ClassUGPR, Num: 4}}}
	vote := func(to isa.Reg, p isa.Operand, more ...isa.Operand) isa.Inst {
		return isa.Inst{Op: "VOTEU", Args: append([]isa.Operand{{Kind: isa.OpdPred, Reg: to}, p}, more...)}
	}
	not := isa.Operand{Kind: isa.OpdPred, Reg: predOf(2), Not: true}
	yes := isa.Operand{Kind: isa.OpdPred, Zero: true}
	for _, x := range []struct {
		name    string
		by      isa.Inst  // an instruction on the line of the image
		guard   isa.Guard // of the image
		stutter bool
		shape   string
		sets    []assign // conditions: 0 is the first predicate of the row, 1 the second
	}{
		{"a jump as long as any lane has had none", isa.Inst{Op: "BRA", Flow: isa.FlowJump, Mods: []string{"ANY"}}, isa.Guard{}, true, eachTurn, nil},
		{"another jump", isa.Inst{Op: "BRA", Flow: isa.FlowJump, Mods: []string{"U"}}, isa.Guard{}, false, "", nil},
		{"no jump", isa.Inst{Op: "VOTE", Mods: []string{"ANY"}}, isa.Guard{}, false, "", nil},
		{"lanes with the address of one", r2ur, isa.Guard{Reg: predOf(1)}, true, eachTurn, []assign{{dst: 0, src: -1, neg: true}}},
		{"lanes without", r2ur, isa.Guard{Reg: predOf(1), Neg: true}, true, eachTurn, []assign{{dst: 0, src: -1}}},
		{"under another condition", r2ur, isa.Guard{Reg: predOf(3)}, false, "", nil},
		{"under none, beside a register", isa.Inst{Op: "R2UR", Defs: []isa.Reg{{}}}, isa.Guard{}, false, "", nil},
		{"not moved", isa.Inst{Op: "MOV", Defs: r2ur.Defs}, isa.Guard{Reg: predOf(1)}, false, "", nil},
		{"a vote", vote(up, pOpd(2)), isa.Guard{Reg: up}, false, eachTurn, []assign{{dst: 0, src: 1, fork: true}}},
		{"a vote of the contrary", vote(up, not), isa.Guard{Reg: up}, false, eachTurn, []assign{{dst: 0, src: 1, neg: true, fork: true}}},
		{"a vote for another condition", vote(up, pOpd(2)), isa.Guard{Reg: predOf(1)}, false, "", nil},
		{"a vote of all", vote(up, yes), isa.Guard{Reg: up}, false, "", nil},
		{"a vote of a register", vote(up, regOpd(2)), isa.Guard{Reg: up}, false, "", nil},
		{"a vote with more", vote(up, pOpd(2), yes), isa.Guard{Reg: up}, false, "", nil},
		{"a vote into a register", isa.Inst{Op: "VOTEU", Args: []isa.Operand{{Kind: isa.OpdReg}, pOpd(2)}}, isa.Guard{}, false, "", nil},
	} {
		m := &matcher{mach: &machine{conds: conds{}, insts: []*isa.Inst{&x.by, {Op: "ATOMG", Guard: x.guard}}, steps: make([]step, 2)}}
		g := &images{main: []int32{1}}
		m.turns(g, []int32{0, 1})
		require.Equal(t, []any{x.stutter, x.shape}, []any{g.stutter, g.shape}, x.name)
		require.Equal(t, x.sets, m.mach.steps[0].sets, x.name)
		if len(x.sets) > 0 && x.sets[0].fork {
			require.Equal(t, []int32{1}, m.mach.steps[0].uses, x.name)
		}
	}
	// One lane acts for its warp: of the number of the lane, and what decides about the image or a jump.
	for _, x := range []struct {
		name  string
		mi    isa.Micro
		lane  bool
		guard isa.Reg // of the image
		jump  isa.Reg
		want  []assign
	}{
		{"it is the chosen one", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, []assign{{dst: 0, src: -1, neg: true}}},
		{"it is not", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, []assign{{dst: 0, src: -1}}},
		{"a jump past it", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Dst: predOf(1)}, true, isa.Reg{}, predOf(1), []assign{{dst: 0, src: -1}}},
		{"the lanes before", isa.Micro{Op: isa.MicroSetp, Cmp: "LT", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, nil},
		{"no comparison", isa.Micro{Op: isa.MicroPlop, Cmp: "EQ", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, nil},
		{"of something else", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, false, predOf(1), isa.Reg{}, nil},
		{"that decides nothing", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, true, predOf(2), predOf(3), nil},
	} {
		m := &matcher{mach: &machine{conds: conds{}, lane: []bool{x.lane, false, false}, steps: make([]step, 3), insts: []*isa.Inst{{Micro: []isa.Micro{x.mi}},
			{Role: isa.RoleBranch, Guard: isa.Guard{Reg: x.jump}}, {Role: isa.RoleAtomic, Guard: isa.Guard{Reg: x.guard}}}}}
		g := &images{main: []int32{2}}
		m.elected(g, []int32{0, 1, 2})
		require.Equal(t, x.want, m.mach.steps[0].sets, x.name)
		require.Equal(t, map[bool]string{true: oneLane}[x.want != nil], g.shape, x.name)
	}
}

// TestClustered: a barrier of the cluster is one where the launch has clusters.
func TestClustered(t *testing.T) {
	for _, x := range []struct {
		name string
		mi   isa.Micro
		op   string
		want []assign
	}{
		{"if there are some", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_ARV", []assign{{dst: 0, src: -1, neg: true}}},
		{"if there are none", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_WAIT", []assign{{dst: 0, src: -1}}},
		{"a barrier of the CTA", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "BAR", nil},
		{"more than some", isa.Micro{Op: isa.MicroSetp, Cmp: "GT", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_ARV", nil},
		{"two registers", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Src: []isa.Operand{regOpd(1), regOpd(2)}}, "UCGABAR_ARV", nil},
		{"no comparison", isa.Micro{Op: isa.MicroPlop, Cmp: "EQ", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_ARV", nil},
	} {
		x.mi.Dst = predOf(1)
		m := &matcher{mach: &machine{conds: conds{}, steps: make([]step, 2), insts: []*isa.Inst{{Micro: []isa.Micro{x.mi}}, {Op: x.op}}}}
		m.clustered(&images{main: []int32{1}}, []int32{0, 1})
		require.Equal(t, x.want, m.mach.steps[0].sets, x.name)
	}
}

// TestMbarrierImages: which of the accesses to shared memory an operation on an mbarrier is.
func TestMbarrierImages(t *testing.T) {
	insts := []*isa.Inst{{Op: "LDS", Role: isa.RoleLoad}, {Op: "ATOMS", Role: isa.RoleAtomic, Mods: []string{"ARRIVE"}}, {Op: "ATOMS", Role: isa.RoleAtomic, Mods: []string{"ADD"}},
		{Op: "STS", Role: isa.RoleStore}, {Op: "SYNCS", Role: isa.RoleCache}, {Op: "RED", Role: isa.RoleReduction}}
	arrive, drop := &ptx.Inst{Mods: []string{"arrive"}}, &ptx.Inst{Mods: []string{"arrive_drop"}}
	for _, x := range []struct {
		name           string
		kind           ptx.Kind
		in             *ptx.Inst
		sm             int
		have           []int32
		main, lessened []int32
		stutter        bool
	}{
		{"an arrival", ptx.MbarArrive, arrive, 80, []int32{0, 1, 2, 3}, []int32{1, 2}, nil, false},
		{"an arrival without an answer", ptx.MbarArrive, arrive, 80, []int32{0, 3, 5}, []int32{5}, nil, false},
		{"an arrival that is none of them", ptx.MbarArrive, arrive, 80, []int32{0, 3}, []int32{0, 3}, nil, false},
		{"one that drops", ptx.MbarArrive, drop, 80, []int32{0, 1, 2}, []int32{1}, []int32{2}, false},
		{"one that drops, of its own", ptx.MbarArrive, drop, 90, []int32{1, 2}, []int32{1, 2}, nil, false},
		{"by its own instruction", ptx.MbarArrive, arrive, 90, []int32{0, 1, 4}, []int32{4}, nil, false},
		{"a wait", ptx.MbarWait, arrive, 80, []int32{0, 1, 3}, []int32{0}, nil, true},
		{"a wait by its own instruction", ptx.MbarWait, arrive, 90, []int32{0, 4}, []int32{4}, nil, true},
		{"an initialisation", ptx.Mbarrier, arrive, 80, []int32{0, 3}, []int32{0, 3}, nil, false},
	} {
		m := &matcher{mach: &machine{sm: x.sm, insts: insts}, owner: []int32{-1, -1, -1, -1, -1, -1}}
		g := &images{main: x.have}
		m.mbarrier(7, &Op{Inst: x.in, Effect: ptx.Effect{Kind: x.kind}}, g)
		require.Equal(t, []any{x.main, x.lessened, x.stutter}, []any{g.main, g.lessen, g.stutter}, x.name)
		for _, i := range x.lessened {
			require.Equal(t, int32(7), m.owner[i])
		}
	}
}
