package amdisa

import "strings"

// shape says which operands of a scalar or vector ALU instruction are written, and which
// registers it uses implicitly.
type shape uint16

const (
	shapeNone  shape = 0
	writesDst  shape = 1 << iota // the first operand is written
	readsDst                     // the first operand is also read
	writesSCC                    // SCC is written
	readsSCC                     // SCC is read
	writes2nd                    // the second operand is written too (carry)
	compares                     // writes a lane mask
	writesExec                   // EXEC is written without being printed
	readsExec                    // EXEC is read as a value
	readsVCC                     // VCC is read without being printed
	readsM0                      // M0 is read
	unguarded                    // a vector instruction that does not depend on EXEC
	swaps                        // both operands are read and written
	indexed                      // register operands are relative to M0
)

// scalarOps lists the scalar ALU instructions without their s_ prefix.
var scalarOps = table(map[shape]string{
	writesDst: `mov_b32 mov_b64 movk_i32 brev_b32 brev_b64 sext_i32_i8 sext_i32_i16 ff0_i32_b32 ff0_i32_b64 ff1_i32_b32 ff1_i32_b64
		flbit_i32_b32 flbit_i32_b64
		flbit_i32 flbit_i32_i64 ctz_i32_b32 ctz_i32_b64 clz_i32_u32 clz_i32_u64 cls_i32 cls_i32_i64 bfm_b32 bfm_b64 mul_i32 mul_hi_u32
		mul_hi_i32 mul_u64
		pack_ll_b32_b16 pack_lh_b32_b16 pack_hh_b32_b16 pack_hl_b32_b16 bitreplicate_b64_b32 add_nc_u64 sub_nc_u64 add_pc_i64
		cvt_f32_i32 cvt_f32_u32 cvt_i32_f32 cvt_u32_f32 cvt_f16_f32 cvt_f32_f16 cvt_hi_f32_f16 cvt_pk_rtz_f16_f32 ceil_f32 floor_f32 trunc_f32
		rndne_f32
		ceil_f16 floor_f16 trunc_f16 rndne_f16 add_f32 sub_f32 mul_f32 min_f32 max_f32 add_f16 sub_f16 mul_f16 min_f16 max_f16 min_num_f32
		max_num_f32 min_num_f16
		max_num_f16 minimum_f32 maximum_f32 minimum_f16 maximum_f16 fmaak_f32 fmamk_f32 get_waveid_in_workgroup mov_fed_b32 cbranch_join`,
	writesDst | writesSCC: `add_u32 sub_u32 add_i32 sub_i32 add_co_u32 sub_co_u32 add_co_i32 sub_co_i32 min_i32 min_u32 max_i32 max_u32
		and_b32 and_b64 or_b32 or_b64
		xor_b32 xor_b64 nand_b32 nand_b64 nor_b32 nor_b64 xnor_b32 xnor_b64 andn2_b32 andn2_b64 orn2_b32 orn2_b64 and_not1_b32 and_not1_b64
		or_not1_b32
		or_not1_b64 lshl_b32 lshl_b64 lshr_b32 lshr_b64 ashr_i32 ashr_i64 bfe_u32 bfe_i32 bfe_u64 bfe_i64 absdiff_i32 abs_diff_i32 abs_i32
		not_b32 not_b64 wqm_b32
		wqm_b64 quadmask_b32 quadmask_b64 bcnt0_i32_b32 bcnt0_i32_b64 bcnt1_i32_b32 bcnt1_i32_b64 lshl1_add_u32 lshl2_add_u32 lshl3_add_u32
		lshl4_add_u32`,
	writesDst | writesSCC | readsSCC: `addc_u32 subb_u32 add_co_ci_u32 sub_co_ci_u32`,
	writesDst | readsSCC:             `cselect_b32 cselect_b64`,
	writesDst | readsDst | readsSCC:  `cmov_b32 cmov_b64 cmovk_i32`,
	writesDst | readsDst:             `bitset0_b32 bitset0_b64 bitset1_b32 bitset1_b64 mulk_i32 fmac_f32 fmac_f16`,
	writesDst | readsDst | writesSCC: `addk_i32 addk_co_i32`,
	writesDst | readsM0 | indexed:    `movrels_b32 movrels_b64 movreld_b32 movreld_b64 movrelsd_2_b32`,
	writesDst | writesSCC | writesExec | readsExec: `and_saveexec_b64 or_saveexec_b64 xor_saveexec_b64 andn2_saveexec_b64 orn2_saveexec_b64
		nand_saveexec_b64
		nor_saveexec_b64 xnor_saveexec_b64 andn1_saveexec_b64 orn1_saveexec_b64 andn1_wrexec_b64 andn2_wrexec_b64 and_saveexec_b32
		or_saveexec_b32 xor_saveexec_b32
		andn2_saveexec_b32 orn2_saveexec_b32 nand_saveexec_b32 nor_saveexec_b32 xnor_saveexec_b32 andn1_saveexec_b32 orn1_saveexec_b32
		andn1_wrexec_b32
		andn2_wrexec_b32 and_not0_saveexec_b32 and_not0_saveexec_b64 and_not0_wrexec_b32 and_not0_wrexec_b64 and_not1_saveexec_b32
		and_not1_saveexec_b64
		and_not1_wrexec_b32 and_not1_wrexec_b64 or_not0_saveexec_b32 or_not0_saveexec_b64 or_not1_saveexec_b32 or_not1_saveexec_b64`,
	writesSCC: `cmp_eq_i32 cmp_lg_i32 cmp_gt_i32 cmp_ge_i32 cmp_lt_i32 cmp_le_i32 cmp_eq_u32 cmp_lg_u32 cmp_gt_u32 cmp_ge_u32 cmp_lt_u32
		cmp_le_u32 cmp_eq_u64
		cmp_lg_u64 cmp_ne_u64 cmpk_eq_i32 cmpk_lg_i32 cmpk_gt_i32 cmpk_ge_i32 cmpk_lt_i32 cmpk_le_i32 cmpk_eq_u32 cmpk_lg_u32 cmpk_gt_u32
		cmpk_ge_u32 cmpk_lt_u32
		cmpk_le_u32 bitcmp0_b32 bitcmp1_b32 bitcmp0_b64 bitcmp1_b64
		cmp_eq_f32 cmp_lg_f32 cmp_gt_f32 cmp_ge_f32 cmp_lt_f32 cmp_le_f32 cmp_o_f32 cmp_u_f32 cmp_nge_f32 cmp_nlg_f32 cmp_ngt_f32 cmp_nle_f32
		cmp_neq_f32 cmp_nlt_f32
		cmp_eq_f16 cmp_lg_f16 cmp_gt_f16 cmp_ge_f16 cmp_lt_f16 cmp_le_f16 cmp_o_f16 cmp_u_f16 cmp_nge_f16 cmp_nlg_f16 cmp_ngt_f16 cmp_nle_f16
		cmp_neq_f16 cmp_nlt_f16`,
})

