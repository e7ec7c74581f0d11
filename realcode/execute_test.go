package realcode

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// faults are changes of testdata/execute.ptx that a compiler must not make: what ptxas is given has them, what it
// is compared with has not.
var faults = []struct{ kernel, name, from, to string }{
	{"sums", "store gone", "st.shared.u32 [%r9], %r15;", ""},
	{"sums", "last store gone", "st.global.u32 [%rd6], %r16;", ""},
	{"sums", "another base", "add.s64 %rd6, %rd2, %rd5;", "add.s64 %rd6, %rd1, %rd5;"},
	{"sums", "another offset", "st.global.u32 [%rd6], %r16;", "st.global.u32 [%rd6+4], %r16;"},
	{"sums", "another value", "add.s32 %r15, %r13, %r14;", "add.s32 %r15, %r13, %r13;"},
	{"sums", "condition flipped", "@%p4 bra done;", "@!%p4 bra done;"},
	{"sums", "condition gone", "@%p4 bra done;", ""},
	{"sums", "comparison at its border", "setp.ge.u32 %p1, %r5, %r1;", "setp.gt.u32 %p1, %r5, %r1;"},
	{"sums", "loop once", "@%p3 bra fold;", ""},
	{"sums", "high word of an address", "st.global.u32 [%rd6], %r16;", "add.s64 %rd6, %rd6, 4294967296; st.global.u32 [%rd6], %r16;"},
	{"locked", "lock without its loop", "@%p2 bra spin;", ""},
	{"locked", "store gone", "st.global.u32 [%rd2], %r5;", ""},
	{"locked", "unlock gone", "st.release.gpu.global.u32 [%rd1], 0;", ""},
	{"locked", "unlock elsewhere", "st.release.gpu.global.u32 [%rd1], 0;", "st.release.gpu.global.u32 [%rd2], 0;"},
	{"locked", "unlock of another value", "st.release.gpu.global.u32 [%rd1], 0;", "st.release.gpu.global.u32 [%rd1], 2;"},
	{"locked", "unlock without release", "st.release.gpu.global.u32 [%rd1], 0;", "st.relaxed.gpu.global.u32 [%rd1], 0;"},
	{"locked", "store behind the unlock", "st.global.u32 [%rd2], %r5;\n\tst.global.u32 [%rd2+64], %r1;\n\tst.release.gpu.global.u32 [%rd1], 0;",
		"st.global.u32 [%rd2+64], %r1;\n\tst.release.gpu.global.u32 [%rd1], 0;\n\tst.global.u32 [%rd2], %r5;"},
	{"locked", "lock taken twice", "atom.global.acquire.gpu.cas.b32 %r3, [%rd1], 0, 1;",
		"atom.global.acquire.gpu.cas.b32 %r3, [%rd1], 0, 1;\n\tatom.global.acquire.gpu.cas.b32 %r3, [%rd1], 0, 1;"},
	{"locked", "operand of the atomic", "cas.b32 %r3, [%rd1], 0, 1;", "cas.b32 %r3, [%rd1], 0, 3;"},
	{"locked", "another atomic", "atom.global.acquire.gpu.cas.b32 %r3, [%rd1], 0, 1;", "atom.global.acquire.gpu.exch.b32 %r3, [%rd1], 1;"},
	{"passed", "fence gone", "fence.acq_rel.gpu;\n\tst.relaxed", "st.relaxed"},
	{"passed", "fence behind the flag", "fence.acq_rel.gpu;\n\tst.relaxed.gpu.global.u32 [%rd6], 1;", "st.relaxed.gpu.global.u32 [%rd6], 1;\n\tfence.acq_rel.gpu;"},
	{"passed", "data behind the flag", "st.global.u32 [%rd5], %r3;\n\tfence.acq_rel.gpu;\n\tst.relaxed.gpu.global.u32 [%rd6], 1;",
		"fence.acq_rel.gpu;\n\tst.relaxed.gpu.global.u32 [%rd6], 1;\n\tst.global.u32 [%rd5], %r3;"},
	{"passed", "data read before the fence", "fence.acq_rel.gpu;\n\tld.global.u32 %r5, [%rd5];", "ld.global.u32 %r5, [%rd5];\n\tfence.acq_rel.gpu;"},
	{"passed", "wait without its loop", "@%p2 bra wait;", ""},
	{"chosen", "guard flipped", "@%p1 st.global", "@!%p1 st.global"},
	{"chosen", "guard gone", "@%p1 st.global", "st.global"},
	{"chosen", "one lane", "red.global.add.u32 [%rd2], %r5;", "setp.eq.u32 %p2, %r2, 5; @%p2 red.global.add.u32 [%rd2], %r5;"},
	{"chosen", "atomic gone", "red.global.add.u32 [%rd2], %r5;", ""},
	{"chosen", "atomic twice", "red.global.add.u32 [%rd2], %r5;", "red.global.add.u32 [%rd2], %r5;\n\tred.global.add.u32 [%rd2], %r5;"},
	{"chosen", "atomic's operand", "max.u32 %r6, [%rd2+4], %r3;", "max.u32 %r6, [%rd2+4], %r2;"},
	{"chosen", "lane operand", "shfl.sync.idx.b32 %r5, %r3, %r4, 31, -1;", "shfl.sync.bfly.b32 %r5, %r3, %r4, 31, -1;"},
	{"chosen", "barrier twice", "bar.sync 0;\n\tret;\n}\n", "bar.sync 0;\n\tbar.sync 0;\n\tret;\n}\n"},
	{"chosen", "barrier gone", "bar.sync 0;\n\tret;\n}\n", "ret;\n}\n"},
}

