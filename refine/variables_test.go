package refine_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/refine"
)

// TestAddressesInVariables calls functions whose addresses stand in a table, and stores through a generic address of
// shared memory that stands in another.
func TestAddressesInVariables(t *testing.T) {
	p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.shared .align 4 .b8 s[64];
.func (.param .u32 r) f(.param .u32 n) { .reg .u32 x; ld.param.u32 x, [n]; add.u32 x, x, 1; st.param.u32 [r], x; ret; }
.func (.param .u32 r) g(.param .u32 n) { .reg .u32 x; ld.param.u32 x, [n]; mul.lo.u32 x, x, 3; st.param.u32 [r], x; ret; }
.global .align 8 .u64 table[2] = {f, g};
.global .align 8 .u64 at[1] = {generic(s+8)};
.global .align 4 .u32 out;
.visible .entry k()
{
	.reg .b32 %r<4>; .reg .b64 %d<4>;
	P: .callprototype (.param .u32 _) _ (.param .u32 _);
	ld.global.u64 %d0, [table+8];
	{ .param .u32 a; .param .u32 b; st.param.u32 [a], 14; call (b), %d0, (a), P; ld.param.u32 %r0, [b]; }
	ld.global.u64 %d1, [at];
	st.u32 [%d1], %r0;
	ld.shared.u32 %r1, [s+8];
	st.global.u32 [out], %r1;
	ret;
}
`)
	x, err := refine.Execute(p, refine.Choose(p, [3]int{1, 1, 1}, [3]int{1, 1, 1}, 1), emu.Policy{}, nil)
	require.NoError(t, err)
	require.True(t, x.Ended)
	written := x.Written()
	require.Len(t, written, 1)
	require.EqualValues(t, 42, binary.LittleEndian.Uint32(written[0].Data))
}
