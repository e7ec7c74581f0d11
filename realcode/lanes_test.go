package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

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
		{"a jump as long as any lane has had none", isa.Inst{Op: "BRA", Flow: isa.FlowJump, Mods: []string{"ANY"}}, isa.Guard{}, true, eachTurn,
			nil},
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
		{"it is the chosen one", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, true, predOf(1), isa.Reg{},
			[]assign{{dst: 0, src: -1, neg: true}}},
		{"it is not", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, []assign{{dst: 0, src: -1}}},
		{"a jump past it", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Dst: predOf(1)}, true, isa.Reg{}, predOf(1), []assign{{dst: 0, src: -1}}},
		{"the lanes before", isa.Micro{Op: isa.MicroSetp, Cmp: "LT", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, nil},
		{"no comparison", isa.Micro{Op: isa.MicroPlop, Cmp: "EQ", Dst: predOf(1)}, true, predOf(1), isa.Reg{}, nil},
		{"of something else", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, false, predOf(1), isa.Reg{}, nil},
		{"that decides nothing", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Dst: predOf(1)}, true, predOf(2), predOf(3), nil},
	} {
		m := &matcher{mach: &machine{conds: conds{}, lane: []bool{x.lane, false, false}, steps: make([]step, 3),
			insts: []*isa.Inst{{Micro: []isa.Micro{x.mi}},
				{Role: isa.RoleBranch, Guard: isa.Guard{Reg: x.jump}}, {Role: isa.RoleAtomic, Guard: isa.Guard{Reg: x.guard}}}}}
		g := &images{main: []int32{2}}
		m.elected(g, []int32{0, 1, 2})
		require.Equal(t, x.want, m.mach.steps[0].sets, x.name)
		require.Equal(t, map[bool]string{true: oneLane}[x.want != nil], g.shape, x.name)
	}
}

func TestClustered(t *testing.T) {
	for _, x := range []struct {
		name string
		mi   isa.Micro
		op   string
		want []assign
	}{
		{"if there are some", isa.Micro{Op: isa.MicroSetp, Cmp: "EQ", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_ARV",
			[]assign{{dst: 0, src: -1, neg: true}}},
		{"if there are none", isa.Micro{Op: isa.MicroSetp, Cmp: "NE", Src: []isa.Operand{regOpd(1), {Kind: isa.OpdImm}}}, "UCGABAR_WAIT",
			[]assign{{dst: 0, src: -1}}},
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

func TestMbarrierImages(t *testing.T) {
	insts := []*isa.Inst{{Op: "LDS", Role: isa.RoleLoad}, {Op: "ATOMS", Role: isa.RoleAtomic, Mods: []string{"ARRIVE"}},
		{Op: "ATOMS", Role: isa.RoleAtomic, Mods: []string{"ADD"}},
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
