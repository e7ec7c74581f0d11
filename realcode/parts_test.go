package realcode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
	"optcheck/sass"
)

// machineCode reads one instruction of machine code.
func machineCode(t *testing.T, sm int, text string) *isa.Inst {
	t.Helper()
	p, err := sass.Parse("k.sass", fmt.Appendf(nil,
		"\tcode for sm_%d\n\t\tFunction : k\n        /*0000*/                   %s ;\n        /*0010*/                   EXIT ;\n\t\t..........\n",
		sm, text))
	require.NoError(t, err)
	return &p.Funcs[0].Insts[0]
}

// TestPartOf: which instructions on the line of an operation are itself (m), its invalidation (i), or its fence (f).
func TestPartOf(t *testing.T) {
	for _, x := range []struct{ op, m, i, f, no string }{
		{"ld.acquire.gpu.global.u32 r1, [d1];", "LDG.E.STRONG.GPU R0, [R2.64]|LD.E R0, [R2.64]", "CCTL.IVALL", "MEMBAR.SC.GPU|MEMBAR.SYS.IVALLD",
			"LDS R0, [R2]|STG.E [R2.64], R0|ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4|@!PT LDG.E R0, [R2.64]|MOV R0, R1|QSPC.E.S P0, RZ, [R2]|FENCE.VIEW.ASYNC.S"},
		{"ld.shared.u32 r1, [s];", "LDS R0, [R2]|LD.E R0, [R2.64]", "", "", "LDG.E R0, [R2.64]|STS [R2], R0"},
		{"ld.u32 r1, [d1];", "LDG.E R0, [R2.64]|LD.E R0, [R2.64]|LDS R0, [R2]", "", "", "LDL R0, [R2]|LDC R0, c[0x0][0x160]"},
		{"st.release.gpu.global.u32 [d1], 1;", "STG.E.STRONG.GPU [R2.64], R0|ST.E [R2.64], R0", "CCTL.IVALL", "MEMBAR.SC.GPU",
			"STS [R2], R0|LDG.E R0, [R2.64]|RED.E.ADD.STRONG.GPU [R2.64], R0"},
		{"atom.global.add.u32 r1, [d1], 1;", "ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4|RED.E.ADD.STRONG.GPU [R2.64], R0", "", "",
			"ATOMS.ADD R0, [R2], R4|LDG.E R0, [R2.64]"},
		{"red.shared.add.u32 [s], 1;", "ATOMS.ADD R0, [R2], R4", "", "", "ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4|STS [R2], R0"},
		{"fence.sc.gpu;", "MEMBAR.SC.GPU", "CCTL.IVALL", "", "FENCE.VIEW.ASYNC.S|BAR.SYNC 0x0|ERRBAR"},
		{"fence.proxy.async;", "FENCE.VIEW.ASYNC.S", "", "", "MEMBAR.SC.GPU|CCTL.IVALL"},
		{"fence.proxy.alias;", "MEMBAR.SC.SYS", "", "", "FENCE.VIEW.ASYNC.S|MEMBAR.ALL.GPU|CCTL.IVALL"},
		{"bar.sync 0;", "BAR.SYNC 0x0|BAR.RED.POPC 0x0, PT", "", "MEMBAR.SC.GPU", "WARPSYNC 0xffffffff|BSYNC B0"},
		{"bar.arrive 0, 64;", "BAR.ARV 0x0, 0x40", "", "", "WARPSYNC 0xffffffff"},
		{"barrier.cluster.arrive;", "UCGABAR_ARV", "", "", "UCGABAR_WAIT|WARPSYNC 0xffffffff"},
		{"barrier.cluster.wait;", "UCGABAR_WAIT", "", "", "UCGABAR_ARV|BAR.SYNC 0x0"},
		{"bar.warp.sync -1;", "WARPSYNC 0xffffffff|BRA.CONV ~URZ, 0x10", "", "", "BRA 0x0|BAR.SYNC 0x0|CONV R0"},
		{"vote.sync.ballot.b32 r1, c, -1;", "VOTE.ANY R0, PT, P0|VOTEU.ANY UR4, UPT, UP0", "", "",
			"SHFL.IDX PT, R0, R1, R2, R3|MATCH.ANY R0, R1"},
		{"mbarrier.arrive.shared.b64 d3, [s];",
			"ATOMS.ARRIVE.64 R2, [R4]|SYNCS.ARRIVE.TRANS64 RZ, [UR8], R0|LDS R0, [R2]|ARRIVES.LDGSTSBAR.64 [R4]", "", "MEMBAR.SC.GPU",
			"STG.E [R2.64], R0|QSPC.E.S P0, RZ, [R2]|BAR.SYNC 0x0"},
		{"mbarrier.inval.shared.b64 [s];", "SYNCS.CCTL.IV [UR4]", "", "", "STS [R2], R0|SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ"},
		{"cp.async.ca.shared.global [s], [d1], 4;", "LDGSTS.E [R0], [R2.64]", "", "", "LDG.E R0, [R2.64]|STS [R2], R0|ARRIVES.LDGSTSBAR.64 [R4]"},
		{"cp.async.mbarrier.arrive.shared.b64 [s];", "ARRIVES.LDGSTSBAR.64 [R4]", "", "", "LDGSTS.E [R0], [R2.64]|ATOMS.ARRIVE.64 R2, [R4]"},
		{"cp.async.commit_group;", "LDGDEPBAR", "", "", "DEPBAR.LE SB0, 0x0|UTMACMDFLUSH"},
		{"cp.async.wait_group 0;", "DEPBAR.LE SB0, 0x0", "", "", "LDGDEPBAR|BAR.SYNC 0x0"},
		{"cp.async.bulk.commit_group;", "UTMACMDFLUSH", "", "", "LDGDEPBAR|DEPBAR.LE SB0, 0x0"},
		{"griddepcontrol.wait;", "ACQBULK", "", "", "PREEXIT|DEPBAR.LE SB0, 0x0"},
		{"griddepcontrol.launch_dependents;", "PREEXIT", "", "", "ACQBULK|EXIT"},
		{"wgmma.wait_group.sync.aligned 0;", "WARPGROUP.DEPBAR.LE gsb0, 0x0", "", "",
			"WARPGROUP.ARRIVE|DEPBAR.LE SB0, 0x0|@!PT WARPGROUP.DEPBAR.LE gsb0, 0x0"},
	} {
		c := checkerOf(t, "", x.op)
		for want, list := range map[part]string{mainPart: x.m, invalPart: x.i, flushPart: x.f, notPart: x.no} {
			for text := range strings.SplitSeq(list, "|") {
				if text != "" {
					in := machineCode(t, 90, text)
					require.Equal(t, want, partOf(c.src.ops[0], in), "%s: %s, role %v", x.op, text, in.Role)
				}
			}
		}
	}
}

