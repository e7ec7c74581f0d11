	.text
	.section	.AMDGPU.config
	.long	166100
	.long	9
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	corr
	.p2align	8
	.type	corr,@function
corr:
corr$local:
	ALU 4, @14, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 1, @19, KC0[], KC1[]
	TEX 0 @12
	ALU 6, @21, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	ALU 7, @28, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 1
	CF_END
	PAD
	Fetch clause starting at 10:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	Fetch clause starting at 12:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	ALU clause starting at 14:
	  MOV   T0.Y, KC0[2].Z,  
	  MOV * T0.Z, KC0[2].Y,  
	  MOV   T2.X, PV.Z,  
	  MOV * T3.X, PV.Y,  
	  MOV * T7.X, PV.X,  
	ALU clause starting at 19:
	  MOV   T4.X, T7.X,  
	  MOV * T7.X, T2.X,  
	ALU clause starting at 21:
	  MOV   T5.X, T7.X,  
	  MOV * T0.Y, T4.X,  BS:VEC_120/SCL_212
	  XOR_INT   T7.X, PV.Y, literal.x,  
	  MOV * T0.Y, T3.X,  
	133406721(3.665662e-34), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 28:
	  MOV * T0.Y, T5.X,  
	  XOR_INT   T7.X, PV.Y, literal.x,  
	  MOV * T0.Y, T3.X,  
	133406722(3.665662e-34), 0(0.000000e+00)
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	4(5.605194e-45), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end0:
	.size	corr, .Lfunc_end0-corr

	.section	.AMDGPU.config
	.long	166100
	.long	9
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	corrweak
	.p2align	8
	.type	corrweak,@function
corrweak:
corrweak$local:
	ALU 4, @14, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 1, @19, KC0[], KC1[]
	TEX 0 @12
	ALU 6, @21, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	ALU 7, @28, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 1
	CF_END
	PAD
	Fetch clause starting at 10:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	Fetch clause starting at 12:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	ALU clause starting at 14:
	  MOV   T0.Y, KC0[2].Z,  
	  MOV * T0.Z, KC0[2].Y,  
	  MOV   T2.X, PV.Z,  
	  MOV * T3.X, PV.Y,  
	  MOV * T7.X, PV.X,  
	ALU clause starting at 19:
	  MOV   T4.X, T7.X,  
	  MOV * T7.X, T2.X,  
	ALU clause starting at 21:
	  MOV   T5.X, T7.X,  
	  MOV * T0.Y, T4.X,  BS:VEC_120/SCL_212
	  XOR_INT   T7.X, PV.Y, literal.x,  
	  MOV * T0.Y, T3.X,  
	133406721(3.665662e-34), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 28:
	  MOV * T0.Y, T5.X,  
	  XOR_INT   T7.X, PV.Y, literal.x,  
	  MOV * T0.Y, T3.X,  
	133406722(3.665662e-34), 0(0.000000e+00)
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	4(5.605194e-45), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end1:
	.size	corrweak, .Lfunc_end1-corrweak

	.section	.AMDGPU.config
	.long	166100
	.long	8
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	mpw
	.p2align	8
	.type	mpw,@function
mpw:
mpw$local:
	ALU 9, @6, KC0[CB0:0-32], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T6.X, T7.X, 0
	ALU 3, @16, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T6.X, T7.X, 1
	CF_END
	PAD
	ALU clause starting at 6:
	  MOV   T0.Y, KC0[2].W,  
	  MOV   T0.Z, KC0[2].Z,  
	  MOV * T0.W, KC0[2].Y,  
	  MOV   T2.X, PV.W,  
	  MOV * T3.X, PV.Z,  
	  MOV   T4.X, T0.Y,  
	  MOV * T0.Y, PV.X,  
	  LSHR   T7.X, PV.Y, literal.x,  
	  MOV * T6.X, literal.y,  
	2(2.802597e-45), 1(1.401298e-45)
	ALU clause starting at 16:
	  MOV   T6.X, T4.X,  
	  MOV * T0.Y, T3.X,  BS:VEC_120/SCL_212
	  LSHR * T7.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end2:
	.size	mpw, .Lfunc_end2-mpw

	.section	.AMDGPU.config
	.long	166100
	.long	10
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	mpr
	.p2align	8
	.type	mpr,@function
