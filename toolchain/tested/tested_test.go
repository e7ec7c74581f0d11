package tested

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/toolchain"
)

// TestHidden: tests see the toolchains that they are written for, and in their light tier none.
func TestHidden(t *testing.T) {
	var names []string
	found, errs := keep([]*toolchain.Toolchain{{Name: "cuda-12.4"}, {Name: "cuda-1.0"}, {Name: "llvm-19+cuda-11.8"}, {Name: "llvm-19+cuda-1.0"}}, nil)
	for _, tc := range found {
		names = append(names, tc.Name)
	}
	require.Empty(t, errs)
	if !required.Quick() {
		require.Equal(t, []string{"cuda-12.4", "llvm-19+cuda-11.8"}, names)
		return
	}
	require.Empty(t, names)
	require.NotEqual(t, "1", os.Getenv("OPTCHECK_REQUIRE_TOOLS"))
	require.Equal(t, "off", os.Getenv("GOPROXY"))
}
