package sass

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// wild parses a file of testdata/wild that must be understood completely.
func wild(t *testing.T, name string) *isa.Program {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "wild", name))
	require.NoError(t, err)
	p, err := Parse(name, b)
	require.NoError(t, err)
	require.Empty(t, p.Problems)
	require.Empty(t, coverage(p).Unknown)
	return p
}

// inst finds the instruction at an address.
func inst(t *testing.T, f *isa.Func, addr uint64) *isa.Inst {
	t.Helper()
	for i := range f.Insts {
		if f.Insts[i].Addr == addr {
			return &f.Insts[i]
		}
	}
	t.Fatalf("no instruction at %#x", addr)
	return nil
}

func regs(l []isa.Reg) string {
	var s []string
	for _, r := range l {
		s = append(s, r.String())
	}
	return strings.Join(s, " ")
}

func TestWildCuda4(t *testing.T) {
	p := wild(t, "cuda4_sm20.sass")
	require.Equal(t, DialectCuobjdump, p.Dialect)
	require.Len(t, p.Funcs, 1)
	f := p.Funcs[0]
	assert.Equal(t, "BuildTree4", f.Name)
	assert.Equal(t, "sm_20", f.Arch)
	require.Len(t, f.Insts, 11)
	assert.Equal(t, []uint64{0x2800440400005de4}, f.Insts[0].Code, "the low word is printed first")
	assert.Equal(t, isa.OpdConst, f.Insts[0].Args[1].Kind)
	assert.Equal(t, int64(0x100), f.Insts[0].Args[1].Off)
	assert.Equal(t, 1, f.Insts[0].Args[1].Bank)
	setp := inst(t, f, 0x20)
	assert.Equal(t, "P0", regs(setp.Defs))
	assert.Equal(t, "R2", regs(setp.Uses))
	ld := inst(t, f, 0x38)
	assert.Equal(t, "R2", regs(ld.Addrs), "32-bit addresses without .E")
	st := inst(t, f, 0x48)
	assert.Equal(t, "CG", st.Mem.Cache)
	assert.Equal(t, "R3", regs(st.Data))
	assert.Equal(t, isa.ScopeGPU, inst(t, f, 0x40).Mem.Scope)
}

func TestWildWithoutHex(t *testing.T) {
	f := wild(t, "cuda40_nohex.sass").Funcs[0]
	require.Len(t, f.Insts, 5)
	assert.Equal(t, 4, f.Insts[2].Target)
	assert.Empty(t, f.Insts[2].Code)

	f = wild(t, "sm30_stripped.sass").Funcs[0]
	require.Len(t, f.Insts, 14)
	assert.Equal(t, 3, inst(t, f, 0x38).Target)
	assert.Equal(t, "CG", inst(t, f, 0x28).Mem.Cache)
	assert.Equal(t, isa.FlowPop, inst(t, f, 0x48).Flow)
	// NOP.S continues at the target of SSY.
	assert.Equal(t, isa.RoleFence, inst(t, f, 0x50).Role)
}

func TestWildDualIssue(t *testing.T) {
	f := wild(t, "dual_issue_sm50.sass").Funcs[0]
	require.Len(t, f.Insts, 12)
	ld := inst(t, f, 0x30)
	assert.Equal(t, "LDG", ld.Op)
	assert.Equal(t, "CV", ld.Mem.Cache)
	assert.Equal(t, []uint64{0xeed4e00000070208}, ld.Code)
	bar := inst(t, f, 0x48)
	assert.Equal(t, isa.RoleFence, bar.Role)
	assert.Equal(t, []uint64{0xef98000000070000}, bar.Code)
	assert.Equal(t, []uint64{0x4c98078005370005}, inst(t, f, 0x38).Code)
	// The branch at the end names a control word.
	assert.Equal(t, uint64(0x68), f.Insts[inst(t, f, 0x68).Target].Addr)
}

