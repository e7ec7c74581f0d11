package lower

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
)

var (
	writeChip = flag.String("write-chip", "", "write the forms' kernels and operands to this folder")
	readChip  = flag.String("read-chip", "", "compare with what a chip stored (results.bin in this folder), and write testdata/h200.txt")
)

const (
	chipVersion = ".version 8.4\n.target sm_90\n.address_size 64\n"
	chipThreads = 256
	hashed      = 96 // the first threads, of which testdata holds a hash
	resultBytes = 32
	perRow      = 64 // forms of a row, at most
)

// computing are the parts of the table whose instructions only compute.
var computing = []map[string][]form{integers, logic, comparisons, floats, halves, conversions, videos}

// forms lists texts of instructions: those of the table, with many of the combinations of their modifiers, and others that tests name.
func forms() (out []string) {
	for _, part := range computing {
		for _, name := range slices.Sorted(maps.Keys(part)) {
			for i := range part[name] {
				out = append(out, part[name][i].texts(name)...)
			}
		}
	}
	for _, c := range instructions {
		out = append(out, c.text)
	}
	return slices.Concat(out, moreForms, memoryForms(), warpForms())
}

// memoryForms are loads that extend, and read-modify-writes of global and shared memory.
func memoryForms() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, t := range []string{"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "u64", "s64"} {
		for _, dst := range []string{"h0", "r0", "d0"} {
			if types[t].Bits() <= map[byte]int{'h': 16, 'r': 32, 'd': 64}[dst[0]] {
				add(".local .align 8 .b8 buf[16]; st.local.u64 [buf+8], %%d4; ld.local.%s %%%s, [buf+8];", t, dst)
			}
		}
	}
	ops := strings.Fields(`and.b32 or.b64 xor.b32 exch.b32 exch.b64 cas.b16 cas.b32 cas.b64 inc.u32 dec.u32 min.u32 min.s32 max.u64 max.s64
		add.u32 add.s32 add.u64 add.f32 add.f64 add.noftz.f16 add.noftz.f16x2 add.noftz.bf16 add.noftz.bf16x2`)
	for space, address := range map[string]string{"global": "add.u64 %d1, %d8, 32",
		"shared": "mov.u32 %r2, sh; mad.lo.u32 %r2, %r8, 8, %r2; cvt.u64.u32 %d1, %r2"} {
		for _, op := range ops {
			class := map[int]string{16: "h", 32: "r", 64: "d"}[types[op[strings.LastIndex(op, ".")+1:]].Bits()]
			more := ""
			if strings.HasPrefix(op, "cas") {
				more = fmt.Sprintf(", %%%s6", class)
			}
			add(".shared .align 8 .b8 sh[8192]; %s; st.%s.u64 [%%d1], %%d4; atom.%s.%s %%%s0, [%%d1], %%%s5%s; "+
				"ld.%s.u64 %%d2, [%%d1]; mov.b64 {%%r1, %%r3}, %%d2;",
				address, space, space, op, class, class, more, space)
		}
	}
	slices.Sort(out)
	return out
}

// warpForms are operations of whole warps.
func warpForms() (out []string) {
	for _, mode := range []string{"idx", "up", "down", "bfly"} {
		for _, c := range []string{"%r6", "0x1f", "0", "0x181f", "0x1c03", "0x1000"} {
			for _, b := range []string{"%r5", "1", "7"} {
				out = append(out, fmt.Sprintf("shfl.sync.%s.b32 %%r0|%%p0, %%r4, %s, %s, -1;", mode, b, c))
			}
		}
	}
	for _, op := range []string{"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"} {
		out = append(out, "redux.sync."+op+" %r0, %r4, -1;")
	}
	return append(out, strings.Split(`vote.sync.all.pred %p0, %p4, -1;
vote.sync.any.pred %p0, !%p4, -1;
vote.sync.uni.pred %p0, %p4, -1;
vote.sync.ballot.b32 %r0, %p4, -1;
setp.ge.u32 %p2, %r8, 1; vote.sync.uni.pred %p0, %p2, -1;
setp.ge.u32 %p2, %r8, 0; vote.sync.uni.pred %p0, %p2, -1; vote.sync.all.pred %p1, %p2, -1;
and.b32 %r4, %r4, 3; match.any.sync.b32 %r0, %r4, -1;
match.any.sync.b64 %r0, %d5, -1;
match.all.sync.b32 %r0|%p0, %r4, -1;
shr.u32 %r2, %r8, 5; match.all.sync.b32 %r0|%p0, %r2, -1;
elect.sync %r0|%p0, -1;
activemask.b32 %r0;`, "\n")...)
}

