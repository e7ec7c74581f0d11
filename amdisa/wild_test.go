package amdisa

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// catalyst is the layout of AMD's own tools for Southern Islands.
const catalyst = `**
** Disassembly for '__kernel blockAddition'
**

  s_mov_b32     m0, 0x00008000                              // 00000000: BEFC03FF 00008000
  s_buffer_load_dword  s0, s[4:7], 0x04                     // 00000008: C2000504
  s_buffer_load_dword  s5, s[8:11], 0x01                    // 0000000C: C2028900
  s_waitcnt     lgkmcnt(0)                                  // 00000010: BF8C007F
  v_mul_i32_i24  v1, s12, v1                                // 00000014: 1202020C
  v_add_i32     v1, vcc, v0, v1                             // 00000018: 4A020300
  v_cmp_eq_i32  s[8:9], v0, 0                               // 0000001C: D1040008 00010100
  s_and_saveexec_b64  s[8:9], s[8:9]                        // 00000024: BE882408
  s_cbranch_execz  label_0016                               // 00000028: BF88000B
  s_load_dwordx4  s[12:15], s[2:3], 0x50                    // 0000002C: C0860350
  s_waitcnt     lgkmcnt(0)                                  // 00000030: BF8C007F
  tbuffer_load_format_x  v0, v0, s[12:15], 0 offen offset:48 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] // 00000034: EBA01000 80030000
  s_waitcnt     vmcnt(0) & expcnt(0)                        // 0000003C: BF8C1F70
  ds_write_b32  v1, v0 offset:4                             // 00000040: D8340000 00000001
  buffer_atomic_cmpswap  v[2:3], v1, s[12:15], 0 offen glc  // 00000048: E0C44000 80030201
  s_branch      label_0016                                  // 00000050: BF820001
  s_nop         0x0000                                      // 00000054: BF800000
label_0016:
  s_mov_b64     exec, s[8:9]                                // 00000058: BEFE0408
  s_endpgm                                                  // 0000005C: BF810000
end
`

// TestCatalyst: labels count words, constant buffers are parameters, buffers
// come from a table.
func TestCatalyst(t *testing.T) {
	p, err := Parse("k.isa", []byte(catalyst))
	require.NoError(t, err)
	understood(t, "catalyst", p)
	sane(t, "catalyst", p)
	assert.Equal(t, DialectCatalyst, p.Dialect)
	require.Len(t, p.Funcs, 1)
	f := p.Funcs[0]
	assert.Equal(t, "blockAddition", f.Name)
	assert.Equal(t, "gfx6", f.Arch)
	assert.False(t, f.Callable)
	at := func(op string) *isa.Inst {
		for i := range f.Insts {
			if f.Insts[i].Op == op {
				return &f.Insts[i]
			}
		}
		t.Fatal(op)
		return nil
	}
	assert.Equal(t, 17, at("s_cbranch_execz").Target)
	assert.Equal(t, "UR0 = mov(c[4][0x10])", f.Insts[1].Micro[0].String(), "constant buffer 0, word 4")
	assert.Equal(t, "UR5 = mov(c[5][0x4])", f.Insts[2].Micro[0].String(), "constant buffer 1")
	assert.Equal(t, "UR12 = mov(c[3][0x140])", at("s_load_dwordx4").Micro[0].String())
	l := at("tbuffer_load_format_x")
	assert.Equal(t, isa.RoleLoad, l.Role)
	assert.EqualValues(t, 48, l.Args[1].Off)
	assert.Equal(t, "offen", l.Args[1].Part)
	assert.Equal(t, []isa.Wait{{Counter: isa.CountVM}, {Counter: isa.CountExp}}, f.Insts[12].Waits)
	cas := at("buffer_atomic_cmpswap")
	assert.Equal(t, isa.RoleAtomic, cas.Role)
	assert.Equal(t, []isa.Reg{{Class: isa.ClassGPR, Num: 2}}, cas.Defs)
	assert.Equal(t, []isa.Reg{{Class: isa.ClassGPR, Num: 3}, {Class: isa.ClassGPR, Num: 2}}, cas.Data)

	// The same without addresses, and without a name.
	var plain []string
	for _, line := range strings.Split(catalyst, "\n") {
		if !strings.HasPrefix(line, "**") {
			s, _, _ := strings.Cut(line, "//")
			plain = append(plain, s)
		}
	}
	q, err := Parse("k.isa", []byte(strings.Join(plain, "\n")))
	require.NoError(t, err)
	q.Funcs[0].Name = f.Name
	assert.Empty(t, differences(p, q))
}