func TestWildAnnotations(t *testing.T) {
	f := wild(t, "sm120_annotated.sass").Funcs[0]
	assert.Equal(t, "sm_120", f.Arch)
	require.Len(t, f.Insts, 9)
	for i := range f.Insts {
		assert.NotContains(t, f.Insts[i].Text, "&")
		assert.NotContains(t, f.Insts[i].Text, "?")
	}
	add := inst(t, f, 0x40)
	assert.Equal(t, "R2 R3", regs(add.Defs))
	assert.Equal(t, "R2 R3 UR4 UR5", regs(add.Uses))
	require.Len(t, add.Micro, 2)
	st := inst(t, f, 0x60)
	assert.Equal(t, isa.Strong, st.Mem.Strength)
	assert.Equal(t, isa.ScopeGPU, st.Mem.Scope)
	assert.Equal(t, "R2 R3", regs(st.Addrs))
	assert.Equal(t, "R4", regs(st.Data))
	assert.Contains(t, regs(st.Uses), "UR4 UR5", "the descriptor is read")
	assert.Len(t, st.Code, 2)
}

func TestWildFatbin(t *testing.T) {
	p := wild(t, "fatbin.sass")
	require.Len(t, p.Funcs, 2)
	assert.Equal(t, "saxpy(float, const float *, std::pair<int, int>)", p.Funcs[0].Name)
	assert.Equal(t, "sm_86", p.Funcs[0].Arch)
	c := inst(t, p.Funcs[0], 0x10)
	require.Len(t, c.Micro, 1)
	assert.Equal(t, "R15 = mov(0x1)", c.Micro[0].String())
	assert.True(t, inst(t, p.Funcs[1], 0).Mem.Invalidate)
}

func TestWildCuAssembler(t *testing.T) {
	f := wild(t, "cuasm.sass").Funcs[0]
	assert.Equal(t, "vadd", f.Name)
	require.Len(t, f.Insts, 6)
	ld := inst(t, f, 0x20)
	assert.Equal(t, "R2 UR4 UR5", regs(ld.Addrs))
	assert.Equal(t, "UR4 UR5", regs(inst(t, f, 0x30).Addrs))
}

func TestNvdisasmSections(t *testing.T) {
	f := wild(t, "nvdisasm_data.sass").Funcs[0]
	require.Len(t, f.Insts, 11)
	assert.Equal(t, isa.SrcLine{File: "a.cu", Line: 3}, f.Insts[0].Src, "the innermost position")
	assert.Equal(t, isa.SrcLine{File: "b.cuh", Line: 5}, f.Insts[3].Src)
	assert.Equal(t, isa.OpdSym, f.Insts[1].Args[1].Kind)
	assert.Equal(t, "hi", f.Insts[1].Args[1].Part)
	assert.Equal(t, "gx", f.Insts[1].Args[1].Sym)
	atom := inst(t, f, 0x50)
	assert.Equal(t, "P1 R5", regs(atom.Defs))
	assert.Equal(t, "R2 R3", regs(atom.Addrs))
	assert.Equal(t, "R4", regs(atom.Data))
	sync := inst(t, f, 0x60)
	b := blockAt(f, sync)
	require.Len(t, f.Blocks[b].Succs, 1)
	assert.Equal(t, uint64(0x70), f.Insts[f.Blocks[f.Blocks[b].Succs[0]].First].Addr)
	assert.Equal(t, []int{6, 7}, inst(t, f, 0x80).Targets)
	assert.Equal(t, 10, inst(t, f, 0x70).Target)
}

func blockAt(f *isa.Func, in *isa.Inst) int {
	for n, b := range f.Blocks {
		for i := b.First; i < b.End; i++ {
			if &f.Insts[i] == in {
				return n
			}
		}
	}
	return -1
}

// TestBareWords: control words on lines of their own, without address and comment signs, are
// what they are with them; as is one of whatever instruction came before.
func TestBareWords(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "wild", "dual_issue_sm50.sass"))
	require.NoError(t, err)
	bare := regexp.MustCompile(`(?m)^\s*/\* (0x[0-9a-f]{16}) \*/`).ReplaceAllString(string(text), "\t$1")
	require.NotEqual(t, string(text), bare)
	want, err := Parse("a", text)
	require.NoError(t, err)
	got, err := Parse("b", []byte(bare))
	require.NoError(t, err)
	require.Empty(t, got.Problems)
	require.Len(t, got.Funcs, 1)
	for i := range want.Funcs[0].Insts {
		a, b := want.Funcs[0].Insts[i], got.Funcs[0].Insts[i]
		require.Equal(t, a.Code, b.Code, a.Text)
		require.Equal(t, a.Control, b.Control, a.Text)
	}
	short, err := Parse("c", []byte(strings.Replace(bare, "\t0x", "\t0x0", 1)))
	require.NoError(t, err)
	require.NotEmpty(t, short.Problems, "a word of another length is none")
}
