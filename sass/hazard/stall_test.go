package hazard

import (
	"encoding/binary"
	"encoding/gob"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"optcheck/isa"
	"optcheck/runner"
	"optcheck/runner/cuda"
)

var (
	writeStalls = flag.String("write-stalls", "", "write machine code for sm_90 that reads the clock around instructions to this file")
	stalls      = flag.String("stalls", "", "run the machine code of this file on a device of sm_90, with each stall count")
)

// between are instructions between two reads of the clock; nothing stands for the first of the reads itself.
var between = []string{"", "add.u32 %r4, %r4, 77;", "mad.lo.u32 %r4, %r4, %r5, %r6;", "fma.rn.f32 %f1, %f1, %f1, %f1;",
	"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r4,%r5}, {%r6,%r7,%r8,%r9}, {%r6,%r7}, {%r4,%r5};"}

// stallPlace is an instruction whose control code is changed.
type stallPlace struct {
	At   int    // of its upper word in the file
	Word uint64 // that word
	Text string
}

type stallFile struct {
	Cubin  []byte
	Places []stallPlace
}

// TestStall measures how long an instruction keeps the next one of its warp from issuing, by stall count and yield: where the compilers are,
// -write-stalls FILE; where the chip is, -stalls FILE, which prints the table of docs/results/h200/stalls.txt.
func TestStall(t *testing.T) {
	switch {
	case *writeStalls != "":
		writeStallFile(t, *writeStalls)
	case *stalls != "":
		measureStalls(t, *stalls)
	}
}

// TestStallOf asserts what the chip showed.
func TestStallOf(t *testing.T) {
	for _, x := range []struct {
		stall uint8
		yield bool
		want  uint8
	}{{0, true, 57}, {1, true, 1}, {11, true, 11}, {15, true, 15}, {0, false, 1}, {1, false, 1}, {11, false, 11}, {12, false, 1}, {15, false, 1}} {
		if got := stallOf(&isa.Inst{Control: isa.Control{Stall: x.stall, Yield: x.yield}}); got != x.want {
			t.Errorf("stall %d, yield %v: %d cycles, want %d", x.stall, x.yield, got, x.want)
		}
	}
}

func stallKernel() string {
	var b strings.Builder
	b.WriteString(".visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %r<10>;\n\t.reg .f32 %f1;\n\t.reg .b64 %rd1;\n\tld.param.u64 %rd1, [out];\n")
	for i := range 7 {
		fmt.Fprintf(&b, "\tld.volatile.global.u32 %%r%d, [%%rd1+%d];\n", i+3, 256+4*i)
	}
	b.WriteString("\tmov.b32 %f1, %r9;\n\tbar.sync 0;\n")
	for i, x := range between {
		fmt.Fprintf(&b, "\tmov.u32 %%r1, %%clock;\n\t%s\n\tmov.u32 %%r2, %%clock;\n\tsub.u32 %%r2, %%r2, %%r1;\n\tst.volatile.global.u32 [%%rd1+%d], %%r2;\n\tbar.sync 0;\n", x, 4*i)
	}
	b.WriteString("\tmov.b32 %r9, %f1;\n\txor.b32 %r4, %r4, %r9;\n\txor.b32 %r4, %r4, %r5;\n\tst.volatile.global.u32 [%rd1+128], %r4;\n\tret;\n}\n")
	return b.String()
}

func writeStallFile(t *testing.T, name string) {
	tc := newest(t)
	data := slices.Clone(compile(t, tc, "sm_90", stallKernel()))
	fn, base := codeOf(data, decode(t, tc, "k", data), "k")
	out := stallFile{Cubin: data}
	clock := func(i int) bool {
		return fn.Insts[i].Op == "CS2R" || fn.Insts[i].Op == "S2UR" && strings.Contains(fn.Insts[i].Text, "CLOCK")
	}
	for i := 0; i+2 < len(fn.Insts); i++ {
		if !clock(i) {
			continue
		}
		at := i + 1 // waits for the clock
		if !clock(i + 2) {
			at = i + 2
		}
		in := &fn.Insts[at]
		out.Places = append(out.Places, stallPlace{At: base + int(in.Addr) + 8, Word: in.Code[1], Text: in.Text})
		for i++; i < len(fn.Insts) && !clock(i); i++ {
		}
	}
	if len(out.Places) != len(between) {
		t.Fatalf("%d pairs of reads of the clock, want %d", len(out.Places), len(between))
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := gob.NewEncoder(f).Encode(out); err != nil {
		t.Fatal(err)
	}
}

func measureStalls(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var file stallFile
	if err := gob.NewDecoder(f).Decode(&file); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	s, err := cuda.New().Open(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Alloc(ctx, 0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	run := func(data []byte) ([]byte, error) {
		m, err := s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: data})
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Unload(ctx, m) }()
		h, _, err := s.Kernel(ctx, m, "k")
		if err != nil {
			return nil, err
		}
		res, err := s.Run(ctx, &runner.Batch{Timeout: 2 * time.Second, Setup: []runner.Command{runner.Fill(out, 0, 4096, 0)},
			Body: []runner.Command{runner.Launch(h, runner.Dim1(1, 32), runner.BufArg(out))}, Final: []runner.Command{runner.Read(out, 0, 128)}})
		if err != nil {
			return nil, err
		}
		return res.Reads[0], nil
	}
	for i, p := range file.Places {
		fmt.Printf("%s\n", p.Text)
		for _, yield := range []bool{true, false} {
			fmt.Printf("  yield %-5v:", yield)
			for stall := range uint8(16) {
				c := isa.ControlOf(uint32(p.Word >> 41 & (1<<21 - 1)))
				c.Stall, c.Yield = stall, yield
				data := slices.Clone(file.Cubin)
				binary.LittleEndian.PutUint64(data[p.At:], p.Word&^(uint64(1<<21-1)<<41)|uint64(c.Bits())<<41)
				least, most := ^uint32(0), uint32(0)
				for range 20 {
					got, err := run(data)
					if err != nil {
						t.Fatal(err)
					}
					n := binary.LittleEndian.Uint32(got[4*i:])
					least, most = min(least, n), max(most, n)
				}
				fmt.Printf(" %d:%d..%d", stall, least, most)
			}
			fmt.Println()
		}
	}
}
