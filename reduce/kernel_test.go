package reduce

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// program has what a kernel may need of its module, and what it does not.
const program = `.version 7.0
.target sm_80, debug
.address_size 64
.extern .func  (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 4 .u32 unused, used[2] = {1, 2};
.shared .align 8 .b8 tile[64];
.func (.param .b32 r) twice(.param .b32 x)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [x];
	add.u32 %r2, %r1, used;
	st.param.b32 [r], %r2;
	ret;
}
.visible .entry other() { ret; }
.visible .entry whole(.param .u64 whole_0, .param .u32 whole_1, .param .u64 whole_2)
.maxntid 64, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [whole_0]; // a comment
	ld.param.u32 %r1, [whole_1];
	.loc 1 1 1
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	setp.eq.s32 %p1, %r2, 0;
	@%p1 bra $done;
	{ .reg .b32 %r1; .param .b32 a; .param .b32 b;
	mov.u32 %r1, 5; st.param.b32 [a], %r1; call.uni (b), twice, (a); ld.param.b32 %r3, [b]; }
$again:
	ld.volatile.global.u32 %r4, [%rd3+8];
	setp.ne.s32 %p2, %r4, %r1;
	@%p2 bra $again;
	ld.acquire.gpu.global.u32 %r5, [%rd3+8];
	ld.global.v2.u32 {%r6, %r7}, [%rd1];
	add.u32 %r8, %r6, %r3;
	st.shared.u32 [tile+4], %r8;
$done:
	ret;
}
`

func kernelOf(t require.TestingT, text, name string) *Kernel {
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	return Extract(m, m.Func(name))
}

func TestExtract(t *testing.T) {
	k := kernelOf(t, program, "whole")
	require.Equal(t, `.version 7.0
.target sm_80
.address_size 64

.global .align 4 .u32 unused, used[2] = {1, 2};

.shared .align 8 .b8 tile[64];

.func (.param .b32 r) twice(.param .b32 x)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [x];
	add.u32 %r2, %r1, used;
	st.param.b32 [r], %r2;
	ret;
}

.visible .entry k(.param .u64 p0, .param .u32 p1)
.maxntid 64, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	.param .b32 a;
	.param .b32 b;
	ld.param.u64 %rd1, [p0];
	ld.param.u32 %r1, [p1];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	setp.eq.s32 %p1, %r2, 0;
	@%p1 bra L2;
	mov.u32 %r3, 5;
	st.param.b32 [a], %r3;
	call.uni (b), twice, (a);
	ld.param.b32 %r4, [b];
L1:
	ld.volatile.global.u32 %r5, [%rd3+8];
	setp.ne.s32 %p2, %r5, %r1;
	@%p2 bra L1;
	ld.acquire.gpu.global.u32 %r6, [%rd3+8];
	ld.global.v2.u32 {%r7, %r8}, [%rd1];
	add.u32 %r9, %r7, %r4;
	st.shared.u32 [tile+4], %r9;
L2:
	ret;
}
`, k.String())
	require.Equal(t, 19, k.Len())
	require.Equal(t, k.String(), k.named().String(), "names are given once")
	require.Contains(t, k.print("_7"), ".visible .entry k_7(")
	require.Contains(t, k.print("_7"), "[tile_7+4], %r9")
}

// TestRemove: registers that are still read get a value: an address is a parameter, what is none
// is 0; a condition that is known goes.
func TestRemove(t *testing.T) {
	k := kernelOf(t, program, "whole")
	without := func(k *Kernel, texts ...string) *Kernel {
		gone := map[int]bool{}
		for _, s := range k.body {
			for _, x := range texts {
				gone[s.id] = gone[s.id] || strings.Contains(s.text, x)
			}
		}
		out, key := k.after(kernelStep{apply: func(k *Kernel) bool { return k.remove(gone) }})
		require.NotEmpty(t, key)
		return out
	}
	less := without(k, "twice", "b32 %r4, [b]", "add.s64", "setp.eq").named().String()
	require.Contains(t, less, ".visible .entry k(.param .u64 p0, .param .u32 p1, .param .b64 p2)\n")
	require.Contains(t, less, "\tld.param.b64 %rd2, [p2];\n")
	require.Contains(t, less, "\tmov.b32 %r3, 0;\n")
	require.NotContains(t, less, "L2")
	require.NotContains(t, less, ".func")
	least := without(k, "ld.", "st.", "add", "mov", "call", "bra", "setp")
	require.Equal(t, "\tret;\n", least.String()[strings.Index(least.String(), "\tret"):strings.Index(least.String(), "}")])
	require.Zero(t, len(least.params)+len(least.vars)+len(least.globals))
}

