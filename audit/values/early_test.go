package values

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/gob"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/runner"
	"optcheck/sass/cubin"
	"optcheck/sass/hazard"
	"optcheck/toolchain/tested"
)

var (
	writeEarly = flag.String("write-early", "", "write machine code for sm_90 that uses registers in flight, and what it then stores, to this file")
	earlyChip  = flag.String("early", "", "run the machine code of this file on a device of sm_90")
)

// earlyJob is machine code with a changed control code, and a word that it stores if the register has the content that the emulator gives it.
type earlyJob struct {
	Kernel          int
	At              int // where in the cubin
	Word            uint64
	Detail          string
	Use             refine.Use
	Addr, Want, Got uint64
}

type earlyKernel struct {
	Text  string
	Cubin []byte
	Input *refine.Input
}

type earlyFile struct {
	Kernels []earlyKernel
	Jobs    []earlyJob
}

// TestEarly asks a chip whether a register in flight has the content with which the emulator executes its use.
func TestEarly(t *testing.T) {
	switch {
	case *writeEarly != "":
		writeEarlies(t, *writeEarly)
	case *earlyChip != "":
		runEarlies(t, *earlyChip)
	}
}

func writeEarlies(t *testing.T, name string) {
	tc := tested.Release(t, "12.4")
	var out earlyFile
	for n := range 14 {
		k := values.Generate(3508, n, values.Options{PTX: 70, SM: 70})
		s := newSubject(k, "k", Inputs(k, 1))
		cell := Cell{tc, "sm_90", "O3"}
		data, err := machineCode(t.Context(), cell, "O3", s.text, "k")
		if err != nil || s.why != "" {
			continue
		}
		code, err := pipeline.Decode(t.Context(), tc, "k", "sm_90", data)
		require.NoError(t, err)
		file, err := cubin.Parse(data)
		require.NoError(t, err)
		fn, err := code.Func("k")
		require.NoError(t, err)
		m, err := ptx.Parse("k.ptx", []byte(ptxgen.Header(newest, "sm_90")+s.text))
		require.NoError(t, err)
		at := slices.IndexFunc(file.Funcs, func(f cubin.Func) bool { return f.Name == "k" })
		base := bytes.Index(data, file.Funcs[at].Code)
		had := 0
		for i := range fn.Insts {
			in := &fn.Insts[i]
			was := in.Control
			for _, edit := range []func(c *isa.Control){func(c *isa.Control) { c.Wait = 0 }, func(c *isa.Control) { c.Write = isa.NoBarrier },
				func(c *isa.Control) { c.Stall = 1 }} {
				edit(&in.Control)
				claims := hazard.Judge(fn).Claims
				if len(claims) == 1 && in.Control != was && had < 8 {
					r, err := nvidia.Hazard(t.Context(), m, code.Program, file, "k", "k", claims[0].Finding, refine.Options{Inputs: s.inputs})
					if err == nil && len(r.Findings) > 0 && r.Findings[0].Rule == refine.WrongValue && r.Findings[0].Address != 0 {
						f := r.Findings[0]
						word := in.Code[1]&^(uint64(1<<21-1)<<41) | uint64(in.Control.Bits())<<41
						out.Jobs = append(out.Jobs, earlyJob{len(out.Kernels), base + int(in.Addr) + 8, word, claims[0].Detail, f.Early.Use, f.Address, f.Want, f.Got})
						had++
					}
				}
				in.Control = was
			}
		}
		out.Kernels = append(out.Kernels, earlyKernel{s.text, data, s.inputs[0]})
	}
	f, err := os.Create(name)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	require.NoError(t, gob.NewEncoder(z).Encode(out))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	t.Logf("%d kernels, %d changes", len(out.Kernels), len(out.Jobs))
}

func runEarlies(t *testing.T, name string) {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var in earlyFile
	require.NoError(t, gob.NewDecoder(z).Decode(&in))
	self, err := os.Executable()
	require.NoError(t, err)
	open := func() runner.Session { // in a process that may die
		s, err := runner.Isolated(runner.Isolation{Backend: "cuda", Command: []string{self, child}}).Open(t.Context(), 0)
		require.NoError(t, err)
		return s
	}
	c := &Chip{Session: open()}
	defer func() { _ = c.Session.Close() }()
	n := map[string]int{}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		k := &in.Kernels[j.Kernel]
		s := &subject{name: "k", text: k.Text}
		s.read()
		data := slices.Clone(k.Cubin)
		said := ""
		for _, changed := range []bool{false, true} {
			if changed {
				binary.LittleEndian.PutUint64(data[j.At:], j.Word)
			}
			got, err := c.launch(t.Context(), data, counterexample{s.text, "k", s.program, nil}, k.Input)
			if err != nil {
				said += " fault"
				_ = c.Session.Close()
				c.Session = open()
				continue
			}
			word := uint64(0)
			for b, m := range k.Input.Memory {
				if j.Addr >= m.Addr && j.Addr+4 <= m.Addr+uint64(len(m.Data)) {
					word = uint64(binary.LittleEndian.Uint32(got[b][j.Addr-m.Addr:]))
				}
			}
			switch word {
			case j.Want:
				said += " right"
			case j.Got:
				said += " emulated"
			default:
				said += " other"
			}
		}
		n[string(j.Use)+":"+said]++
		if !strings.HasSuffix(said, "emulated") || i < 4 {
			t.Logf("%s: %s: %#x: want %#x, emulated %#x", said, j.Detail, j.Addr, j.Want, j.Got)
		}
	}
	t.Log(n)
}
