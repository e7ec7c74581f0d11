package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

func TestMisplaced(t *testing.T) {
	of := func(root string, offset int64) *Op { return &Op{barrier: address{root: root, offset: offset}} }
	known := map[rootPair]int64{{"s", "m"}: 16, {"s", "cta SR_CgaCtaId+0 m"}: 16}
	for _, x := range []struct {
		name  string
		op    *Op
		at    address
		users map[address]map[string]int
		want  string
	}{
		{"its own", of("s", 8), address{root: "m", offset: 24}, nil, ""},
		{"its second word", of("s", 8), address{root: "m", offset: 28}, nil, ""},
		{"the next one", of("s", 8), address{root: "m", offset: 32}, nil, "8 bytes from where"},
		{"the one before", of("s", 8), address{root: "m", offset: 20}, nil, "-4 bytes from where"},
		{"of a base of which nothing is known", of("s", 8), address{root: "n", offset: 999}, nil, ""},
		{"by a register", of("?k.3", 8), address{root: "m", offset: 999}, nil, ""},
		{"that of another", of("s", 8), address{root: "n", offset: 8}, map[address]map[string]int{{root: "n", offset: 8}: {"s": 1, "r": 1}},
			"is that of others"},
		{"that of few others", of("s", 8), address{root: "n", offset: 8}, map[address]map[string]int{{root: "n", offset: 8}: {"s": 2, "r": 1}},
			""},
		{"one of another CTA", of("%mapa 3 s", 8), address{root: "cta SR_CgaCtaId+0 m"}, nil,
			"of another CTA, the machine instruction about one of its own"},
		{"one of another CTA, in both", of("%mapa 3 s", 8), address{root: "cta c0.16+0 m"}, nil, ""},
		{"of its own rank", of("%mapa %cluster_ctarank s", 8), address{root: "cta SR_CgaCtaId+0 m"}, nil, ""},
		{"one of its own CTA", of("s", 8), address{root: "cta c0.16+0 m"}, nil, "of its own CTA, the machine instruction about one of another"},
		{"one of its own CTA, in both", of("s", 8), address{root: "cta SR_CgaCtaId+0 m", offset: 24}, nil, ""},
	} {
		got := (&checker{}).misplaced(x.op, x.at, known, x.users)
		if x.want == "" {
			require.Empty(t, got, x.name)
		} else {
			require.Contains(t, got, x.want, x.name)
		}
	}
}

