package refine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/refine"
)

// TestHosted: what a host writes into constant memory is an input of the kernel.
func TestHosted(t *testing.T) {
	const kernel = `.version 8.4
.target sm_90
.address_size 64
.const .align 4 .u32 count;
.const .align 4 .f32 scale[8];
.visible .entry k(.param .u64 p) {
	.reg .pred %p<3>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<6>;
	ld.param.u64 %d0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d1, %d0, %d1;
	ld.const.u32 %r1, [count];
	setp.ge.u32 %p1, %r0, %r1;
	@%p1 bra E;
	and.b32 %r2, %r0, 7;
	mul.wide.u32 %d2, %r2, 4;
	mov.u64 %d3, scale;
	add.u64 %d2, %d3, %d2;
	ld.const.f32 %f1, [%d2];
	setp.gt.f32 %p2, %f1, 0f42C80000;
	@%p2 bra E;
	st.global.f32 [%d1], %f1;
E:	ret;
}`
	for name, c := range map[string]struct {
		machine string
		wrong   bool
	}{
		"as it is":         {kernel, false},
		"another element":  {strings.Replace(kernel, "%r0, 7;", "%r0, 3;", 1), true},
		"another bound":    {strings.Replace(kernel, "setp.ge", "setp.gt", 1), true},
		"no greater scale": {strings.Replace(kernel, "@%p2 bra E;", "", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := refine.Compare(t.Context(), lowered(t, kernel), lowered(t, c.machine), refine.Options{Search: 1 << 22})
			require.NoError(t, err)
			require.Equal(t, c.wrong, len(res.Findings) > 0, "%v", res.Findings)
			if !c.wrong {
				require.Empty(t, res.Unseen)
				require.Empty(t, res.Undecided)
			}
		})
	}
}

// TestHostedMuch: of much constant memory a part is chosen.
func TestHostedMuch(t *testing.T) {
	vars, loads := "", ""
	for i := range 15 {
		vars += fmt.Sprintf(".const .align 4 .b8 much%d[4096];\n", i)
		loads += fmt.Sprintf("ld.const.u32 %%r1, [much%d+16]; add.u32 %%r0, %%r0, %%r1;\n", i)
	}
	kernel := ".version 8.4\n.target sm_90\n.address_size 64\n" + vars + ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<3>; .reg .b64 %d<2>;\n" +
		"ld.param.u64 %d0, [p];\nmov.u32 %r0, 0;\n" + loads + "st.global.u32 [%d0], %r0;\nret;\n}\n"
	res, err := refine.Compare(t.Context(), lowered(t, kernel), lowered(t, kernel), refine.Options{Search: 1 << 20})
	require.NoError(t, err)
	require.Empty(t, res.Findings)
	require.Positive(t, res.Runs)
}

// TestIndices: an index of 64 bits that memory holds is small, so that a kernel that checks it goes on.
func TestIndices(t *testing.T) {
	var more string // of which each has to be small
	for at := range 6 {
		more += fmt.Sprintf("ld.global.u64 %%d8, [%%d4+%d]; add.u64 %%d6, %%d6, %%d8;", 1024*(at+1))
	}
	kernel := `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 index) {
	.reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %d<12>;
	ld.param.u64 %d0, [out];
	ld.param.u64 %d1, [in];
	ld.param.u64 %d2, [index];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d3, %r0, 8;
	add.u64 %d4, %d2, %d3;
	add.u64 %d5, %d0, %d3;
	ld.global.u64 %d6, [%d4];
	` + more + `
	setp.ge.u64 %p1, %d6, 4096;
	@%p1 trap;
	mad.lo.u64 %d7, %d6, 12, %d1;
	ld.global.u32 %r1, [%d7+8];
	st.global.u32 [%d5], %r1;
	ret;
}`
	res, err := refine.Compare(t.Context(), lowered(t, kernel), lowered(t, kernel), refine.Options{Runs: 2})
	require.NoError(t, err)
	require.Empty(t, res.Unseen)
	res, err = refine.Compare(t.Context(), lowered(t, kernel), lowered(t, strings.Replace(kernel, "[%d7+8]", "[%d7+4]", 1)), refine.Options{Runs: 2})
	require.NoError(t, err)
	require.NotEmpty(t, res.Findings)
}
