	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.amdhsa_code_object_version 6
	.text
	.protected	ld                      ; -- Begin function ld
	.globl	ld
	.p2align	8
	.type	ld,@function
ld:                                     ; @ld
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	s_load_dword s0, s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_xor_b32 s0, s0, 0x7f3a001
	v_mov_b32_e32 v1, s0
	global_store_dword v0, v1, s[2:3]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ld
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	ld, .Lfunc_end0-ld
                                        ; -- End function
	.set ld.num_vgpr, 2
	.set ld.num_agpr, 0
	.set ld.numbered_sgpr, 6
	.set ld.num_named_barrier, 0
	.set ld.private_seg_size, 0
	.set ld.uses_vcc, 0
	.set ld.uses_flat_scratch, 0
	.set ld.has_dyn_sized_stack, 0
	.set ld.has_recursion, 0
	.set ld.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 52
; TotalNumSgprs: 10
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 2
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_ld ; -- Begin function __clang_ocl_kern_imp_ld
	.globl	__clang_ocl_kern_imp_ld
	.p2align	2
	.type	__clang_ocl_kern_imp_ld,@function
__clang_ocl_kern_imp_ld:                ; @__clang_ocl_kern_imp_ld
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v0, v[0:1], off
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a001, v0
	global_store_dword v[2:3], v0, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end1:
	.size	__clang_ocl_kern_imp_ld, .Lfunc_end1-__clang_ocl_kern_imp_ld
                                        ; -- End function
	.set __clang_ocl_kern_imp_ld.num_vgpr, 4
	.set __clang_ocl_kern_imp_ld.num_agpr, 0
	.set __clang_ocl_kern_imp_ld.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_ld.num_named_barrier, 0
	.set __clang_ocl_kern_imp_ld.private_seg_size, 0
	.set __clang_ocl_kern_imp_ld.uses_vcc, 0
	.set __clang_ocl_kern_imp_ld.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_ld.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_ld.has_recursion, 0
	.set __clang_ocl_kern_imp_ld.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 40
; TotalNumSgprs: 36
; NumVgprs: 4
; NumAgprs: 0
; TotalNumVgprs: 4
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	corr                    ; -- Begin function corr
	.globl	corr
	.p2align	8
	.type	corr,@function
corr:                                   ; @corr
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v2, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v0, v2, s[0:1] glc
	s_waitcnt vmcnt(0)
	global_load_dword v1, v2, s[0:1] glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a001, v0
	v_xor_b32_e32 v1, 0x7f3a002, v1
	global_store_dwordx2 v2, v[0:1], s[2:3]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel corr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end2:
	.size	corr, .Lfunc_end2-corr
                                        ; -- End function
	.set corr.num_vgpr, 3
	.set corr.num_agpr, 0
	.set corr.numbered_sgpr, 6
	.set corr.num_named_barrier, 0
	.set corr.private_seg_size, 0
	.set corr.uses_vcc, 0
	.set corr.uses_flat_scratch, 0
	.set corr.has_dyn_sized_stack, 0
	.set corr.has_recursion, 0
	.set corr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 68
; TotalNumSgprs: 10
; NumVgprs: 3
; NumAgprs: 0
; TotalNumVgprs: 3
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 3
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_corr ; -- Begin function __clang_ocl_kern_imp_corr
	.globl	__clang_ocl_kern_imp_corr
	.p2align	2
	.type	__clang_ocl_kern_imp_corr,@function
__clang_ocl_kern_imp_corr:              ; @__clang_ocl_kern_imp_corr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v4, v[0:1], off glc
	s_waitcnt vmcnt(0)
	global_load_dword v5, v[0:1], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a001, v4
	v_xor_b32_e32 v1, 0x7f3a002, v5
	global_store_dwordx2 v[2:3], v[0:1], off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end3:
	.size	__clang_ocl_kern_imp_corr, .Lfunc_end3-__clang_ocl_kern_imp_corr
                                        ; -- End function
	.set __clang_ocl_kern_imp_corr.num_vgpr, 6
	.set __clang_ocl_kern_imp_corr.num_agpr, 0
	.set __clang_ocl_kern_imp_corr.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_corr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_corr.private_seg_size, 0
	.set __clang_ocl_kern_imp_corr.uses_vcc, 0
	.set __clang_ocl_kern_imp_corr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_corr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_corr.has_recursion, 0
	.set __clang_ocl_kern_imp_corr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 60
