package ptxgen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
)

func emitCL(t *testing.T, name string, o Options) *Unit {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	u, err := EmitOpenCL(x, o)
	require.NoError(t, err, name)
	return u
}

// TestOpenCLKernel: the whole text of one kernel.
func TestOpenCLKernel(t *testing.T) {
	u := emitCL(t, "cl-dlb-mp+mem_fences", Options{Target: "gfx900"})
	lits, err := u.Kernels[1].Spec.Literals()
	require.NoError(t, err)
	require.Len(t, lits, 7) // three entries, two dependencies, digest, header
	text := u.Kernels[1].Text
	require.True(t, strings.HasPrefix(text, "__attribute__((always_inline)) __kernel void "+u.Name+
		"_T1(__global int *p0, __global int *p1, volatile __global uint *out, uint v0, uint tok)\n{\n"), text)
	for _, line := range []string{
		"\tint q_r1 = v0;\n",
		"\tuint m2 = tok;\n",
		"\tq_r0 = *(volatile __global int *)((__global char *)p1); m0 = (uint)q_r0;\n",
		"\tq_p4 = (int)q_r0 == (int)0;\n",
		"\tif (!q_p4) { mem_fence(CLK_GLOBAL_MEM_FENCE); }\n",
		"\tif (!q_p4) { q_r1 = *(__global int *)((__global char *)p0); m2 = (uint)q_r1; }\n",
		"\tout[4] = tok ^ 0x",
		"\tout[8] = m2 ^ 0x",
	} {
		require.Contains(t, text, line)
	}
	require.True(t, u.Kernels[1].Library)
	require.False(t, u.Kernels[1].CL2)
	require.Equal(t, int64(16), u.Kernels[1].OutParam)
}

func TestOpenCLLayouts(t *testing.T) {
	off := emitCL(t, "cl-mp-local", Options{Target: "gfx900", Layout: spec.Offsets})
	require.Contains(t, off.Text, "__global char *gbase, __local char *sbase, uint pad_sbase, volatile __global uint *out")
	require.Contains(t, off.Text, "*(__local int *)((sbase + 64)) = (int)v1;")
	loc := emitCL(t, "cl-mp-local", Options{Target: "gfx900", Layout: spec.Symbols})
	require.Contains(t, loc.Text, "\t__local int "+loc.Kernels[0].Name+"_L1[4] __attribute__((aligned(16)));\n")
	require.False(t, loc.Kernels[0].CL2)
	glo := emitCL(t, "cl-mp", Options{Target: "gfx900", Layout: spec.Symbols})
	require.Contains(t, glo.Kernels[1].Text, "__global int "+glo.Kernels[1].Name+"_L0[4]")
	require.True(t, glo.Kernels[1].CL2, "variables of the program need OpenCL C 2.0")
	r := emitCL(t, "cl-mp-local", Options{Target: "cypress"})
	require.NotContains(t, r.Text, "pad_")
}

func TestOpenCLAtomics(t *testing.T) {
	u := emitCL(t, "cl-cas-sl+acquire+release", Options{Target: "gfx900"})
	require.Contains(t, u.Text, "__opencl_atomic_exchange((__global atomic_int *)((__global char *)p0), (int)v1, memory_order_release, memory_scope_device)")
	require.Contains(t, u.Text, "{ int expected = (int)v1; __opencl_atomic_compare_exchange_strong(")
	require.False(t, u.Kernels[0].Library)
	require.True(t, u.Kernels[0].CL2)
	f := emitCL(t, "mp+fence.acq_rel.gpus", Options{Target: "gfx900"})
	require.Contains(t, f.Text, `__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");`)
	v1 := emitCL(t, "cl-add+inc", Options{Target: "gfx900"})
	require.Contains(t, v1.Text, "q_r1 = atomic_inc((volatile __global int *)")
}

// TestOpenCLSpec: the specification that the kernel carries can be read back.
func TestOpenCLSpec(t *testing.T) {
	n := 0
	for _, x := range append(corpus.OpenCL(), corpus.Tests()...) {
		for _, l := range spec.Layouts {
			u, err := EmitOpenCL(x, Options{Target: "gfx900", Layout: l})
			var no *spec.Unsupported
			if err != nil {
				require.ErrorAs(t, err, &no, x.Name)
				continue
			}
			for _, k := range u.Kernels {
				lits, err := k.Spec.Literals()
				require.NoError(t, err)
				s, err := spec.Decode(lits)
				require.NoError(t, err, x.Name)
				require.True(t, s.Equal(k.Spec), x.Name)
				n++
			}
		}
	}
	require.Greater(t, n, 900)
}

func TestOpenCLUnsupported(t *testing.T) {
	for name, reason := range map[string]string{
		"mp+relaxed.clusters":         "no scope between work-group and device",
		"ptx-alias+fence.proxy.alias": "alias",
		"ptx-mp+spin":                 "does not follow from constants",
		"atoms":                       "wraps at a bound",
	} {
		x, _ := corpus.Lookup(name)
		_, err := EmitOpenCL(x, Options{Target: "gfx900"})
		var no *spec.Unsupported
		require.ErrorAs(t, err, &no, name)
		require.Contains(t, no.Reason, reason)
	}
	x, _ := corpus.Lookup("cl-mp+release.device+acquire.device")
	_, err := EmitOpenCL(x, Options{Target: "cypress"})
	require.ErrorContains(t, err, "r600 has no ordered atomics")
	shared, err := litmus.Parse("shared", []byte("GPU_PTX shared\n{}\n T0 ;\n ld.volatile.s32 r0, [x] ;\nScopeTree(grid(cta(warp T0)))\nx: shared\nexists (0:r0=1)\n"))
	require.NoError(t, err)
	_, err = EmitOpenCL(shared, Options{Target: "cypress", Layout: spec.Symbols})
	require.ErrorContains(t, err, "what nobody writes there is undefined")
	_, err = EmitOpenCL(shared, Options{Target: "cypress", Layout: spec.Pointers})
	require.NoError(t, err)
	_, err = Emit(x, Options{Target: "sm_80"})
	require.ErrorContains(t, err, "no PTX")
}
