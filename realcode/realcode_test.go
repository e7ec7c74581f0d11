package realcode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// releases finds the releases of ptxas. Tests that need one are skipped without,
// unless OPTCHECK_REQUIRE_TOOLS=1.
func releases(t *testing.T, names ...string) []*toolchain.Toolchain {
	t.Helper()
	all, errs := tested.CUDA(t.Context(), toolchain.Options{})
	require.Empty(t, errs)
	found, err := toolchain.Find(all, names...)
	if err != nil || len(found) == 0 {
		required.Missing(t, "no ptxas %v", names)
	}
	return found
}

func module(t *testing.T, file string) *ptx.Module {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := ptx.Parse(filepath.Base(file), data)
	require.NoError(t, err)
	return m
}

// uncompared asserts that nothing is unknown of a cell that was not executed but what only runs show.
func uncompared(t *testing.T, c *Cell, at string) {
	t.Helper()
	for i := range c.Result.Unknown {
		require.Equal(t, Uncompared, c.Result.Unknown[i].Rule, "%s: %s", at, c.Result.Unknown[i].headline())
	}
}

// TestPatterns: what ptxas does on purpose is no finding, at any level of any
// release; the acquire that is dropped with its result is one in 11.2 and 11.8 and
// none in 12.4.
func TestPatterns(t *testing.T) {
	m := module(t, "testdata/patterns.ptx")
	cells := 0
	o := Options{Toolchains: releases(t), Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		if c.Class == Unsupported {
			return nil
		}
		cells++
		name := c.Toolchain + " " + c.Target + " " + c.Level
		require.NotNil(t, c.Result, "%s: %s", name, c.Reason)
		uncompared(t, c, name)
		require.Zero(t, c.Result.Count.Strong-c.Result.Count.StrongFound-1, "%s: all but the dropped acquire have an image", name)
		if strings.Contains(c.Toolchain, " 11.") {
			require.Len(t, c.Result.Findings, 1, name)
			f := c.Result.Findings[0]
			require.Equal(t, Missing, f.Rule)
			require.Equal(t, "dropped", f.Kernel)
			require.Equal(t, "ld.acquire.gpu.u32 %r3, [%rd1]", f.First.Text)
			return nil
		}
		require.Empty(t, c.Result.Findings, name)
		return nil
	}))
	require.Positive(t, cells)
}

// TestPreserved: ptxas gives the condition of a branch to the stores of a release, and not
// to its fence: where the store is not made the fence is no release. A path may end in a
// trap, or never.
func TestPreserved(t *testing.T) {
	files := []string{"guarded.ptx", "trap.ptx", "released.ptx", "indirect.ptx", "joined.ptx", "lines.ptx", "unneeded.ptx", "never.ptx", "beside.ptx", "looked.ptx", "swapped.ptx"}
	var ways []Options
	for _, tc := range releases(t) {
		for _, target := range []string{"sm_70", "sm_80"} {
			for _, level := range []string{"O0", "O3"} {
				ways = append(ways, Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}, Levels: []string{level}, Execute: 2})
			}
		}
	}
	for _, file := range files {
		some := ways
		if file == "trap.ptx" || file == "lines.ptx" { // whose runs take seconds each
			some = required.Some(t, 3, ways)
		}
		for _, o := range some {
			require.NoError(t, Audit(t.Context(), o, module(t, "testdata/"+file), func(c *Cell) error {
				require.NotNil(t, c.Result, c.Reason)
				require.Empty(t, c.Result.Findings, "%s %s %s %s", file, c.Toolchain, c.Target, c.Level)
				for _, f := range c.Result.Unknown { // a loop that ptxas unrolls, a generic address of shared memory, a call by address, a store for two
					require.Contains(t, []Rule{Uncompared, Extra}, f.Rule, "%s %s %s %s: %s", file, c.Toolchain, c.Target, c.Level, f.Detail)
				}
				return nil
			}))
		}
	}
}

// TestMultimem: what adds all copies of a location is a load like others.
func TestMultimem(t *testing.T) {
	m := module(t, "testdata/multimem.ptx")
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_90"}, Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.NotNil(t, c.Result, c.Reason)
		require.Empty(t, c.Result.Findings, c.Level)
		uncompared(t, c, c.Level)
		require.Equal(t, 5, c.Result.Count.StrongFound)
		return nil
	}))
}

