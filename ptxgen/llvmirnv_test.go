package ptxgen

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestNVPTX: scopes and parameters of LLVM IR for NVPTX, what it refuses, and
// what llc makes of it.
func TestNVPTX(t *testing.T) {
	x, _ := corpus.Lookup("mp+relaxed.gpus")
	u, err := EmitLLVMIR(x, Options{Target: "sm_80"})
	require.NoError(t, err)
	require.Contains(t, u.Text, "define ptx_kernel void @"+u.Name+"_T0(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0, i32 %v1, i32 %tok) {")
	require.Contains(t, u.Text, `syncscope("device") monotonic, align 4`)
	p, err := Emit(x, Options{Target: "sm_80"})
	require.NoError(t, err)
	for i := range p.Kernels {
		require.Equal(t, p.Kernels[i].OutParam, u.Kernels[i].OutParam)
		require.Equal(t, p.Kernels[i].Values, u.Kernels[i].Values)
	}
	require.NotContains(t, u.Text, "!dbg")
	l, err := EmitLLVMIR(x, Options{Target: "sm_80", Lines: true})
	require.NoError(t, err)
	require.Contains(t, l.Text, `monotonic, align 4, !dbg !DILocation(line: 2, scope: !KERNEL)`)
	require.Contains(t, l.Text, "_T0\", scope: !1, file: !1, line: 1000, type: !3, unit: !0, spFlags: DISPFlagDefinition)")
	mp, _ := corpus.Lookup("mp")
	_, err = EmitLLVMIR(mp, Options{Target: "sm_80"})
	require.ErrorContains(t, err, "cache operators")
	_, err = EmitLLVMIR(x, Options{Target: "sm_60"})
	require.ErrorContains(t, err, "needs sm_70")

	all, _ := tested.LLVM(t.Context(), toolchain.Options{Env: os.Getenv, Runner: toolchain.NewRunner(0, time.Minute)})
	i := slices.IndexFunc(all, func(tc *toolchain.Toolchain) bool { return tc.Major() == 22 && tc.Kind.(*toolchain.LLVM).LLC != "" })
	if i < 0 {
		required.Missing(t, "no llc of LLVM 22")
	}
	file := t.TempDir() + "/mp.ll"
	require.NoError(t, os.WriteFile(file, []byte("target triple = \"nvptx64-nvidia-cuda\"\n"+u.Text), 0o600))
	cmd := exec.Command(all[i].Kind.(*toolchain.LLVM).LLC, "-march=nvptx64", "-mcpu=sm_80", "-O3", file, "-o", "-")
	cmd.Env = all[i].Kind.(*toolchain.LLVM).Environment()
	ptx, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", ptx)
	require.Contains(t, string(ptx), "ld.relaxed.gpu.global.b32")
	require.Contains(t, string(ptx), "st.relaxed.gpu.global.b32")
}