mpr:
mpr$local:
	ALU 6, @14, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 1, @21, KC0[], KC1[]
	TEX 0 @12
	ALU 6, @23, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 7, @30, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 1
	CF_END
	PAD
	Fetch clause starting at 10:
	  VTX_READ_32 T8.X, T8.X, 0, #1
	Fetch clause starting at 12:
	  VTX_READ_32 T8.X, T8.X, 0, #1
	ALU clause starting at 14:
	  MOV   T0.Y, KC0[2].W,  
	  MOV   T0.Z, KC0[2].Z,  
	  MOV * T0.W, KC0[2].Y,  
	  MOV   T2.X, PV.W,  
	  MOV * T3.X, PV.Z,  
	  MOV   T4.X, T0.Y,  
	  MOV * T8.X, PS,  
	ALU clause starting at 21:
	  MOV   T5.X, T8.X,  
	  MOV * T8.X, T2.X,  
	ALU clause starting at 23:
	  MOV   T6.X, T8.X,  
	  MOV * T0.Y, T5.X,  BS:VEC_120/SCL_212
	  XOR_INT   T8.X, PV.Y, literal.x,  
	  MOV * T0.Y, T4.X,  
	133406721(3.665662e-34), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 30:
	  MOV * T0.Y, T6.X,  
	  XOR_INT   T8.X, PV.Y, literal.x,  
	  MOV * T0.Y, T4.X,  
	133406722(3.665662e-34), 0(0.000000e+00)
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	32(4.484155e-44), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end3:
	.size	mpr, .Lfunc_end3-mpr

	.section	.AMDGPU.config
	.long	166100
	.long	9
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	depaddr
	.p2align	8
	.type	depaddr,@function
depaddr:
depaddr$local:
	ALU 6, @14, KC0[CB0:0-32], KC1[]
	TEX 0 @10
	ALU 7, @21, KC0[], KC1[]
	TEX 0 @12
	ALU 6, @29, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	ALU 5, @36, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 1
	CF_END
	PAD
	Fetch clause starting at 10:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	Fetch clause starting at 12:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	ALU clause starting at 14:
	  MOV   T0.Y, KC0[2].W,  
	  MOV   T0.Z, KC0[2].Z,  
	  MOV * T0.W, KC0[2].Y,  
	  MOV   T2.X, PV.W,  
	  MOV * T3.X, PV.Z,  
	  MOV   T4.X, T0.Y,  
	  MOV * T7.X, PS,  
	ALU clause starting at 21:
	  MOV   T5.X, T7.X,  
	  MOV * T0.Y, T2.X,  BS:VEC_120/SCL_212
	  MOV * T0.Z, PV.X,  
	  AND_INT * T0.Z, PV.Z, literal.x,  
	-2147483648(-0.000000e+00), 0(0.000000e+00)
	  LSHR * T0.Z, PV.Z, literal.x,  
	27(3.783506e-44), 0(0.000000e+00)
	  ADD_INT * T7.X, T0.Y, PV.Z,  
	ALU clause starting at 29:
	  XOR_INT   T7.X, T7.X, literal.x,  
	  MOV * T0.Y, T4.X,  BS:VEC_120/SCL_212
	133406722(3.665662e-34), 0(0.000000e+00)
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	32(4.484155e-44), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 36:
	  MOV * T0.Y, T5.X,  
	  XOR_INT   T7.X, PV.Y, literal.x,  
	  MOV * T0.Y, T4.X,  
	133406721(3.665662e-34), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end4:
	.size	depaddr, .Lfunc_end4-depaddr

	.section	.AMDGPU.config
	.long	166100
	.long	265
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	depctrl
	.p2align	8
	.type	depctrl,@function
