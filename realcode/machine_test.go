package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
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
		{name: "a jump by a condition", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Reg: predOf(0), Not: true}),
			want: step{next: []int32{2}, cond: 1, condNeg: true}},
		{name: "a jump by the constant true", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Zero: true}),
			want: step{next: []int32{2}}},
		{name: "a jump by both", in: branch(isa.FlowJump, 2, isa.Operand{Kind: isa.OpdPred, Zero: true}, pOpd(0)),
			want: step{next: []int32{2}, cond: 1}},
		{name: "a jump if the warp has diverged", in: mods(branch(isa.FlowJump, 2), "CONV"), want: step{next: []int32{2, 1}}},
		{name: "a jump by a mask", in: branch(isa.FlowJump, 2, regOpd(1)), want: step{next: []int32{2, 1}}},
		{name: "a jump of a known kind", in: mods(branch(isa.FlowJump, 2), "U"), want: step{next: []int32{2}}},
		{name: "a jump under a condition", in: under(branch(isa.FlowJump, 2), isa.Guard{Reg: predOf(0), Neg: true}),
			want: step{next: []int32{2}, guard: 1, guardNeg: true}},
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
			p := program(map[string][]isa.Inst{"k": {x.in, plain, exit}, "f": {plain, back}, "g": {branch(isa.FlowCall, -1, sym("f")), back}}, "k",
				"f", "g")
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
	require.Equal(t, [][]int32{{3}, {5}, nil, {5}, nil, nil}, [][]int32{m.steps[0].call, m.steps[1].call, m.steps[2].call, m.steps[3].call,
		m.steps[4].call, m.steps[5].call})
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
		{"a copy", and, []isa.Operand{p, yes, yes}, 3, assign{src: 1, fork: true}, true},
		{"a copy, further on", and, []isa.Operand{yes, yes, p}, 3, assign{src: 1, fork: true}, true},
		{"of itself", and, []isa.Operand{p, yes, yes}, 1, assign{src: 1}, true},
		{"twice", and, []isa.Operand{p, p, yes}, 3, assign{src: 1, fork: true}, true},
		{"an inversion", and, []isa.Operand{np, yes, yes}, 3, assign{src: 1, neg: true, fork: true}, true},
		{"true", or, []isa.Operand{p, yes, yes}, 3, assign{src: -1, neg: true}, true},
		{"false", and, []isa.Operand{p, no, yes}, 3, assign{src: -1}, true},
		{"of nothing", and, []isa.Operand{yes, yes, yes}, 3, assign{src: -1, neg: true}, true},
		{"it and its contrary", and, []isa.Operand{p, np, yes}, 3, assign{src: -1}, true},
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
		w := &regWalk{number: map[isa.Reg]int{gprOf(1): 0, gprOf(2): 1, gprOf(3): 2},
			state: values{{root: "p", offset: 8}, {root: "0", offset: 16}, {root: "q", offset: 1}}}
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
		{nil, ""}, {[]isa.Operand{regOpd(1)}, ""}, {[]isa.Operand{{Kind: isa.OpdMem, Reg: gprOf(1)}}, "q"},
		{[]isa.Operand{{Kind: isa.OpdMem, Base2: gprOf(1)}}, "q"},
		{[]isa.Operand{{Kind: isa.OpdMem, Off: 8}}, ""}, {[]isa.Operand{regOpd(1), {Kind: isa.OpdMem, Reg: gprOf(1)}}, ""},
	} {
		require.Equal(t, x.want, w.next(&isa.Inst{Args: x.args}).root)
	}
}

// TestTurnsOfLanes: forms of code in which each lane has its turn, or one acts for its warp.
// TestClustered: a barrier of the cluster is one where the launch has clusters.
// TestMbarrierImages: which of the accesses to shared memory an operation on an mbarrier is.