// vectorOps lists the vector ALU instructions, without v_ and the types at their end, by what
// they do to their operands.
var vectorOps = table(map[shape]string{
	writesDst: `mov not bfrev ffbh ffbl clz ctz cls mov_fed accvgpr_read accvgpr_write accvgpr_mov
		add sub subrev mul mul_lo mul_hi add_nc sub_nc subrev_nc min max and or xor xnor lshl lshlrev lshr lshrrev ashr ashrrev
		add3 lshl_add add_lshl lshl_or and_or or3 xor3 xad mad bfe bfi bfm alignbit alignbyte perm lerp sad sad_hi msad qsad_pk mqsad mqsad_pk
		bcnt min3 max3 med3
		maxmin minmax mbcnt_lo mbcnt_hi mad_legacy mad_nc bitop3 bitop2 mul_legacy mul_dx9_zero fma fma_legacy fma_dx9_zero fmaak fmamk madak
		madmk
		ceil floor trunc rndne fract exp log rcp rsq sqrt sin cos exp_legacy log_legacy log_clamp rcp_clamp rcp_legacy rcp_iflag rsq_clamp
		rsq_legacy
		frexp_exp frexp_mant ldexp div_fixup div_fixup_legacy trig_preop cubeid cubesc cubetc cubema min_legacy max_legacy min_num max_num
		minimum maximum
		min3_num max3_num med3_num minimum3 maximum3 minmax_num maxmin_num minimummaximum maximumminimum mullit
		cvt sat_pk pk_add pk_sub pk_mul pk_mul_lo pk_mad pk_fma pk_min pk_max pk_lshlrev pk_lshrrev pk_ashrrev pk_mov pk_min_num pk_max_num
		pk_minimum pk_maximum
		pk_minimum3 pk_maximum3 pk_add_min pk_add_max pk_min3 pk_max3
		pack fma_mix mad_mix dot2 dot4 dot8 add_min add_max tanh prng permlane16 permlanex16 permlane16_var permlanex16_var permlane64
		permlane_bcast permlane_up
		permlane_down permlane_xor permlane_idx_gen s_exp s_log s_rcp s_rsq s_sqrt ashr_pk cvt_pk cvt_pk_norm cvt_pknorm cvt_pkrtz cvt_pk_rtz
		cvt_off cvt_rpi cvt_flr cvt_floor
		cvt_nearest cvt_norm cvt_scale_pk8 cvt_scale_pk16 cvt_scalef32 cvt_scalef32_pk cvt_scalef32_pk8 cvt_scalef32_pk16 cvt_scalef32_pk32
		cvt_scalef32_2xpk16
		cvt_scalef32_sr_pk16 cvt_scalef32_sr_pk32 cvt_scalef32_sr_pk8 mfma mfma_scale wmma wmma_scale wmma_scale16 wmma_ld_scale interp_mov
		cvt_sr_pk
		interp_p10 interp_p1 interp_p1ll interp_p1lv interp_p10_rtz interp_p2 interp_p2_legacy interp_p2_rtz cvt_f32_ubyte0 cvt_f32_ubyte1
		cvt_f32_ubyte2 cvt_f32_ubyte3 screen_partition mqsad_u32 exp_pk`,
	writesDst | readsDst: `mac mac_legacy fmac fmac_legacy fmac_dx9_zero pk_fmac dot2c dot4c dot8c dot2acc cvt_pkaccum cvt_sr fma_mixlo
		fma_mixhi mad_mixlo mad_mixhi
		smfmac swmmac cvt_pk_fp8 cvt_pk_bf8 cvt_scalef32_sr cvt_scalef32_sr_pk`,
	writesDst | writes2nd:            `add_co sub_co subrev_co div_scale mad_co mad_u64_u32 mad_i64_i32`,
	writesDst | writes2nd | readsVCC: `addc subb subbrev addc_co subb_co subbrev_co add_co_ci sub_co_ci subrev_co_ci`,
	writesDst | unguarded:            `readlane readfirstlane`,
	writesDst | readsDst | unguarded: `writelane`,
	writesDst | readsM0 | indexed:    `movrels movreld movrelsd movrelsd_2`,
	writesDst | readsDst | swaps:     `swap swaprel permlane16_swap permlane32_swap`,
	shapeNone:                        `nop clrexcp pipeflush`,
	writesDst | readsVCC:             `cndmask div_fmas`,
})

