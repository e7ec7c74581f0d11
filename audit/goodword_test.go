package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
)

// goodWord is an edit of PTX that makes another test of it.
type goodWord struct {
	name     string
	test     string // of the corpus, or a body of thread 0 for wordTest
	from, to string // in the PTX of all threads
	rule     string
	class    string // "" for any but preserved
}

// wordTest returns a test whose thread 0 runs some code on x and y; thread 1 adds to both.
func wordTest(t *testing.T, name, code string) *litmus.Test {
	if strings.HasPrefix(code, "=") {
		return corpusTest(t, code[1:])
	}
	x, err := litmus.Parse(name, []byte(`GPU_PTX `+name+`
{ 0:.reg .s32 r1; 0:.reg .s32 r2; 0:.reg .s32 r3; 0:.reg .pred p1; 0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 0:.reg .b64 rd2;
1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .b64 rd0 = x; 1:.reg .b64 rd1 = y; }
 T0 | T1 ;
 `+strings.ReplaceAll(code, "; ", " | ;\n ")+` | st.volatile.s32 [rd1], 2 ;
 | st.volatile.s32 [rd0], 2 ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
exists (0:r1=0)
`))
	require.NoError(t, err)
	return x
}

// TestGoodWord: changes that were once called preserved.
func TestGoodWord(t *testing.T) {
	guardedStore := "ld.volatile.s32 r1, [rd0]; and.b32 r2, r1, 2147483648; setp.eq.s32 p1, r2, 0; @p1 st.volatile.s32 [rd1], 1"
	stored := "ld.volatile.s32 r1, [rd0]; add.s32 r2, r1, 1; st.volatile.s32 [rd1], r2"
	words, at := map[string][]rewritten{}, map[string][]goodWord{}
	for i, w := range []goodWord{
		{"atomic add of floats", "atom.global.add.s32 r1, [rd0], 1", ".add.u32 %q_r1, [%q_rd0], %v0", ".add.f32 %q_r1, [%q_rd0], %v0", optcheck.KindChanged.ID, ""},
		{"atomic add of halves", "atom.global.add.s32 r1, [rd0], 1", ".add.u32 ", ".add.noftz.f16x2 ", optcheck.KindChanged.ID, ""},
		{"reduction of floats", "red.global.add.s32 [rd0], 1", "red.global.add.u32", "red.global.add.f32", optcheck.KindChanged.ID, ""},
		{"signed maximum", "atom.global.max.s32 r1, [rd0], -1", ".max.s32", ".max.u32", optcheck.KindChanged.ID, event.Miscompiled},
		{"unsigned minimum", "atom.global.min.u32 r1, [rd0], 4294967295", ".min.u32", ".min.s32", optcheck.KindChanged.ID, event.Miscompiled},
		{"signed reduction", "red.global.max.s32 [rd0], -1", ".max.s32", ".max.u32", optcheck.KindChanged.ID, event.Miscompiled},
		{"threads of a barrier", "=mp+bar.syncs", "bar.sync 0;", "bar.sync 0, 32;", optcheck.FenceRemoved.ID, ""},
		{"non-coherent load", "st.weak.s32 [rd0], 1; ld.weak.s32 r1, [rd0]", "ld.global.s32", "ld.global.nc.s32", optcheck.Weakened.ID, event.Miscompiled},
		{"an address that is not its location's", "ld.volatile.s32 r1, [rd0]; and.b32 r2, r1, 2147483648; cvt.u64.u32 rd2, r2; add.u64 rd1, rd1, rd2; st.volatile.s32 [rd1], 1",
			"and.b32 %q_r2, %q_r1", "not.b32 %q_r1, %q_r1;\n\tand.b32 %q_r2, %q_r1", optcheck.Retargeted.ID, ""},
		{"another mask", "=lb+datas", "2147483648", "1", optcheck.ValueChanged.ID, event.Miscompiled},
		{"a value masked", stored, "add.s32 %q_r2, %q_r1, 1;", "and.b32 %q_r2, %q_r1, 7; add.s32 %q_r2, %q_r2, 1;", optcheck.ValueChanged.ID, ""},
		{"another sum", stored, "%q_r1, 1;", "%q_r1, 2;", optcheck.ValueChanged.ID, event.Miscompiled},
		{"a difference", stored, "add.s32 %q_r2", "sub.s32 %q_r2", optcheck.ValueChanged.ID, event.Miscompiled},
		{"an inverted guard", guardedStore, "@%q_p1 st", "@!%q_p1 st", optcheck.ControlChanged.ID, ""},
		{"another guard", guardedStore, "and.b32 %q_r2, %q_r1, 2147483648;\n", "mov.b32 %q_r2, %q_r1;\n", optcheck.ControlChanged.ID, ""},
		{"a guard of another bit", guardedStore, "2147483648", "1073741824", optcheck.ControlChanged.ID, ""},
		{"a guard of two bits", guardedStore, "2147483648", "3221225472", optcheck.ControlChanged.ID, ""},
		{"a guard of a rare word", guardedStore, "and.b32 %q_r2, %q_r1, 2147483648;\n\tsetp.eq.s32 %q_p1, %q_r2, 0;", "setp.ne.s32 %q_p1, %q_r1, 123456;", optcheck.ControlChanged.ID, ""},
		{"a discarded line", "st.weak.s32 [rd0], 1; st.release.gpu.s32 [rd1], 1", "st.release", "discard.global.L2 [%q_rd0], 128;\n\tst.release", optcheck.ExtraEffect.ID, ""},
		{"a trap", guardedStore, "@%q_p1 st", "@%q_p1 trap;\n\t@%q_p1 st", "", ""},
		{"a breakpoint", stored, "st.volatile", "brkpt;\n\tst.volatile", optcheck.ExtraEffect.ID, ""},
		{"a barrier of its own", stored, "st.volatile", "bar.sync 1;\n\tst.volatile", optcheck.ExtraEffect.ID, ""},
		{"an arrival for which nobody waits", stored, "st.volatile", "barrier.cluster.arrive;\n\tst.volatile", optcheck.ExtraEffect.ID, ""},
		{"a strong load for a weak one", "ld.weak.s32 r1, [rd0]; ld.weak.s32 r2, [rd0]", "ld.global.s32", "ld.relaxed.gpu.global.s32", optcheck.Strengthened.ID, event.Optimised},
	} {
		e := rewritten{wordTest(t, fmt.Sprint("word", i), w.test), w.from, w.to}
		for _, target := range []string{"sm_70", "sm_80", "sm_90"} {
			if strings.Contains(w.to, "discard") && target == "sm_70" || strings.Contains(w.to, "cluster") && target != "sm_90" {
				continue // there is no such instruction
			}
			at[target], words[target] = append(at[target], w), append(words[target], e)
		}
	}
	for target, list := range words {
		for _, level := range []string{"O0", "O3"} {
			for i, d := range decideEdited(t, "12.4", target, level, list...) {
				w, c := at[target][i], d.cell
				require.NotEqual(t, event.Preserved, c.Class, "%s, %s %s: %+v", w.name, target, level, c)
				if w.class != "" {
					require.Equal(t, w.class, c.Class, "%s, %s %s: %+v", w.name, target, level, c)
				}
				has := w.rule == ""
				for _, f := range c.Findings {
					has = has || f.Rule == w.rule
				}
				require.True(t, has, "%s, %s %s: %s: %+v", w.name, target, level, w.rule, c)
				require.NotEqual(t, optcheck.Preserved, d.alone, "%s, the lone binary, %s %s", w.name, target, level)
			}
		}
	}
}