// TestExecute compiles the kernels as they are, where nothing may differ, and with one fault each, which must be noticed.
func TestExecute(t *testing.T) {
	src, err := os.ReadFile("testdata/execute.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("execute.ptx", src)
	require.NoError(t, err)
	const chosen = ".visible .entry chosen"
	for _, tc := range releases(t, "12.4") {
		for _, gpu := range []string{"sm_80", "sm_90"} {
			for _, level := range []string{"O0", "O3"} {
				if level == "O0" && gpu == "sm_90" || !strings.Contains(strings.Join(tc.Targets, " "), gpu) {
					continue
				}
				compare := func(text string) map[string]*Executed {
					changed, err := ptx.Parse("execute.ptx", []byte(text))
					require.NoError(t, err)
					b, err := build(t.Context(), tc, changed, gpu, level)
					require.NoError(t, err)
					code, err := pipeline.Decode(t.Context(), tc, m.File, gpu, b.lined)
					require.NoError(t, err)
					all, err := executions(t.Context(), m, nil, code, refine.Options{Runs: 3})
					require.NoError(t, err)
					out := map[string]*Executed{}
					for i := range all {
						out[all[i].Kernel] = &all[i]
					}
					return out
				}
				for name, x := range compare(string(src)) {
					require.Empty(t, x.Why, "%s %s %s %s", tc.ID, gpu, level, name)
					require.Empty(t, x.Findings, "%s %s %s %s", tc.ID, gpu, level, name)
					require.GreaterOrEqual(t, x.Source.Share(), 0.9, "%s: PTX", name)
				}
				if gpu != "sm_80" || level != "O3" {
					continue
				}
				for _, f := range faults {
					text := string(src)
					if f.kernel == "chosen" { // its barrier stands in others, too
						at := strings.Index(text, chosen)
						text = text[:at] + strings.Replace(text[at:], f.from, f.to, 1)
					} else {
						text = strings.Replace(text, f.from, f.to, 1)
					}
					require.NotEqual(t, string(src), text, f.name)
					x := compare(text)[f.kernel]
					if len(x.Findings) == 0 {
						t.Errorf("%s: %s: not noticed (%s)", f.kernel, f.name, x.Known())
					}
				}
			}
		}
	}
}

// found are wrong values that all releases, or one, compute at O3, by the targets for which they do; wrongAtO0 are so at O0, too. The
// other kernels of values.ptx are controls.
var (
	found = map[string]string{"pair": "sm_80 sm_90", "flushed": "sm_80 sm_90", "saturated": "sm_80 sm_90", "opposite": "sm_80 sm_90",
		"table": "sm_80 sm_90", "always": "sm_80 sm_90", "fetched": "sm_90", "doubled": "sm_80", "around 11.2": "sm_80", "around 11.8": "sm_80 sm_90"}
	wrongAtO0 = map[string]bool{"flushed": true, "least": true, "fetched 11.8 sm_90": true}
)

// TestExecuteFound: wrong values, each with its releases, beside controls that differ in one thing.
func TestExecuteFound(t *testing.T) {
	m := module(t, "testdata/values.ptx")
	for _, tc := range releases(t, "11.2", "11.8", "12.4") {
		for _, gpu := range []string{"sm_80", "sm_90"} {
			if !slices.Contains(tc.Targets, gpu) {
				continue
			}
			for _, level := range []string{"O0", "O3"} {
				b, err := build(t.Context(), tc, m, gpu, level)
				require.NoError(t, err)
				code, err := pipeline.Decode(t.Context(), tc, m.File, gpu, b.lined)
				require.NoError(t, err)
				all, err := executions(t.Context(), m, nil, code, refine.Options{Runs: 12})
				require.NoError(t, err)
				for i := range all {
					x := &all[i]
					want := level == "O3" && strings.Contains(found[x.Kernel]+found[x.Kernel+" "+tc.Release()], gpu) || wrongAtO0[x.Kernel] || wrongAtO0[x.Kernel+" "+tc.Release()+" "+gpu]
					if x.Why != "" && !want { // a form of the release that nobody understands
						t.Logf("%s %s %s: %s", tc.ID, level, x.Kernel, x.Why)
						continue
					}
					require.Empty(t, x.Why, "%s %s %s", tc.ID, level, x.Kernel)
					if got := len(x.Findings) > 0; got != want {
						t.Errorf("%s %s %s: wrong %v, want %v: %+v", tc.ID, gpu+" "+level, x.Kernel, got, want, x.Findings)
					}
				}
			}
		}
	}
}

// TestHonest: nothing is accused that only a division by zero, a read behind the constants of the module, or which lanes perform an atomic together
// makes different. A change of the same kernels is noticed.
func TestHonest(t *testing.T) {
	text, err := os.ReadFile("testdata/honest.ptx")
	require.NoError(t, err)
	m := module(t, "testdata/honest.ptx")
	for _, c := range []struct{ kernel, from, to string }{{},
		{"divided", "shl.b32 r6, r4, 5", "shl.b32 r6, r4, 6"}, {"weighed", "ld.const.u32 r4, [d3];", "ld.const.u32 r4, [d3+4];"},
		{"least", "min.s32 r4", "max.s32 r4"}, {"strided", "mul.wide.s32 d3, r7, 4", "mul.wide.s32 d3, r7, 8"},
		{"chosen", "mov.u32 r2, 1;\n\tst.local", "mov.u32 r2, 2;\n\tst.local"}, {"copied", "[r6+4], [d1+4]", "[r6+4], [d1+8]"},
		{"copied", "mov.u32 r4, back", "mov.u32 r4, front"}, {"pictured", "[d1, {f2, f1}]", "[d1, {f1, f2}]"}, {"stepped", "sub.u32 r1, r0, 7", "sub.u32 r1, r0, 8"},
		{"looked", "ld.global.nc.u32 r2, [d5]", "ld.global.nc.u32 r2, [d5+4]"},
		{"looked", "mov.u64 d6, weights", "mov.u64 d6, others"}, {"stepped", "steps[2] = {more, less}", "steps[2] = {less, more}"}, {"stepped", "[a], r2;\n\tcall (b), d1", "[a], r2;\n\tcall (b), d4"}} {
		other, err := ptx.Parse("honest.ptx", []byte(strings.Replace(string(text), c.from, c.to, 1)))
		require.NoError(t, err)
		of := *m // of a change, its kernel alone
		of.Funcs = slices.DeleteFunc(slices.Clone(m.Funcs), func(f *ptx.Func) bool { return f.Entry && c.kernel != "" && f.Name != c.kernel })
		for _, on := range [][2]string{{"sm_80", "O0"}, {"sm_80", "O3"}, {"sm_90", "O0"}, {"sm_90", "O3"}} {
			tc := releases(t, "12.4")[0]
			data, err := compile(t.Context(), tc, other.Lined(lineFile, ""), on[0], on[1], nil)
			require.NoError(t, err)
			code, err := pipeline.Decode(t.Context(), tc, m.File, on[0], data)
			require.NoError(t, err)
			r, err := Execute(t.Context(), &of, code, options(2))
			require.NoError(t, err)
			require.Equal(t, c.kernel == "", len(r.Findings) == 0, "%q %v %v", c.to, on, r.Findings)
			require.Empty(t, r.Unknown)
		}
	}
}

// TestExplains: a weak store without a counterpart is none of the machine code's own if runs have compared what it stores.
func TestExplains(t *testing.T) {
	f := Finding{Rule: Extra, Kernel: "k", Code: []Code{{Func: "k", Addr: 16}, {Func: "k", Addr: 32}}, computed: true}
	performed := map[uint64]bool{16: true, 32: true}
	x := Executed{Kernel: "k", Result: &refine.Result{Runs: 1, Performed: performed}}
	require.True(t, x.explains(f))
	for _, other := range []Finding{{Kernel: "k", Code: f.Code}, {Kernel: "k", computed: true},
		{Kernel: "k", computed: true, Code: []Code{{Func: "g", Addr: 16}}}} {
		require.False(t, x.explains(other))
	}
	for _, y := range []Executed{{Kernel: "k"}, {Kernel: "k", Result: &refine.Result{Runs: 1}}, {Kernel: "l", Result: x.Result}, {Kernel: "k",
		Result: &refine.Result{Runs: 1, Performed: map[uint64]bool{16: true}}}, {Kernel: "k", Result: &refine.Result{Cut: 1, Performed: performed,
		Findings: []refine.Finding{{}}}}} {
		require.False(t, y.explains(f))
	}
}