// moreForms are what the table does not list: parts of registers, chains of carries, wider registers, constants.
var moreForms = strings.Split(`sub.cc.u32 %r2, %r4, %r5; addc.u32 %r0, 0, 0; subc.u32 %r1, 0, 0;
add.cc.u32 %r2, %r4, %r5; subc.u32 %r0, 0, 0; addc.u32 %r1, %r4, %r6;
sub.cc.u64 %d1, %d4, %d5; subc.cc.u64 %d0, %d6, %d4; subc.u32 %r0, %r4, %r5;
mad.hi.cc.s32 %r2, %r4, %r5, %r6; madc.lo.cc.u32 %r0, %r5, %r6, %r4; addc.u32 %r1, 0, 0;
mad.lo.cc.s64 %d1, %d4, %d5, %d6; madc.hi.u64 %d0, %d4, %d5, %d6;
vadd.s32.u32.s32 %r0, %r4.h1, %r5.b2;
vsub.u32.s32.s32 %r0, %r4.b3, %r5;
vabsdiff.u32.s32.u32.add %r0, %r4.b0, %r5.h0, %r6;
vmin.s32.s32.s32.max %r0, %r4.h0, %r5.h1, %r6;
vmad.s32.s32.s32.sat.shr7 %r0, %r4.h1, %r5.b2, %r6;
vmad.s32.u32.s32.po %r0, %r4.h1, %r5.b2, %r6;
vshl.u32.s32.u32.clamp %r0, %r4.b1, %r5.b0;
vshr.s32.s32.u32.wrap %r0, %r4.h1, %r5.b0;
vset.s32.u32.le %r0, %r4.b1, %r5.h0;
cvt.s8.s64 %r0, %d4;
cvt.s16.s32 %r0, %r4;
cvt.u16.s8 %d0, %r4;
cvt.s64.u8 %d0, %h4;
cvt.u8.s64 %r0, %d4;
cvt.rzi.s8.f32 %r0, %r4;
cvt.rni.s16.f64 %d0, %d4;
cvt.rn.f32.s8 %r0, %d4;
cvt.rn.f64.u16 %d0, %r4;
cvt.sat.u8.s16 %d0, %h4;
prmt.b32 %r0, %r4, %r5, %r6;
prmt.b32 %r0, %r4, 0, 0x8a41;
mov.f32 %r0, 1.1;
mov.f64 %d0, -3.7e-5;
add.f32 %r0, %r4, 0d3FB999999999999A;
fma.rn.f32 %r0, %r4, 0f3F800001, %r5;
mul.f64 %d0, %d4, 3.0;
setp.lt.f32 %p0|%p1, %r4, 0f00000000;
max.f32 %r0, %r4, 0f80000000;
mov.b32 %r2, %r4; mov.b32 {%h1, %h2}, %r2; mov.b32 %r0, {%h2, %h1};
mov.b16 {%b0, %b1}, %h4; mov.b16 %h0, {%b1, %b0};
mov.b32 {%b0, _, %b1, %b2}, %r4; mov.b32 %r0, {%b2, %b1, %b0, %b0};
mov.b64 %d0, -1; mov.b32 %r0, 0xffffffff; mov.u16 %h0, -2; mov.pred %p0, 1;
add.u32 %r0, %r4, -5;
add.s64 %d0, %d4, 0xffffffff;
sub.s16 %h0, %h4, -1;
mul.wide.u32 %d0, %r4, -3;
mul.wide.s32 %d0, %r4, 0xfffffff0;
mul.hi.s64 %d0, %d4, -7;
mad.lo.s32 %r0, %r4, -7, %r5;
mad.wide.s16 %r0, %h4, -9, 100;
div.s32 %r0, %r4, -7;
div.u64 %d0, %d4, 1000000007;
rem.s64 %d0, %d4, -13;
rem.u32 %r0, %r4, 10;
setp.lt.u32 %p0, %r4, -1;
setp.gt.s64 %p0, %d4, 0xffffffff;
setp.eq.s16 %p0, %h4, -1;
min.s32 %r0, %r4, -1;
and.b64 %d0, %d4, 0x80000000;
xor.b16 %h0, %h4, 0xff00;
shl.b32 %r0, %r4, -1;
shr.s32 %r0, %r4, 33;
shl.b64 %d0, %d4, 63;
bfe.s32 %r0, %r4, 28, 9;
bfi.b32 %r0, %r4, %r5, 24, 40;
bfi.b64 %d0, %d4, %d5, 33, 17;
bfe.u64 %d0, %d4, 60, 255;
selp.b32 %r0, -1, 3, %p4;
slct.s32.s32 %r0, -1, %r5, %r6;
set.lt.s32.u32 %r0, %r4, 0x80000000;
lop3.b32 %r0, %r4, -1, %r5, 0x6a;
shf.l.wrap.b32 %r0, %r4, %r4, 13;
shf.r.clamp.b32 %r0, %r4, %r5, 40;
popc.b32 %r0, 0xf0f0;
neg.s32 %r0, %r4; abs.s64 %d0, %d4;
min.f64 %d0, %d4, 0d7FF0000000000000;`, "\n")

