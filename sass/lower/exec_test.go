package lower_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"optcheck/internal/required"
	"optcheck/isa"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/lower"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// releases finds the releases of ptxas that are installed, by their numbers.
func releases(t testing.TB) map[string]*toolchain.Toolchain {
	t.Helper()
	found, _ := tested.CUDA(t.Context(), toolchain.Options{})
	out := map[string]*toolchain.Toolchain{}
	for _, tc := range found {
		out[tc.Release()] = tc
	}
	if len(out) == 0 {
		required.Missing(t, "no CUDA toolkit found")
	}
	return out
}

var header = regexp.MustCompile(`(?m)^\s*\.(version|target|address_size) .*\n`)

// compile compiles a PTX module whose kernels are all in it, and reads its machine code.
func compile(t testing.TB, tc *toolchain.Toolchain, target, level, text string) (*isaProgram, error) {
	t.Helper()
	version := map[string]string{"11.2": "7.2", "11.8": "7.8", "12.4": "8.4"}[tc.Release()]
	head := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", version, target)
	res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: level, Header: head,
		Units: []toolchain.Unit{{Name: "unit", Text: header.ReplaceAllString(text, "")}}})
	if err != nil {
		return nil, err
	}
	for _, err := range res.Failed {
		return nil, err
	}
	data := res.Batches[0].Cubin
	if newer := tc.Newer(); newer != nil { // 11.8 does not print all instructions of sm_90
		tc = newer
	}
	listing, err := tc.Disassemble(t.Context(), data, toolchain.DisasmOptions{})
	require.NoError(t, err)
	p, err := sass.Parse("listing", listing)
	if err != nil {
		return nil, err
	}
	f, err := cubin.Parse(data)
	require.NoError(t, err)
	return &isaProgram{p, f, data, listing}, nil
}

type isaProgram struct {
	prog          *isa.Program
	file          *cubin.File
	data, listing []byte
}

const (
	outAddr = 0x10_0000_0000
	inAddr  = 0x20_0000_0000
	outSize = 1 << 14
)

// execute runs a program on an input and returns what it wrote to the output.
func execute(p *ir.Program, threads int, input []byte, size int, policy emu.Policy) ([]byte, error) {
	out, _, err := covered(p, threads, input, size, policy)
	return out, err
}

// covered is execute; it also tells which instructions were executed.
func covered(p *ir.Program, threads int, input []byte, size int, policy emu.Policy) (out []byte, insts []bool, err error) {
	c, err := emu.Prepare(p)
	if err != nil {
		return nil, nil, err
	}
	params := binary.LittleEndian.AppendUint64(nil, outAddr)
	params = binary.LittleEndian.AppendUint64(params, inAddr)
	params = binary.LittleEndian.AppendUint32(params, 5)
	l := &emu.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Cluster: p.Cluster, Params: params, Vars: map[string]uint64{}}
	m := emu.NewMemory(func(emu.Word, emu.Kind) uint32 { return 0 })
	m.Fill(inAddr, input)
	at := uint64(0x40_0000_0000)
	shared := uint64(p.SharedBase)
	local := uint64(0)
	for _, v := range p.Vars {
		if v.Space == ir.Local {
			l.Vars[v.Name] = local
			local += (uint64(v.Size) + 15) &^ 15
			continue
		}
		if v.Space == ir.Shared {
			l.Vars[v.Name] = shared
			shared += (uint64(v.Size) + 15) &^ 15
			continue
		}
		l.Vars[v.Name] = at
		m.Fill(at, v.Init)
		at += (uint64(v.Size) + 255) &^ 255
	}
	g, err := emu.NewGrid(c, l, m, policy, false)
	if err != nil {
		return nil, nil, err
	}
	g.Final = true
	if err := g.Run(); err != nil {
		return nil, nil, err
	}
	return g.Memory.Bytes(outAddr, size), g.Cover.Insts, nil
}

