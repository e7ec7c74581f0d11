package device

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/sass"
	"optcheck/spec"
	"optcheck/toolchain"
)

// TestValidatePermuted: the permuted form of the corpus' kernels is the test, but for
// those that the compiler changes in the fast form, too.
func TestValidatePermuted(t *testing.T) {
	bins := corpusBins(t, ptxgen.FormPermuted)
	want := map[string]string{"coRR": "merged", "coRR+weaks": "merged", "coWR": "missing", "coWW": "missing", "sb": "reordered"}
	validated := 0
	for _, b := range bins {
		switch {
		case want[b.Test.Name] != "":
			require.Equal(t, "changed", b.State, b.Test.Name)
			require.Equal(t, want[b.Test.Name], b.Findings[0].Rule, b.Test.Name)
		case b.State != "unsupported":
			require.True(t, b.Validated, "%s: %s: %s", b.Test.Name, b.State, b.Why)
			validated++
		}
	}
	require.GreaterOrEqual(t, validated, 100)
}

// TestValidateDivisions: the kernels of the preset divisions are the tests in both
// forms. OPTCHECK_FULL=1 takes all of them.
func TestValidateDivisions(t *testing.T) {
	g, err := cycle.Preset("divisions")
	require.NoError(t, err)
	var list []*litmus.Test
	n := 0
	for x := range g.Tests() {
		if n++; os.Getenv("OPTCHECK_FULL") == "1" || n%29 == 0 {
			list = append(list, x)
		}
	}
	c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
	for form, name := range ptxgen.Forms {
		bins, err := c.Build(context.Background(), list, ptxgen.Form(form))
		require.NoError(t, err)
		for _, b := range bins {
			require.True(t, b.Validated, "%s, %s: %s: %s", name, b.Test.Name, b.State, b.Why)
		}
	}
}

// TestRounds: an address that a kernel carries from round to round is not taken for
// that of the first round.
func TestRounds(t *testing.T) {
	tc := newest(t, "sm_90")
	h, err := ptxgen.EmitHarness(tests(t, "mp")[0], "sm_90", ptxgen.FormPermuted, spec.Pointers)
	require.NoError(t, err)
	// What is added to the address of x is that of y from the second round on.
	text := strings.Replace(h.Text, "$PLAY:",
		"\t.reg .b64 %first, %second;\n\tld.param.u64 %first, [p0];\n\tld.param.u64 %second, [p1];\n$PLAY:", 1)
	text = strings.ReplaceAll(text, "ld.param.u64 %d1, [p0];", "mov.u64 %d1, %first;")
	swapped := strings.Replace(text, "$PLAYED:", "$PLAYED:\n\tmov.u64 %first, %second;", 1)
	for _, x := range []struct {
		text      string
		validated bool
	}{{h.Text, true}, {text, true}, {swapped, false}} {
		res, err := tc.Compile(context.Background(), toolchain.Job{Target: "sm_90", Level: "O3", LineInfo: true,
			Header: ptxgen.Header(h.Version, "sm_90"),
			Units:  []toolchain.Unit{{Name: h.Name, Text: x.text}}})
		require.NoError(t, err)
		dis, err := tc.Disassemble(context.Background(), res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true})
		require.NoError(t, err)
		p, err := sass.Parse("x", dis)
		require.NoError(t, err)
		r := optcheck.NewChecker().CheckHarness(p.Funcs[0], h.Check)
		require.Equal(t, x.validated, r.Validated(), r.Why())
	}
}

// TestPermutedTargets: the permuted form is read for all targets, too. For sm_75 ptxas
// 12.4 reads the two locations of one of iriw's readers in the other order.
func TestPermutedTargets(t *testing.T) {
	for _, target := range []string{"sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89"} {
		c := &Compiler{Target: target, Level: "O3", Tool: newest(t, target)}
		bins, err := c.Build(t.Context(), tests(t, "mp", "iriw", "mp+membar.gls", "cas-sl", "lb+addrs"), ptxgen.FormPermuted)
		require.NoError(t, err)
		for _, b := range bins {
			if target == "sm_75" && b.State == "changed" {
				require.Equal(t, "iriw", b.Test.Name)
				require.Equal(t, "reordered", b.Findings[0].Rule)
				continue
			}
			require.True(t, b.Validated, "%s, %s: %s: %s", target, b.Test.Name, b.State, b.Why)
		}
	}
}