; TotalNumSgprs: 36
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	mpr                     ; -- Begin function mpr
	.globl	mpr
	.p2align	8
	.type	mpr,@function
mpr:                                    ; @mpr
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v0, 0
	s_load_dwordx2 s[4:5], s[4:5], 0x10
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[2:3] glc
	s_waitcnt vmcnt(0)
	global_load_dword v2, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v1, 0x7f3a001, v1
	v_xor_b32_e32 v2, 0x7f3a002, v2
	global_store_dword v0, v1, s[4:5]
	global_store_dword v0, v2, s[4:5] offset:32
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel mpr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end4:
	.size	mpr, .Lfunc_end4-mpr
                                        ; -- End function
	.set mpr.num_vgpr, 3
	.set mpr.num_agpr, 0
	.set mpr.numbered_sgpr, 6
	.set mpr.num_named_barrier, 0
	.set mpr.private_seg_size, 0
	.set mpr.uses_vcc, 0
	.set mpr.uses_flat_scratch, 0
	.set mpr.has_dyn_sized_stack, 0
	.set mpr.has_recursion, 0
	.set mpr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 84
; TotalNumSgprs: 10
; NumVgprs: 3
; NumAgprs: 0
; TotalNumVgprs: 3
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 3
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_mpr ; -- Begin function __clang_ocl_kern_imp_mpr
	.globl	__clang_ocl_kern_imp_mpr
	.p2align	2
	.type	__clang_ocl_kern_imp_mpr,@function
__clang_ocl_kern_imp_mpr:               ; @__clang_ocl_kern_imp_mpr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v6, v[2:3], off glc
	s_waitcnt vmcnt(0)
	global_load_dword v7, v[0:1], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a001, v6
	v_xor_b32_e32 v1, 0x7f3a002, v7
	global_store_dword v[4:5], v0, off
	global_store_dword v[4:5], v1, off offset:32
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end5:
	.size	__clang_ocl_kern_imp_mpr, .Lfunc_end5-__clang_ocl_kern_imp_mpr
                                        ; -- End function
	.set __clang_ocl_kern_imp_mpr.num_vgpr, 8
	.set __clang_ocl_kern_imp_mpr.num_agpr, 0
	.set __clang_ocl_kern_imp_mpr.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_mpr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_mpr.private_seg_size, 0
	.set __clang_ocl_kern_imp_mpr.uses_vcc, 0
	.set __clang_ocl_kern_imp_mpr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_mpr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_mpr.has_recursion, 0
	.set __clang_ocl_kern_imp_mpr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 68
; TotalNumSgprs: 36
; NumVgprs: 8
; NumAgprs: 0
; TotalNumVgprs: 8
; ScratchSize: 0
; MemoryBound: 1
	.text
	.protected	depaddr                 ; -- Begin function depaddr
	.globl	depaddr
	.p2align	8
	.type	depaddr,@function
depaddr:                                ; @depaddr
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v1, 0
	s_load_dwordx2 s[4:5], s[4:5], 0x10
	s_waitcnt lgkmcnt(0)
	global_load_dword v4, v1, s[2:3] glc
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v5, s1
	v_and_b32_e32 v0, 0x80000000, v4
	v_lshlrev_b64 v[2:3], 2, v[0:1]
	v_add_co_u32_e32 v2, vcc, s0, v2
	v_addc_co_u32_e32 v3, vcc, v5, v3, vcc
	global_load_dword v0, v[2:3], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v2, 0x7f3a001, v4
	v_xor_b32_e32 v0, 0x7f3a002, v0
	global_store_dword v1, v0, s[4:5] offset:32
	global_store_dword v1, v2, s[4:5]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel depaddr
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 6
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 8
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end6:
	.size	depaddr, .Lfunc_end6-depaddr
                                        ; -- End function
	.set depaddr.num_vgpr, 6
	.set depaddr.num_agpr, 0
	.set depaddr.numbered_sgpr, 6
	.set depaddr.num_named_barrier, 0
	.set depaddr.private_seg_size, 0
	.set depaddr.uses_vcc, 1
	.set depaddr.uses_flat_scratch, 0
	.set depaddr.has_dyn_sized_stack, 0
	.set depaddr.has_recursion, 0
	.set depaddr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 112