// changed is what a release makes of a module in which some lines are others.
func changed(t *testing.T, tc *toolchain.Toolchain, m *ptx.Module, by map[int]string, target, level string) *pipeline.Code {
	t.Helper()
	data, err := compile(t.Context(), tc, apply(m.Lined(lineFile, ""), by), target, level, nil)
	require.NoError(t, err)
	code, err := pipeline.Decode(t.Context(), tc, m.File, target, data)
	require.NoError(t, err)
	return code
}

// TestReleases: of two releases side by side either is missed if it is none any more.
func TestReleases(t *testing.T) {
	m := module(t, "testdata/released.ptx")
	for _, tc := range releases(t) {
		for _, st := range m.Func("released").Body {
			if st.Inst == nil || !strings.HasPrefix(st.Inst.Text, "st.release") {
				continue
			}
			weak := map[int]string{st.Inst.N: strings.Replace(st.Inst.Text, "release", "relaxed", 1) + ";"}
			code := changed(t, tc, m, weak, "sm_80", "O3")
			res := Check(m, code.Program, 80)
			require.Len(t, res.Findings, 1, tc.ID)
			require.Equal(t, Missing, res.Findings[0].Rule)
			require.Equal(t, st.Inst.Text, res.Findings[0].First.Text)
		}
	}
}

// TestUnneeded: what is preserved there is not, if the second atomic releases no more, or what has a limit has none.
func TestUnneeded(t *testing.T) {
	m := module(t, "testdata/unneeded.ptx")
	for _, x := range []struct {
		kernel, line, old, new string
		want                   Rule
	}{
		{"pointer", "atom.add.acq_rel.gpu.u32 %r2", "acq_rel", "acquire", Missing},
		{"limit", "atom.global.inc.u32 %r4", "254", "-1", Weakened},
	} {
		for _, st := range m.Func(x.kernel).Body {
			if st.Inst == nil || !strings.HasPrefix(st.Inst.Text, x.line) {
				continue
			}
			for _, tc := range releases(t) {
				code := changed(t, tc, m, map[int]string{st.Inst.N: strings.Replace(st.Inst.Text, x.old, x.new, 1) + ";"}, "sm_80", "O3")
				res := Check(m, code.Program, 80)
				require.Len(t, res.Findings, 1, tc.ID)
				require.Equal(t, x.want, res.Findings[0].Rule)
				require.Equal(t, st.Inst.Text, res.Findings[0].First.Text)
			}
		}
	}
}

// TestJoined: a store where paths meet is none of the program's own if something orders between its two, or if it has another address; nor is
// one more behind a barrier. Runs say so, too.
func TestJoined(t *testing.T) {
	text, err := os.ReadFile("testdata/joined.ptx")
	require.NoError(t, err)
	const between, meet, last = "mov.u32 %r4, %r1;", "mov.u32 %r5, %r1;", "mov.u32 %r6, %r1;" // places
	for _, row := range []struct {
		orders   string // stands between in the PTX, and in the machine code where the paths meet
		at, made string // what the machine code has
		rule     Rule
	}{
		{"bar.sync 1;", meet, "bar.sync 1;", Extra},
		{"fence.acq_rel.gpu;", meet, "fence.acq_rel.gpu;", Extra},
		{"st.release.gpu.global.u32 [%d1], %r1;", meet, "st.release.gpu.global.u32 [%d1], %r1;", Extra},
		{between, between, "st.shared.f32 [%d4+4], %f1;", Extra},
		{between, last, "st.shared.f32 [%d4], %f1;", Extra},
	} {
		m, err := ptx.Parse("joined.ptx", []byte(strings.Replace(string(text), between, row.orders, 1)))
		require.NoError(t, err)
		lines := map[string]int{}
		for _, st := range m.Func("again").Body {
			if st.Inst != nil {
				lines[st.Inst.Text+";"] = st.Inst.N
			}
		}
		by := map[int]string{lines[row.orders]: ""}
		by[lines[row.at]] = fmt.Sprintf(".loc 1 %d 0\n%s", lines[row.orders], row.made)
		for _, tc := range required.Some(t, 1, releases(t)) {
			code := changed(t, tc, m, by, "sm_80", "O3")
			res := Check(m, code.Program, 80)
			seen := append(res.Findings, res.Unknown...)
			assert.True(t, slices.ContainsFunc(seen, func(f Finding) bool { return f.Rule == row.rule }), "%s %s", row.made, tc.ID)
			require.NoError(t, res.execute(t.Context(), m, code, nil, options(2)))
			res.settle(true)
			class, _ := res.Class()
			assert.Equal(t, Miscompiled, class, "%s %s", row.made, tc.ID)
		}
	}
}

