package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestRaised: what an access or fence of the machine code is in a test if it is stronger than the test's, and nothing if it is not.
func TestRaised(t *testing.T) {
	strong := func(s isa.Scope) isa.Mem { return isa.Mem{Strength: isa.Strong, Scope: s} }
	mmio := isa.Mem{Strength: isa.MMIO, Scope: isa.ScopeSys}
	fence := func(s isa.Strength, scope isa.Scope) isa.Mem { return isa.Mem{Strength: s, Scope: scope} }
	in := func(s litmus.Sem, scope litmus.Scope) *litmus.Instr { return &litmus.Instr{Sem: s, Scope: scope} }
	ld := func(s litmus.Sem, scope litmus.Scope) spec.Kind {
		return spec.Kind{Op: litmus.OpLd, Space: litmus.Global, Width: 4, Sem: s, Scope: scope}
	}
	of := func(k spec.Kind, change func(*spec.Kind)) spec.Kind { change(&k); return k }
	relaxed, weak, acquire := ld(litmus.SemRelaxed, litmus.ScopeGPU), ld(litmus.SemWeak, litmus.ScopeNone), ld(litmus.SemAcquire, litmus.ScopeCTA)
	atom := of(relaxed, func(k *spec.Kind) { k.Op, k.Atom = litmus.OpAtom, litmus.AtomAdd })
	bare := of(atom, func(k *spec.Kind) { k.Sem, k.Scope = litmus.SemNone, litmus.ScopeNone })
	fenceOf := func(s litmus.Sem, scope litmus.Scope) spec.Kind {
		return spec.Kind{Op: litmus.OpFence, Sem: s, Scope: scope}
	}
	for _, c := range []struct {
		what string
		sm   int
		k    spec.Kind
		m    isa.Mem
		want *litmus.Instr
	}{
		{"as asked", 70, relaxed, strong(isa.ScopeGPU), nil},
		{"wider", 70, relaxed, strong(isa.ScopeSys), in(litmus.SemRelaxed, litmus.ScopeSys)},
		{"narrower", 70, relaxed, strong(isa.ScopeCTA), nil},
		{"weaker", 70, relaxed, isa.Mem{}, nil},
		{"of a device", 80, ld(litmus.SemRelaxed, litmus.ScopeSys), mmio, in(litmus.SemMMIO, litmus.ScopeNone)},
		{"of a device, as asked", 80, ld(litmus.SemMMIO, litmus.ScopeSys), mmio, nil},
		{"of a device no more", 80, ld(litmus.SemMMIO, litmus.ScopeSys), strong(isa.ScopeSys), nil},
		{"an acquire of more", 70, acquire, strong(isa.ScopeGPU), in(litmus.SemAcquire, litmus.ScopeGPU)},
		{"an acquire", 70, acquire, strong(isa.ScopeCTA), nil},
		{"a weak one that is strong", 70, weak, strong(isa.ScopeGPU), in(litmus.SemWeak, litmus.ScopeGPU)},
		{"a weak one that is strong in its CTA", 70, weak, strong(isa.ScopeCTA), in(litmus.SemWeak, litmus.ScopeCTA)},
		{"a cached one", 70, of(weak, func(k *spec.Kind) { k.Cache = litmus.CacheCA }), strong(isa.ScopeCTA), nil},
		{"shared memory", 70, of(relaxed, func(k *spec.Kind) { k.Space = litmus.Shared }), strong(isa.ScopeSys), nil},
		{"an atomic of more", 70, atom, strong(isa.ScopeSys), in(litmus.SemRelaxed, litmus.ScopeSys)},
		{"an atomic", 70, atom, strong(isa.ScopeGPU), nil},
		{"an atomic without words", 70, bare, strong(isa.ScopeSys), in(litmus.SemNone, litmus.ScopeSys)},
		{"a cache operator, as asked", 60, of(weak, func(k *spec.Kind) { k.Cache = litmus.CacheCG }), isa.Mem{Cache: "CG"}, nil},
		{"a cache operator of more", 60, of(weak, func(k *spec.Kind) { k.Cache = litmus.CacheCG }), isa.Mem{Cache: "CV"}, in(litmus.SemVolatile, litmus.ScopeNone)},
		{"a cache operator where none is", 60, of(weak, func(k *spec.Kind) { k.Cache = litmus.CacheCA }), isa.Mem{Cache: "CG"},
			&litmus.Instr{Sem: litmus.SemWeak, Cache: litmus.CacheCG}},
		{"an atomic of old", 60, atom, isa.Mem{Cache: "CV"}, nil},
		{"a reduction of old", 60, of(atom, func(k *spec.Kind) { k.Op = litmus.OpRed }), isa.Mem{Cache: "CV"}, nil},

		{"a fence, as asked", 70, fenceOf(litmus.SemAcqRel, litmus.ScopeGPU), fence(isa.FenceAll, isa.ScopeGPU), nil},
		{"a fence of more", 70, fenceOf(litmus.SemAcqRel, litmus.ScopeGPU), fence(isa.FenceAll, isa.ScopeSys), in(litmus.SemAcqRel, litmus.ScopeSys)},
		{"a stricter fence", 70, fenceOf(litmus.SemAcqRel, litmus.ScopeGPU), fence(isa.FenceSC, isa.ScopeGPU), in(litmus.SemSC, litmus.ScopeGPU)},
		{"a strict fence", 70, fenceOf(litmus.SemSC, litmus.ScopeGPU), fence(isa.FenceSC, isa.ScopeGPU), nil},
		{"a fence of old", 60, fenceOf(litmus.SemAcqRel, litmus.ScopeGPU), fence(isa.FenceSC, isa.ScopeGPU), nil},
		{"a barrier", 70, spec.Kind{Op: litmus.OpBar}, fence(isa.FenceSC, isa.ScopeSys), nil},
		{"a fence of proxies", 90, spec.Kind{Op: litmus.OpFenceProxy}, fence(isa.FenceSC, isa.ScopeSys), nil},
	} {
		require.Equal(t, c.want, nvidia{sm: c.sm}.raised(c.k, c.m), c.what)
	}
}