; TotalNumSgprs: 10
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 6
; AccumOffset: 8
; Occupancy: 8
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 1
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_depaddr ; -- Begin function __clang_ocl_kern_imp_depaddr
	.globl	__clang_ocl_kern_imp_depaddr
	.p2align	2
	.type	__clang_ocl_kern_imp_depaddr,@function
__clang_ocl_kern_imp_depaddr:           ; @__clang_ocl_kern_imp_depaddr
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v6, v[2:3], off glc
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, 0
	v_and_b32_e32 v2, 0x80000000, v6
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	v_add_co_u32_e32 v0, vcc, v0, v2
	v_addc_co_u32_e32 v1, vcc, v1, v3, vcc
	global_load_dword v0, v[0:1], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v1, 0x7f3a001, v6
	v_xor_b32_e32 v0, 0x7f3a002, v0
	global_store_dword v[4:5], v0, off offset:32
	global_store_dword v[4:5], v1, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end7:
	.size	__clang_ocl_kern_imp_depaddr, .Lfunc_end7-__clang_ocl_kern_imp_depaddr
                                        ; -- End function
	.set __clang_ocl_kern_imp_depaddr.num_vgpr, 7
	.set __clang_ocl_kern_imp_depaddr.num_agpr, 0
	.set __clang_ocl_kern_imp_depaddr.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_depaddr.num_named_barrier, 0
	.set __clang_ocl_kern_imp_depaddr.private_seg_size, 0
	.set __clang_ocl_kern_imp_depaddr.uses_vcc, 1
	.set __clang_ocl_kern_imp_depaddr.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_depaddr.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_depaddr.has_recursion, 0
	.set __clang_ocl_kern_imp_depaddr.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 96
; TotalNumSgprs: 36
; NumVgprs: 7
; NumAgprs: 0
; TotalNumVgprs: 7
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	depctrl                 ; -- Begin function depctrl
	.globl	depctrl
	.p2align	8
	.type	depctrl,@function
depctrl:                                ; @depctrl
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	v_mov_b32_e32 v1, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v0, v1, s[2:3] glc
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], -1
	v_cmp_ne_u32_e32 vcc, 1, v0
	s_cbranch_vccz .LBB8_2
; %bb.1:
	global_load_dword v2, v1, s[0:1] offset:8 glc
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
	global_store_dword v1, v2, s[6:7] offset:16
.LBB8_2:
	s_andn2_b64 vcc, exec, s[2:3]
	s_cbranch_vccnz .LBB8_4
; %bb.3:
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v2, 1
	global_store_dword v1, v2, s[0:1]
	s_waitcnt vmcnt(0)
.LBB8_4:
	v_mov_b32_e32 v1, 0
	global_store_dword v1, v0, s[6:7]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel depctrl
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end8:
	.size	depctrl, .Lfunc_end8-depctrl
                                        ; -- End function
	.set depctrl.num_vgpr, 3
	.set depctrl.num_agpr, 0
	.set depctrl.numbered_sgpr, 8
	.set depctrl.num_named_barrier, 0
	.set depctrl.private_seg_size, 0
	.set depctrl.uses_vcc, 1
	.set depctrl.uses_flat_scratch, 0
	.set depctrl.has_dyn_sized_stack, 0
	.set depctrl.has_recursion, 0
	.set depctrl.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 116
; TotalNumSgprs: 12
; NumVgprs: 3
; NumAgprs: 0
; TotalNumVgprs: 3
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 12
; NumVGPRsForWavesPerEU: 3
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_depctrl ; -- Begin function __clang_ocl_kern_imp_depctrl
	.globl	__clang_ocl_kern_imp_depctrl
	.p2align	2
	.type	__clang_ocl_kern_imp_depctrl,@function
