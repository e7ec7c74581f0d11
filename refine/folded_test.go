package refine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestFolded: the first thread of a row is no first lane where rows are short.
func TestFolded(t *testing.T) {
	of := func(last string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
.maxntid 128, 1, 1
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d2, %r0, 4, %d0; mad.wide.u32 %d3, %r0, 4, %d1;
	ld.global.u32 %r1, [%d2];
	shfl.sync.up.b32 %r2|%p0, %r1, 1, 0, -1;
	mov.u32 %r3, %r1;
	@%p0 add.u32 %r3, %r2, %r1;
	sub.u32 %r4, %r3, %r1;
	setp.eq.u32 %p1, %r0, 0;
	`+last+`
	st.global.u32 [%d3], %r5;
	ret;
}
`)
	}
	first := of("selp.b32 %r5, 0, %r4, %p1;")
	for _, c := range []struct {
		machine *ir.Program
		wrong   bool
	}{{first, false}, {of("mov.b32 %r5, %r4;"), true}} {
		r, err := refine.Compare(t.Context(), first, c.machine, refine.Options{Runs: 8, Seed: 1, Search: 1 << 20})
		require.NoError(t, err)
		require.Equal(t, c.wrong, len(r.Findings) > 0)
		require.Equal(t, c.wrong, r.Findings != nil && r.Findings[0].Input.Block[1] > 1)
		require.Empty(t, r.Undecided)
	}
}
