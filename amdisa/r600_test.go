package amdisa

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// lines describes a function, one line an instruction: role, text of the first
// operation, value.
func lines(f *isa.Func) []string {
	var out []string
	for i := range f.Insts {
		in := &f.Insts[i]
		s := in.Role.String() + " " + in.Op
		if in.Target >= 0 {
			s += " ->" + string(rune('0'+in.Target/10)) + string(rune('0'+in.Target%10))
		}
		for _, m := range in.Micro {
			if m.Dst.Class == isa.ClassGPR || m.Dst == isa.RegExec {
				s += "; " + m.String()
			}
		}
		out = append(out, s)
	}
	return out
}

// TestR600 reads a kernel with a condition as clang-19 prints it for cypress:
// clauses after the list, forwarding registers, the t slot, the mask stack.
func TestR600(t *testing.T) {
	src := strings.ReplaceAll(`	.text
	.section	.AMDGPU.config,"",@progbits
	.text
	.globl	dep_ctrl2
	.type	dep_ctrl2,@function
dep_ctrl2:                              ; @dep_ctrl2
dep_ctrl2$local:
	.type	dep_ctrl2$local,@function
; %bb.0:
	ALU 1, @18, KC0[CB0:0-32], KC1[]
	TEX 0 @14
	ALU_PUSH_BEFORE 6, @20, KC0[CB0:0-32], KC1[]
	JUMP @6 POP:1
	MEM_RAT_CACHELESS STORE_RAW T5.X, T4.X, 0
	ALU_POP_AFTER 1, @36, KC0[], KC1[]
	MEM_RAT ATOMIC_CMPXCHG_INT T0, T1.X
	CF_END
	PAD
	Fetch clause starting at 14:
	  VTX_READ_32 T0.X, T0.X, 4, #1
	ALU clause starting at 18:
	  MOV * T2.X, KC0[2].Z,  
	  MOV * T0.X, PV.X,  
	ALU clause starting at 20:
	  MOV   T1.X, literal.x,  
	  MOV   T0.W, KC0[2].W,  
	  SETGT_INT * T1.W, literal.z, T0.X,  
	7(9.809089e-45), 4(5.605194e-45)
	2(2.802597e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PS, 0.0,  
	ALU clause starting at 36:
	  LDS_READ_RET * OQAP, T0.W 
	  MOV * T0.Z, OQAP,  
.Lfunc_end8:
`, "\r", "")
	p, err := Parse("k.s", []byte(src))
	require.NoError(t, err)
	require.Empty(t, p.Problems)
	require.Len(t, p.Funcs, 1)
	assert.Equal(t, DialectR600, p.Dialect)
	assert.Equal(t, "evergreen", p.Funcs[0].Arch)
	assert.Equal(t, []string{
		"alu MOV; R8 = mov(c[0][0x28])",
		"alu MOV; R0 = mov(PV.x)",
		"load VTX_READ_32",
		"alu ALU_PUSH_BEFORE",
		"alu MOV; R4 = mov(0x7); R3 = mov(c[0][0x2c]); R7 = setp.gt.and.s(0x2, R0, true)",
		"alu PRED_SETE_INT; exec_lo = setp.eq.and.s(PS, 0x0, exec_lo)",
		"branch JUMP ->10",
		"store MEM_RAT_CACHELESS",
		"load LDS_READ_RET",
		"alu MOV; R2 = mov(R512)",
		"alu ALU_POP_AFTER; exec_lo = mov(stack0)",
		"reduction MEM_RAT",
		"branch CF_END",
	}, lines(p.Funcs[0]))
	f := p.Funcs[0]
	assert.Equal(t, []isa.Reg{tsReg(0, 3), tsReg(0, 0)}, f.Insts[11].Data, "compared value before new value")
	assert.Equal(t, isa.Guard{Reg: isa.RegExec, Neg: true}, f.Insts[6].Guard)
	assert.EqualValues(t, 4, f.Insts[2].Args[1].Off)
	// The third operation writes W, which the second did: it is in the t slot.
	assert.Contains(t, f.Insts[4].Defs, isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPS})
}

// TestR600Unknown: what the tables do not know is an unknown instruction and a
// problem, and broken control flow is an error.
func TestR600Unknown(t *testing.T) {
	head := "k:\n\tALU 0, @2, KC0[CB0:0-32], KC1[]\n\tCF_END\n"
	for _, c := range []string{
		"  FROB_INT * T0.X, T1.X, T2.X,", "  MOV * T0.X, OQAP,", "  MOV * T0.X, literal.x,", "  ADD_INT * T0.X, T1.X,",
		"  MOV * T(0 + AR.x).X, T1.X,", "  LDS_READ_RET * OQAP, T0.W", // stays in the queue
	} {
		p, err := Parse("k.s", []byte(head+"\tALU clause starting at 2:\n\t"+c+"\n.Lfunc_end0:\n"))
		require.NoError(t, err, c)
		assert.NotEmpty(t, p.Problems, c)
		unknown := false
		for i := range p.Funcs[0].Insts {
			unknown = unknown || p.Funcs[0].Insts[i].Role == isa.RoleUnknown
		}
		assert.True(t, unknown, c)
	}
	p, err := Parse("k.s", []byte("k:\n\tTEX 0 @2\n\tFROB\n\tCF_END\n\tALU clause starting at 8:\n\t  MOV * T0.X, 0.0,\n.Lfunc_end0:\n"))
	require.NoError(t, err)
	assert.Len(t, p.Problems, 2, "missing clause, unknown opcode")
	for _, c := range []string{"\tJUMP @77 POP:1\n", "\tLOOP_START_DX10 @9\n"} {
		_, err := Parse("k.s", []byte("k:\n\tALU 0, @8, KC0[], KC1[]\n"+c+"\tCF_END\n\tALU clause starting at 8:\n\t  MOV * T0.X,"+
			" 0.0,\n.Lfunc_end0:\n"))
		assert.ErrorIs(t, err, ErrTruncated, c)
	}
}
