	.text
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	3
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	corr                            ; -- Begin function corr
	.p2align	8
	.type	corr,@function
corr:                                   ; @corr
corr$local:
	.type	corr$local,@function
; %bb.0:
	ALU 1, @10, KC0[CB0:0-32], KC1[]
	TEX 1 @6
	ALU 4, @12, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T1.XY, T2.X, 1
	CF_END
	PAD
	Fetch clause starting at 6:
	  VTX_READ_32 T1.X, T1.X, 0, #1
	  VTX_READ_32 T0.X, T0.X, 0, #1
	ALU clause starting at 10:
	  MOV * T0.X, KC0[2].Y,  
	  MOV * T1.X, PV.X,  
	ALU clause starting at 12:
	  XOR_INT   T1.X, T1.X, literal.x,  
	  LSHR * T2.X, KC0[2].Z, literal.y,  
	133406721(3.665662e-34), 2(2.802597e-45)
	  XOR_INT * T1.Y, T0.X, literal.x,  
	133406722(3.665662e-34), 0(0.000000e+00)
.Lfunc_end0:
	.size	corr, .Lfunc_end0-corr
	.size	corr$local, .Lfunc_end0-corr
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	3
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	corrweak                        ; -- Begin function corrweak
	.p2align	8
	.type	corrweak,@function
corrweak:                               ; @corrweak
corrweak$local:
	.type	corrweak$local,@function
; %bb.0:
	ALU 0, @8, KC0[CB0:0-32], KC1[]
	TEX 0 @6
	ALU 4, @9, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T1.XY, T2.X, 1
	CF_END
	PAD
	Fetch clause starting at 6:
	  VTX_READ_32 T0.X, T0.X, 0, #1
	ALU clause starting at 8:
	  MOV * T0.X, KC0[2].Y,  
	ALU clause starting at 9:
	  XOR_INT   T1.X, T0.X, literal.x,  
	  LSHR * T2.X, KC0[2].Z, literal.y,  
	133406721(3.665662e-34), 2(2.802597e-45)
	  XOR_INT * T1.Y, T0.X, literal.x,  
	133406722(3.665662e-34), 0(0.000000e+00)
.Lfunc_end1:
	.size	corrweak, .Lfunc_end1-corrweak
	.size	corrweak$local, .Lfunc_end1-corrweak
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	4
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	mpw                             ; -- Begin function mpw
	.p2align	8
	.type	mpw,@function
mpw:                                    ; @mpw
mpw$local:
	.type	mpw$local,@function
; %bb.0:
	ALU 5, @4, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T2.X, T3.X, 0
	MEM_RAT_CACHELESS STORE_RAW T1.X, T0.X, 1
	CF_END
	ALU clause starting at 4:
	  LSHR   T0.X, KC0[2].Z, literal.x,  
	  MOV * T1.X, KC0[2].W,  
	2(2.802597e-45), 0(0.000000e+00)
	  MOV   T2.X, literal.x,  
	  LSHR * T3.X, KC0[2].Y, literal.y,  
	1(1.401298e-45), 2(2.802597e-45)
.Lfunc_end2:
	.size	mpw, .Lfunc_end2-mpw
	.size	mpw$local, .Lfunc_end2-mpw
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	4
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	mpr                             ; -- Begin function mpr
	.p2align	8
	.type	mpr,@function
mpr:                                    ; @mpr
mpr$local:
	.type	mpr$local,@function
; %bb.0:
	ALU 0, @12, KC0[CB0:0-32], KC1[]
	TEX 0 @8
	ALU 0, @13, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 7, @14, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.X, T3.X, 0
	MEM_RAT_CACHELESS STORE_RAW T1.X, T2.X, 1
	CF_END
	Fetch clause starting at 8:
	  VTX_READ_32 T0.X, T0.X, 0, #1
	Fetch clause starting at 10:
	  VTX_READ_32 T1.X, T1.X, 0, #1
	ALU clause starting at 12:
	  MOV * T0.X, KC0[2].Z,  
	ALU clause starting at 13:
	  MOV * T1.X, KC0[2].Y,  
	ALU clause starting at 14:
	  XOR_INT   T1.X, T1.X, literal.x,  
	  ADD_INT * T0.W, KC0[2].W, literal.y,  
	133406722(3.665662e-34), 32(4.484155e-44)
	  LSHR   T2.X, PV.W, literal.x,  
	  XOR_INT * T0.X, T0.X, literal.y,  
	2(2.802597e-45), 133406721(3.665662e-34)
	  LSHR * T3.X, KC0[2].W, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end3:
	.size	mpr, .Lfunc_end3-mpr
	.size	mpr$local, .Lfunc_end3-mpr
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	4
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	depaddr                         ; -- Begin function depaddr
	.p2align	8
	.type	depaddr,@function
