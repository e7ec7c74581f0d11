package amdisa

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestTwins: a kernel of clang-22 -O0 holds the body that it calls, and the body
// is still a function of its own, which no kernel is.
func TestTwins(t *testing.T) {
	b, err := os.ReadFile("testdata/golden/llvm22_gfx1100_O0.s")
	require.NoError(t, err)
	p, err := Parse("k.s", b)
	require.NoError(t, err)
	funcs := map[string]*isa.Func{}
	for _, f := range p.Funcs {
		funcs[f.Name] = f
	}
	k, body := funcs["depctrl"], funcs[twinPrefix+"depctrl"]
	require.NotNil(t, k)
	require.NotNil(t, body)
	assert.True(t, body.Callable)
	assert.False(t, k.Callable)
	stores, exits := 0, 0
	for i := range k.Insts {
		in := &k.Insts[i]
		assert.NotEqual(t, isa.FlowCall, in.Flow, in.Text)
		assert.NotEqual(t, isa.FlowReturn, in.Flow, in.Text)
		if in.Target >= 0 {
			assert.Less(t, in.Target, len(k.Insts))
		}
		if in.Role == isa.RoleStore && in.Mem.Space == isa.SpaceGlobal {
			stores++
		}
		if in.Flow == isa.FlowExit {
			exits++
		}
	}
	assert.Equal(t, 3, stores, "two arms and the result")
	assert.Equal(t, 1, exits)
	for i, ok := range k.Reachable() {
		assert.True(t, ok, "block %d cannot be reached", i)
	}
}

// TestOtherCalls: a call of something else stays a call.
func TestOtherCalls(t *testing.T) {
	p, err := Parse("k.s", []byte(`	.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
	.type	__clang_ocl_kern_imp_k,@function
__clang_ocl_kern_imp_k:
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.type	k,@function
k:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, other@rel32@lo+4
	s_addc_u32 s5, s5, other@rel32@hi+12
	s_swappc_b64 s[30:31], s[4:5]
	s_endpgm
	.amdhsa_kernel k
	.end_amdhsa_kernel
.Lfunc_end1:
`))
	require.NoError(t, err)
	require.Len(t, p.Funcs, 2)
	assert.Equal(t, isa.FlowCall, p.Funcs[1].Insts[3].Flow)
	assert.Len(t, p.Funcs[1].Insts, 5)
}