__clang_ocl_kern_imp_depctrl:           ; @__clang_ocl_kern_imp_depctrl
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v2, v[2:3], off glc
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e32 vcc, 1, v2
	s_and_saveexec_b64 s[4:5], vcc
	s_xor_b64 s[4:5], exec, s[4:5]
	s_cbranch_execz .LBB9_2
; %bb.1:
	global_load_dword v0, v[0:1], off offset:8 glc
	s_waitcnt vmcnt(0)
	global_store_dword v[4:5], v0, off offset:16
                                        ; implicit-def: $vgpr0_vgpr1
.LBB9_2:
	s_andn2_saveexec_b64 s[4:5], s[4:5]
	s_cbranch_execz .LBB9_4
; %bb.3:
	v_mov_b32_e32 v3, 1
	global_store_dword v[0:1], v3, off
	s_waitcnt vmcnt(0)
.LBB9_4:
	s_or_b64 exec, exec, s[4:5]
	global_store_dword v[4:5], v2, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end9:
	.size	__clang_ocl_kern_imp_depctrl, .Lfunc_end9-__clang_ocl_kern_imp_depctrl
                                        ; -- End function
	.set __clang_ocl_kern_imp_depctrl.num_vgpr, 6
	.set __clang_ocl_kern_imp_depctrl.num_agpr, 0
	.set __clang_ocl_kern_imp_depctrl.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_depctrl.num_named_barrier, 0
	.set __clang_ocl_kern_imp_depctrl.private_seg_size, 0
	.set __clang_ocl_kern_imp_depctrl.uses_vcc, 1
	.set __clang_ocl_kern_imp_depctrl.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_depctrl.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_depctrl.has_recursion, 0
	.set __clang_ocl_kern_imp_depctrl.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 96
; TotalNumSgprs: 36
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	spin                    ; -- Begin function spin
	.globl	spin
	.p2align	8
	.type	spin,@function
spin:                                   ; @spin
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_mov_b32 s4, -1
	v_mov_b32_e32 v0, 0
.LBB10_1:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	s_add_i32 s4, s4, 1
	v_cmp_eq_u32_e32 vcc, 0, v1
	s_cbranch_vccnz .LBB10_1
; %bb.2:
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, s4
	global_store_dword v0, v1, s[2:3]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel spin
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end10:
	.size	spin, .Lfunc_end10-spin
                                        ; -- End function
	.set spin.num_vgpr, 2
	.set spin.num_agpr, 0
	.set spin.numbered_sgpr, 6
	.set spin.num_named_barrier, 0
	.set spin.private_seg_size, 0
	.set spin.uses_vcc, 1
	.set spin.uses_flat_scratch, 0
	.set spin.has_dyn_sized_stack, 0
	.set spin.has_recursion, 0
	.set spin.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 64
; TotalNumSgprs: 10
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 2
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_spin ; -- Begin function __clang_ocl_kern_imp_spin
	.globl	__clang_ocl_kern_imp_spin
	.p2align	2
	.type	__clang_ocl_kern_imp_spin,@function
__clang_ocl_kern_imp_spin:              ; @__clang_ocl_kern_imp_spin
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	s_mov_b32 s6, -1
	s_mov_b64 s[4:5], 0
.LBB11_1:                               ; =>This Inner Loop Header: Depth=1
	global_load_dword v4, v[0:1], off glc
	s_waitcnt vmcnt(0)
	s_add_i32 s6, s6, 1
	v_cmp_ne_u32_e32 vcc, 0, v4
	s_or_b64 s[4:5], vcc, s[4:5]
	v_mov_b32_e32 v4, s6
	s_andn2_b64 exec, exec, s[4:5]
	s_cbranch_execnz .LBB11_1
; %bb.2:
	s_or_b64 exec, exec, s[4:5]
	global_store_dword v[2:3], v4, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end11:
	.size	__clang_ocl_kern_imp_spin, .Lfunc_end11-__clang_ocl_kern_imp_spin
                                        ; -- End function
	.set __clang_ocl_kern_imp_spin.num_vgpr, 5
	.set __clang_ocl_kern_imp_spin.num_agpr, 0
	.set __clang_ocl_kern_imp_spin.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_spin.num_named_barrier, 0
	.set __clang_ocl_kern_imp_spin.private_seg_size, 0
	.set __clang_ocl_kern_imp_spin.uses_vcc, 1
	.set __clang_ocl_kern_imp_spin.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_spin.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_spin.has_recursion, 0
	.set __clang_ocl_kern_imp_spin.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 68
