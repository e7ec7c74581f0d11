package sass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// one parses a single instruction for a target.
func one(t *testing.T, sm int, text string) *isa.Inst {
	t.Helper()
	a := 0
	if sm >= 30 && sm < 70 {
		a = 8
	}
	step := 8
	if sm >= 70 {
		step = 16
	}
	src := fmt.Sprintf("\tcode for sm_%d\n\t\tFunction : k\n/*%04x*/ %s ;\n/*%04x*/ EXIT ;\n", sm, a, text, a+step)
	p, err := Parse("one", []byte(src))
	require.NoError(t, err)
	require.Empty(t, p.Problems, text)
	require.Len(t, p.Funcs[0].Insts, 2)
	return &p.Funcs[0].Insts[0]
}

func TestMemoryInstructions(t *testing.T) {
	for _, c := range []struct {
		sm   int
		text string
		role isa.Role
		mem  isa.Mem
		defs string
		addr string
		data string
	}{
		{35, "LD.E.CG R4, [R2+0x10]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGeneric, Width: 4, Cache: "CG"}, "R4", "R2 R3", ""},
		{35, "LDG.E.64.P R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 8, Cache: "P"}, "R4 R5", "R2 R3", ""},
		{35, "LDSLK P1, R2, [R3]", isa.RoleLoad, isa.Mem{Space: isa.SpaceShared, Width: 4, Locked: true}, "P1 R2", "R3", ""},
		{35, "@P1 STSCUL P0, [R3], R2", isa.RoleStore, isa.Mem{Space: isa.SpaceShared, Width: 4, Locked: true}, "P0", "R3", "R2"},
		{35, "ATOM.E.CAS R0, [R2], R4, R5", isa.RoleAtomic, isa.Mem{Space: isa.SpaceGeneric, Width: 4, Atom: "CAS"}, "R0", "R2 R3", "R4 R5"},
		{35, "CCTL.E.IV [R2]", isa.RoleCache, isa.Mem{Space: isa.SpaceGeneric}, "", "R2 R3", ""},
		{35, "CCTL.IVALL [RZ]", isa.RoleCache, isa.Mem{Invalidate: true}, "", "", ""},
		{35, "MEMBAR.GL", isa.RoleFence, isa.Mem{Strength: isa.FenceSC, Scope: isa.ScopeGPU}, "", "", ""},
		{50, "LDG.E.CI.U.128 R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 16, Cache: "CI"}, "R4 R5 R6 R7", "R2 R3", ""},
		{50, "LD.E R4, [R2], P0", isa.RoleLoad, isa.Mem{Space: isa.SpaceGeneric, Width: 4}, "R4", "R2 R3", ""},
		{50, "MEMBAR.SYS.IVALLD", isa.RoleFence, isa.Mem{Strength: isa.FenceSC, Scope: isa.ScopeSys, Invalidate: true}, "", "", ""},
		{60, "ATOM.E.ADD.F64.RN R0, [R2], R4", isa.RoleAtomic, isa.Mem{Space: isa.SpaceGeneric, Width: 8, Atom: "ADD", Type: isa.AtomOther},
			"R0 R1", "R2 R3", "R4 R5"},
		{52, "LDS.U.S16 R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceShared, Width: 2}, "R4", "R2", ""},
		{52, "STL.64 [R1+0x8], R4", isa.RoleStore, isa.Mem{Space: isa.SpaceLocal, Width: 8}, "", "R1", "R4 R5"},
		{70, "LDG.E.SYS R3, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 4}, "R3", "R2 R3", ""},
		{70, "LDG.E.64.STRONG.CTA R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 8, Strength: isa.Strong, Scope: isa.ScopeCTA},
			"R4 R5", "R2 R3", ""},
		{70, "LDG.E.U.128.CONSTANT.SYS R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 16, Strength: isa.Constant}, "R4 R5 R6 R7",
			"R2 R3", ""},
		{70, "LDG.E.MMIO.SYS R3, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 4, Strength: isa.MMIO, Scope: isa.ScopeSys}, "R3",
			"R2 R3", ""},
		{70, "ATOM.E.CAS.64.STRONG.GPU P0, R0, [R2], R4, R6", isa.RoleAtomic,
			isa.Mem{Space: isa.SpaceGeneric, Width: 8, Strength: isa.Strong, Scope: isa.ScopeGPU, Atom: "CAS"}, "P0 R0 R1", "R2 R3", "R4 R5 R6 R7"},
		{75, "LDG.E.STRONG.GPU R0, [R2.U32+UR4]", isa.RoleLoad,
			isa.Mem{Space: isa.SpaceGlobal, Width: 4, Strength: isa.Strong, Scope: isa.ScopeGPU}, "R0", "R2 UR4 UR5", ""},
		{80, "ATOMG.E.CAS.STRONG.GPU PT, R5, [R2], R4, R5", isa.RoleAtomic,
			isa.Mem{Space: isa.SpaceGlobal, Width: 4, Strength: isa.Strong, Scope: isa.ScopeGPU, Atom: "CAS"}, "R5", "R2 R3", "R4 R5"},
		{80, "STG.E.STRONG.SM [R2.64+0x8], R5", isa.RoleStore,
			isa.Mem{Space: isa.SpaceGlobal, Width: 4, Strength: isa.Strong, Scope: isa.ScopeCTA}, "", "R2 R3", "R5"},
		{80, "LDGSTS.E.BYPASS.128 [R7], [R2.64]", isa.RoleCopy, isa.Mem{Space: isa.SpaceShared, Width: 16}, "", "R7 R2 R3", ""},
		{80, "MEMBAR.ALL.GPU", isa.RoleFence, isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeGPU}, "", "", ""},
		{80, "MEMBAR.SC.SYS", isa.RoleFence, isa.Mem{Strength: isa.FenceSC, Scope: isa.ScopeSys}, "", "", ""},
		{90, "MEMBAR.CTA", isa.RoleFence, isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeCTA}, "", "", ""},
		{90, "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64+0x4], R6", isa.RoleReduction,
			isa.Mem{Space: isa.SpaceGlobal, Width: 4, Strength: isa.Strong, Scope: isa.ScopeGPU, Atom: "ADD"}, "", "R2 R3", "R6"},
		{90, "LDG.E.EF.64 R4, desc[UR6][R2.64]", isa.RoleLoad, isa.Mem{Space: isa.SpaceGlobal, Width: 8, Cache: "EF"}, "R4 R5", "R2 R3", ""},
		{90, "LDS R5, [UR4+0x4]", isa.RoleLoad, isa.Mem{Space: isa.SpaceShared, Width: 4}, "R5", "UR4", ""},
		{90, "ATOMS.CAS.64 R2, [R7], R4, R6", isa.RoleAtomic, isa.Mem{Space: isa.SpaceShared, Width: 8, Atom: "CAS"}, "R2 R3", "R7",
			"R4 R5 R6 R7"},
		{90, "VOTEU.ALL UP0, P1", isa.RoleALU, isa.Mem{}, "UP0", "", ""},
		{90, "LDSM.16.M88.4 R4, [R2]", isa.RoleLoad, isa.Mem{Space: isa.SpaceShared, Width: 16}, "R4 R5 R6 R7", "R2", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			in := one(t, c.sm, c.text)
			assert.Equal(t, c.role, in.Role)
			assert.Equal(t, c.mem, in.Mem)
			assert.Equal(t, c.defs, regs(in.Defs), "defs")
			assert.Equal(t, c.addr, regs(in.Addrs), "addresses")
			assert.Equal(t, c.data, regs(in.Data), "data")
			for _, r := range append(append([]isa.Reg{}, in.Addrs...), in.Data...) {
				assert.Contains(t, in.Uses, r)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	for text, role := range map[string]isa.Role{
		"ERRBAR": isa.RoleWait, "CGAERRBAR": isa.RoleWait, "DEPBAR.LE SB0, 0x0, {4,3}": isa.RoleWait,
		"BAR.SYNC.DEFER_BLOCKING 0x0": isa.RoleBarrier, "WARPSYNC 0xffffffff": isa.RoleWait, "UCGABAR_WAIT": isa.RoleBarrier,
		"S2R R0, SR_TID.X": isa.RoleConst, "ULDC.64 UR4, c[0x0][0x118]": isa.RoleConst, "NOP": isa.RoleNop,
		"VOTE.ANY R0, PT, P0": isa.RoleALU, "QSPC.E.S P0, RZ, [R2]": isa.RoleALU, "BRA 0x10": isa.RoleBranch,
		"FENCE.VIEW.ASYNC.S": isa.RoleFence, "XYZZY R1": isa.RoleUnknown, "HMMA.999.F32 R0, R4, R8, R0": isa.RoleUnknown,
	} {
		assert.Equal(t, role, one(t, 80, text).Role, text)
	}
}

// TestReturnAddress: the register from which the address to return to is taken is read, and that to which it is moved is written.
func TestReturnAddress(t *testing.T) {
	r := func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: n} }
	for text, regs := range map[string][2][]isa.Reg{
		"RPCMOV.32 Rpc.LO, R2": {nil, {r(2)}}, "RPCMOV.32 R4, Rpc.HI": {{r(4)}, nil}, "RPCMOV.64 R4, Rpc": {{r(4), r(5)}, nil},
	} {
		in := one(t, 90, text)
		assert.Equal(t, regs[0], in.Defs, text)
		assert.Equal(t, regs[1], in.Uses, text)
	}
}

// TestOperands checks the operand notation of all generations.
func TestOperands(t *testing.T) {
	arg := func(text string) isa.Operand {
		o, ok := parseOperand(text)
		require.True(t, ok, text)
		return o
	}
	r := func(c isa.Class, n uint16) isa.Reg { return isa.Reg{Class: c, Num: n} }
	o := arg("-|R3|.reuse")
	assert.True(t, o.Neg && o.Abs)
	assert.Equal(t, r(isa.ClassGPR, 3), o.Reg)
	o = arg("R4.H1_H1.reuse")
	assert.Equal(t, "H1_H1", o.Part)
	o = arg("~c[0x0][0x16c]")
	assert.True(t, o.Not)
	assert.Equal(t, int64(0x16c), o.Off)
	o = arg("-c [0x0] [0x148].H1")
	assert.True(t, o.Neg)
	assert.Equal(t, "H1", o.Part)
	o = arg("c[0x0][R2+0x160]")
	assert.Equal(t, r(isa.ClassGPR, 2), o.Reg)
	assert.Equal(t, int64(0x160), o.Off)
	o = arg("c[0x2][UR4+0x10]")
	assert.Equal(t, r(isa.ClassUGPR, 4), o.Reg)
	assert.Equal(t, 2, o.Bank)
	o = arg("cx[UR4][0x10]")
	assert.Equal(t, -1, o.Bank)
	assert.Equal(t, r(isa.ClassUGPR, 4), o.Desc)
	o = arg("[R2.64+UR6+-0x8]")
	assert.Equal(t, "64", o.Part)
	assert.Equal(t, r(isa.ClassUGPR, 6), o.Base2)
	assert.Equal(t, int64(-8), o.Off)
	o = arg("[RZ.U32+UR4]")
	assert.True(t, o.Zero)
	assert.Equal(t, isa.ClassNone, o.Reg.Class)
	o = arg("desc[UR4][R2.64+0x4]")
	assert.Equal(t, r(isa.ClassUGPR, 4), o.Desc)
	assert.Equal(t, int64(4), o.Off)
	o = arg("[0x4]")
	assert.Equal(t, int64(4), o.Off)
	o = arg("!UPT")
	assert.True(t, o.Zero && o.Not)
	assert.Equal(t, isa.OpdPred, o.Kind)
	assert.Equal(t, isa.OpdPred, arg("pt").Kind)
	assert.Equal(t, isa.OpdFloat, arg("5.9604644775390625e-08").Kind)
	assert.Equal(t, isa.OpdFloat, arg("+INF ").Kind)
	assert.Equal(t, isa.OpdFloat, arg("-QNAN").Kind)
	assert.Equal(t, int64(-0x8), arg("-0x8").Imm)
	assert.Equal(t, "lo", arg("32@lo((k + .L_x_1@srel))").Part)
	assert.Equal(t, ".L_x_1", arg("`(.L_x_1)").Sym)
	assert.Equal(t, isa.OpdSpecial, arg("SR_Tid_X").Kind)
	assert.Equal(t, isa.ClassCC, arg("CC.EQ").Reg.Class)
	assert.Equal(t, isa.ClassBarrier, arg("B15").Reg.Class)
	assert.Equal(t, isa.OpdSpecial, arg("c[`(k.const_opt.0.8)]").Kind)
}

// TestMicroText pins the lowering of representative instructions.
func TestMicroText(t *testing.T) {
	for _, c := range []struct {
		sm         int
		text, want string
	}{
		{50, "MOV32I R5, 0x1", "R5 = mov(0x1)"},
		{50, "IADD R8.CC, R8, c[0x0][0x148]", "R8 = add(R8, c[0][0x148]); CC = carry(R8, c[0][0x148])"},
		{50, "IADD.X R9, RZ, c[0x0][0x14c]", "R9 = addhi(0x0, c[0][0x14c], CC)"},
		{50, "IADD.X R3, RZ, -R5", "R3 = addhi(0x0, ~R5, CC)"},
		{50, "LOP32I.XOR R0, R2, 0x7f3a001", "R0 = lop3.3c(R2, 0x7f3a001, 0x0)"},
		{50, "LOP.PASS_B R4, RZ, ~R8", "R4 = mov(~R8)"},
		{50, "ISCADD R2, R3, c[0x0][0x24], 0x2", "R2 = lea(R3, 0x2, c[0][0x24])"},
		{35, "IMAD.U32.U32.HI R0, R2, 0x2, RZ", "R0 = mulhi(R2, 0x2)"},
		{35, "IMAD.U32.U32.HI R0, R2, 0x2, R6", "R0 = madhi(R2, 0x2, 0x0, R6)"},
		{35, "IMAD.HI R0, R2, R3, R6", "R0 = madhi.s(R2, R3, 0x0, R6)"},
		{35, "IMAD.U32.S32.HI R0, R2, R3, RZ", ""},
		{50, "XMAD R0, R1, R2, RZ", ""},
		{50, "IADD R0, R1.H1, R2", ""},
		{70, "LOP3.LUT R11, R2, 0x80000000, RZ, 0xc0, !PT", "R11 = lop3.c0(R2, 0x80000000, 0x0)"},
		{70, "IADD3 R8, P0, R8, c[0x0][0x168], RZ", "R8 = add(R8, c[0][0x168], 0x0); P0 = carry(R8, c[0][0x168])"},
		{70, "IADD3 R8, P0, P1, R8, R9, R10", "R8 = add(R8, R9, R10); P0 = carry(R8, R9, R10); P1 = carry2(R8, R9, R10)"},
		{70, "IADD3 R8, P0, R8, R9, R10", "R8 = add(R8, R9, R10)"},
		{70, "IMAD.X R9, RZ, RZ, c[0x0][0x16c], P0", "R9 = addhi(c[0][0x16c], P0)"},
		{70, "IADD3.X R7, R12, ~c[0x0][0x16c], RZ, P2, !PT", "R7 = addhi(R12, ~c[0][0x16c], 0x0, P2)"},
		{70, "IMAD.WIDE.U32 R2, R4, R5, R6", "R2 = mad(R4, R5, R6); R3 = madhi(R4, R5, R6, R7)"},
		{70, "LEA R2, P0, R3, c[0x0][0x160], 0x2", "R2 = lea(R3, 0x2, c[0][0x160]); P0 = leacarry(R3, 0x2, c[0][0x160])"},
		{70, "LEA.HI.X R3, R3, c[0x0][0x164], R4, 0x2, P0", "R3 = leahi(R3, R4, 0x2, c[0][0x164], P0)"},
		{70, "LEA.HI.X.SX32 R3, R0, c[0x0][0x164], 0x2, P0", "R3 = leahi.s(R0, 0x0, 0x2, c[0][0x164], P0)"},
		{70, "SHF.R.U32.HI R2, RZ, 0x5, R3", "R2 = shr(R3, 0x5)"},
		{70, "SHF.L.U64.HI R2, R4, 0x3, R5", "R2 = shfhi(R4, R5, 0x3)"},
		{70, "ISETP.GE.U32.AND P0, P1, R2, R3, P2", "P0 = setp.ge.and(R2, R3, P2); P1 = setp.lt.and(R2, R3, P2)"},
		{70, "PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", "P0 = plop.80(P1, P2, true)"},
		{70, "CS2R R2, SRZ", "R2 = mov(0x0); R3 = mov(0x0)"},
		{70, "LDC.64 R2, c[0x0][R2+0x160]", "R2 = mov(c[0][R2+0x160]); R3 = mov(c[0][R2+0x164])"},
		{70, "IMAD.HI.U32 R2, R4, R5, RZ", "R2 = mulhi(R4, R5)"},
		{70, "IMAD.HI.U32 R2, R4, R5, R6", ""},
		{75, "R2UR UR4, R8", "UR4 = mov(R8)"},
		{80, "HFMA2.MMA R7, -RZ, RZ, 1.875, -0.0 ", "R7 = mov(0x3f808000)"},
		{80, "HFMA2.MMA R7, -RZ, RZ, INF , 65504", "R7 = mov(0x7c007bff)"},
		{80, "HFMA2.MMA R7, -RZ, R2, 0, 1", ""},
		{80, "UMOV UR4, 32@lo(gx)", "UR4 = mov(lo(gx))"},
		{80, "PRMT R2, R3, 0x7710, RZ", "R2 = lop3.c0(R3, 0xffff, 0x0)"},
		{90, "VIADD R1, R1, 0xffffffc0", "R1 = add(R1, 0xffffffc0)"},
		{120, "IADD.64 R4, R4, UR6", "R4 = add(R4, UR6); R5 = addwide(R4, R5, UR6, UR7)"},
		{120, "MOV.64 R2, UR4", "R2 = mov(UR4); R3 = mov(UR5)"},
	} {
		var got []string
		for _, m := range one(t, c.sm, c.text).Micro {
			got = append(got, m.String())
		}
		assert.Equal(t, c.want, strings.Join(got, "; "), c.text)
	}
}

// TestEveryOpcode: no opcode of the tables trips over missing or odd operands.
func TestEveryOpcode(t *testing.T) {
	var b strings.Builder
	for _, sm := range []int{20, 35, 52, 75, 90, 120} {
		fmt.Fprintf(&b, "code for sm_%d\nFunction : f\n", sm)
		addr := 0
		for op := range opTable {
			for _, args := range []string{"", " R0", " P0, R254", " UR4, `(x), {1,2}", " [R2.64], RZ, PT, c[0x0][0x4], 0x1", ".64.X.WIDE.HI.U64" +
				" R2, P0, P1, R4, R6, R8, P0, P1"} {
				addr += 16
				fmt.Fprintf(&b, "/*%06x*/ %s%s;\n", addr, op, args)
			}
		}
		fmt.Fprintf(&b, "/*%06x*/ EXIT;\n......\n", addr+16)
	}
	p, err := Parse("ops", []byte(b.String()))
	require.NoError(t, err)
	require.Len(t, p.Funcs, 6)
}
