// Package tested finds the toolchains that the tests name: what they expect was written down from these, and whatever
// else a machine has plays no part in them. It is for tests.
package tested

import (
	"context"
	"slices"
	"strings"
	"testing"

	"optcheck/internal/required"
	"optcheck/toolchain"
)

// names are the releases that tests are written for.
var names = []string{
	"cuda-11.2", "cuda-11.8", "cuda-12.4", "nvcc-11.8", "nvcc-12.4",
	"llvm-14", "llvm-15", "llvm-19", "llvm-22", "clang-cuda-14", "clang-cuda-19", "clang-cuda-22",
}

// Named tells whether tests are written for each compiler of a toolchain.
func Named(tc *toolchain.Toolchain) bool {
	return !slices.ContainsFunc(strings.Split(tc.Name, "+"), func(name string) bool { return !slices.Contains(names, name) })
}

// keep leaves the toolchains that tests name: none in the light tier of the tests (scripts/testquick.sh).
func keep(all []*toolchain.Toolchain, errs []error) ([]*toolchain.Toolchain, []error) {
	if required.Quick() {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(tc *toolchain.Toolchain) bool { return !Named(tc) }), errs
}

// CUDA is toolchain.Discover for tests.
func CUDA(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	return keep(toolchain.Discover(ctx, o))
}

// Release is the CUDA toolkit of a release: "12.4". A test that needs one that is not there does what internal/required says.
func Release(t testing.TB, release string) *toolchain.Toolchain {
	t.Helper()
	found, _ := CUDA(t.Context(), toolchain.Options{})
	i := slices.IndexFunc(found, func(tc *toolchain.Toolchain) bool { return tc.Release() == release })
	if i < 0 {
		required.Missing(t, "no CUDA toolkit %s found", release)
	}
	return found[i]
}

// LLVM is toolchain.DiscoverLLVM for tests.
func LLVM(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	return keep(toolchain.DiscoverLLVM(ctx, o))
}

// LLC is toolchain.DiscoverLLC for tests.
func LLC(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	return keep(toolchain.DiscoverLLC(ctx, o))
}

// Fronts is toolchain.DiscoverFronts for tests.
func Fronts(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	return keep(toolchain.DiscoverFronts(ctx, o))
}

// Pairs is toolchain.DiscoverCUDA for tests.
func Pairs(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	return keep(toolchain.DiscoverCUDA(ctx, o))
}