// rewritten is a test with its PTX edited.
type rewritten struct {
	test     *litmus.Test
	from, to string
}

// decided is what is decided of the binary with the test, and the worst that is said of a thread of the binary alone.
type decided struct {
	cell  *event.Cell
	alone optcheck.Class
}

// decideEdited compiles tests, in one file, and says what is decided of each.
func decideEdited(t *testing.T, ptxas, target, level string, list ...rewritten) (out []decided) {
	t.Helper()
	tc := release(t, ptxas)[0]
	version, err := ptxgen.ParseVersion(tc.MaxPTX)
	require.NoError(t, err)
	job := toolchain.Job{Target: target, Level: level, LineInfo: true, Header: ptxgen.Header(version, target)}
	var units []*ptxgen.Unit
	for _, e := range list {
		u, err := ptxgen.Emit(e.test, ptxgen.Options{Target: target, Layout: spec.Pointers})
		require.NoError(t, err)
		text := u.Text
		if e.from != "" {
			require.Contains(t, text, e.from)
			text = strings.ReplaceAll(text, e.from, e.to)
		}
		units, job.Units = append(units, u), append(job.Units, toolchain.Unit{Name: u.Name, Text: text})
	}
	res, err := tc.Compile(t.Context(), job)
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	require.Len(t, res.Batches, 1)
	code, err := pipeline.LoadCubin(t.Context(), "edited", res.Batches[0].Cubin, []*toolchain.Toolchain{tc})
	require.NoError(t, err)
	for i, e := range list {
		var threads []Thread
		d := decided{alone: optcheck.Preserved}
		for k := range e.test.Threads {
			for _, fn := range code.Program.Funcs {
				if fn.Name != units[i].Kernels[k].Name {
					continue
				}
				c := optcheck.NewChecker()
				c.Consts, c.Literals = code.Consts, code.Literals[fn.Name]
				r, err := c.Check(fn)
				require.NoError(t, err)
				d.alone = max(d.alone, r.Class)
				threads = append(threads, Thread{fn, c.Consts, c.Literals, units[i].Kernels[k].Spec})
			}
		}
		d.cell, _, err = Decide(t.Context(), e.test, threads, false)
		require.NoError(t, err)
		out = append(out, d)
	}
	return out
}