; TotalNumSgprs: 36
; NumVgprs: 5
; NumAgprs: 0
; TotalNumVgprs: 5
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	lds                     ; -- Begin function lds
	.globl	lds
	.p2align	8
	.type	lds,@function
lds:                                    ; @lds
; %bb.0:
	s_load_dword s0, s[4:5], 0x8
	v_mov_b32_e32 v0, 1
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v1, s0
	ds_write_b32 v1, v0
	ds_read_b32 v0, v1 offset:4
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	v_mov_b32_e32 v1, 0
	s_waitcnt lgkmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a001, v0
	global_store_dword v1, v0, s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel lds
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 12
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end12:
	.size	lds, .Lfunc_end12-lds
                                        ; -- End function
	.set lds.num_vgpr, 2
	.set lds.num_agpr, 0
	.set lds.numbered_sgpr, 6
	.set lds.num_named_barrier, 0
	.set lds.private_seg_size, 0
	.set lds.uses_vcc, 0
	.set lds.uses_flat_scratch, 0
	.set lds.has_dyn_sized_stack, 0
	.set lds.has_recursion, 0
	.set lds.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 72
; TotalNumSgprs: 10
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 2
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_lds ; -- Begin function __clang_ocl_kern_imp_lds
	.globl	__clang_ocl_kern_imp_lds
	.p2align	2
	.type	__clang_ocl_kern_imp_lds,@function
__clang_ocl_kern_imp_lds:               ; @__clang_ocl_kern_imp_lds
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v3, 1
	ds_write_b32 v2, v3
	ds_read_b32 v2, v2 offset:4
	s_waitcnt lgkmcnt(0)
	v_xor_b32_e32 v2, 0x7f3a001, v2
	global_store_dword v[0:1], v2, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end13:
	.size	__clang_ocl_kern_imp_lds, .Lfunc_end13-__clang_ocl_kern_imp_lds
                                        ; -- End function
	.set __clang_ocl_kern_imp_lds.num_vgpr, 4
	.set __clang_ocl_kern_imp_lds.num_agpr, 0
	.set __clang_ocl_kern_imp_lds.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_lds.num_named_barrier, 0
	.set __clang_ocl_kern_imp_lds.private_seg_size, 0
	.set __clang_ocl_kern_imp_lds.uses_vcc, 0
	.set __clang_ocl_kern_imp_lds.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_lds.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_lds.has_recursion, 0
	.set __clang_ocl_kern_imp_lds.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 52
; TotalNumSgprs: 36
; NumVgprs: 4
; NumAgprs: 0
; TotalNumVgprs: 4
; ScratchSize: 0
; MemoryBound: 1
	.text
	.protected	rmw_acq_rel_device      ; -- Begin function rmw_acq_rel_device
	.globl	rmw_acq_rel_device
	.p2align	8
	.type	rmw_acq_rel_device,@function
rmw_acq_rel_device:                     ; @rmw_acq_rel_device
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_mov_b64 s[6:7], exec
	v_mbcnt_lo_u32_b32 v0, s6, 0
	v_mbcnt_hi_u32_b32 v0, s7, v0
	v_cmp_eq_u32_e32 vcc, 0, v0
                                        ; implicit-def: $vgpr1
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB14_2
; %bb.1:
	s_bcnt1_i32_b64 s6, s[6:7]
	s_mul_i32 s6, s6, 3
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v2, s6
	s_waitcnt lgkmcnt(0)
	global_atomic_add v1, v1, v2, s[0:1] glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