func TestMatrixSteps(t *testing.T) {
	gmma := func(text string, args ...isa.Operand) isa.Inst {
		return isa.Inst{Op: "HGMMA", Text: text, Args: args}
	}
	group := func(what string, never bool) isa.Inst {
		return isa.Inst{Op: "WARPGROUP", Mods: []string{what}, Guard: isa.Guard{Never: never}}
	}
	never := gmma("HGMMA gsb0")
	never.Guard.Never = true
	zero := isa.Operand{Kind: isa.OpdReg, Zero: true}
	m := lineOf(group("ARRIVE", false), gmma("HGMMA", regOpd(1)), group("DEPBAR", false), never, group("ARRIVE", true), group("DEPBAR", true),
		isa.Inst{Op: "HMMA"}, gmma("HGMMA gsb0"))
	require.Equal(t, []int32{0, 1, 2, 7}, m.matrices())
	m.mach.reach[1] = false
	require.Equal(t, []int32{0, 2, 7}, m.matrices())
	for _, x := range []struct {
		in   isa.Inst
		want bool
	}{{gmma("HGMMA gsb0", zero), true}, {gmma("HGMMA gsb0", regOpd(1)), false}, {gmma("HGMMA", zero), false}, {gmma("HGMMA gsb0"), false}} {
		require.Equal(t, x.want, empty(&x.in))
	}
	wait := group("DEPBAR", false)
	alone := func(change func(*matcher)) bool {
		m := lineOf(group("ARRIVE", false), gmma("HGMMA gsb0", regOpd(1)), isa.Inst{}, wait, isa.Inst{})
		m.opAt = map[int]int{}
		change(m)
		return m.serial([]int32{0, 1, 3}, 1)
	}
	require.True(t, alone(func(*matcher) {}))
	require.False(t, alone(func(m *matcher) { m.mach.insts[2].Role = isa.RoleBranch }), "a jump between")
	require.False(t, alone(func(m *matcher) { m.mach.insts[1].Text = "HGMMA" }), "no end of a group")
	require.False(t, alone(func(m *matcher) { m.mach.insts[0].Mods = nil }), "no fence")
	require.False(t, alone(func(m *matcher) { m.mach.insts[3].Mods = nil }), "no wait")
	require.False(t, alone(func(m *matcher) { m.mach.insts[3].Args = []isa.Operand{{Kind: isa.OpdImm, Imm: 1}} }), "a wait that leaves one")
	line := lineOf(group("ARRIVE", false), gmma("HGMMA gsb0", regOpd(1)), wait)
	require.False(t, line.serial([]int32{0, 1, 2}, 0))
	require.False(t, line.serial([]int32{0, 1, 2}, 2))
	const product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r1, r2, r3, r4}, d1, d2, 1, 1, 1, 0, 0;\n"
	for body, want := range map[string]bool{
		"st.shared.u32 [s], 1;": true, "st.global.u32 [d1], 1;": false, "st.global.u32 [d1], r1;": true, "st.global.u32 [d1], r5;": false,
		"ld.shared.u32 r5, [s];": false, "mbarrier.arrive.shared.b64 d3, [s];": true,
		"cp.async.ca.shared.global [s], [d1], 4;":                                                  true,
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [d1], 16, [s+32];": true,
	} {
		c := checkerOf(t, "", product+body)
		require.Equal(t, want, c.src.afterMatrices(c.src.ops[1]), body)
	}
	c := checkerOf(t, ".func f(.reg .u64 d1) { .reg .b32 r<9>; mov.u32 r1, 1; st.global.u32 [d1], r1; ret; }\n", product+"call f, (d1);")
	for _, op := range c.src.ops {
		if op.Effect.Kind == ptx.Store {
			require.False(t, c.src.afterMatrices(op), "of another function")
		}
	}
}

func TestFollowing(t *testing.T) {
	for _, x := range []struct {
		s    step
		want []int32
	}{
		{step{next: []int32{1}, guard: -1, cond: -1}, []int32{1}}, {step{next: []int32{2}, guard: -1, cond: -1}, []int32{2}},
		{step{next: []int32{2}, guard: 0, cond: -1}, []int32{2, 1}},
		{step{next: []int32{2}, guard: -1, cond: 0}, []int32{2, 1}}, {step{next: []int32{end}, guard: -1, cond: -1}, nil},
		{step{next: []int32{3}, guard: -1, cond: -1}, nil},
		{step{next: []int32{0}, guard: -1, cond: -1}, []int32{0}}, {step{next: []int32{2, 1, 2}, guard: -1, cond: -1}, []int32{2, 1}},
		{step{guard: -1, cond: -1}, nil}, {step{guard: 0, cond: -1}, []int32{1}},
	} {
		require.Equal(t, x.want, following([]step{x.s, {}, {}}, 0), "%+v", x.s)
	}
}

func TestLacks(t *testing.T) {
	for _, x := range []struct {
		body string
		root string
		have bool
		want bool
	}{
		{"ld.global.u32 r1, [d1];\nst.shared.u32 [s], r1;", "[k.p+0]", false, true},
		{"ld.global.u32 r1, [d1];\nst.shared.u32 [s], r1;", "[k.p+0]", true, false},
		{"ld.global.u32 r1, [d1];\nst.shared.u32 [s], r1;", "[k.q+0]", false, false},
		{"mbarrier.arrive.shared.b64 d3, [s];\nst.global.u64 [d1], d3;", "s", false, false},
		{"ld.global.u32 r1, [d1];", "[k.p+0]", false, false}, {"mbarrier.init.shared.b64 [s], 1;", "s", false, false},
	} {
		c := checkerOf(t, "", x.body)
		if !x.have {
			c.img[0].main = nil
		}
		require.Equal(t, x.want, c.lacks(x.root), x.body)
	}
}
