package prove_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/prove"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/sass"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// pair is a program and the machine code of it.
type pair struct{ program, machine *ir.Program }

const head = ".version 8.0\n.target sm_80\n.address_size 64\n"

// lowered compiles texts, which are kernels by their names.
func lowered(t *testing.T, tc *toolchain.Toolchain, texts map[string]string) map[string]pair {
	t.Helper()
	job := toolchain.Job{Target: "sm_80", Level: "O3", Header: head}
	for _, n := range slices.Sorted(maps.Keys(texts)) {
		job.Units = append(job.Units, toolchain.Unit{Name: n, Text: texts[n]})
	}
	res, err := tc.Compile(t.Context(), job)
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	out := map[string]pair{}
	for _, b := range res.Batches {
		listing, err := tc.Disassemble(t.Context(), b.Cubin, toolchain.DisasmOptions{})
		require.NoError(t, err)
		p, err := sass.Parse("listing", listing)
		require.NoError(t, err)
		f, err := cubin.Parse(b.Cubin)
		require.NoError(t, err)
		for n, text := range texts {
			if machine, err := sasslower.Kernel(p, f, n); err == nil {
				out[n] = pair{program(t, n, text), machine}
			}
		}
	}
	require.Len(t, out, len(texts))
	return out
}

func program(t *testing.T, name, text string) *ir.Program {
	t.Helper()
	m, err := ptx.Parse(name+".ptx", []byte(head+text))
	require.NoError(t, err)
	p, err := ptxlower.Kernel(m, name)
	require.NoError(t, err)
	return p
}

// kernel makes the text of a kernel of a, b (pointers, at which thread t has a word) and n.
func kernel(name, body string) string {
	return ".visible .entry " + name + `(.param .u64 pa, .param .u64 pb, .param .u32 pn)
{
	.reg .u64 a, b, d, e, o;
	.reg .u32 t, n, x, y, z, i;
	.reg .u16 h;
	.reg .pred p, q;
	.shared .align 16 .b8 sh[512];
	ld.param.u64 a, [pa];
	ld.param.u64 b, [pb];
	ld.param.u32 n, [pn];
	mov.u32 t, %tid.x;
	mul.wide.u32 o, t, 4;
	add.u64 a, a, o;
	add.u64 b, b, o;
` + body + "\n\tret;\n}\n"
}

