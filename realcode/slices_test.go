package realcode

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestSliceTexts: the words of an operation in a test: its location, type and values.
func TestSliceTexts(t *testing.T) {
	op := func(kind ptx.Kind, atom string) *Op {
		return &Op{Inst: &ptx.Inst{Op: "fence.sc.gpu"}, Effect: ptx.Effect{Kind: kind, Atom: atom, Sem: "relaxed", Scope: "gpu"}}
	}
	locs := [2]location{{writes: true}, {width: 8}}
	locked := [2]location{{writes: true, lock: true}, {lock: true}}
	sized := op(ptx.Load, "")
	sized.sized = 8
	for _, x := range []struct {
		m    member
		locs [2]location
		want string
	}{
		{member{op: op(ptx.Load, "")}, locs, "ld.relaxed.gpu.s32 r0,[rd0]"},
		{member{op: op(ptx.Load, ""), at: 1}, locs, "ld.relaxed.gpu.s64 r0,[rd1]"}, {member{op: sized}, locs, "ld.relaxed.gpu.s64 r0,[rd0]"},
		{member{op: op(ptx.Store, "")}, locs, "st.relaxed.gpu.s32 [rd0],1"},
		{member{op: op(ptx.Store, ""), value: 5}, locs, "st.relaxed.gpu.s32 [rd0],5"},
		{member{op: op(ptx.Atomic, "exch")}, locs, "atom.relaxed.gpu.exch.b32 r0,[rd0],1"},
		{member{op: op(ptx.Atomic, "add")}, locs, "atom.relaxed.gpu.add.u32 r0,[rd0],1"},
		{member{op: op(ptx.Atomic, "add"), at: 1}, locs, "atom.relaxed.gpu.add.u64 r0,[rd1],1"},
		{member{op: op(ptx.Reduction, "or")}, locs, "atom.relaxed.gpu.add.u32 r0,[rd0],1"},
		{member{op: op(ptx.Atomic, "or")}, locked, "atom.relaxed.gpu.exch.b32 r0,[rd0],0"},
		{member{op: op(ptx.Atomic, "exch"), at: 1}, locs, "atom.relaxed.gpu.exch.b64 r0,[rd1],2"},
		{member{op: op(ptx.Fence, "")}, locs, "fence.sc.gpu"}, {member{op: op(ptx.Barrier, "")}, locs, "bar.sync 0"},
		{member{op: op(ptx.Arrive, "")}, locs, "bar.arrive 0,64"},
	} {
		got, err := (&slicer{locs: x.locs}).text(x.m, "r0")
		require.NoError(t, err)
		require.Equal(t, x.want, got)
	}
	_, err := (&slicer{}).text(member{op: op(ptx.Bulk, "")}, "r0")
	require.Error(t, err)
	for _, x := range []struct {
		widths [2]int
		want   string
	}{{[2]int{0, 0}, "s32"}, {[2]int{4, 4}, "s32"}, {[2]int{8, 4}, "s64"}, {[2]int{4, 8}, "s64"}} {
		require.Equal(t, x.want, (&slicer{locs: [2]location{{width: x.widths[0]}, {width: x.widths[1]}}}).register())
	}
}

