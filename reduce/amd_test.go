package reduce

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/llvmir"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestMain also is the child that reads LLVM IR with a library.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == llvmir.ChildCommand {
		if err := llvmir.Run(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestAMD reduces a finding in what clang makes of OpenCL C. Tests that differ
// in PTX alone become one program there.
func TestAMD(t *testing.T) {
	tcs, _ := tested.LLVM(t.Context(), toolchain.Options{})
	var clang *toolchain.Toolchain
	for _, tc := range tcs {
		if tc.HasTarget("gfx900") {
			clang = tc
		}
	}
	if clang == nil {
		required.Missing(t, "no clang with target gfx900")
	}
	lt, _ := corpus.Lookup("coRR")
	f := &Finding{Test: lt, Toolchain: clang, Target: "gfx900", Level: "O2", Layout: spec.Offsets}
	res, err := Run(t.Context(), f, Options{})
	require.NoError(t, err)
	require.Equal(t, "merged", res.Min.Signature.Rule)
	require.Len(t, res.Min.Test.Threads, 1)
	require.Len(t, res.Min.Test.Threads[0].Body, 2)
	require.Equal(t, "O1", res.Min.Level)
	again := res.Min
	twice, err := Run(t.Context(), &again, Options{Audit: audit.Options{}})
	require.NoError(t, err)
	require.Empty(t, twice.Steps)
}