// TestVerdictOverAll: an atomic that becomes a load and a reduction is wrong, although
// the condition of the test cannot tell.
func TestVerdictOverAll(t *testing.T) {
	x := corpusTest(t, "add+add.gpus")
	c := decideEdited(t, "12.4", "sm_80", "O0", rewritten{test: x})[0].cell
	require.Equal(t, event.Preserved, c.Class, "%+v", c)
	const from = "atom.relaxed.gpu.global.add.u32 %q_r1, [%q_rd0], %v0"
	c = decideEdited(t, "12.4", "sm_80", "O0", rewritten{x, from, "ld.relaxed.gpu.global.u32 %q_r1, [%q_rd0];\n\tred.relaxed.gpu.global.add.u32 [%q_rd0], %v0"})[0].cell
	require.Equal(t, event.Miscompiled, c.Class, "%+v", c)
	require.True(t, c.Verdict.Hidden(), "%+v", c.Verdict)
}

// TestInvalidationBehindShared: ptxas moves a store to shared memory before the
// invalidation of a fence, which is there for later loads through the L1.
func TestInvalidationBehindShared(t *testing.T) {
	x, err := litmus.Parse("shared", []byte(`GPU_PTX invalidation-behind-shared
{ 0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 1:.reg .s32 r1; 1:.reg .b64 rd1 = y; }
 T0 | T1 ;
 st.cg.s32 [rd0], 1 | ld.volatile.s32 r1, [rd1] ;
 membar.gl | ;
 st.volatile.s32 [rd1], 1 | ;
ScopeTree(grid(cta(warp T0)(warp T1)))
x: global, y: shared
exists (1:r1=1 /\ x=1)
`))
	require.NoError(t, err)
	cell := decideEdited(t, "11.2", "sm_35", "O3", rewritten{test: x})[0].cell
	require.Equal(t, event.Preserved, cell.Class, "%+v", cell)
	cell = decideEdited(t, "11.2", "sm_35", "O3", rewritten{x, "membar.gl", "membar.cta"})[0].cell
	require.NotEqual(t, event.Preserved, cell.Class, "%+v", cell)
}

