package amdisa

import (
	"strconv"
	"strings"
)

// target is what decoding needs to know of a GCN, CDNA or RDNA target.
type target struct {
	name  string
	gen   int  // 6 … 12; 0 when nothing tells
	gfx90 bool // gfx90a and later CDNA
	gfx94 bool // gfx940 and later CDNA: sc0, sc1, nt
	wave  int  // 32 or 64 when known
}

// cpuNames gives the target of the code names that LLVM and AMD's tools use.
var cpuNames = map[string]string{
	"tahiti": "gfx600", "pitcairn": "gfx601", "verde": "gfx601", "oland": "gfx602", "hainan": "gfx602", "capeverde": "gfx601",
	"kaveri": "gfx700", "hawaii": "gfx701", "kabini": "gfx703", "mullins": "gfx703", "bonaire": "gfx704", "spectre": "gfx700", "kalindi": "gfx703",
	"carrizo": "gfx801", "iceland": "gfx802", "tonga": "gfx802", "fiji": "gfx803", "polaris10": "gfx803", "polaris11": "gfx803", "polaris12": "gfx803",
	"ellesmere": "gfx803", "baffin": "gfx803", "stoney": "gfx810", "vega": "gfx900", "vega10": "gfx900", "vega20": "gfx906", "greenland": "gfx900",
	"navi10": "gfx1010", "navi21": "gfx1030",
}

// targetOf describes a target by its name: gfx90a, tahiti, gfx9-generic,
// amdgcn-amd-amdhsa--gfx90a:sramecc+. ok is false for other names.
func targetOf(name string) (t target, ok bool) {
	s := strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndex(s, "--"); i >= 0 {
		s = s[i+2:]
	}
	if i := strings.IndexByte(s, ':'); i >= 0 {
		s = s[:i]
	}
	t.name = s
	if g, known := cpuNames[s]; known {
		s = g
	}
	num, isGfx := strings.CutPrefix(s, "gfx")
	if !isGfx || num == "" {
		return target{}, false
	}
	num = strings.TrimSuffix(num, "-generic")
	if major, minor, ok := strings.Cut(num, "-"); ok { // gfx9-4-generic, gfx10-3-generic
		num = major + minor + "0"
	}
	major := num
	switch {
	case len(num) <= 2:
	case len(num) == 3: // gfx90a, gfx803
		major = num[:1]
	case len(num) == 4: // gfx1030
		major = num[:2]
	default:
		return target{}, false
	}
	gen, err := strconv.Atoi(major)
	if err != nil || gen < 6 || gen > 19 {
		return target{}, false
	}
	t.gen = gen
	if gen == 9 && len(num) == 3 {
		t.gfx90 = num == "90a" || num[1] >= '4'
		t.gfx94 = num[1] >= '4'
	}
	if gen < 10 {
		t.wave = 64
	}
	return t, true
}

// guess infers the generation of a listing that does not name its target, from
// spellings that only it has. The name is that of the family: gfx9, gfx940, ….
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
	case has("s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt", "s_wait_storecnt", "scope:SCOPE_", "s_barrier_signal", "global_inv", "global_wb"):
		name = "gfx12"
	case has("s_load_b32", "s_load_b64", "s_load_b128", "s_load_b256", "global_load_b", "global_store_b", "ds_load_", "ds_store_", "s_delay_alu", "v_dual_", "buffer_load_b", "scratch_load_b"):
		name = "gfx11"
	case has("s_waitcnt_vscnt", "buffer_gl0_inv", "s_inst_prefetch", "s_code_end", " dlc", "v_add_co_ci_u32", "s_clause", "v_add_nc_u32", "s_and_saveexec_b32", ", null"):
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