// TestCLRX reads what clrxdisasm prints.
func TestCLRX(t *testing.T) {
	p, err := Parse("k.txt", []byte(`/* Disassembling 'k.clo' */
.amd
.gpu Tahiti
.64bit
.kernel add
    .config
        .dims x
        .userdata ptr_uav_table, 0, 2, 2
    .text
/*000000000000*/ s_load_dwordx4  s[8:11], s[2:3], 0x60
/*000000000004*/ s_buffer_load_dwordx2 s[0:1], s[4:7], 0x0
/*000000000008*/ s_waitcnt       lgkmcnt(0)
.L12_0:
/*00000000000c*/ buffer_load_dword v1, v0, s[8:11], 0 offen
/*000000000014*/ s_waitcnt       vmcnt(0)
/*000000000018*/ v_cmp_eq_u32    vcc, 0, v1
/*00000000001c*/ s_cbranch_vccnz .L12_0
/*000000000020*/ s_endpgm
`))
	require.NoError(t, err)
	understood(t, "clrx", p)
	sane(t, "clrx", p)
	assert.Equal(t, DialectCLRX, p.Dialect)
	require.Len(t, p.Funcs, 1)
	assert.Equal(t, "add", p.Funcs[0].Name)
	assert.Equal(t, "tahiti", p.Funcs[0].Arch)
	assert.Equal(t, 3, p.Funcs[0].Insts[6].Target)
}

// evergreen is the layout of AMD's own tools for R600 to Cayman.
const evergreen = `; --------  Disassembly --------------------
00 ALU_PUSH_BEFORE: ADDR(32) CNT(9) KCACHE0(CB0:0-15) KCACHE1(CB1:0-15)
      0  w: LSHL        ____,  R0.x,  2
         t: MULLO_INT   R1.x,  R0.x,  KC0[0].x
      1  z: ADD_INT     R0.z,  PV0.w,  KC1[0].x
      2  y: XOR_INT     R2.y,  PV1.z,  (0x07F3A001, 3.665662e-34f).x
         x: ADD_INT     R2.x,  PS0,  1
      3  x: PREDNE_INT  ____,  R0.x,  0.0f      UPDATE_EXEC_MASK UPDATE_PRED
01 JUMP  POP_CNT(1) ADDR(5)
02 TEX: ADDR(64) CNT(1)
      4  VFETCH R1.x___, R0.z, fc153  FORMAT(32_FLOAT) MEGA(4)
         FETCH_TYPE(NO_INDEX_OFFSET)
03 MEM_RAT_CACHELESS_STORE_RAW_ACK: RAT(1)[R2].x___, R1, ARRAY_SIZE(4) MARK  VPM
04 POP (1) ADDR(5)
05 WAIT_ACK: Outstanding_acks <= 0
06 MEM_RAT_CMPXCHG_INT: RAT(1)[R2], R3, ARRAY_SIZE(4)  VPM
07 ALU: ADDR(41) CNT(3)
      5  x: LDS_WRITE   ____,  R0.x,  R1.x
      6  x: GROUP_BARRIER
      7  x: MOV         R5.x,  R4.x
END_OF_PROGRAM
`

