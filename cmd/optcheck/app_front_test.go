package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit/device"
	"optcheck/internal/required"
	"optcheck/pipeline"
	"optcheck/program"
	"optcheck/runner"
	"optcheck/target"
	"optcheck/toolchain"
)

// deviceOnly is a session that only says what its device is.
type deviceOnly struct{ runner.Session }

func (deviceOnly) Device() runner.Device { return runner.Device{Name: "a GPU", Target: "sm_80"} }

// TestAppOfCUDA makes PTX of a program in CUDA C++ for a device, with its sites, and
// checks its machine code.
func TestAppOfCUDA(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		return filepath.Join(dir, name)
	}
	write("own.h", "#define TO 1\n")
	write("k.cu", `#include "own.h"
extern "C" __global__ void k(unsigned *x, unsigned *f) { *x = TO; __threadfence(); atomicExch(f, 1); }
`)
	file := write("k.yaml", `name: k
source: k.cu
buffers:
  x: {type: u32, count: 1}
  f: {type: u32, count: 1}
launches:
  - {kernel: k, grid: 1, block: 1, args: [x, f]}
check:
  - {buffer: x, at: 0, equals: 1}
`)
	env := &environment{ctx: t.Context(), stderr: io.Discard, getenv: os.Getenv}
	env.settings.vendor, env.settings.timeout, env.settings.disassembler = target.NVIDIA, "60s", "dictionary"
	pairs, err := discover(t.Context(), env.forSource(pipeline.CUDA))
	require.NoError(t, err)
	if len(pairs) == 0 {
		required.Missing(t, "no front end of CUDA C++ is installed")
	}
	ptxas, err := discover(t.Context(), env)
	require.NoError(t, err)
	at := slices.IndexFunc(ptxas, func(tc *toolchain.Toolchain) bool { return tc.Version == "12.4.131" })
	require.GreaterOrEqual(t, at, 0)

	a := &app{env: env, f: &appFlags{}, s: deviceOnly{}, tools: map[string]*device.Compiler{"sm_80": {Tool: ptxas[at]}}}
	a.f.level = "O3"
	a.p, err = program.Load(file)
	require.NoError(t, err)
	a.road, err = a.roadOf(t.Context())
	require.NoError(t, err)
	require.Len(t, a.road.Sites(), 2)
	b, err := a.road.Build(t.Context(), program.Full(1, 2), true)
	require.NoError(t, err)
	require.Equal(t, "preserved", b.Class, b.Reason)
	require.Contains(t, a.code(), "membar.gl", "what the report shows")

	write("k.cu", "__global__ void k(int *x) { *x = unheard; }\n")
	a.p, err = program.Load(file)
	require.NoError(t, err)
	_, err = a.roadOf(t.Context())
	require.ErrorContains(t, err, "k.cu:1")
	require.ErrorContains(t, err, "unheard")
}