.LBB14_2:
	s_or_b64 exec, exec, s[4:5]
	v_readfirstlane_b32 s4, v1
	v_mov_b32_e32 v2, 0
	v_mad_u32_u24 v0, v0, 3, s4
	v_mov_b32_e32 v1, 3
	s_waitcnt lgkmcnt(0)
	global_store_dword v2, v0, s[2:3]
	s_waitcnt vmcnt(0)
	global_atomic_swap v3, v2, v1, s[0:1] glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_mov_b32_e32 v0, 7
	v_mov_b32_e32 v1, 5
	global_store_dword v2, v3, s[2:3] offset:32
	s_waitcnt vmcnt(0)
	global_atomic_cmpswap v0, v2, v[0:1], s[0:1] glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_cmp_eq_u32_e32 vcc, 5, v0
	v_cndmask_b32_e64 v1, 0, 1, vcc
	global_store_dword v2, v1, s[2:3] offset:64
	global_store_dword v2, v0, s[2:3] offset:96
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel rmw_acq_rel_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end14:
	.size	rmw_acq_rel_device, .Lfunc_end14-rmw_acq_rel_device
                                        ; -- End function
	.set rmw_acq_rel_device.num_vgpr, 4
	.set rmw_acq_rel_device.num_agpr, 0
	.set rmw_acq_rel_device.numbered_sgpr, 8
	.set rmw_acq_rel_device.num_named_barrier, 0
	.set rmw_acq_rel_device.private_seg_size, 0
	.set rmw_acq_rel_device.uses_vcc, 1
	.set rmw_acq_rel_device.uses_flat_scratch, 0
	.set rmw_acq_rel_device.has_dyn_sized_stack, 0
	.set rmw_acq_rel_device.has_recursion, 0
	.set rmw_acq_rel_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 212
; TotalNumSgprs: 12
; NumVgprs: 4
; NumAgprs: 0
; TotalNumVgprs: 4
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 12
; NumVGPRsForWavesPerEU: 4
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_rmw_acq_rel_device ; -- Begin function __clang_ocl_kern_imp_rmw_acq_rel_device
	.globl	__clang_ocl_kern_imp_rmw_acq_rel_device
	.p2align	2
	.type	__clang_ocl_kern_imp_rmw_acq_rel_device,@function
__clang_ocl_kern_imp_rmw_acq_rel_device: ; @__clang_ocl_kern_imp_rmw_acq_rel_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, 3
	global_atomic_add v5, v[0:1], v4, off glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	global_store_dword v[2:3], v5, off
	s_waitcnt vmcnt(0)
	global_atomic_swap v6, v[0:1], v4, off glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_mov_b32_e32 v4, 7
	v_mov_b32_e32 v5, 5
	global_store_dword v[2:3], v6, off offset:32
	s_waitcnt vmcnt(0)
	global_atomic_cmpswap v0, v[0:1], v[4:5], off glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_cmp_eq_u32_e32 vcc, 5, v0
	v_cndmask_b32_e64 v1, 0, 1, vcc
	global_store_dword v[2:3], v1, off offset:64
	global_store_dword v[2:3], v0, off offset:96
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end15:
	.size	__clang_ocl_kern_imp_rmw_acq_rel_device, .Lfunc_end15-__clang_ocl_kern_imp_rmw_acq_rel_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_vgpr, 7
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_agpr, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.private_seg_size, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.uses_vcc, 1
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_recursion, 0
	.set __clang_ocl_kern_imp_rmw_acq_rel_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 136
; TotalNumSgprs: 36
; NumVgprs: 7
; NumAgprs: 0
; TotalNumVgprs: 7
; ScratchSize: 0
; MemoryBound: 1
	.text
	.protected	fence_sc_device         ; -- Begin function fence_sc_device
	.globl	fence_sc_device
	.p2align	8
	.type	fence_sc_device,@function
fence_sc_device:                        ; @fence_sc_device
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, 1
	s_load_dwordx2 s[4:5], s[4:5], 0x10
	s_waitcnt lgkmcnt(0)
	global_load_dword v2, v0, s[2:3] glc
	s_waitcnt vmcnt(0)
	global_store_dword v0, v1, s[0:1] offset:12
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	global_load_dword v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v2, 0x7f3a001, v2
	v_xor_b32_e32 v1, 0x7f3a002, v1
	global_store_dword v0, v1, s[4:5] offset:32
	global_store_dword v0, v2, s[4:5]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel fence_sc_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end16:
	.size	fence_sc_device, .Lfunc_end16-fence_sc_device
                                        ; -- End function
	.set fence_sc_device.num_vgpr, 3
	.set fence_sc_device.num_agpr, 0
	.set fence_sc_device.numbered_sgpr, 6
	.set fence_sc_device.num_named_barrier, 0
	.set fence_sc_device.private_seg_size, 0
	.set fence_sc_device.uses_vcc, 0
	.set fence_sc_device.uses_flat_scratch, 0
	.set fence_sc_device.has_dyn_sized_stack, 0
	.set fence_sc_device.has_recursion, 0
	.set fence_sc_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 108
