package optcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/spec"
)

// guardedLoad is a load under a mask, whose result is spilled, as clang makes it of
// guardedTest.
const guardedLoad = `
	s_mov_b32 s33, 0
	s_load_dwordx4 s[20:23], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	s_load_dwordx2 s[8:9], s[4:5], 0x18
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[22:23] glc
	v_mov_b32_e32 v2, s9
	buffer_store_dword v2, off, s[0:3], s33 offset:4
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e64 s[12:13], 0, v1
	s_mov_b64 s[10:11], exec
	s_and_b64 s[12:13], s[10:11], s[12:13]
	s_mov_b64 exec, s[12:13]
	s_cbranch_execz .LBB0_2
	global_load_dword v2, v0, s[20:21]
	s_waitcnt vmcnt(0)
	buffer_store_dword v2, off, s[0:3], s33 offset:4
.LBB0_2:
	s_mov_b64 exec, s[10:11]
	buffer_load_dword v2, off, s[0:3], s33 offset:4
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v3, LIT0, v1
	global_store_dword v0, v3, s[6:7]
	v_xor_b32_e32 v4, LIT1, v2
	global_store_dword v0, v4, s[6:7] offset:16
	s_xor_b32 s14, s9, LIT2
	v_mov_b32_e32 v5, s14
	global_store_dword v0, v5, s[6:7] offset:32
	s_xor_b32 s14, s9, LIT3
	v_mov_b32_e32 v6, s14
	global_store_dword v0, v6, s[6:7] offset:48`

const guardedTest = `GPU_PTX guarded
{ 0:.reg .pred p; 0:.reg .s32 r0; 0:.reg .s32 r1; }
 T0                      ;
 ld.volatile.s32 r0, [y] ;
 setp.eq.s32 p, r0, 0    ;
 @!p ld.s32 r1, [x]      ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r0=1 /\ 0:r1=0)
`

// TestAMDGuarded: what decides whether an access runs, and what its register holds if
// it does not, is compared: edits that were once called preserved.
func TestAMDGuarded(t *testing.T) {
	x, err := litmus.Parse("guarded", []byte(guardedTest))
	require.NoError(t, err)
	want, err := spec.FromTest(x, 0, spec.Pointers)
	require.NoError(t, err)
	want.SetCode(&x.Threads[0], []spec.Value{{Offset: 24, Bytes: 4, Instr: -1, Reg: "r1"}})
	first := "buffer_store_dword v2, off, s[0:3], s33 offset:4\n\ts_waitcnt vmcnt(0)\n\tv_cmp"
	second := "buffer_store_dword v2, off, s[0:3], s33 offset:4\n.LBB"
	edits(t, "gfx900", guardedLoad, want, []edit{
		{"as it is", "", "", ""},
		{"the register keeps its initial value", "v_mov_b32_e32 v2, s9\n", "v_mov_b32_e32 v2, s8\n", ""},
		{"inverted twice", "s_cbranch_execz .LBB0_2", "s_cbranch_execnz .LBB0_1\n\ts_branch .LBB0_2\n.LBB0_1:", ""},
		{"a branch by the SCC of 64 bits, which is not followed", "s_cbranch_execz", "s_cbranch_scc0", "unknown"},
		{"a branch by what nobody wrote", "s_cbranch_execz", "s_cbranch_vccz", "control-changed"},
		{"the branch inverted", "s_cbranch_execz", "s_cbranch_execnz", "control-changed"},
		{"an address as mask", "s_mov_b64 exec, s[12:13]", "s_mov_b64 exec, s[20:21]", "unknown"},
		{"a parameter in the condition", "v_cmp_ne_u32_e64 s[12:13], 0, v1",
			"v_cmp_ne_u32_e64 s[12:13], v0, v1\n\tv_cmp_ne_u32_e64 s[14:15], s8, 1\n\ts_and_b64 s[12:13], s[14:15], s[12:13]", "control-changed"},
		{"the old value lost", "v_mov_b32_e32 v2, s9\n", "", "unknown"},
		{"another old value", "v_mov_b32_e32 v2, s9\n", "v_mov_b32_e32 v2, s6\n", "value-changed"},
		{"no spill of the old value", first, first[strings.Index(first, "\n")+2:], "unknown"},
		{"spilled to another place", first, strings.Replace(first, "s33", "s31", 1), "unknown"},
		{"spilled over by a neighbour", second, "buffer_store_dword v0, off, s[0:3], s33 offset:6\n\t" + second, ""},
		{"a neighbour over the spill", second, strings.Replace(second, "\n", "\n\tbuffer_store_dword v0, off, s[0:3], s33 offset:6\n", 1),
			"unknown"},
		{"a store that may be over the spill", second, strings.Replace(second, "\n", "\n\tbuffer_store_dword v0, off, s[0:3], s31\n", 1),
			"unknown"},
		{"reloaded from another place", "buffer_load_dword v2, off, s[0:3], s33 offset:4", "buffer_load_dword v2, off, s[0:3], s33 offset:1",
			"unknown"},
		{"reloaded by another base", "buffer_load_dword v2, off, s[0:3], s33", "buffer_load_dword v2, off, s[0:3], s31", "unknown"},
		{"a byte reloaded", "buffer_load_dword v2, off", "buffer_load_ubyte v2, off", "unknown"},
		{"another register for some words", "v_xor_b32_e32 v3,",
			"v_cmp_eq_u32_e64 s[14:15], v1, 5\n\tv_cndmask_b32_e64 v1, v1, 7, s[14:15]\n\tv_xor_b32_e32 v3,", "value-changed"},
	})
}

// edit replaces text in a kernel, once; want is the rule that must be broken, "unknown", or
// nothing if the kernel is still the test.
type edit struct{ name, from, to, want string }

func edits(t *testing.T, arch, kernel string, s *spec.Spec, list []edit) {
	for _, c := range list {
		require.Contains(t, kernel, c.from, c.name)
		r, err := NewChecker().CheckAgainst(amdCode(t, arch, s, strings.Replace(kernel, c.from, c.to, 1)), s)
		require.NoError(t, err, c.name)
		r.decide()
		if c.want == "unknown" {
			assert.NotEqual(t, Preserved, r.Class, "%s: %+v", c.name, r)
			continue
		}
		assert.Contains(t, ids(r.Findings)+" ", c.want, "%s: %v", c.name, r.Findings)
		assert.Equal(t, c.want == "", r.Class == Preserved, "%s: %v %s %v", c.name, r.Class, r.Reason, fmt.Sprint(r.Findings))
	}
}
