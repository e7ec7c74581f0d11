package audit

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// releases returns the real toolchains. Without any, the test is skipped,
// unless OPTCHECK_REQUIRE_TOOLS says that this is a failure.
func releases(t testing.TB) []*toolchain.Toolchain { return discovered(t, toolchain.Options{}) }

// ptxRoad returns the road of a ptxas that is not there: it writes kernels.
func ptxRoad(t testing.TB) pipeline.Pipeline {
	p, err := pipeline.Of(&toolchain.Toolchain{Kind: toolchain.CUDA{}, MaxPTX: "8.4"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// listings finds them such that nvdisasm prints every cubin.
func listings(t testing.TB) []*toolchain.Toolchain {
	return discovered(t, toolchain.Options{Listings: true})
}

func discovered(t testing.TB, o toolchain.Options) []*toolchain.Toolchain {
	t.Helper()
	tcs, errs := tested.CUDA(context.Background(), o)
	for _, e := range errs {
		t.Log(e)
	}
	if len(tcs) == 0 {
		required.Missing(t, "no toolchain found; make toolchains installs them")
	}
	return tcs
}

// full reports whether the whole matrix is wanted (OPTCHECK_FULL=1) rather than
// a slice that has each generation and both kinds of level.
func full() bool { return os.Getenv("OPTCHECK_FULL") == "1" }

// visited runs the matrix and returns every kernel with its result.
func visited(t testing.TB, o Options, f func(kernelVisit)) *event.Run {
	t.Helper()
	jobs, err := o.plan()
	require.NoError(t, err)
	run := event.NewRun()
	a := newAuditor(o, run)
	a.visit = f
	require.NoError(t, a.run(context.Background(), jobs))
	return run
}

// preserved reports whether a visited kernel was found preserved.
func (v kernelVisit) preserved() bool {
	return v.result != nil && v.result.Class == optcheck.Preserved
}