; TotalNumSgprs: 10
; NumVgprs: 3
; NumAgprs: 0
; TotalNumVgprs: 3
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 3
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_fence_sc_device ; -- Begin function __clang_ocl_kern_imp_fence_sc_device
	.globl	__clang_ocl_kern_imp_fence_sc_device
	.p2align	2
	.type	__clang_ocl_kern_imp_fence_sc_device,@function
__clang_ocl_kern_imp_fence_sc_device:   ; @__clang_ocl_kern_imp_fence_sc_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v2, v[2:3], off glc
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v3, 1
	global_store_dword v[0:1], v3, off offset:12
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	global_load_dword v0, v[0:1], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v1, 0x7f3a001, v2
	v_xor_b32_e32 v0, 0x7f3a002, v0
	global_store_dword v[4:5], v0, off offset:32
	global_store_dword v[4:5], v1, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end17:
	.size	__clang_ocl_kern_imp_fence_sc_device, .Lfunc_end17-__clang_ocl_kern_imp_fence_sc_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_fence_sc_device.num_vgpr, 6
	.set __clang_ocl_kern_imp_fence_sc_device.num_agpr, 0
	.set __clang_ocl_kern_imp_fence_sc_device.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_fence_sc_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_fence_sc_device.private_seg_size, 0
	.set __clang_ocl_kern_imp_fence_sc_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_fence_sc_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_recursion, 0
	.set __clang_ocl_kern_imp_fence_sc_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 92
; TotalNumSgprs: 36
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 1
	.text
	.protected	ld_acquire_device       ; -- Begin function ld_acquire_device
	.globl	ld_acquire_device
	.p2align	8
	.type	ld_acquire_device,@function
ld_acquire_device:                      ; @ld_acquire_device
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_xor_b32_e32 v1, 0x7f3a001, v1
	global_store_dword v0, v1, s[6:7]
	global_load_dword v1, v0, s[2:3] glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v1, 0x7f3a002, v1
	global_store_dword v0, v1, s[6:7] offset:32
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel ld_acquire_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end18:
	.size	ld_acquire_device, .Lfunc_end18-ld_acquire_device
                                        ; -- End function
	.set ld_acquire_device.num_vgpr, 2
	.set ld_acquire_device.num_agpr, 0
	.set ld_acquire_device.numbered_sgpr, 8
	.set ld_acquire_device.num_named_barrier, 0
	.set ld_acquire_device.private_seg_size, 0
	.set ld_acquire_device.uses_vcc, 0
	.set ld_acquire_device.uses_flat_scratch, 0
	.set ld_acquire_device.has_dyn_sized_stack, 0
	.set ld_acquire_device.has_recursion, 0
	.set ld_acquire_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 92
; TotalNumSgprs: 12
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 12
; NumVGPRsForWavesPerEU: 2
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_ld_acquire_device ; -- Begin function __clang_ocl_kern_imp_ld_acquire_device
	.globl	__clang_ocl_kern_imp_ld_acquire_device
	.p2align	2
	.type	__clang_ocl_kern_imp_ld_acquire_device,@function
__clang_ocl_kern_imp_ld_acquire_device: ; @__clang_ocl_kern_imp_ld_acquire_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	global_load_dword v0, v[0:1], off glc
	s_waitcnt vmcnt(0)
	buffer_wbinvl1_vol
	v_xor_b32_e32 v0, 0x7f3a001, v0
	global_store_dword v[4:5], v0, off
	global_load_dword v0, v[2:3], off glc
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v0, 0x7f3a002, v0
	global_store_dword v[4:5], v0, off offset:32
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end19:
	.size	__clang_ocl_kern_imp_ld_acquire_device, .Lfunc_end19-__clang_ocl_kern_imp_ld_acquire_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_ld_acquire_device.num_vgpr, 6
	.set __clang_ocl_kern_imp_ld_acquire_device.num_agpr, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_ld_acquire_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.private_seg_size, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_recursion, 0
	.set __clang_ocl_kern_imp_ld_acquire_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 76
