package opencl

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

// Kernels of two devices that count in each other's memory.
const several = `
__kernel void meet(volatile __global uint *meet, __global uint *mine, uint k) {
  uint n = 0;
  atomic_inc(meet);
  while (*meet < 2 && ++n < 100000) ;
  mine[0] += k;
}
__kernel void sum(__global uint *a, __global uint *b, __global uint *s, __global uint *meet) { s[0] += a[0] * b[0]; a[0] = b[0] = 0; *meet = 0; }
__kernel void endless(volatile __global uint *a) { while (*a != 12345) ; }
`

// TestSeveralDevices: commands of two devices take effect in order, launches run
// beside each other, and what one device loses the other loses too.
func TestSeveralDevices(t *testing.T) {
	ctx := context.Background()
	open(t) // is there a CPU at all?
	s := isolatedOn(t, []string{"POCL_DEVICES=pthread pthread"}, 0, 1)
	require.Len(t, s.Devices(), 2)
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(several)})
	require.NoError(t, err)
	var k []runner.Kernel
	for _, name := range []string{"meet", "sum", "endless"} {
		x, _, err := s.Kernel(ctx, m, name)
		require.NoError(t, err)
		k = append(k, x)
	}
	var b [4]runner.Buffer // two of each device
	for i := range b {
		b[i], err = s.Alloc(ctx, i&1, 64)
		require.NoError(t, err)
	}
	_, err = s.Alloc(ctx, 2, 64)
	require.ErrorIs(t, err, runner.ErrUsage)
	meet, total := b[2], b[3]
	one := runner.Dim1(1, 1)
	batch := &runner.Batch{
		Setup: []runner.Command{runner.Fill(b[0], 0, 64, 0), runner.Fill(b[1], 0, 64, 0), runner.Fill(meet, 0, 64, 0),
			runner.Fill(total, 0, 64, 0)},
		Body: []runner.Command{
			runner.Launch(k[0], one, runner.BufArg(meet), runner.BufArg(b[0]), runner.U32(3)),
			runner.Launch(k[0], one, runner.BufArg(meet), runner.BufArg(b[1]), runner.U32(5)).On(1, true),
			runner.Launch(k[1], one, runner.BufArg(b[0]), runner.BufArg(b[1]), runner.BufArg(total), runner.BufArg(meet)),
		},
		Repeat: 200,
		Final:  []runner.Command{runner.Read(total, 0, 4)},
	}
	r, err := s.Run(ctx, batch)
	require.NoError(t, err)
	require.EqualValues(t, 200*3*5, binary.NativeEndian.Uint32(r.Reads[0]))

	_, err = s.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k[2], one, runner.BufArg(meet)).On(2, false)}})
	require.ErrorIs(t, err, runner.ErrUsage)
	_, err = s.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k[2], one, runner.BufArg(meet)).On(1, true)}})
	require.ErrorIs(t, err, runner.ErrUsage, "beside nothing")
	hung := &runner.Batch{Body: []runner.Command{runner.Launch(k[2], one, runner.BufArg(meet)).On(1, false)}, Timeout: 500e6}
	_, err = s.Run(ctx, hung)
	require.ErrorIs(t, err, runner.ErrTimeout)
	r, err = s.Run(ctx, batch)
	require.NoError(t, err, "both devices are there again")
	require.EqualValues(t, 200*3*5, binary.NativeEndian.Uint32(r.Reads[0]))
}