// TestEvergreen: PV and PS of the group before, masked results, the mask stack,
// acknowledged writes, addresses in words.
func TestEvergreen(t *testing.T) {
	text := strings.Replace(evergreen, "PREDNE_INT ", "PRED_SETNE_INT", 1)
	p, err := Parse("k.isa", []byte(text))
	require.NoError(t, err)
	understood(t, "evergreen", p)
	sane(t, "evergreen", p)
	assert.Equal(t, DialectTeraScale, p.Dialect)
	f := p.Funcs[0]
	assert.Equal(t, []string{
		"alu ALU_PUSH_BEFORE",
		"alu LSHL; R4 = mul(R0, c[4][0x0])",
		"alu ADD_INT; R2 = add(PV.w, c[5][0x0])",
		"alu XOR_INT; R9 = lop3.3c(PV.z, 0x7f3a001, 0x0); R8 = add(PS, 0x1)",
		"alu PRED_SETNE_INT; exec_lo = setp.ne.and.s(R0, 0x0, exec_lo)",
		"branch JUMP ->08",
		"load VFETCH",
		"store MEM_RAT_CACHELESS_STORE_RAW_ACK",
		"alu POP; exec_lo = mov(stack0)",
		"wait WAIT_ACK",
		"reduction MEM_RAT_CMPXCHG_INT",
		"store LDS_WRITE",
		"barrier GROUP_BARRIER",
		"alu MOV; R20 = mov(R16)",
		"branch END_OF_PROGRAM",
	}, lines(f))
	st := f.Insts[7]
	assert.Equal(t, []isa.Counter{isa.CountAck}, st.Counts)
	assert.Equal(t, "dword", st.Args[0].Part)
	assert.Equal(t, []isa.Reg{tsReg(2, 0)}, st.Addrs)
	assert.Equal(t, []isa.Reg{tsReg(1, 0)}, st.Data)
	assert.Equal(t, []isa.Wait{{Counter: isa.CountAck}}, f.Insts[9].Waits)
	assert.Equal(t, []isa.Reg{tsReg(3, 3), tsReg(3, 0)}, f.Insts[10].Data)

	// Unknown opcodes are problems, and so is a program that does not end.
	p, err = Parse("k.isa", []byte(evergreen))
	require.NoError(t, err)
	assert.Len(t, p.Problems, 1)
	_, err = Parse("k.isa", []byte(strings.Replace(evergreen, "END_OF_PROGRAM", "", 1)))
	assert.ErrorIs(t, err, ErrTruncated)
}

// TestGraphics: shaders of the same families, which people publish.
func TestGraphics(t *testing.T) {
	p, err := Parse("v.psh", []byte(`; $MODE = "UniformRegister"
00 CALL_FS NO_BARRIER
01 ALU: ADDR(32) CNT(5)
    0  t: FLT_TO_INT ____,   R6.x
    1  x: LSHL_INT   R6.x,   PS0,   0x2
    2  x: MOVA_FLOOR ____,   PS0
    3  x: MULADD     R127.x, R1.z,  C42[AR.x].x, PV0.x
       y: MUL        ____,   -R1.y, 0.5f CLAMP VEC_021
       z: DOT4       ____, (0x80000000, -0), 0.0f
02 TEX: ADDR(208) CNT(1) VALID_PIX
    4  SAMPLE R2.xy__, R6.xy0x, t3, s3
03 EXP_DONE: POS0,   R0
04 EXP_DONE: PARAM0, R2.xyzz  NO_BARRIER
END_OF_PROGRAM
`))
	require.NoError(t, err)
	understood(t, "shader", p)
	assert.Len(t, p.Funcs, 1)
	p, err = Parse("p.s", []byte("shader main\n  asic(VI)\n  type(PS)\n  s_mov_b32 m0, s2\n  v_interp_p1_f32 v2, v0, attr0.x\n "+
		" v_interp_p2_f32 v2, v1, attr0.x\n"+
		"  image_sample v[0:3], v[0:1], s[4:11], s[12:15] dmask:0xf\n  s_waitcnt vmcnt(0)\n  exp mrt0, v0, v1, v2, off done vm\n "+
		" s_endpgm\nend\n"))
	require.NoError(t, err)
	understood(t, "shader", p)
	assert.Equal(t, "gfx8", p.Funcs[0].Arch)
}

