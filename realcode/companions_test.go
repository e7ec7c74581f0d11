package realcode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// lineOf is a matcher of instructions that stand one after the other, and of which none is an image.
func lineOf(insts ...isa.Inst) *matcher {
	m := &matcher{src: &source{}, mach: &machine{sm: 90, conds: conds{}}}
	for i := range insts {
		m.mach.insts, m.owner = append(m.mach.insts, &insts[i]), append(m.owner, -1)
		m.mach.steps = append(m.mach.steps, step{next: []int32{int32(i) + 1}, guard: -1, cond: -1, letter: -1})
		m.mach.addrs, m.mach.behind = append(m.mach.addrs, address{}), append(m.mach.behind, address{})
		m.mach.reach, m.mach.lane, m.mach.funcOf = append(m.mach.reach, true), append(m.mach.lane, false), append(m.mach.funcOf, 0)
	}
	if n := len(insts); n > 0 {
		m.mach.steps[n-1].next = []int32{end}
	}
	return m
}

// TestStraight: control goes from one instruction to a later one past no jump, and past nothing that sets the condition.
func TestStraight(t *testing.T) {
	for name, x := range map[string]struct {
		from, to int32
		change   func(*machine)
		want     bool
	}{
		"as it is":                    {1, 3, func(*machine) {}, true},
		"the same one":                {1, 1, func(*machine) {}, false},
		"backwards":                   {3, 1, func(*machine) {}, false},
		"a jump between":              {1, 3, func(m *machine) { m.insts[2].Flow = isa.FlowJump }, false},
		"a jump at the beginning":     {1, 3, func(m *machine) { m.insts[1].Flow = isa.FlowJump }, false},
		"a jump behind":               {1, 3, func(m *machine) { m.insts[3].Flow = isa.FlowJump }, true},
		"the condition is set":        {1, 3, func(m *machine) { m.steps[2].defs = []int32{7} }, false},
		"the condition is known":      {1, 3, func(m *machine) { m.steps[2].sets = []assign{{dst: 7}} }, false},
		"another condition is set":    {1, 3, func(m *machine) { m.steps[2].defs = []int32{6} }, true},
		"another condition is known":  {1, 3, func(m *machine) { m.steps[2].sets = []assign{{dst: 6, src: 7}} }, true},
		"the condition is set before": {1, 3, func(m *machine) { m.steps[0].defs = []int32{7} }, true},
	} {
		c := &checker{matcher: lineOf(make([]isa.Inst, 5)...)}
		x.change(c.mach)
		require.Equal(t, x.want, c.straight(x.from, x.to, 7), name)
	}
}

// TestAnswered: the invalidation of a wait stands without its condition, if that is the answer, and the PTX makes nothing depend on it.
func TestAnswered(t *testing.T) {
	const answer = 7
	wait := func(body string) *checker {
		c := checkerOf(t, "", "mbarrier.test_wait.shared.b64 c, [s], d1;\n"+body)
		line := lineOf(make([]isa.Inst, 4)...)
		c.mach, c.owner = line.mach, line.owner
		c.mach.steps[0].defs, c.mach.steps[2].guard = []int32{answer}, answer
		return c
	}
	for name, x := range map[string]struct {
		body   string
		f      int32
		change func(*checker)
		want   bool
	}{
		"as it is":                             {"", 2, func(*checker) {}, true},
		"next to it":                           {"", 1, func(c *checker) { c.mach.steps[1].guard = answer }, true},
		"where the answer is no":               {"", 2, func(c *checker) { c.mach.steps[2].guardNeg = true }, false},
		"under another condition":              {"", 2, func(c *checker) { c.mach.steps[2].guard = 5 }, false},
		"the PTX depends on the answer":        {"@c exit;", 2, func(*checker) {}, false},
		"a jump between":                       {"", 2, func(c *checker) { c.mach.insts[1].Flow = isa.FlowJump }, false},
		"the condition is set again":           {"", 2, func(c *checker) { c.mach.steps[1].defs = []int32{answer} }, false},
		"it is another operation's":            {"", 2, func(c *checker) { c.owner[2] = 1 }, false},
		"the operation is no wait":             {"", 2, func(c *checker) { c.src.ops[0].Effect.Kind = ptx.MbarArrive }, false},
		"the condition is not what it answers": {"", 2, func(c *checker) { c.mach.steps[0].defs = []int32{5} }, false},
	} {
		c := wait(x.body)
		x.change(c)
		was := c.mach.steps[x.f].guard
		c.answered(0, x.f, 0)
		require.Equal(t, map[bool]int32{true: -1, false: was}[x.want], c.mach.steps[x.f].guard, name)
	}
	c := wait("")
	c.mach.steps[2].guard = -1
	c.mach.steps[0].defs = []int32{-1}
	c.answered(0, 2, 0)
	require.Equal(t, int32(-1), c.mach.steps[2].guard)
}

