package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/sass/patch"
)

// TestPatch: instructions of real binaries are changed as they are asked to be; the
// checker sees it, where it reads what was changed; what was patched is never
// validated, and what it shows is the patch's.
func TestPatch(t *testing.T) {
	x, ok := corpus.Lookup("mp+release.gpu+acquire.gpu")
	require.True(t, ok)
	build := func(target string, edits ...string) *Binary {
		c := &Compiler{Target: target, Level: "O3", Tool: newest(t, target)}
		for _, s := range edits {
			e, err := patch.Parse(s)
			require.NoError(t, err)
			require.Equal(t, s, e.String())
			c.Patch = append(c.Patch, e)
		}
		bins, err := c.Build(t.Context(), []*litmus.Test{x}, ptxgen.FormFast)
		require.NoError(t, err)
		return bins[0]
	}
	for _, target := range []string{"sm_70", "sm_90"} {
		require.True(t, build(target).Validated)
		for _, p := range []struct{ edit, why, rule string }{
			{"CCTL.IVALL=NOP", "CCTL.IVALL -> NOP", "fence-"},
			{"CCTL.IVALL=wait=none", "CCTL.IVALL -> CCTL.IVALL, wait=none", ""},
			{"CCTL.IVALL=wait=05", "CCTL.IVALL -> CCTL.IVALL, wait=05", ""},
			{"MEMBAR.GPU=MEMBAR.ALL.CTA", "-> MEMBAR.ALL.CTA", "fence-"},
			{"MEMBAR.GPU=NOP", "-> NOP", "fence-"},
			{"LDG.STRONG.GPU#2=LDG.E.STRONG.SYS", "-> LDG.E.STRONG.SYS R", ""},
		} {
			b := build(target, p.edit)
			require.False(t, b.Validated)
			require.Equal(t, "patched", b.State)
			require.Contains(t, b.Why, p.why)
			require.NotNil(t, b.Image)
			if p.rule != "" {
				require.True(t, slices.ContainsFunc(b.Findings, func(f optcheck.Finding) bool { return strings.HasPrefix(f.Rule, p.rule) }),
					"%s: %v", p.edit, b.Findings)
			}
		}
		b := build(target, "CCTL.IVALL#7=NOP")
		require.Nil(t, b.Image, "nothing was changed: not run")
	}

	c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
	j, err := NewJudge("ptx")
	require.NoError(t, err)
	b := build("sm_90", "CCTL.IVALL=NOP")
	h := runner.NewHistogram(x)
	require.NoError(t, h.Add([]int64{1, 0}, 5))
	r := (&series{o: Options{Compiler: c}}).empty(b, j.Binary(t.Context(), b))
	r.fill(&drive.Outcome{Histogram: h}, j.Binary(t.Context(), b))
	require.Equal(t, EffectPatch, r.Outcomes[0].Effect)
	require.Contains(t, r.Unvalidated, "patched: ")
	for _, bad := range []string{"", "NOP", "=NOP", "CCTL.IVALL#0=NOP", "CCTL.IVALL#x=NOP", "CCTL IVALL=NOP", "X=", "X=wait=6"} {
		_, err := patch.Parse(bad)
		require.ErrorIs(t, err, patch.ErrSyntax, bad)
	}
}