// TestHandWritten: assembly that people write for LLVM, with labels on their own
// and comments after instructions.
func TestHandWritten(t *testing.T) {
	p, err := Parse("k.s", []byte(`.hsa_code_object_isa 9, 0, 0, "AMD", "AMDGPU"
.text
.amdgpu_hsa_kernel hello_world
hello_world:
  .amd_kernel_code_t
    enable_sgpr_kernarg_segment_ptr = 1
    is_ptr64 = 1
  .end_amd_kernel_code_t
  s_load_dwordx2  s[4:5], s[0:1], 0x10
  v_lshlrev_b32  v0, 2, v0 // v0 *= 4
  s_waitcnt     lgkmcnt(0)
loop:
  v_add_co_u32     v1, vcc, s4, v0
  s_cbranch_vccz loop
  v_mov_b32     v2, s5
  v_addc_co_u32    v2, vcc, v2, 0, vcc
  flat_load_dword  v1, v[1:2] // load
  s_waitcnt     vmcnt(0) & lgkmcnt(0)
  ds_bpermute_b32  v1, v1, v2
  s_endpgm
`))
	require.NoError(t, err)
	understood(t, "hand-written", p)
	require.Len(t, p.Funcs, 1)
	f := p.Funcs[0]
	assert.Equal(t, "UR4 = mov(c[0][0x10])", f.Insts[0].Micro[0].String())
	assert.Equal(t, 3, f.Insts[4].Target)
	assert.False(t, f.Callable)
}

// TestUserElements: AMD's tools say after the code which registers hold which
// descriptor; that decides what a constant load reads.
func TestUserElements(t *testing.T) {
	p, err := Parse("k.isa", []byte(`; --------  Disassembly --------------------
shader main
  asic(SI_ASIC)
  type(CS)

  s_buffer_load_dword  s0, s[4:7], 0x04                     // 00000000: C2000504
  s_buffer_load_dword  s1, s[8:11], s0                      // 00000004: C2008800
  s_waitcnt     lgkmcnt(0)                                  // 00000008: BF8C007F
  s_endpgm                                                  // 0000000C: BF810000
end

; ----------------- CS Data ------------------------
; Input Semantic Mappings
;    No input mappings

GprPoolSize = 0
CodeLen                 = 16;Bytes
PGM_END_CF              = 0; words(64 bit)
userElementCount        = 3;
; userElements[0]        = PTR_UAV_TABLE, 0, s[2:3]
; userElements[1]        = IMM_CONST_BUFFER, 1, s[4:7]
; userElements[2]        = IMM_CONST_BUFFER, 0, s[8:11]
COMPUTE_PGM_RSRC2:USER_SGPR      = 12
NumVgprs             = 5;
`))
	require.NoError(t, err)
	understood(t, "cs data", p)
	require.Len(t, p.Funcs, 1)
	in := p.Funcs[0].Insts
	assert.Equal(t, "UR0 = mov(c[5][0x10])", in[0].Micro[0].String())
	assert.Equal(t, isa.RoleConst, in[1].Role)
	assert.Empty(t, in[1].Micro, "at an offset that is not constant")
}

