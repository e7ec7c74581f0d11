package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	const id = "nvcc 12.4.131 + ptxas 11.2.152"
	for word, want := range map[string]bool{id: true, "12": true, "12.4": true, "12.4.131": true, "nvcc": true, "ptxas 11.2": true, "11.2": true,
		"ptx": true, "": false, "13": false, "131": false, "4": false, "2.4": false, "12.4.1": false, "1": false, "11.21": false, "52": false} {
		require.Equal(t, want, Names(word, id), word)
	}
}

// TestNamesPrinted: the names that toolchain list prints mean the IDs that reports print.
func TestNamesPrinted(t *testing.T) {
	ids := []string{"ptxas 12.4.131", "clang 19.1.7", "nvcc 12.4.131 + ptxas 11.2.152", "clang-cuda 19.1.7 + ptxas 11.8.89", "llc 22.1.8 + ptxas 12.4.131"}
	for word, want := range map[string][]int{
		"ptxas-12.4": {0, 4}, "cuda-12.4": {0, 4}, "cuda-12.4.131": {0, 4}, "llvm-19": {1}, "nvcc-12.4": {2}, "nvcc-12.4+11.2": {2},
		"12.4.131+11.2.152": {2}, "nvcc-12.4+cuda-11.2": {2}, "clang-cuda-19+11.8": {3}, "clang-cuda-19": {3}, "llc-22+12.4": {4},
		"nvcc-12.4+11.8": nil, "cuda-12": {0, 4}, "cuda-1": nil, "cuda-19": nil, "+": nil, "nvcc-12.4+": nil, "12.4+11.2+11.2": nil,
	} {
		var got []int
		for i, id := range ids {
			if Names(word, id) {
				got = append(got, i)
			}
		}
		require.Equal(t, want, got, word)
	}
	for _, id := range ids {
		require.True(t, Names(id, id), id)
	}
}