// TestTexture: loads through the non-coherent cache are of another proxy, which the model knows since sm_70.
func TestTexture(t *testing.T) {
	for _, m := range []isa.Mem{{Strength: isa.Constant}, {Cache: "CI"}} {
		yes, why := nvidia{sm: 70}.texture(m)
		require.True(t, yes)
		require.Empty(t, why)
		yes, why = nvidia{sm: 62}.texture(m)
		require.True(t, yes)
		require.Equal(t, "the model has no word for the non-coherent cache", why)
	}
	for _, sm := range []int{62, 70} {
		yes, why := nvidia{sm: sm}.texture(isa.Mem{Strength: isa.Strong, Cache: "CV"})
		require.False(t, yes)
		require.Empty(t, why)
	}
}

// TestBanks: parameters, constants that old compilers keep in a bank of their own, and all other words.
func TestBanks(t *testing.T) {
	tr := &trace{pool: newValuePool()}
	m := &machine{tr: tr, walkOptions: walkOptions{literals: map[int64]uint32{8: 77}}}
	a := nvidia{sm: 35, params: 0x140}
	node := func(bank int, off int64) node { return tr.pool.nodes[a.bank(m, bank, off)] }
	require.Equal(t, uint64(8), node(bankParams, 0x148).imm)
	require.Equal(t, valueKind(kParam), node(bankParams, 0x140).kind)
	require.NotEqual(t, valueKind(kParam), node(bankParams, 0x13c).kind)
	require.Equal(t, uint64(77), node(bankLiterals, 8).imm)
	require.Equal(t, valueKind(kConst), node(bankLiterals, 8).kind)
	require.NotEqual(t, valueKind(kConst), node(bankLiterals, 12).kind, "not known")
	require.NotEqual(t, valueKind(kConst), node(3, 8).kind, "of another bank")
	require.NotEqual(t, valueKind(kConst), node(bankParams, 8).kind, "of another bank")
}
