package realcode

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/ptx"
	"optcheck/toolchain"
)

// TestCommutes: what commutes has the same value with its first two sources exchanged.
func TestCommutes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 1))
	some := 0
	for op := range isa.MicroOp(100) {
		if !commutes(op) {
			continue
		}
		some++
		for range 100 {
			a, b, c := uint64(rnd.Uint32()), uint64(rnd.Uint32()), uint64(rnd.Uint32())
			mi := isa.Micro{Op: op}
			x, okX := mi.Eval([]uint64{a, b, c})
			y, okY := mi.Eval([]uint64{b, a, c})
			require.Equal(t, []any{x, okX}, []any{y, okY}, op)
		}
	}
	require.Equal(t, 3, some)
}

// TestCallsInLoops: a function that a loop calls is in the graph once, whether the loop turns once or for ever.
func TestCallsInLoops(t *testing.T) {
	const f = ".func f(.param .u64 a) { .reg .b64 d; ld.param.u64 d, [a]; st.relaxed.gpu.global.u32 [d], 1; ret; }\n"
	once := checkerOf(t, f, "call f, (d1);\n")
	loop := checkerOf(t, f, "L:\ncall f, (d1);\n@c bra L;\n")
	require.Len(t, loop.inPTX[0], len(once.inPTX[0]))
	twice := checkerOf(t, f, "call f, (d1);\ncall f, (d1);\n")
	require.Len(t, twice.inPTX[0], 2*len(once.inPTX[0]))
}

// TestFencesBetweenProxies: which operations a fence between proxies orders.
func TestFencesBetweenProxies(t *testing.T) {
	for _, x := range []struct {
		fence string
		e     ptx.Effect
		want  bool
	}{
		{"fence.proxy.async", ptx.Effect{Kind: ptx.Store, Space: "global"}, true}, {"fence.proxy.async", ptx.Effect{Kind: ptx.Load, Space: "shared"}, true},
		{"fence.proxy.async.global", ptx.Effect{Kind: ptx.Store, Space: "global"}, true}, {"fence.proxy.async.global", ptx.Effect{Kind: ptx.Store, Space: "shared"}, false},
		{"fence.proxy.async.shared::cta", ptx.Effect{Kind: ptx.Load, Space: "shared"}, true}, {"fence.proxy.async.shared::cta", ptx.Effect{Kind: ptx.Load, Space: "global"}, false},
		{"fence.proxy.async.shared::cta", ptx.Effect{Kind: ptx.Load, Space: "generic"}, true}, {"fence.proxy.async.global", ptx.Effect{Kind: ptx.Load, Space: "generic"}, true},
		{"fence.proxy.alias", ptx.Effect{Kind: ptx.Load, Space: "global"}, true}, {"fence.proxy.tensormap::generic.release.gpu", ptx.Effect{Kind: ptx.Load, Space: "global"}, false},
		{"fence.proxy.async", ptx.Effect{Kind: ptx.Fence}, false}, {"fence.proxy.tensormap::generic.release.gpu", ptx.Effect{Kind: ptx.Bulk}, true},
		{"fence.proxy.async", ptx.Effect{Kind: ptx.Barrier}, true}, {"fence.proxy.async", ptx.Effect{Kind: ptx.Arrive}, true}, {"fence.proxy.async", ptx.Effect{Kind: ptx.MbarArrive}, true},
	} {
		words := strings.Split(x.fence, ".")
		fence := &Op{Inst: &ptx.Inst{Op: x.fence, Name: words[0], Mods: words[1:]}}
		require.Equal(t, x.want, between(fence, &Op{Inst: &ptx.Inst{}, Effect: x.e}), "%s %+v", x.fence, x.e)
	}
}