// TestBound: the fence of a release stands under the condition of the store behind it, and an invalidation under that of the load before it.
func TestBound(t *testing.T) {
	const cond = 7
	for name, x := range map[string]struct {
		acquires bool
		change   func(*checker)
		want     int32
	}{
		"a fence":                      {false, func(*checker) {}, cond},
		"an invalidation":              {true, func(*checker) {}, cond},
		"a fence with a condition":     {false, func(c *checker) { c.mach.steps[1].guard = 3 }, 3},
		"a fence that is another's":    {false, func(c *checker) { c.owner[1] = 1 }, -1},
		"a jump between":               {false, func(c *checker) { c.mach.insts[2].Flow = isa.FlowJump }, -1},
		"a jump between, behind":       {true, func(c *checker) { c.mach.insts[2].Flow = isa.FlowJump }, -1},
		"the condition is set between": {true, func(c *checker) { c.mach.steps[2].defs = []int32{cond} }, -1},
		"no condition":                 {false, func(c *checker) { c.mach.steps[3].guard, c.mach.steps[3].guardNeg = -1, false }, -1},
	} {
		c := checkerOf(t, "", "st.release.gpu.global.u32 [d1], 1;")
		line := lineOf(make([]isa.Inst, 5)...)
		c.mach, c.owner = line.mach, line.owner
		at, f := int32(3), int32(1)
		g := &images{main: []int32{3}, flush: []int32{1}}
		if x.acquires {
			at, f = 1, 3
			g = &images{main: []int32{1}, inval: []int32{3}}
		}
		c.img = []images{*g}
		c.mach.steps[at].guard, c.mach.steps[at].guardNeg, c.owner[at] = cond, true, 0
		x.change(c)
		c.bind()
		require.Equal(t, x.want, c.mach.steps[f].guard, name)
		require.Equal(t, x.want == cond, c.mach.steps[f].guardNeg, name)
	}
}

// TestAwaits: an instruction waits for another one's result by its scoreboard; without control codes each does.
func TestAwaits(t *testing.T) {
	control := func(write, wait uint8) isa.Control {
		return isa.Control{Kind: isa.ControlFields, Write: write, Wait: wait}
	}
	for _, x := range []struct {
		of, in isa.Inst
		want   bool
	}{
		{isa.Inst{}, isa.Inst{}, true}, {isa.Inst{Control: control(2, 0)}, isa.Inst{Control: control(0, 4)}, true},
		{isa.Inst{Control: control(2, 0)}, isa.Inst{Control: control(0, 3)}, false},
		{isa.Inst{Control: control(0, 0)}, isa.Inst{Control: control(0, 1)}, true},
		{isa.Inst{Control: control(isa.NoBarrier, 0)}, isa.Inst{Control: control(0, 255)}, false},
		{isa.Inst{Control: control(2, 0)}, isa.Inst{Op: "DEPBAR", Control: control(0, 0)}, true},
	} {
		require.Equal(t, x.want, awaits(&x.of)(&x.in), "%+v", x)
	}
}

