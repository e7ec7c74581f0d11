package toolname

import (
	"slices"
	"testing"
)

// TestID: the names that commands print mean the toolchains that they print them of, and no others.
func TestID(t *testing.T) {
	ids := []string{"ptxas 12.4.131", "clang 19.1.7", "nvcc 12.4.131 + ptxas 11.2.152", "clang-cuda 19.1.7 + ptxas 11.8.89", "llc 22.1.8 + ptxas 12.4.131",
		"ptxas 11.8.89 cuda_11.8.r11.8/compiler.31833905_0"}
	for name, want := range map[string][]int{
		"ptxas 12.4.131": {0, 4}, "ptxas-12.4": {0, 4}, "cuda-12.4": {0, 4}, "cuda-12.4.131": {0, 4}, "12.4": {0, 2, 4}, "12": {0, 2, 4}, "11.8": {3, 5},
		"llvm-19": {1}, "19": {1, 3}, "llvm-22": {4}, "llc": {4}, "nvcc": {2}, "nvcc-12.4": {2}, "nvcc-12.4+11.2": {2}, "ptxas": {0, 2, 3, 4, 5},
		"nvcc 12.4.131 + ptxas 11.2.152": {2}, "nvcc-12.4.131-+-ptxas-11.2.152": {2}, "12.4.131+11.2.152": {2}, "nvcc-12.4+cuda-11.2": {2},
		"clang-cuda-19+11.8": {3}, "clang-cuda-19": {3}, "clang-19": {1}, "clang": {1}, "llc-22+12.4": {4},
		"nvcc-12.4+11.8": nil, "cuda-1": nil, "cuda-19": nil, "+": nil, "": nil, "nvcc-12.4+": nil, "12.4+11.2+11.2": nil, "12.4.1": nil, "131": nil,
		"2.4": nil, "ptx": nil, "nvcc-": {2}, "nvcc+ptxas": {2},
	} {
		var got []int
		for i, id := range ids {
			if ID(name, id) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	for _, id := range ids {
		if !ID(id, id) {
			t.Error(id)
		}
	}
}
