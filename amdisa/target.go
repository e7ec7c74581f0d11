package amdisa

import (
	"strings"

	gpu "optcheck/target"
)

// target is what decoding needs to know about a GCN, CDNA or RDNA target.
type target struct {
	name  string
	gen   int  // 6 … 12; 0 if unknown
	gfx94 bool // gfx940 and later CDNA: sc0, sc1, nt
	wave  int  // 32 or 64 when known
}

// targetOf describes a target of GCN or later by its name: gfx90a, tahiti,
// gfx9-generic, amdgcn-amd-amdhsa--gfx90a:sramecc+. ok is false for other names.
func targetOf(name string) (target, bool) {
	g, ok := gpu.Of(name)
	if !ok || g.Major == 0 {
		return target{}, false
	}
	t := target{name: g.Name, gen: g.Major, gfx94: g.Family == gpu.GFX940}
	if t.gen < 10 {
		t.wave = 64
	}
	return t, true
}

// guess infers the generation of a listing that does not name its target, from spellings that
// are unique to it. The name is that of the family: gfx9, gfx940, ….
func guess(s string) target {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	name := "gfx6"
	switch {
	case has("s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt", "s_wait_storecnt", "scope:SCOPE_", "s_barrier_signal", "global_inv",
		"global_wb"):
		name = "gfx12"
	case has("s_load_b32", "s_load_b64", "s_load_b128", "s_load_b256", "global_load_b", "global_store_b", "ds_load_", "ds_store_",
		"s_delay_alu", "v_dual_", "buffer_load_b", "scratch_load_b"):
		name = "gfx11"
	case has("s_waitcnt_vscnt", "buffer_gl0_inv", "s_inst_prefetch", "s_code_end", " dlc", "v_add_co_ci_u32", "s_clause", "v_add_nc_u32",
		"s_and_saveexec_b32", ", null"):
		name = "gfx10"
	case has(" sc0", " sc1", "buffer_inv sc", "v_lshl_add_u64"):
		name = "gfx940"
	case has("v_accvgpr_mov", "buffer_wbl2", "buffer_invl2"):
		name = "gfx90a"
	case has("\tglobal_", " global_", "v_add_co_u32", "v_lshl_add_u32", "v_subb_co_u32", "v_and_or_b32", "v_add_lshl"):
		name = "gfx9"
	case has("buffer_wbinvl1_vol", "flat_load", "flat_store", "flat_atomic"):
		name = "gfx8"
		if has("s_buffer_load_dword", "v_add_i32", "v_mac_legacy_f32") && !has("v_add_u32") {
			name = "gfx7"
		}
	case has("v_add_u32", "v_lshlrev_b64", "v_addc_u32_e", "s_store_dword", "_sdwa", "_dpp"):
		name = "gfx8"
	}
	t, _ := targetOf(name)
	if t.gen >= 10 {
		if has("s_and_saveexec_b64", "vcc, ", "exec, ", "s_cselect_b64 vcc") {
			t.wave = 64
		}
		if has("vcc_lo", "exec_lo") && t.wave == 0 {
			t.wave = 32
		}
	}
	return t
}