// TestMoreWeaker: parts that an image may lack, and no other test has.
func TestMoreWeaker(t *testing.T) {
	strong := "STRONG.GPU"
	for _, x := range []struct{ op, in, want string }{
		{"atom.global.add.u32 r1, [d1], 1;", "ATOMG.E.POPC.INC.32." + strong + " PT, R0, [R2.64]", ""},
		{"atom.global.add.u32 r1, [d1], 1;", "ATOMG.E.INC." + strong + " PT, R0, [R2.64], R4", ""},
		{"atom.global.add.u32 r1, [d1], 1;", "ATOMG.E.SAFEADD." + strong + " PT, R0, [R2.64], R4", ""},
		{"atom.global.inc.u32 r1, [d1], 7;", "ATOMG.E.SAFEADD." + strong + " PT, R0, [R2.64], R4", "it is .inc, the machine instruction SAFEADD"},
		{"atom.global.add.u32 r1, [d1], 1;", "MEMBAR.SC.GPU", "it needs a strong access"},
		{"atom.global.min.u32 r1, [d1], 1;", "ATOMG.E.MIN." + strong + " PT, R0, [R2.64], R4", ""},
		{"atom.global.min.u32 r1, [d1], 1;", "ATOMG.E.MIN.S32." + strong + " PT, R0, [R2.64], R4", "it is of type u32"},
		{"atom.global.min.s32 r1, [d1], 1;", "ATOMG.E.MIN." + strong + " PT, R0, [R2.64], R4", "it is of type s32"},
		{"atom.global.max.s32 r1, [d1], 1;", "ATOMG.E.MIN.S32." + strong + " PT, R0, [R2.64], R4", "it is .max, the machine instruction MIN"},
		{"bar.sync 1;", "BAR.SYNC 0x1", ""}, {"bar.sync 1;", "BAR.SYNC 0x2", "its number is 1, that of the machine instruction 2"},
		{"bar.sync 1, 64;", "BAR.SYNC 0x1, 0x40", ""}, {"bar.sync 1, 64;", "BAR.SYNC 0x1, 0x20", "its number of threads is 64"},
		{"bar.sync 1;", "BAR.SYNC 0x1, 0x20", "it waits for all threads"}, {"bar.sync 1, 64;", "BAR.SYNC 0x1", ""},
		{"bar.sync r1;", "BAR.SYNC 0x2", ""},
		{"bar.sync r1, 64;", "BAR.SYNC R1, R2", ""}, {"bar.sync 1;", "WARPSYNC 0x2", ""}, {"barrier.cluster.arrive;", "BAR.ARV 0x3, 0x20", ""},
		{"bar.red.popc.u32 r1, 1, c;", "BAR.RED.POPC 0x1, PT", ""}, {"bar.red.popc.u32 r1, 1, c;", "BAR.RED.AND 0x1, PT", "it is .popc"},
		{"bar.red.popc.u32 r1, 1, c;", "BAR.RED.POPC 0x2, PT", "its number is 1"}, {"bar.red.and.pred c, 1, c;", "BAR.RED.AND 0x1, PT", ""},
		{"bar.red.or.pred c, 1, c;", "BAR.RED.AND 0x1, PT", "it is .or"}, {"bar.red.popc.u32 r1, 1, 64, c;", "BAR.RED.POPC 0x1, 0x40, PT", ""},
		{"bar.red.popc.u32 r1, 1, 64, c;", "BAR.RED.POPC 0x1, 0x20, PT", "its number of threads is 64"},
		{"cp.async.wait_group 1;", "DEPBAR.LE SB0, 0x1", ""}, {"cp.async.wait_group 1;", "DEPBAR.LE SB0, 0x2",
			"it leaves at most 1 groups, the machine instruction 2"},
		{"cp.async.wait_group 1;", "DEPBAR.LE SB0, 0x0", ""}, {"cp.async.wait_all;", "DEPBAR.LE SB0, 0x1", "it leaves at most 0 groups"},
	} {
		c := checkerOf(t, "", x.op)
		got := weaker(c.src.ops[0], machineCode(t, 90, x.in), 90)
		if x.want == "" {
			require.Empty(t, got, "%s: %s", x.op, x.in)
		} else {
			require.Contains(t, got, x.want, "%s: %s", x.op, x.in)
		}
	}
	bar := checkerOf(t, "", "bar.sync 1;")
	require.Empty(t, weaker(bar.src.ops[0], &isa.Inst{Op: "BAR", Role: isa.RoleBarrier}, 90), "it says no number")
	untyped := &Op{Inst: &ptx.Inst{}, Effect: ptx.Effect{Kind: ptx.Atomic, Sem: "relaxed", Scope: "gpu", Space: "global", Width: 4,
		Atom: "min"}}
	require.Empty(t, weaker(untyped, machineCode(t, 90, "ATOMG.E.MIN.S32."+strong+" PT, R0, [R2.64], R4"), 90), "it says no type")
	require.Equal(t, isa.Operand{}, place(&isa.Inst{Args: []isa.Operand{regOpd(1)}}))
	for _, x := range []struct{ op, in, sem, scope string }{
		{"ld.acquire.gpu.global.u32 r1, [d1];", "LDG.E R0, [R2.64]", "weak", ""},
		{"ld.acquire.gpu.global.u32 r1, [d1];", "LDG.E.STRONG.SYS R0, [R2.64]", "acquire", "gpu"},
		{"ld.acquire.gpu.global.u32 r1, [d1];", "LDG.E.STRONG.SM R0, [R2.64]", "acquire", "cta"},
		{"ld.mmio.relaxed.sys.global.u32 r1, [d1];", "LDG.E.MMIO.SYS R0, [R2.64]", "mmio", "sys"},
		{"fence.sc.sys;", "MEMBAR.ALL.GPU", "acq_rel", "gpu"}, {"fence.sc.gpu;", "MEMBAR.SC.SYS", "sc", "gpu"},
		{"fence.acq_rel.gpu;", "MEMBAR.ALL.GPU", "acq_rel", "gpu"},
	} {
		c := checkerOf(t, "", x.op)
		e := c.src.ops[0].as(machineCode(t, 90, x.in)).Effect
		require.Equal(t, []string{x.sem, x.scope}, []string{e.Sem, e.Scope}, "%s: %s", x.op, x.in)
	}
	for op, want := range map[string]bool{"fence.sc.gpu;": true, "fence.proxy.async;": true, "ld.acquire.gpu.global.u32 r1, [d1];": false,
		"bar.sync 0;": false} {
		c := checkerOf(t, "", op)
		require.Equal(t, want, c.src.ops[0].fence(&Op{}) != nil, op)
	}
}