depaddr:                                ; @depaddr
depaddr$local:
	.type	depaddr$local,@function
; %bb.0:
	ALU 0, @12, KC0[CB0:0-32], KC1[]
	TEX 0 @8
	ALU 4, @13, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 7, @18, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T1.X, T3.X, 0
	MEM_RAT_CACHELESS STORE_RAW T0.X, T2.X, 1
	CF_END
	Fetch clause starting at 8:
	  VTX_READ_32 T0.X, T0.X, 0, #1
	Fetch clause starting at 10:
	  VTX_READ_32 T1.X, T1.X, 0, #1
	ALU clause starting at 12:
	  MOV * T0.X, KC0[2].Z,  
	ALU clause starting at 13:
	  LSHR * T0.W, T0.X, literal.x,  
	27(3.783506e-44), 0(0.000000e+00)
	  AND_INT * T0.W, PV.W, literal.x,  
	16(2.242078e-44), 0(0.000000e+00)
	  ADD_INT * T1.X, KC0[2].Y, PV.W,  
	ALU clause starting at 18:
	  XOR_INT   T0.X, T0.X, literal.x,  
	  LSHR * T2.X, KC0[2].W, literal.y,  
	133406721(3.665662e-34), 2(2.802597e-45)
	  XOR_INT   T1.X, T1.X, literal.x,  
	  ADD_INT * T0.W, KC0[2].W, literal.y,  
	133406722(3.665662e-34), 32(4.484155e-44)
	  LSHR * T3.X, PV.W, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end4:
	.size	depaddr, .Lfunc_end4-depaddr
	.size	depaddr$local, .Lfunc_end4-depaddr
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	260
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	depctrl                         ; -- Begin function depctrl
	.p2align	8
	.type	depctrl,@function
depctrl:                                ; @depctrl
depctrl$local:
	.type	depctrl$local,@function
; %bb.0:
	ALU 0, @22, KC0[CB0:0-32], KC1[]
	TEX 0 @18
	ALU_PUSH_BEFORE 5, @23, KC0[CB0:0-32], KC1[]
	JUMP @9 POP:1
	ALU 0, @29, KC0[], KC1[]
	TEX 0 @20
	ALU 4, @30, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T2.X, T3.X, 0
	POP @9 POP:1
	ALU_PUSH_BEFORE 1, @35, KC0[], KC1[]
	JUMP @14 POP:1
	ALU 2, @37, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T2.X, T1.X, 0
	POP @14 POP:1
	ALU 1, @40, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.X, T1.X, 1
	CF_END
	PAD
	Fetch clause starting at 18:
	  VTX_READ_32 T0.X, T0.X, 0, #1
	Fetch clause starting at 20:
	  VTX_READ_32 T2.X, T2.X, 8, #1
	ALU clause starting at 22:
	  MOV * T0.X, KC0[2].Z,  
	ALU clause starting at 23:
	  MOV   T1.X, KC0[2].Y,  
	  MOV   T0.Z, literal.x,  
	  MOV   T0.W, KC0[2].W,  
	  SETNE_INT * T1.W, T0.X, 1,  
	1(1.401298e-45), 0(0.000000e+00)
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), PS, 0.0,  
	ALU clause starting at 29:
	  MOV * T2.X, T1.X,  
	ALU clause starting at 30:
	  ADD_INT * T1.W, T0.W, literal.x,  
	16(2.242078e-44), 0(0.000000e+00)
	  LSHR   T3.X, PV.W, literal.x,  
	  MOV * T0.Z, literal.y,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 35:
	  SETE_INT * T1.W, T0.Z, 0.0,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 37:
	  MOV   T2.X, literal.x,  
	  LSHR * T1.X, T1.X, literal.y,  
	1(1.401298e-45), 2(2.802597e-45)
	ALU clause starting at 40:
	  LSHR * T1.X, T0.W, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end5:
	.size	depctrl, .Lfunc_end5-depctrl
	.size	depctrl$local, .Lfunc_end5-depctrl
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 1
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	515
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	spin                            ; -- Begin function spin
	.p2align	8
	.type	spin,@function
