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
	var mu sync.Mutex
	cells, rulesOf := map[string]*judgedCell{}, map[string]string{}
	rare, round := false, 0
	gather := func(o Options) {
		round++
		byName := map[string]*litmus.Test{}
		for _, x := range o.Tests {
			byName[x.Name] = x
		}
		visited(t, o, func(v kernelVisit) {
			if v.result == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			place := fmt.Sprint(v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, v.cell.Hash, round)
			c := cells[place]
			if c == nil {
				c = &judgedCell{byName[v.cell.Test].String(), v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, nil, false, 0, rare}
				cells[place] = c
			}
			fn := clone(v.fn)
			for i := range fn.Insts {
				fn.Insts[i].Code = nil
			}
			c.Kernels = append(c.Kernels, judgedKernel{v.kernel.Thread, fn, v.check, v.kernel.Values, v.kernel.Spec.Digest})
			rulesOf[place] += fmt.Sprint(v.result.Class, rules(v.result), len(v.result.Notes))
		})
	}
	tcs := releases(t)
	one := []spec.Layout{spec.Pointers}
	gather(Options{Tests: append(corpus.Tests(), loopTests(t)...), Toolchains: tcs[:1], Targets: []string{"sm_35"}, Levels: []string{"O3"}, Layouts: one})
	gather(Options{Tests: append(corpus.Tests(), loopTests(t)...), Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_70", "sm_90"}, Levels: []string{"O0", "O3"}, Layouts: one})
	clang := clangs(t)
	gather(Options{Tests: corpus.OpenCL(), Toolchains: clang[len(clang)-1:], Levels: []string{"O0", "O2"}, Layouts: one,
		Targets: []string{"tahiti", "gfx900", "gfx942", "gfx1030", "gfx1200", "cypress"}})
	rare = true
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
	f, err := os.Create("../optcheck/testdata/judged.gz")
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	enc := gob.NewEncoder(z)
	seen, kept := map[string]int{}, 0
	places := slices.Collect(maps.Keys(cells))
	slices.SortFunc(places, func(a, b string) int {
		n := func(p string) (n int) {
			for _, k := range cells[p].Kernels {
				n += len(k.Func.Insts)
			}
			return n
		}
		return cmp.Or(n(a)-n(b), strings.Compare(a, b))
	})
	write := func(rare bool) {
		for _, p := range places {
			c := cells[p]
			key := c.Target + c.Level + rulesOf[p]
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
	for _, c := range judgedHarnesses(t, tcs) {
		require.NoError(t, enc.Encode(c))
	}
	write(true)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	t.Logf("%d of %d cells", kept, len(cells))
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
