package reduce

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// releases returns the real toolchains. Without any, the test is skipped,
// unless OPTCHECK_REQUIRE_TOOLS says that this is a failure.
func releases(t testing.TB) []*toolchain.Toolchain {
	t.Helper()
	tcs, errs := tested.CUDA(context.Background(), toolchain.Options{})
	for _, e := range errs {
		t.Log(e)
	}
	if len(tcs) == 0 {
		required.Missing(t, "no toolchain found; make toolchains installs them")
	}
	return tcs
}

// finding makes a finding in a corpus test; it skips the test if that release
// is not installed.
func finding(t testing.TB, test, release, target, layout, rule string) *Finding {
	t.Helper()
	lt, ok := corpus.Lookup(test)
	require.True(t, ok, test)
	tcs, err := toolchain.Find(releases(t), release)
	if err != nil {
		required.Missing(t, "%v", err)
	}
	l, err := spec.ParseLayout(layout)
	require.NoError(t, err)
	return &Finding{Test: lt, Toolchain: tcs[0], Target: target, Level: "O3", Layout: l, Signature: Signature{Rule: rule}}
}

// real are findings that docs/results/cuda.md tells of.
var real = []struct{ test, release, target, layout, rule string }{
	{"coRR", "12.4", "sm_80", "symbols", "merged"},
	{"dlb-mp", "12.4", "sm_80", "offsets", "reordered"},
	{"mp+membar.gls", "11.8", "sm_35", "offsets", "fence-weakened"},
	{"coWW", "11.2", "sm_70", "pointers", "missing"},
	{"coWR", "12.4", "sm_80", "offsets", "missing"},
	{"sb", "11.8", "sm_70", "symbols", "reordered"},
	{"dlb-lb+membar.gls", "11.2", "sm_35", "symbols", "fence-weakened"},
}
