package opencl

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/runner"
)

const source = `
__kernel void add(__global uint *a, uint k, ulong base, __local uint *scratch) {
	size_t i = get_global_id(0);
	scratch[get_local_id(0)] = k;
	barrier(CLK_LOCAL_MEM_FENCE);
	a[i] += scratch[get_local_size(0) - 1 - get_local_id(0)] + (uint)base;
}`

// open returns a session on a CPU device, or on what OPTCHECK_TEST_OPENCL says
// ("gpu"). Without one the test is skipped, unless OPTCHECK_REQUIRE_TOOLS says
// that this is a failure.
func open(t *testing.T) runner.Session {
	t.Helper()
	ctx := context.Background()
	b := New()
	devices, err := b.Devices(ctx)
	want := cmp.Or(os.Getenv("OPTCHECK_TEST_OPENCL"), "cpu")
	for _, d := range devices {
		if d.Type == want {
			s, err := b.Open(ctx, d.Index)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			return s
		}
	}
	required.Missing(t, "no OpenCL %s device: %v", want, err)
	return nil
}

func TestAdd(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(source)})
	require.NoError(t, err)
	k, info, err := s.Kernel(ctx, m, "add")
	require.NoError(t, err)
	require.Equal(t, 4, info.Params)
	const n = 256
	a, err := s.Alloc(ctx, 0, 4*n)
	require.NoError(t, err)
	const times = 1000
	r, err := s.Run(ctx, &runner.Batch{
		Setup: []runner.Command{runner.Fill(a, 0, 4*n, 7), runner.Write(a, 8, []byte{1, 0, 0, 0})},
		Body: []runner.Command{runner.Launch(k, runner.Dim1(n/64, 64), runner.BufArg(a), runner.Counter32(0, 1), runner.U64(3),
			runner.LocalArg(4*64))},
		Repeat: times,
		Final:  []runner.Command{runner.Read(a, 0, 4*n)},
	})
	require.NoError(t, err)
	require.EqualValues(t, times, r.Done)
	for i := range n {
		want := uint32(7 + times*(times-1)/2 + 3*times)
		if i == 2 {
			want -= 6
		}
		require.Equal(t, want, binary.NativeEndian.Uint32(r.Reads[0][4*i:]), "word %d", i)
	}
}
