	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_code_object_version 6
	.text
	.protected	__clang_ocl_kern_imp_ld ; -- Begin function __clang_ocl_kern_imp_ld
	.globl	__clang_ocl_kern_imp_ld
	.p2align	2
	.type	__clang_ocl_kern_imp_ld,@function
__clang_ocl_kern_imp_ld:                ; @__clang_ocl_kern_imp_ld
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s7, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 24
	scratch_store_b32 off, v3, s33 offset:16 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v0
	scratch_load_b32 v0, off, s33 offset:16 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	v_mov_b32_e32 v5, v1
	s_mov_b64 s[8:9], 0
	s_mov_b32 s5, s9
	s_mov_b32 s6, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s6
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s4, s1
	s_cselect_b32 s0, s4, s5
	s_mov_b32 s1, s8
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s8, s33, 8
	s_mov_b32 s0, s8
	s_cmp_lg_u32 s0, s6
	s_cselect_b32 s4, s4, s5
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s4
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_mov_b32 s33, s7
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	__clang_ocl_kern_imp_ld, .Lfunc_end0-__clang_ocl_kern_imp_ld
                                        ; -- End function
	.set __clang_ocl_kern_imp_ld.num_vgpr, 6
	.set __clang_ocl_kern_imp_ld.num_agpr, 0
	.set __clang_ocl_kern_imp_ld.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_ld.num_named_barrier, 0
	.set __clang_ocl_kern_imp_ld.private_seg_size, 24
	.set __clang_ocl_kern_imp_ld.uses_vcc, 0
	.set __clang_ocl_kern_imp_ld.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_ld.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_ld.has_recursion, 0
	.set __clang_ocl_kern_imp_ld.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 236
; TotalNumSgprs: 34
; NumVgprs: 6
; ScratchSize: 24
; MemoryBound: 0
	.text
	.protected	ld                      ; -- Begin function ld
	.globl	ld
	.p2align	8
	.type	ld,@function
