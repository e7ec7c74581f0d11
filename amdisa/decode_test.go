package amdisa

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// describe decodes one instruction for a target and describes it in one line.
func describe(t *testing.T, arch, text string) string {
	tg, ok := targetOf(arch)
	require.True(t, ok, arch)
	tm := (&decoder{t: tg}).decode(text)
	var b strings.Builder
	in := tm.in
	b.WriteString(in.Role.String())
	if g := in.Guard.String(); g != "" && g != "@exec_lo" {
		b.WriteString(" " + g)
	}
	if in.Flow != isa.FlowNext {
		b.WriteString(" " + in.Flow.String())
	}
	m := in.Mem
	if m.Space != isa.SpaceNone {
		b.WriteString(" " + m.Space.String())
	}
	for _, s := range []struct {
		on bool
		s  string
	}{{m.Scalar, "scalar"}, {m.Scope != 0, m.Scope.String()}, {m.Atom != "", m.Atom}, {m.Bits != 0, "[" + m.Bits.String() + "]"},
		{m.Invalidate, "inv"}, {m.WriteBack, "wb"}} {
		if s.on {
			b.WriteString(" " + s.s)
		}
	}
	list := func(what string, l []isa.Reg) {
		if len(l) > 0 {
			b.WriteString("; " + what)
			for _, r := range l {
				if r != isa.RegExec {
					b.WriteString(" " + r.String())
				}
			}
		}
	}
	list("def", in.Defs)
	list("use", in.Uses)
	list("addr", in.Addrs)
	list("data", in.Data)
	for _, c := range in.Counts {
		b.WriteString("; +" + c.String())
	}
	for _, w := range in.Waits {
		b.WriteString("; " + w.String())
	}
	for _, mi := range in.Micro {
		b.WriteString("; " + mi.String())
	}
	return strings.ReplaceAll(b.String(), "; use;", ";")
}

