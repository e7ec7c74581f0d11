package isa

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample() *Program {
	r := func(n uint16) Reg { return Reg{Class: ClassGPR, Num: n} }
	f := &Func{Name: "k<int>", Arch: "sm_80", Line: 2, Insts: []Inst{
		{Addr: 0, Op: "MOV", Text: "MOV R2, 0x1", Line: 3, Role: RoleALU, Defs: []Reg{r(2)}, Target: -1,
			Micro: []Micro{{Op: MicroMov, Dst: r(2), Src: []Operand{{Kind: OpdImm, Imm: 1}}}}},
		{Addr: 16, Op: "LDG", Mods: []string{"E", "STRONG", "GPU"}, Guard: Guard{Reg: Reg{Class: ClassPred, Num: 1}, Neg: true},
			Text: "@!P1 LDG.E.STRONG.GPU R4, [R2.64]",
			Line: 4, Src: SrcLine{"a.ptx", 7}, Code: []uint64{0x1234, 0xabc}, Role: RoleLoad,
			Mem:  Mem{Space: SpaceGlobal, Width: 4, Strength: Strong, Scope: ScopeGPU, Cache: "EF"},
			Defs: []Reg{r(4)}, Uses: []Reg{r(2), r(3), {ClassPred, 1}}, Addrs: []Reg{r(2), r(3)}, Target: -1},
		{Addr: 32, Op: "MEMBAR", Text: "MEMBAR.SC.SYS", Line: 5, Role: RoleFence, Mem: Mem{Strength: FenceSC, Scope: ScopeSys, Invalidate: true},
			Target: -1},
		{Addr: 48, Op: "EXIT", Text: "EXIT", Line: 6, Role: RoleBranch, Flow: FlowExit, Target: -1},
		{Addr: 64, Op: "BRA", Text: "BRA 0x40", Line: 7, Role: RoleBranch, Flow: FlowJump, Target: 4},
	}}
	f.BuildCFG()
	return &Program{File: "x.sass", Dialect: "nvdisasm", Funcs: []*Func{f}, Problems: []Problem{{9, "???", "not understood"}}}
}

func TestWriteText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, sample()))
	want := `x.sass: nvdisasm, 1 functions

function k<int> sm_80, 5 instructions
block 0
  0000  MOV R2, 0x1                                       alu; def R2
  // a.ptx:7
  0010  @!P1 LDG.E.STRONG.GPU R4, [R2.64]                 load global 4B strong.gpu EF; def R4; use R2 R3 P1; addr R2 R3
  0020  MEMBAR.SC.SYS                                     fence fence.sc.sys invalidate
  0030  EXIT                                              branch
block 1 from 1 to 1 unreachable
  0040  BRA 0x40                                          branch; target 4
x.sass:9: not understood: ???
`
	assert.Equal(t, want, b.String())
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, sample()))
	var v struct {
		Dialect   string
		Functions []struct {
			Name, Arch   string
			Blocks       []struct{ Succs, Preds []int }
			Instructions []struct {
				Text, Role, Guard, Flow string
				Code, Defs, Micro       []string
				Mem                     *struct {
					Space, Strength, Scope, Cache string
					Width                         int
				}
				Src    *struct{ Line int }
				Target *int
			}
		}
		Problems []struct{ Line int }
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &v))
	f := v.Functions[0]
	assert.Equal(t, "k<int>", f.Name)
	assert.Contains(t, b.String(), "k<int>", "no HTML escapes")
	assert.Equal(t, []int{1}, f.Blocks[1].Succs)
	ld := f.Instructions[1]
	assert.Equal(t, "load", ld.Role)
	assert.Equal(t, "@!P1", ld.Guard)
	assert.Equal(t, "global strong gpu EF", strings.Join([]string{ld.Mem.Space, ld.Mem.Strength, ld.Mem.Scope, ld.Mem.Cache}, " "))
	assert.Equal(t, []string{"0000000000001234", "0000000000000abc"}, ld.Code)
	assert.Equal(t, 7, ld.Src.Line)
	assert.Nil(t, ld.Target)
	assert.Equal(t, 4, *f.Instructions[4].Target)
	assert.Equal(t, []string{"R2 = mov(0x1)"}, f.Instructions[0].Micro)
	assert.Equal(t, 9, v.Problems[0].Line)
}

// TestNames: every value of every enumeration has a name of its own.
func TestNames(t *testing.T) {
	assert.Len(t, roleNames, int(RoleCopy)+1)
	assert.Len(t, spaceNames, int(SpaceRegion)+1)
	assert.Len(t, strengthNames, int(FenceSC)+1)
	assert.Len(t, scopeNames, int(ScopeSys)+1)
	assert.Len(t, flowNames, int(FlowTrap)+1)
	assert.Len(t, classNames, int(ClassAcc)+1)
	assert.Len(t, classPrefix, int(ClassAcc)+1)
	assert.Len(t, kindNames, int(OpdSym)+1)
	assert.Len(t, microNames, int(MicroLaneSet)+1)
	assert.Equal(t, "addwide", MicroAddWide.String())
	assert.Equal(t, "selcmp", MicroSelCmp.String())
	assert.Len(t, counterNames, int(CountAck)+1)
	assert.Equal(t, "laneset", MicroLaneSet.String())
	assert.Equal(t, "exec_lo", RegExec.String())
	assert.Equal(t, "ttmp15", Reg{ClassSpecial, SpecTTMP + 15}.String())
	assert.Equal(t, "PS", Reg{ClassSpecial, SpecPS}.String())
	for b := CacheBits(1); b < BitLast; b <<= 1 {
		assert.Equal(t, b, CacheBitByName(b.String()))
	}
	assert.Equal(t, "glc dlc", (BitGLC | BitDLC).String())
	assert.Equal(t, "prmt", MicroPrmt.String())
	assert.Equal(t, "special", MicroSpecial.String())
	assert.Equal(t, "?99", Role(99).String())
	assert.Equal(t, "UR4", Reg{ClassUGPR, 4}.String())
	assert.Equal(t, "CC", Reg{ClassCC, 0}.String())
	assert.Equal(t, "@!PT", Guard{Never: true}.String())
}

// TestAMDEffect: counters, waits and cache bits are printed.
func TestAMDEffect(t *testing.T) {
	in := Inst{Role: RoleLoad, Target: -1, Counts: []Counter{CountVM, CountLGKM},
		Mem: Mem{Space: SpaceGeneric, Width: 4, Bits: BitSC0 | BitSC1}}
	assert.Equal(t, " generic 4B weak [sc0 sc1]; counts vmcnt lgkmcnt", in.effect())
	in = Inst{Role: RoleWait, Target: -1, Waits: []Wait{{CountVM, 0}, {CountLGKM, 3}}}
	assert.Equal(t, "; waits vmcnt(0) lgkmcnt(3)", in.effect())
	in = Inst{Role: RoleCache, Target: -1, Mem: Mem{Scope: ScopeGPU, Bits: BitSC1, WriteBack: true}}
	assert.Equal(t, ".gpu [sc1] writeback", in.effect())
}
