package verify

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestSetup: the launch of a finding is written out with what its buffers hold before, a flag that is not set, and behind every schedule.
func TestSetup(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	o := Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}}, Inputs: 1, Schedules: 2, Unmended: true}
	r, err := Kernel(m, "flag_plain", &o)
	require.NoError(t, err)
	require.Len(t, r.Found, 1, r.Text())
	s, err := o.Setup(m, "flag_plain", r.Found[0])
	require.NoError(t, err)
	require.Len(t, s.Buffers, 3)
	require.Equal(t, []byte{0, 0, 0, 0}, s.Buffers[0].Data)
	require.Equal(t, []byte{1, 0, 0, 0}, s.Buffers[0].End)
	require.Equal(t, []byte{42, 0, 0, 0}, s.Buffers[1].End)
	require.Equal(t, []byte{42, 0, 0, 0}, s.Buffers[2].End[4:], "what block 1 has read")
	require.Equal(t, []SetupArg{{0, s.Args[0].Value, 8}, {1, s.Args[1].Value, 8}, {2, s.Args[2].Value, 8}}, s.Args)
}

// TestParts: parts of a struct are given as whole parameters are: a buffer, numbers of the size that the kernel reads.
func TestParts(t *testing.T) {
	m, err := ptx.Parse("parts.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 s[24])
{
	.reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred %p<2>;
	ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8]; ld.param.f32 %f1, [s+16];
	mov.u32 %r1, %tid.x;
	cvt.u64.u32 %rd3, %r1;
	setp.ge.u64 %p1, %rd3, %rd2;
	@%p1 ret;
	setp.neu.f32 %p1, %f1, 0f3FC00000;
	@%p1 trap;
	mad.wide.u32 %rd3, %r1, 4, %rd1;
	st.global.u32 [%rd3], %r1;
	ret;
}
`))
	require.NoError(t, err)
	with := func(args ...Arg) (*Result, error) {
		o := &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Args: args}, Inputs: 1, Schedules: 1, Unmended: true}
		return Kernel(m, "k", o)
	}
	buffer, one := Arg{Name: "0+0", Buffer: true, Bytes: 64}, Arg{Name: "s+16", Number: "1.5"}
	r, err := with(buffer, Arg{Name: "0+8", Number: "16"}, one)
	require.NoError(t, err)
	require.Empty(t, r.Found, r.Text())
	r, err = with(buffer, Arg{Name: "0+8", Number: "17"}, one)
	require.NoError(t, err)
	require.Len(t, r.Found, 1, r.Text())
	require.Equal(t, OutOfBounds, r.Found[0].Rule)
	for _, bad := range []string{"0+24", "0+x", "0+-8", "1+0"} {
		_, err = with(Arg{Name: bad, Number: "1"})
		require.Error(t, err, bad)
	}
	_, err = with(Arg{Name: "0+20", Buffer: true, Bytes: 8})
	require.ErrorContains(t, err, "8 bytes at 20 are more than its 24 bytes")
	_, err = with(Arg{Name: "0", Number: "1"})
	require.ErrorContains(t, err, "give a part, 0+OFFSET=")
}