// TestWarpOperations: which operations lanes perform together, and which votes ask for nothing.
func TestWarpOperations(t *testing.T) {
	for op, want := range map[string]bool{
		"vote.sync.ballot.b32 r1, c, -1;": true, "vote.ballot.b32 r1, c;": false, "shfl.idx.b32 r1, r2, 0, 31;": false,
		"shfl.sync.idx.b32 r1, r2, 0, 31, -1;": true, "add.u32 r1, r2, 1;": false,
		"redux.sync.add.u32 r1, r2, -1;": true, "elect.sync r1|c, -1;": true, "match.any.sync.b32 r1, r2, -1;": true, "bar.warp.sync -1;": false,
	} {
		m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .pred c; .reg .b32 r<9>;\n"+op+"\n}\n"))
		require.NoError(t, err)
		require.Equal(t, want, warpWide(m.Func("k").Body[0].Inst), op)
	}
	yes, register := isa.Operand{Kind: isa.OpdPred, Zero: true}, isa.Operand{Kind: isa.OpdReg, Zero: true}
	lanes, asks := isa.Inst{Op: "VOTE", Args: []isa.Operand{regOpd(1), yes}}, isa.Inst{Op: "VOTE", Args: []isa.Operand{regOpd(1), pOpd(1)}}
	for name, x := range map[string]struct {
		insts []isa.Inst
		want  []int32
	}{
		"who is there, and a vote": {[]isa.Inst{lanes, asks}, []int32{1}}, "who is there, alone": {[]isa.Inst{lanes, lanes}, []int32{0, 1}},
		"two votes":               {[]isa.Inst{asks, asks}, []int32{0, 1}},
		"of uniform registers":    {[]isa.Inst{{Op: "VOTEU", Args: lanes.Args}, asks}, []int32{1}},
		"a vote without operands": {[]isa.Inst{{Op: "VOTE"}, asks}, []int32{0, 1}},
		"a vote of a register":    {[]isa.Inst{{Op: "VOTE", Args: []isa.Operand{register}}, asks}, []int32{0, 1}},
		"no vote":                 {[]isa.Inst{{Op: "SHFL", Args: lanes.Args}, asks}, []int32{0, 1}},
	} {
		m := lineOf(x.insts...)
		g := &images{main: []int32{0, 1}}
		m.unasked(g)
		require.Equal(t, x.want, g.main, name)
	}
	require.True(t, performs("shfl", &isa.Inst{Flow: isa.FlowCall, Text: "CALL.REL.NOINC `($__cuda_sm70_shflsync)", Args: []isa.Operand{{Kind: isa.OpdSym, Sym: "$__cuda_sm70_shflsync"}}}))
	require.False(t, performs("shfl", &isa.Inst{Flow: isa.FlowCall, Text: "CALL.REL.NOINC `($__cuda_sm70_votesync)", Args: []isa.Operand{{Kind: isa.OpdSym, Sym: "$__cuda_sm70_votesync"}}}))
	require.False(t, performs("shfl", &isa.Inst{Flow: isa.FlowCall, Text: "CALL.REL.NOINC `(shflsync)", Args: []isa.Operand{{Kind: isa.OpdSym, Sym: "shflsync"}}}))
}

