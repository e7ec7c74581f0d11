package fakeptxas

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = `.version 7.0
.target sm_80
.visible .entry a_T0(.param .u64 p0)
{
	.loc 1 1000 0
	ld.param.u64 %q_rd0, [p0];
	.loc 1 1 0
	ld.relaxed.gpu.global.s32 %q_r1, [%q_rd0];
	mov.b32 %m0, %q_r1;
	.loc 1 1000 0
	and.b32 %q_r3, %q_r1, 2147483648;
	.loc 1 2 0
	membar.gl;
	.loc 1 3 0
	mov.b32 %m2, %v0;
	@!%q_p st.global.s32 [%q_rd1], %v0;
	.loc 1 4 0
	@%q_p ld.volatile.global.s32 %q_r2, [%q_rd0];
	mov.b32 %m3, %q_r2;
	.loc 1 2000 0
	xor.b32 %x0, %m0, 0x07f3f4b3;
	ret;
}
.visible .entry b_T0(.param .u64 p0)
{
	.loc 1 1 0
	membar.gl;
	ret;
}
`

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name         string
		edit         Edit
		gone, appear string
	}{
		{"move", Edit{Op: Move, Pos: 3, Before: 1}, "",
			"\t.loc 1 4 0\n\t@%q_p ld.volatile.global.s32 %q_r2, [%q_rd0];\n\tmov.b32 %m3, %q_r2;\n\t.loc 1 2 0\n\tmembar.gl;\n"},
		{"delete a fence", Edit{Op: Delete, Pos: 1}, "\t.loc 1 2 0\n\tmembar.gl;\n", "\t.loc 1 2 0\n\t.loc 1 3 0\n"},
		{"delete a store", Edit{Op: Delete, Pos: 2}, "st.global", "\tmov.b32 %m2, %v0;\n\t.loc 1 4 0\n"},
		{"respell", Edit{Op: Respell, Pos: 0, From: "ld.relaxed.gpu.", To: "ld."}, "relaxed", "\tld.global.s32 %q_r1, [%q_rd0];\n"},
		{"copy", Edit{Op: CopyReg, Pos: 0, From: "%m9"}, "ld.relaxed", "\tmov.b32 %q_r1, %m9;\n\tmov.b32 %m0, %q_r1;\n"},
		{"copy, guarded", Edit{Op: CopyReg, Pos: 3, From: "%m0"}, "ld.volatile", "\t@%q_p mov.b32 %q_r2, %m0;\n"},
		{"unguard", Edit{Op: Unguard, Pos: 2}, "@!%q_p", "\tst.global.s32 [%q_rd1], %v0;\n"},
		{"twice", Edit{Op: Twice, Pos: 2}, "", "\t@!%q_p st.global.s32 [%q_rd1], %v0;\n\t@!%q_p st.global.s32 [%q_rd1], %v0;\n"},
		{"insert", Edit{Op: Insert, Pos: 3, To: "fence.sc.gpu;"}, "", "\tfence.sc.gpu;\n\t.loc 1 4 0\n"},
		{"replace", Edit{Op: Replace, From: "and.b32 %q_r3, %q_r1, 2147483648;", To: "mov.b32 %q_r3, 0;"}, "and.b32", "\tmov.b32 %q_r3, 0;\n"},
	} {
		got, err := Apply(module, map[string][]Edit{"a_T0": {c.edit}})
		require.NoError(t, err, c.name)
		if c.gone != "" {
			require.NotContains(t, got, c.gone, c.name)
		}
		require.Contains(t, got, c.appear, c.name)
		_, other, _ := strings.Cut(module, ".visible .entry b_T0")
		require.True(t, strings.HasSuffix(got, other), "%s: other kernels are left alone", c.name)
	}
	same, err := Apply(module, map[string][]Edit{"c_T0": {{Op: Delete}}})
	require.NoError(t, err)
	require.Equal(t, module, same)
	require.Equal(t, []string{"a_T0", "b_T0"}, Kernels(module))
}

// TestApplyRefuses: an edit that does not fit is an error, never nothing.
func TestApplyRefuses(t *testing.T) {
	for _, e := range []Edit{
		{Op: Move, Pos: 1, Before: 3}, {Op: Move, Pos: 9, Before: 0}, {Op: Delete, Pos: 7}, {Op: Respell, Pos: 0, From: "ld.acquire.", To: "ld."},
		{Op: CopyReg, Pos: 1, From: "%m0"}, {Op: Unguard, Pos: 0}, {Op: Replace, From: "ret;;", To: ""}, {Op: Replace, From: ".loc",
			To: ""}, {Op: "nonsense", Pos: 0},
	} {
		_, err := Apply(module, map[string][]Edit{"a_T0": {e}})
		require.Error(t, err, "%+v", e)
	}
}

// TestNotShipped: the program does not contain the fake.
func TestNotShipped(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "optcheck/cmd/optcheck").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "optcheck/toolchain\n")
	require.NotContains(t, string(out), "fakeptxas")
}
