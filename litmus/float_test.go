package litmus

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestFloatAdd: sums of binary32 are those of the processor; of narrower formats, sums of numbers that binary32 has are rounded once.
func TestFloatAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint32().Draw(t, "a"), rapid.Uint32().Draw(t, "b")
		want := int64(math.Float32bits(math.Float32frombits(a) + math.Float32frombits(b)))
		if f := math.Float32frombits(uint32(want)); f != f {
			want = 0x7fffffff
		}
		assert.Equal(t, want, FloatAdd(F32, int64(a), int64(b), false), "%x+%x", a, b)
	})
	for _, c := range []struct {
		t          Type
		a, b, want int64
	}{
		{F16, 0x3c00, 0x3c00, 0x4000},                           // 1+1
		{F16, 0x6800, 0x3c00, 0x6800},                           // 2048+1: a tie, to even
		{F16, 0x6801, 0x3c00, 0x6802},                           // 2050+1
		{F16, 0x7bff, 0x7bff, 0x7c00},                           // overflow
		{F16, 0x0001, 0x0001, 0x0002},                           // subnormal
		{F16, 0x03ff, 0x0001, 0x0400},                           // to normal
		{F16, 0x3c00, 0xbc00, 0},                                // 1-1
		{F16, 0x7c00, 0xfc00, 0x7fff},                           // no number
		{BF16, 0x3f80, 0x3f80, 0x4000},                          // 1+1
		{BF16, 0x4380, 0x3f80, 0x4380},                          // 256+1: a tie
		{BF16, 0x7f00, 0x0001, 0x7f00},                          // far apart
		{F64, 1 << 52, 1 << 52, 0x0020000000000000},             // 2^-1022 twice
		{F32, 0x3f800000, 0x33800000, 0x3f800000},               // 1+2^-24: a tie
		{F32, 0x80000000, 0x80000000, 0x80000000},               // -0-0
		{F64, 0x7ff0000000000000, -1 << 52, 0x7fffffffffffffff}, // no number
	} {
		assert.Equal(t, c.want, FloatAdd(c.t, c.a, c.b, false), "%v %x+%x", c.t, c.a, c.b)
		assert.Equal(t, c.want, FloatAdd(c.t, c.b, c.a, false), "%v %x+%x", c.t, c.b, c.a)
	}
	assert.EqualValues(t, 0, FloatAdd(F32, 1, 1, true))
	assert.EqualValues(t, 2, FloatAdd(F32, 1, 1, false))
	assert.EqualValues(t, 0x80000000, FloatAdd(F32, 0x80000001, 0x80000000, true))
	assert.EqualValues(t, 0, FloatAdd(F32, 0x00800001, 0x80800000, true), "a subnormal difference")
}

// TestFloatLeast: numbers are compared as such, with their signs; -0 is below +0; a number is chosen before what is none.
func TestFloatLeast(t *testing.T) {
	for _, c := range []struct {
		t                 Type
		a, b, least, most int64
	}{
		{F16, 0x3c00, 0xbc00, 0xbc00, 0x3c00},  // 1, -1
		{F16, 0xbc00, 0xc000, 0xc000, 0xbc00},  // -1, -2
		{F16, 0x0000, 0x8000, 0x8000, 0x0000},  // +0, -0
		{F16, 0x0001, 0x8001, 0x8001, 0x0001},  // subnormal
		{F16, 0x7c00, 0xfc00, 0xfc00, 0x7c00},  // infinities
		{F16, 0x7e00, 0x3c00, 0x3c00, 0x3c00},  // no number, 1
		{F16, 0x7e01, 0xfe02, 0x7fff, 0x7fff},  // no numbers
		{BF16, 0x3f80, 0xbf80, 0xbf80, 0x3f80}, // 1, -1
		{BF16, 0x7fc0, 0xff80, 0xff80, 0xff80}, // no number, -infinity
		{F32, 0x3f800000, 0x40000000, 0x3f800000, 0x40000000},
		{F64, 0x3ff0000000000000, -0x4010000000000000, -0x4010000000000000, 0x3ff0000000000000},
	} {
		assert.Equal(t, c.least, FloatLeast(c.t, c.a, c.b, false), "%v %x %x", c.t, c.a, c.b)
		assert.Equal(t, c.least, FloatLeast(c.t, c.b, c.a, false), "%v %x %x", c.t, c.b, c.a)
		assert.Equal(t, c.most, FloatLeast(c.t, c.a, c.b, true), "%v %x %x", c.t, c.a, c.b)
		assert.Equal(t, c.most, FloatLeast(c.t, c.b, c.a, true), "%v %x %x", c.t, c.b, c.a)
	}
}
