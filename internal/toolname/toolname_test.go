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

// TestInstalled: so do the names of what is installed.
func TestInstalled(t *testing.T) {
	folders := []string{"cuda-11.2", "cuda-12.4", "nvcc-12.4", "llvm-22", "other"}
	for name, want := range map[string][]string{
		"cuda-12.4": {"cuda-12.4"}, "ptxas 12.4.131": {"cuda-12.4"}, "ptxas-12.4": {"cuda-12.4"}, "12.4": {"cuda-12.4", "nvcc-12.4"}, "12.4.131": {"cuda-12.4", "nvcc-12.4"},
		"nvcc 12.4.131": {"nvcc-12.4"}, "ptxas": {"cuda-11.2", "cuda-12.4"}, "clang 22.1.8": {"llvm-22"}, "llc-22": {"llvm-22"}, "clang-cuda 22.1.8": {"llvm-22"},
		"other": {"other"}, "12.40": nil, "12.4.x": nil, "ptxas 112.4.1": nil, "": nil, "../cuda-12.4": nil, "2.4.131": nil,
	} {
		var got []string
		for _, f := range folders {
			if Installed(name, f) {
				got = append(got, f)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