// TestShuffledTwice: a shuffle with two results that is made twice is found, however many
// instructions make one.
func TestShuffledTwice(t *testing.T) {
	m := module(t, "testdata/shuffle.ptx")
	for _, tc := range releases(t) {
		for _, st := range m.Func("reversed").Body {
			if st.Inst == nil || st.Inst.Name != "shfl" {
				continue
			}
			twice := map[int]string{st.Inst.N: st.Inst.Text + ";\n" + st.Inst.Text + ";"}
			code := changed(t, tc, m, twice, "sm_80", "O0")
			res := Check(m, code.Program, 80)
			require.Len(t, res.Findings, 1, tc.ID)
			require.Equal(t, Convergence, res.Findings[0].Rule)
			require.Equal(t, st.Inst.Text, res.Findings[0].First.Text)
		}
	}
}

// TestTable: jump tables that no label names are read, by 11.8 for sm_90 although ptxas says that all
// targets are at 0; and VIMNMX, which nvdisasm 11.8 leaves out without a word, is read by a newer one.
func TestTable(t *testing.T) {
	m := module(t, "testdata/table.ptx")
	cells := 0
	o := Options{Toolchains: releases(t), Targets: []string{"sm_70", "sm_80", "sm_90"}, Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		if c.Class == Unsupported {
			return nil
		}
		cells++
		at := c.Toolchain + " " + c.Target + " " + c.Level
		require.Empty(t, c.Result.Findings, at)
		uncompared(t, c, at)
		require.Equal(t, 2, c.Result.Count.Functions)
		return nil
	}))
	require.Positive(t, cells)
	all, _ := tested.CUDA(t.Context(), toolchain.Options{})
	for _, tc := range all {
		if tc.Release() != "11.8" || tc.Newer() == nil {
			continue
		}
		code, err := Build(t.Context(), tc, m, "sm_90", "O3")
		require.NoError(t, err)
		least := slices.IndexFunc(code.Program.Funcs, func(f *isa.Func) bool { return f.Name == "least" })
		require.True(t, slices.ContainsFunc(code.Program.Funcs[least].Insts, func(in isa.Inst) bool { return in.Op == "VIMNMX" }))
	}
}

// TestUnusedAcquire: 12.4 drops an acquire with its result and keeps the invalidation, here of
// sm_75 at O3 on the line of the barrier that follows. 11.8 drops it, too; and one that stands
// behind the barrier comes too late for the other threads.
func TestUnusedAcquire(t *testing.T) {
	const acquire = "ld.acquire.gpu.u32 %r3, [%rd1]"
	m := module(t, "testdata/unused.ptx")
	line := map[string]int{}
	for _, st := range m.Func("gate").Body {
		if st.Inst != nil {
			line[st.Inst.Text] = st.Inst.N
		}
	}
	for _, x := range []struct {
		release string
		text    map[int]string
		want    bool
	}{
		{"12.4", nil, false},
		{"11.8", nil, true},
		{"12.4", map[int]string{line[acquire]: ""}, true},
		{"12.4", map[int]string{line[acquire]: "", line["bar.sync 0"]: "bar.sync 0;\n" + acquire + ";"}, true},
		{"12.4", map[int]string{line[acquire]: "", line["bar.sync 0"]: acquire + ";\nbar.sync 0;"}, false},
	} {
		tc := releases(t, x.release)[0]
		code := changed(t, tc, m, x.text, "sm_75", "O3")
		res := Check(m, code.Program, 75)
		require.Equal(t, !x.want, strings.Contains(fmt.Sprint(res.Notes), "its invalidation stays"), "%s %v", tc.ID, x.text)
		if !x.want {
			require.Empty(t, res.Findings, "%s %v", tc.ID, x.text)
			continue
		}
		require.Len(t, res.Findings, 1, "%s %v", tc.ID, x.text)
		require.Equal(t, Missing, res.Findings[0].Rule)
		require.Equal(t, acquire, res.Findings[0].First.Text)
	}
}

