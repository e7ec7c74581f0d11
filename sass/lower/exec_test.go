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
	return compileAll(t, tc, target, level, []string{text})
}

// compileAll compiles modules with different names as one: most of the time that a disassembler takes it needs to start.
func compileAll(t testing.TB, tc *toolchain.Toolchain, target, level string, texts []string) (*isaProgram, error) {
	t.Helper()
	var first error
	all := compileSome(t, tc, target, level, []string{strings.Join(texts, "\n")}, func(err error) { first = err })
	if first != nil {
		return nil, first
	}
	return all[0], nil
}

// compileSome is compileAll for modules some of which do not compile.
func compileSome(t testing.TB, tc *toolchain.Toolchain, target, level string, texts []string, failed func(error)) (out []*isaProgram) {
	t.Helper()
	version := map[string]string{"11.2": "7.2", "11.8": "7.8", "12.4": "8.4"}[tc.Release()]
	job := toolchain.Job{Target: target, Level: level, Header: fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", version, target)}
	for i, text := range texts {
		job.Units = append(job.Units, toolchain.Unit{Name: fmt.Sprint("unit", i), Text: header.ReplaceAllString(text, "")})
	}
	res, err := tc.Compile(t.Context(), job)
	if err != nil {
		failed(err)
		return nil
	}
	for _, err := range res.Failed {
		failed(err)
	}
	if newer := tc.Newer(); newer != nil { // 11.8 does not print all instructions of sm_90
		tc = newer
	}
	for _, b := range res.Batches {
		listing, err := tc.Disassemble(t.Context(), b.Cubin, toolchain.DisasmOptions{})
		require.NoError(t, err)
		p, err := sass.Parse("listing", listing)
		if err != nil {
			failed(err)
			continue
		}
		f, err := cubin.Parse(b.Cubin)
		require.NoError(t, err)
		out = append(out, &isaProgram{p, f, b.Cubin, listing})
	}
	return out
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
		if v.Space == ir.ConstBank && p.Machine {
			l.Vars[v.Name] = emu.ConstWindow + uint64(v.Offset)
			m.Fill(l.Vars[v.Name], v.Init)
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

// both executes a kernel of PTX and what a compiler made of it, and says where they differ. If they do not it returns the forms of
// instructions that the machine code performed.
func both(t *testing.T, text, kernel string, c *isaProgram, threads int, inputs [][]byte) (performed []string) {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(text))
	require.NoError(t, err)
	src, err := ptxlower.Kernel(m, kernel)
	require.NoError(t, err)
	for i := range src.Insts {
		require.Empty(t, src.Insts[i].Opaque, src.Insts[i].Text)
	}
	dst, err := lower.Kernel(c.prog, c.file, kernel)
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
				t.Errorf("%v%s", err, at(dst, err))
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
				t.Errorf("input %d: byte %d: PTX %x, machine code %x\n%s", i, k, want[k:k+4], got[k:k+4], listing(dst))
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

func TestExecute(t *testing.T) { executed(t) }

// executed executes the programs as all compilers make them, and returns the forms of instructions that were performed.
func executed(t *testing.T) (forms []string) {
	tcs, inputs, programs := releases(t), programInputs(), programs(t)
	for _, r := range slices.Sorted(maps.Keys(tcs)) {
		for _, target := range []string{"sm_70", "sm_80", "sm_90"} {
			var kernels, texts []string
			for _, name := range slices.Sorted(maps.Keys(programs)) {
				if text := programs[name]; !skips(text, r, target) {
					kernels, texts = append(kernels, name), append(texts, text)
				}
			}
			for _, level := range []string{"O0", "O3"} {
				if len(texts) == 0 {
					continue
				}
				c, err := compileAll(t, tcs[r], target, level, texts)
				require.NoError(t, err)
				for i, k := range kernels {
					t.Run(strings.Join([]string{k, r, target, level}, "/"), func(t *testing.T) {
						forms = append(forms, both(t, texts[i], k, c, 40, inputs)...)
					})
				}
			}
		}
	}
	return forms
}

// skips reports whether a program is for another release or target.
func skips(text, release, target string) bool {
	old, newer := !strings.Contains(text, "sm_70"), strings.Contains(text, "version 7.8")
	newest := strings.Contains(text, "target sm_90")
	return release != "12.4" && strings.Contains(text, "version 8.") || release == "11.2" && (target == "sm_90" || newer) ||
		target == "sm_80" && newest || target == "sm_70" && (release != "12.4" || old)
}

// ownName finds what a module names for itself.
var ownName = regexp.MustCompile(`(?m)^\.(?:global|const)\b.*?(\w+)\[|^\.visible \.entry (\w+)\(|^\.func \(.*?\) (\w+)\(`)

// programs are the modules of testdata by the names of their kernels, with names that no other has.
func programs(t *testing.T) map[string]string {
	files, err := filepath.Glob("testdata/*.ptx")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		text, kernel := string(data), strings.TrimSuffix(filepath.Base(f), ".ptx")
		for _, m := range ownName.FindAllStringSubmatch(text, -1) {
			name, as := m[1]+m[2]+m[3], kernel
			if m[2] == "" {
				as += "_" + name
			}
			text = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(text, as)
		}
		out[kernel] = text
	}
	return out
}

// programInputs are zeros, and anything.
func programInputs() [][]byte {
	out := [][]byte{make([]byte, 1024), nil}
	for i := range 256 {
		out[1] = binary.LittleEndian.AppendUint32(out[1], uint32(i)*0x9e3779b9)
	}
	return out
}
