package refine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestExtreme: what distinguishes two operations on numbers that are subnormal, infinite or none is noticed though nothing is compared with them.
func TestExtreme(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .f32 x)
.maxntid 32, 1, 1
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .b16 %h<9>;
	ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to]; ld.param.f32 %f0, [x];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d2, %r0, 8, %d0; mad.wide.u32 %d3, %r0, 8, %d1;
	`+body+`
	ret;
}
`)
	}
	single := func(op string) string {
		return "ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+1024]; " + op + "; st.global.f32 [%d3], %f3;"
	}
	double := func(op string) string {
		return "ld.global.f64 %e1, [%d2]; ld.global.f64 %e2, [%d2+1024]; " + op + "; st.global.f64 [%d3], %e3;"
	}
	for _, c := range [][2]string{
		{single("add.ftz.f32 %f3, %f1, %f2"), single("add.f32 %f3, %f1, %f2")},
		{single("mul.f32 %f3, %f1, %f2"), single("mul.ftz.f32 %f3, %f1, %f2")},
		{single("min.f32 %f3, %f1, %f2"), single("min.NaN.f32 %f3, %f1, %f2")},
		{single("fma.rn.f32 %f3, %f1, %f2, %f1"), single("fma.rn.sat.f32 %f3, %f1, %f2, %f1")},
		{single("cvt.rzi.s32.f32 %r3, %f1; mov.b32 %f3, %r3"), single("cvt.rzi.u32.f32 %r3, %f1; mov.b32 %f3, %r3")},
		{single("abs.f32 %f3, %f1"), single("abs.ftz.f32 %f3, %f1")},
		{double("add.f64 %e3, %e1, %e2"), double("sub.f64 %e3, %e1, %e2")},
		{double("abs.f64 %e3, %e1"), double("add.f64 %e3, %e1, 0d0000000000000000")},
	} {
		compare := func(a, b string) *refine.Result {
			r, err := refine.Compare(context.Background(), text(a), text(b), refine.Options{Runs: 8, Seed: 1, Search: 1 << 20})
			require.NoError(t, err)
			return r
		}
		require.Empty(t, compare(c[0], c[0]).Findings, c[0])
		require.NotEmpty(t, compare(c[0], c[1]).Findings, c[1])
	}
}

// TestSameNumber: a result that is none is any that is none, in each half of a pair; zeros differ in their sign.
func TestSameNumber(t *testing.T) {
	for _, c := range []struct {
		t    ir.Type
		a, b uint64
		same bool
	}{
		{ir.F64, 0x7ff8000000000000, 0xfff8000000000000, true}, {ir.F64, 0x7ff0000000000000, 0x7ff8000000000000, false},
		{ir.F32, 0x7fffffff, 0xffc00000, true}, {ir.F32, 0, 0x80000000, false}, {ir.F16x2, 0x7fff3c00, 0xfe003c00, true},
		{ir.F16x2, 0x7fff3c00, 0xfe003c01, false}, {ir.BF16x2, 0x3f807fff, 0x3f80ffff, true}, {ir.U32, 0x7fffffff, 0xffffffff, false},
	} {
		require.Equal(t, c.same, refine.SameNumber(c.t, c.a, c.b), c)
	}
}

// TestChosenNaN: which NaN a choice between numbers leaves is open, that it leaves one is not.
func TestChosenNaN(t *testing.T) {
	text := func(body string) *ir.Program {
		return program(t, ".reg .f32 %f<9>; ld.global.f32 %f1, [%d1+4096]; "+body+" st.global.f32 [%d1], %f2;")
	}
	hard := text("setp.gt.f32 %p1, %f1, 0f3F800000; selp.f32 %f2, 0f3F800000, %f1, %p1;")
	for body, same := range map[string]bool{
		"min.NaN.f32 %f2, %f1, 0f3F800000;":                                     true,
		"min.f32 %f2, %f1, 0f3F800000;":                                         false,
		"setp.gt.f32 %p1, %f1, 0f3F800000; selp.b32 %f2, 0f3F800000, %f1, %p1;": true,
	} {
		r, err := refine.Compare(context.Background(), hard, text(body), refine.Options{Runs: 8, Search: 1 << 20})
		require.NoError(t, err)
		require.Equal(t, same, len(r.Findings) == 0, body)
	}
}
