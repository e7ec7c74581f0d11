package refine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestInputs: what machine code does otherwise is noticed where numbers come through shared memory, where all of several are small, where one count
// alone is negative, and in launches of two dimensions.
func TestInputs(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 n, .param .u32 m)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .pred %p<4>;
	.shared .align 16 .b8 s[8192];
	ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m];
	mov.u32 %r0, %tid.x; mov.u32 %r3, s; mov.u32 %r4, %tid.y;
	mad.lo.u32 %r3, %r0, 8, %r3;
	mad.wide.u32 %d2, %r0, 8, %d0; mad.wide.u32 %d3, %r0, 8, %d1;
	`+body+`
E:	ret;
}
`)
	}
	const copied = "cp.async.ca.shared.global [%r3], [%d2], 8; cp.async.wait_all; bar.sync 0; ld.shared.f64 %e1, [%r3]; "
	const stored = "ld.global.b32 %r5, [%d2]; st.shared.b32 [%r3], %r5; bar.sync 0; ld.shared.f32 %f1, [%r3]; "
	for _, c := range []struct {
		name, body, part, other string
		search                  int64
	}{
		{"copied to shared memory", copied + "mul.rn.f64 %e2, %e1, %e1; st.global.f64 [%d3], %e2;", "mul.rn", "mul.rz", 0},
		{"stored there", stored + "mul.rn.f32 %f2, %f1, %f1; st.global.f32 [%d3], %f2;", "mul.rn", "mul.rz", 0},
		{"subnormal", "setp.lt.u32 %p1, %r4, 1; @%p1 bra E; ld.global.v2.f32 {%f1, %f2}, [%d2]; ld.global.v2.f32 {%f3, %f4}, [%d2+4096]; " +
			"add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f1, %f1, %f3; st.global.f32 [%d3], %f1;", "add.f32 %f1, %f1, %f3", "add.ftz.f32 %f1, %f1, %f3", 1 << 22},
		{"one negative", "setp.ge.s32 %p1, %r0, %r2; @%p1 bra E; max.s32 %r5, %r1, 0; st.global.u32 [%d3], %r5;", "max.s32 %r5, %r1, 0", "mov.u32 %r5, %r1", 1 << 22},
		{"two dimensions", "setp.lt.u32 %p1, %r4, 3; @%p1 bra E; st.global.u32 [%d3], %r0;", "st.global", "mov.u32 %r0, %laneid; st.global", 1 << 22},
	} {
		t.Run(c.name, func(t *testing.T) {
			compare := func(body string) *refine.Result {
				r, err := refine.Compare(t.Context(), text(c.body), text(body), refine.Options{Runs: 2, Search: c.search})
				require.NoError(t, err)
				return r
			}
			require.Empty(t, compare(c.body).Findings)
			require.NotEmpty(t, compare(strings.Replace(c.body, c.part, c.other, 1)).Findings)
		})
	}
}