// TestFollows: the access that a path of the machine code leads to, with nothing between that orders.
func TestFollows(t *testing.T) {
	const body = "ld.relaxed.gpu.global.u32 r1, [d1];\nst.global.u32 [d2], r1;\nst.release.gpu.global.u32 [d2+8], r1;\nst.global.u32 [d1], 2;\ncp.async.ca.shared.global [s], [d2], 4;\n"
	for name, x := range map[string]struct {
		mid   isa.Inst
		owner [3]int32
		want  int // an operation, -1 for none
	}{
		"the next one":              {isa.Inst{}, [3]int32{0, -1, 1}, 1},
		"one that releases":         {isa.Inst{}, [3]int32{0, -1, 2}, -1},
		"one of its location":       {isa.Inst{}, [3]int32{0, -1, 3}, -1},
		"nobody's":                  {isa.Inst{}, [3]int32{0, -1, -1}, -1},
		"a copy":                    {isa.Inst{}, [3]int32{0, -1, 4}, -1},
		"a barrier between":         {isa.Inst{Role: isa.RoleBarrier}, [3]int32{0, -1, 1}, -1},
		"a fence between":           {isa.Inst{Mem: isa.Mem{Strength: isa.FenceAll}}, [3]int32{0, -1, 1}, -1},
		"a weak access between":     {isa.Inst{Mem: isa.Mem{Strength: isa.Weak}}, [3]int32{0, -1, 1}, 1},
		"a constant access between": {isa.Inst{Mem: isa.Mem{Strength: isa.Constant}}, [3]int32{0, -1, 1}, 1},
		"it is gone":                {isa.Inst{}, [3]int32{-1, -1, 1}, -1},
	} {
		c := checkerOf(t, "", body)
		line := lineOf(isa.Inst{}, x.mid, isa.Inst{})
		c.mach, c.owner = line.mach, x.owner[:]
		c.img[0].main = nil
		if x.owner[0] == 0 {
			c.img[0].main = []int32{0}
		}
		got := c.follows(0)
		if x.want < 0 {
			require.Nil(t, got, name)
		} else {
			require.Same(t, c.src.ops[x.want], got, name)
		}
		other := *c.src.ops[0].Func
		c.src.ops[1].Func = &other
		require.Nil(t, c.follows(0), "%s, in another function", name)
	}
}

// TestBare: with which access the slice of an acquire without its invalidation, or of a release without its fence, is made.
func TestBare(t *testing.T) {
	const body = "st.global.u32 [d2], 1;\nfence.acq_rel.gpu;\nld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2+8];\nbar.sync 0;\nst.release.gpu.global.u32 [d1+8], r2;\nmbarrier.arrive.release.gpu.shared.b64 _, [s];\n"
	for _, x := range []struct {
		name     string
		k        int
		owner    int32
		acquires bool
		has      string // in the machine code's test
		refused  bool
	}{
		{"a load", 2, 3, true, "ld.relaxed.gpu.s32 r1,[rd0]", false}, {"a barrier", 2, -1, true, "ld.weak.s32 r2,[rd1]", false},
		{"a store", 5, 0, false, "st.relaxed.gpu.s32 [rd1],1", false},
		{"a barrier before a release", 5, 4, false, "", true}, {"of a fence", 1, 3, true, "", true}, {"of an arrival", 6, 0, false, "", true},
	} {
		c := checkerOf(t, "", body)
		line := lineOf(make([]isa.Inst, 8)...)
		c.mach, c.owner = line.mach, line.owner
		c.owner[7] = x.owner
		s := c.bare(x.k, 7, x.acquires)
		if s == nil || s.refused != "" {
			require.True(t, x.refused, "%s: %+v", x.name, s)
			continue
		}
		require.Contains(t, s.machine.String(), x.has, x.name)
		require.NotContains(t, s.source.String(), x.has+"x", x.name)
	}
}

