package realcode

import (
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
		{"half as wide", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Width = 2 }), 80, "4 bytes, and the image 2"},
		{"wider", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Width = 8 }), 80, ""},
		{"shared", load("relaxed", "gpu"), with(mem(isa.Weak, isa.ScopeNone), func(m *isa.Mem) { m.Space = isa.SpaceShared }), 80, ""},
		{"the cache of constants", load("relaxed", "gpu"), with(strong, func(m *isa.Mem) { m.Strength = isa.Constant }), 80, "cache of constants"},
		{"the same of a weak load", load("weak", ""), with(strong, func(m *isa.Mem) { m.Cache = "CI" }), 80, "cache of constants"},
		{"the same on older chips", load("weak", ""), with(strong, func(m *isa.Mem) { m.Cache = "CI" }), 60, "cache of constants"},
		{"an addition", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "ADD" }), 80, ""},
		{"another operation", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "AND" }), 80, "it is .add, and the image AND"},
		{"a loop", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "CAS" }), 80, ""},
		{"lanes counted", atom("add", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "POPC" }), 80, ""},
		{"an addition for a count", atom("inc", "u32"), with(strong, func(m *isa.Mem) { m.Atom = "ADD" }), 80, "it is .inc, and the image ADD"},
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
}