// TestConfig: what an audit is of counts kernels and cells, and names targets in their order and each toolchain.
func TestConfig(t *testing.T) {
	const head = ".version 7.0\n.target sm_70\n.address_size 64\n"
	program := func(kernels ...string) *Program {
		text := head
		for _, k := range kernels {
			text += ".visible .entry " + k + "(.param .u64 p) {\n.reg .b64 d;\nld.param.u64 d, [p];\nst.global.u32 [d], 1;\nret;\n}\n"
		}
		m, err := ptx.Parse("k.ptx", []byte(text))
		require.NoError(t, err)
		return NewProgram(m, Origin{})
	}
	targets := []string{"sm_70", "sm_80", "sm_90", "sm_100"}
	o := &Options{Targets: targets, Levels: []string{"O3", "O0"}, Execute: 2, Toolchains: []*toolchain.Toolchain{
		{ID: "ptxas 1", Version: "12.8", Build: "one", MaxPTX: "8.7", Ptxas: "x", Targets: targets}, {ID: "ptxas 2", Version: "12.9", Build: "two", MaxPTX: "8.8", Ptxas: "x", Targets: targets}}}
	c := Config(o, []*Program{program("a"), program("b", "c")})
	require.Equal(t, []any{3, 3 * 4 * 2 * 2, 2}, []any{c.Tests, c.Cells, int(c.Execute)})
	require.Equal(t, targets, c.Targets)
	require.Equal(t, []string{"O0", "O3"}, c.Levels)
	require.Equal(t, []event.Toolchain{{ID: "ptxas 1", Build: "one", MaxPTX: "8.7"}, {ID: "ptxas 2", Build: "two", MaxPTX: "8.8"}}, c.Toolchains)
}

// TestOpenOfOthers: what runs have to decide of one kernel leaves what they have to decide of others.
func TestOpenOfOthers(t *testing.T) {
	of := func(kernel string, computed bool) Finding {
		return Finding{Rule: Weakened, Kernel: kernel, computed: computed}
	}
	k := &Kernel{Name: "a"}
	k.Findings = []Finding{of("a", false), of("a", true)}
	r := &Result{Findings: []Finding{of("a", false), of("a", true), of("b", true), of("b", false)}}
	require.NotNil(t, k.open(r))
	require.Equal(t, []Finding{of("a", false), of("b", true), of("b", false)}, r.Findings)
	require.Equal(t, []Finding{of("a", false)}, k.Findings)
}

// TestExecutedOf: each kernel has what its own runs showed.
func TestExecutedOf(t *testing.T) {
	c := &Cell{Result: &Result{Executed: []Executed{{Kernel: "a", Why: "first"}, {Kernel: "b", Why: "second"}}}}
	require.Contains(t, c.executed("a").Why, "first")
	require.Contains(t, c.executed("b").Why, "second")
	require.Nil(t, c.executed("c"))
}

// TestCountedShow: a write that is performed twice, or not at all, is counted by another thread; what stores the same again is not.
func TestCountedShow(t *testing.T) {
	for _, x := range []struct {
		body string
		n    int
		want string
	}{
		{"red.relaxed.gpu.global.add.u32 [d1], 1;", 2, "counting: miscompiled"}, {"red.relaxed.gpu.global.add.u32 [d1], 1;", 0, "counting: miscompiled"},
		{"atom.relaxed.gpu.global.exch.b32 r1, [d1], 1;", 2, ""}, {"atom.relaxed.gpu.global.cas.b32 r1, [d1], 0, 1;", 2, ""}, {"st.relaxed.gpu.global.u32 [d1], 1;", 2, ""},
		{"st.relaxed.gpu.global.u32 [d1], 1;", 0, "counting: miscompiled"}, {"fence.sc.gpu;", 0, ""},
	} {
		c := checkerOf(t, "", x.body+"\n")
		require.Equal(t, x.want, shows(t, c.counted(c.src.ops[0], x.n)), "%s %d", x.body, x.n)
	}
}

