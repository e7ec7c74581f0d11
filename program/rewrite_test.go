package program

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/internal/required"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/realcode"
	"optcheck/refine"
	"optcheck/target"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// compilers are the releases of ptxas with a disassembler.
func compilers(t *testing.T) (list []*toolchain.Toolchain) {
	all, errs := tested.CUDA(t.Context(), toolchain.Options{})
	require.Empty(t, errs)
	for _, tc := range all {
		if tc.Nvdisasm != "" {
			list = append(list, tc)
		}
	}
	if len(list) == 0 {
		required.Missing(t, "no ptxas")
	}
	return list
}

func module(t *testing.T, name string) (*Program, *ptx.Module) {
	p, err := Read("testdata/" + name + "/" + name + ".yaml")
	require.NoError(t, err)
	m, err := ptx.Parse(p.PTX.Name, p.PTX.Text)
	require.NoError(t, err)
	return p, m
}

// TestRewrite: the rewritten kernel is the program's behind what is put in front of
// it, and all of it is in the machine code of each release.
func TestRewrite(t *testing.T) {
	_, m := module(t, "dot")
	kernels := []string{"dotp"}
	sites := Sites(m, kernels)
	require.Len(t, sites, 6)
	fences := Full(1, 2, 4, 5)
	fences[3], fences[6], fences[-5] = ".acquire.gpu", ".release.gpu", "fence.acq_rel.gpu"
	for _, stress := range []bool{false, true} {
		out, err := Rewrite(m, kernels, fences, stress)
		require.NoError(t, err)
		text := string(out.Apply())
		require.Equal(t, 4, strings.Count(text, FullFence))
		require.Contains(t, text, "fence.acq_rel.gpu;\n\tst.global.u32\t[%rd7], %r23;")
		require.Contains(t, text, "atom.acquire.gpu.global.cas.b32 %r21")
		require.Equal(t, stress, strings.Contains(text, "optcheck_ctaid_x"))
		for _, tc := range compilers(t) {
			for _, level := range []string{"O0", "O3"} {
				gpu := tc.Targets[len(tc.Targets)-1]
				code, cubin, err := realcode.Cubin(t.Context(), tc, out, gpu, level)
				require.NoError(t, err)
				require.NotEmpty(t, cubin)
				sm, _ := target.SM(gpu)
				res := realcode.Check(out, code.Program, sm)
				class, reason := res.Class()
				require.Equal(t, realcode.Preserved, class, "%s %s %s: %s %+v", tc.ID, gpu, level, reason, res.Findings)
			}
		}
	}
}

// TestSame: whatever else changes is noticed.
func TestSame(t *testing.T) {
	_, m := module(t, "dot")
	kernels := []string{"dotp"}
	good, err := Rewrite(m, kernels, Full(5), true)
	require.NoError(t, err)
	text := string(good.Apply())
	for _, change := range []string{"bar.sync\t0;=>", "st.global.u32\t[%rd7]=>st.global.u32\t[%rd8]", "mad.lo.s32\t%r8=>mad.lo.s32\t%r9",
		"membar.gl;=>", "membar.gl;=>membar.cta;", "next:=>other:", "shr.u32\t%r14, %r14, 1;=>shr.u32\t%r14, %r14, 1; membar.gl;",
		"%optcheck_ctaid_x;\n\tmov.u32\t%r4=>%ctaid.y;\n\tmov.u32\t%r4"} {
		from, to, _ := strings.Cut(change, "=>")
		require.Contains(t, text, from)
		bad, err := ptx.Parse("m", []byte(strings.Replace(text, from, to, 1)))
		require.NoError(t, err)
		require.Error(t, Same(m, bad, kernels, Full(5)), change)
	}
}