// TestStrengthBeside: a fence before a release access and an invalidation after a
// fence are parts of those only as far as every release of ptxas puts them there.
func TestStrengthBeside(t *testing.T) {
	const head = "GPU_PTX beside%d\n{ 0:.reg .s32 r1; 0:.reg .s32 r2; 1:.reg .s32 r1; 1:.reg .s32 r2; 0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 0:.reg .b64 rd2 = z; " +
		"1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .b64 rd2 = w; }\n T0 | T1 ;\n"
	const tree = "\nScopeTree(grid(cta(warp T0)) (cta(warp T1)))\nexists (1:r1=0)\n"
	read := func(sync string) string {
		return " st.weak.s32 [rd0], 1 | ld.relaxed.gpu.s32 r1, [rd0] ;\n st.release.gpu.s32 [rd1], 1 | " + sync + " ;\n | ld.weak.s32 r2, [rd1] ;"
	}
	const dead = "{ .reg .b32 %n; ld.acquire.gpu.global.u32 %n, [%q_rd1]; }\n\t"
	var honest, wrong []rewritten
	for i, w := range []struct{ name, code, from, to string }{
		{"a sequentially consistent fence for a release", " st.relaxed.gpu.s32 [rd0], 1 | st.relaxed.gpu.s32 [rd0], 1 ;\n atom.acq_rel.gpu.add.s32 r2, [rd2], 1 | atom.acq_rel.gpu.add.s32 r2, [rd2], 1 ;\n" +
			" ld.relaxed.gpu.s32 r1, [rd1] | ld.relaxed.gpu.s32 r1, [rd1] ;", "atom.acq_rel", "membar.gl;\n\tatom.acq_rel"},
		{"a fence of wider scope for a release", " st.weak.s32 [rd0], 1 | ld.acquire.gpu.s32 r1, [rd0] ;\n st.release.cta.s32 [rd2], 1 | ld.weak.s32 r2, [rd1] ;\n" +
			" st.relaxed.gpu.s32 [rd1], 1 | ;", "st.release", "fence.acq_rel.gpu;\n\tst.release"},
		{"an invalidation behind a fence of the CTA", read("fence.acq_rel.cta"), "fence.acq_rel.cta;\n", "fence.acq_rel.cta;\n\t" + dead},
		{"an invalidation behind an acquire of the CTA", read("ld.acquire.cta.s32 r2, [rd2]"), "ld.acquire.cta.global.s32 %q_r2, [%q_rd2];\n", "ld.acquire.cta.global.s32 %q_r2, [%q_rd2];\n\t" + dead},
	} {
		x, err := litmus.Parse(w.name, []byte(fmt.Sprintf(head, i)+w.code+tree))
		require.NoError(t, err)
		honest, wrong = append(honest, rewritten{test: x}), append(wrong, rewritten{x, w.from, w.to})
	}
	for _, target := range []string{"sm_70", "sm_80", "sm_90"} {
		for _, level := range []string{"O0", "O3"} {
			for i, d := range decideEdited(t, "12.4", target, level, honest...) {
				require.Equal(t, event.Preserved, d.cell.Class, "%d, %s %s: %+v", i, target, level, d.cell)
			}
			for i, d := range decideEdited(t, "12.4", target, level, wrong...) {
				require.Equal(t, event.Optimised, d.cell.Class, "%d, %s %s: %+v", i, target, level, d.cell)
				require.Equal(t, optcheck.Strengthened.ID, d.cell.Findings[0].Rule, "%d, %s %s: %+v", i, target, level, d.cell)
				require.NotEqual(t, optcheck.Preserved, d.alone)
			}
		}
	}
}
