package mapping

import (
	"slices"
	"testing"

	"optcheck/internal/required"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// discovered finds toolchains; without one, the test is skipped, unless
// OPTCHECK_REQUIRE_TOOLS=1 makes that a failure.
func discovered(t testing.TB, o toolchain.Options) []*toolchain.Toolchain {
	t.Helper()
	tcs, errs := tested.CUDA(t.Context(), o)
	return found(t, tcs, errs)
}

// llvms finds the releases of LLVM that have libclc.
func llvms(t testing.TB) []*toolchain.Toolchain {
	t.Helper()
	tcs, errs := tested.LLVM(t.Context(), toolchain.Options{})
	return found(t, slices.DeleteFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.Kind.(*toolchain.LLVM).Libclc == "" }), errs)
}

func found(t testing.TB, tcs []*toolchain.Toolchain, errs []error) []*toolchain.Toolchain {
	t.Helper()
	for _, e := range errs {
		t.Log(e)
	}
	if len(tcs) == 0 {
		required.Missing(t, "no toolchain found; make toolchains installs them")
	}
	return tcs
}