spin:                                   ; @spin
spin$local:
	.type	spin$local,@function
; %bb.0:
	ALU 3, @14, KC0[CB0:0-32], KC1[]
	LOOP_START_DX10 @9
	ALU 0, @18, KC0[], KC1[]
	TEX 0 @12
	ALU_PUSH_BEFORE 2, @19, KC0[], KC1[]
	JUMP @8 POP:1
	LOOP_BREAK @8
	POP @8 POP:1
	END_LOOP @2
	ALU 1, @22, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.X, T1.X, 1
	CF_END
	Fetch clause starting at 12:
	  VTX_READ_32 T2.X, T2.X, 0, #1
	ALU clause starting at 14:
	  MOV   T1.X, KC0[2].Y,  
	  MOV * T0.X, literal.x,  
	-1(nan), 0(0.000000e+00)
	  MOV * T0.W, KC0[2].Z,  
	ALU clause starting at 18:
	  MOV * T2.X, T1.X,  
	ALU clause starting at 19:
	  ADD_INT   T0.X, T0.X, 1,  
	  SETE_INT * T1.W, T2.X, 0.0,  BS:VEC_120/SCL_212
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 22:
	  LSHR * T1.X, T0.W, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end6:
	.size	spin, .Lfunc_end6-spin
	.size	spin$local, .Lfunc_end6-spin
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 2
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	2
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	lds                             ; -- Begin function lds
	.p2align	8
	.type	lds,@function
lds:                                    ; @lds
lds$local:
	.type	lds$local,@function
; %bb.0:
	ALU 0, @8, KC0[CB0:0-32], KC1[]
	TEX 0 @6
	ALU 16, @9, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.XY, T1.X, 1
	CF_END
	PAD
	Fetch clause starting at 6:
	  VTX_READ_32 T0.X, T0.X, 28, #1
	ALU clause starting at 8:
	  MOV * T0.X, KC0[2].Y,  
	ALU clause starting at 9:
	  LSHR   T1.X, KC0[2].Y, literal.x,  
	  MOV * T0.W, KC0[2].Z,  
	2(2.802597e-45), 0(0.000000e+00)
	  LDS_WRITE * T0.W, T0.X, 
	  MOV   T0.W, literal.x,  
	  ADD_INT * T1.W, KC0[2].Z, literal.y,  
	1(1.401298e-45), 12(1.681558e-44)
	  LDS_WRITE * T1.W, T0.W, 
	  ADD_INT * T0.W, KC0[2].Z, literal.x,  
	4(5.605194e-45), 0(0.000000e+00)
	  LDS_READ_RET * OQAP, T0.W 
	  MOV * T0.X, OQAP,  
	  XOR_INT   T0.X, PV.X, literal.x,  
	  ADD_INT * T0.W, KC0[2].Z, literal.y,  
	133406721(3.665662e-34), 8(1.121039e-44)
	  LDS_READ_RET * OQAP, T0.W 
	  MOV * T0.Y, OQAP,  
.Lfunc_end7:
	.size	lds, .Lfunc_end7-lds
	.size	lds$local, .Lfunc_end7-lds
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	12
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	alu                             ; -- Begin function alu
	.p2align	8
	.type	alu,@function
alu:                                    ; @alu
alu$local:
	.type	alu$local,@function
