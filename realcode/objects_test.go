package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
)

// TestRestricted: a fence of objects in shared memory alone needs as much as that memory does. The oldest release that is tested with
// does not know the fences: its machine code is that of what stands in their place.
func TestRestricted(t *testing.T) {
	m := module(t, "testdata/restricted.ptx")
	tc := releases(t, "12.4")[0]
	line := func(kernel, prefix string) int {
		for _, st := range m.Func(kernel).Body {
			if st.Inst != nil && strings.HasPrefix(st.Inst.Text, prefix) {
				return st.Inst.N
			}
		}
		require.Fail(t, "no line", "%s %s", kernel, prefix)
		return 0
	}
	type want struct{ rule, detail string }
	for _, c := range []struct {
		what             string
		release, acquire string // in place of the fences
		want             map[string]want
	}{
		{"as ptxas 12.8 and 13.0 have them", "fence.acq_rel.cta;", "fence.acq_rel.cta;", nil},
		{"nothing at all", "", "", map[string]want{
			"released": {"missing", "no instruction in the machine code"},
			"far":      {"missing", "nothing waits for the answer of ld.relaxed"},
			"waited":   {"missing", "nothing waits for the answer of mbarrier.test_wait"}}},
	} {
		by := map[int]string{line("waited", "mbarrier"): "mbarrier.test_wait.parity.shared.b64 w, [bar], 0;"}
		for _, k := range []string{"acquired", "far", "waited", "global"} {
			by[line(k, "fence.acquire")] = c.acquire
		}
		by[line("released", "fence.release")] = c.release
		res := Check(m, changed(t, tc, m, by, "sm_90", "O3").Program, 90)
		assert.Empty(t, res.Unknown, c.what)
		got := map[string]want{}
		for _, f := range res.Findings {
			got[f.Kernel] = want{string(f.Rule), f.Detail}
		}
		require.Len(t, got, len(c.want), "%s: %v", c.what, got)
		for k, w := range c.want {
			assert.Equal(t, w.rule, got[k].rule, "%s: %s", c.what, k)
			assert.Contains(t, got[k].detail, w.detail, "%s: %s", c.what, k)
		}
	}
	assert.Equal(t, "shared::cta", (&ptx.Inst{Name: "fence", Mods: []string{"release", "sync_restrict::shared::cta", "cluster"}}).Effect().Objects)
}

// TestRestrictedExecuted: so executed, such a kernel does what its machine code does.
func TestRestrictedExecuted(t *testing.T) {
	m := module(t, "testdata/restricted.ptx")
	tc := releases(t, "12.4")[0]
	by := map[int]string{}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			switch {
			case st.Inst == nil:
			case strings.HasPrefix(st.Inst.Text, "fence"):
				by[st.Inst.N] = "fence.acq_rel.cta;"
			case strings.HasPrefix(st.Inst.Text, "mbarrier"):
				by[st.Inst.N] = "mbarrier.test_wait.parity.shared.b64 w, [bar], 0;"
			}
		}
	}
	code := changed(t, tc, m, by, "sm_90", "O3")
	for _, kernel := range []string{"released", "acquired", "global"} {
		res, err := nvidia.Compare(t.Context(), m, code.Program, code.File, kernel, refine.Options{Runs: 2, Enough: true, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
		require.NoError(t, err, kernel)
		assert.Empty(t, res.Findings, kernel)
		assert.Empty(t, res.Cannot, kernel)
	}
}