// texts lists instructions of a row with operands.
func (f *form) texts(name string) (out []string) {
	combinations := [][]string{nil}
	for _, s := range f.slots {
		var next [][]string
		for _, c := range combinations {
			if s.optional {
				next = append(next, c)
			}
			for _, w := range s.words {
				next = append(next, append(slices.Clone(c), w))
			}
		}
		combinations = next
	}
	step := max(1, len(combinations)/perRow) | 1 // odd, so that no slot stands still
	for i := 0; i < len(combinations); i += step {
		op := strings.Join(append([]string{name}, combinations[i]...), ".")
		if strings.Contains(op, ".approx") || strings.Contains(op, ".full") {
			continue
		}
		for n := f.min; n <= f.max; n++ {
			for _, text := range operandsFor(op, n) {
				out = append(out, defined[name]+text)
			}
		}
	}
	return out
}

// defined makes what an instruction needs: a carry, a divisor.
var defined = map[string]string{"addc": "add.cc.u32 %r2, %r4, %r5; ", "subc": "sub.cc.u32 %r2, %r4, %r5; ",
	"madc": "add.cc.u32 %r2, %r4, %r5; ",
	"fns":  "and.b32 %r5, %r5, 31; shr.s32 %r6, %r6, 5; ",
	"div":  "or.b64 %d5, %d5, 1; or.b32 %r5, %r5, 1; or.b16 %h5, %h5, 1; ",
	"rem":  "or.b64 %d5, %d5, 1; or.b32 %r5, %r5, 1; or.b16 %h5, %h5, 1; "}

// open are forms of which the chip does not do what PTX says (ptxas drops .ftz), or of which PTX says nothing (NaNs).
func open(text string) bool {
	return strings.HasPrefix(text, "cvt.r") && strings.Contains(text, ".ftz.") && strings.Contains(text, "f16.f32") ||
		strings.HasPrefix(text, "cvt.rna.satfinite.tf32") || strings.HasPrefix(text, "cvt.f32.f32") || strings.HasPrefix(text, "cvt.f64.f64")
}

// understood reports whether a form is one that is.
func understood(text string) bool {
	m, err := ptx.Parse("k.ptx", []byte(head+".entry k()\n{\n"+registers+text+"\n}\n"))
	if err != nil {
		return false
	}
	p, err := Kernel(m, "k")
	return err == nil && !slices.ContainsFunc(p.Insts, func(in ir.Inst) bool { return in.Opaque != "" })
}

