package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

func TestParsePtxas(t *testing.T) {
	r, err := parsePtxas([]string{"-arch=sm_90", "-O3", "-lineinfo", "batch.ptx", "-o", "batch.cubin"})
	require.NoError(t, err)
	require.Equal(t, request{options: []string{"-arch=sm_90", "-O3", "-lineinfo"}, in: "batch.ptx", out: "batch.cubin"}, r)
	r, err = parsePtxas([]string{"--version"})
	require.NoError(t, err)
	require.True(t, r.version)
	for _, bad := range [][]string{{"a.ptx"}, {"-o", "x"}, {"a", "b", "-o", "c"}, nil} {
		_, err = parsePtxas(bad)
		require.Error(t, err, "%v", bad)
	}
}

// The words of a driver's refusal, as one was seen to give them.
func TestAsPtxas(t *testing.T) {
	e := &runner.Error{Kind: runner.ErrCompile, Code: "CUDA_ERROR_INVALID_PTX",
		Detail: "ptxas application ptx input, line 4; fatal   : Parsing error near 'nonsense': syntax error\nptxas fatal   : Ptx assembly aborted due to errors"}
	require.Equal(t,
		"ptxas batch.ptx, line 4; fatal   : Parsing error near 'nonsense': syntax error\nptxas fatal   : Ptx assembly aborted due to errors",
		asPtxas(e, "batch.ptx"))
	require.Equal(t, "ptxas fatal   : CUDA_ERROR_INVALID_IMAGE ", asPtxas(&runner.Error{Code: "CUDA_ERROR_INVALID_IMAGE"}, "x"))
	require.Equal(t, "13.0.98", string(toolsVersion.FindStringSubmatch("\x00Cuda compilation tools, release 13.0, V13.0.98\x00")[1]))
}