// TestAdjoined: the fence next to a release is its own, and what else stands there is not.
func TestAdjoined(t *testing.T) {
	const nobody, own, other, fenced = -1, 1, 2, 3
	for _, x := range []struct {
		name  string
		code  []string // the last is the store of the release
		owner int32    // of the first
		want  []int32
	}{
		{"a fence", []string{"MEMBAR.SC.GPU", "MOV R1, R2", "STG.E [R2.64], R0"}, nobody, []int32{0}},
		{"a fence of the CTA, too", []string{"MEMBAR.SC.GPU", "MEMBAR.ALL.CTA", "STG.E [R2.64], R0"}, nobody, nil},
		{"a view", []string{"FENCE.VIEW.ASYNC.S", "MOV R1, R2", "STG.E [R2.64], R0"}, nobody, nil},
		{"a jump between", []string{"MEMBAR.SC.GPU", "BRA 0x10", "STG.E [R2.64], R0"}, nobody, nil},
		{"a barrier between", []string{"MEMBAR.SC.GPU", "BAR.SYNC 0x0", "STG.E [R2.64], R0"}, nobody, nil},
		{"a fence of the PTX", []string{"MEMBAR.SC.GPU", "MOV R1, R2", "STG.E [R2.64], R0"}, fenced, nil},
		{"a meeting between", []string{"MEMBAR.SC.GPU", "MOV R1, R2", "STG.E [R2.64], R0"}, nobody, nil},
		{"never performed", []string{"@!PT MEMBAR.SC.GPU", "MOV R1, R2", "STG.E [R2.64], R0"}, nobody, nil},
		{"no fence", []string{"MOV R1, R2", "MOV R1, R2", "STG.E [R2.64], R0"}, nobody, nil},
	} {
		c := checkerOf(t, "", "st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;\nst.release.gpu.global.u32 [d1+8], 1;\nfence.sc.gpu;")
		var insts []isa.Inst
		for _, text := range x.code {
			insts = append(insts, *machineCode(t, 90, text))
		}
		if x.name == "a meeting between" {
			insts[1].Flow = isa.FlowPop
		}
		line := lineOf(insts...)
		c.mach, c.owner = line.mach, line.owner
		for k := range c.img {
			c.img[k].main = nil
		}
		c.img[own].main, c.owner[2], c.owner[0] = []int32{2}, own, x.owner
		c.parts()
		if x.name == "a fence of the CTA, too" {
			require.Equal(t, []int32{1}, c.img[own].flush, x.name)
			continue
		}
		require.Equal(t, x.want, c.img[own].flush, x.name)
		c.img[other].flush, c.img[own].flush = []int32{0}, nil
		c.parts()
		require.Equal(t, x.want, c.img[own].flush, "%s, that another has", x.name)
		require.Equal(t, x.want == nil, len(c.img[other].flush) == 1, x.name)
		c.mach.reach[1] = false
		c.img[own].flush = nil
		c.parts()
		require.Empty(t, c.img[own].flush, "%s, past what nothing comes to", x.name)
	}
}

