package ir

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApproximateNaNs: approximate functions make one NaN of all operands of which the result is no number, as an H200 does.
func TestApproximateNaNs(t *testing.T) {
	for _, c := range []struct {
		f        Approximate
		typ      Type
		of       []uint64
		expected uint64
	}{
		{ApproxRsqrt, F32, []uint64{0xbf800000, 0x7fc00001, 0xffc12345, 0xff800000}, 0x7fffffff},
		{ApproxSqrt, F32, []uint64{0xbf800000, 0x7fc00001, 0xffc12345, 0xff800000}, 0x7fffffff},
		{ApproxLg2, F32, []uint64{0xbf800000, 0x7fc00001, 0xffc12345, 0xff800000}, 0x7fffffff},
		{ApproxRcp, F32, []uint64{0x7fc00001, 0xffc12345}, 0x7fffffff},
		{ApproxEx2, F32, []uint64{0x7fc00001, 0xffc12345}, 0x7fffffff},
		{ApproxSinTurn, F32, []uint64{0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000}, 0x7fffffff},
		{ApproxCosTurn, F32, []uint64{0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000}, 0x7fffffff},
		{ApproxTanh, F32, []uint64{0x7fc00001, 0xffc12345}, 0x7fffffff},
		{ApproxTanh, F16, []uint64{0x7e01, 0xfe12, 0x7fff}, 0x7fff},
		{ApproxEx2, F16, []uint64{0x7e01, 0xfe12, 0x7fff}, 0x7fff},
		{ApproxRsqrt64H, F32, []uint64{0xbff00000, 0x7ff80000, 0xfff81234, 0xfff00000}, 0x7fffffff},
		{ApproxRcp64H, F32, []uint64{0x7ff80000, 0xfff81234}, 0x7fffffff},
	} {
		for _, a := range c.of {
			got := approximate(&Op{Code: Approx, Type: c.typ, Imm: uint64(c.f)}, &[4]uint64{a}, 0)
			require.Equal(t, c.expected, got, "function %d of %#x", c.f, a)
		}
	}
}