// TestWithoutCode: a kernel without machine code is unknown, and a function that nobody calls says nothing; nor is one known of which a jump goes nobody knows where.
func TestWithoutCode(t *testing.T) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n"
	parse := func(text string) *ptx.Module {
		m, err := ptx.Parse("k.ptx", []byte(head+text))
		require.NoError(t, err)
		return m
	}
	r := Check(parse(".visible .entry k() { bar.sync 0; ret; }\n.func f() { bar.sync 0; ret; }\n"), &isa.Program{}, 90)
	require.Len(t, r.Unknown, 1)
	require.Equal(t, []any{Missing, "k", "there is no machine code of this kernel"},
		[]any{r.Unknown[0].Rule, r.Unknown[0].Kernel, r.Unknown[0].Detail})
	lost := isa.Inst{Op: "BRX", Role: isa.RoleBranch, Flow: isa.FlowIndirect, Target: -1, Text: "BRX R0"}
	p := program(map[string][]isa.Inst{"k": {lost}}, "k")
	r = Check(parse(".visible .entry k() { bar.sync 0; ret; }\n"), p, 90)
	require.Equal(t, "the targets of a branch are not known: BRX R0", r.Unknown[0].Detail)
	call := isa.Inst{Op: "CALL", Role: isa.RoleBranch, Flow: isa.FlowCall, Target: -1, Text: "CALL h",
		Args: []isa.Operand{{Kind: isa.OpdSym, Sym: "h"}}}
	p = program(map[string][]isa.Inst{"k": {call, {Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}}}, "k")
	r = Check(parse(".visible .entry k() { bar.sync 0; ret; }\n"), p, 90)
	require.Contains(t, r.Unknown[0].Detail, "it calls what the PTX does not, and nobody knows what that does: CALL h")
	for body, want := range map[string]string{"bra N;": `there is no label "N"`, ".reg .b32 r; brx.idx r, T;": `there is no table "T"`} {
		m, err := ptx.Parse("k.ptx", []byte(head+".visible .entry k() {\n"+body+"\nret;\n}\n"))
		if err == nil {
			_, err = readSource(m, m.Func("k"))
		}
		require.ErrorContains(t, err, want, body)
	}
	many := strings.Repeat("bar.sync 0;\n", 4500)
	require.Greater(t, 4500*4500, maxPairs)
	r = Check(parse(".visible .entry k() {\n"+many+"ret;\n}\n"), p, 90)
	require.Contains(t, r.Unknown[0].Detail, "4500 operations, of which 4500 synchronise, make 20250000 pairs")
}

// TestTooLarge: where the graphs of the machine code are too large to say how often something is performed, nothing is said but why.
func TestTooLarge(t *testing.T) {
	large := errors.New("too large")
	of := func(body string, insts ...isa.Inst) *checker {
		c := checkerOf(t, "", body)
		line := lineOf(insts...)
		c.mach, c.owner = line.mach, line.owner
		for i := range c.mach.steps {
			c.mach.steps[i].letter = int32(i)
		}
		var err error
		c.loose, err = unroll(c.mach.steps, 0, 0, nil, maxNodes())
		require.NoError(t, err)
		c.inLoose = nodesOf(c.loose, len(c.mach.steps), func(n int) int32 { return c.loose.letter[n] })
		c.marks = [4][]int32{make([]int32, len(c.pg.next)), make([]int32, len(c.loose.next))}
		return c
	}
	const drop = "mbarrier.arrive_drop.shared.b64 d3, [s];\n"
	for _, x := range []struct {
		name   string
		sm     int
		lessen []int32
		large  bool
		found  bool
	}{{"none", 80, nil, false, true}, {"one", 80, []int32{0}, false, false}, {"two", 80, []int32{0, 1}, false, true},
		{"none, and it is too large", 80, nil, true, false}, {"of its own", 90, nil, false, false}} {
		c := of(drop, make([]isa.Inst, 2)...)
		if c.sm = x.sm; x.large {
			c.exactErr, c.narrowed = large, maxNarrowAll
		}
		c.img[0] = images{main: []int32{0}, lessen: x.lessen}
		c.lessens(0, c.src.ops[0], &c.img[0])
		require.Equal(t, x.found, len(c.res.Findings) == 1, x.name)
		require.Equal(t, x.large, len(c.res.Unknown) == 1, x.name)
		c.res.Findings = nil
		c.lessens(0, &Op{Inst: &ptx.Inst{}}, &c.img[0])
		require.Empty(t, c.res.Findings, "it drops nothing")
	}
	for _, x := range []struct {
		body                 string
		main                 []int32
		large                bool
		found, unknown, note int
		rule                 Rule
	}{
		{"bar.sync 0;\n", []int32{0}, false, 0, 0, 0, ""}, {"bar.sync 0;\n", []int32{0, 1}, false, 1, 0, 0, Duplicated},
		{"bar.sync 0;\n", nil, false, 1, 0, 0, Missing}, {"bar.sync 0;\n", nil, true, 0, 1, 0, ""},
		{"ld.relaxed.gpu.global.u32 r1, [d1];\n", nil, false, 0, 0, 1, ""},
		{"ld.relaxed.gpu.global.u32 r1, [d1];\n", []int32{0, 1}, false, 1, 0, 0, Duplicated},
		{"ld.relaxed.gpu.global.u32 r1, [d1];\nst.global.u32 [d2], r1;\n", nil, false, 1, 0, 0, Missing},
		{"atom.global.add.u32 r1, [d1], 1;\n", nil, false, 1, 0, 0, Missing},
	} {
		c := of(x.body, make([]isa.Inst, 2)...)
		if x.large {
			c.exactErr, c.narrowed = large, maxNarrowAll
		}
		c.img[0].main = x.main
		c.alone(0, c.src.ops[0], &c.img[0])
		require.Equal(t, []int{x.found, x.unknown, x.note}, []int{len(c.res.Findings), len(c.res.Unknown), len(c.res.Notes)}, "%+v", x)
		if x.found > 0 {
			require.Equal(t, x.rule, c.last().Rule)
		}
	}
}