// TestOldLines: which instructions may read an old line, which a release waits for, and which go elsewhere.
func TestOldLines(t *testing.T) {
	c := checkerOf(t, "", "ld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2];\natom.global.add.u32 r3, [d2], 1;\nst.global.u32 [d2], 1;\nst.relaxed.gpu.global.u32 [d1+4], 1;\n"+
		"st.relaxed.gpu.global.u32 [d1], 1;\nbar.sync 0;\nst.relaxed.gpu.global.u32 [r1*2], 1;\n")
	const nobody = -1
	weak, shared := isa.Mem{Strength: isa.Weak, Space: isa.SpaceGlobal}, isa.Mem{Strength: isa.Weak, Space: isa.SpaceShared}
	for _, x := range []struct {
		in                        isa.Inst
		owner                     int32
		stale, written, elsewhere bool
	}{
		{isa.Inst{Role: isa.RoleBarrier}, 6, true, true, false}, {isa.Inst{Role: isa.RoleBarrier}, nobody, true, true, false},
		{isa.Inst{Role: isa.RoleLoad, Mem: weak}, 1, true, false, true}, {isa.Inst{Role: isa.RoleLoad, Mem: weak}, nobody, false, false, false},
		{isa.Inst{Role: isa.RoleLoad, Mem: shared}, 1, false, false, true},
		{isa.Inst{Role: isa.RoleLoad, Mem: isa.Mem{Strength: isa.Strong}}, 1, false, false, true},
		{isa.Inst{Role: isa.RoleLoad, Mem: weak}, 2, false, false, true}, {isa.Inst{Role: isa.RoleAtomic, Mem: weak}, 2, false, true, true},
		{isa.Inst{Role: isa.RoleReduction, Mem: weak}, 2, false, true, true}, {isa.Inst{Role: isa.RoleStore, Mem: weak}, 3, false, true, true},
		{isa.Inst{Role: isa.RoleStore, Mem: shared}, 3, false, false, true}, {isa.Inst{Role: isa.RoleStore, Mem: weak}, 4, false, true, true},
		{isa.Inst{Role: isa.RoleStore, Mem: weak}, 5, false, true, false}, {isa.Inst{Role: isa.RoleStore, Mem: weak}, 7, false, true, true},
	} {
		line := lineOf(x.in)
		c.mach, c.owner = line.mach, []int32{x.owner}
		require.Equal(t, []bool{x.stale, x.written, x.elsewhere}, []bool{c.stale(0), c.written(0), c.elsewhere(0, 0)}, "%+v", x)
	}
	line := lineOf(isa.Inst{})
	c.mach, c.owner = line.mach, []int32{5}
	require.True(t, c.elsewhere(7, 0), "nobody knows where it goes")
}