; %bb.0:
	ALU 0, @12, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 32, @13, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.X, T11.X, 0
	MEM_RAT_CACHELESS STORE_RAW T9.X, T10.X, 0
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	MEM_RAT_CACHELESS STORE_RAW T5.X, T6.X, 0
	MEM_RAT_CACHELESS STORE_RAW T3.X, T4.X, 0
	MEM_RAT_CACHELESS STORE_RAW T1.X, T2.X, 1
	CF_END
	Fetch clause starting at 10:
	  VTX_READ_32 T0.X, T0.X, 0, #1
	ALU clause starting at 12:
	  MOV * T0.X, KC0[2].Y,  
	ALU clause starting at 13:
	  NOT_INT   T1.X, T0.X,  
	  ADD_INT * T0.W, KC0[2].Z, literal.x,  
	160(2.242078e-43), 0(0.000000e+00)
	  LSHR   T2.X, PV.W, literal.x,  
	  SETGE_UINT * T0.W, T0.X, KC0[2].W,  
	2(2.802597e-45), 0(0.000000e+00)
	  CNDE_INT   T3.X, PV.W, T0.X, KC0[3].X, 
	  ADD_INT * T0.W, KC0[2].Z, literal.x,  
	128(1.793662e-43), 0(0.000000e+00)
	  LSHR   T4.X, PV.W, literal.x,  
	  MOV * T0.W, literal.y,  
	2(2.802597e-45), 6(8.407791e-45)
	  BFE_UINT   T5.X, T0.X, literal.x, PV.W, 
	  ADD_INT * T0.W, KC0[2].Z, literal.y,  
	5(7.006492e-45), 96(1.345247e-43)
	  LSHR   T6.X, PV.W, literal.x,  
	  MULLO_INT * T0.Y, T0.X, KC0[2].W,  
	2(2.802597e-45), 0(0.000000e+00)
	  SUB_INT   T7.X, PS, KC0[3].X,  
	  ADD_INT * T0.W, KC0[2].Z, literal.x,  
	64(8.968310e-44), 0(0.000000e+00)
	  LSHR   T8.X, PV.W, literal.x,  
	  XOR_INT * T0.W, T0.X, KC0[2].W,  
	2(2.802597e-45), 0(0.000000e+00)
	  ADD_INT   T9.X, PV.W, KC0[3].X,  
	  ADD_INT * T0.W, KC0[2].Z, literal.x,  
	32(4.484155e-44), 0(0.000000e+00)
	  LSHR   T10.X, PV.W, literal.x,  
	  AND_INT * T0.W, T0.X, KC0[2].W,  
	2(2.802597e-45), 0(0.000000e+00)
	  OR_INT   T0.X, PV.W, KC0[3].X,  
	  LSHR * T11.X, KC0[2].Z, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end8:
	.size	alu, .Lfunc_end8-alu
	.size	alu$local, .Lfunc_end8-alu
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config,"",@progbits
	.long	166100
	.long	2
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	wide                            ; -- Begin function wide
	.p2align	8
	.type	wide,@function
wide:                                   ; @wide
wide$local:
	.type	wide$local,@function
; %bb.0:
	ALU 0, @8, KC0[CB0:0-32], KC1[]
	TEX 0 @6
	ALU 5, @9, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T0.XYZW, T1.X, 1
	CF_END
	PAD
	Fetch clause starting at 6:
	  VTX_READ_128 T0.XYZW, T0.X, 0, #1
	ALU clause starting at 8:
	  MOV * T0.X, KC0[2].Y,  
	ALU clause starting at 9:
	  XOR_INT * T0.W, T0.W, KC0[4].X,  
	  XOR_INT * T0.Z, T0.Z, KC0[3].W,  
	  XOR_INT * T0.Y, T0.Y, KC0[3].Z,  
	  XOR_INT   T0.X, T0.X, KC0[3].Y,  
	  LSHR * T1.X, KC0[2].Z, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end9:
	.size	wide, .Lfunc_end9-wide
	.size	wide$local, .Lfunc_end9-wide
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.hidden	__oclc_ABI_version              ; @__oclc_ABI_version
	.type	__oclc_ABI_version,@object
	.text
	.weak	__oclc_ABI_version
	.p2align	2
__oclc_ABI_version:
	.long	500                             ; 0x1f4
	.size	__oclc_ABI_version, 4

	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