// TestAdjoinedAtEnd: where code ends, nothing stands next to its last instruction.
func TestAdjoinedAtEnd(t *testing.T) {
	c := checkerOf(t, "", "ld.acquire.gpu.global.u32 r1, [d1];")
	for _, code := range [][]string{{"LDG.E.STRONG.GPU R0, [R2.64]"}, {"LDG.E.STRONG.GPU R0, [R2.64]", "CCTL.IVALL"}, {"LDG.E.STRONG.GPU R0, [R2.64]", "CCTL.PF1 [R2]"}} {
		var insts []isa.Inst
		for _, text := range code {
			insts = append(insts, *machineCode(t, 90, text))
		}
		line := lineOf(insts...)
		c.mach, c.owner = line.mach, line.owner
		c.img[0], c.owner[0] = images{main: []int32{0}}, 0
		c.parts()
		require.Equal(t, code[len(code)-1] == "CCTL.IVALL", slices.Equal(c.img[0].inval, []int32{1}), code)
	}
}

// TestSameAccess: two instructions access one place in one way if all that says so is the same.
func TestSameAccess(t *testing.T) {
	of := func() isa.Inst {
		return isa.Inst{Op: "LDG", Mods: []string{"E"}, Args: []isa.Operand{{Kind: isa.OpdMem, Off: 4}}, Uses: []isa.Reg{gprOf(1)}, Data: []isa.Reg{gprOf(2)}, Addrs: []isa.Reg{gprOf(3)}}
	}
	a := of()
	for name, change := range map[string]func(*isa.Inst){
		"": func(*isa.Inst) {}, "operation": func(in *isa.Inst) { in.Op = "LD" }, "condition": func(in *isa.Inst) { in.Guard.Neg = true }, "place": func(in *isa.Inst) { in.Args[0].Off = 8 },
		"modifiers": func(in *isa.Inst) { in.Mods = nil }, "uses": func(in *isa.Inst) { in.Uses = nil }, "data": func(in *isa.Inst) { in.Data[0] = gprOf(4) }, "address": func(in *isa.Inst) { in.Addrs[0] = gprOf(4) },
	} {
		b := of()
		change(&b)
		require.Equal(t, name == "", sameAccess(&a, &b), name)
	}
}

