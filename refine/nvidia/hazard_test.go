package nvidia_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/isa"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/hazard"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

const inFlight = `
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
{
	.reg .u64 a, b, o;
	.reg .u32 t, v, x, i, m;
	.reg .pred l;
	ld.param.u64 a, [p];
	ld.param.u64 b, [q];
	ld.param.u32 m, [n];
	mov.u32 t, %tid.x;
	mul.wide.u32 o, t, 4;
	add.u64 a, a, o;
	add.u64 b, b, o;
	mov.u32 x, 1;
	and.b32 m, m, 3;
	mov.u32 i, 0;
again:
	ld.volatile.global.u32 v, [a];
	mad.lo.u32 x, x, v, t;
	add.u32 i, i, 1;
	setp.lt.u32 l, i, m;
	@l bra again;
more:
	.pragma "nounroll";
	st.global.u32 [b], x;
	mad.lo.u32 x, x, 5, i;
	add.u64 b, b, 512;
	add.u32 i, i, 1;
	setp.lt.u32 l, i, 9;
	@l bra more;
	st.global.u32 [b], x;
	ret;
}
`

func program(t *testing.T, m *ptx.Module) *ir.Program {
	t.Helper()
	p, err := ptxlower.Kernel(m, "k")
	require.NoError(t, err)
	return p
}

func lowered(t *testing.T, prog *isa.Program, f *cubin.File) *ir.Program {
	t.Helper()
	p, err := sasslower.Kernel(prog, f, "k")
	require.NoError(t, err)
	return p
}

// TestHazard: each control code of a kernel is taken away, and each register that is then in flight is used so. A counterexample shows again.
func TestHazard(t *testing.T) {
	tc := tested.Release(t, "12.4")
	head := ".version 7.8\n.target sm_80\n.address_size 64\n"
	m, err := ptx.Parse("k.ptx", []byte(head+inFlight))
	require.NoError(t, err)
	for _, target := range []string{"sm_80", "sm_90"} {
		res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O3", Header: head, Units: []toolchain.Unit{{Name: "unit", Text: inFlight}}})
		require.NoError(t, err)
		require.Empty(t, res.Failed)
		cub := res.Batches[0].Cubin
		listing, err := tc.Disassemble(t.Context(), cub, toolchain.DisasmOptions{Encoding: true})
		require.NoError(t, err)
		p, err := sass.Parse("listing", listing)
		require.NoError(t, err)
		f, err := cubin.Parse(cub)
		require.NoError(t, err)
		fn := p.Funcs[0]
		require.Empty(t, hazard.Check(fn).Findings)
		shown, all := map[string]int{}, 0
		for i := range fn.Insts {
			was := fn.Insts[i].Control
			for _, edit := range []func(c *isa.Control){func(c *isa.Control) { c.Wait = 0 }, func(c *isa.Control) { c.Write = isa.NoBarrier },
				func(c *isa.Control) { c.Read = isa.NoBarrier }, func(c *isa.Control) { c.Stall = 1 }} {
				edit(&fn.Insts[i].Control)
				for _, x := range hazard.Judge(fn).Claims {
					all++
					got, err := nvidia.Hazard(t.Context(), m, p, f, "k", fn.Name, x.Finding, refine.Options{Runs: 2})
					require.NoError(t, err)
					require.Empty(t, got.Cannot)
					if len(got.Findings) == 0 {
						continue
					}
					require.Positive(t, got.Early, x.Detail)
					shown[x.Rule()]++
					again, err := nvidia.Early(p, lowered(t, p, f), got.Findings[0].Early)
					require.NoError(t, err)
					o := refine.Options{Inputs: []*refine.Input{got.Findings[0].Input}, Early: again}
					res, err := refine.Compare(t.Context(), program(t, m), lowered(t, p, f), o)
					require.NoError(t, err)
					require.Equal(t, got.Findings[0].Why, res.Findings[0].Why, "replayed")
				}
				fn.Insts[i].Control = was
			}
		}
		t.Log(target, all, shown)
		for _, rule := range []string{"hazard-raw", "hazard-waw", "hazard-war"} {
			require.Positive(t, shown[rule], "%s %s", target, rule)
		}
	}
}