// comparisons are the conditions of v_cmp, v_cmpx, v_cmps and v_cmpsx.
const comparisons = " f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru t ne class "

func table(m map[shape]string) map[string]shape {
	out := map[string]shape{}
	for s, names := range m {
		for _, n := range strings.Fields(names) {
			out[n] = s
		}
	}
	return out
}

// encodings are the suffixes by which LLVM names the encoding of an instruction.
var encodings = []string{"_e64_dpp8", "_e64_dpp", "_e32_dpp", "_e32", "_e64", "_dpp8", "_dpp", "_sdwa", "_vop3p", "_vop3", "_vop2", "_vopc"}

// cutEncoding splits v_add_u32_e32 into v_add_u32 and e32.
func cutEncoding(op string) (base, enc string) {
	if !strings.HasPrefix(op, "v_") {
		return op, ""
	}
	for _, e := range encodings {
		if b, ok := strings.CutSuffix(op, e); ok {
			return b, e[1:]
		}
	}
	return op, ""
}

// isType reports whether a word is a type token of mnemonics: u32, f16, bf8, i24, 16x16x4f32.
func isType(s string) bool {
	i := 0
	for i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
		i++
	}
	if i == 0 { // 16x16x16f16, 4b, 1k
		return len(s) > 1 && isDigit(s[0])
	}
	switch s[:i] {
	case "b", "i", "u", "f", "bf", "fp", "iu", "xf", "ubyte", "xb":
		return i < len(s) && isDigit(s[i])
	}
	return false
}