// bodies are what is proved.
var bodies = map[string]string{
	"quotients": "ld.global.u32 x, [a]; div.u32 y, x, n; rem.s32 z, x, n; add.u32 y, y, z; div.u32 z, t, 7; add.u32 y, y, z; st.global.u32 [b], y;",
	"remainders": "ld.global.u32 x, [a]; rem.u32 y, x, n; ld.global.u32 z, [a+4]; div.s32 z, x, z; xor.b32 y, y, z; rem.s32 z, t, -10; " +
		"add.u32 y, y, z; st.global.u32 [b], y;",
	"twowords": "ld.global.u64 d, [a]; ld.global.u64 e, [a+8]; setp.lt.s64 p, d, e; @p add.s64 d, d, o; setp.ge.u64 q, d, o; @q sub.s64 d, d, e; " +
		"st.global.u64 [b], d;",
	"found": "ld.global.u64 d, [a]; bfind.s64 z, d; popc.b32 y, z; st.global.u32 [b], z; st.global.u32 [b+4], y;",
	"sums":  "ld.global.u32 x, [a]; mad.lo.u32 y, x, 12, n; sub.u32 y, y, t; shl.b32 z, x, 3; add.u32 y, y, z; st.global.u32 [b], y;",
	"logic": "ld.global.u32 x, [a]; ld.global.u32 y, [a+4]; and.b32 z, x, y; not.b32 z, z; xor.b32 z, z, n; add.u32 z, z, x; " +
		"st.global.u32 [b], z;",
	"wide": "ld.global.u64 d, [a]; cvt.s64.s32 e, n; add.s64 d, d, e; shl.b64 e, e, 3; add.s64 d, d, e; sub.s64 d, d, a; " +
		"st.global.u64 [b], d;",
	"fields": "ld.global.u32 x, [a]; bfe.s32 y, x, 5, 9; bfi.b32 z, x, y, 3, 7; prmt.b32 z, z, x, 0x6021; st.global.u32 [b], z;",
	"branch": "setp.ge.s32 p, t, n; @p bra L; ld.global.u32 x, [a]; setp.lt.u32 q, x, 7; @q add.u32 x, x, n; " +
		"@!q mul.lo.u32 x, x, x; st.global.u32 [b], x; L:",
	"counted": "mov.u32 i, 0; mov.u32 x, t; L: mad.lo.u32 x, x, 3, i; add.u32 i, i, 1; setp.lt.u32 p, i, 5; @p bra L; st.global.u32 [b], x;",
	"halves":  "ld.global.u16 h, [a]; add.u16 h, h, 9; st.global.u16 [b], h; st.global.u16 [b+2], h;",
	"shared": "mov.u32 y, sh; mad.lo.u32 y, t, 4, y; ld.global.u32 x, [a]; st.shared.u32 [y], x; bar.sync 0; " +
		"ld.shared.u32 z, [y+4]; st.global.u32 [b], z;",
	"atomic":  "ld.global.u32 x, [a]; atom.global.add.u32 y, [b], x; add.u32 y, y, 1; st.global.u32 [a], y;",
	"shuffle": "ld.global.u32 x, [a]; shfl.sync.bfly.b32 y, x, 3, 31, 0xffffffff; add.u32 y, y, x; st.global.u32 [b], y;",
	"loop": "mov.u32 i, 1; mov.u32 x, t; L: ld.global.u32 y, [a]; xor.b32 x, x, y; mad.lo.u32 x, x, 3, i; add.u64 a, a, 4; shl.b32 i, i, 1; " +
		"setp.lt.u32 p, i, n; @p bra L; st.global.u32 [b], x;",
	"rounds": "mov.u32 y, sh; mad.lo.u32 y, t, 4, y; st.shared.u32 [y], t; mov.u32 i, n; L: bar.sync 0; " +
		"ld.shared.u32 x, [y+4]; bar.sync 0; st.shared.u32 [y], x; shr.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra L; ld.shared.u32 z, [y]; st.global.u32 [b], z;",
	"search": "mov.u32 i, 1; L: ld.global.u32 x, [a]; setp.eq.u32 q, x, i; @q bra F; add.u64 a, a, 4; " +
		"shl.b32 i, i, 1; setp.lt.u32 p, i, n; @p bra L; bra N; F: st.global.u32 [b], i; N:",
	"nested": "mov.u32 i, n; mov.u32 x, t; L: mov.u32 z, 1; M: mad.lo.u32 x, x, 5, z; shl.b32 z, z, 1; setp.lt.u32 p, z, i; @p bra M; " +
		"shr.u32 i, i, 1; setp.ne.u32 q, i, 0; @q bra L; st.global.u32 [b], x;",
	"swap":   "ld.global.u32 x, [a]; L: atom.global.cas.b32 y, [b], x, t; setp.ne.u32 p, y, x; mov.u32 x, y; @p bra L;",
	"floats": ".reg .f32 f, g; ld.global.f32 f, [a]; fma.rn.f32 g, f, f, f; add.rn.f32 g, f, g; st.global.f32 [b], g;",
}