// TestCompanionsSince: an acquire needs its invalidation, and a release its fence, since sm_70.
func TestCompanionsSince(t *testing.T) {
	for sm, want := range map[int]int{60: 0, 69: 0, 70: 1, 90: 1} {
		for _, x := range []struct {
			body string
			code [2]isa.Inst
		}{
			{"ld.acquire.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d2];", [2]isa.Inst{{Role: isa.RoleLoad, Mem: isa.Mem{Strength: isa.Strong, Scope: isa.ScopeGPU}}, {Role: isa.RoleLoad, Mem: isa.Mem{Strength: isa.Weak}}}},
			{"st.global.u32 [d2], 1;\nst.release.gpu.global.u32 [d1], 1;", [2]isa.Inst{{Role: isa.RoleStore, Mem: isa.Mem{Strength: isa.Weak}}, {Role: isa.RoleStore, Mem: isa.Mem{Strength: isa.Strong, Scope: isa.ScopeGPU}}}},
		} {
			c := checkerOf(t, "", x.body)
			line := lineOf(x.code[:]...)
			c.mach, c.owner, c.sm = line.mach, []int32{0, 1}, sm
			for k, op := range c.src.ops {
				if op.strong() {
					c.companions(k, op, &c.img[k])
				}
			}
			require.Len(t, c.res.Findings, want, "sm_%d: %s", sm, x.body)
		}
	}
}

