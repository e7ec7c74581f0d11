package audit

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/dict"
	"optcheck/spec"
	"optcheck/toolchain"
)

// localLabels gives the labels of a function the numbers that a dictionary
// gives them: nvdisasm counts through the file, from wherever its own tables
// left off. This is the one way in which the two texts may differ.
func localLabels(fn *isa.Func) {
	number := map[uint64]int{}
	var targets []uint64
	for i := range fn.Insts {
		if t := fn.Insts[i].Target; t >= 0 && anyLabel.MatchString(fn.Insts[i].Text) {
			targets = append(targets, fn.Insts[t].Addr)
		}
	}
	for i := range fn.Insts {
		for _, t := range targets {
			if t == fn.Insts[i].Addr {
				if _, ok := number[t]; !ok {
					number[t] = len(number)
				}
			}
		}
	}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if in.Target < 0 {
			continue
		}
		label := fmt.Sprintf(".L_x_%d", number[fn.Insts[in.Target].Addr])
		in.Text = anyLabel.ReplaceAllString(in.Text, label)
		in.Args = append([]isa.Operand(nil), in.Args...)
		for j := range in.Args {
			in.Args[j].Text = anyLabel.ReplaceAllString(in.Args[j].Text, label)
			in.Args[j].Sym = anyLabel.ReplaceAllString(in.Args[j].Sym, label)
		}
	}
}

var anyLabel = regexp.MustCompile(`\.L_(x_)?\d+`)

// sameCode compares machine code read by a dictionary with what nvdisasm prints,
// instruction by instruction and in every field but those that only one of them
// can have. Padding that a listing leaves out at the end of a file is no
// difference.
func sameCode(t *testing.T, want, got *isa.Program) (instructions int) {
	t.Helper()
	require.Equal(t, len(want.Funcs), len(got.Funcs))
	var last isa.SrcLine // that nvdisasm has printed
	for i, w := range want.Funcs {
		g := got.Funcs[i]
		require.Equal(t, w.Name, g.Name)
		require.Equal(t, w.Arch, g.Arch)
		localLabels(w)
		localLabels(g)
		for j := range min(len(w.Insts), len(g.Insts)) {
			x, y := w.Insts[j], g.Insts[j]
			if y.Role != isa.RoleUnknown || y.Text[0] != '(' {
				require.NotEmpty(t, y.Code)
				if !strings.HasPrefix(g.Arch, "sm_3") { // of Kepler, groups may have none
					require.NotZero(t, y.Control.Kind)
				}
			}
			x.Line, x.Code, x.Control = 0, nil, isa.Control{}
			y.Line, y.Code, y.Control = 0, nil, isa.Control{}
			if x.Src.Line == 0 && y.Src == last {
				y.Src = isa.SrcLine{} // not printed again
			} else if x.Src.Line > 0 {
				last = x.Src
			}
			if !reflect.DeepEqual(x, y) {
				require.Equal(t, x, y, "%s at %#x", w.Name, x.Addr)
			}
		}
		for j := len(w.Insts); j < len(g.Insts); j++ {
			require.Equal(t, "NOP", g.Insts[j].Text, "%s at %#x", w.Name, g.Insts[j].Addr)
		}
		require.GreaterOrEqual(t, len(g.Insts), len(w.Insts), w.Name)
		if len(w.Insts) == len(g.Insts) {
			require.Equal(t, w.Blocks, g.Blocks, w.Name)
		}
		instructions += len(w.Insts)
	}
	return instructions
}

// compareWays reads a cubin both ways.
func compareWays(t *testing.T, d *dict.Dict, tc *toolchain.Toolchain, target string, data []byte) int {
	t.Helper()
	f, err := cubin.Parse(data)
	require.NoError(t, err)
	require.Equal(t, tc.Release(), f.Release)
	require.NoError(t, d.Learn(t.Context(), tc.DisassembleRaw, target, f))
	got, err := d.Program("x", f)
	require.NoError(t, err)
	text, err := tc.Disassemble(t.Context(), data, toolchain.DisasmOptions{LineInfo: true, NoDataflow: true})
	require.NoError(t, err)
	want, err := sass.Parse("x", text)
	require.NoError(t, err)
	return sameCode(t, want, got)
}

// decodeSlices are the targets and levels of which code is compared, half of them each time, unless OPTCHECK_FULL
// asks for all: one old and one new target of a generation share its dictionary.
var decodeSlices = []string{"sm_35 O3", "sm_50 O0", "sm_61 O3", "sm_72 O3", "sm_75 O0", "sm_80 O0", "sm_86 O3", "sm_90 O3"}

// TestDecode compares the two ways of reading cubins, text by text and field by
// field: kernels of the corpus and of generated tests, and with OPTCHECK_FULL=1
// at least 100,000 instructions of each generation and release.
func TestDecode(t *testing.T) {
	tests := corpus.Tests()
	full := os.Getenv("OPTCHECK_FULL") == "1"
	if full {
		g, err := cycle.Preset("ptx")
		require.NoError(t, err)
		n := 0
		for x := range g.Tests() {
			if n++; n%40 == 0 {
				tests = append(tests, x)
			}
		}
	} else {
		tests = tests[:24]
	}
	for _, tc := range releases(t) {
		dicts, compared := map[string]*dict.Dict{}, map[string]int{}
		some := required.Some(t, 4, decodeSlices)
		for _, target := range tc.Targets {
			g := dict.Generation(target)
			if dicts[g] == nil {
				dicts[g] = dict.New()
			}
			for _, level := range []string{"O0", "O3"} {
				if full || slices.Contains(some, target+" "+level) {
					compared[g] += compareWays(t, dicts[g], tc, target, compiled(t, tc, target, level, tests))
				}
			}
		}
		for g, n := range compared {
			t.Logf("%s, generation %s: %d instructions", tc.ID, g, n)
			if full {
				require.Greater(t, n, 100_000)
			}
		}
	}
}

