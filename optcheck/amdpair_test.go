package optcheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/spec"
)

// TestAMDTwoAddresses: an instruction with two addresses is two accesses, each of which must go where the test goes,
// and one instruction.
func TestAMDTwoAddresses(t *testing.T) {
	const body = `
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	s_load_dwordx4 s[8:11], s[4:5], 0x18
	v_mov_b32_e32 v9, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s8
	v_mov_b32_e32 v2, s9
	ACCESSES
	s_waitcnt lgkmcnt(0)
	v_xor_b32_e32 v3, LIT0, v1
	global_store_dword v9, v3, s[6:7]
	v_xor_b32_e32 v4, LIT1, v2
	global_store_dword v9, v4, s[6:7] offset:16
	s_xor_b32 s0, s10, LIT2
	v_mov_b32_e32 v5, s0
	global_store_dword v9, v5, s[6:7] offset:32`
	for _, c := range []struct {
		op             litmus.Op
		accesses, want string
	}{
		{litmus.OpSt, "ds_write_b32 v0, v1\nds_write_b32 v0, v2 offset:64", ""},
		{litmus.OpSt, "ds_write2_b32 v0, v1, v2 offset1:16", "merged"},
		{litmus.OpSt, "ds_write2_b32 v0, v2, v1 offset0:16", "merged reordered"},
		{litmus.OpSt, "ds_write2_b32 v0, v2, v1 offset1:16", "merged retargeted retargeted reordered"},
		{litmus.OpSt, "ds_write2_b32 v0, v1, v2 offset1:17", "merged retargeted"},
		{litmus.OpSt, "ds_write2_b32 v0, v1, v9 offset1:16", "extra-access missing"},
		{litmus.OpSt, "ds_write2st64_b32 v0, v1, v2 offset1:16", "merged retargeted"},
		{litmus.OpLd, "ds_read_b32 v1, v0\nds_read_b32 v2, v0 offset:64", ""},
		{litmus.OpLd, "ds_read2_b32 v[1:2], v0 offset1:16", "merged"},
		{litmus.OpLd, "ds_read2_b32 v[0:1], v0 offset1:16\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, v1\nv_mov_b32_e32 v1, v0", "merged"},
		{litmus.OpLd, "ds_read2_b32 v[1:2], v0 offset0:16", "merged retargeted retargeted"},
		{litmus.OpLd, "ds_read2_b32 v[1:2], v0 offset1:8", "merged retargeted"},
		{litmus.OpLd, "ds_read2_b32 v[1:2], v0 offset1:16\nds_read_b32 v7, v0", "merged duplicated"},
	} {
		k := spec.Kind{Op: c.op, Space: litmus.Shared, Width: 4}
		s := &spec.Spec{Layout: spec.Offsets, Locations: 2, Entries: []spec.Entry{{Pos: 0, Kind: k, Loc: 0}, {Pos: 1, Kind: k, Loc: 1}}}
		r, err := NewChecker().check(amdCode(t, "gfx900", s, strings.Replace(body, "ACCESSES", c.accesses, 1)), nil)
		require.NoError(t, err, c.accesses)
		assert.Empty(t, r.Reason, c.accesses)
		assert.ElementsMatch(t, strings.Fields(c.want), strings.Fields(ids(r.Findings)), "%s: %v", c.accesses, r.Findings)
	}
}