depctrl:
depctrl$local:
	ALU 6, @24, KC0[CB0:0-32], KC1[]
	TEX 0 @20
	ALU 4, @31, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @36, KC0[], KC1[]
	JUMP @10 POP:1
	ALU 0, @37, KC0[], KC1[]
	TEX 0 @22
	ALU 4, @38, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	ALU_POP_AFTER 1, @43, KC0[], KC1[]
	ALU 1, @45, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @47, KC0[], KC1[]
	JUMP @16 POP:1
	ALU 3, @48, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 0
	POP @16 POP:1
	ALU 3, @52, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T7.X, T8.X, 1
	CF_END
	PAD
	Fetch clause starting at 20:
	  VTX_READ_32 T7.X, T7.X, 0, #1
	Fetch clause starting at 22:
	  VTX_READ_32 T7.X, T7.X, 8, #1
	ALU clause starting at 24:
	  MOV   T0.Y, KC0[2].W,  
	  MOV   T0.Z, KC0[2].Z,  
	  MOV * T0.W, KC0[2].Y,  
	  MOV   T2.X, PV.W,  
	  MOV * T3.X, PV.Z,  
	  MOV   T4.X, T0.Y,  
	  MOV * T7.X, PS,  
	ALU clause starting at 31:
	  MOV * T5.X, T7.X,  
	  MOV * T0.Y, PV.X,  
	  SETNE_INT * T0.Z, PV.Y, 1,  
	  MOV * T0.Y, literal.x,  
	1(1.401298e-45), 0(0.000000e+00)
	ALU clause starting at 36:
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), T0.Z, 0.0,  
	ALU clause starting at 37:
	  MOV * T7.X, T2.X,  
	ALU clause starting at 38:
	  MOV * T0.Y, T4.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	16(2.242078e-44), 0(0.000000e+00)
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 43:
	  MOV * T0.Y, literal.x,  
	0(0.000000e+00), 0(0.000000e+00)
	ALU clause starting at 45:
	  AND_INT * T0.Y, T0.Y, 1,  
	  SETE_INT * T0.Y, PV.Y, 0.0,  
	ALU clause starting at 47:
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), T0.Y, 0.0,  
	ALU clause starting at 48:
	  MOV * T0.Y, T2.X,  
	  LSHR   T8.X, PV.Y, literal.x,  
	  MOV * T7.X, literal.y,  
	2(2.802597e-45), 1(1.401298e-45)
	ALU clause starting at 52:
	  MOV   T7.X, T5.X,  
	  MOV * T0.Y, T4.X,  BS:VEC_120/SCL_212
	  LSHR * T8.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end5:
	.size	depctrl, .Lfunc_end5-depctrl

	.section	.AMDGPU.config
	.long	166100
	.long	520
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	spin
	.p2align	8
	.type	spin,@function
spin:
spin$local:
	ALU 6, @20, KC0[CB0:0-32], KC1[]
	LOOP_START_DX10 @14
	ALU 0, @27, KC0[], KC1[]
	TEX 0 @18
	ALU 2, @28, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @31, KC0[], KC1[]
	JUMP @8 POP:1
	ALU_POP_AFTER 4, @32, KC0[], KC1[]
	ALU 1, @37, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @39, KC0[], KC1[]
	JUMP @13 POP:1
	LOOP_BREAK @13
	POP @13 POP:1
	END_LOOP @2
	ALU 3, @40, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T6.X, T7.X, 1
	CF_END
	PAD
	Fetch clause starting at 18:
	  VTX_READ_32 T6.X, T6.X, 0, #1
	ALU clause starting at 20:
	  MOV   T0.Y, KC0[2].Z,  
	  MOV * T0.Z, KC0[2].Y,  
	  MOV   T2.X, PV.Z,  
	  MOV * T3.X, PV.Y,  
	  MOV * T0.Y, literal.x,  
	0(0.000000e+00), 0(0.000000e+00)
	  MOV * T4.X, PV.Y,  
	ALU clause starting at 27:
	  MOV * T6.X, T2.X,  
	ALU clause starting at 28:
	  SETNE_INT * T0.Z, T6.X, 0.0,  
	  MOV * T0.Y, literal.x,  
	1(1.401298e-45), 0(0.000000e+00)
	ALU clause starting at 31:
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), T0.Z, 0.0,  
	ALU clause starting at 32:
	  MOV * T0.Y, T4.X,  
	  ADD_INT * T0.Y, PV.Y, 1,  
	  MOV   T4.X, PV.Y,  
	  MOV * T0.Y, literal.x,  
	0(0.000000e+00), 0(0.000000e+00)
	ALU clause starting at 37:
	  AND_INT * T0.Y, T0.Y, 1,  
	  SETE_INT * T0.Y, PV.Y, 0.0,  
	ALU clause starting at 39:
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), T0.Y, 0.0,  
	ALU clause starting at 40:
	  MOV   T6.X, T4.X,  
	  MOV * T0.Y, T3.X,  BS:VEC_120/SCL_212
	  LSHR * T7.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end6:
	.size	spin, .Lfunc_end6-spin

	.section	.AMDGPU.config
	.long	166100
	.long	7
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	lds
	.p2align	8
	.type	lds,@function