// TestFencesOfReleases: between a release and what precedes stands a fence of its scope or a wider one, and between an acquire and what
// follows an invalidation, where the scope is more than the CTA.
func TestFencesOfReleases(t *testing.T) {
	membar := func(scope isa.Scope) isa.Inst {
		return isa.Inst{Op: "MEMBAR", Role: isa.RoleFence, Mem: isa.Mem{Strength: isa.FenceAll, Scope: scope}}
	}
	cctl := isa.Inst{Op: "CCTL", Role: isa.RoleCache, Mem: isa.Mem{Invalidate: true}}
	for _, x := range []struct {
		name, body string
		first      isa.Role
		between    isa.Inst
		want       int
	}{
		{"a fence of its scope", "st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;", isa.RoleStore, membar(isa.ScopeGPU), 0},
		{"a wider one", "st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;", isa.RoleStore, membar(isa.ScopeSys), 0},
		{"a narrower one", "st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;", isa.RoleStore, membar(isa.ScopeCTA), 1},
		{"of the CTA", "st.global.u32 [d2], 1;\nst.release.cta.global.u32 [d1], 1;", isa.RoleStore, membar(isa.ScopeCTA), 0},
		{"another instruction", "st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;", isa.RoleStore, cctl, 1},
		{"an invalidation", "ld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2];", isa.RoleLoad, cctl, 0},
		{"no invalidation", "ld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2];", isa.RoleLoad, isa.Inst{}, 1},
		{"a fence in its place", "ld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2];", isa.RoleLoad, membar(isa.ScopeSys), 1},
		{"an acquire of the CTA", "ld.acquire.cta.global.u32 r1, [d1];\nld.global.u32 r2, [d2];", isa.RoleLoad, isa.Inst{}, 0},
	} {
		c := checkerOf(t, "", x.body)
		in := isa.Inst{Role: x.first, Mem: isa.Mem{Strength: isa.Strong, Scope: isa.ScopeGPU}}
		line := lineOf(in, x.between, in)
		c.mach, c.owner = line.mach, []int32{0, -1, 1}
		c.img[1].main = []int32{2}
		for k, op := range c.src.ops {
			if op.strong() {
				c.companions(k, op, &c.img[k])
			}
		}
		require.Len(t, c.res.Findings, x.want, x.name)
	}
}

// TestElectedFor: an election in front of an instruction counts, past no jump, and for conditions that are copies of its own.
func TestElectedFor(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(m *machine)
		want   bool
	}{
		{"as it is", func(*machine) {}, false},
		{"it is the condition", func(m *machine) { m.insts[0].Args = []isa.Operand{pOpd(2)} }, true},
		{"a copy", func(m *machine) { m.steps[1].sets = []assign{{dst: 1, src: 0}} }, true},
		{"the contrary", func(m *machine) { m.steps[1].sets = []assign{{dst: 1, src: 0, neg: true}} }, false},
		{"one of two", func(m *machine) { m.steps[1].sets = []assign{{dst: 1, src: 0, with: "OR"}} }, false},
		{"known", func(m *machine) { m.steps[1].sets = []assign{{dst: 1, src: -1}} }, false},
		{"sometimes a copy", func(m *machine) { m.steps[1].sets, m.steps[1].guard = []assign{{dst: 1, src: 0}}, 3 }, false},
		{"a copy behind a jump", func(m *machine) {
			m.steps[1].sets, m.insts[1].Flow = []assign{{dst: 1, src: 0}}, isa.FlowJump
		}, false},
		{"set by another", func(m *machine) {
			m.insts[0].Args, m.steps[1].defs = []isa.Operand{pOpd(2)}, []int32{1}
		}, false},
		{"another is set", func(m *machine) {
			m.insts[0].Args, m.steps[1].defs = []isa.Operand{pOpd(2)}, []int32{5}
		}, true},
	} {
		c := &checker{matcher: lineOf(isa.Inst{Op: "ELECT", Args: []isa.Operand{pOpd(1)}}, isa.Inst{}, isa.Inst{})}
		require.Equal(t, []int32{0, 1}, []int32{c.mach.condOf(predOf(1)), c.mach.condOf(predOf(2))})
		x.change(c.mach)
		require.Equal(t, x.want, c.electedFor(2, 1), x.name)
	}
}