// TestArriveDrop: before sm_90 an arrival that drops is an addition and an arrival; the code of an arrival that does not is another program's,
// and so is the code of one that does.
func TestArriveDrop(t *testing.T) {
	text, err := os.ReadFile("testdata/drop.ptx")
	require.NoError(t, err)
	parsed := func(text string) *ptx.Module {
		m, err := ptx.Parse("drop.ptx", []byte(text))
		require.NoError(t, err)
		return m
	}
	drops, stays := parsed(string(text)), parsed(strings.Replace(string(text), "arrive_drop", "arrive", 1))
	for _, tc := range releases(t) {
		for _, level := range []string{"O0", "O3"} {
			for _, made := range []*ptx.Module{drops, stays} {
				code, err := Build(t.Context(), tc, made, "sm_80", level)
				require.NoError(t, err)
				for _, asked := range []*ptx.Module{drops, stays} {
					res, err := Compare(t.Context(), asked, code, "sm_80")
					require.NoError(t, err)
					class, why := res.Kernels[0].Class()
					require.Equal(t, made == asked, class == Preserved, "%s %s: %s", tc.ID, level, why)
				}
			}
		}
	}
}

// TestNarrowed: of a 64-bit acquire load of which one half is used, ptxas makes a
// 32-bit one.
func TestNarrowed(t *testing.T) {
	for name, acquires := range map[string]int{"narrow.ptx": 1, "narrowloop.ptx": 3} {
		narrowed(t, module(t, "testdata/"+name), acquires)
	}
}

func narrowed(t *testing.T, m *ptx.Module, acquires int) {
	o := Options{Toolchains: releases(t), Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.NotNil(t, c.Result, c.Reason)
		if c.Level == "O0" {
			require.Equal(t, Preserved, c.Class)
			return nil
		}
		require.Len(t, c.Result.Findings, acquires)
		for _, f := range c.Result.Findings {
			require.Equal(t, Weakened, f.Rule)
			require.Contains(t, f.Detail, "it has 8 bytes, the machine instruction 4")
			v := f.Verdict
			require.NotNil(t, v, "%s %s: %s", f.Kernel, f.First.Pos, f.NoTest)
			require.Equal(t, Changed, v.Class)
			require.Equal(t, "ptx-async", v.Model)
			require.Contains(t, v.Undefined, "accesses of different sizes")
			require.Equal(t, "forbids", v.Bytes)
		}
		return nil
	}))
}

// TestLinesChangeNothing is what Build verifies: it must notice code that differs.
func TestLinesChangeNothing(t *testing.T) {
	tc := releases(t)[0]
	m := module(t, "testdata/patterns.ptx")
	a, err := compileModule(t.Context(), tc, m, "sm_80", "O3", true, nil)
	require.NoError(t, err)
	b, err := compileModule(t.Context(), tc, m, "sm_80", "O3", false, nil)
	require.NoError(t, err)
	require.NoError(t, equal(a, b))
	c, err := compileModule(t.Context(), tc, m, "sm_80", "O0", false, nil)
	require.NoError(t, err)
	require.Error(t, equal(a, c))
}

// TestCheckCubin compares with a cubin that was made elsewhere, without lines.
func TestCheckCubin(t *testing.T) {
	tcs := releases(t)
	m := module(t, "testdata/patterns.ptx")
	data, err := compileModule(t.Context(), tcs[0], m, "sm_80", "O0", false, nil)
	require.NoError(t, err)
	c, err := CheckCubin(t.Context(), tcs, m, "k.cubin", data)
	require.NoError(t, err)
	require.Equal(t, "O0", c.Level)
	require.Equal(t, tcs[0].ID, c.Toolchain)
	other, err := ptx.Parse("other.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"))
	require.NoError(t, err)
	_, err = CheckCubin(t.Context(), tcs, other, "k.cubin", data)
	require.ErrorContains(t, err, "other machine code of other.ptx at every level")
	_, err = CheckCubin(t.Context(), tcs, m, "k.cubin", []byte("no cubin"))
	require.ErrorContains(t, err, "k.cubin")
}

// TestRefused: what ptxas refuses is unsupported, with its words, and so is what a
// release does not know.
func TestRefused(t *testing.T) {
	m, err := ptx.Parse("bad.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tmov.u32 nothing, 1;\n\tret;\n}\n"))
	require.NoError(t, err)
	o := Options{Toolchains: releases(t), Targets: []string{"sm_80", "sm_999"}, Levels: []string{"O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		want := Invalid // no target takes it
		if c.Target == "sm_999" {
			want = Unsupported // nobody knows that one
		}
		require.Equal(t, want, c.Class)
		require.NotEmpty(t, c.Reason)
		return nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Audit(ctx, o, m, func(*Cell) error { return nil }), context.Canceled)
}

