package audit

import (
	"cmp"
	"compress/gzip"
	"encoding/gob"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/fakeptxas"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
)

// judgedCell and judgedKernel are the form of ../optcheck/testdata/judged.gz.
type judgedCell struct {
	Test, Toolchain, Target, Level, Layout string
	Kernels                                []judgedKernel
	Harness                                bool
	Form                                   ptxgen.Form
	Rare                                   bool
}

type judgedKernel struct {
	Thread int
	Func   *isa.Func
	Check  *optcheck.Checker
	Values []spec.Value
	Digest uint32
}

// TestJudged chooses with -update the machine code that package optcheck judges in its tests: for each target and level
// a cell of each set of rules that its threads break, in the order of the tests. Of other layouts, releases and tests
// there are more, marked as rare: go test ./optcheck -run TestJudged -cover -update keeps those that reach code which
// the ones before do not.
func TestJudged(t *testing.T) {
	if !*update {
		t.Log("only -update chooses machine code")
		return
	}
	g := newGatherer(t)
	gather := g.gather
	tcs := releases(t)
	one := []spec.Layout{spec.Pointers}
	gather(Options{Tests: append(corpus.Tests(), loopTests(t)...), Toolchains: tcs[:1], Targets: []string{"sm_35"}, Levels: []string{"O3"}, Layouts: one})
	gather(Options{Tests: append(corpus.Tests(), loopTests(t)...), Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_70", "sm_90"}, Levels: []string{"O0", "O3"}, Layouts: one})
	clang := clangs(t)
	gather(Options{Tests: corpus.OpenCL(), Toolchains: clang[len(clang)-1:], Levels: []string{"O0", "O2"}, Layouts: one,
		Targets: []string{"tahiti", "gfx900", "gfx942", "gfx1030", "gfx1200", "cypress"}})
	g.rare = true
	last := tcs[len(tcs)-1:]
	others := []spec.Layout{spec.Symbols, spec.Offsets, spec.Adjacent}
	gather(Options{Tests: append(corpus.Tests(), loopTests(t)...), Toolchains: last, Targets: []string{"sm_70", "sm_90"}, Levels: []string{"O3"}, Layouts: others})
	gather(Options{Tests: append(corpus.Tests(), lockedTests(t)...), Toolchains: tcs[:1], Targets: []string{"sm_35"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Symbols}})
	for _, set := range []string{"shapes", "opportunities", "quick"} {
		tests := killTests(t, set)
		gather(Options{Tests: tests[:min(150, len(tests))], Toolchains: last, Targets: []string{"sm_80"}, Levels: []string{"O3"},
			Layouts: []spec.Layout{spec.Pointers, spec.Adjacent}})
	}
	suite := newControlSuite(t)
	for n, at := range controlTargets {
		suite.choose(n)
		edits, _ := suite.plan(t, at.target, 0)
		require.NoError(t, (&fakeptxas.Config{Real: suite.real[at.release].Ptxas, Edits: map[string]map[string][]fakeptxas.Edit{at.target: edits}}).Write(suite.dirs[at.release]))
		gather(Options{Tests: suite.tests, Toolchains: []*toolchain.Toolchain{suite.fakes[at.release]}, Targets: []string{at.target}, Levels: []string{"O3"}, Layouts: spec.Layouts})
	}
	wrong := newKillRun(t, killTests(t, "shapes"), "sm_80", spec.AllLayouts, "12.4")
	for _, p := range fakeptxas.Passes {
		require.NoError(t, (&fakeptxas.Config{Real: wrong.tcs["12.4"].Ptxas, Optimise: map[string][]string{"": {p.Name}}}).Write(wrong.dirs["12.4"]))
		var tests []*litmus.Test
		for _, i := range wrong.of[p.Name] {
			tests = append(tests, wrong.tests[i])
		}
		gather(Options{Tests: tests[:min(4, len(tests))], Toolchains: []*toolchain.Toolchain{wrong.fakes["12.4"]}, Targets: []string{"sm_80"}, Levels: []string{"O3"},
			Layouts: []spec.Layout{spec.Pointers, spec.Adjacent}})
	}
	newest := clang[len(clang)-1:]
	gather(Options{Tests: append(corpus.OpenCL(), corpus.Tests()...), Toolchains: newest, Levels: []string{"O2"}, Layouts: []spec.Layout{spec.Symbols},
		Targets: []string{"tahiti", "gfx90a", "gfx942", "gfx1100", "cayman"}})
	gather(Options{Tests: loopTests(t), Toolchains: newest, Source: "llvm-ir", Targets: []string{"gfx942"}, Levels: []string{"O0"}, Layouts: others[2:]})
	g.write("judged", judgedHarnesses(t, tcs))
}

// moreShapes are of kinds that the tests of TestJudged do not have: words of 64 bits and less than 32, locations that share bytes, loops whose
// reads nobody observes, addresses of devices, and barriers of two kinds.
var moreShapes = []string{
	"ld.relaxed.gpu.b64 r0, x; setp.eq.s64 p0, r0, 4294967297; @p0 st.relaxed.gpu.b64 y, r0 || st.relaxed.gpu.b64 x, 4294967297",
	"ld.relaxed.gpu.b64 r0, x; add.s64 r1, r0, 1; st.relaxed.gpu.b64 y, r1 || ld.relaxed.gpu.b64 r0, y; st.relaxed.gpu.b64 x, r0",
	"atom.relaxed.gpu.add.u64 r0, x, 4294967297; st.release.gpu.b64 y, r0 || ld.acquire.gpu.b64 r0, y; ld.weak.b64 r1, x",
	"atom.acq_rel.gpu.cas.b64 r0, x, 0, 4294967297; setp.ne.s64 p0, r0, 0; @p0 ld.weak.b64 r1, y || st.weak.b64 y, 3; atom.release.gpu.exch.b64 _, x, 0",
	"ld.volatile.b64 r0, x; xor.b64 r1, r0, r0; add.s64 r2, r1, 1; st.volatile.b64 y, r2 || ld.volatile.b64 r0, y; st.volatile.b64 x, r0",
	"atom.relaxed.gpu.min.s64 r0, x, 5; red.relaxed.gpu.add.u64 y, 1 || atom.relaxed.gpu.max.u64 r1, y, 7; st.relaxed.gpu.b64 x, r1",
	"ld.relaxed.gpu.s16 r0, x; st.relaxed.gpu.u16 y, r0 || st.relaxed.gpu.u16 x, 65535",
	"ld.relaxed.gpu.s8 r0, x; setp.lt.s32 p0, r0, 0; @p0 st.relaxed.gpu.u8 y, 1 || st.relaxed.gpu.u8 x, 255",
	"ld.relaxed.gpu.u8 r0, x; ld.relaxed.gpu.u16 r1, y || st.relaxed.gpu.u16 y, 513; st.release.gpu.u8 x, 1",
	"ld.mmio.relaxed.sys r0, x; st.mmio.relaxed.sys y, r0 || st.mmio.relaxed.sys x, 1; ld.mmio.relaxed.sys r1, y",
	"xor r9, r9, r9; LC: ld.relaxed.gpu _, x; st.relaxed.gpu y, 1; add r9, r9, 1; blt r9, 3, LC || ld.relaxed.gpu r0, y; st.relaxed.gpu x, 1",
	"xor r9, r9, r9; LC: ld.relaxed.gpu r0, x; atom.relaxed.gpu.add _, y, 1; add r9, r9, 1; blt r9, 3, LC || ld.relaxed.gpu r0, y; st.relaxed.gpu x, 1",
	"st.weak x, 1; bar.arrive 1, 64 || bar.sync 1, 64; ld.weak r0, x",
	"ld.relaxed.gpu r0, x; setp.eq p0, r0, 1; @p0 bar.sync 0; ld.weak r1, y || st.weak y, 1; bar.sync 0; st.relaxed.gpu x, 1",
	"ld.relaxed.gpu r0, x; setp.ge p0, r0, 1; setp.lt p1, r0, 3; and.pred p2, p0, p1; @p2 atom.relaxed.gpu.add r1, y, r0 || st.relaxed.gpu x, 2; ld.relaxed.gpu r0, y",
	"call ld.acquire.gpu r1, x; call st.relaxed.gpu y, 1 || ld.relaxed.gpu r0, y; call st.release.gpu x, 1",
	"ld.relaxed.gpu r0, x; setp.eq p0, r0, 0; @p0 atom.relaxed.gpu.cas r1, y, 0, 1; @!p0 atom.relaxed.gpu.exch r2, y, 2 || st.relaxed.gpu x, 1; ld.relaxed.gpu r0, y",
	"ld.relaxed.gpu r0, x; mul.lo.s32 r1, r0, 3; shl.b32 r2, r1, 2; shr.u32 r3, r2, 1; st.relaxed.gpu y, r3 || ld.relaxed.gpu r0, y; sub.s32 r1, r0, 6; st.relaxed.gpu x, r1",
}

// TestJudgedMore chooses with -update machine code of tests of more kinds, right and wrong.
func TestJudgedMore(t *testing.T) {
	if !*update {
		t.Log("only -update chooses machine code")
		return
	}
	g := newGatherer(t)
	g.rare = true
	var tests []*litmus.Test
	for i, s := range moreShapes {
		tests = append(tests, killShape(t, fmt.Sprint("more", i), s))
	}
	tests = append(tests, partedTest(t, " ld.relaxed.gpu.u16 r0,[h] | st.relaxed.gpu.u32 [x],65537 ;\n st.relaxed.gpu.u16 [i],1 | ld.relaxed.gpu.u64 r1,[y] ;\n"+
		" st.relaxed.gpu.u32 [j],1 | ld.relaxed.gpu.u16 r0,[i] ;\n st.relaxed.gpu.u64 [y],4294967298 | st.relaxed.gpu.u32 [j],3 ;\n"))
	tcs := releases(t)
	g.gather(Options{Tests: tests, Toolchains: tcs[:1], Targets: []string{"sm_35", "sm_60"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers, spec.Symbols}})
	g.gather(Options{Tests: tests, Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: spec.Layouts})
	g.gather(Options{Tests: tests, Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_90"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}})
	g.wrong(tests, spec.Pointers)
	g.write("more", nil)

	g = newGatherer(t)
	g.rare = true
	tests = nil
	for _, s := range []string{
		" ld.weak.u32 r0,[k] | st.weak.u32 [k],1 ;\n ld.weak.u32 r2,[j] | st.weak.u32 [j],2 ;\n add.s32 r0,r0,r2 | ld.weak.u64 r1,[y] ;\n st.weak.u32 [x],r0 | ;\n",
		" ld.relaxed.gpu.u32 r0,[k] | ld.weak.u32 r0,[x] ;\n ld.relaxed.gpu.u32 r2,[j] | st.relaxed.gpu.u32 [k],r0 ;\n | st.relaxed.gpu.u32 [j],r0 ;\n",
		" ld.weak.u32 r0,[x] | ld.weak.u32 r0,[k] ;\n setp.eq.s32 p0,r0,0 | ld.weak.u32 r2,[j] ;\n @p0 st.weak.u32 [k],r0 | setp.eq.s32 p0,r0,r2 ;\n @p0 st.weak.u32 [j],3 | @p0 st.weak.u32 [x],1 ;\n",
	} {
		tests = append(tests, partedTest(t, s))
	}
	for i, x := range tests {
		x.Name += fmt.Sprint(i)
	}
	g.gather(Options{Tests: tests, Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: spec.Layouts})
	g.wrong(tests, spec.Layouts...)
	clang := clangs(t)
	g.gather(Options{Tests: corpus.OpenCL(), Toolchains: clang[len(clang)-1:], Levels: []string{"O2"}, Layouts: spec.Layouts, Targets: []string{"cypress", "cayman"}})
	g.write("parts", nil)
}

// partedTest has locations of which others are parts, and the code of two threads.
func partedTest(t *testing.T, code string) *litmus.Test {
	x, err := litmus.Parse("parted", []byte("GPU_PTX parted\n{ x=0; y=0; h=x+0; i=x+2; j=y+4; k=y+0; 0:.reg .b32 r0; 0:.reg .b64 r1; 0:.reg .b32 r2; 0:.reg .pred p0; 1:.reg .b32 r0;"+
		" 1:.reg .b64 r1; 1:.reg .b32 r2; 1:.reg .pred p0; }\n T0 | T1 ;\n"+code+"ScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nx: global, y: global\nexists (x=1)\n"))
	require.NoError(t, err)
	return x.ObserveAll()
}

// wrong keeps what a compiler that errs on purpose makes of those tests in which it can.
func (g *gatherer) wrong(tests []*litmus.Test, layouts ...spec.Layout) {
	run := newKillRun(g.t, tests, "sm_80", spec.AllLayouts, "12.4")
	for _, p := range fakeptxas.Passes {
		var of []*litmus.Test
		for _, i := range run.of[p.Name] {
			of = append(of, run.tests[i])
		}
		if len(of) == 0 {
			continue
		}
		require.NoError(g.t, (&fakeptxas.Config{Real: run.tcs["12.4"].Ptxas, Optimise: map[string][]string{"": {p.Name}}}).Write(run.dirs["12.4"]))
		g.gather(Options{Tests: of, Toolchains: []*toolchain.Toolchain{run.fakes["12.4"]}, Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: layouts})
	}
}

// gatherer keeps the machine code that audits visit.
type gatherer struct {
	t       *testing.T
	mu      sync.Mutex
	cells   map[string]*judgedCell
	rulesOf map[string]string
	rare    bool
	round   int
}

func newGatherer(t *testing.T) *gatherer {
	return &gatherer{t: t, cells: map[string]*judgedCell{}, rulesOf: map[string]string{}}
}

// gather keeps what an audit visits.
func (g *gatherer) gather(o Options) {
	g.round++
	byName := map[string]*litmus.Test{}
	for _, x := range o.Tests {
		byName[x.Name] = x
	}
	visited(g.t, o, func(v kernelVisit) {
		if v.result == nil {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		place := fmt.Sprint(v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, v.cell.Hash, g.round)
		c := g.cells[place]
		if c == nil {
			c = &judgedCell{byName[v.cell.Test].String(), v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, nil, false, 0, g.rare}
			g.cells[place] = c
		}
		fn := clone(v.fn)
		for i := range fn.Insts {
			fn.Insts[i].Code = nil
		}
		c.Kernels = append(c.Kernels, judgedKernel{v.kernel.Thread, fn, v.check, v.kernel.Values, v.kernel.Spec.Digest})
		g.rulesOf[place] += fmt.Sprint(v.result.Class, rules(v.result), len(v.result.Notes))
	})
}

// write writes some of the cells: of each set of rules a few, those that are common before others and those that are rare behind them.
func (g *gatherer) write(name string, others []judgedCell) {
	t := g.t
	f, err := os.Create("../optcheck/testdata/" + name + ".gz")
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	enc := gob.NewEncoder(z)
	seen, kept := map[string]int{}, 0
	places := slices.Collect(maps.Keys(g.cells))
	slices.SortFunc(places, func(a, b string) int {
		n := func(p string) (n int) {
			for _, k := range g.cells[p].Kernels {
				n += len(k.Func.Insts)
			}
			return n
		}
		return cmp.Or(n(a)-n(b), strings.Compare(a, b))
	})
	write := func(rare bool) {
		for _, p := range places {
			c := g.cells[p]
			key := c.Target + c.Level + g.rulesOf[p]
			if c.Rare {
				key += c.Layout + c.Toolchain
			}
			if c.Rare != rare || seen[key] == 8 || seen[key] == 2 && !rare {
				continue
			}
			seen[key]++
			kept++
			slices.SortFunc(c.Kernels, func(a, b judgedKernel) int { return a.Thread - b.Thread })
			require.NoError(t, enc.Encode(c))
		}
	}
	write(false)
	for _, c := range others {
		require.NoError(t, enc.Encode(c))
	}
	write(true)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	t.Logf("%d of %d cells", kept, len(g.cells))
}

// lockedTests have atomics on shared memory, which Kepler performs between a load that locks and a store that unlocks.
func lockedTests(t *testing.T) (tests []*litmus.Test) {
	for i, atom := range []string{"atom.cas.b32 r1,[rd0],0,1", "atom.exch.b32 r1,[rd0],1", "atom.add.u32 r1,[rd0],1", "atom.and.b32 r1,[rd0],1", "atom.max.s32 r1,[rd0],2"} {
		x, err := litmus.Parse("locked", fmt.Appendf(nil, `GPU_PTX locked%d
{
m=1; x=0;
0:.reg .b64 rd0 = x; 0:.reg .s32 r0; 0:.reg .b64 rd1 = m;
1:.reg .s32 r1; 1:.reg .b64 rd0 = m; 1:.reg .pred p2; 1:.reg .s32 r3; 1:.reg .b64 rd1 = x;
}
 T0                       | T1                        ;
 st.volatile.s32 [rd0],1  | %s                        ;
 atom.exch.b32 r0,[rd1],0 | setp.eq.s32 p2,r1,0       ;
                          | @p2 ld.volatile.s32 r3,[rd1] ;
ScopeTree(grid(cta(warp T0) (warp T1)))
m: shared, x: shared
exists (1:r1=0 /\ 1:r3=0)
`, i, atom))
		require.NoError(t, err)
		require.NoError(t, x.Check())
		tests = append(tests, x)
	}
	return tests
}

// judgedHarnesses are kernels for devices: of the forms and layouts that devices are asked with most, and, marked as rare, of others.
func judgedHarnesses(t *testing.T, tcs []*toolchain.Toolchain) (cells []judgedCell) {
	add := func(tc *toolchain.Toolchain, target, level, name string, form ptxgen.Form, layout spec.Layout, rare bool) {
		x := corpusTest(t, name)
		h, err := ptxgen.EmitHarness(x, target, form, layout)
		require.NoError(t, err)
		res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: level, LineInfo: true, Header: ptxgen.Header(h.Version, target),
			Units: []toolchain.Unit{{Name: h.Name, Text: h.Text}}})
		require.NoError(t, err)
		text, err := tc.Disassemble(t.Context(), res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true, NoDataflow: true})
		require.NoError(t, err)
		code, err := pipeline.ParseDump("harness", text)
		require.NoError(t, err)
		for i := range code.Program.Funcs[0].Insts {
			code.Program.Funcs[0].Insts[i].Code = nil
		}
		cells = append(cells, judgedCell{x.String(), tc.ID, target, level, layout.String(), []judgedKernel{{Func: code.Program.Funcs[0], Check: optcheck.NewChecker()}}, true, form, rare})
	}
	last := tcs[len(tcs)-1]
	for _, target := range []string{"sm_70", "sm_90"} {
		for _, name := range []string{"mp", "cas-sl", "mp+relaxed.ctas-shared", "lb+addrs"} {
			for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted} {
				add(last, target, "O3", name, form, spec.Pointers, false)
			}
		}
	}
	for _, layout := range []spec.Layout{spec.Adjacent, spec.Symbols, spec.Offsets} {
		for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormBanks, ptxgen.FormPermuted} {
			for _, name := range []string{"mp", "mp+relaxed.ctas-shared", "coRR-volatile-shared"} {
				for i, target := range []string{"sm_80", "sm_60"} {
					tc := []*toolchain.Toolchain{last, tcs[0]}[i]
					if _, err := ptxgen.EmitHarness(corpusTest(t, name), target, form, layout); err == nil { // what the form and the target are for
						add(tc, target, "O3", name, form, layout, true)
					}
				}
			}
		}
	}
	add(last, "sm_80", "O0", "mp", ptxgen.FormFast, spec.Adjacent, true)
	return cells
}