// compiled makes a cubin of tests, of 512 kernels at most.
func compiled(t *testing.T, tc *toolchain.Toolchain, target, level string, tests []*litmus.Test) []byte {
	maxV, err := ptxgen.ParseVersion(tc.MaxPTX)
	require.NoError(t, err)
	var units []toolchain.Unit
	for _, x := range tests {
		for _, l := range spec.Layouts {
			if u, err := ptxgen.Emit(x.Canonical(), ptxgen.Options{Target: target, Layout: l, Lines: true}); err == nil && u.Version <= maxV {
				units = append(units, toolchain.Unit{Name: u.Name, Text: u.Text})
			}
		}
	}
	res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: level, LineInfo: true, Header: ptxgen.Header(maxV, target), Units: units[:min(len(units), 512)]})
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	require.Len(t, res.Batches, 1)
	return res.Batches[0].Cubin
}

// programPTX has what litmus tests do not: calls, division, a trap, a line of
// another file.
const programPTX = `.file 1 "a.ptx"
.file 2 "/some/where/b.ptx"
.func (.reg .u32 r) twice (.reg .u32 a) { add.u32 r, a, a; mul.lo.u32 r, r, a; ret; }
.visible .entry k(.param .u64 p, .param .u32 n) {
 .reg .u64 x, d; .reg .u32 a, b; .reg .f32 f, g; .reg .pred q;
 .loc 1 5 0
 ld.param.u64 x, [p]; ld.param.u32 a, [n];
 .loc 2 7 0
 call (b), twice, (a);
 cvt.rn.f32.u32 f, a; ld.global.f32 g, [x]; div.rn.f32 f, f, g; st.global.f32 [x+8], f;
 ld.global.u64 d, [x+16]; div.u64 d, d, x; st.global.u64 [x+24], d;
 setp.gt.u32 q, a, 2; @q bra E;
//TABLE
A: st.global.u32 [x], b; bra E;
B: st.global.u32 [x+4], b; bra E;
C: trap;
E: ret;
}
`

// tablePTX is the same with a table of branches.
var tablePTX = strings.Replace(programPTX, "//TABLE", "T: .branchtargets A, B, C;\n brx.idx a, T;", 1)

// TestDecodePrograms: code with calls is read, too, and as nvdisasm alone would
// have it; tables of branches are left to nvdisasm.
func TestDecodePrograms(t *testing.T) {
	all := listings(t)
	levels := []string{"O3"}
	if os.Getenv("OPTCHECK_FULL") == "1" {
		levels = Levels
	}
	for _, tc := range releases(t) {
		i := slices.IndexFunc(all, func(o *toolchain.Toolchain) bool { return o.ID == tc.ID })
		require.GreaterOrEqual(t, i, 0)
		whole := all[i]
		for _, target := range []string{"sm_35", "sm_61", "sm_75", "sm_80", "sm_90"} {
			if !tc.HasTarget(target) {
				continue
			}
			version := map[bool]string{false: "7.0", true: "7.8"}[target == "sm_90"]
			for _, level := range levels {
				for _, text := range []string{programPTX, tablePTX} {
					res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: level, LineInfo: true, Version: version, Units: []toolchain.Unit{{Name: "k", Text: text}}})
					require.NoError(t, err)
					require.Empty(t, res.Failed)
					before, _ := pipeline.LeftOver()
					got, err := pipeline.Decode(t.Context(), tc, "x", target, res.Batches[0].Cubin)
					require.NoError(t, err)
					after, why := pipeline.LeftOver()
					require.Equal(t, text == tablePTX, after > before, "%s %s: %v", target, level, why)
					want, err := pipeline.Decode(t.Context(), whole, "x", target, res.Batches[0].Cubin)
					require.NoError(t, err)
					sameCode(t, want.Program, got.Program)
					require.Equal(t, want.Consts, got.Consts)
				}
			}
		}
	}
}

// TestWaysEvents: an audit's events are the same, whichever way cubins are read.
func TestWaysEvents(t *testing.T) {
	events := func(listings bool) (out []string) {
		tcs := discovered(t, toolchain.Options{Listings: listings})
		o := Options{Tests: corpus.Tests()[:20], Toolchains: tcs, Targets: []string{"sm_35", "sm_50", "sm_75", "sm_90"}, Levels: []string{"O0", "O3"}}
		if os.Getenv("OPTCHECK_FULL") == "1" {
			o.Tests, o.Targets = corpus.Tests(), nil
		}
		var buf bytes.Buffer
		require.NoError(t, Run(t.Context(), o, event.NewJSONLines(&buf)))
		for line := range strings.Lines(buf.String()) {
			if !strings.HasPrefix(line, `{"stats"`) {
				out = append(out, line)
			}
		}
		return out
	}
	left, _ := pipeline.LeftOver()
	got, want := events(false), events(true)
	require.Equal(t, len(want), len(got))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
	now, why := pipeline.LeftOver()
	require.Equal(t, left, now, "a cubin was left to nvdisasm: %v", why)
}
