package toolchain

import (
	"context"
	"slices"
	"sync"
	"testing"

	"optcheck/target"

	"github.com/stretchr/testify/require"
)

// realLLVM finds the releases of clang; see real.
func realLLVM(t testing.TB) []*Toolchain {
	t.Helper()
	return found(t, "clang", llvmOnce)
}

var llvmOnce = sync.OnceValues(func() ([]*Toolchain, []error) {
	return DiscoverLLVM(context.Background(), Options{Cache: "off"})
})

func TestLiveLLVM(t *testing.T) {
	for _, tc := range realLLVM(t) {
		require.Equal(t, target.AMD, tc.Vendor())
		require.GreaterOrEqual(t, tc.Major(), 13)
		require.Contains(t, tc.Targets, "tahiti")
		require.Contains(t, tc.Targets, "cypress")
		require.Contains(t, tc.Kind.(*LLVM).R600, "cypress")
		require.NotContains(t, tc.Targets, "generic")
		require.True(t, slices.IsSortedFunc(tc.Targets, target.Compare), "%v", tc.Targets)
		require.Equal(t, tc.Major() >= 19, slices.Contains(tc.Targets, "gfx942"), tc.ID)
		t.Logf("%s: %s, %d targets, libclc %q, %s", tc.ID, tc.Kind.(*LLVM).Clang, len(tc.Targets), tc.Kind.(*LLVM).Libclc, tc.Kind.(*LLVM).LibLLVM)
	}
}

func TestParseCPUs(t *testing.T) {
	require.Equal(t, []string{"tahiti", "gfx1030"}, parseCPUs([]byte("Debian clang version 19.1.7\nTarget: x\nAvailable CPUs for this target:\n\n\tgeneric\n\tgfx1030\n\ttahiti\n\nUse -mcpu or -mtune to specify the target's processor.\n")))
	require.Empty(t, parseCPUs([]byte("error: unknown target triple")))
}