// TestObjectsAnswered: behind a fence of objects in shared memory nothing of it is performed before what was read in front is there.
func TestObjectsAnswered(t *testing.T) {
	load := func(op string, space isa.Space, write, wait uint8) isa.Inst {
		return isa.Inst{Op: op, Role: isa.RoleLoad, Mem: isa.Mem{Space: space},
			Control: isa.Control{Kind: isa.ControlFields, Write: write, Wait: wait}}
	}
	const fence = "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
	const own = "ld.relaxed.cta.shared.u32 r1, [s];\n"
	shared, global := isa.SpaceShared, isa.SpaceGlobal
	for _, x := range []struct {
		name, body string
		code       []isa.Inst // of the operations but the fence
		what       string     // finding, unknown; "" is a note
	}{
		{"what was read is waited for", own + fence + "ld.global.u32 r2, [d1];\nst.shared.u32 [s+8], r2;\n",
			[]isa.Inst{load("LDS", global, 2, 0), load("LDG", global, 3, 4), load("STS", shared, 0, 0)}, ""},
		{"it is not", own + fence + "st.shared.u32 [s+8], 1;\n", []isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("STS", shared, 0, 0)},
			"finding"},
		{"both in the CTA's own memory", own + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("LDS", shared, 2, 0), load("STS", shared, 0, 0)}, ""},
		{"what follows is in global memory", own + fence + "st.global.u32 [d1], 1;\n",
			[]isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("STG", global, 0, 0)}, ""},
		{"what follows is at a generic address", own + fence + "st.u32 [d1], 1;\n",
			[]isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("ST", isa.SpaceGeneric, 0, 0)}, "finding"},
		{"what was read is weak", "ld.shared.u32 r1, [s];\n" + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("STS", shared, 0, 0)}, ""},
		{"what was read is in global memory", "ld.relaxed.gpu.global.u32 r1, [d1];\n" + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("LDG", global, 2, 0), load("STS", shared, 0, 0)}, ""},
		{"an atomic", "atom.relaxed.cta.shared.add.u32 r1, [s], 1;\n" + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("ATOMS", global, 2, 0), load("STS", shared, 0, 0)}, "finding"},
		{"a store", "st.relaxed.cta.shared.u32 [s], 1;\n" + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("STS", global, 2, 0), load("STS", shared, 0, 0)}, ""},
		{"a wait", "mbarrier.test_wait.shared.b64 c, [s], d1;\n" + fence + "st.shared.u32 [s+8], 1;\n",
			[]isa.Inst{load("SYNCS", shared, 2, 0), load("STS", shared, 0, 0)}, "finding"},
		{"a wait behind", own + fence + "mbarrier.test_wait.shared.b64 c, [s], d1;\n",
			[]isa.Inst{load("LDS", shared, 2, 0), load("SYNCS", shared, 0, 0)}, "finding"},
		{"what stands before it", own + "st.shared.u32 [s+8], 1;\n" + fence,
			[]isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("STS", shared, 0, 0)}, ""},
		{"a loop", "L:\n" + own + fence + "st.shared.u32 [s+8], 1;\n@c bra L;\n",
			[]isa.Inst{load("LD", isa.SpaceGeneric, 2, 0), load("STS", shared, 0, 0)}, "unknown"},
	} {
		c := checkerOf(t, "", x.body)
		line := lineOf(x.code...)
		c.mach, c.owner = line.mach, line.owner
		k, n := -1, int32(0)
		for j, op := range c.src.ops {
			c.img[j].main = nil
			if op.Effect.Kind == ptx.Fence {
				k = j
				continue
			}
			c.img[j].main, c.owner[n] = []int32{n}, int32(j)
			n++
		}
		c.acquiresObjects(k)
		require.Equal(t, []bool{x.what == "finding", x.what == "unknown", x.what == ""},
			[]bool{len(c.res.Findings) == 1, len(c.res.Unknown) == 1, len(c.res.Notes) == 1}, "%s: %+v", x.name, c.res)
		require.True(t, c.failed[k])
		if x.what == "finding" {
			require.NotNil(t, c.last().Fence)
		}
	}
}

