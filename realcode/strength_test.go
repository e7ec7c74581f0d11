package realcode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestWeaker: what an image must have of its operation, each part alone: strength, scope, kind, width, operation and
// type, and what it may have more.
func TestWeaker(t *testing.T) {
	load := func(sem, scope string) ptx.Effect {
		return ptx.Effect{Kind: ptx.Load, Sem: sem, Scope: scope, Space: "global", Width: 4, Type: "u32"}
	}
	atom := func(op, typ string) ptx.Effect {
		return ptx.Effect{Kind: ptx.Atomic, Sem: "relaxed", Scope: "gpu", Space: "global", Width: 4, Type: typ, Atom: op}
	}
	fence := func(sem, scope string) ptx.Effect { return ptx.Effect{Kind: ptx.Fence, Sem: sem, Scope: scope} }
	mem := func(s isa.Strength, scope isa.Scope) isa.Mem {
		return isa.Mem{Strength: s, Scope: scope, Width: 4, Space: isa.SpaceGlobal}
	}
	with := func(m isa.Mem, change func(*isa.Mem)) isa.Mem {
		change(&m)
		return m
	}
	strong, role := mem(isa.Strong, isa.ScopeGPU), map[ptx.Kind]isa.Role{ptx.Load: isa.RoleLoad, ptx.Atomic: isa.RoleAtomic, ptx.Fence: isa.RoleFence}
	for _, c := range []struct {
		what string
		op   ptx.Effect
		mem  isa.Mem
		sm   int
		want string
	}{
		{"as it is", load("relaxed", "gpu"), strong, 80, ""},
		{"more", load("relaxed", "gpu"), mem(isa.Strong, isa.ScopeSys), 80, ""},
		{"weak", load("relaxed", "gpu"), mem(isa.Weak, isa.ScopeNone), 80, "strong access"},
		{"weak, asked for no more", load("weak", ""), mem(isa.Weak, isa.ScopeNone), 80, ""},
		{"before strengths", load("relaxed", "gpu"), mem(isa.Weak, isa.ScopeNone), 60, ""},
		{"narrow", load("acquire", "gpu"), mem(isa.Strong, isa.ScopeCTA), 80, "scope gpu"},
		{"of the GPU, not of the system", load("volatile", "sys"), strong, 80, "scope sys"},
		{"mmio", load("mmio", "sys"), mem(isa.MMIO, isa.ScopeSys), 80, ""},
		{"mmio for strong", load("relaxed", "sys"), mem(isa.MMIO, isa.ScopeSys), 80, ""},
		{"strong for mmio", load("mmio", "sys"), mem(isa.Strong, isa.ScopeSys), 80, "kind mmio"},
		{"half as wide", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Width = 2 }), 80, "4 bytes, the machine instruction 2"},
		{"wider", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Width = 8 }), 80, ""},
		{"shared", load("relaxed", "gpu"), with(mem(isa.Weak, isa.ScopeNone), func(m *isa.Mem) { m.Space = isa.SpaceShared }), 80, ""},
		{"the cache of constants", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Strength = isa.Constant }), 80, "cache of constants"},
		{"the same of a weak load", load("weak", ""), with(strong, func(m *isa.Mem) { m.Cache = "CI" }), 80, "cache of constants"},
		{"the same on older chips", load("weak", ""), with(strong, func(m *isa.Mem) { m.Cache = "CI" }), 60, "cache of constants"},
		{"an addition", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "ADD" }), 80, ""},
		{"another operation", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "AND" }), 80, "it is .add, the machine instruction AND"},
		{"a loop", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "CAS" }), 80, ""},
		{"lanes counted", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "POPC" }), 80, ""},
		{"an addition for a count", atom("inc", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "ADD" }), 80, "it is .inc, the machine instruction ADD"},
		{"signed", atom("min", "s32"), with(strong, func(m *isa.Mem) { m.Atom, m.Type = "MIN", isa.AtomSigned }), 80, ""},
		{"unsigned for signed", atom("min", "s32"), with(strong, func(m *isa.Mem) { m.Atom = "MIN" }), 80, "type s32"},
		{"signed for unsigned", atom("max", "u32"), with(strong, func(m *isa.Mem) { m.Atom, m.Type = "MAX", isa.AtomSigned }), 80, "type u32"},
		{"a floating-point one", atom("max", "u32"), with(strong, func(m *isa.Mem) { m.Atom, m.Type = "MAX", isa.AtomOther }), 80, ""},
		{"a signed addition", atom("add", "s32"), with(strong, func(m *isa.Mem) { m.Atom = "ADD" }), 80, ""},
		{"a fence", fence("acq_rel", "gpu"), mem(isa.FenceAll, isa.ScopeGPU), 80, ""},
		{"a narrower fence", fence("acq_rel", "sys"), mem(isa.FenceAll, isa.ScopeGPU), 80, "scope sys"},
		{"a weaker fence", fence("sc", "gpu"), mem(isa.FenceAll, isa.ScopeGPU), 80, "sequentially consistent"},
		{"the same on older chips", fence("sc", "gpu"), mem(isa.FenceAll, isa.ScopeGPU), 60, ""},
		{"a sequentially consistent one", fence("sc", "gpu"), mem(isa.FenceSC, isa.ScopeGPU), 80, ""},
	} {
		got := weaker(&Op{Inst: &ptx.Inst{}, Effect: c.op}, &isa.Inst{Role: role[c.op.Kind], Mem: c.mem}, c.sm)
		if c.want == "" {
			require.Empty(t, got, c.what)
		} else {
			require.Contains(t, got, c.want, c.what)
		}
	}
	adds := &Op{Inst: &ptx.Inst{}, Effect: atom("inc", "u32"), adds: true}
	require.Empty(t, weaker(adds, &isa.Inst{Role: isa.RoleAtomic, Mem: with(strong, func(m *isa.Mem) { m.Atom = "ADD" })}, 80))
	require.Empty(t, weaker(&Op{Effect: load("relaxed", "gpu")}, &isa.Inst{Role: isa.RoleCache}, 80), "what is left of a load")
	proxies := &Op{Effect: ptx.Effect{Kind: ptx.ProxyFence, Scope: "gpu"}}
	require.Contains(t, weaker(proxies, &isa.Inst{Op: "MEMBAR", Mem: mem(isa.FenceAll, isa.ScopeCTA)}, 90), "scope gpu")
	require.Empty(t, weaker(proxies, &isa.Inst{Op: "MEMBAR", Mem: mem(isa.FenceAll, isa.ScopeGPU)}, 90))
	require.Empty(t, weaker(proxies, &isa.Inst{Op: "FENCE"}, 90), "it has no scope")
}