lds:
lds$local:
	ALU 4, @10, KC0[CB0:0-32], KC1[]
	TEX 0 @8
	ALU 16, @15, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T5.X, T6.X, 0
	ALU 9, @32, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T5.X, T6.X, 1
	CF_END
	PAD
	Fetch clause starting at 8:
	  VTX_READ_32 T5.X, T5.X, 28, #1
	ALU clause starting at 10:
	  MOV   T0.Y, KC0[2].Z,  
	  MOV * T0.Z, KC0[2].Y,  
	  MOV   T2.X, PV.Z,  
	  MOV * T3.X, PV.Y,  
	  MOV * T5.X, PV.X,  
	ALU clause starting at 15:
	  MOV * T0.Y, T3.X,  
	  LDS_WRITE * T0.Y, T5.X, 
	  MOV * T0.Y, T3.X,  
	  ADD_INT   T0.Y, PV.Y, literal.x,  
	  MOV * T0.Z, literal.y,  
	12(1.681558e-44), 1(1.401298e-45)
	  LDS_WRITE * T0.Y, T0.Z, 
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	4(5.605194e-45), 0(0.000000e+00)
	  LDS_READ_RET * OQAP, T0.Y 
	  MOV * T0.Y, OQAP,  
	  XOR_INT   T5.X, PV.Y, literal.x,  
	  MOV * T0.Y, T2.X,  
	133406721(3.665662e-34), 0(0.000000e+00)
	  LSHR * T6.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 32:
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	8(1.121039e-44), 0(0.000000e+00)
	  LDS_READ_RET * OQAP, T0.Y 
	  MOV   T5.X, OQAP,  
	  MOV * T0.Y, T2.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	4(5.605194e-45), 0(0.000000e+00)
	  LSHR * T6.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end7:
	.size	lds, .Lfunc_end7-lds

	.section	.AMDGPU.config
	.long	166100
	.long	266
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	alu
	.p2align	8
	.type	alu,@function
alu:
alu$local:
	ALU 8, @26, KC0[CB0:0-32], KC1[]
	TEX 0 @24
	ALU 8, @35, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 9, @44, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 9, @54, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 9, @64, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 4, @74, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @79, KC0[], KC1[]
	JUMP @14 POP:1
	ALU_POP_AFTER 2, @80, KC0[], KC1[]
	ALU 1, @83, KC0[], KC1[]
	ALU_PUSH_BEFORE 0, @85, KC0[], KC1[]
	JUMP @18 POP:1
	ALU_POP_AFTER 0, @86, KC0[], KC1[]
	ALU 4, @87, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 0
	ALU 6, @92, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T8.X, T9.X, 1
	CF_END
	PAD
	Fetch clause starting at 24:
	  VTX_READ_32 T8.X, T8.X, 0, #1
	ALU clause starting at 26:
	  MOV   T0.Y, KC0[3].X,  
	  MOV   T0.Z, KC0[2].W,  
	  MOV * T0.W, KC0[2].Z,  
	  MOV * T1.Y, KC0[2].Y,  
	  MOV   T2.X, PV.Y,  
	  MOV * T3.X, T0.W,  
	  MOV   T4.X, T0.Z,  
	  MOV * T5.X, T0.Y,  
	  MOV * T8.X, T2.X,  
	ALU clause starting at 35:
	  MOV * T6.X, T8.X,  
	  MOV   T0.Y, PV.X,  
	  MOV * T0.Z, T4.X,  
	  AND_INT   T0.Y, PV.Y, PV.Z,  
	  MOV * T0.Z, T5.X,  
	  OR_INT   T8.X, PV.Y, PV.Z,  
	  MOV * T0.Y, T3.X,  
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 44:
	  MOV   T0.Y, T6.X,  
	  MOV * T0.Z, T4.X,  BS:VEC_120/SCL_212
	  XOR_INT   T0.Y, PV.Y, PV.Z,  
	  MOV * T0.Z, T5.X,  
	  ADD_INT   T8.X, PV.Y, PV.Z,  
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	32(4.484155e-44), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 54:
	  MOV   T0.Y, T6.X,  
	  MOV * T0.Z, T4.X,  BS:VEC_120/SCL_212
	  MULLO_INT * T0.Y, PV.Y, PV.Z,  
	  MOV * T0.Z, T5.X,  
	  SUB_INT   T8.X, T0.Y, PV.Z,  
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	64(8.968310e-44), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 64:
	  MOV   T0.Y, T6.X,  
	  MOV * T0.Z, literal.x,  
	6(8.407791e-45), 0(0.000000e+00)
	  BFE_UINT   T8.X, PV.Y, literal.x, PV.Z, 
	  MOV * T0.Y, T3.X,  
	5(7.006492e-45), 0(0.000000e+00)
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	96(1.345247e-43), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 74:
	  MOV   T0.Y, T6.X,  
	  MOV * T0.Z, T4.X,  BS:VEC_120/SCL_212
	  SETGE_UINT * T0.Z, PV.Y, PV.Z,  
	  MOV * T0.Y, literal.x,  
	1(1.401298e-45), 0(0.000000e+00)
	ALU clause starting at 79:
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), T0.Z, 0.0,  
	ALU clause starting at 80:
	  MOV   T0.Y, literal.x,  
	  MOV * T0.Z, T5.X,  
	0(0.000000e+00), 0(0.000000e+00)
	ALU clause starting at 83:
	  AND_INT * T0.Y, T0.Y, 1,  
	  SETE_INT * T0.Y, PV.Y, 0.0,  
	ALU clause starting at 85:
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), T0.Y, 0.0,  
	ALU clause starting at 86:
	  MOV * T8.X, T6.X,  
	ALU clause starting at 87:
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	128(1.793662e-43), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	ALU clause starting at 92:
	  MOV * T0.Y, T6.X,  
	  NOT_INT   T8.X, PV.Y,  
	  MOV * T0.Y, T3.X,  
	  ADD_INT * T0.Y, PV.Y, literal.x,  
	160(2.242078e-43), 0(0.000000e+00)
	  LSHR * T9.X, PV.Y, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end8:
	.size	alu, .Lfunc_end8-alu

	.section	.AMDGPU.config
	.long	166100
	.long	11
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	wide
	.p2align	8
	.type	wide,@function
