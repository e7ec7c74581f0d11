package hunt

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/audit/store"
	"optcheck/internal/required"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// options are those of a small hunt with a real compiler.
func options(t *testing.T, tests int) Options {
	t.Helper()
	tcs, _ := tested.CUDA(t.Context(), toolchain.Options{})
	if len(tcs) == 0 {
		required.Missing(t, "no toolchain found; make toolchains installs them")
	}
	return Options{Bases: someBases(t), Seed: 4, Tests: tests, Audit: audit.Options{Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_80"},
		Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}, Build: "test"}}
}

// same compares reports but for what they cost.
func same(t *testing.T, want, got *Report) {
	t.Helper()
	for _, r := range []*Report{want, got} {
		r.OwnCPU, r.ToolCPU, r.Seconds, r.Last = 0, 0, 0, 0
		for _, row := range r.Rows {
			row.Seconds, row.example = 0, nil
		}
	}
	require.Equal(t, want, got)
}

// TestCores: the report does not depend on the number of cores.
func TestCores(t *testing.T) {
	o := options(t, 80)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	many, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 80, many.Tests)
	require.NotEmpty(t, many.Rows)
	runtime.GOMAXPROCS(1)
	o.Audit.Jobs = 1
	one, err := Run(t.Context(), o)
	require.NoError(t, err)
	same(t, many, one)
}

// TestGoesOn: a hunt that was stopped goes on from its store as if nothing had been, and
// what is known is not compiled again.
func TestGoesOn(t *testing.T) {
	o := options(t, 80)
	whole, err := Run(t.Context(), o)
	require.NoError(t, err)
	if o.Store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "hunt.store"), store.Create); err != nil {
		t.Fatal(err)
	}
	defer o.Store.Close()

	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(Progress) { cancel() } // with the first batch
	stopped, err := Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, stopped.Stopped)
	require.Less(t, stopped.Tests, 80)

	o.Progress = nil
	rest, err := Run(t.Context(), o)
	require.NoError(t, err)
	same(t, whole, rest)
	before := processes(o)
	again, err := Run(t.Context(), o)
	require.NoError(t, err)
	same(t, whole, again)
	require.Equal(t, before, processes(o), "nothing is compiled")
}

func processes(o Options) int64 { return o.Audit.Toolchains[0].Runner().Stats().Processes }
