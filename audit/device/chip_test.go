package device

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/sass"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// newest returns the newest ptxas with a target.
func newest(t *testing.T, target string) *toolchain.Toolchain {
	t.Helper()
	all, _ := tested.CUDA(context.Background(), toolchain.Options{})
	var best *toolchain.Toolchain
	for _, c := range all {
		if c.HasTarget(target) && c.Nvdisasm != "" && (best == nil || toolchain.CompareVersions(c.Version, best.Version) > 0) {
			best = c
		}
	}
	if best == nil {
		required.Missing(t, "no toolchain for %s", target)
	}
	return best
}

func tests(t *testing.T, names ...string) []*litmus.Test {
	t.Helper()
	var out []*litmus.Test
	for _, n := range names {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		out = append(out, x)
	}
	return out
}

// corpusBins builds the corpus' kernels of a form for sm_90 at O3, once for all tests: nobody changes what they get.
func corpusBins(t *testing.T, form ptxgen.Form) []*Binary {
	t.Helper()
	c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
	build, _ := builtForms.LoadOrStore(form, sync.OnceValues(func() ([]*Binary, error) { return c.Build(context.Background(), corpus.Tests(), form) }))
	bins, err := build.(func() ([]*Binary, error))()
	require.NoError(t, err)
	return bins
}

var builtForms sync.Map // by form, what builds them

// TestValidateCorpus: all harness kernels of the corpus are the test, but for
// those whose accesses the compiler merges, drops or swaps; coRR with loads that
// it must keep apart is.
func TestValidateCorpus(t *testing.T) {
	bins := corpusBins(t, ptxgen.FormFast)
	want := map[string]string{"coRR": "merged", "coRR+weaks": "merged", "coWR": "missing", "coWW": "missing", "sb": "reordered"}
	validated := 0
	for _, b := range bins {
		switch {
		case want[b.Test.Name] != "":
			require.Equal(t, "changed", b.State, b.Test.Name)
			require.Equal(t, want[b.Test.Name], b.Findings[0].Rule, b.Test.Name)
			require.False(t, b.Validated)
		case b.State != "unsupported":
			require.True(t, b.Validated, "%s: %s: %s", b.Test.Name, b.State, b.Why)
			require.Positive(t, b.StressLoads)
			require.Positive(t, b.StressStores)
			validated++
		}
	}
	require.GreaterOrEqual(t, validated, 107)
}

// TestMutations: machine code that is changed in one place is never validated.
func TestMutations(t *testing.T) {
	tc := newest(t, "sm_90")
	ctx := context.Background()
	check := optcheck.NewChecker()
	n := 0
	for _, x := range tests(t, "mp", "sb-inter", "mp+membar.gls", "lb+addrs", "mp-volatile", "cas-sl", "mp+release.gpu+acquire.gpu",
		"iriw") {
		for form := range ptxgen.Forms {
			h, err := ptxgen.EmitHarness(x, "sm_90", ptxgen.Form(form), spec.Pointers)
			require.NoError(t, err)
			res, err := tc.Compile(ctx, toolchain.Job{Target: "sm_90", Level: "O3", LineInfo: true,
				Header: ptxgen.Header(h.Version, "sm_90"),
				Units:  []toolchain.Unit{{Name: h.Name, Text: h.Text}}})
			require.NoError(t, err)
			dis, err := tc.Disassemble(ctx, res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true})
			require.NoError(t, err)
			parse := func(text string) *optcheck.HarnessResult {
				p, err := sass.Parse("x", []byte(text))
				require.NoError(t, err)
				return check.CheckHarness(p.Funcs[0], h.Check)
			}
			require.True(t, parse(string(dis)).Validated(), x.Name)
			for _, m := range mutants(string(dis)) {
				r := parse(m)
				require.False(t, r.Validated(), "%s: a mutant passes:\n%s", x.Name, diffLine(string(dis), m))
				n++
			}
		}
	}
	t.Logf("%d mutants", n)
	require.Greater(t, n, 80)
}

// mutants drops, in turn, each strong access, fence and invalidation of the
// tests' lines, and weakens each.
func mutants(text string) []string {
	lines := strings.Split(text, "\n")
	var out []string
	inTest := false
	for i, l := range lines {
		if strings.Contains(l, "//## File") {
			// The tests' accesses have lines below LineOther.
			inTest = !strings.Contains(l, "line 1000") && !strings.Contains(l, "line 2000")
			continue
		}
		if !inTest {
			continue
		}
		replace := func(old, to string) {
			if strings.Contains(l, old) {
				c := slices.Clone(lines)
				c[i] = strings.Replace(l, old, to, 1)
				out = append(out, strings.Join(c, "\n"))
			}
		}
		for _, op := range []string{"LDG", "STG", "ATOMG", "LDS", "STS"} {
			if strings.Contains(l, " "+op+".") || strings.Contains(l, " "+op+" ") {
				c := slices.Clone(lines)
				c[i] = l[:strings.Index(l, op)] + "NOP ;"
				out = append(out, strings.Join(c, "\n"))
			}
		}
		replace(".STRONG.GPU", "")
		replace("MEMBAR.SC.GPU", "MEMBAR.SC.CTA")
	}
	return out
}

func diffLine(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return ""
}

// TestStressGone: without the stress loop's loads the kernel is unknown.
func TestStressGone(t *testing.T) {
	tc := newest(t, "sm_90")
	x := tests(t, "mp")[0]
	h, err := ptxgen.EmitHarness(x, "sm_90", ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	// As it was written first: nobody needs what the loads read.
	weak := strings.ReplaceAll(h.Text, "xor.b32 %sum, %sum, %a2;", "mov.u32 %sum, 0;")
	require.NotEqual(t, h.Text, weak)
	res, err := tc.Compile(context.Background(), toolchain.Job{Target: "sm_90", Level: "O3", Header: ptxgen.Header(h.Version, "sm_90"),
		Units: []toolchain.Unit{{Name: h.Name, Text: weak}}})
	require.NoError(t, err)
	dis, err := tc.Disassemble(context.Background(), res.Batches[0].Cubin, toolchain.DisasmOptions{})
	require.NoError(t, err)
	p, err := sass.Parse("x", dis)
	require.NoError(t, err)
	var fn *isa.Func = p.Funcs[0]
	r := optcheck.NewChecker().CheckHarness(fn, h.Check)
	require.Equal(t, optcheck.Unknown, r.Class)
	require.Contains(t, r.Reason, "stress")
}

// TestEffects: who is to blame for an outcome.
func TestEffects(t *testing.T) {
	j, err := NewJudge("ptx", "ptx-2015")
	require.NoError(t, err)
	ctx := context.Background()
	mp := j.Test(ctx, tests(t, "mp")[0])
	fenced := j.Test(ctx, tests(t, "mp+membar.gls")[0])
	require.Equal(t, EffectNone, mp.Effect([]int64{1, 1}, true))
	require.Equal(t, EffectAllowed, mp.Effect([]int64{1, 0}, true))
	require.Equal(t, EffectCompiler, mp.Effect([]int64{1, 0}, false))
	require.Equal(t, EffectForbid, fenced.Effect([]int64{1, 0}, true))
	require.Equal(t, EffectForbid, mp.Effect([]int64{7, 0}, true), "a value from nowhere")
	require.ElementsMatch(t, [][]int64{{0, 1}, {0, 1}}, mp.Domain())
}