// TestDecode: roles, registers, counters and values of instructions as real
// compilers print them.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ arch, text, want string }{
		// values
		{"gfx900", "v_mov_b32_e32 v0, 0x7f3a001", "alu; def R0; R0 = mov(0x7f3a001)"},
		{"gfx900", "s_xor_b32 s0, s0, 0x7f3a001", "alu; def UR0 scc; use UR0; UR0 = lop3.3c(UR0, 0x7f3a001, 0x0); scc = test.3c(UR0," +
			" 0x7f3a001, 0x0)"},
		{"gfx942", "s_xor_b64 s[0:1], s[0:1], s[4:5]", "alu; def UR0 UR1 scc; use UR0 UR1 UR4 UR5; UR0 = lop3.3c(UR0, UR4, 0x0); UR1 =" +
			" lop3.3c(UR1, UR5, 0x0)"},
		{"gfx900", "v_and_b32_e32 v1, 0x80000000, v0", "alu; def R1; use R0; R1 = lop3.c0(0x80000000, R0, 0x0)"},
		{"gfx900", "v_add_co_u32_e32 v4, vcc, v0, v4", "alu; def R4 vcc_lo vcc_hi; use R0 R4; R4 = add(R0, R4); vcc_lo = carry(R0, R4);" +
			" vcc_hi = carry(R0, R4)"},
		{"gfx900", "v_addc_co_u32_e32 v5, vcc, v1, v5, vcc", "alu; def R5 vcc_lo vcc_hi; use R1 R5 vcc_lo vcc_hi; R5 = addhi(R1, R5," +
			" vcc_lo); vcc_lo = carry(R1, R5, vcc_lo); vcc_hi = carry(R1, R5, vcc_lo)"},
		{"gfx600", "v_add_i32_e32 v0, vcc, s4, v0", "alu; def R0 vcc_lo vcc_hi; use UR4 R0; R0 = add(UR4, R0); vcc_lo = carry(UR4, R0);" +
			" vcc_hi = carry(UR4, R0)"},
		{"gfx900", "v_add_u32_e32 v0, s4, v0", "alu; def R0; use UR4 R0; R0 = add(UR4, R0)"},
		{"gfx900", "v_subrev_u32_e32 v0, 4, v0", "alu; def R0; use R0; R0 = add(R0, 0xfffffffc)"},
		{"gfx1030", "v_cndmask_b32_e64 v1, v2, 1, vcc_lo", "alu; def R1; use R2 vcc_lo; R1 = sel(0x1, R2, vcc_lo)"},
		{"gfx900", "v_cndmask_b32_e32 v0, v1, v2, vcc", "alu; def R0; use R1 R2 vcc_lo vcc_hi; R0 = sel(R2, R1, vcc_lo)"},
		{"gfx900", "v_cmp_ne_u32_e64 s[0:1], v1, 5", "alu; def UR0 UR1; use R1; UR0 = setp.ne.and(R1, 0x5, exec_lo); UR1 = setp.ne.and(R1," +
			" 0x5, exec_lo)"},
		{"gfx1030", "v_cmpx_lt_i32_e32 1, v8", "alu; def exec_hi; use R8; exec_lo = setp.lt.and.s(0x1, R8, exec_lo); exec_hi =" +
			" setp.lt.and.s(0x1, R8, exec_lo)"},
		{"gfx900", "s_and_saveexec_b64 s[0:1], vcc", "alu; def UR0 UR1 exec_hi scc; use vcc_lo vcc_hi exec_hi; exec_lo = lop3.c0(vcc_lo," +
			" exec_lo, 0x0); UR0 = mov(exec_lo); exec_hi = lop3.c0(vcc_hi, exec_hi, 0x0); UR1 = mov(exec_hi)"},
		{"gfx900", "s_andn2_saveexec_b64 s[0:1], s[0:1]", "alu; def UR0 UR1 exec_hi scc; use UR0 UR1 exec_hi; exec_lo = lop3.30(UR0," +
			" exec_lo, 0x0); UR0 = mov(exec_lo); exec_hi = lop3.30(UR1, exec_hi, 0x0); UR1 = mov(exec_hi)"},
		{"gfx900", "s_or_b64 exec, exec, s[4:5]", "alu; def exec_hi scc; use exec_hi UR4 UR5; exec_lo = lop3.fc(exec_lo, UR4, 0x0); exec_hi" +
			" = lop3.fc(exec_hi, UR5, 0x0)"},
		{"gfx900", "s_cselect_b64 s[0:1], -1, 0", "alu; def UR0 UR1; use scc; UR0 = sel(0xffffffff, 0x0, scc); UR1 = sel(0xffffffff, 0x0, scc)"},
		{"gfx900", "s_cmp_lg_u32 s4, 0", "alu; def scc; use UR4; scc = setp.ne.and(UR4, 0x0, true)"},
		{"gfx900", "s_cmpk_eq_i32 s4, 0xfff0", "alu; def scc; use UR4; scc = setp.eq.and.s(UR4, 0xfffffff0, true)"},
		{"gfx900", "s_cmp_eq_u64 s[4:5], 0", "alu; def scc; use UR4 UR5; scc = setpwide.eq.(UR4, UR5, 0x0, 0x0)"},
		{"gfx900", "s_movk_i32 s0, 0x8000", "alu; def UR0; UR0 = mov(0xffff8000)"},
		{"gfx900", "s_mov_b64 s[0:1], -1", "alu; def UR0 UR1; UR0 = mov(0xffffffff); UR1 = mov(0xffffffff)"},
		{"gfx900", "s_mov_b64 s[2:3], src_private_base", "alu; def UR2 UR3; UR2 = mov(0x0); UR3 = mov(src_private_base.hi)"},
		{"gfx900", "s_addc_u32 s1, s1, 0", "alu; def UR1 scc; use UR1 scc; UR1 = addhi(UR1, 0x0, scc); scc = carry(UR1, 0x0, scc)"},
		{"gfx900", "s_add_u32 s8, s8, callee@rel32@lo+4", "alu; def UR8 scc; use UR8; UR8 = mov(lo(callee))"},
		{"gfx900", "v_lshlrev_b64 v[4:5], 2, v[2:3]", "alu; def R4 R5; use R2 R3; R4 = shl(R2, 0x2); R5 = shfhi(R2, R3, 0x2)"},
		{"gfx900", "v_lshrrev_b64 v[4:5], 32, v[2:3]", "alu; def R4 R5; use R2 R3; R4 = shr(R3, 0x0); R5 = mov(0x0)"},
		{"gfx900", "v_ashrrev_i32_e32 v3, 31, v2", "alu; def R3; use R2; R3 = shr.s(R2, 0x1f)"},
		{"gfx900", "v_lshlrev_b32_e32 v0, v1, v2", "alu; def R0; use R1 R2"},
		{"gfx1100", "v_and_b16 v0.l, 1, v1.h", "alu; def R0; use R0 R1; R0.l = lop3.c0(0x1, R1.h, 0x0)"},
		{"gfx1100", "v_not_b16_e32 v0.h, v0.l", "alu; def R0; use R0; R0.h = lop3.0f(R0.l, 0x0, 0x0)"},
		{"gfx1100", "v_mov_b16_e32 v3.h, v1.l", "alu; def R3; use R3 R1; R3.h = mov(R1.l)"},
		{"gfx1100", "v_cndmask_b16 v0.l, v1.l, -1, s4", "alu; def R0; use R0 R1 UR4; R0.l = sel(0xffff, R1.l, UR4)"},
		{"gfx1100", "v_add_nc_u16 v0.l, v1.l, v2.l", "alu; def R0; use R0 R1 R2"},
		{"gfx1100", "v_cmp_eq_u16_e64 s1, v0.l, 1", "alu; def UR1; use R0; UR1 = setp.eq.and(R0.l, 0x1, exec_lo)"},
		{"gfx900", "v_cmp_lt_u16_e32 vcc, v0, v1", "alu; def vcc_lo vcc_hi; use R0 R1; vcc_lo = setp.lt.and(R0.l, R1.l, exec_lo);" +
			" vcc_hi = setp.lt.and(R0.l, R1.l, exec_lo)"},
		{"gfx1100", "v_cmp_lt_i16_e64 s1, v0.l, 1", "alu; def UR1; use R0"},
		{"gfx1100", "v_cmp_lt_i16_e64 s1, |v0.l|, 1", "alu; def UR1; use R0"},
		{"gfx1100", "v_xad_u32 v0, v1, s2, v3", "alu; def R0; use R1 UR2 R3; R0 = xoradd(R1, UR2, R3)"},
		{"gfx900", "v_and_or_b32 v0, v1, s2, v3", "alu; def R0; use R1 UR2 R3; R0 = lop3.ea(R1, UR2, R3)"},
		{"gfx900", "v_bfi_b32 v0, s1, v1, v2", "alu; def R0; use UR1 R1 R2; R0 = lop3.ca(UR1, R1, R2)"},
		{"gfx942", "v_lshl_add_u64 v[0:1], v[2:3], 0, s[4:5]",
			"alu; def R0 R1; use R2 R3 UR4 UR5; R0 = add(R2, UR4); R1 = addwide(R2, R3, UR4, UR5)"},
		{"gfx900", "v_mad_u64_u32 v[0:1], s[4:5], v2, s4, v[6:7]",
			"alu; def R0 R1 UR4 UR5; use R2 UR4 R6 R7; R0 = mad(R2, UR4, R6); R1 = madhi(R2, UR4, R6, R7)"},
		{"gfx90a", "v_pk_mov_b32 v[0:1], s[6:7], s[6:7] op_sel:[0,1]", "alu; def R0 R1; use UR6 UR7; R0 = mov(UR6); R1 = mov(UR7)"},
		{"gfx900", "v_readfirstlane_b32 s4, v0", "alu; def UR4; use R0; UR4 = first(R0)"},
		{"gfx900", "v_writelane_b32 v40, s4, 3", "alu; def R40; use R40 UR4; R40 = laneset(R40, UR4, 0x3)"},
		{"gfx900", "v_readlane_b32 s4, v40, 3", "alu; def UR4; use R40; UR4 = first(R40, 0x3)"},
		{"gfx900", "v_mbcnt_lo_u32_b32 v0, exec_lo, 0", "alu; def R0; R0 = lanecount.lo(exec_lo, 0x0)"},
		{"gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0", "alu; def R0 R1; use R1 R0; R0 = mov(R1); R1 = mov(R0)"},
		{"gfx900", "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", "alu; def R0; use R0 R1"},
		{"gfx900", "v_xor_b32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", "alu; def R0; use R1 R2"},
		{"gfx900", "v_mul_f32_e32 v0, 0.5, v1", "alu; def R0; use R1"},
		{"gfx900", "v_mov_b32_e32 v0, 1.0", "alu; def R0; R0 = mov(0x3f800000)"},
		{"gfx900", "v_mac_f32_e32 v0, v1, v2", "alu; def R0; use R0 R1 R2"},
		{"gfx942", "v_accvgpr_write_b32 a0, v1", "alu; def A0; use R1; A0 = mov(R1)"},
		// memory
		{"gfx900", "global_load_dword v0, v2, s[2:3] offset:16 glc", "load global [glc]; def R0; use R2 UR2 UR3; addr R2 UR2 UR3; +vmcnt"},
		{"gfx900", "global_store_dwordx2 v[0:1], v[2:3], off", "store global; use R0 R1 R2 R3; addr R0 R1; data R2 R3; +vmcnt"},
		{"gfx1030", "global_store_dword v[0:1], v2, off dlc", "store global [dlc]; use R0 R1 R2; addr R0 R1; data R2; +vscnt"},
		{"gfx1200", "global_store_b32 v[0:1], v2, off scope:SCOPE_SYS",
			"store global sys [scope:SCOPE_SYS]; use R0 R1 R2; addr R0 R1; data R2; +storecnt"},
		{"gfx942", "global_load_dword v0, v0, s[0:1] sc0 sc1", "load global sys [sc0 sc1]; def R0; use R0 UR0 UR1; addr R0 UR0 UR1; +vmcnt"},
		{"gfx942", "global_atomic_add v0, v1, v2, s[0:1] sc0",
			"atomic global ADD [sc0]; def R0; use R1 UR0 UR1 R2; addr R1 UR0 UR1; data R2; +vmcnt"},
		{"gfx942", "global_atomic_or v1, v2, s[0:1] sc1", "reduction global sys OR [sc1]; use R1 UR0 UR1 R2; addr R1 UR0 UR1; data R2; +vmcnt"},
		{"gfx900", "global_atomic_cmpswap v1, v[0:1], v[2:3], off glc",
			"atomic global CAS [glc]; def R1; use R0 R1 R3 R2; addr R0 R1; data R3 R2; +vmcnt"},
		{"gfx1200", "global_atomic_add_u32 v0, v0, v1, s[0:1] th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
			"atomic global gpu ADD [scope:SCOPE_DEV]; def R0; use R0 UR0 UR1 R1; addr R0 UR0 UR1; data R1; +loadcnt"},
		{"gfx600", "buffer_atomic_cmpswap v[0:1], v[2:3], s[4:7], 0 addr64 glc",
			"atomic global CAS [glc]; def R0; use UR4 UR5 UR6 UR7 R2 R3 R1 R0; addr UR4 UR5 R2 R3; data R1 R0; +vmcnt; +expcnt"},
		{"gfx600", "buffer_load_dword v0, off, s[4:7], 0 glc", "load global [glc]; def R0; use UR4 UR5 UR6 UR7; addr UR4 UR5; +vmcnt"},
		{"gfx803", "flat_load_dword v0, v[0:1]", "load generic; def R0; use flat_scratch_lo flat_scratch_hi R0 R1; addr R0 R1; +vmcnt; +lgkmcnt"},
		{"gfx1200", "flat_store_b32 v[0:1], v2", "store generic; use flat_scratch_lo flat_scratch_hi R0 R1 R2; addr R0 R1; data R2;" +
			" +storecnt; +dscnt"},
		{"gfx1100", "scratch_store_b32 off, v8, s33 offset:40", "store local; use UR33 R8; addr UR33; data R8; +vscnt"},
		{"gfx900", "s_load_dwordx2 s[0:1], s[4:5], 0x8", "load global scalar; def UR0 UR1; use UR4 UR5; addr UR4 UR5; +lgkmcnt"},
		{"gfx1200", "s_load_b64 s[0:1], s[4:5], 0x8", "load global scalar; def UR0 UR1; use UR4 UR5; addr UR4 UR5; +kmcnt"},
		{"gfx600", "ds_write_b32 v0, v1 offset:4", "store shared; use m0 R0 R1; addr R0; data R1; +lgkmcnt"},
		{"gfx900", "ds_read2_b32 v[0:1], v2 offset0:1 offset1:3", "load shared; def R0 R1; use R2; addr R2; +lgkmcnt"},
		{"gfx900", "ds_cmpst_rtn_b32 v0, v3, v1, v2", "atomic shared CAS; def R0; use R3 R1 R2; addr R3; data R1 R2; +lgkmcnt"},
		{"gfx1100", "ds_cmpstore_rtn_b32 v0, v3, v1, v2", "atomic shared CAS; def R0; use R3 R2 R1; addr R3; data R2 R1; +lgkmcnt"},
		{"gfx900", "ds_add_u32 v0, v1 gds", "reduction region ADD; use m0 R0 R1; addr R0; data R1; +lgkmcnt; +expcnt"},
		// caches
		{"gfx600", "buffer_wbinvl1", "cache gpu inv wb"},
		{"gfx1030", "buffer_gl0_inv", "cache cta inv"},
		{"gfx1030", "buffer_gl1_inv", "cache gpu inv"},
		{"gfx90a", "buffer_wbl2", "cache sys wb; +vmcnt"},
		{"gfx942", "buffer_wbl2 sc1", "cache gpu [sc1] wb; +vmcnt"},
		{"gfx942", "buffer_inv sc0 sc1", "cache sys [sc0 sc1] inv; +vmcnt"},
		{"gfx1200", "global_inv scope:SCOPE_DEV", "cache gpu [scope:SCOPE_DEV] inv; +loadcnt"},
		{"gfx1200", "global_wb scope:SCOPE_SYS", "cache sys [scope:SCOPE_SYS] wb; +storecnt"},
		{"gfx900", "s_dcache_inv", "cache scalar gpu inv; +lgkmcnt"},
		// waits
		{"gfx900", "s_waitcnt vmcnt(0) lgkmcnt(0)", "wait; vmcnt(0); lgkmcnt(0)"},
		{"gfx600", "s_waitcnt     vmcnt(0) & expcnt(0)", "wait; vmcnt(0); expcnt(0)"},
		{"gfx600", "s_waitcnt vmcnt(0) lgkmcnt(15)", "wait; vmcnt(0)"},
		{"gfx1030", "s_waitcnt vmcnt(0) lgkmcnt(15)", "wait; vmcnt(0); lgkmcnt(15)"},
		{"gfx600", "s_waitcnt 0xf70", "wait; vmcnt(0)"},
		{"gfx900", "s_waitcnt 0x3f70", "wait; vmcnt(0)"},
		{"gfx1030", "s_waitcnt_vscnt null, 0x0", "wait; vscnt(0)"},
		{"gfx1200", "s_wait_loadcnt_dscnt 0x101", "wait; loadcnt(1); dscnt(1)"},
		{"gfx1200", "s_wait_kmcnt 0x0", "wait; kmcnt(0)"},
		{"gfx1100", "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)", "nop"},
		{"gfx1100", "s_waitcnt_depctr 0xffe3", "nop"},
		{"gfx1100", "s_clause 0x1", "nop"},
		// control flow
		{"gfx900", "s_cbranch_execz .LBB0_2", "branch @!exec_lo jump; use"},
		{"gfx900", "s_cbranch_scc1 .LBB0_2", "branch @scc jump; use scc"},
		{"gfx900", "s_cbranch_vccz .LBB0_2", "branch @!vcc_lo jump; use vcc_lo"},
		{"gfx900", "s_swappc_b64 s[30:31], s[16:17]", "branch call; def UR30 UR31; use UR16 UR17"},
		{"gfx900", "s_setpc_b64 s[30:31]", "branch return; use UR30 UR31"},
		{"gfx900", "s_endpgm", "branch exit"},
		{"gfx900", "s_barrier", "barrier cta"},
		{"gfx1200", "s_barrier_signal -1", "barrier cta"},
		// fail closed
		{"gfx900", "v_frobnicate_b32 v0, v1", "unknown; use R0 R1"},
		{"gfx900", "global_load_dword v0", "unknown; use R0"},
		{"gfx900", "s_set_gpr_idx_on s0, gpr_idx(DST)", "unknown; use UR0"},
		{"gfx900", "v_movrels_b32_e32 v0, v1", "unknown; use R0 R1"},
		{"gfx900", "buffer_load_dword v0, off, s[4:7], 0 frob", "unknown; use R0 UR4 UR5 UR6 UR7"},
		{"gfx1100", "v_dual_mov_b32 v0, v1 :: v_dual_frob_b32 v1, v0", "unknown; use R1 R0"},
	} {
		assert.Equal(t, c.want, describe(t, c.arch, c.text), "%s %s", c.arch, c.text)
	}
}
