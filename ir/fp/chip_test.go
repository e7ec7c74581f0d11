package fp

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	writeChip = flag.String("write-chip", "", "write the forms' kernels (forms.ptx) and operands (TYPE.in) to this folder")
	readChip  = flag.String("read-chip", "", "compare with what a chip stored (NAME.out in this folder), and write h200.txt there")
)

const (
	chipOperands = 1 << 18 // of a run on a chip
	hashed       = 1 << 14 // the first of them, of which testdata holds a hash
)

// TestChip asserts that each form has the results that an H200 stored. Kernel NAME of forms.ptx takes pointers to the results and to
// three arrays of operands, all of 64-bit words, and computes one result in each thread.
func TestChip(t *testing.T) {
	if *writeChip != "" {
		writeForms(t, *writeChip)
		return
	}
	want := map[string]uint64{}
	if *readChip == "" {
		want = readHashes(t)
	}
	inputs := map[string][][3]uint64{}
	var hashes strings.Builder
	for _, f := range allForms() {
		n := hashed
		if *readChip != "" {
			n = chipOperands
		}
		in := inputs[f.src[0]]
		if in == nil {
			in = operandsOf(f.src, n)
			inputs[f.src[0]] = in
		}
		if *readChip == "" {
			checkHash(t, f, in, want)
			continue
		}
		out := readWords(t, filepath.Join(*readChip, f.name()+".out"))
		for i := range out {
			if f.deviates != nil && f.deviates(in[i][0]) {
				out[i] = f.eval(in[i][0], 0, 0)
			}
		}
		compare(t, f, in, out)
		h := fnv.New64a()
		_ = binary.Write(h, binary.LittleEndian, out[:hashed])
		fmt.Fprintf(&hashes, "%s %016x\n", f.op, h.Sum64())
	}
	if *readChip != "" {
		if err := os.WriteFile(filepath.Join(*readChip, "h200.txt"), []byte(hashes.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func operandsOf(src []string, n int) [][3]uint64 {
	o, in := newOperands(1), make([][3]uint64, n)
	for i := range in {
		in[i] = o.of(src)
	}
	return in
}

// compare reports the first results that differ.
func compare(t *testing.T, f form, in [][3]uint64, out []uint64) {
	differ := 0
	for i := range out {
		if got := f.eval(in[i][0], in[i][1], in[i][2]); got != out[i] {
			if differ++; differ <= 6 {
				t.Errorf("%s %#x: %#x, the chip has %#x", f.op, in[i][:len(f.src)], got, out[i])
			}
		}
	}
	if differ > 0 {
		t.Errorf("%s: %d of %d differ", f.op, differ, len(out))
	}
}

func checkHash(t *testing.T, f form, in [][3]uint64, want map[string]uint64) {
	h := fnv.New64a()
	var w [8]byte
	for _, x := range in {
		binary.LittleEndian.PutUint64(w[:], f.eval(x[0], x[1], x[2]))
		_, _ = h.Write(w[:])
	}
	if got, ok := want[f.op]; !ok || got != h.Sum64() {
		t.Errorf("%s: results %016x differ from the chip's, %016x", f.op, h.Sum64(), got)
	}
}

func readHashes(t *testing.T) map[string]uint64 {
	file, err := os.Open(filepath.Join("testdata", "h200.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	hashes := map[string]uint64{}
	for s := bufio.NewScanner(file); s.Scan(); {
		var op string
		var h uint64
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		if _, err := fmt.Sscanf(s.Text(), "%s %x", &op, &h); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		hashes[op] = h
	}
	return hashes
}

func readWords(t *testing.T, path string) []uint64 {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return words
}

// writeForms writes what a chip needs to judge the forms.
func writeForms(t *testing.T, folder string) {
	var ptx, list strings.Builder
	ptx.WriteString(".version 8.4\n.target sm_90\n.address_size 64\n")
	done := map[string]bool{}
	for _, f := range allForms() {
		ptx.WriteString(f.kernel())
		fmt.Fprintf(&list, "%s %s\n", f.name(), f.src[0])
		if done[f.src[0]] {
			continue
		}
		done[f.src[0]] = true
		in := operandsOf(f.src, chipOperands)
		var b []byte
		for k := range 3 {
			for i := range in {
				b = binary.LittleEndian.AppendUint64(b, in[i][k])
			}
		}
		if err := os.WriteFile(filepath.Join(folder, f.src[0]+".in"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"forms.ptx": ptx.String(), "forms.txt": list.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// kernel returns the form as a kernel: out[i] = op(a[i], b[i], c[i]).
func (f form) kernel() string {
	size := map[string]string{"f16": "b16", "bf16": "b16", "f32": "b32", "f64": "b64", "f16x2": "b32", "f8x2": "b16",
		"u8": "b8", "s8": "b8", "u16": "b16", "s16": "b16", "u32": "b32", "s32": "b32", "u64": "b64", "s64": "b64"}
	reg := func(size string) string {
		return map[string]string{"b8": "c", "b16": "h", "b32": "w", "b64": "d"}[size]
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 o, .param .u64 p0, .param .u64 p1, .param .u64 p2) {\n", f.name())
	b.WriteString(".reg .b64 %o, %p, %i, %d<4>; .reg .b32 %w<4>, %t, %n; .reg .b16 %h<4>; .reg .b8 %c<4>; .reg .pred %q;\n")
	b.WriteString("mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %t, %n, 256, %t; mul.wide.u32 %i, %t, 8;\n")
	operands := ""
	for k, s := range f.src {
		fmt.Fprintf(&b, "ld.param.u64 %%p, [p%d]; add.u64 %%p, %%p, %%i; ld.global.%s %%%s%d, [%%p];\n", k, size[s], reg(size[s]), k)
		operands += fmt.Sprintf(", %%%s%d", reg(size[s]), k)
	}
	b.WriteString("ld.param.u64 %o, [o]; add.u64 %o, %o, %i;\n")
	if f.dst == "pred" {
		fmt.Fprintf(&b, "%s %%q%s; selp.u32 %%w3, 1, 0, %%q; st.global.b32 [%%o], %%w3; ret; }\n", f.op, operands)
	} else {
		fmt.Fprintf(&b, "%s %%%s3%s; st.global.%s [%%o], %%%s3; ret; }\n", f.op, reg(f.dst), operands, f.dst, reg(f.dst))
	}
	return b.String()
}