// TestPieces: several instructions that make one strong vector access: what stands for all, and which may be among them.
func TestPieces(t *testing.T) {
	type at = address
	make := func(body string, addrs ...at) *checker {
		c := checkerOf(t, "", body)
		line := lineOf(slices.Repeat([]isa.Inst{{Role: isa.RoleLoad}}, len(addrs))...)
		c.mach, c.owner = line.mach, line.owner
		c.img[0].main = nil
		for i, a := range addrs {
			c.mach.insts[i].Mem, c.mach.addrs[i] = isa.Mem{Space: isa.SpaceGlobal, Strength: isa.Strong, Scope: isa.ScopeGPU, Width: a.width},
				a
			c.mach.insts[i].Role = map[ptx.Kind]isa.Role{ptx.Load: isa.RoleLoad, ptx.Store: isa.RoleStore}[c.src.ops[0].Effect.Kind]
		}
		return c
	}
	const load, store = "ld.relaxed.gpu.global.v2.u32 {r1, r2}, [d1];\nst.global.u32 [d2], r1;\nst.global.u32 [d2+4], r2;\n",
		"st.release.gpu.global.v2.u32 [d1], {r1, r2};\n"
	two := []at{{"p", 0, 4}, {"p", 4, 4}}
	for _, x := range []struct {
		name   string
		body   string
		addrs  []at
		own    []int32 // images by their line
		change func(*checker)
		main   []int32
		pieces [][]int32
		said   string // of what is needed and not there
	}{
		{"one access", load, []at{{"p", 0, 8}}, []int32{0}, nil, []int32{0}, [][]int32{{0}}, ""},
		{"half of it", load, two[:1], []int32{0}, nil, []int32{0}, [][]int32{{0}},
			"2 of its elements of 4 bytes are needed, the machine instructions have 4 bytes"},
		{"two halves", load, two, []int32{0, 1}, nil, []int32{1}, [][]int32{{0, 1}}, ""},
		{"two halves of a release", store, two, []int32{0, 1}, nil, []int32{0}, [][]int32{{0, 1}}, ""},
		{"the same half twice", load, []at{{"p", 0, 4}, {"p", 0, 4}}, []int32{0, 1}, nil, []int32{0, 1}, [][]int32{{0}, {1}}, "2 of its"},
		{"of two bases", load, []at{{"p", 0, 4}, {"q", 4, 4}}, []int32{0, 1}, nil, []int32{0, 1}, [][]int32{{0}, {1}}, "2 of its"},
		{"of no known base", load, []at{{"", 0, 4}, {"", 4, 4}}, []int32{0, 1}, nil, []int32{0, 1}, [][]int32{{0}, {1}}, "2 of its"},
		{"one under a condition", load, two, []int32{0, 1}, func(c *checker) { c.mach.insts[1].Guard.Reg = predOf(1) }, []int32{0, 1},
			[][]int32{{0}, {1}}, "2 of its"},
		{"a jump between", load, two, []int32{0, 1}, func(c *checker) { c.mach.steps[0].next = []int32{0, 1} }, []int32{0, 1},
			[][]int32{{0}, {1}}, "2 of its"},
		{"the second has another line", load, two, []int32{0}, nil, []int32{1}, [][]int32{{0, 1}}, ""},
		{"the third has another line", load, []at{two[0], two[0], two[1]}, []int32{0}, nil, []int32{2}, [][]int32{{0, 2}}, ""},
		{"the second is another's", load, two, []int32{0}, func(c *checker) { c.owner[1] = 1 }, []int32{0}, [][]int32{{0}}, "2 of its"},
		{"the second is weaker", load, two, []int32{0}, func(c *checker) { c.mach.insts[1].Mem.Strength = isa.Weak }, []int32{0}, [][]int32{{0}},
			"2 of its"},
		{"the second is a store", load, two, []int32{0}, func(c *checker) { c.mach.insts[1].Role = isa.RoleStore }, []int32{0}, [][]int32{{0}},
			"2 of its"},
		{"the second stands behind a jump", load, two, []int32{0}, func(c *checker) { c.mach.steps[0].next = []int32{0, 1} }, []int32{0},
			[][]int32{{0}}, "2 of its"},
		{"nothing more is needed", "ld.relaxed.gpu.global.v2.u32 {r1, r2}, [d1];\nst.global.u32 [d2], r1;\n", two, []int32{0}, nil, []int32{0},
			[][]int32{{0}}, ""},
		{"an invalidation is left", load, two[:1], []int32{0}, func(c *checker) { c.mach.insts[0].Role = isa.RoleCache }, []int32{0},
			[][]int32{{0}}, ""},
		{"it is whole", "ld.volatile.global.v2.u32 {r1, r2}, [d1];\nst.global.u32 [d2], r1;\n", two, []int32{0, 1}, nil, []int32{0, 1}, nil, ""},
		{"it is weak", "ld.global.v2.u32 {r1, r2}, [d1];\nst.global.u32 [d2], r1;\n", two, []int32{0, 1}, nil, []int32{0, 1}, nil, ""},
		{"it is no vector", "ld.relaxed.gpu.global.u64 d3, [d1];\nst.global.u64 [d2], d3;\n", two, []int32{0, 1}, nil, []int32{0, 1}, nil, ""},
	} {
		c := make(x.body, x.addrs...)
		c.img[0].main = slices.Clone(x.own)
		for _, i := range x.own {
			c.owner[i] = 0
		}
		if x.change != nil {
			x.change(c)
		}
		c.vectors()
		require.Equal(t, x.main, c.img[0].main, x.name)
		require.Equal(t, x.pieces, c.img[0].pieces, x.name)
		for _, p := range x.pieces {
			for _, i := range p {
				require.Equal(t, int32(0), c.owner[i], x.name)
			}
		}
		if said := c.uncovered(0); x.said == "" {
			require.Empty(t, said, x.name)
		} else {
			require.Contains(t, said, x.said, x.name)
		}
	}
}
