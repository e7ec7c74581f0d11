package toolchain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestObjdump: an object names its target, and is disassembled from gfx8 on.
func TestObjdump(t *testing.T) {
	all := realLLVM(t)
	tc := all[len(all)-1]
	for _, target := range []string{"gfx701", "gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"} {
		if !tc.HasTarget(target) {
			continue
		}
		res, err := tc.CompileLLVM(t.Context(), LLVMJob{Job: Job{Target: target, Level: "O2", Units: clKernels(2)}, Source: OpenCLC, Object: true})
		require.NoError(t, err)
		require.Empty(t, res.Failed)
		object := res.Batches[0].Object
		require.True(t, IsAMDObject(object))
		require.Equal(t, target, ObjectTarget(object))
		text, err := tc.Objdump(t.Context(), object, "o")
		if strings.HasPrefix(target, "gfx7") {
			require.ErrorContains(t, err, "no disassembler for gfx701")
			continue
		}
		require.NoError(t, err)
		require.Contains(t, string(text), "<k0>:")
		require.Contains(t, string(text), "s_endpgm")
	}
	_, err := tc.Objdump(t.Context(), []byte("\x7fELF"), "o")
	require.ErrorIs(t, err, ErrCompile)
}
