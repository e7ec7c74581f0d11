package optcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/amdisa"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// amdCode writes the assembly of a kernel for a target. LITn stands for the nth
// literal of the specification.
func amdCode(t *testing.T, target string, s *spec.Spec, body string) *isa.Func {
	t.Helper()
	lits, err := s.Literals()
	require.NoError(t, err)
	for i := len(lits) - 1; i >= 0; i-- {
		body = strings.ReplaceAll(body, fmt.Sprintf("LIT%d", i), fmt.Sprintf("0x%x", lits[i]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\t.amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n\t.text\nk:\n", target)
	for _, l := range strings.Split(strings.TrimSpace(body), "\n") {
		b.WriteString("\t" + strings.TrimSpace(l) + "\n")
	}
	b.WriteString("\ts_endpgm\n.Lfunc_end0:\n\t.amdhsa_kernel k\n\t\t.amdhsa_user_sgpr_count 6\n" +
		"\t\t.amdhsa_user_sgpr_private_segment_buffer 1\n" +
		"\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\t.end_amdhsa_kernel\n")
	prog, err := amdisa.Parse("k.s", []byte(b.String()))
	require.NoError(t, err)
	require.Empty(t, prog.Problems)
	require.Len(t, prog.Funcs, 1)
	return prog.Funcs[0]
}

// fenced is load y; fence; load x, or with stores.
func fenced(op litmus.Op, sem litmus.Sem, fence spec.Kind) *spec.Spec {
	k := spec.Kind{Op: op, Sem: sem, Space: litmus.Global, Width: 4}
	if sem == litmus.SemRelaxed {
		k.Scope = litmus.ScopeGPU
	}
	return &spec.Spec{Locations: 2, Entries: []spec.Entry{{Pos: 0, Kind: k, Loc: 1}, {Pos: 1, Kind: fence}, {Pos: 2, Kind: k, Loc: 0}}}
}

var (
	memFence   = spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Space: litmus.Global}
	agentFence = spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Scope: litmus.ScopeGPU}
)

// kernel is loads of y and x around a fence, and the results.
const loadsAround = `
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	s_load_dword s8, s[4:5], 0x18
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	FIRST
	FENCE
	SECOND
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_xor_b32_e32 v3, LIT0, v1
	global_store_dword v0, v3, s[6:7]
	v_xor_b32_e32 v4, LIT2, v2
	global_store_dword v0, v4, s[6:7] offset:32
	s_xor_b32 s9, s8, LIT1
	v_mov_b32_e32 v5, s9
	global_store_dword v0, v5, s[6:7] offset:16
	s_xor_b32 s9, s8, LIT3
	v_mov_b32_e32 v6, s9
	global_store_dword v0, v6, s[6:7] offset:48`

// TestAMDRules shows each rule of AMD's ordering on the smallest change that
// breaks it.
func TestAMDRules(t *testing.T) {
	y, x := "global_load_dword v1, v0, s[2:3] glc", "global_load_dword v2, v0, s[0:1] glc"
	sy, sx := "s_load_dword s10, s[2:3], 0x0", "s_load_dword s11, s[0:1], 0x0"
	relaxed, plain := litmus.SemRelaxed, litmus.SemNone
	cases := []struct {
		name, target          string
		sem                   litmus.Sem
		fence                 spec.Kind
		first, middle, second string
		want, notes           string
	}{
		{"mem_fence waits", "gfx900", plain, memFence, y, "s_waitcnt vmcnt(0)", x, "", "caches-untouched"},
		{"nothing of mem_fence", "gfx900", plain, memFence, y, "", x, "fence-removed wait-missing", "caches-untouched"},
		{"a wait that lets one pass", "gfx900", plain, memFence, y, "s_waitcnt vmcnt(1)", x, "fence-weakened wait-weakened", "caches-untouched"},
		{"a wait for another counter", "gfx900", plain, memFence, y, "s_waitcnt lgkmcnt(0)", x, "fence-weakened wait-missing",
			"caches-untouched"},
		{"an agent fence", "gfx900", relaxed, agentFence, y, "s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol", x, "", ""},
		{"no invalidation", "gfx900", relaxed, agentFence, y, "s_waitcnt vmcnt(0)", x, "fence-weakened invalidate-missing", ""},
		{"no wait before the invalidation", "gfx900", relaxed, agentFence, y, "buffer_wbinvl1_vol\ns_waitcnt vmcnt(0)", x,
			"fence-weakened wait-missing", ""},
		{"RDNA has two caches", "gfx1030", relaxed, agentFence, y + " dlc", "s_waitcnt vmcnt(0)\nbuffer_gl0_inv", x + " dlc",
			"fence-weakened invalidate-missing", ""},
		{"RDNA", "gfx1030", relaxed, agentFence, y + " dlc", "s_waitcnt vmcnt(0)\nbuffer_gl1_inv\nbuffer_gl0_inv", x + " dlc", "", ""},
		{"a load without glc", "gfx900", relaxed, agentFence, "global_load_dword v1, v0, s[2:3]", "s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol", x,
			"weakened", ""},
		{"a scalar load behind the fence", "gfx900", plain, agentFence, y, "s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol",
			sx + "\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, s11", "fence-weakened invalidate-missing", ""},
		{"the scalar cache invalidated too", "gfx900", plain, agentFence, y, "s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol\ns_dcache_inv",
			sx + "\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, s11", "", ""},
		{"scalar loads complete in any order", "gfx900", plain, memFence, sy, "buffer_wbinvl1_vol",
			sx + "\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, s11\nv_mov_b32_e32 v1, s10", "fence-weakened wait-missing", "caches-untouched"},
		{"a register used too early", "gfx900", plain, memFence, y, "s_waitcnt vmcnt(0)", x + "\nv_mov_b32_e32 v7, v2", "wait-missing",
			"caches-untouched"},
	}
	for _, c := range cases {
		s := fenced(litmus.OpLd, c.sem, c.fence)
		body := strings.NewReplacer("FIRST", c.first, "FENCE", c.middle, "SECOND", c.second).Replace(loadsAround)
		r, err := NewChecker().check(amdCode(t, c.target, s, body), nil)
		require.NoError(t, err, c.name)
		assert.Empty(t, r.Reason, c.name)
		assert.Equal(t, c.want, ids(r.Findings), "%s: %v", c.name, r.Findings)
		assert.Equal(t, c.notes, ids(r.Notes), "%s: %v", c.name, r.Notes)
	}
}

// TestAMDStores: stores are counted apart on RDNA, and CDNA 3 writes back its L2.
func TestAMDStores(t *testing.T) {
	cases := []struct{ name, target, bits, middle, want string }{
		{"GCN counts stores with loads", "gfx900", "", "s_waitcnt vmcnt(0)", ""},
		{"RDNA does not", "gfx1030", "", "s_waitcnt vmcnt(0)", "fence-weakened wait-missing"},
		{"RDNA", "gfx1030", "", "s_waitcnt_vscnt null, 0x0", ""},
		{"CDNA 3", "gfx942", " sc1", "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)", ""},
		{"no write-back", "gfx942", " sc1", "s_waitcnt vmcnt(0)", "fence-weakened writeback-missing"},
		{"a write-back of the work-group", "gfx942", " sc1", "buffer_wbl2 sc0\ns_waitcnt vmcnt(0)", "fence-weakened writeback-missing"},
		{"a write-back that nothing waits for", "gfx942", " sc1", "s_waitcnt vmcnt(0)\nbuffer_wbl2 sc1", "fence-weakened wait-missing"},
		{"a weak store", "gfx942", "", "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)", "weakened weakened"},
	}
	for _, c := range cases {
		s := fenced(litmus.OpSt, litmus.SemRelaxed, agentFence)
		body := `
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx4 s[8:11], s[4:5], 0x10
	s_load_dword s12, s[4:5], 0x20
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v1, s10
	v_mov_b32_e32 v2, s11
	global_store_dword v0, v1, s[2:3]` + c.bits + "\n" + c.middle + `
	global_store_dword v0, v2, s[0:1]` + c.bits + `
	v_xor_b32_e32 v3, LIT0, v1
	global_store_dword v0, v3, s[8:9]
	v_xor_b32_e32 v4, LIT2, v2
	global_store_dword v0, v4, s[8:9] offset:32
	s_xor_b32 s13, s12, LIT1
	v_mov_b32_e32 v5, s13
	global_store_dword v0, v5, s[8:9] offset:16
	s_xor_b32 s13, s12, LIT3
	v_mov_b32_e32 v6, s13
	global_store_dword v0, v6, s[8:9] offset:48`
		r, err := NewChecker().check(amdCode(t, c.target, s, body), nil)
		require.NoError(t, err, c.name)
		assert.Empty(t, r.Reason, c.name)
		assert.Equal(t, c.want, ids(r.Findings), "%s: %v", c.name, r.Findings)
	}
}

// TestAMDInvalidateBehindStores: a sequentially consistent fence invalidates after the
// stores before it, an acquire-release one need not.
func TestAMDInvalidateBehindStores(t *testing.T) {
	k := spec.Kind{Op: litmus.OpSt, Sem: litmus.SemRelaxed, Scope: litmus.ScopeGPU, Space: litmus.Global, Width: 4}
	load := k
	load.Op = litmus.OpLd
	for _, c := range []struct {
		sem          litmus.Sem
		middle, want string
	}{
		{litmus.SemSC, "s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol", ""},
		{litmus.SemSC, "buffer_wbinvl1_vol\ns_waitcnt vmcnt(0)", "fence-weakened wait-missing"},
		{litmus.SemAcqRel, "buffer_wbinvl1_vol\ns_waitcnt vmcnt(0)", ""},
	} {
		s := &spec.Spec{Locations: 2, Entries: []spec.Entry{{Pos: 0, Kind: k, Loc: 1},
			{Pos: 1, Kind: spec.Kind{Op: litmus.OpFence, Sem: c.sem, Scope: litmus.ScopeGPU}}, {Pos: 2, Kind: load, Loc: 0}}}
		body := strings.NewReplacer("FIRST", "v_mov_b32_e32 v1, s8\nglobal_store_dword v0, v1, s[2:3]", "FENCE", c.middle, "SECOND",
			"global_load_dword v2, v0, s[0:1] glc").Replace(loadsAround)
		r, err := NewChecker().check(amdCode(t, "gfx900", s, body), nil)
		require.NoError(t, err)
		assert.Empty(t, r.Reason)
		assert.Equal(t, c.want, ids(r.Findings), "%v %s: %v", c.sem, c.middle, r.Findings)
	}
}

// TestAMDVolatile: a volatile access is complete before the next one, and before an
// atomic; an access that is neither may be issued before.
func TestAMDVolatile(t *testing.T) {
	first := spec.Kind{Op: litmus.OpSt, Sem: litmus.SemVolatile, Space: litmus.Global, Width: 4}
	atomic := spec.Kind{Op: litmus.OpRed, Atom: litmus.AtomAdd, Space: litmus.Global, Width: 4}
	weak := spec.Kind{Op: litmus.OpLd, Space: litmus.Global, Width: 4}
	for _, c := range []struct {
		second             spec.Kind
		access, wait, want string
	}{
		{atomic, "s_load_dword s10, s[4:5], 0x1c\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, s10\nglobal_atomic_add v0, v2, s[0:1]",
			"s_waitcnt vmcnt(0)", ""},
		{atomic, "s_load_dword s10, s[4:5], 0x1c\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, s10\nglobal_atomic_add v0, v2, s[0:1]", "",
			"wait-missing"},
		{weak, "global_load_dword v2, v0, s[0:1]", "", ""},
	} {
		s := &spec.Spec{Locations: 2, Entries: []spec.Entry{{Pos: 0, Kind: first, Loc: 1}, {Pos: 1, Kind: c.second, Loc: 0}}}
		body := strings.NewReplacer("FIRST", "v_mov_b32_e32 v1, s8\nglobal_store_dword v0, v1, s[2:3]", "FENCE", c.wait, "SECOND", c.access,
			"LIT2, v2", "LIT1, v2", "LIT1", "LIT2").Replace(loadsAround)
		body, _, _ = strings.Cut(body, "s_xor_b32 s9, s8, LIT3")
		r, err := NewChecker().check(amdCode(t, "gfx900", s, body), nil)
		require.NoError(t, err)
		assert.Empty(t, r.Reason)
		assert.Contains(t, strings.Split(ids(r.Findings), " "), c.want, "%v: %v", c.second, r.Findings)
	}
}

// TestEvergreenAck: on TeraScale a write is complete when it was acknowledged and
// the acknowledgement waited for.
func TestEvergreenAck(t *testing.T) {
	dump := func(store, wait string) *isa.Func {
		prog, err := amdisa.Parse("k.isa", []byte(`; --------  Disassembly --------------------
00 ALU: ADDR(32) CNT(4) KCACHE0(CB1:0-15)
      0  x: LSHR        R0.x,  KC0[0].x,  2
         y: LSHR        R1.x,  KC0[1].x,  2
      1  x: MOV         R2.x,  1
01 MEM_RAT_CACHELESS_STORE_RAW`+store+`: RAT(1)[R0].x___, R2, ARRAY_SIZE(4)  VPM
`+wait+`03 MEM_RAT_CACHELESS_STORE_RAW: RAT(1)[R1].x___, R2, ARRAY_SIZE(4)  VPM
END_OF_PROGRAM
`))
		require.NoError(t, err)
		require.Empty(t, prog.Problems)
		return prog.Funcs[0]
	}
	want := fenced(litmus.OpSt, litmus.SemNone, memFence)
	places := map[int]string{0: "param+0x4", 1: "param+0x0"}
	for _, c := range []struct{ store, wait, want string }{
		{"_ACK", "02 WAIT_ACK: Outstanding_acks <= 0\n", ""},
		{"_ACK", "", "fence-removed wait-missing"},
		{"_ACK", "02 WAIT_ACK: Outstanding_acks <= 1\n", "fence-weakened wait-weakened"},
		{"", "02 WAIT_ACK: Outstanding_acks <= 0\n", "fence-weakened wait-missing"},
	} {
		r := NewChecker().CheckUnmarked(dump(c.store, c.wait), want, places)
		assert.Empty(t, r.Reason)
		assert.Equal(t, c.want, ids(r.Findings), "%q %q: %v", c.store, c.wait, r.Findings)
	}
}

// TestAMDSpilledLane: a guarded load whose value is kept in a lane of a spilled vector
// register is the test's load where paths join; a lane that only one path has
// set is nobody's.
func TestAMDSpilledLane(t *testing.T) {
	k := spec.Kind{Op: litmus.OpLd, Space: litmus.Global, Width: 4}
	v := k
	v.Sem = litmus.SemVolatile
	s := &spec.Spec{Locations: 2, Entries: []spec.Entry{{Pos: 0, Kind: v, Loc: 1}, {Pos: 1, Kind: k, Loc: 0, Guarded: true}},
		Deps: []spec.Dep{{From: 0, To: 1, Kind: spec.DepCtrl}}}
	const body = `
	s_load_dwordx4 s[8:11], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	s_load_dword s12, s[4:5], 0x18
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	BEFORE
	global_load_dword v1, v0, s[10:11] glc
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[14:15], v1, 0
	s_and_b64 vcc, exec, s[14:15]
	SPILL
	s_cbranch_vccnz .LBB0_2
	RELOAD
	s_load_dword s13, s[8:9], 0x0
	s_waitcnt lgkmcnt(0)
	v_writelane_b32 v2, s13, 5
	SPILL
	.LBB0_2:
	RELOAD
	v_readlane_b32 s13, v2, 5
	v_xor_b32_e32 v3, LIT0, v1
	global_store_dword v0, v3, s[6:7]
	s_xor_b32 s13, s13, LIT1
	v_mov_b32_e32 v4, s13
	global_store_dword v0, v4, s[6:7] offset:16
	s_xor_b32 s13, s12, LIT2
	v_mov_b32_e32 v5, s13
	global_store_dword v0, v5, s[6:7] offset:32
	s_xor_b32 s13, s12, LIT3
	v_mov_b32_e32 v6, s13
	global_store_dword v0, v6, s[6:7] offset:48`
	whole := "s_or_saveexec_b64 s[16:17], -1\nbuffer_%s_dword v2, off, s[0:3], 0\ns_mov_b64 exec, s[16:17]\ns_waitcnt vmcnt(0)"
	for _, c := range []struct{ name, before, want string }{
		{"set on both paths", "v_writelane_b32 v2, s12, 5", ""},
		{"set on one path only", "v_writelane_b32 v2, s12, 4", "extra-access missing"},
	} {
		text := strings.NewReplacer("BEFORE", c.before, "SPILL", fmt.Sprintf(whole, "store"), "RELOAD", fmt.Sprintf(whole, "load")).Replace(body)
		r, err := NewChecker().check(amdCode(t, "gfx900", s, text), nil)
		require.NoError(t, err, c.name)
		assert.Empty(t, r.Reason, c.name)
		assert.Equal(t, c.want, ids(r.Findings), "%s: %v", c.name, r.Findings)
	}
}