ld:                                     ; @ld
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr7 : SGPR spill to VGPR lane
	v_writelane_b32 v7, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v7, 0
	v_writelane_b32 v7, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v7, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v7, s4, 2
	v_writelane_b32 v7, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v7, 2
	v_readlane_b32 s1, v7, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[18:19], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s20, s23
	s_mov_b32 s21, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s21
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s20
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s21
	s_cselect_b32 s15, s15, s20
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[5:6], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[3:4], v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v5
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[5:6], s2, v[5:6]
	v_mov_b32_e32 v1, v5
	v_lshrrev_b64 v[3:4], s2, v[3:4]
                                        ; kill: def $vgpr3 killed $vgpr3 killed $vgpr3_vgpr4 killed $exec
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_ld@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_ld@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ld
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 56
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end1:
	.size	ld, .Lfunc_end1-ld
                                        ; -- End function
	.set ld.num_vgpr, max(32, __clang_ocl_kern_imp_ld.num_vgpr)
	.set ld.num_agpr, max(0, __clang_ocl_kern_imp_ld.num_agpr)
	.set ld.numbered_sgpr, max(34, __clang_ocl_kern_imp_ld.numbered_sgpr)
	.set ld.num_named_barrier, max(0, __clang_ocl_kern_imp_ld.num_named_barrier)
	.set ld.private_seg_size, 32+max(__clang_ocl_kern_imp_ld.private_seg_size)
	.set ld.uses_vcc, or(0, __clang_ocl_kern_imp_ld.uses_vcc)
	.set ld.uses_flat_scratch, or(0, __clang_ocl_kern_imp_ld.uses_flat_scratch)
	.set ld.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_ld.has_dyn_sized_stack)
	.set ld.has_recursion, or(0, __clang_ocl_kern_imp_ld.has_recursion)
	.set ld.has_indirect_call, or(0, __clang_ocl_kern_imp_ld.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 364
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 56
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_corr ; -- Begin function __clang_ocl_kern_imp_corr
	.globl	__clang_ocl_kern_imp_corr
	.p2align	2
	.type	__clang_ocl_kern_imp_corr,@function
__clang_ocl_kern_imp_corr:              ; @__clang_ocl_kern_imp_corr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s7, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 32
	scratch_store_b32 off, v3, s33 offset:24 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v0
	scratch_load_b32 v0, off, s33 offset:24 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	v_mov_b32_e32 v5, v1
	s_mov_b64 s[8:9], 0
	s_mov_b32 s5, s9
	s_mov_b32 s6, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s6
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s4, s1
	s_cselect_b32 s0, s4, s5
	s_mov_b32 s1, s8
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s8, s33, 8
	s_mov_b32 s0, s8
	s_cmp_lg_u32 s0, s6
	s_cselect_b32 s4, s4, s5
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s4
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:16
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:20
	scratch_load_b32 v0, off, s33 offset:16
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	scratch_load_b32 v0, off, s33 offset:20
	s_mov_b32 s2, 0x7f3a002
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:4
	s_mov_b32 s32, s33
	s_mov_b32 s33, s7
	s_setpc_b64 s[30:31]
.Lfunc_end2:
	.size	__clang_ocl_kern_imp_corr, .Lfunc_end2-__clang_ocl_kern_imp_corr
                                        ; -- End function
	.set __clang_ocl_kern_imp_corr.num_vgpr, 6
	.set __clang_ocl_kern_imp_corr.num_agpr, 0
	.set __clang_ocl_kern_imp_corr.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_corr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_corr.private_seg_size, 32
	.set __clang_ocl_kern_imp_corr.uses_vcc, 0
	.set __clang_ocl_kern_imp_corr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_corr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_corr.has_recursion, 0
	.set __clang_ocl_kern_imp_corr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 352
; TotalNumSgprs: 34
; NumVgprs: 6
; ScratchSize: 32
; MemoryBound: 0
	.text
	.protected	corr                    ; -- Begin function corr
	.globl	corr
	.p2align	8
	.type	corr,@function
corr:                                   ; @corr
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr7 : SGPR spill to VGPR lane
	v_writelane_b32 v7, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v7, 0
	v_writelane_b32 v7, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v7, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v7, s4, 2
	v_writelane_b32 v7, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v7, 2
	v_readlane_b32 s1, v7, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[18:19], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s20, s23
	s_mov_b32 s21, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s21
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s20
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s21
	s_cselect_b32 s15, s15, s20
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[5:6], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[3:4], v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v5
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[5:6], s2, v[5:6]
	v_mov_b32_e32 v1, v5
	v_lshrrev_b64 v[3:4], s2, v[3:4]
                                        ; kill: def $vgpr3 killed $vgpr3 killed $vgpr3_vgpr4 killed $exec
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_corr@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_corr@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel corr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end3:
	.size	corr, .Lfunc_end3-corr
                                        ; -- End function
	.set corr.num_vgpr, max(32, __clang_ocl_kern_imp_corr.num_vgpr)
	.set corr.num_agpr, max(0, __clang_ocl_kern_imp_corr.num_agpr)
	.set corr.numbered_sgpr, max(34, __clang_ocl_kern_imp_corr.numbered_sgpr)
	.set corr.num_named_barrier, max(0, __clang_ocl_kern_imp_corr.num_named_barrier)
	.set corr.private_seg_size, 32+max(__clang_ocl_kern_imp_corr.private_seg_size)
	.set corr.uses_vcc, or(0, __clang_ocl_kern_imp_corr.uses_vcc)
	.set corr.uses_flat_scratch, or(0, __clang_ocl_kern_imp_corr.uses_flat_scratch)
	.set corr.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_corr.has_dyn_sized_stack)
	.set corr.has_recursion, or(0, __clang_ocl_kern_imp_corr.has_recursion)
	.set corr.has_indirect_call, or(0, __clang_ocl_kern_imp_corr.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 364
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 64
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_mpr ; -- Begin function __clang_ocl_kern_imp_mpr
	.globl	__clang_ocl_kern_imp_mpr
	.p2align	2
	.type	__clang_ocl_kern_imp_mpr,@function
__clang_ocl_kern_imp_mpr:               ; @__clang_ocl_kern_imp_mpr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s9, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 48
	scratch_store_b32 off, v4, s33 offset:36 ; 4-byte Folded Spill
	scratch_store_b32 off, v3, s33 offset:32 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v2
	scratch_load_b32 v2, off, s33 offset:36 ; 4-byte Folded Reload
	v_mov_b32_e32 v6, v0
	scratch_load_b32 v0, off, s33 offset:32 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	v_mov_b32_e32 v3, v5
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, v0
                                        ; kill: def $vgpr6 killed $vgpr6 def $vgpr6_vgpr7 killed $exec
	v_mov_b32_e32 v7, v1
	s_mov_b64 s[4:5], 0
	s_mov_b32 s7, s5
	s_mov_b32 s8, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s8
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s6, s1
	s_cselect_b32 s0, s6, s7
	s_mov_b32 s1, s4
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s4, s0
	s_cmp_lg_u32 s4, s8
	s_cselect_b32 s0, s6, s7
	s_cselect_b32 s4, s4, s1
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_add_i32 s10, s33, 16
	s_mov_b32 s0, s10
	s_cmp_lg_u32 s0, s8
	s_cselect_b32 s6, s6, s7
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s6
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[6:7]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:24
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:28
	scratch_load_b32 v0, off, s33 offset:24
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	scratch_load_b32 v0, off, s33 offset:28
	s_mov_b32 s2, 0x7f3a002
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:32
	s_mov_b32 s32, s33
	s_mov_b32 s33, s9
	s_setpc_b64 s[30:31]
.Lfunc_end4:
	.size	__clang_ocl_kern_imp_mpr, .Lfunc_end4-__clang_ocl_kern_imp_mpr
                                        ; -- End function
	.set __clang_ocl_kern_imp_mpr.num_vgpr, 8
	.set __clang_ocl_kern_imp_mpr.num_agpr, 0
	.set __clang_ocl_kern_imp_mpr.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_mpr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_mpr.private_seg_size, 48
	.set __clang_ocl_kern_imp_mpr.uses_vcc, 0
	.set __clang_ocl_kern_imp_mpr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_mpr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_mpr.has_recursion, 0
	.set __clang_ocl_kern_imp_mpr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 416
; TotalNumSgprs: 34
; NumVgprs: 8
; ScratchSize: 48
; MemoryBound: 0
	.text
	.protected	mpr                     ; -- Begin function mpr
	.globl	mpr
	.p2align	8
	.type	mpr,@function
mpr:                                    ; @mpr
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr11 : SGPR spill to VGPR lane
	v_writelane_b32 v11, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v11, 0
	v_writelane_b32 v11, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v11, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v11, s4, 2
	v_writelane_b32 v11, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v11, 2
	v_readlane_b32 s1, v11, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[22:23], s[0:1], 0x0
	s_load_b64 s[20:21], s[0:1], 0x8
	s_load_b64 s[18:19], s[0:1], 0x10
	s_mov_b64 s[16:17], 0
	s_mov_b32 s24, s17
	s_mov_b32 s25, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s25
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s24
	s_mov_b32 s3, s16
	s_cselect_b32 s16, s8, s3
                                        ; kill: def $sgpr16 killed $sgpr16 def $sgpr16_sgpr17
	s_mov_b32 s17, s2
	s_add_i32 s2, s33, 8
	s_mov_b32 s8, s2
	s_cmp_lg_u32 s8, s25
	s_cselect_b32 s2, s15, s24
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s27, s33, 16
	s_mov_b32 s2, s27
	s_cmp_lg_u32 s2, s25
	s_cselect_b32 s15, s15, s24
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s22
	v_mov_b32_e32 v3, s23
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	v_mov_b32_e32 v2, s20
	v_mov_b32_e32 v3, s21
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	flat_load_b64 v[9:10], v[0:1]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[7:8], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[5:6], v[0:1]
	s_waitcnt vmcnt(2) lgkmcnt(2)
	v_mov_b32_e32 v0, v9
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v2, v7
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, v5
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[9:10], s2, v[9:10]
	v_mov_b32_e32 v1, v9
	v_lshrrev_b64 v[7:8], s2, v[7:8]
	v_mov_b32_e32 v3, v7
	v_lshrrev_b64 v[5:6], s2, v[5:6]
                                        ; kill: def $vgpr5 killed $vgpr5 killed $vgpr5_vgpr6 killed $exec
	s_mov_b64 s[8:9], 24
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_mpr@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_mpr@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel mpr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 80
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 4
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end5:
	.size	mpr, .Lfunc_end5-mpr
                                        ; -- End function
	.set mpr.num_vgpr, max(32, __clang_ocl_kern_imp_mpr.num_vgpr)
	.set mpr.num_agpr, max(0, __clang_ocl_kern_imp_mpr.num_agpr)
	.set mpr.numbered_sgpr, max(34, __clang_ocl_kern_imp_mpr.numbered_sgpr)
	.set mpr.num_named_barrier, max(0, __clang_ocl_kern_imp_mpr.num_named_barrier)
	.set mpr.private_seg_size, 32+max(__clang_ocl_kern_imp_mpr.private_seg_size)
	.set mpr.uses_vcc, or(0, __clang_ocl_kern_imp_mpr.uses_vcc)
	.set mpr.uses_flat_scratch, or(0, __clang_ocl_kern_imp_mpr.uses_flat_scratch)
	.set mpr.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_mpr.has_dyn_sized_stack)
	.set mpr.has_recursion, or(0, __clang_ocl_kern_imp_mpr.has_recursion)
	.set mpr.has_indirect_call, or(0, __clang_ocl_kern_imp_mpr.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 456
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 80
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_depaddr ; -- Begin function __clang_ocl_kern_imp_depaddr
	.globl	__clang_ocl_kern_imp_depaddr
	.p2align	2
	.type	__clang_ocl_kern_imp_depaddr,@function
__clang_ocl_kern_imp_depaddr:           ; @__clang_ocl_kern_imp_depaddr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s9, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 40
	scratch_store_b32 off, v4, s33 offset:32 ; 4-byte Folded Spill
	scratch_store_b32 off, v3, s33 offset:28 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v2
	scratch_load_b32 v2, off, s33 offset:32 ; 4-byte Folded Reload
	v_mov_b32_e32 v6, v0
	scratch_load_b32 v0, off, s33 offset:28 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	v_mov_b32_e32 v3, v5
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, v0
                                        ; kill: def $vgpr6 killed $vgpr6 def $vgpr6_vgpr7 killed $exec
	v_mov_b32_e32 v7, v1
	s_mov_b64 s[4:5], 0
	s_mov_b32 s7, s5
	s_mov_b32 s8, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s8
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s6, s1
	s_cselect_b32 s0, s6, s7
	s_mov_b32 s1, s4
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s4, s0
	s_cmp_lg_u32 s4, s8
	s_cselect_b32 s0, s6, s7
	s_cselect_b32 s4, s4, s1
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_add_i32 s10, s33, 16
	s_mov_b32 s0, s10
	s_cmp_lg_u32 s0, s8
	s_cselect_b32 s6, s6, s7
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s6
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[6:7]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:24
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[1:2], v[0:1]
	scratch_load_b32 v0, off, s33 offset:24
	s_mov_b32 s2, 0x80000000
	s_waitcnt vmcnt(0)
	v_and_b32_e64 v3, v0, s2
	v_mov_b32_e32 v0, 0
                                        ; kill: def $vgpr3 killed $vgpr3 def $vgpr3_vgpr4 killed $exec
	v_mov_b32_e32 v4, v0
	s_mov_b32 s2, 2
	v_lshlrev_b64 v[4:5], s2, v[3:4]
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, v1
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v1, v2
	v_mov_b32_e32 v2, v5
	v_add_co_u32 v0, s2, v0, v3
	v_add_co_ci_u32_e64 v2, s2, v1, v2, s2
                                        ; kill: def $vgpr0 killed $vgpr0 def $vgpr0_vgpr1 killed $exec
	v_mov_b32_e32 v1, v2
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	s_mov_b32 s2, 0x7f3a002
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:32
	scratch_load_b32 v0, off, s33 offset:24
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_mov_b32 s33, s9
	s_setpc_b64 s[30:31]
.Lfunc_end6:
	.size	__clang_ocl_kern_imp_depaddr, .Lfunc_end6-__clang_ocl_kern_imp_depaddr
                                        ; -- End function
	.set __clang_ocl_kern_imp_depaddr.num_vgpr, 8
	.set __clang_ocl_kern_imp_depaddr.num_agpr, 0
	.set __clang_ocl_kern_imp_depaddr.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_depaddr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_depaddr.private_seg_size, 40
	.set __clang_ocl_kern_imp_depaddr.uses_vcc, 0
	.set __clang_ocl_kern_imp_depaddr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_depaddr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_depaddr.has_recursion, 0
	.set __clang_ocl_kern_imp_depaddr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 480
; TotalNumSgprs: 34
; NumVgprs: 8
; ScratchSize: 40
; MemoryBound: 0
	.text
	.protected	depaddr                 ; -- Begin function depaddr
	.globl	depaddr
	.p2align	8
	.type	depaddr,@function
depaddr:                                ; @depaddr
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr11 : SGPR spill to VGPR lane
	v_writelane_b32 v11, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v11, 0
	v_writelane_b32 v11, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v11, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v11, s4, 2
	v_writelane_b32 v11, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v11, 2
	v_readlane_b32 s1, v11, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[22:23], s[0:1], 0x0
	s_load_b64 s[20:21], s[0:1], 0x8
	s_load_b64 s[18:19], s[0:1], 0x10
	s_mov_b64 s[16:17], 0
	s_mov_b32 s24, s17
	s_mov_b32 s25, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s25
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s24
	s_mov_b32 s3, s16
	s_cselect_b32 s16, s8, s3
                                        ; kill: def $sgpr16 killed $sgpr16 def $sgpr16_sgpr17
	s_mov_b32 s17, s2
	s_add_i32 s2, s33, 8
	s_mov_b32 s8, s2
	s_cmp_lg_u32 s8, s25
	s_cselect_b32 s2, s15, s24
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s27, s33, 16
	s_mov_b32 s2, s27
	s_cmp_lg_u32 s2, s25
	s_cselect_b32 s15, s15, s24
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s22
	v_mov_b32_e32 v3, s23
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	v_mov_b32_e32 v2, s20
	v_mov_b32_e32 v3, s21
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	flat_load_b64 v[9:10], v[0:1]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[7:8], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[5:6], v[0:1]
	s_waitcnt vmcnt(2) lgkmcnt(2)
	v_mov_b32_e32 v0, v9
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v2, v7
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, v5
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[9:10], s2, v[9:10]
	v_mov_b32_e32 v1, v9
	v_lshrrev_b64 v[7:8], s2, v[7:8]
	v_mov_b32_e32 v3, v7
	v_lshrrev_b64 v[5:6], s2, v[5:6]
                                        ; kill: def $vgpr5 killed $vgpr5 killed $vgpr5_vgpr6 killed $exec
	s_mov_b64 s[8:9], 24
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_depaddr@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_depaddr@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel depaddr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 72
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 4
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end7:
	.size	depaddr, .Lfunc_end7-depaddr
                                        ; -- End function
	.set depaddr.num_vgpr, max(32, __clang_ocl_kern_imp_depaddr.num_vgpr)
	.set depaddr.num_agpr, max(0, __clang_ocl_kern_imp_depaddr.num_agpr)
	.set depaddr.numbered_sgpr, max(34, __clang_ocl_kern_imp_depaddr.numbered_sgpr)
	.set depaddr.num_named_barrier, max(0, __clang_ocl_kern_imp_depaddr.num_named_barrier)
	.set depaddr.private_seg_size, 32+max(__clang_ocl_kern_imp_depaddr.private_seg_size)
	.set depaddr.uses_vcc, or(0, __clang_ocl_kern_imp_depaddr.uses_vcc)
	.set depaddr.uses_flat_scratch, or(0, __clang_ocl_kern_imp_depaddr.uses_flat_scratch)
	.set depaddr.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_depaddr.has_dyn_sized_stack)
	.set depaddr.has_recursion, or(0, __clang_ocl_kern_imp_depaddr.has_recursion)
	.set depaddr.has_indirect_call, or(0, __clang_ocl_kern_imp_depaddr.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 456
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 72
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_depctrl ; -- Begin function __clang_ocl_kern_imp_depctrl
	.globl	__clang_ocl_kern_imp_depctrl
	.p2align	2
	.type	__clang_ocl_kern_imp_depctrl,@function
__clang_ocl_kern_imp_depctrl:           ; @__clang_ocl_kern_imp_depctrl
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s11, s33
	s_mov_b32 s33, s32
	s_xor_saveexec_b32 s0, -1
	scratch_store_b32 off, v8, s33 offset:40 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s0
	s_add_i32 s32, s32, 48
	scratch_store_b32 off, v4, s33 offset:36 ; 4-byte Folded Spill
	scratch_store_b32 off, v3, s33 offset:32 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v2
	scratch_load_b32 v2, off, s33 offset:36 ; 4-byte Folded Reload
	v_mov_b32_e32 v6, v0
	scratch_load_b32 v0, off, s33 offset:32 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	v_mov_b32_e32 v3, v5
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, v0
                                        ; kill: def $vgpr6 killed $vgpr6 def $vgpr6_vgpr7 killed $exec
	v_mov_b32_e32 v7, v1
	s_mov_b64 s[2:3], 0
	s_mov_b32 s7, s3
	s_mov_b32 s8, -1
	s_mov_b32 s1, s33
	s_cmp_lg_u32 s1, s8
	s_mov_b64 s[4:5], src_private_base
	s_mov_b32 s6, s5
	s_cselect_b32 s0, s6, s7
	s_mov_b32 s3, s2
	s_cselect_b32 s4, s1, s3
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_mov_b64 s[0:1], s[4:5]
                                        ; implicit-def: $vgpr8 : SGPR spill to VGPR lane
	v_writelane_b32 v8, s0, 0
	v_writelane_b32 v8, s1, 1
	s_add_i32 s1, s33, 8
	s_mov_b32 s0, s1
	s_cmp_lg_u32 s0, s8
	s_cselect_b32 s2, s6, s7
	s_cselect_b32 s0, s0, s3
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s2
	s_add_i32 s10, s33, 16
	s_mov_b32 s2, s10
	s_cmp_lg_u32 s2, s8
	s_cselect_b32 s6, s6, s7
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s6
	s_mov_b64 s[6:7], s[2:3]
	v_writelane_b32 v8, s6, 2
	v_writelane_b32 v8, s7, 3
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[6:7]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:24
	scratch_load_b32 v0, off, s33 offset:24
	s_mov_b32 s0, 1
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e64 s0, v0, s0
	s_mov_b32 s1, exec_lo
	s_and_b32 s0, s1, s0
	s_xor_b32 s1, s0, s1
	v_writelane_b32 v8, s1, 4
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v8, s33 offset:28 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
	s_mov_b32 exec_lo, s0
	s_cbranch_execz .LBB8_1
	s_branch .LBB8_3
.LBB8_1:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v8, off, s33 offset:28 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v8, 4
	s_or_saveexec_b32 s0, s0
	s_and_b32 s0, exec_lo, s0
	v_writelane_b32 v8, s0, 5
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v8, s33 offset:28 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
	s_xor_b32 exec_lo, exec_lo, s0
	s_cbranch_execz .LBB8_4
; %bb.2:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v8, off, s33 offset:28 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v8, 0
	v_readlane_b32 s1, v8, 1
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v2, 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off dlc
	s_waitcnt_vscnt null, 0x0
	s_branch .LBB8_4
.LBB8_3:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v8, off, s33 offset:28 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v8, 2
	v_readlane_b32 s1, v8, 3
	v_readlane_b32 s2, v8, 0
	v_readlane_b32 s3, v8, 1
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v2, v[0:1], off offset:8 glc dlc
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:16
	s_branch .LBB8_1
.LBB8_4:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v8, off, s33 offset:28 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s2, v8, 5
	s_or_b32 exec_lo, exec_lo, s2
	v_readlane_b32 s0, v8, 2
	v_readlane_b32 s1, v8, 3
	scratch_load_b32 v2, off, s33 offset:24
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_xor_saveexec_b32 s0, -1
	scratch_load_b32 v8, off, s33 offset:40 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s0
	s_mov_b32 s33, s11
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end8:
	.size	__clang_ocl_kern_imp_depctrl, .Lfunc_end8-__clang_ocl_kern_imp_depctrl
                                        ; -- End function
	.set __clang_ocl_kern_imp_depctrl.num_vgpr, 9
	.set __clang_ocl_kern_imp_depctrl.num_agpr, 0
	.set __clang_ocl_kern_imp_depctrl.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_depctrl.num_named_barrier, 0
	.set __clang_ocl_kern_imp_depctrl.private_seg_size, 48
	.set __clang_ocl_kern_imp_depctrl.uses_vcc, 0
	.set __clang_ocl_kern_imp_depctrl.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_depctrl.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_depctrl.has_recursion, 0
	.set __clang_ocl_kern_imp_depctrl.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 756
; TotalNumSgprs: 34
; NumVgprs: 9
; ScratchSize: 48
; MemoryBound: 0
	.text
	.protected	depctrl                 ; -- Begin function depctrl
	.globl	depctrl
	.p2align	8
	.type	depctrl,@function
depctrl:                                ; @depctrl
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr11 : SGPR spill to VGPR lane
	v_writelane_b32 v11, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v11, 0
	v_writelane_b32 v11, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v11, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v11, s4, 2
	v_writelane_b32 v11, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v11, 2
	v_readlane_b32 s1, v11, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[22:23], s[0:1], 0x0
	s_load_b64 s[20:21], s[0:1], 0x8
	s_load_b64 s[18:19], s[0:1], 0x10
	s_mov_b64 s[16:17], 0
	s_mov_b32 s24, s17
	s_mov_b32 s25, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s25
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s24
	s_mov_b32 s3, s16
	s_cselect_b32 s16, s8, s3
                                        ; kill: def $sgpr16 killed $sgpr16 def $sgpr16_sgpr17
	s_mov_b32 s17, s2
	s_add_i32 s2, s33, 8
	s_mov_b32 s8, s2
	s_cmp_lg_u32 s8, s25
	s_cselect_b32 s2, s15, s24
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s27, s33, 16
	s_mov_b32 s2, s27
	s_cmp_lg_u32 s2, s25
	s_cselect_b32 s15, s15, s24
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s22
	v_mov_b32_e32 v3, s23
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	v_mov_b32_e32 v2, s20
	v_mov_b32_e32 v3, s21
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	flat_load_b64 v[9:10], v[0:1]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[7:8], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[5:6], v[0:1]
	s_waitcnt vmcnt(2) lgkmcnt(2)
	v_mov_b32_e32 v0, v9
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v2, v7
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, v5
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[9:10], s2, v[9:10]
	v_mov_b32_e32 v1, v9
	v_lshrrev_b64 v[7:8], s2, v[7:8]
	v_mov_b32_e32 v3, v7
	v_lshrrev_b64 v[5:6], s2, v[5:6]
                                        ; kill: def $vgpr5 killed $vgpr5 killed $vgpr5_vgpr6 killed $exec
	s_mov_b64 s[8:9], 24
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_depctrl@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_depctrl@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel depctrl
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 80
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 4
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end9:
	.size	depctrl, .Lfunc_end9-depctrl
                                        ; -- End function
	.set depctrl.num_vgpr, max(32, __clang_ocl_kern_imp_depctrl.num_vgpr)
	.set depctrl.num_agpr, max(0, __clang_ocl_kern_imp_depctrl.num_agpr)
	.set depctrl.numbered_sgpr, max(34, __clang_ocl_kern_imp_depctrl.numbered_sgpr)
	.set depctrl.num_named_barrier, max(0, __clang_ocl_kern_imp_depctrl.num_named_barrier)
	.set depctrl.private_seg_size, 32+max(__clang_ocl_kern_imp_depctrl.private_seg_size)
	.set depctrl.uses_vcc, or(0, __clang_ocl_kern_imp_depctrl.uses_vcc)
	.set depctrl.uses_flat_scratch, or(0, __clang_ocl_kern_imp_depctrl.uses_flat_scratch)
	.set depctrl.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_depctrl.has_dyn_sized_stack)
	.set depctrl.has_recursion, or(0, __clang_ocl_kern_imp_depctrl.has_recursion)
	.set depctrl.has_indirect_call, or(0, __clang_ocl_kern_imp_depctrl.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 456
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 80
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_spin ; -- Begin function __clang_ocl_kern_imp_spin
	.globl	__clang_ocl_kern_imp_spin
	.p2align	2
	.type	__clang_ocl_kern_imp_spin,@function
__clang_ocl_kern_imp_spin:              ; @__clang_ocl_kern_imp_spin
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s11, s33
	s_mov_b32 s33, s32
	s_xor_saveexec_b32 s0, -1
	scratch_store_b32 off, v6, s33 offset:28 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s0
	s_add_i32 s32, s32, 40
	scratch_store_b32 off, v3, s33 offset:24 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v0
	scratch_load_b32 v0, off, s33 offset:24 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	v_mov_b32_e32 v5, v1
	s_mov_b64 s[8:9], 0
	s_mov_b32 s5, s9
	s_mov_b32 s6, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s6
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s4, s1
	s_cselect_b32 s0, s4, s5
	s_mov_b32 s1, s8
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_mov_b64 s[8:9], s[2:3]
                                        ; implicit-def: $vgpr6 : SGPR spill to VGPR lane
	v_writelane_b32 v6, s8, 0
	v_writelane_b32 v6, s9, 1
	s_add_i32 s8, s33, 8
	s_mov_b32 s0, s8
	s_cmp_lg_u32 s0, s6
	s_cselect_b32 s4, s4, s5
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s4
	s_mov_b64 s[4:5], s[0:1]
	v_writelane_b32 v6, s4, 2
	v_writelane_b32 v6, s5, 3
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, 0
	scratch_store_b32 off, v0, s33 offset:16
	s_mov_b32 s0, 0
                                        ; implicit-def: $sgpr1
	v_writelane_b32 v6, s0, 4
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v6, s33 offset:20 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
.LBB10_1:                               ; =>This Inner Loop Header: Depth=1
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v6, off, s33 offset:20 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s2, v6, 0
	v_readlane_b32 s3, v6, 1
	v_readlane_b32 s0, v6, 5
	v_readlane_b32 s1, v6, 4
	v_writelane_b32 v6, s1, 6
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	s_mov_b32 s1, 0
	v_cmp_eq_u32_e64 s1, v0, s1
	s_mov_b32 s2, -1
	s_or_b32 s0, s0, exec_lo
	v_writelane_b32 v6, s0, 7
	v_writelane_b32 v6, s0, 8
	s_mov_b32 s0, exec_lo
	v_writelane_b32 v6, s0, 9
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v6, s33 offset:20 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
	s_and_b32 s0, s0, s1
	s_mov_b32 exec_lo, s0
	s_cbranch_execz .LBB10_3
; %bb.2:                                ;   in Loop: Header=BB10_1 Depth=1
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v6, off, s33 offset:20 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v6, 7
	scratch_load_b32 v0, off, s33 offset:16
	s_mov_b32 s1, 1
	s_waitcnt vmcnt(0)
	v_add_nc_u32_e64 v0, v0, s1
	scratch_store_b32 off, v0, s33 offset:16
	s_mov_b32 s1, 0
	s_and_not1_b32 s0, s0, exec_lo
	v_writelane_b32 v6, s0, 8
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v6, s33 offset:20 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
.LBB10_3:                               ;   in Loop: Header=BB10_1 Depth=1
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v6, off, s33 offset:20 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v6, 9
	s_or_b32 exec_lo, exec_lo, s0
	v_readlane_b32 s2, v6, 6
	v_readlane_b32 s1, v6, 8
	s_mov_b32 s0, s1
	s_and_b32 s0, exec_lo, s0
	s_or_b32 s0, s0, s2
	v_writelane_b32 v6, s1, 5
	s_mov_b32 s1, s0
	v_writelane_b32 v6, s1, 4
	s_mov_b32 s1, s0
	v_writelane_b32 v6, s1, 10
	s_or_saveexec_b32 s10, -1
	scratch_store_b32 off, v6, s33 offset:20 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s10
	s_and_not1_b32 exec_lo, exec_lo, s0
	s_cbranch_execnz .LBB10_1
; %bb.4:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v6, off, s33 offset:20 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v6, 10
	s_or_b32 exec_lo, exec_lo, s0
; %bb.5:
	s_or_saveexec_b32 s10, -1
	scratch_load_b32 v6, off, s33 offset:20 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s10
	s_waitcnt vmcnt(0)
	v_readlane_b32 s0, v6, 2
	v_readlane_b32 s1, v6, 3
	scratch_load_b32 v2, off, s33 offset:16
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_xor_saveexec_b32 s0, -1
	scratch_load_b32 v6, off, s33 offset:28 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s0
	s_mov_b32 s33, s11
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end10:
	.size	__clang_ocl_kern_imp_spin, .Lfunc_end10-__clang_ocl_kern_imp_spin
                                        ; -- End function
	.set __clang_ocl_kern_imp_spin.num_vgpr, 7
	.set __clang_ocl_kern_imp_spin.num_agpr, 0
	.set __clang_ocl_kern_imp_spin.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_spin.num_named_barrier, 0
	.set __clang_ocl_kern_imp_spin.private_seg_size, 40
	.set __clang_ocl_kern_imp_spin.uses_vcc, 0
	.set __clang_ocl_kern_imp_spin.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_spin.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_spin.has_recursion, 0
	.set __clang_ocl_kern_imp_spin.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 756
; TotalNumSgprs: 34
; NumVgprs: 7
; ScratchSize: 40
; MemoryBound: 0
	.text
	.protected	spin                    ; -- Begin function spin
	.globl	spin
	.p2align	8
	.type	spin,@function
spin:                                   ; @spin
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr7 : SGPR spill to VGPR lane
	v_writelane_b32 v7, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v7, 0
	v_writelane_b32 v7, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v7, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v7, s4, 2
	v_writelane_b32 v7, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v7, 2
	v_readlane_b32 s1, v7, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[18:19], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s20, s23
	s_mov_b32 s21, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s21
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s20
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s21
	s_cselect_b32 s15, s15, s20
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[5:6], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[3:4], v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v5
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[5:6], s2, v[5:6]
	v_mov_b32_e32 v1, v5
	v_lshrrev_b64 v[3:4], s2, v[3:4]
                                        ; kill: def $vgpr3 killed $vgpr3 killed $vgpr3_vgpr4 killed $exec
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_spin@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_spin@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel spin
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 72
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end11:
	.size	spin, .Lfunc_end11-spin
                                        ; -- End function
	.set spin.num_vgpr, max(32, __clang_ocl_kern_imp_spin.num_vgpr)
	.set spin.num_agpr, max(0, __clang_ocl_kern_imp_spin.num_agpr)
	.set spin.numbered_sgpr, max(34, __clang_ocl_kern_imp_spin.numbered_sgpr)
	.set spin.num_named_barrier, max(0, __clang_ocl_kern_imp_spin.num_named_barrier)
	.set spin.private_seg_size, 32+max(__clang_ocl_kern_imp_spin.private_seg_size)
	.set spin.uses_vcc, or(0, __clang_ocl_kern_imp_spin.uses_vcc)
	.set spin.uses_flat_scratch, or(0, __clang_ocl_kern_imp_spin.uses_flat_scratch)
	.set spin.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_spin.has_dyn_sized_stack)
	.set spin.has_recursion, or(0, __clang_ocl_kern_imp_spin.has_recursion)
	.set spin.has_indirect_call, or(0, __clang_ocl_kern_imp_spin.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 364
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 72
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_lds ; -- Begin function __clang_ocl_kern_imp_lds
	.globl	__clang_ocl_kern_imp_lds
	.p2align	2
	.type	__clang_ocl_kern_imp_lds,@function
__clang_ocl_kern_imp_lds:               ; @__clang_ocl_kern_imp_lds
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s7, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 16
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr3 killed $vgpr3 def $vgpr3_vgpr4 killed $exec
	v_mov_b32_e32 v4, v1
	s_mov_b64 s[8:9], 0
	s_mov_b32 s5, s9
	s_mov_b32 s6, -1
	s_mov_b32 s0, s33
	s_cmp_lg_u32 s0, s6
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s4, s3
	s_cselect_b32 s2, s4, s5
	s_mov_b32 s3, s8
	s_cselect_b32 s0, s0, s3
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s2
	s_add_i32 s8, s33, 8
	s_mov_b32 s2, s8
	s_cmp_lg_u32 s2, s6
	s_cselect_b32 s4, s4, s5
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s4
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[3:4]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b32 v[0:1], v2
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b32 v0, v[0:1]
	v_mov_b32_e32 v1, 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	ds_store_b32 v0, v1
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b32 v0, v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	ds_load_b32 v0, v0 offset:4
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt lgkmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_mov_b32 s33, s7
	s_setpc_b64 s[30:31]
.Lfunc_end12:
	.size	__clang_ocl_kern_imp_lds, .Lfunc_end12-__clang_ocl_kern_imp_lds
                                        ; -- End function
	.set __clang_ocl_kern_imp_lds.num_vgpr, 5
	.set __clang_ocl_kern_imp_lds.num_agpr, 0
	.set __clang_ocl_kern_imp_lds.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_lds.num_named_barrier, 0
	.set __clang_ocl_kern_imp_lds.private_seg_size, 16
	.set __clang_ocl_kern_imp_lds.uses_vcc, 0
	.set __clang_ocl_kern_imp_lds.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_lds.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_lds.has_recursion, 0
	.set __clang_ocl_kern_imp_lds.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 244
; TotalNumSgprs: 34
; NumVgprs: 5
; ScratchSize: 16
; MemoryBound: 0
	.text
	.protected	lds                     ; -- Begin function lds
	.globl	lds
	.p2align	8
	.type	lds,@function
lds:                                    ; @lds
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 16
                                        ; implicit-def: $vgpr5 : SGPR spill to VGPR lane
	v_writelane_b32 v5, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v5, 0
	v_writelane_b32 v5, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v5, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v5, s4, 2
	v_writelane_b32 v5, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v5, 2
	v_readlane_b32 s1, v5, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[16:17], s[0:1], 0x0
	s_load_b32 s15, s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s19, s23
	s_mov_b32 s20, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s20
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s18, s3
	s_cselect_b32 s2, s18, s19
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s20
	s_cselect_b32 s18, s18, s19
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s18
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s15
	flat_store_b32 v[0:1], v2
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[3:4], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b32 v2, v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[3:4], s2, v[3:4]
	v_mov_b32_e32 v1, v3
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_lds@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_lds@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel lds
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 32
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end13:
	.size	lds, .Lfunc_end13-lds
                                        ; -- End function
	.set lds.num_vgpr, max(32, __clang_ocl_kern_imp_lds.num_vgpr)
	.set lds.num_agpr, max(0, __clang_ocl_kern_imp_lds.num_agpr)
	.set lds.numbered_sgpr, max(34, __clang_ocl_kern_imp_lds.numbered_sgpr)
	.set lds.num_named_barrier, max(0, __clang_ocl_kern_imp_lds.num_named_barrier)
	.set lds.private_seg_size, 16+max(__clang_ocl_kern_imp_lds.private_seg_size)
	.set lds.uses_vcc, or(0, __clang_ocl_kern_imp_lds.uses_vcc)
	.set lds.uses_flat_scratch, or(0, __clang_ocl_kern_imp_lds.uses_flat_scratch)
	.set lds.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_lds.has_dyn_sized_stack)
	.set lds.has_recursion, or(0, __clang_ocl_kern_imp_lds.has_recursion)
	.set lds.has_indirect_call, or(0, __clang_ocl_kern_imp_lds.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 344
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 32
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_rmw_acq_rel_device ; -- Begin function __clang_ocl_kern_imp_rmw_acq_rel_device
	.globl	__clang_ocl_kern_imp_rmw_acq_rel_device
	.p2align	2
	.type	__clang_ocl_kern_imp_rmw_acq_rel_device,@function
__clang_ocl_kern_imp_rmw_acq_rel_device: ; @__clang_ocl_kern_imp_rmw_acq_rel_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s21, s33
	s_mov_b32 s33, s32
	s_xor_saveexec_b32 s0, -1
	scratch_store_b32 off, v6, s33 offset:56 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s0
	s_add_i32 s32, s32, 64
	scratch_store_b32 off, v3, s33 offset:52 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v0
	scratch_load_b32 v0, off, s33 offset:52 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	v_mov_b32_e32 v5, v1
	s_mov_b64 s[2:3], 0
	s_mov_b32 s17, s3
                                        ; implicit-def: $vgpr6 : SGPR spill to VGPR lane
	v_writelane_b32 v6, s17, 0
	s_mov_b32 s18, -1
	v_writelane_b32 v6, s18, 1
	s_mov_b32 s1, s33
	s_cmp_lg_u32 s1, s18
	s_mov_b64 s[4:5], src_private_base
	s_mov_b32 s16, s5
	v_writelane_b32 v6, s16, 2
	s_cselect_b32 s0, s16, s17
	s_mov_b32 s15, s2
	v_writelane_b32 v6, s15, 3
	s_cselect_b32 s2, s1, s15
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s18
	s_cselect_b32 s0, s16, s17
	s_cselect_b32 s4, s1, s15
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_mov_b64 s[0:1], s[4:5]
	v_writelane_b32 v6, s0, 4
	v_writelane_b32 v6, s1, 5
	s_add_i32 s0, s33, 20
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s18
	s_cselect_b32 s0, s16, s17
	s_cselect_b32 s12, s1, s15
                                        ; kill: def $sgpr12 killed $sgpr12 def $sgpr12_sgpr13
	s_mov_b32 s13, s0
	s_add_i32 s0, s33, 24
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s18
	s_cselect_b32 s0, s16, s17
	s_cselect_b32 s10, s1, s15
                                        ; kill: def $sgpr10 killed $sgpr10 def $sgpr10_sgpr11
	s_mov_b32 s11, s0
	s_add_i32 s0, s33, 28
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s18
	s_cselect_b32 s0, s16, s17
	s_cselect_b32 s8, s1, s15
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_add_i32 s0, s33, 32
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s18
	s_cselect_b32 s0, s16, s17
	s_cselect_b32 s6, s1, s15
                                        ; kill: def $sgpr6 killed $sgpr6 def $sgpr6_sgpr7
	s_mov_b32 s7, s0
	s_add_i32 s1, s33, 36
	s_mov_b32 s0, s1
	s_cmp_lg_u32 s0, s18
	s_cselect_b32 s14, s16, s17
	s_cselect_b32 s0, s0, s15
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s14
	s_add_i32 s20, s33, 40
	s_mov_b32 s14, s20
	s_cmp_lg_u32 s14, s18
	s_cselect_b32 s16, s16, s17
	s_cselect_b32 s14, s14, s15
                                        ; kill: def $sgpr14 killed $sgpr14 def $sgpr14_sgpr15
	s_mov_b32 s15, s16
	v_writelane_b32 v6, s14, 6
	v_writelane_b32 v6, s15, 7
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, 5
	scratch_store_b32 off, v0, s33 offset:16
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v4, 3
	v_mov_b32_e32 v2, s12
	v_mov_b32_e32 v3, s13
	flat_store_b32 v[2:3], v4
	v_mov_b32_e32 v2, s12
	v_mov_b32_e32 v3, s13
	flat_load_b32 v2, v[2:3]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_u32 v2, v[0:1], v2, off glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_mov_b32_e32 v0, s10
	v_mov_b32_e32 v1, s11
	flat_store_b32 v[0:1], v2
	v_mov_b32_e32 v0, s10
	v_mov_b32_e32 v1, s11
	flat_load_b32 v2, v[0:1]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v2, s8
	v_mov_b32_e32 v3, s9
	flat_store_b32 v[2:3], v4
	v_mov_b32_e32 v2, s8
	v_mov_b32_e32 v3, s9
	flat_load_b32 v2, v[2:3]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_atomic_swap_b32 v2, v[0:1], v2, off glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_mov_b32_e32 v0, s6
	v_mov_b32_e32 v1, s7
	flat_store_b32 v[0:1], v2
	v_mov_b32_e32 v0, s6
	v_mov_b32_e32 v1, s7
	flat_load_b32 v2, v[0:1]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:32
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[2:3], v[0:1]
	v_mov_b32_e32 v4, 7
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b32 v[0:1], v4
	scratch_load_b32 v1, off, s33 offset:16
	v_mov_b32_e32 v5, s1
	v_mov_b32_e32 v4, s0
	flat_load_b32 v4, v[4:5]
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(1)
	v_mov_b32_e32 v5, v1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_b32 v0, v[2:3], v[4:5], off glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	scratch_store_b32 off, v0, s33 offset:48 ; 4-byte Folded Spill
	v_cmp_eq_u32_e64 s0, v0, v1
	v_cmp_ne_u32_e64 s1, v0, v1
	v_writelane_b32 v6, s0, 8
	s_mov_b32 s0, exec_lo
	v_writelane_b32 v6, s0, 9
	s_or_saveexec_b32 s20, -1
	scratch_store_b32 off, v6, s33 offset:44 ; 4-byte Folded Spill
	s_mov_b32 exec_lo, s20
	s_and_b32 s0, s0, s1
	s_mov_b32 exec_lo, s0
	s_cbranch_execz .LBB14_2
; %bb.1:
	scratch_load_b32 v0, off, s33 offset:48 ; 4-byte Folded Reload
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:16
.LBB14_2:
	s_or_saveexec_b32 s20, -1
	scratch_load_b32 v6, off, s33 offset:44 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s20
	s_waitcnt vmcnt(0)
	v_readlane_b32 s5, v6, 9
	s_or_b32 exec_lo, exec_lo, s5
	v_readlane_b32 s0, v6, 4
	v_readlane_b32 s1, v6, 5
	v_readlane_b32 s2, v6, 6
	v_readlane_b32 s3, v6, 7
	v_readlane_b32 s4, v6, 8
	v_cndmask_b32_e64 v2, 0, 1, s4
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b8 v[0:1], v2
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_u8 v0, v[0:1]
	s_mov_b32 s2, 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_and_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:64
	scratch_load_b32 v2, off, s33 offset:16
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:96
	s_mov_b32 s32, s33
	s_xor_saveexec_b32 s0, -1
	scratch_load_b32 v6, off, s33 offset:56 ; 4-byte Folded Reload
	s_mov_b32 exec_lo, s0
	s_mov_b32 s33, s21
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end14:
	.size	__clang_ocl_kern_imp_rmw_acq_rel_device, .Lfunc_end14-__clang_ocl_kern_imp_rmw_acq_rel_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_vgpr, 7
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_agpr, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.private_seg_size, 64
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_recursion, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 1100
; TotalNumSgprs: 34
; NumVgprs: 7
; ScratchSize: 64
; MemoryBound: 0
	.text
	.protected	rmw_acq_rel_device      ; -- Begin function rmw_acq_rel_device
	.globl	rmw_acq_rel_device
	.p2align	8
	.type	rmw_acq_rel_device,@function
rmw_acq_rel_device:                     ; @rmw_acq_rel_device
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr7 : SGPR spill to VGPR lane
	v_writelane_b32 v7, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v7, 0
	v_writelane_b32 v7, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v7, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v7, s4, 2
	v_writelane_b32 v7, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v7, 2
	v_readlane_b32 s1, v7, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[18:19], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s20, s23
	s_mov_b32 s21, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s21
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s20
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s21
	s_cselect_b32 s15, s15, s20
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[5:6], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[3:4], v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v5
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[5:6], s2, v[5:6]
	v_mov_b32_e32 v1, v5
	v_lshrrev_b64 v[3:4], s2, v[3:4]
                                        ; kill: def $vgpr3 killed $vgpr3 killed $vgpr3_vgpr4 killed $exec
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_rmw_acq_rel_device@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_rmw_acq_rel_device@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel rmw_acq_rel_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 96
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end15:
	.size	rmw_acq_rel_device, .Lfunc_end15-rmw_acq_rel_device
                                        ; -- End function
	.set rmw_acq_rel_device.num_vgpr, max(32, __clang_ocl_kern_imp_rmw_acq_rel_device.num_vgpr)
	.set rmw_acq_rel_device.num_agpr, max(0, __clang_ocl_kern_imp_rmw_acq_rel_device.num_agpr)
	.set rmw_acq_rel_device.numbered_sgpr, max(34, __clang_ocl_kern_imp_rmw_acq_rel_device.numbered_sgpr)
	.set rmw_acq_rel_device.num_named_barrier, max(0, __clang_ocl_kern_imp_rmw_acq_rel_device.num_named_barrier)
	.set rmw_acq_rel_device.private_seg_size, 32+max(__clang_ocl_kern_imp_rmw_acq_rel_device.private_seg_size)
	.set rmw_acq_rel_device.uses_vcc, or(0, __clang_ocl_kern_imp_rmw_acq_rel_device.uses_vcc)
	.set rmw_acq_rel_device.uses_flat_scratch, or(0, __clang_ocl_kern_imp_rmw_acq_rel_device.uses_flat_scratch)
	.set rmw_acq_rel_device.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_rmw_acq_rel_device.has_dyn_sized_stack)
	.set rmw_acq_rel_device.has_recursion, or(0, __clang_ocl_kern_imp_rmw_acq_rel_device.has_recursion)
	.set rmw_acq_rel_device.has_indirect_call, or(0, __clang_ocl_kern_imp_rmw_acq_rel_device.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 364
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 96
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_fence_sc_device ; -- Begin function __clang_ocl_kern_imp_fence_sc_device
	.globl	__clang_ocl_kern_imp_fence_sc_device
	.p2align	2
	.type	__clang_ocl_kern_imp_fence_sc_device,@function
__clang_ocl_kern_imp_fence_sc_device:   ; @__clang_ocl_kern_imp_fence_sc_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s9, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 40
	scratch_store_b32 off, v4, s33 offset:32 ; 4-byte Folded Spill
	scratch_store_b32 off, v3, s33 offset:28 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v2
	scratch_load_b32 v2, off, s33 offset:32 ; 4-byte Folded Reload
	v_mov_b32_e32 v6, v0
	scratch_load_b32 v0, off, s33 offset:28 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	v_mov_b32_e32 v3, v5
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, v0
                                        ; kill: def $vgpr6 killed $vgpr6 def $vgpr6_vgpr7 killed $exec
	v_mov_b32_e32 v7, v1
	s_mov_b64 s[4:5], 0
	s_mov_b32 s7, s5
	s_mov_b32 s8, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s8
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s6, s1
	s_cselect_b32 s0, s6, s7
	s_mov_b32 s1, s4
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s4, s0
	s_cmp_lg_u32 s4, s8
	s_cselect_b32 s0, s6, s7
	s_cselect_b32 s4, s4, s1
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_add_i32 s10, s33, 16
	s_mov_b32 s0, s10
	s_cmp_lg_u32 s0, s8
	s_cselect_b32 s6, s6, s7
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s6
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[6:7]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v0, s33 offset:24
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v2, 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:12 dlc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	s_mov_b32 s2, 0x7f3a002
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:32
	scratch_load_b32 v0, off, s33 offset:24
	s_mov_b32 s2, 0x7f3a001
	s_waitcnt vmcnt(0)
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_mov_b32 s33, s9
	s_setpc_b64 s[30:31]
.Lfunc_end16:
	.size	__clang_ocl_kern_imp_fence_sc_device, .Lfunc_end16-__clang_ocl_kern_imp_fence_sc_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_fence_sc_device.num_vgpr, 8
	.set __clang_ocl_kern_imp_fence_sc_device.num_agpr, 0
	.set __clang_ocl_kern_imp_fence_sc_device.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_fence_sc_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_fence_sc_device.private_seg_size, 40
	.set __clang_ocl_kern_imp_fence_sc_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_fence_sc_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_recursion, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 452
; TotalNumSgprs: 34
; NumVgprs: 8
; ScratchSize: 40
; MemoryBound: 0
	.text
	.protected	fence_sc_device         ; -- Begin function fence_sc_device
	.globl	fence_sc_device
	.p2align	8
	.type	fence_sc_device,@function
fence_sc_device:                        ; @fence_sc_device
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr11 : SGPR spill to VGPR lane
	v_writelane_b32 v11, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v11, 0
	v_writelane_b32 v11, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v11, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v11, s4, 2
	v_writelane_b32 v11, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v11, 2
	v_readlane_b32 s1, v11, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[22:23], s[0:1], 0x0
	s_load_b64 s[20:21], s[0:1], 0x8
	s_load_b64 s[18:19], s[0:1], 0x10
	s_mov_b64 s[16:17], 0
	s_mov_b32 s24, s17
	s_mov_b32 s25, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s25
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s24
	s_mov_b32 s3, s16
	s_cselect_b32 s16, s8, s3
                                        ; kill: def $sgpr16 killed $sgpr16 def $sgpr16_sgpr17
	s_mov_b32 s17, s2
	s_add_i32 s2, s33, 8
	s_mov_b32 s8, s2
	s_cmp_lg_u32 s8, s25
	s_cselect_b32 s2, s15, s24
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s27, s33, 16
	s_mov_b32 s2, s27
	s_cmp_lg_u32 s2, s25
	s_cselect_b32 s15, s15, s24
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s22
	v_mov_b32_e32 v3, s23
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	v_mov_b32_e32 v2, s20
	v_mov_b32_e32 v3, s21
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	flat_load_b64 v[9:10], v[0:1]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[7:8], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[5:6], v[0:1]
	s_waitcnt vmcnt(2) lgkmcnt(2)
	v_mov_b32_e32 v0, v9
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v2, v7
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, v5
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[9:10], s2, v[9:10]
	v_mov_b32_e32 v1, v9
	v_lshrrev_b64 v[7:8], s2, v[7:8]
	v_mov_b32_e32 v3, v7
	v_lshrrev_b64 v[5:6], s2, v[5:6]
                                        ; kill: def $vgpr5 killed $vgpr5 killed $vgpr5_vgpr6 killed $exec
	s_mov_b64 s[8:9], 24
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_fence_sc_device@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_fence_sc_device@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel fence_sc_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 72
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 4
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end17:
	.size	fence_sc_device, .Lfunc_end17-fence_sc_device
                                        ; -- End function
	.set fence_sc_device.num_vgpr, max(32, __clang_ocl_kern_imp_fence_sc_device.num_vgpr)
	.set fence_sc_device.num_agpr, max(0, __clang_ocl_kern_imp_fence_sc_device.num_agpr)
	.set fence_sc_device.numbered_sgpr, max(34, __clang_ocl_kern_imp_fence_sc_device.numbered_sgpr)
	.set fence_sc_device.num_named_barrier, max(0, __clang_ocl_kern_imp_fence_sc_device.num_named_barrier)
	.set fence_sc_device.private_seg_size, 32+max(__clang_ocl_kern_imp_fence_sc_device.private_seg_size)
	.set fence_sc_device.uses_vcc, or(0, __clang_ocl_kern_imp_fence_sc_device.uses_vcc)
	.set fence_sc_device.uses_flat_scratch, or(0, __clang_ocl_kern_imp_fence_sc_device.uses_flat_scratch)
	.set fence_sc_device.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_fence_sc_device.has_dyn_sized_stack)
	.set fence_sc_device.has_recursion, or(0, __clang_ocl_kern_imp_fence_sc_device.has_recursion)
	.set fence_sc_device.has_indirect_call, or(0, __clang_ocl_kern_imp_fence_sc_device.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 456
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 72
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_ld_acquire_device ; -- Begin function __clang_ocl_kern_imp_ld_acquire_device
	.globl	__clang_ocl_kern_imp_ld_acquire_device
	.p2align	2
	.type	__clang_ocl_kern_imp_ld_acquire_device,@function
__clang_ocl_kern_imp_ld_acquire_device: ; @__clang_ocl_kern_imp_ld_acquire_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s11, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 40
	scratch_store_b32 off, v4, s33 offset:32 ; 4-byte Folded Spill
	scratch_store_b32 off, v3, s33 offset:28 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v2
	scratch_load_b32 v2, off, s33 offset:32 ; 4-byte Folded Reload
	v_mov_b32_e32 v6, v0
	scratch_load_b32 v0, off, s33 offset:28 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	v_mov_b32_e32 v3, v5
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, v0
                                        ; kill: def $vgpr6 killed $vgpr6 def $vgpr6_vgpr7 killed $exec
	v_mov_b32_e32 v7, v1
	s_mov_b64 s[2:3], 0
	s_mov_b32 s9, s3
	s_mov_b32 s10, -1
	s_mov_b32 s1, s33
	s_cmp_lg_u32 s1, s10
	s_mov_b64 s[4:5], src_private_base
	s_mov_b32 s8, s5
	s_cselect_b32 s0, s8, s9
	s_mov_b32 s5, s2
	s_cselect_b32 s6, s1, s5
                                        ; kill: def $sgpr6 killed $sgpr6 def $sgpr6_sgpr7
	s_mov_b32 s7, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s1, s0
	s_cmp_lg_u32 s1, s10
	s_cselect_b32 s0, s8, s9
	s_cselect_b32 s2, s1, s5
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s1, s33, 16
	s_mov_b32 s0, s1
	s_cmp_lg_u32 s0, s10
	s_cselect_b32 s4, s8, s9
	s_cselect_b32 s0, s0, s5
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s4
	s_add_i32 s12, s33, 24
	s_mov_b32 s4, s12
	s_cmp_lg_u32 s4, s10
	s_cselect_b32 s8, s8, s9
	s_cselect_b32 s4, s4, s5
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s8
	v_mov_b32_e32 v0, s6
	v_mov_b32_e32 v1, s7
	flat_store_b64 v[0:1], v[6:7]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s6
	v_mov_b32_e32 v1, s7
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v2, v[0:1], off glc
	s_waitcnt vmcnt(0)
	buffer_gl1_inv
	buffer_gl0_inv
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b32 v[0:1], v2
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b32 v0, v[0:1]
	s_mov_b32 s4, 0x7f3a001
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_xor_b32_e64 v2, v0, s4
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b32 v0, v[0:1], off glc dlc
	s_waitcnt vmcnt(0)
	s_mov_b32 s2, 0x7f3a002
	v_xor_b32_e64 v2, v0, s2
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_b64 v[0:1], v[0:1]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v2, off offset:32
	s_mov_b32 s32, s33
	s_mov_b32 s33, s11
	s_setpc_b64 s[30:31]
.Lfunc_end18:
	.size	__clang_ocl_kern_imp_ld_acquire_device, .Lfunc_end18-__clang_ocl_kern_imp_ld_acquire_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_ld_acquire_device.num_vgpr, 8
	.set __clang_ocl_kern_imp_ld_acquire_device.num_agpr, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_ld_acquire_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.private_seg_size, 40
	.set __clang_ocl_kern_imp_ld_acquire_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_recursion, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 452
; TotalNumSgprs: 34
; NumVgprs: 8
; ScratchSize: 40
; MemoryBound: 0
	.text
	.protected	ld_acquire_device       ; -- Begin function ld_acquire_device
	.globl	ld_acquire_device
	.p2align	8
	.type	ld_acquire_device,@function
ld_acquire_device:                      ; @ld_acquire_device
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr11 : SGPR spill to VGPR lane
	v_writelane_b32 v11, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v11, 0
	v_writelane_b32 v11, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v11, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v11, s4, 2
	v_writelane_b32 v11, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v11, 2
	v_readlane_b32 s1, v11, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[22:23], s[0:1], 0x0
	s_load_b64 s[20:21], s[0:1], 0x8
	s_load_b64 s[18:19], s[0:1], 0x10
	s_mov_b64 s[16:17], 0
	s_mov_b32 s24, s17
	s_mov_b32 s25, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s25
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s24
	s_mov_b32 s3, s16
	s_cselect_b32 s16, s8, s3
                                        ; kill: def $sgpr16 killed $sgpr16 def $sgpr16_sgpr17
	s_mov_b32 s17, s2
	s_add_i32 s2, s33, 8
	s_mov_b32 s8, s2
	s_cmp_lg_u32 s8, s25
	s_cselect_b32 s2, s15, s24
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s27, s33, 16
	s_mov_b32 s2, s27
	s_cmp_lg_u32 s2, s25
	s_cselect_b32 s15, s15, s24
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s22
	v_mov_b32_e32 v3, s23
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	v_mov_b32_e32 v2, s20
	v_mov_b32_e32 v3, s21
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	flat_load_b64 v[9:10], v[0:1]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[7:8], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[5:6], v[0:1]
	s_waitcnt vmcnt(2) lgkmcnt(2)
	v_mov_b32_e32 v0, v9
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v2, v7
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, v5
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[9:10], s2, v[9:10]
	v_mov_b32_e32 v1, v9
	v_lshrrev_b64 v[7:8], s2, v[7:8]
	v_mov_b32_e32 v3, v7
	v_lshrrev_b64 v[5:6], s2, v[5:6]
                                        ; kill: def $vgpr5 killed $vgpr5 killed $vgpr5_vgpr6 killed $exec
	s_mov_b64 s[8:9], 24
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_ld_acquire_device@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_ld_acquire_device@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ld_acquire_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 72
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 4
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end19:
	.size	ld_acquire_device, .Lfunc_end19-ld_acquire_device
                                        ; -- End function
	.set ld_acquire_device.num_vgpr, max(32, __clang_ocl_kern_imp_ld_acquire_device.num_vgpr)
	.set ld_acquire_device.num_agpr, max(0, __clang_ocl_kern_imp_ld_acquire_device.num_agpr)
	.set ld_acquire_device.numbered_sgpr, max(34, __clang_ocl_kern_imp_ld_acquire_device.numbered_sgpr)
	.set ld_acquire_device.num_named_barrier, max(0, __clang_ocl_kern_imp_ld_acquire_device.num_named_barrier)
	.set ld_acquire_device.private_seg_size, 32+max(__clang_ocl_kern_imp_ld_acquire_device.private_seg_size)
	.set ld_acquire_device.uses_vcc, or(0, __clang_ocl_kern_imp_ld_acquire_device.uses_vcc)
	.set ld_acquire_device.uses_flat_scratch, or(0, __clang_ocl_kern_imp_ld_acquire_device.uses_flat_scratch)
	.set ld_acquire_device.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_ld_acquire_device.has_dyn_sized_stack)
	.set ld_acquire_device.has_recursion, or(0, __clang_ocl_kern_imp_ld_acquire_device.has_recursion)
	.set ld_acquire_device.has_indirect_call, or(0, __clang_ocl_kern_imp_ld_acquire_device.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 456
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 72
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	__clang_ocl_kern_imp_st_release_device ; -- Begin function __clang_ocl_kern_imp_st_release_device
	.globl	__clang_ocl_kern_imp_st_release_device
	.p2align	2
	.type	__clang_ocl_kern_imp_st_release_device,@function
__clang_ocl_kern_imp_st_release_device: ; @__clang_ocl_kern_imp_st_release_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s9, s33
	s_mov_b32 s33, s32
	s_add_i32 s32, s32, 32
	scratch_store_b32 off, v3, s33 offset:20 ; 4-byte Folded Spill
	v_mov_b32_e32 v4, v0
	scratch_load_b32 v0, off, s33 offset:20 ; 4-byte Folded Reload
                                        ; kill: def $vgpr2 killed $vgpr2 def $vgpr2_vgpr3 killed $exec
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, v0
                                        ; kill: def $vgpr4 killed $vgpr4 def $vgpr4_vgpr5 killed $exec
	v_mov_b32_e32 v5, v1
	s_mov_b64 s[4:5], 0
	s_mov_b32 s7, s5
	s_mov_b32 s8, -1
	s_mov_b32 s2, s33
	s_cmp_lg_u32 s2, s8
	s_mov_b64 s[0:1], src_private_base
	s_mov_b32 s6, s1
	s_cselect_b32 s0, s6, s7
	s_mov_b32 s1, s4
	s_cselect_b32 s2, s2, s1
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s0
	s_add_i32 s0, s33, 8
	s_mov_b32 s4, s0
	s_cmp_lg_u32 s4, s8
	s_cselect_b32 s0, s6, s7
	s_cselect_b32 s4, s4, s1
                                        ; kill: def $sgpr4 killed $sgpr4 def $sgpr4_sgpr5
	s_mov_b32 s5, s0
	s_add_i32 s10, s33, 16
	s_mov_b32 s0, s10
	s_cmp_lg_u32 s0, s8
	s_cselect_b32 s6, s6, s7
	s_cselect_b32 s0, s0, s1
                                        ; kill: def $sgpr0 killed $sgpr0 def $sgpr0_sgpr1
	s_mov_b32 s1, s6
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_store_b64 v[0:1], v[4:5]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s4
	v_mov_b32_e32 v1, s5
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v4, 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v[0:1], v4, off dlc
	s_waitcnt_vscnt null, 0x0
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[0:1], v[0:1]
	v_mov_b32_e32 v3, s1
	v_mov_b32_e32 v2, s0
	flat_store_b32 v[2:3], v4
	v_mov_b32_e32 v3, s1
	v_mov_b32_e32 v2, s0
	flat_load_b32 v2, v[2:3]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	global_store_b32 v[0:1], v2, off
	s_mov_b32 s32, s33
	s_mov_b32 s33, s9
	s_setpc_b64 s[30:31]
.Lfunc_end20:
	.size	__clang_ocl_kern_imp_st_release_device, .Lfunc_end20-__clang_ocl_kern_imp_st_release_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_st_release_device.num_vgpr, 6
	.set __clang_ocl_kern_imp_st_release_device.num_agpr, 0
	.set __clang_ocl_kern_imp_st_release_device.numbered_sgpr, 34
	.set __clang_ocl_kern_imp_st_release_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_st_release_device.private_seg_size, 32
	.set __clang_ocl_kern_imp_st_release_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_st_release_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_st_release_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_st_release_device.has_recursion, 0
	.set __clang_ocl_kern_imp_st_release_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 284
; TotalNumSgprs: 34
; NumVgprs: 6
; ScratchSize: 32
; MemoryBound: 0
	.text
	.protected	st_release_device       ; -- Begin function st_release_device
	.globl	st_release_device
	.p2align	8
	.type	st_release_device,@function
st_release_device:                      ; @st_release_device
; %bb.0:
	s_mov_b32 s33, 0
	s_mov_b32 s32, 32
                                        ; implicit-def: $vgpr7 : SGPR spill to VGPR lane
	v_writelane_b32 v7, s15, 0
	s_mov_b32 s8, s14
	v_readlane_b32 s14, v7, 0
	v_writelane_b32 v7, s8, 1
	s_mov_b32 s12, s13
	v_readlane_b32 s13, v7, 1
	s_mov_b64 s[10:11], s[6:7]
	v_writelane_b32 v7, s4, 2
	v_writelane_b32 v7, s5, 3
	s_mov_b64 s[6:7], s[2:3]
	s_mov_b64 s[4:5], s[0:1]
	v_readlane_b32 s0, v7, 2
	v_readlane_b32 s1, v7, 3
	v_mov_b32_e32 v31, v0
	s_load_b64 s[18:19], s[0:1], 0x0
	s_load_b64 s[16:17], s[0:1], 0x8
	s_mov_b64 s[22:23], 0
	s_mov_b32 s20, s23
	s_mov_b32 s21, -1
	s_mov_b32 s8, s33
	s_cmp_lg_u32 s8, s21
	s_mov_b64 s[2:3], src_private_base
	s_mov_b32 s15, s3
	s_cselect_b32 s2, s15, s20
	s_mov_b32 s3, s22
	s_cselect_b32 s8, s8, s3
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s2
	s_add_i32 s22, s33, 8
	s_mov_b32 s2, s22
	s_cmp_lg_u32 s2, s21
	s_cselect_b32 s15, s15, s20
	s_cselect_b32 s2, s2, s3
                                        ; kill: def $sgpr2 killed $sgpr2 def $sgpr2_sgpr3
	s_mov_b32 s3, s15
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s18
	v_mov_b32_e32 v3, s19
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	v_mov_b32_e32 v2, s16
	v_mov_b32_e32 v3, s17
	flat_store_b64 v[0:1], v[2:3]
	v_mov_b32_e32 v0, s8
	v_mov_b32_e32 v1, s9
	flat_load_b64 v[5:6], v[0:1]
	v_mov_b32_e32 v0, s2
	v_mov_b32_e32 v1, s3
	flat_load_b64 v[3:4], v[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(1)
	v_mov_b32_e32 v0, v5
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v2, v3
	s_mov_b32 s2, 32
	v_lshrrev_b64 v[5:6], s2, v[5:6]
	v_mov_b32_e32 v1, v5
	v_lshrrev_b64 v[3:4], s2, v[3:4]
                                        ; kill: def $vgpr3 killed $vgpr3 killed $vgpr3_vgpr4 killed $exec
	s_mov_b64 s[8:9], 16
	s_mov_b32 s2, s0
	s_mov_b32 s0, s1
	s_mov_b32 s3, s8
	s_mov_b32 s1, s9
	s_add_u32 s8, s2, s3
	s_addc_u32 s0, s0, s1
                                        ; kill: def $sgpr8 killed $sgpr8 def $sgpr8_sgpr9
	s_mov_b32 s9, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __clang_ocl_kern_imp_st_release_device@rel32@lo+4
	s_addc_u32 s1, s1, __clang_ocl_kern_imp_st_release_device@rel32@hi+12
                                        ; implicit-def: $sgpr15
	s_swappc_b64 s[30:31], s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel st_release_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 34
		.amdhsa_reserve_vcc 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 3
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end21:
	.size	st_release_device, .Lfunc_end21-st_release_device
                                        ; -- End function
	.set st_release_device.num_vgpr, max(32, __clang_ocl_kern_imp_st_release_device.num_vgpr)
	.set st_release_device.num_agpr, max(0, __clang_ocl_kern_imp_st_release_device.num_agpr)
	.set st_release_device.numbered_sgpr, max(34, __clang_ocl_kern_imp_st_release_device.numbered_sgpr)
	.set st_release_device.num_named_barrier, max(0, __clang_ocl_kern_imp_st_release_device.num_named_barrier)
	.set st_release_device.private_seg_size, 32+max(__clang_ocl_kern_imp_st_release_device.private_seg_size)
	.set st_release_device.uses_vcc, or(0, __clang_ocl_kern_imp_st_release_device.uses_vcc)
	.set st_release_device.uses_flat_scratch, or(0, __clang_ocl_kern_imp_st_release_device.uses_flat_scratch)
	.set st_release_device.has_dyn_sized_stack, or(0, __clang_ocl_kern_imp_st_release_device.has_dyn_sized_stack)
	.set st_release_device.has_recursion, or(0, __clang_ocl_kern_imp_st_release_device.has_recursion)
	.set st_release_device.has_indirect_call, or(0, __clang_ocl_kern_imp_st_release_device.has_indirect_call)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 364
; TotalNumSgprs: 34
; NumVgprs: 32
; ScratchSize: 64
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 0
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 34
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.p2alignl 7, 3214868480
	.fill 96, 4, 3214868480
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 9
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 34
	.set amdgpu.max_num_named_barrier, 0
	.text
	.type	.L.str,@object                  ; @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str:
	.asciz	"agent"
	.size	.L.str, 6

	.ident	"Debian clang version 22.1.8 (1~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym __clang_ocl_kern_imp_ld
	.addrsig_sym __clang_ocl_kern_imp_corr
	.addrsig_sym __clang_ocl_kern_imp_mpr
	.addrsig_sym __clang_ocl_kern_imp_depaddr
	.addrsig_sym __clang_ocl_kern_imp_depctrl
	.addrsig_sym __clang_ocl_kern_imp_spin
	.addrsig_sym __clang_ocl_kern_imp_lds
	.addrsig_sym __clang_ocl_kern_imp_rmw_acq_rel_device
	.addrsig_sym __clang_ocl_kern_imp_fence_sc_device
	.addrsig_sym __clang_ocl_kern_imp_ld_acquire_device
	.addrsig_sym __clang_ocl_kern_imp_st_release_device
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           ld
    .private_segment_fixed_size: 56
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         ld.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           corr
    .private_segment_fixed_size: 64
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         corr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           mpr
    .private_segment_fixed_size: 80
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         mpr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           depaddr
    .private_segment_fixed_size: 72
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         depaddr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           depctrl
    .private_segment_fixed_size: 80
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         depctrl.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           spin
    .private_segment_fixed_size: 72
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         spin.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  local
        .is_volatile:    true
        .offset:         8
        .pointee_align:  4
        .size:           4
        .type_name:      'int*'
        .value_kind:     dynamic_shared_pointer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         136
        .size:           4
        .value_kind:     hidden_dynamic_lds_size
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           lds
    .private_segment_fixed_size: 32
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         lds.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'atomic_int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           rmw_acq_rel_device
    .private_segment_fixed_size: 96
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         rmw_acq_rel_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           fence_sc_device
    .private_segment_fixed_size: 72
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         fence_sc_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'atomic_int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           ld_acquire_device
    .private_segment_fixed_size: 72
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         ld_acquire_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .is_volatile:    true
        .offset:         0
        .size:           8
        .type_name:      'atomic_int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_volatile:    true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           st_release_device
    .private_segment_fixed_size: 64
    .sgpr_count:     34
    .sgpr_spill_count: 4
    .symbol:         st_release_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
