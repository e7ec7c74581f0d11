package refine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestAliased: one pointer's buffer may be another's, from its beginning or further on, wherever the pointers stand: loads that rise above
// stores are noticed, and an iteration that stores what the one before has stored shows that it is performed.
func TestAliased(t *testing.T) {
	text := func(params, head, body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(`+params+`)
.maxntid 32, 1, 1
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	`+head+`
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d2, %r0, 64, %d0; mad.wide.u32 %d3, %r0, 64, %d1;
	`+body+`
	ret;
}
`)
	}
	two := func(body string) *ir.Program {
		return text(".param .u64 from, .param .u64 to, .param .u32 n", "ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to]; ld.param.u32 %r1, [n];", body)
	}
	inside := func(body string) *ir.Program { // the pointers are in a structure, at the place of which its address is copied
		return text(".param .align 8 .b8 all[32]", "mov.b64 %d8, all; ld.param.u64 %d0, [%d8+8]; ld.param.u64 %d1, [%d8+24];", body)
	}
	const inTurn = "ld.global.u32 %r2, [%d2]; st.global.u32 [%d3], %r2; ld.global.u32 %r3, [%d2+8]; st.global.u32 [%d3+8], %r3;"
	const risen = "ld.global.u32 %r2, [%d2]; ld.global.u32 %r3, [%d2+8]; st.global.u32 [%d3], %r2; st.global.u32 [%d3+8], %r3;"
	const after = "ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2; ld.global.u32 %r4, [%d2]; st.global.u32 [%d3+4], %r4;"
	const before = "ld.global.u32 %r2, [%d2]; mov.u32 %r4, %r2; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2; st.global.u32 [%d3+4], %r4;"
	compare := func(a, b *ir.Program) *refine.Result {
		r, err := refine.Compare(context.Background(), a, b, refine.Options{Runs: 8, Seed: 1, Search: 1 << 20})
		require.NoError(t, err)
		return r
	}
	for name, p := range map[string]func(string) *ir.Program{"parameters": two, "structure": inside} {
		for _, c := range [][2]string{{inTurn, risen}, {after, before}} {
			require.NotEmpty(t, compare(p(c[0]), p(c[1])).Findings, "%s: %s", name, c[1])
			require.Empty(t, compare(p(c[0]), p(c[0])).Findings, name)
		}
	}
	rounds := two("mov.u32 %r5, 0; L: ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2; add.u32 %r5, %r5, 1; " +
		"setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;")
	require.Empty(t, compare(rounds, rounds).Undecided)
}
