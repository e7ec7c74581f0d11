package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
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