// TestShown: what of the machine code is shown beside the operations.
func TestShown(t *testing.T) {
	c := checkerOf(t, "", "st.global.u32 [d1], 1;")
	of := func(role isa.Role, space isa.Space, text string) isa.Inst {
		return isa.Inst{Role: role, Mem: isa.Mem{Space: space}, Text: text}
	}
	line := lineOf(of(isa.RoleStore, isa.SpaceGlobal, "its own"), of(isa.RoleFence, 0, "its fence"), of(isa.RoleLoad, isa.SpaceGlobal, "nobody's"), of(isa.RoleLoad, isa.SpaceLocal, "local"),
		of(isa.RoleLoad, isa.SpaceConst, "constant"), of(isa.RoleFence, 0, "fence"), of(isa.RoleBarrier, 0, "barrier"), of(isa.RoleCache, 0, "cache"), of(isa.RoleALU, 0, "sum"), of(isa.RoleBarrier, 0, "unreached"))
	c.mach, c.owner = line.mach, line.owner
	c.owner[0], c.img[0].main, c.img[0].flush, c.mach.reach[9] = 0, []int32{0}, []int32{1}, false
	k := &Kernel{}
	c.show(k)
	var got []string
	for _, x := range k.Machine {
		got = append(got, fmt.Sprint(x.Op, x.Part, " ", x.Text))
	}
	require.Equal(t, []string{"0 false its own", "0 true its fence", "-1 true nobody's", "-1 true fence", "-1 true barrier", "-1 true cache"}, got)
	was := k.Hash
	c.mach.insts[9].Text = "other"
	c.show(k)
	require.NotEqual(t, was, k.Hash)
}

// TestProductsByConditions: which products are made where conditions tell, in the whole graph or in that of the question.
func TestProductsByConditions(t *testing.T) {
	const a, b = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {r1, r2, r3, r4}, d1, d2, 1, 1, 1, 0, 0;\n", "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {r1, r2, r3, r4, r5, r6, r7, r8}, d1, d2, 1, 1, 1, 0, 0;\n"
	for _, x := range []struct {
		name    string
		same    bool // both under the condition
		large   bool // the whole graph
		larger  bool // that of the question, too
		matches bool
	}{{"one of two", false, false, false, true}, {"both", true, false, false, false}, {"one of two, of a question", false, true, false, true}, {"both, of a question", true, true, false, false}, {"too large", false, true, true, false}} {
		c := checkerOf(t, "", "@c bra N;\n"+a+"bra E;\nN:\n"+b+"E:\n")
		line := lineOf(isa.Inst{Op: "HGMMA", Mods: []string{"64x8x16", "F32"}}, isa.Inst{Op: "HGMMA", Mods: []string{"64x16x16", "F32"}})
		c.mach, c.owner, c.opAt = line.mach, []int32{0, 1}, map[int]int{}
		for i := range c.mach.steps {
			c.mach.steps[i].letter, c.mach.steps[i].guard, c.mach.steps[i].guardNeg = int32(i), 0, i == 0 && !x.same
			c.mach.steps[i].uses = []int32{0}
		}
		c.mach.conds.id("p")
		var err error
		c.loose, err = unroll(c.mach.steps, 0, 0, nil, maxNodes())
		require.NoError(t, err)
		c.inLoose = nodesOf(c.loose, len(c.mach.steps), func(n int) int32 { return c.loose.letter[n] })
		c.marks = [4][]int32{make([]int32, len(c.pg.next)), make([]int32, len(c.loose.next))}
		if x.large {
			c.exactErr = errors.New("too large")
		}
		if x.larger {
			c.narrowed = maxNarrowAll
		}
		c.products()
		require.Equal(t, x.matches, len(c.res.Findings) == 0, "%s: %+v", x.name, c.res.Findings)
	}
	c := checkerOf(t, "", "bar.sync 0;")
	line := lineOf(isa.Inst{Op: "HGMMA", Mods: []string{"64x8x16", "F32"}})
	c.mach = line.mach
	c.products()
	require.Empty(t, c.res.Findings, "the PTX has none")
}

// TestDemandsOfPlaces: which accesses go to which buffers, and which make pairs.
// TestDemandsOnce: of the patterns that a pair's partners make, the one is kept that most programs rely on, and each test is judged once.
// TestContracts: of which kernels ptxas may make one operation of a product and a sum.
// TestPerformedHazards: what executing a use of a register in flight has shown.
// TestConfirmed: findings about the operation of another one are shown by runs.
// TestNotExecuted: a kernel that cannot be executed, or only with what ptxas may contract, is unknown.
