package toolchain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func clKernels(n int) []Unit {
	units := make([]Unit, n)
	for i := range units {
		name := fmt.Sprintf("k%d", i)
		units[i] = Unit{Name: name, Text: "__attribute__((always_inline)) __kernel void " + name + "(__global int *x, __global int *y, volatile __global uint *out, uint v)\n" +
			"{\n int r = *(volatile __global int *)x;\n *(volatile __global int *)y = v;\n out[0] = (uint)r ^ 0x07f3a001u;\n}\n"}
	}
	return units
}

func TestClangBatch(t *testing.T) {
	for _, tc := range realLLVM(t) {
		for _, target := range []string{"tahiti", "gfx900", "gfx1030"} {
			for _, level := range []string{"O0", "O3"} {
				res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: target, Level: level, Units: clKernels(20), BatchUnits: 10}, Source: OpenCLC})
				require.NoError(t, err)
				require.Empty(t, res.Failed, "%s %s", tc.ID, target)
				require.Len(t, res.Batches, 2)
				for _, b := range res.Batches {
					require.GreaterOrEqual(t, strings.Count(string(b.Text), "s_endpgm"), 10)
				}
			}
		}
	}
}

// TestClangBisection: units that the front end, the back end or the linker of
// built-ins refuses fail alone, with their own words.
func TestClangBisection(t *testing.T) {
	for _, tc := range realLLVM(t) {
		units := clKernels(24)
		units[3].Text = strings.Replace(units[3].Text, "int r =", "int r ==", 1)
		units[7].Text = strings.Replace(units[7].Text, "*(volatile __global int *)y = v;", "y[0] = atomic_cmpxchg(x, 0, 1);", 1)
		units[11].Text = strings.Replace(units[11].Text, "int r =", "unknown_type q; int r =", 1)
		res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: "gfx900", Level: "O2", Units: units}, Source: OpenCLC})
		require.NoError(t, err)
		require.Len(t, res.Failed, 3, "%v", res.Failed)
		require.ErrorIs(t, res.Failed[3], ErrCompile)
		require.Contains(t, res.Failed[3].Error(), "k3:3: ")
		require.ErrorIs(t, res.Failed[7], ErrCompile)
		require.Contains(t, res.Failed[7].Error(), "the kernel calls _Z14atomic_cmpxchg")
		require.Contains(t, res.Failed[11].Error(), "unknown_type")
		n := 0
		for _, b := range res.Batches {
			n += len(b.Units)
			require.False(t, slices.Contains(b.Units, 3) || slices.Contains(b.Units, 7) || slices.Contains(b.Units, 11))
		}
		require.Equal(t, 21, n)
	}
}

// TestClangBackEnd: what the r600 back end cannot select fails that unit only.
func TestClangBackEnd(t *testing.T) {
	tc := realLLVM(t)[0]
	units := clKernels(6)
	units[2].Text = "__kernel void k2(__global int *x, __global int *o)\n{\n o[0] = __sync_val_compare_and_swap(x, 0, 1);\n}\n"
	res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: "cypress", Level: "O2", Units: units}, Source: OpenCLC})
	require.NoError(t, err)
	require.Len(t, res.Failed, 1, "%v", res.Failed)
	require.ErrorIs(t, res.Failed[2], ErrCompile)
	require.Contains(t, res.Failed[2].Error(), "k2")
}

func TestClangLibrary(t *testing.T) {
	units := clKernels(2)
	units[0].Text = strings.Replace(units[0].Text, "*(volatile __global int *)y = v;", "mem_fence(CLK_GLOBAL_MEM_FENCE); y[0] = atomic_cmpxchg(x, 0, 1);", 1)
	for _, tc := range realLLVM(t) {
		for _, target := range []string{"tahiti", "gfx900"} {
			res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: target, Level: "O2", Units: units}, Source: OpenCLC, Library: true})
			require.NoError(t, err)
			if tc.LibclcFile(target) == "" {
				require.ErrorIs(t, res.Failed[0], ErrNoLibrary)
				continue
			}
			require.Empty(t, res.Failed, "%s %s", tc.ID, target)
			require.Contains(t, string(res.Batches[0].Text), "cmpswap")
		}
	}
}

// TestClangStages: LLVM IR before and after the optimiser.
func TestClangStages(t *testing.T) {
	for _, tc := range realLLVM(t) {
		for stage, want := range map[Stage]bool{FrontEnd: true, Middle: false} {
			res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: "gfx900", Level: "O2", Units: clKernels(3)}, Source: OpenCLC, Emit: stage})
			require.NoError(t, err)
			require.Empty(t, res.Failed)
			text := string(res.Batches[0].Text)
			require.Contains(t, text, "load volatile")
			require.Equal(t, want, strings.Contains(text, "alloca"), "%s %v", tc.ID, stage)
		}
	}
}

func TestCheckTarget(t *testing.T) {
	require.NoError(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n"), "gfx90a"))
	require.NoError(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a:sramecc+\"\n"), "gfx90a"))
	require.NoError(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa-unknown-gfx942\"\n"), "gfx942"))
	require.NoError(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa-unknown-gfx9-generic\"\n"), "gfx9-generic"))
	require.Error(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa-unknown-gfx942\"\n"), "gfx90a"))
	require.NoError(t, checkTarget([]byte("\t.amd_amdgpu_isa \"amdgcn-mesa-mesa3d--gfx600\"\n"), "tahiti"))
	require.NoError(t, checkTarget([]byte("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx9-4-generic\"\n"), "gfx9-4-generic"))
	require.NoError(t, checkTarget(nil, "cypress"))
	require.ErrorContains(t, checkTarget([]byte("\t.amd_amdgpu_isa \"amdgcn-unknown-unknown--gfx600\"\n"), "gfx1100"), "for gfx600, not for gfx1100")
	require.Error(t, checkTarget([]byte("x"), "gfx1100"))
}