// TestRefused: what cannot be rewritten is told, with its place.
func TestRefused(t *testing.T) {
	const head = ".version 7.8\n.target sm_90\n.address_size 64\n"
	for text, want := range map[string]string{
		".func f() { .reg .b32 %r; mov.u32 %r, %cluster_ctarank; ret; }\n.entry k(.param .u64 p) { ret; }": "m:4:27",
		".entry k(.param .u64 p) .explicitcluster { ret; }":                                                "clusters",
		".entry k(.param .u64 p) { .reg .b32 %r; mov.u32 %r, %cluster_ctarank; ret; }":                     "ids are permuted",
		".entry k() { .reg .b32 %r; mov.u32 %r, %tid.x; ret; }":                                            "",
		".entry k { ret; }": "no list of parameters",
	} {
		m, err := ptx.Parse("m", []byte(head+text))
		require.NoError(t, err)
		_, err = Rewrite(m, []string{"k"}, nil, true)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, want)
	}
}

// TestStrengthen: an access that acquires or releases has no other strength, and no cache
// operator, which does not go with one.
func TestStrengthen(t *testing.T) {
	const head = ".version 7.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 %r<3>; .reg .b64 %d;\n"
	for text, want := range map[string]string{
		"ld.global.cg.u32 %r1, [%d]":                      "ld.acquire.gpu.global.u32 %r1, [%d]",
		"ld.volatile.global.u32 %r1, [%d+4]":              "ld.acquire.gpu.global.u32 %r1, [%d+4]",
		"ld.relaxed.gpu.global.u32 %r1, [%d]":             "ld.acquire.gpu.global.u32 %r1, [%d]",
		"ld.global.u32 %r1, [%d]":                         "ld.acquire.gpu.global.u32 %r1, [%d]",
		"atom.global.cas.b32 %r1, [%d], %r1, %r2":         "atom.acquire.gpu.global.cas.b32 %r1, [%d], %r1, %r2",
		"atom.relaxed.sys.global.exch.b32 %r1, [%d], %r2": "atom.acquire.gpu.global.exch.b32 %r1, [%d], %r2",
	} {
		m, err := ptx.Parse("m", []byte(head+text+";\nret; }"))
		require.NoError(t, err)
		out, err := Rewrite(m, []string{"k"}, Fences{1: ".acquire.gpu"}, false)
		require.NoError(t, err, text)
		require.Contains(t, string(out.Apply()), want+";")
	}
}

// TestPermutedInFunctions: functions see the ids that the kernel sees, each warp and block those of another one.
func TestPermutedInFunctions(t *testing.T) {
	m, err := ptx.Parse("m", []byte(`.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 r) place()
{
	.reg .b32 %r<4>;
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	st.param.b32 [r], %r3;
	ret;
}
.entry k(.param .u64 out)
{
	.reg .b32 %r<5>; .reg .b64 %d<2>; .param .b32 p;
	call (p), place, ();
	ld.param.b32 %r4, [p];
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	ld.param.u64 %d0, [out];
	mad.wide.u32 %d1, %r3, 4, %d0;
	st.global.u32 [%d1], %r4;
	ret;
}
`))
	require.NoError(t, err)
	m, err = Rewrite(m, []string{"k"}, nil, true)
	require.NoError(t, err)
	p, err := lower.Kernel(m, "k")
	require.NoError(t, err)
	const blocks, threads, out = 3, 96, 0x7f0000000000
	in := &refine.Input{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}}
	in.Params = binary.LittleEndian.AppendUint64(nil, out)
	in.Params = binary.LittleEndian.AppendUint64(in.Params, 0)
	value := map[string]uint32{"gx": blocks, "gy": 1, "gz": 1, "ba": 2, "bb": 1, "wa": 2, "wb": 1}
	for _, x := range Params[1:] {
		in.Params = binary.LittleEndian.AppendUint32(in.Params, value[x.Name])
	}
	x, err := refine.Execute(p, in, emu.Policy{}, nil)
	require.NoError(t, err)
	require.True(t, x.Ended)
	for i := range uint32(blocks * threads) {
		require.Equal(t, i, binary.LittleEndian.Uint32(x.Memory.Bytes(out+4*uint64(i), 4)))
	}
}