// both executes PTX and what compilers make of it, and says where they differ. If they do not it returns the forms of instructions that
// the machine code performed.
func both(t *testing.T, tc *toolchain.Toolchain, target, level, text string, threads int, inputs [][]byte) (performed []string) {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(text))
	require.NoError(t, err)
	src, err := ptxlower.Kernel(m, "k")
	require.NoError(t, err)
	for i := range src.Insts {
		require.Empty(t, src.Insts[i].Opaque, src.Insts[i].Text)
	}
	c, err := compile(t, tc, target, level, text)
	require.NoError(t, err)
	dst, err := lower.Kernel(c.prog, c.file, "k")
	require.NoError(t, err)
	dst.Cluster = src.Cluster
	for i, in := range inputs {
		want, err := execute(src, threads, in, outSize, emu.Policy{})
		if err != nil {
			t.Fatalf("PTX: %v%s", err, at(src, err))
		}
		other, err := execute(src, threads, in, outSize, emu.Policy{Fill: 0x5a5a5a5a5a5a5a5a})
		require.NoError(t, err)
		for _, p := range []emu.Policy{{Fill: 0x5a5a5a5a5a5a5a5a}, {Reverse: true}} {
			got, insts, err := covered(dst, threads, in, outSize, p)
			if err != nil {
				t.Errorf("%s %s %s: %v%s", tc.Release(), target, level, err, at(dst, err))
				return nil
			}
			performed = append(performed, formsOf(dst, insts)...)
			for k := range got { // what PTX leaves open
				if want[k] != other[k] {
					got[k] = want[k]
				}
			}
			if !bytes.Equal(want, got) {
				k := 0
				for want[k] == got[k] {
					k++
				}
				k &^= 3
				t.Errorf("%s %s %s input %d: byte %d: PTX %x, machine code %x\n%s", tc.Release(), target, level, i, k,
					want[k:k+4], got[k:k+4], listing(dst))
				return nil
			}
		}
	}
	return performed
}

// formsOf are the forms of some instructions of a program.
func formsOf(p *ir.Program, insts []bool) (forms []string) {
	for i, on := range insts {
		if on {
			forms = append(forms, p.Insts[i].Form)
		}
	}
	return forms
}

// at is the instruction that an error is about.
func at(p *ir.Program, err error) string {
	var e *emu.Cannot
	if errors.As(err, &e) && e.Inst >= 0 {
		return "\n" + p.Insts[e.Inst].Text
	}
	return ""
}

func listing(p *ir.Program) string {
	var b strings.Builder
	for i := range p.Insts {
		fmt.Fprintf(&b, "%04x %s\n", p.Insts[i].Addr, p.Insts[i].Text)
	}
	return b.String()
}

func TestExecute(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".ptx"), func(t *testing.T) { executed(t, f) })
	}
}

// executed executes a program as all compilers make it, and returns the forms of instructions that were performed.
func executed(t *testing.T, file string) (forms []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	tcs, inputs := releases(t), programInputs()
	for _, r := range slices.Sorted(maps.Keys(tcs)) {
		for _, target := range []string{"sm_70", "sm_80", "sm_90"} {
			old, newer := !strings.Contains(string(text), "sm_70"), strings.Contains(string(text), "version 7.8")
			newest := strings.Contains(string(text), "target sm_90")
			if r != "12.4" && strings.Contains(string(text), "version 8.") || r == "11.2" && (target == "sm_90" || newer) || target == "sm_80" && newest || target == "sm_70" && (r != "12.4" || old) {
				continue
			}
			for _, level := range []string{"O0", "O3"} {
				forms = append(forms, both(t, tcs[r], target, level, string(text), 40, inputs)...)
			}
		}
	}
	return forms
}

// programInputs are zeros, and anything.
func programInputs() [][]byte {
	out := [][]byte{make([]byte, 1024), nil}
	for i := range 256 {
		out[1] = binary.LittleEndian.AppendUint32(out[1], uint32(i)*0x9e3779b9)
	}
	return out
}
