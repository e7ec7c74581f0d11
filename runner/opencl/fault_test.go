package opencl

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

// TestMain lets the tests start this binary as a device process.
func TestMain(m *testing.M) {
	if os.Getenv("OPTCHECK_TEST_DEVICE") == "opencl" {
		if err := runner.ServeProcess(context.Background(), New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// isolated returns a session on a CPU device that another process drives.
func isolated(t *testing.T) runner.Session {
	t.Helper()
	return isolatedOn(t, nil, open(t).Device().Index)
}

func isolatedOn(t *testing.T, env []string, devices ...int) runner.Session {
	t.Helper()
	b := runner.Isolated(runner.Isolation{Backend: "opencl", Command: []string{os.Args[0]}, Env: append(env, "OPTCHECK_TEST_DEVICE=opencl"),
		Notify: func(err error) { t.Log("lost: ", err) }})
	s, err := b.Open(context.Background(), devices...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

const faulty = `
__kernel void add(__global uint *a, uint k) { a[get_global_id(0)] += k; }
__kernel void endless(__global volatile uint *a, uint k) { while (a[0] != 12345) ; }
__kernel void wild(__global uint *a, uint k) { *(volatile __global uint *)(ulong)k = 1; }
`

// Real faults of a real driver: an endless kernel is killed, a kernel that
// writes to nowhere takes its process with it, and each time the next run
// counts right.
func TestRealFaults(t *testing.T) {
	ctx := context.Background()
	s := isolated(t)
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(faulty)})
	require.NoError(t, err)
	a, err := s.Alloc(ctx, 0, 4096)
	require.NoError(t, err)
	launch := func(name string, k uint32) *runner.Batch {
		kernel, _, err := s.Kernel(ctx, m, name)
		require.NoError(t, err)
		return &runner.Batch{
			Setup:  []runner.Command{runner.Fill(a, 0, 4096, 1)},
			Body:   []runner.Command{runner.Launch(kernel, runner.Dim1(16, 64), runner.BufArg(a), runner.U32(k))},
			Repeat: 100,
			Final:  []runner.Command{runner.Read(a, 4000, 4)},
		}
	}
	works := func() {
		r, err := s.Run(ctx, launch("add", 3))
		require.NoError(t, err)
		require.EqualValues(t, 301, binary.NativeEndian.Uint32(r.Reads[0]))
	}
	works()
	b := launch("endless", 0)
	b.Timeout = time.Second
	_, err = s.Run(ctx, b)
	require.ErrorIs(t, err, runner.ErrTimeout)
	require.Equal(t, 1, s.Epoch())
	works()
	_, err = s.Run(ctx, launch("wild", 64))
	require.ErrorIs(t, err, runner.ErrChild)
	require.ErrorContains(t, err, "segmentation fault")
	require.Equal(t, 2, s.Epoch())
	works()
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	s := isolated(t)
	_, err := s.Load(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte("__kernel void k( { nonsense")})
	require.ErrorIs(t, err, runner.ErrCompile)
	require.ErrorContains(t, err, "error:")
	_, err = s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: []byte("x")})
	require.ErrorIs(t, err, runner.ErrUnsupported)
	_, err = s.Alloc(ctx, 0, s.Device().Memory+1)
	require.ErrorIs(t, err, runner.ErrMemory)
	c, err := s.Compile(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(faulty)})
	require.NoError(t, err)
	require.NotEmpty(t, c.Binary)

	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(faulty)})
	require.NoError(t, err)
	_, _, err = s.Kernel(ctx, m, "nosuch")
	require.ErrorIs(t, err, runner.ErrUsage)
	k, _, err := s.Kernel(ctx, m, "add")
	require.NoError(t, err)
	a, err := s.Alloc(ctx, 0, 64)
	require.NoError(t, err)
	for _, c := range []struct {
		command runner.Command
		kind    error
	}{
		{runner.Launch(k, runner.Dim1(1, 1), runner.BufArg(a)), runner.ErrUsage},
		{runner.Launch(k, runner.Dim1(1, 1), runner.BufArg(a), runner.U64(1)), runner.ErrUsage},
		{runner.Launch(k, runner.Dim1(1, 1), runner.U32(1), runner.U32(1)), runner.ErrUsage},
		{runner.Launch(k, runner.Dim1(1, 1<<14), runner.BufArg(a), runner.U32(1)), runner.ErrUsage},
		{runner.Launch(k, runner.Dims{Cluster: [3]uint32{1}}, runner.BufArg(a), runner.U32(1)), runner.ErrUnsupported},
		{runner.Launch(99, runner.Dim1(1, 1)), runner.ErrUsage},
		{runner.Fill(a, 32, 64, 0), runner.ErrUsage},
		{runner.Write(a, 61, []byte{1, 2, 3, 4}), runner.ErrUsage},
		{runner.Fill(99, 0, 4, 0), runner.ErrUsage},
		{runner.Copy(a, 0, a, 32, 64), runner.ErrUsage},
	} {
		_, err = s.Run(ctx, &runner.Batch{Body: []runner.Command{c.command}})
		require.ErrorIs(t, err, c.kind, "%+v", c.command)
	}
	require.Zero(t, s.Epoch())
	r, err := s.Run(ctx, &runner.Batch{
		Body:  []runner.Command{runner.Fill(a, 0, 8, 5), runner.Copy(a, 8, a, 0, 8)},
		Final: []runner.Command{runner.Read(a, 12, 4)},
	})
	require.NoError(t, err)
	require.EqualValues(t, 5, binary.NativeEndian.Uint32(r.Reads[0]))
	require.NoError(t, s.Free(ctx, a))
	require.NoError(t, s.Unload(ctx, m))
	require.ErrorIs(t, s.Free(ctx, a), runner.ErrUsage)
}