// vectorShape finds a vector ALU instruction given without v_ and encoding, and
// returns its root and shape.
func vectorShape(op string) (root string, s shape, ok bool) {
	if s, ok := vectorOps[op]; ok {
		return op, s, true
	}
	if rest, isCmp := strings.CutPrefix(op, "cmp"); isCmp {
		i := strings.IndexByte(rest, '_')
		if i < 0 {
			return "", 0, false
		}
		variant := rest[:i]
		cond, typ, two := strings.Cut(rest[i+1:], "_")
		if !two || !isType(typ) || !modSet(comparisons, cond) {
			return "", 0, false
		}
		switch variant {
		case "", "s":
			return "cmp", compares | unguarded, true
		case "x", "sx":
			return "cmpx", compares | unguarded | writesExec, true
		}
		return "", 0, false
	}
	// Cut types off the end.
	root = op
	for {
		if s, ok := vectorOps[root]; ok {
			return root, s, true
		}
		i := strings.LastIndexByte(root, '_')
		if i < 0 || !isType(root[i+1:]) {
			return "", 0, false
		}
		root = root[:i]
	}
}

// modSet reports whether m is one of the blank-separated words.
func modSet(words, m string) bool {
	i := strings.Index(words, " "+m+" ")
	return m != "" && i >= 0
}

// typeBits returns the bits of the last type token of a mnemonic, 32 if there is
// none.
func typeBits(op string) int {
	for op != "" {
		i := strings.LastIndexByte(op, '_')
		t := op[i+1:]
		j := len(t)
		for j > 0 && isDigit(t[j-1]) {
			j--
		}
		if isType(t) && j < len(t) {
			switch t[j:] {
			case "64":
				return 64
			case "16":
				return 16
			case "8":
				return 8
			}
			return 32
		}
		if i < 0 {
			break
		}
		op = op[:i]
	}
	return 32
}

// nops lists instructions without effect on registers and memory: padding, hints for
// scheduling, power and debugging. The value is true for those that wait for registers or
// hazards.
var nops = map[string]bool{
	"s_nop": false, "s_code_end": false, "s_clause": false, "s_delay_alu": true, "s_sleep": false, "s_sleep_var": false, "s_setprio": false,
	"s_inst_prefetch": false, "s_set_inst_prefetch_distance": false, "s_incperflevel": false, "s_decperflevel": false, "s_ttracedata": false,
	"s_ttracedata_imm": false, "s_sethalt": false, "s_waitcnt_depctr": true, "s_wait_alu": true, "s_version": false, "s_monitor_sleep": false,
	"s_wakeup": false, "s_setkill": false, "s_singleuse_vdst": false, "ds_nop": false, "v_nop": false, "s_wait_event": true,
	"s_cbranch_cdbgsys_hint": false, "s_setprio_inc_wg": false, "v_clrexcp": false, "s_round_mode": false, "s_denorm_mode": false,
	"s_atc_probe": false, "s_atc_probe_buffer": false,
}