// operandsFor chooses the registers with which an instruction is understood, the first that fit.
func operandsFor(op string, n int) []string {
	var try func(list []string) string
	try = func(list []string) string {
		if len(list) == n {
			text := op + " " + strings.Join(list, ", ") + ";"
			if understood(text) {
				return text
			}
			return ""
		}
		var candidates []string
		for _, class := range []string{"r", "d", "h", "p"} {
			candidates = append(candidates, fmt.Sprintf("%%%s%d", class, 3+len(list)))
		}
		if len(list) == 0 {
			candidates = []string{"%r0", "%d0", "%h0", "%p0", "%p0|%p1", "%r0|%p0"}
		}
		if len(list) > 3 {
			candidates = []string{"%r4", "0xe2", "%p5"}
		}
		for _, c := range candidates {
			if text := try(append(slices.Clone(list), c)); text != "" {
				return text
			}
		}
		return ""
	}
	if words := strings.Split(op, "."); words[0] == "cvt" && n == 2 { // either would fit wider registers, too
		class := map[int]string{8: "h", 16: "h", 32: "r", 64: "d"}
		bits := func(w string) int {
			if strings.HasSuffix(w, "x2") {
				return map[byte]int{'e': 16, 'f': 32, 'b': 32}[w[0]]
			}
			return types[w].Bits()
		}
		return []string{fmt.Sprintf("%s %%%s0, %%%s4;", op, class[bits(words[len(words)-2])], class[bits(words[len(words)-1])])}
	}
	if text := try(nil); text != "" {
		return []string{text}
	}
	return nil
}

// chipOperands gather where numbers of any kind are difficult.
func chipOperands(n int) []byte {
	r := rand.New(rand.NewPCG(11, 13))
	float := func(exp, frac uint) uint64 {
		e, m := r.Uint64()>>(64-exp), r.Uint64()>>(64-frac)
		switch r.IntN(5) {
		case 0:
			e = []uint64{0, 1, 1<<exp - 1, 1<<exp - 2, 1<<(exp-1) - 1}[r.IntN(5)]
		case 1, 2:
			e = 1<<(exp-1) - 1 + uint64(r.IntN(40)) - 6
		}
		switch r.IntN(4) {
		case 0:
			m = []uint64{0, 1, 1<<frac - 1, 1 << (frac - 1), 1<<(frac-1) + 1}[r.IntN(5)]
		case 1:
			m &^= 1<<r.UintN(frac+1) - 1
		}
		return r.Uint64()&1<<(exp+frac) | e&(1<<exp-1)<<frac | m
	}
	one := func() uint64 {
		switch r.IntN(6) {
		case 0:
			return float(11, 52)
		case 1, 2:
			return float(8, 23) | float(8, 23)<<32
		case 3:
			return float(5, 10) | float(5, 10)<<16 | float(8, 7)<<32
		}
		return edges(r)
	}
	out := make([]byte, n*stride)
	for i := range n {
		a, b, c := one(), one(), one()
		switch r.IntN(8) {
		case 0:
			b = a
		case 1:
			c = a ^ 1<<31 ^ 1<<63
		}
		for k, v := range []uint64{a, b, c} {
			binary.LittleEndian.PutUint64(out[i*stride+8*k:], v)
		}
	}
	return out
}

// chipKernel is the text of a kernel that runs a form.
func chipKernel(name, text string) string {
	return strings.Replace(frame(text, ""), "entry k(", "entry "+name+"(", 1)
}