// TestLowered: a module of a newer PTX than the release knows is compiled as the
// newest that it knows, and that is told.
func TestLowered(t *testing.T) {
	text := ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tfence.sc.gpu;\n\tret;\n}\n"
	m, err := ptx.Parse("new.ptx", []byte(text))
	require.NoError(t, err)
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_80"}, Levels: []string{"O3"}}
	p, reasons := NewProgram(m, Origin{}), []string{}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.Equal(t, Preserved, c.Class, c.Reason)
		return p.Events(c, func(e event.Event) error {
			if e.Cell != nil {
				reasons = append(reasons, e.Cell.Reason)
			}
			return nil
		})
	}))
	require.Equal(t, []string{"compiled as PTX 8.4, its newest"}, reasons)
}

// TestWaits: a weak load whose value ends a loop may leave it, or take the loop with it,
// which is told. One that is volatile stays, and so does one behind a fence of the block.
func TestWaits(t *testing.T) {
	text := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" +
		".reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nW: ld.volatile.global.u32 %r1, [%rd1];\n" +
		"setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nst.global.u32 [%rd1+4], %r1;\nret;\n}\n"
	gone, err := ptx.Parse("gone.ptx", []byte(strings.Replace(text, ".volatile.global", ".global.cg", 1)))
	require.NoError(t, err)
	stays, err := ptx.Parse("stays.ptx", []byte(text))
	require.NoError(t, err)
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_90"}, Levels: []string{"O3"}}
	for _, x := range []struct {
		m    *ptx.Module
		want string
	}{
		{gone, "does not wait"}, {stays, ""},
		{module(t, "../program/cases/cub-scan/cub-scan-cg.ptx"), "waits for ever"}, {module(t, "../program/cases/cub-scan/cub-scan.ptx"), ""},
	} {
		require.NoError(t, Audit(t.Context(), o, x.m, func(c *Cell) error {
			require.Empty(t, c.Result.Findings, c.Reason)
			uncompared(t, c, c.File)
			require.Equal(t, x.want != "", strings.Contains(fmt.Sprint(c.Result.Notes), "whose end it decides"), c.File)
			require.Contains(t, fmt.Sprint(c.Result.Notes), x.want)
			return nil
		}))
	}
}

// TestPeeled: 11.2 puts a copy of a loop's first block behind its end, all with the line
// of the fence that stands there.
func TestPeeled(t *testing.T) {
	o := Options{Toolchains: releases(t, "11.2"), Targets: []string{"sm_80"}, Levels: []string{"O3"}}
	require.NoError(t, Audit(t.Context(), o, module(t, "../program/cases/ls-bh/ls-bh-sound.ptx"), func(c *Cell) error {
		require.Empty(t, c.Result.Findings, c.Reason)
		uncompared(t, c, c.Toolchain)
		return nil
	}))
}

// TestAcross: a store that ptxas moves behind a release, to make one of it and its
// neighbour there, is found and judged; where nothing stands between the two, one store
// for both is right.
func TestAcross(t *testing.T) {
	const file = "../docs/reports/store-behind-release/min.ptx"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	control := regexp.MustCompile(`(?m)^(\tst\.release.*\n)(\tst\.shared.*\n)`).ReplaceAll(data, []byte("$2$1"))
	require.NotEqual(t, data, control)
	o := Options{Toolchains: releases(t, "11.8", "12.4"), Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O1", "O3"}}
	for class, text := range map[string][]byte{Miscompiled: data, Preserved: control} {
		m, err := ptx.Parse("min.ptx", bytes.Replace(text, []byte("sm_90"), []byte("sm_80"), 1))
		require.NoError(t, err)
		cells := 0
		require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
			if c.Class != Unsupported {
				cells++
				assert.Equal(t, class, c.Class, "%s %s %s: %s", c.Toolchain, c.Target, c.Level, c.Reason)
			}
			return nil
		}))
		require.Positive(t, cells)
	}
}

// TestNoKernel: of a module that has only functions nothing is compiled.
func TestNoKernel(t *testing.T) {
	m, err := ptx.Parse("m.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .func f()\n{\n\tmembar.gl;\n\tret;\n}\n"))
	require.NoError(t, err)
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_80"}, Levels: []string{"O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		assert.Equal(t, Invalid, c.Class, "no target and no release takes it")
		assert.Contains(t, c.Reason, "the module has no kernel")
		return nil
	}))
}

// TestComponents: the nodes of loops, of more than one node and of one.
func TestComponents(t *testing.T) {
	g := &graph{next: [][]int32{{1}, {2, 4}, {3}, {1, 5}, {4}, {6}, {}}}
	require.Equal(t, []bool{false, true, true, true, true, false, false}, g.components())
}