// keptLabels is what llvm-objdump prints of an object whose assembler kept its own labels, as
// it does for debugging: they have headings like functions.
const keptLabels = `
mp.o:	file format elf64-amdgpu

Disassembly of section .text:

0000000000000000 <.Lfunc_begin0>:
0000000000000000 <mp>:
	s_load_dwordx2 s[0:1], s[4:5], 0x0                         // 000000000000: C0060002 00000000
	v_cmp_eq_u32_e32 vcc, 0, v0                                // 000000000008: 7D940080

000000000000000c <.Ltmp0>:
	v_mov_b32_e32 v1, 1                                        // 00000000000C: 7E020281
	s_cbranch_vccz .Ltmp1                                      // 000000000010: BF860004 <.Ltmp1>
	s_waitcnt lgkmcnt(0)                                       // 000000000014: BF8CC07F
	v_mov_b32_e32 v0, 0                                        // 000000000018: 7E000280
	global_store_dword v0, v1, s[0:1]                          // 00000000001C: DC708000 00000100

0000000000000024 <.Ltmp1>:
	s_endpgm                                                   // 000000000024: BF810000
	.long 0xdeadbeef                                           // 000000000028: DEADBEEF

000000000000002c <.Lfunc_end0>:
	s_code_end                                                 // 00000000002C: BF9F0000

0000000000000100 <other>:
	s_branch 1                                                 // 000000000100: BF820001 <other+0x8>
	.long 0xdeadbeef                                           // 000000000104: DEADBEEF
	s_endpgm                                                   // 000000000108: BF810000
`

// TestKeptLabels: an assembler's labels do not cut functions, code behind the end of one is
// none of another, and data between instructions is an instruction that nobody knows.
func TestKeptLabels(t *testing.T) {
	p, err := Parse("mp.objdump", []byte(keptLabels))
	require.NoError(t, err)
	sane(t, "kept labels", p)
	require.Len(t, p.Funcs, 2)
	f, other := p.Funcs[0], p.Funcs[1]
	assert.Equal(t, "mp", f.Name)
	assert.Equal(t, "other", other.Name)
	assert.Equal(t, 7, f.Insts[3].Target)
	assert.Equal(t, uint64(0x24), f.Insts[7].Addr)
	require.Len(t, other.Insts, 3)
	assert.Equal(t, isa.RoleUnknown, other.Insts[1].Role)
	assert.Equal(t, 2, other.Insts[0].Target, "and is jumped over")
	assert.NotEmpty(t, p.Problems)
}

// TestOutputModifiers: what is done to a result leaves the operation known, its value not; the
// group after it reads it by PV and PS.
func TestOutputModifiers(t *testing.T) {
	for name, text := range map[string]string{"AMD's": `; --------  Disassembly --------------------
00 ALU: ADDR(32) CNT(6) KCACHE0(CB0:0-15)
      0  x: MOV/2       R1.x,  R0.y
         y: MUL*2       R1.y,  R0.y,  R0.z
         t: ADD_sat     R3.x,  R0.y,  R0.z
      1  z: ADD/4       R0.z,  PV0.x,  PS0
      2  x: MOV         R5.x,  PV1.z
END_OF_PROGRAM
`, "LLVM's": `	.text
	.globl	k
	.type	k,@function
k:                              ; @k
; %bb.0:
	ALU 4, @4, KC0[CB0:0-32], KC1[]
	CF_END
	PAD
	ALU clause starting at 4:
	  MOV/2   T1.X, KC0[2].Z,
	  MUL*2   T1.Y, KC0[2].Z, KC0[2].W,
	  ADD_SAT * T3.X, KC0[2].Z, KC0[2].W,
	  ADD/4 * T0.Z, PV.X, PS,
	  MOV * T5.X, PV.Z,
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
`} {
		p, err := Parse("k.isa", []byte(text))
		require.NoError(t, err, name)
		understood(t, name, p)
		f := p.Funcs[0]
		assert.Equal(t, "MOV", f.Insts[0].Op, name)
		assert.Empty(t, f.Insts[0].Micro, "%s: half of a value is another one", name)
		pv := isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPV}
		ps := isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPS}
		for _, r := range []isa.Reg{pv, ps} {
			assert.Contains(t, f.Insts[0].Defs, r, name)
			assert.Contains(t, f.Insts[1].Uses, r, name)
		}
		last := f.Insts[2].Micro
		require.NotEmpty(t, last, name)
		assert.Equal(t, "PV.z", last[0].Src[0].Reg.String(), name)
	}
}