// TestAlikeUnderGuards: what stands under conditions is alike where these are known, and is asked anew for others.
func TestAlikeUnderGuards(t *testing.T) {
	// The PTX has the first or the second, as one condition has it, and the third as another one has it.
	c := checkerOf(t, "", ".reg .pred e;\n@c bra N;\nst.volatile.global.u32 [d1], 1;\nbra E;\nN:\nst.volatile.global.u32 [d1], 2;\nE:\n@e st.volatile.global.u32 [d1], 3;\n")
	line := lineOf(make([]isa.Inst, 3)...)
	c.mach, c.owner = line.mach, line.owner
	for i, guard := range []int32{0, 0, 1} {
		s := &c.mach.steps[i]
		s.letter, s.guard, s.guardNeg = int32(i), guard, i == 0
		s.uses = []int32{guard}
		c.img[i].main = []int32{int32(i)}
	}
	c.mach.conds.id("p")
	c.mach.conds.id("q")
	c.marks = [4][]int32{make([]int32, len(c.pg.next))}
	require.True(t, c.alikeUnder(0, 1, []int32{0}, []int32{1}, policy{}), "one of them")
	require.True(t, c.alikeUnder(0, 2, []int32{0}, []int32{2}, policy{}))
	require.True(t, c.alikeUnder(0, 1, []int32{0}, []int32{1}, policy{}), "asked again")
	c.mach.steps[1].guardNeg = true
	c.part = nil
	require.False(t, c.alikeUnder(0, 1, []int32{0}, []int32{1}, policy{}), "both of them")
	c.mach.steps[1].guardNeg, c.mach.steps[1].guard = false, 1
	c.part = nil
	require.False(t, c.alikeUnder(0, 1, []int32{0}, []int32{1}, policy{}), "as another condition has it")
	c.mach.steps[0].guard = -1
	c.part = nil
	require.False(t, c.alikeUnder(0, 1, []int32{0}, []int32{1}, policy{}), "under none")
}

// TestMisplaced: whether the mbarrier of an instruction is that of its operation.
// TestMatrixSteps: which instructions are operations on matrices, their fences and waits, and what must stay behind a wait.
// TestFollowing: which steps come behind one, whatever its conditions are.
// TestLacks: whether an access of a base has no image.

// TestRoots: what is looked at by itself: kernels, and functions that nothing calls.
func TestRoots(t *testing.T) {
	const head, rest = ".version 7.0\n.target sm_70\n.address_size 64\n",
		".func called() { ret; }\n.func alone() { ret; }\n.func address() { ret; }\n"
	m, err := ptx.Parse("k.ptx", []byte(head+rest+".visible .entry k() {\n.reg .b64 d;\nmov.u64 d, address;\ncall called;\nret;\n}\n"))
	require.NoError(t, err)
	var got []string
	for _, f := range Roots(m) {
		got = append(got, f.Name)
	}
	require.Equal(t, []string{"alone", "address", "k"}, got)
}
