package hazard

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	writeMatrix = flag.String("write-matrix", "", "write random kernels with matrix instructions, as PTX, to this folder: FEATURE-N.ptx for sm_75, sm_80 …")
	chipMatrix  = flag.Bool("chip-matrix", false, "-write-chip takes random kernels with matrix instructions alone")
)

// matrixForm is a form of mma: its types, the 32-bit registers of its operands, and the first target that has it. Sparse forms
// have metadata.
type matrixForm struct {
	text    string
	a, b, c int
	sm      int
	sparse  bool
	double  bool // registers are pairs
}

var matrixForms = []matrixForm{
	{"m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 75, false, false},
	{"m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 75, false, false},
	{"m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2, 75, false, false},
	{"m8n8k32.row.col.s32.s4.s4.s32", 1, 1, 2, 75, false, false},
	{"m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 80, false, false},
	{"m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 80, false, false},
	{"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 80, false, false},
	{"m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 80, false, false},
	{"m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 80, false, false},
	{"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 80, false, false},
	{"m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, 80, false, false},
	{"m16n8k32.row.col.s32.u8.s8.s32", 4, 2, 4, 80, false, false},
	{"m16n8k32.row.col.s32.s4.s4.s32", 2, 1, 4, 80, false, false},
	{"m16n8k64.row.col.s32.s4.s4.s32", 4, 2, 4, 80, false, false},
	{"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, 80, false, false},
	{"m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, 80, false, true},
	{"m16n8k16.row.col.f16.f16.f16.f16", 2, 2, 2, 80, true, false},
	{"m16n8k32.row.col.f16.f16.f16.f16", 4, 4, 2, 80, true, false},
	{"m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 80, true, false},
	{"m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4, 80, true, false},
	{"m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 4, 80, true, false},
}

// matrixPool is the number of registers of a random kernel; those behind it are for results of other instructions.
const matrixPool = 20

// matrixUses are instructions that read a result {d} and change a register {x}, or write to the output at {w}, or {q}.
var matrixUses = []string{
	"st.global.u32 [%rd2+{w}], %v{d};", "st.shared.u32 [%r1+{w}], %v{d};", "add.u32 %v{x}, %v{d}, %v{x};",
	"xor.b32 %v{x}, %v{x}, %v{d};", "fma.rn.f32 %v{x}, %v{d}, %v{d}, %v{x};", "add.f32 %v{x}, %v{x}, %v{d};",
	"mul.f32 %v{x}, %v{d}, 0f3F000000;", "cvt.rn.f16x2.f32 %v{x}, %v{d}, %v{x};", "fma.rn.f16x2 %v{x}, %v{d}, %v{d}, %v{x};",
	"mad.lo.u32 %v{x}, %v{d}, %v{x}, %v{d};", "shfl.sync.bfly.b32 %v{x}, %v{d}, 1, 31, -1;", "popc.b32 %v{x}, %v{d};",
	"prmt.b32 %v{x}, %v{d}, %v{x}, 0x5410;", "{ .reg .pred q; setp.lt.s32 q, %v{d}, %v{x}; selp.b32 %v{x}, %v{d}, %v{x}, q; }",
	"max.f32 %v{x}, %v{x}, %v{d};", "cvt.rn.f32.s32 %v{x}, %v{d};", "ex2.approx.f32 %v{x}, %v{d};", "shf.l.wrap.b32 %v{x}, %v{d}, %v{x}, 7;",
	"{ .reg .b64 d; mov.b64 d, {%v{d}, %v{x}}; st.global.b64 [%rd2+{q}], d; }", "{ .reg .b64 d, e; mov.b64 d, {%v{d}, %v{x}}; add.f64 e, d, d; mov.b64 {%v{x}, _}, e; }",
}

// matrixOut is the size of a lane's output in bytes.
const matrixOut = 512

// matrixKernel is a random kernel of one warp a block, which reads in (matrixPool words of each lane), and writes matrixOut bytes for each lane.
func matrixKernel(r *rand.Rand, name string, sm int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n\t.reg .b32 %%v<%d>;\n\t.reg .b32 %%r<4>;\n\t.reg .b64 %%rd<4>;\n\t.shared .align 16 .b8 s[%d];\n", name, matrixPool, 32*matrixOut)
	fmt.Fprintf(&b, "\tld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [out];\n\tmov.u32 %%r1, %%laneid;\n\tmov.u32 %%r2, %%ctaid.x;\n\tmad.wide.u32 %%rd1, %%r1, %d, %%rd1;\n", 4*matrixPool)
	fmt.Fprintf(&b, "\tmad.lo.u32 %%r3, %%r2, 32, %%r1;\n\tmad.wide.u32 %%rd2, %%r3, %d, %%rd2;\n\tmov.u32 %%r3, s;\n\tmad.lo.u32 %%r1, %%r1, %d, %%r3;\n\tmov.u32 %%r2, 0x44444444;\n", matrixOut, matrixOut)
	for i := range matrixPool {
		fmt.Fprintf(&b, "\tld.global.u32 %%v%d, [%%rd1+%d];\n\tand.b32 %%v%d, %%v%d, 0x33ff33ff;\n", i, 4*i, i, i)
	}
	forms := slices.DeleteFunc(slices.Clone(matrixForms), func(f matrixForm) bool { return f.sm > sm })
	place := 0
	for range 3 + r.IntN(8) {
		f := forms[r.IntN(len(forms))]
		d := f.write(&b, r)
		for range r.IntN(4) {
			format := matrixUses[r.IntN(len(matrixUses))]
			if sm < 80 && strings.Contains(format, "f16x2.f32") {
				continue
			}
			b.WriteString("\t" + strings.NewReplacer("{d}", strconv.Itoa(d[r.IntN(len(d))]), "{x}", strconv.Itoa(r.IntN(matrixPool)),
				"{w}", strconv.Itoa(4*place), "{q}", strconv.Itoa(8*(place/2))).Replace(format) + "\n")
			place = min(place+1, matrixOut/4-matrixPool-2)
		}
	}
	for i := range matrixPool {
		fmt.Fprintf(&b, "\tst.global.u32 [%%rd2+%d], %%v%d;\n", matrixOut-4*(i+1), i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// write writes the instruction with random registers, half of the time accumulating, and returns those of its results.
func (f matrixForm) write(b *strings.Builder, r *rand.Rand) (d []int) {
	all := r.Perm(matrixPool)
	list := func(regs []int) string {
		s := make([]string, len(regs))
		for i, x := range regs {
			s[i] = fmt.Sprintf("%%v%d", x)
		}
		return "{" + strings.Join(s, ", ") + "}"
	}
	take := func(n int) (regs []int) {
		regs, all = all[:n], all[n:]
		return regs
	}
	if f.double {
		in := take(8)
		fmt.Fprintf(b, "\t{ .reg .f64 a, b, c, d; mov.b64 a, {%%v%d, %%v%d}; mov.b64 b, {%%v%d, %%v%d}; mov.b64 c, {%%v%d, %%v%d}; mov.b64 d, {%%v%d, %%v%d};\n", in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7])
		fmt.Fprintf(b, "\tmma.sync.aligned.%s {c, d}, {a}, {b}, {c, d}; mov.b64 {%%v%d, %%v%d}, c; mov.b64 {%%v%d, %%v%d}, d; }\n", f.text, in[4], in[5], in[6], in[7])
		return in[4:]
	}
	d = take(f.c)
	c := d
	if r.IntN(2) == 0 {
		c = take(f.c)
	}
	a, k := take(f.a), take(f.b)
	op, rest := "mma", ""
	if f.sparse {
		op, rest = "mma.sp", ", %r2, 0x0"
	}
	fmt.Fprintf(b, "\t%s.sync.aligned.%s %s, %s, %s, %s%s;\n", op, f.text, list(d), list(a), list(k), list(c), rest)
	return d
}

// TestMatrix writes kernels with matrix instructions, for compilers that are elsewhere.
func TestMatrix(t *testing.T) {
	if *writeMatrix == "" {
		return
	}
	for _, sm := range []int{75, 80} {
		r := rand.New(rand.NewPCG(*chipSeed, uint64(sm)))
		for file := range 8 {
			text := fmt.Sprintf(".version 7.1\n.target sm_%d\n.address_size 64\n", sm)
			for n := range *kernels {
				text += matrixKernel(r, fmt.Sprintf("k%d", n), sm)
			}
			if err := os.WriteFile(filepath.Join(*writeMatrix, fmt.Sprintf("%d-%d.ptx", sm, file)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// matrixKernels makes kernels with matrix instructions.
func matrixKernels(t *testing.T, add adder) {
	shape := chipKernel{Threads: 32, Input: make([]byte, 4*matrixPool*32), Out: 32 * matrixOut}
	blockKernels(t, add, 4, "sm_90", shape, func(r *rand.Rand) string { return matrixKernel(r, "k", 80) })
}

// blockKernels makes -chip-kernels kernels k from in to out, each block of which adds its outputs behind those of the blocks before: of a shape, with
// random inputs, and texts that are made with a stream of -chip-seed.
func blockKernels(t *testing.T, add adder, stream uint64, target string, shape chipKernel, text func(*rand.Rand) string) {
	tc := newest(t)
	r := rand.New(rand.NewPCG(*chipSeed, stream))
	for range *kernels {
		k := shape
		k.Name, k.Blocks, k.Args = "k", lanes/k.Threads, []chipArg{{"in", 0}, {"out", 0}}
		k.Cubin = slices.Clone(compile(t, tc, target, text(r)))
		fn, base := codeOf(k.Cubin, decode(t, tc, "k", k.Cubin), "k")
		if fn == nil {
			continue
		}
		k.Input = make([]byte, len(shape.Input))
		for i := range k.Input {
			k.Input[i] = byte(r.Uint32())
		}
		if f := Check(fn).Findings; len(f) > 0 {
			t.Errorf("honest code has a finding: %s", f[0].Missing(fn))
		}
		add(k, fn, base, nil)
	}
}