; TotalNumSgprs: 36
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 1
	.text
	.protected	st_release_device       ; -- Begin function st_release_device
	.globl	st_release_device
	.p2align	8
	.type	st_release_device,@function
st_release_device:                      ; @st_release_device
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, 1
	s_waitcnt lgkmcnt(0)
	global_store_dword v0, v1, s[2:3]
	s_waitcnt vmcnt(0)
	global_store_dword v0, v1, s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel st_release_device
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end20:
	.size	st_release_device, .Lfunc_end20-st_release_device
                                        ; -- End function
	.set st_release_device.num_vgpr, 2
	.set st_release_device.num_agpr, 0
	.set st_release_device.numbered_sgpr, 6
	.set st_release_device.num_named_barrier, 0
	.set st_release_device.private_seg_size, 0
	.set st_release_device.uses_vcc, 0
	.set st_release_device.uses_flat_scratch, 0
	.set st_release_device.has_dyn_sized_stack, 0
	.set st_release_device.has_recursion, 0
	.set st_release_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 44
; TotalNumSgprs: 10
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 2
; AccumOffset: 4
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 0
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	__clang_ocl_kern_imp_st_release_device ; -- Begin function __clang_ocl_kern_imp_st_release_device
	.globl	__clang_ocl_kern_imp_st_release_device
	.p2align	2
	.type	__clang_ocl_kern_imp_st_release_device,@function
__clang_ocl_kern_imp_st_release_device: ; @__clang_ocl_kern_imp_st_release_device
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v4, 1
	global_store_dword v[2:3], v4, off
	s_waitcnt vmcnt(0)
	global_store_dword v[0:1], v4, off
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[30:31]
.Lfunc_end21:
	.size	__clang_ocl_kern_imp_st_release_device, .Lfunc_end21-__clang_ocl_kern_imp_st_release_device
                                        ; -- End function
	.set __clang_ocl_kern_imp_st_release_device.num_vgpr, 5
	.set __clang_ocl_kern_imp_st_release_device.num_agpr, 0
	.set __clang_ocl_kern_imp_st_release_device.numbered_sgpr, 32
	.set __clang_ocl_kern_imp_st_release_device.num_named_barrier, 0
	.set __clang_ocl_kern_imp_st_release_device.private_seg_size, 0
	.set __clang_ocl_kern_imp_st_release_device.uses_vcc, 0
	.set __clang_ocl_kern_imp_st_release_device.uses_flat_scratch, 0
	.set __clang_ocl_kern_imp_st_release_device.has_dyn_sized_stack, 0
	.set __clang_ocl_kern_imp_st_release_device.has_recursion, 0
	.set __clang_ocl_kern_imp_st_release_device.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 36
; TotalNumSgprs: 36
; NumVgprs: 5
; NumAgprs: 0
; TotalNumVgprs: 5
; ScratchSize: 0
; MemoryBound: 1
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 8
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 32
	.set amdgpu.max_num_named_barrier, 0
	.text
	.ident	"Debian clang version 22.1.8 (1~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           ld
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         ld.kd
    .uses_dynamic_stack: false
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           corr
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         corr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           mpr
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         mpr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           depaddr
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         depaddr.kd
    .uses_dynamic_stack: false
    .vgpr_count:     6
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           depctrl
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         depctrl.kd
    .uses_dynamic_stack: false
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           spin
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         spin.kd
    .uses_dynamic_stack: false
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           lds
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         lds.kd
    .uses_dynamic_stack: false
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           rmw_acq_rel_device
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         rmw_acq_rel_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     4
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           fence_sc_device
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         fence_sc_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           ld_acquire_device
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         ld_acquire_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           st_release_device
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         st_release_device.kd
    .uses_dynamic_stack: false
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