wide:
wide$local:
	ALU 16, @8, KC0[CB0:0-32], KC1[]
	TEX 0 @6
	ALU 17, @25, KC0[], KC1[]
	MEM_RAT_CACHELESS STORE_RAW T9.XYZW, T10.X, 1
	CF_END
	PAD
	Fetch clause starting at 6:
	  VTX_READ_128 T9.XYZW, T9.X, 0, #1
	ALU clause starting at 8:
	  MOV   T1.Y, KC0[4].X,  
	  MOV * T0.W, KC0[3].W,  
	  MOV * T0.Z, KC0[3].Z,  
	  MOV * T0.Y, KC0[3].Y,  
	  MOV   T9.X, PV.Y,  
	  MOV   T9.Y, T0.Z,  
	  MOV   T9.Z, T0.W,  
	  MOV   T9.W, T1.Y,  
	  MOV * T1.Z, KC0[2].Z,  
	  MOV * T1.W, KC0[2].Y,  
	  MOV   T2.X, PV.W,  
	  MOV * T3.X, T1.Z,  
	  MOV   T7.X, T1.Y,  
	  MOV * T6.X, T0.W,  
	  MOV   T5.X, T0.Z,  
	  MOV * T4.X, T0.Y,  
	  MOV * T9.X, T2.X,  
	ALU clause starting at 25:
	  MOV * T1.Z, T4.X,  
	  MOV   T1.Y, T5.X,  
	  MOV * T0.W, T6.X,  BS:VEC_120/SCL_212
	  MOV * T0.Z, T7.X,  
	  MOV * T0.Y, T9.W,  
	  XOR_INT   T0.Y, PV.Y, T0.Z,  
	  MOV * T0.Z, T9.Z,  
	  XOR_INT   T0.Z, PV.Z, T0.W,  
	  MOV * T0.W, T9.Y,  
	  XOR_INT * T0.W, PV.W, T1.Y,  
	  MOV * T1.Y, T9.X,  
	  XOR_INT   T9.X, PV.Y, T1.Z,  
	  MOV   T9.Y, T0.W,  
	  MOV   T9.Z, T0.Z,  
	  MOV   T9.W, T0.Y,  
	  MOV * T0.Y, T3.X,  
	  LSHR * T10.X, PS, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
.Lfunc_end9:
	.size	wide, .Lfunc_end9-wide

	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