// TestChip asserts that each form has the results that an H200 stored: testdata/h200.txt. To judge the forms on another chip: go test
// -run TestChip -args -write-chip DIR, run the kernels of DIR/forms.ptx with 256 threads, each with the addresses of the operands
// (DIR/input.bin) and of 64 bytes of results a thread, store the first 32 bytes of each thread's 64 in DIR/results.bin in the order of
// the kernels, then -args -read-chip DIR. That writes known.txt, too. Forms that ptxas refuses are left out when their texts are
// lines of DIR/refused.txt.
func TestChip(t *testing.T) {
	if *writeChip != "" {
		writeForms(t, *writeChip)
		return
	}
	if *readChip != "" {
		readForms(t, *readChip)
		return
	}
	file, err := os.Open("testdata/h200.txt")
	require.NoError(t, err)
	defer file.Close()
	n := 0
	for s := bufio.NewScanner(file); s.Scan(); {
		if want, text, ok := strings.Cut(s.Text(), " "); ok && want != "#" {
			n++
			if got := hash(results(t, text, hashed)); got != want {
				t.Errorf("%s: the results are not those of an H200", text)
			}
		}
	}
	require.Greater(t, n, 1000)
}

func hash(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b))[:12] }

// results are those of the first threads.
func results(t testing.TB, text string, n int) []byte {
	out := executeOnce(t, lowered(t, frame(text, "")), chipOperands(chipThreads), n, emu.Policy{})
	var b []byte
	for i := range n {
		b = append(b, out[i*stride:][:resultBytes]...)
	}
	return b
}

func writeForms(t *testing.T, dir string) {
	var b strings.Builder
	b.WriteString(chipVersion)
	var list []string
	skip := map[string]bool{}
	if text, err := os.ReadFile(filepath.Join(dir, "refused.txt")); err == nil { // forms that ptxas does not take
		for _, l := range strings.Split(string(text), "\n") {
			skip[l] = true
		}
	}
	for _, text := range forms() {
		if !skip[text] && !open(text) && !slices.Contains(list, text) {
			b.WriteString(chipKernel(fmt.Sprint("k", len(list)), text))
			list = append(list, text)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forms.ptx"), []byte(b.String()), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forms.txt"), []byte(strings.Join(list, "\n")+"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "input.bin"), chipOperands(chipThreads), 0o644))
}

func readForms(t *testing.T, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "forms.txt"))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(dir, "results.bin"))
	require.NoError(t, err)
	var lines []string
	in := chipOperands(chipThreads)
	for k, text := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if open(text) || !understood(text) {
			continue
		}
		chip := have[k*chipThreads*resultBytes:][:chipThreads*resultBytes]
		mine := results(t, text, chipThreads)
		bad := 0
		for i := range chipThreads {
			if a, b := chip[i*resultBytes:][:resultBytes], mine[i*resultBytes:][:resultBytes]; string(a) != string(b) {
				if bad++; bad <= 2 {
					t.Logf("%s of %x %x %x: chip %x, emulator %x", text, word64(in, i, 0), word64(in, i, 1), word64(in, i, 2), a, b)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d results are not the chip's", text, bad, chipThreads)
			continue
		}
		lines = append(lines, hash(chip[:hashed*resultBytes])+" "+text)
	}
	require.NoError(t, os.WriteFile("testdata/h200.txt", []byte("# What an NVIDIA H200 stored for each form, compiled by ptxas 12.4 at O0;"+
		" at O3 the same but for\n# additions to pairs of halves in shared memory, which it makes wrong, and a NaN. See TestChip.\n"+
		strings.Join(lines, "\n")+"\n"), 0o644))
	writeKnown(t, lines)
}

// writeKnown lists the opcodes of what the chip agreed with.
func writeKnown(t *testing.T, lines []string) {
	ops := map[string]bool{}
	for _, l := range lines {
		_, text, _ := strings.Cut(l, " ")
		for _, in := range lowered(t, frame(text, "")).Insts {
			op, _, _ := strings.Cut(in.Form, " ")
			ops[op] = true
		}
	}
	delete(ops, "ret")
	require.NoError(t, os.WriteFile("known.txt", []byte("# Opcodes with their modifiers that an NVIDIA H200 executed"+
		" as the emulator does: TestChip makes this list.\n"+
		strings.Join(slices.Sorted(maps.Keys(ops)), "\n")+"\n"), 0o644))
}

func word64(b []byte, i, k int) uint64 { return binary.LittleEndian.Uint64(b[i*stride+8*k:]) }
