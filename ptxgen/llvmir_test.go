package ptxgen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/spec"
)

// TestLLVMIRKernel: a guarded load, ordered accesses and scopes, as text.
func TestLLVMIRKernel(t *testing.T) {
	x, _ := corpus.Lookup("cl-cas-sl+acquire+release")
	u, err := EmitLLVMIR(x, Options{Target: "gfx900"})
	require.NoError(t, err)
	for _, line := range []string{
		"define amdgpu_kernel void @" + u.Name + "_T1(ptr addrspace(1) %p0, ptr addrspace(1) %p1, ptr addrspace(1) %out, i32 %v0, i32 %v1, i32 %v2, i32 %tok) {\nentry:\n",
		`cmpxchg ptr addrspace(1) %p0, i32 %v1, i32 %v2 syncscope("agent") acquire acquire`,
		`atomicrmw xchg ptr addrspace(1) %p0, i32 %v1 syncscope("agent") release`,
		"= phi i32 [ %tok, %entry ], [ %q",
		"store volatile i32 ",
	} {
		require.Contains(t, u.Text, line)
	}
	typed, err := EmitLLVMIR(x, Options{Target: "gfx900", TypedIR: true})
	require.NoError(t, err)
	require.Contains(t, typed.Text, "bitcast i8 addrspace(1)* %p1 to i32 addrspace(1)*")
	require.NotContains(t, typed.Text, "ptr addrspace")
	f, _ := corpus.Lookup("cl-mp+fence.release+fence.acquire")
	u, err = EmitLLVMIR(f, Options{Target: "gfx900", Layout: spec.Symbols})
	require.NoError(t, err)
	require.Contains(t, u.Text, `fence syncscope("agent") release`)
	require.Contains(t, u.Text, "_T0_L0 = addrspace(1) global [4 x i32] zeroinitializer, align 16")
	_, err = EmitLLVMIR(f, Options{Target: "cypress"})
	require.ErrorContains(t, err, "amdgcn only")
}
