package hazard

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var chipGroups = flag.Bool("chip-groups", false, "-write-chip takes random kernels with products of matrices by a warpgroup alone")

const (
	groupThreads = 128
	groupWords   = 16  // of input, of each thread
	groupOut     = 256 // bytes of output, of each thread
)

// groupKernel is a random kernel of one warpgroup, which fills shared memory from in, multiplies matrices from there and from registers in groups,
// and writes what it has computed to out between waits.
func groupKernel(r *rand.Rand, name string) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n", name)
	put(".shared .align 128 .b8 s[%d];", 4*groupWords*groupThreads)
	put(".reg .b32 %%r<4>, %%a<4>, %%v<%d>;\n\t.reg .f32 %%d<32>;\n\t.reg .b64 %%rd<8>;", groupWords)
	put("ld.param.u64 %%rd1, [in];\n\tld.param.u64 %%rd2, [out];\n\tmov.u32 %%r1, %%tid.x;\n\tmov.u32 %%r2, %%ctaid.x;")
	put("mad.wide.u32 %%rd1, %%r1, %d, %%rd1;\n\tmad.lo.u32 %%r3, %%r2, %d, %%r1;\n\tmad.wide.u32 %%rd2, %%r3, %d, %%rd2;", 4*groupWords, groupThreads, groupOut)
	put("mov.u32 %%r2, s;\n\tmad.lo.u32 %%r3, %%r1, %d, %%r2;", 4*groupWords)
	for i := range groupWords {
		put("ld.global.u32 %%v%d, [%%rd1+%d];\n\tand.b32 %%v%d, %%v%d, 0x33ff33ff;\n\tst.shared.u32 [%%r3+%d], %%v%d;", i, 4*i, i, i, 4*i, i)
	}
	for i := range 32 {
		put("cvt.rn.f32.u32 %%d%d, %%v%d;", i, i%groupWords)
	}
	for i := range 4 {
		put("mov.b32 %%a%d, %%v%d;", i, 3*i)
	}
	put("fence.proxy.async.shared::cta;\n\tbar.sync 0;")
	put("shr.u32 %%r2, %%r2, 4;\n\tcvt.u64.u32 %%rd3, %%r2;\n\tor.b64 %%rd3, %%rd3, 0x0000001000080000;\n\tadd.u64 %%rd4, %%rd3, 64;")
	place := 0
	for range 2 + r.IntN(3) {
		columns, first := 8*(1+r.IntN(2)), 0
		put("wgmma.fence.sync.aligned;")
		var written []int
		for range 1 + r.IntN(3) {
			first = 16 * r.IntN(2)
			d := make([]string, columns/2)
			for i := range d {
				d[i] = fmt.Sprintf("%%d%d", first+i)
				written = append(written, first+i)
			}
			a, tail := "{%a0, %a1, %a2, %a3}", "1, 1, 0"
			if r.IntN(2) == 0 {
				a, tail = "%rd4", "1, 1, 0, 0"
			}
			put("wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, %s, %%rd3, 1, %s;", columns, strings.Join(d, ", "), a, tail)
		}
		put("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;")
		for range 1 + r.IntN(3) {
			d := written[r.IntN(len(written))]
			switch r.IntN(4) {
			case 0:
				put("st.global.f32 [%%rd2+%d], %%d%d;", 4*place, d)
				place = min(place+1, groupOut/4-33)
			case 1:
				put("add.f32 %%d%d, %%d%d, %%d%d;", d, d, written[0])
			case 2:
				put("cvt.rn.f16x2.f32 %%a%d, %%d%d, %%d%d;\n\tand.b32 %%a0, %%a0, 0x33ff33ff;", r.IntN(4), d, written[0])
			default:
				put("mov.b32 %%a%d, %%v%d;", r.IntN(4), r.IntN(groupWords))
			}
		}
	}
	for i := range 32 {
		put("st.global.f32 [%%rd2+%d], %%d%d;", groupOut-4*(i+1), i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// groupKernels makes such kernels.
func groupKernels(t *testing.T, add adder) {
	shape := chipKernel{Threads: groupThreads, Input: make([]byte, 4*groupWords*groupThreads), Out: groupThreads * groupOut}
	blockKernels(t, add, 5, "sm_90a", shape, func(r *rand.Rand) string { return groupKernel(r, "k") })
}