// TestKernelSteps: whatever steps are taken in whatever order, the kernel can be read and has no
// new flaws, and there is an end.
func TestKernelSteps(t *testing.T) {
	start := kernelOf(t, program, "whole")
	rapid.Check(t, func(rt *rapid.T) {
		k := start
		for n := 0; ; n++ {
			if n > 200 {
				rt.Fatalf("no end:\n%s", k)
			}
			list := append(k.chunks(rapid.SampledFrom([]int{1, 1, 3}).Draw(rt, "n")), k.fine()...)
			from, now := rapid.IntRange(0, len(list)).Draw(rt, "step"), k.String()
			for _, s := range append(list[from:len(list):len(list)], list[:from]...) {
				if next, key := k.after(s); key != "" && key != now {
					k = next
					break
				}
			}
			if k.String() == now {
				break
			}
			require.Empty(rt, k.fresh())
			require.Equal(rt, k.Len(), k.named().Len())
		}
		require.LessOrEqual(rt, k.Len(), 1, k.String())
	})
}

func TestFlaws(t *testing.T) {
	k := kernelOf(t, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"+
		".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n@%p1 mov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\n"+
		"@%p1 bra E;\nmov.u32 %r2, 2;\nE: st.global.u32 [%rd1], %r2;\nst.global.u32 [16], %r2;\nret;\n}\n", "k")
	require.Equal(t, flaws{"%p1": true, "%r1": true, "%r2": true, "a number as address": true}, k.flaws())
	require.Empty(t, k.fresh(), "it came with them")
}

func realModule(t *testing.T, file string) *ptx.Module {
	t.Helper()
	data, err := os.ReadFile("../realcode/testdata/" + file)
	require.NoError(t, err)
	m, err := ptx.Parse(file, data)
	require.NoError(t, err)
	return m
}

// TestRealKernels reduces findings in real PTX with the real compilers. Each result is found by an
// audit of its own, is 1-minimal, and reducing it again changes nothing.
func TestRealKernels(t *testing.T) {
	all := releases(t)
	for _, c := range []struct {
		file, release, want, class string
		most                       int
		good                       string
	}{
		{"patterns.ptx", "11.8", "missing", event.Miscompiled, 10, "12.4"},
		{"narrow.ptx", "12.4", "weakened", event.Changed, 8, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			tcs, err := toolchain.Find(all, c.release)
			if err != nil {
				required.Missing(t, "%v", err)
			}
			f, err := Find(t.Context(), realModule(t, c.file), c.want, tcs, []string{"sm_80"}, []string{"O3"})
			require.NoError(t, err)
			require.Equal(t, c.class, f.Signature.Class)
			res, err := RunKernel(t.Context(), f, KernelOptions{Others: all})
			require.NoError(t, err)
			t.Logf("%d rounds, %d candidates\n%s", res.Rounds, res.Candidates, res.Kernel)
			require.LessOrEqual(t, res.Kernel.Len(), c.most)
			require.Equal(t, f.Signature, res.Min.Signature)
			require.Equal(t, f.Signature.First, opOf(res.Finding.First))
			if c.good != "" {
				require.Contains(t, res.Good.ID, c.good)
				other := res.Min
				other.Toolchain = res.Good
				cell, _, err := other.Confirm(t.Context())
				require.ErrorIs(t, err, ErrNotThere)
				require.Equal(t, realcode.Preserved, cell.Class)
			}
			again := res.Min
			twice, err := RunKernel(t.Context(), &again, KernelOptions{Others: all})
			require.NoError(t, err)
			require.Empty(t, twice.Steps)
			require.Equal(t, res.Kernel.String(), twice.Kernel.String())
		})
	}
}

// TestKernelEnds: a limit ends a reduction with what was reached, a cancelled context without.
func TestKernelEnds(t *testing.T) {
	tcs, err := toolchain.Find(releases(t), "11.8")
	if err != nil {
		required.Missing(t, "%v", err)
	}
	f, err := Find(t.Context(), realModule(t, "patterns.ptx"), "", tcs, []string{"sm_80"}, []string{"O3"})
	require.NoError(t, err)
	res, err := RunKernel(t.Context(), f, KernelOptions{Limit: time.Nanosecond})
	require.NoError(t, err)
	require.True(t, res.Stopped)
	require.Empty(t, res.Steps)
	require.Equal(t, f.Signature, res.Min.Signature)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = RunKernel(ctx, f, KernelOptions{Progress: func(Round) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Find(t.Context(), f.Module, "duplicated", tcs, []string{"sm_80"}, []string{"O3"})
	require.ErrorIs(t, err, ErrNotThere)
}