// changes are others that the machine code of a body does not compute.
var changes = map[string][][2]string{
	"sums":    {{"12", "13"}, {"shl.b32 z, x, 3", "shl.b32 z, x, 4"}, {"[b], y", "[b+4], y"}, {"sub.u32 y, y, t", "sub.u32 y, t, y"}},
	"logic":   {{"and", "or"}, {"[a+4]", "[a+8]"}, {"xor.b32 z, z, n", "xor.b32 z, z, t"}},
	"wide":    {{"cvt.s64.s32", "cvt.u64.u32"}, {"sub.s64 d, d, a", "sub.s64 d, d, b"}},
	"fields":  {{"bfe.s32", "bfe.u32"}, {"0x6021", "0x6041"}, {"3, 7", "3, 8"}},
	"branch":  {{"setp.ge.s32", "setp.gt.s32"}, {"setp.lt.u32", "setp.lt.s32"}, {"@q add", "@!q add"}},
	"counted": {{"i, 5", "i, 6"}, {"x, 3, i", "x, i, 3"}},
	"halves":  {{"[b+2]", "[b+6]"}, {"h, 9", "h, 8"}},
	"shared":  {{"bar.sync 0;", ""}, {"[y+4]", "[y+8]"}, {"bar.sync 0", "bar.sync 1"}},
	"atomic":  {{"add.u32 y, [b]", "max.u32 y, [b]"}, {"[b], x", "[b], t"}, {"y, y, 1", "y, y, 2"}},
	"shuffle": {{"x, 3", "x, 1"}, {"bfly", "down"}},
	"loop": {{"x, 3, i", "x, 3, t"}, {"a, a, 4", "a, a, 8"}, {"setp.lt", "setp.le"}, {"i, i, 1; setp", "i, i, 2; setp"}, {"i, 1;", "i, 2;"},
		{"mov.u32 x, t", "mov.u32 x, n"}, {"[b], x", "[b], y"}},
	"rounds": {{"shr.u32 i, i, 1", "shr.u32 i, i, 2"}, {"[y], t", "[y], n"}, {"[y+4]", "[y+8]"}, {"p, i, 0", "p, i, 1"}},
	"search": {{"[b], i", "[b], n"}, {"q, x, i", "q, x, n"}, {"setp.lt", "setp.le"}, {"a, a, 4", "a, a, 12"}},
	"nested": {{"x, 5, z", "x, 5, i"}, {"mov.u32 z, 1", "mov.u32 z, 2"}, {"i, i, 1", "i, i, 2"}, {"p, z, i", "p, z, n"}},
	"swap":   {{"x, t", "x, n"}, {"mov.u32 x, y", "mov.u32 x, t"}, {"setp.ne", "setp.eq"}},
	"floats": {{"g, f, g", "g, g, g"}, {"f, f, f", "f, f, g"}},
}

// TestProve: kernels are proved, and no change of one is proved to be computed by the machine code of the kernel.
func TestProve(t *testing.T) {
	texts := map[string]string{}
	for name, body := range bodies {
		texts[name] = kernel(name, body)
	}
	list := lowered(t, tested.Release(t, "12.4"), texts)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p := list[name]
		r := prove.Prove(p.program, p.machine, prove.Thorough)
		require.Truef(t, r.Proved, "%s: %s", name, r.Why)
		for _, c := range changes[name] {
			require.Contains(t, bodies[name], c[0])
			wrong := program(t, name, kernel(name, strings.Replace(bodies[name], c[0], c[1], 1)))
			require.Falsef(t, prove.Prove(wrong, p.machine, prove.Thorough).Proved, "%s: %s", name, c[1])
		}
	}
}

// TestCutOff: code of which the end is missing is not proved, wherever it was cut, and whatever jumps behind its end.
func TestCutOff(t *testing.T) {
	p := program(t, "cut", kernel("cut", "setp.lt.u32 p, t, 7; @p bra L; st.global.u32 [a], n; L: setp.lt.u32 q, n, 9; @q bra M; st.global.u32 [b], n; M:"))
	for n := range p.Insts {
		short := *p
		short.Insts = p.Insts[:n]
		require.False(t, prove.Prove(p, &short, prove.Thorough).Proved, n)
	}
	require.True(t, prove.Prove(p, p, prove.Thorough).Proved)
}
