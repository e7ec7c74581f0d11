package device

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// asyncFaults are changes of one instruction of the PTX of an asynchronous test, after which it says something else, or more, than the machine code.
var asyncFaults = []struct{ what, with string }{
	{`(mbarrier\.test_wait\.parity\S* \S+, \[\S+\], )0;`, "${1}1;"},
	{`(expect_tx\S* _, \[\S+\], )16;`, "${1}32;"},
	{`(mbarrier\.arrive\.shared\.b64 _, \[\S+\]);`, "$1, 2;"},
	{`(wait_group )1;`, "${1}0;"},
	{`(cp\.async\.ca\.\S+ \S+ \S+ )4;`, "${1}8;"},
	{`fence\.proxy\.async;`, "fence.proxy.alias;"},
	{`(barrier\.cluster\.arrive)\.relaxed;`, "$1;"},
	{`\.release\.cta`, ".release.cluster"},
	{`\.noinc`, ""},
	{`cp\.async\.commit_group;`, "cp.async.wait_all;"},
	{`bar\.cta\.sync 0;|bar\.sync 0;`, "bar.sync 1;"},
	{`(bar\.warp\.sync) 3;`, "$1 7;"},
	{`bar\.warp\.sync 3;`, "// gone"},
	{`(shfl\.sync)\.idx`, "$1.up"},
	{`(shfl\.sync.*, )3;`, "${1}7;"},
	{`(vote\.sync)\.any`, "$1.all"},
	{`(vote\.sync)\.all`, "$1.any"},
	{`(vote\.sync.*, )3;`, "${1}7;"},
	{`(redux\.sync)\.max`, "$1.min"},
	{`(redux\.sync)\.add`, "$1.xor"},
	{`(match)\.any(\.sync\.b32)`, "$1.any.sync.b64"},
}

// TestAsyncFaults: what differs from the PTX by one word of an asynchronous operation is not validated.
func TestAsyncFaults(t *testing.T) {
	m, err := pipeline.NewMaker(newest(t, "sm_90"), "sm_90", "O3")
	require.NoError(t, err)
	var kernels []*ptxgen.Harness
	names, least := []string{"bulk-source-fence", "copy-older-group", "cluster-relaxed", "shfl-flag-sync", "vote-mp", "redux-mp", "warp-mp"}, 20
	if os.Getenv("OPTCHECK_FULL") != "" {
		names, least = append(names, "mbar-mp", "bulk-mp", "bulk-out-reuse", "copy-mbarrier-noinc", "copy-barrier", "dsm-mp-narrow", "shfl-up", "vote-flag", "vote-value", "redux-value", "warp-sb",
			"warp-three", "match-mp"), 50
	}
	for _, x := range tests(t, names...) {
		h, err := m.Emit(x, ptxgen.FormFast, spec.Pointers)
		require.NoError(t, err)
		kernels = append(kernels, h)
	}
	made, failed, err := m.Make(t.Context(), kernels)
	require.NoError(t, err)
	require.Empty(t, failed)
	n := map[bool]int{}
	for i := range made {
		code, err := m.Decode(t.Context(), &made[i])
		require.NoError(t, err)
		for _, k := range made[i].Kernels {
			h := kernels[k]
			fn, err := code.Func(h.Name)
			require.NoError(t, err)
			for _, f := range asyncFaults {
				for _, at := range regexp.MustCompile(f.what).FindAllStringIndex(h.Text, -1) {
					wrong := *h
					wrong.Text = h.Text[:at[0]] + regexp.MustCompile(f.what).ReplaceAllString(h.Text[at[0]:at[1]], f.with) + h.Text[at[1]:]
					b := &Binary{Test: h.Test, Form: h.Form, Harness: &wrong, Image: newImage(made[i].Image)}
					require.NoError(t, b.compare(t.Context(), "sm_90", code, fn))
					require.NoError(t, b.execute(t.Context(), "sm_90", code, fn))
					if n[b.Validated]++; b.Validated {
						t.Errorf("%s: %q is validated as %q", h.Test.Name, h.Text[at[0]:at[1]], f.with)
					}
				}
			}
		}
	}
	require.GreaterOrEqual(t, n[false], least)
	t.Log(n)
}