// TestHalves: two shuffles are one if the first gives the value and the next, of the same operands, the predicate.
func TestHalves(t *testing.T) {
	reg := func(n int) isa.Operand {
		return isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: isa.ClassGPR, Num: uint16(n)}, Words: 1}
	}
	none, pred := isa.Operand{Kind: isa.OpdPred, Zero: true}, isa.Operand{Kind: isa.OpdPred, Reg: isa.Reg{Class: isa.ClassPred}}
	rz := isa.Operand{Kind: isa.OpdReg, Zero: true}
	value := isa.Inst{Op: "SHFL", Mods: []string{"IDX"}, Args: []isa.Operand{none, reg(4), reg(5), reg(6), reg(7)}}
	flag := isa.Inst{Op: "SHFL", Mods: []string{"IDX"}, Args: []isa.Operand{pred, rz, reg(5), reg(6), reg(7)}, Uses: []isa.Reg{reg(5).Reg, reg(6).Reg, reg(7).Reg}}
	with := func(in isa.Inst, change func(*isa.Inst)) isa.Inst {
		in.Args, in.Uses = slices.Clone(in.Args), slices.Clone(in.Uses)
		change(&in)
		return in
	}
	for what, c := range map[string]struct {
		first, second isa.Inst
		main, want    []int32
	}{
		"two halves":            {value, flag, []int32{0, 1}, []int32{0}},
		"one of them another's": {value, flag, []int32{1}, []int32{1}},
		"the flag first":        {flag, value, []int32{0, 1}, []int32{0, 1}},
		"a vote":                {with(value, func(in *isa.Inst) { in.Op = "VOTE" }), flag, []int32{0, 1}, []int32{0, 1}},
		"then a vote":           {value, with(flag, func(in *isa.Inst) { in.Op = "VOTE" }), []int32{0, 1}, []int32{0, 1}},
		"under a condition":     {value, with(flag, func(in *isa.Inst) { in.Guard.Reg = pred.Reg; in.Guard.Neg = true }), []int32{0, 1}, []int32{0, 1}},
		"another kind":          {value, with(flag, func(in *isa.Inst) { in.Mods = []string{"UP"} }), []int32{0, 1}, []int32{0, 1}},
		"both in the first":     {with(value, func(in *isa.Inst) { in.Args[0] = pred }), flag, []int32{0, 1}, []int32{0, 1}},
		"both in the second":    {value, with(flag, func(in *isa.Inst) { in.Args[1] = reg(9) }), []int32{0, 1}, []int32{0, 1}},
		"no value":              {with(value, func(in *isa.Inst) { in.Args[1] = rz }), flag, []int32{0, 1}, []int32{0, 1}},
		"no flag":               {value, with(flag, func(in *isa.Inst) { in.Args[0] = none }), []int32{0, 1}, []int32{0, 1}},
		"of another register":   {value, with(flag, func(in *isa.Inst) { in.Args[2] = reg(8) }), []int32{0, 1}, []int32{0, 1}},
		"of what it gave":       {with(value, func(in *isa.Inst) { in.Args[1] = reg(5) }), flag, []int32{0, 1}, []int32{0, 1}},
	} {
		g := &images{main: c.main}
		(&matcher{mach: &machine{insts: []*isa.Inst{&c.first, &c.second}}}).halves(g)
		require.Equal(t, c.want, g.main, what)
	}
}

// TestResized: which accesses of another width litmus tests have.
func TestResized(t *testing.T) {
	for _, c := range []struct {
		kind         ptx.Kind
		width, other int
		has          bool
	}{
		{ptx.Load, 4, 8, true}, {ptx.Load, 8, 4, true}, {ptx.Load, 4, 2, true}, {ptx.Load, 4, 1, true}, {ptx.Store, 2, 4, true}, {ptx.Load, 2, 4, true}, {ptx.Store, 4, 1, true},
		{ptx.Store, 4, 2, true}, {ptx.Load, 4, 16, false}, {ptx.Load, 16, 8, false}, {ptx.Atomic, 4, 8, true}, {ptx.Atomic, 8, 4, true},
		{ptx.Atomic, 4, 2, false}, {ptx.Atomic, 4, 1, false}, {ptx.Atomic, 2, 4, false}, {ptx.Load, 4, 3, false},
	} {
		op := &Op{Inst: &ptx.Inst{}, Effect: ptx.Effect{Kind: c.kind, Width: c.width}}
		require.Equal(t, c.has, op.resized(c.other), "%+v", c)
		require.Equal(t, c.other, op.sized)
	}
	pair := &Op{Inst: &ptx.Inst{Name: "ld", Args: []ptx.Operand{{Kind: ptx.Vec, Elems: make([]ptx.Operand, 2)}}}, Effect: ptx.Effect{Kind: ptx.Load, Width: 8}}
	require.False(t, pair.resized(4))
}
