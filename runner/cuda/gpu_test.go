package cuda

import (
	"bytes"
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
	if os.Getenv("OPTCHECK_TEST_DEVICE") == "cuda" {
		if err := runner.ServeProcess(context.Background(), New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const kernels = `.version 6.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 a, .param .u32 k, .param .u64 n) {
	.reg .u64 %p, %q, %n; .reg .u32 %r, %s, %i, %c, %d; .reg .pred %e;
	ld.param.u64 %p, [a]; ld.param.u32 %r, [k]; ld.param.u64 %n, [n];
	mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %i, %c, %d, %i;
	mul.wide.u32 %q, %i, 4;
	setp.ge.u64 %e, %q, %n; @%e ret;
	add.u64 %p, %p, %q;
	ld.global.u32 %s, [%p]; add.u32 %s, %s, %r; st.global.u32 [%p], %s;
	ret;
}
.visible .entry endless(.param .u64 a) {
	.reg .u64 %p; .reg .u32 %s; .reg .pred %e;
	ld.param.u64 %p, [a];
again:
	ld.volatile.global.u32 %s, [%p]; setp.ne.u32 %e, %s, 12345; @%e bra again;
	ret;
}
.visible .entry wild(.param .u64 a) {
	.reg .u64 %p;
	mov.u64 %p, 16; st.volatile.global.u32 [%p], 1;
	ret;
}
.extern .shared .align 4 .b8 dynamic[];
.visible .entry shared(.param .u64 a, .param .u32 last) {
	.reg .u64 %p, %q; .reg .u32 %r, %s;
	ld.param.u64 %p, [a]; ld.param.u32 %r, [last];
	mov.u32 %s, dynamic; add.u32 %s, %s, %r;
	st.volatile.shared.u32 [%s], %r; ld.volatile.shared.u32 %r, [%s];
	st.global.u32 [%p], %r;
	ret;
}
`

const clusterKernel = `.version 7.8
.target sm_90
.address_size 64
.visible .entry cluster(.param .u64 a) {
	.reg .u64 %p; .reg .u32 %r;
	ld.param.u64 %p, [a]; mov.u32 %r, %cluster_nctaid.x; st.global.u32 [%p], %r;
	ret;
}
`

func openGPU(t *testing.T) runner.Session {
	t.Helper()
	b := runner.Isolated(runner.Isolation{Backend: "cuda", Command: []string{os.Args[0]}, LockDir: t.TempDir(),
		Env: []string{"OPTCHECK_TEST_DEVICE=cuda", "CUDA_CACHE_DISABLE=1"}, Notify: func(err error) { t.Log("lost: ", err) }})
	list, err := b.Devices(context.Background())
	if err != nil || len(list) == 0 {
		t.Skipf("no NVIDIA GPU: %v", err)
	}
	s, err := b.Open(context.Background(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

type gpu struct {
	runner.Session
	t *testing.T
	m runner.Module
	a runner.Buffer
}

const words = 1 << 20

func newGPU(t *testing.T) *gpu {
	ctx := context.Background()
	s := openGPU(t)
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(kernels)})
	require.NoError(t, err)
	a, err := s.Alloc(ctx, 0, 4*words)
	require.NoError(t, err)
	return &gpu{s, t, m, a}
}

func (g *gpu) kernel(name string) runner.Kernel {
	k, info, err := g.Kernel(context.Background(), g.m, name)
	require.NoError(g.t, err)
	g.t.Logf("%s: %+v", name, info)
	return k
}

// works checks that the device counts right.
func (g *gpu) works() {
	g.t.Helper()
	const times = 1000
	k := g.kernel("add")
	r, err := g.Run(context.Background(), &runner.Batch{
		Setup: []runner.Command{runner.Fill(g.a, 0, 4*words, 7), runner.Write(g.a, 8, []byte{1, 0, 0, 0})},
		Body: []runner.Command{runner.Launch(k, runner.Dim1(words/256, 256), runner.BufArg(g.a), runner.Counter32(0, 1),
			runner.U64(4*words))},
		Repeat: times,
		Final:  []runner.Command{runner.Read(g.a, 0, 4*words)},
	})
	require.NoError(g.t, err)
	require.EqualValues(g.t, times, r.Done)
	for i := range words {
		want := uint32(7 + times*(times-1)/2)
		if i == 2 {
			want -= 6
		}
		if got := binary.LittleEndian.Uint32(r.Reads[0][4*i:]); got != want {
			g.t.Fatalf("word %d is %d, want %d", i, got, want)
		}
	}
	g.t.Logf("%d launches in %v, %+v", times, r.Body, r.After)
}

func TestGPU(t *testing.T) {
	g := newGPU(t)
	t.Logf("%+v", g.Device())
	g.works()
	state, err := g.State(context.Background())
	require.NoError(t, err)
	require.Positive(t, state.FreeMemory)
	require.Positive(t, state.Temperature)
	require.Positive(t, state.ClockMHz)
}

// Launches are cheap enough for the comparison with one instance per launch.
func TestGPULaunchRate(t *testing.T) {
	g := newGPU(t)
	k := g.kernel("add")
	r, err := g.Run(context.Background(), &runner.Batch{
		Body:   []runner.Command{runner.Launch(k, runner.Dim1(1, 32), runner.BufArg(g.a), runner.U32(1), runner.U64(4*words))},
		Repeat: 100000,
		Final:  []runner.Command{runner.Read(g.a, 0, 4)},
	})
	require.NoError(t, err)
	require.EqualValues(t, 100000, binary.LittleEndian.Uint32(r.Reads[0]))
	t.Logf("%.0f launches a second", float64(r.Done)/r.Body.Seconds())
}

// The driver's compiler gives its cubin back, the same one twice, and it runs.
func TestGPUCompiler(t *testing.T) {
	ctx := context.Background()
	g := newGPU(t)
	image := runner.Image{Kind: runner.ImagePTX, Data: []byte(kernels), Options: "-O3 -lineinfo"}
	one, err := g.Compile(ctx, image)
	require.NoError(t, err)
	two, err := g.Compile(ctx, image)
	require.NoError(t, err)
	require.True(t, bytes.Equal(one.Binary, two.Binary))
	t.Logf("cubin of %d bytes; %q", len(one.Binary), one.Log)
	m, err := g.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: one.Binary})
	require.NoError(t, err)
	require.NoError(t, g.Unload(ctx, g.m))
	g.m = m
	g.works()
	if out := os.Getenv("OUT"); out != "" {
		require.NoError(t, os.WriteFile(out+"/jit.cubin", one.Binary, 0o600))
	}

	_, err = g.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(".version 6.0\n.target sm_60\n.address_size 64\nnonsense\n")})
	require.ErrorIs(t, err, runner.ErrCompile)
	t.Log(err)
	g.works()
	_, err = g.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: one.Binary[:len(one.Binary)/2]})
	t.Log("half a cubin: ", err)
	g.works()
	other, err := g.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(kernels), Options: "-arch=sm_80"})
	require.NoError(t, err)
	_, err = g.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: other.Binary})
	t.Log("a cubin for sm_80: ", err, "; epoch ", g.Epoch())
	g.works()
}

func TestGPUShapes(t *testing.T) {
	ctx := context.Background()
	g := newGPU(t)
	k := g.kernel("shared")
	d := runner.Dim1(1, 32)
	d.Shared = 96 << 10
	r, err := g.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k, d, runner.BufArg(g.a), runner.U32(d.Shared-4))},
		Final: []runner.Command{runner.Read(g.a, 0, 4)}})
	require.NoError(t, err)
	require.EqualValues(t, d.Shared-4, binary.LittleEndian.Uint32(r.Reads[0]))
	_, err = g.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k, d, runner.BufArg(g.a))}})
	require.ErrorContains(t, err, "1 arguments for 2 parameters")
	_, err = g.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k, d, runner.BufArg(g.a), runner.U64(1))}})
	require.ErrorContains(t, err, "argument 1 has 8 bytes")
	d.Block[0] = 2048
	_, err = g.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k, d, runner.BufArg(g.a), runner.U32(0))}})
	require.ErrorIs(t, err, runner.ErrUsage)
	require.Zero(t, g.Epoch())
	if !g.Device().Clusters {
		t.Skip("no thread-block clusters")
	}
	m, err := g.Load(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(clusterKernel)})
	require.NoError(t, err)
	k, _, err = g.Kernel(ctx, m, "cluster")
	require.NoError(t, err)
	c := runner.Dim1(8, 32)
	c.Cluster[0] = 4
	r, err = g.Run(ctx, &runner.Batch{Body: []runner.Command{runner.Launch(k, c, runner.BufArg(g.a))},
		Final: []runner.Command{runner.Read(g.a, 0, 4)}})
	require.NoError(t, err)
	require.EqualValues(t, 4, binary.LittleEndian.Uint32(r.Reads[0]))
}

// Real faults: each costs its run, and the device counts right afterwards.
func TestGPUFaults(t *testing.T) {
	ctx := context.Background()
	g := newGPU(t)
	_, err := g.Alloc(ctx, 0, g.Device().Memory-1<<20)
	require.ErrorIs(t, err, runner.ErrMemory)
	t.Log(err)
	require.Zero(t, g.Epoch())
	g.works()
	for name, kind := range map[string]error{"wild": runner.ErrFault, "endless": runner.ErrTimeout} {
		b := &runner.Batch{Body: []runner.Command{runner.Launch(g.kernel(name), runner.Dim1(1, 1), runner.BufArg(g.a))},
			Timeout: 2 * time.Second}
		before := g.Epoch()
		start := time.Now()
		_, err := g.Run(ctx, b)
		require.ErrorIs(t, err, kind)
		require.Equal(t, before+1, g.Epoch())
		t.Logf("%s: %v, after %v", name, err, time.Since(start))
		start = time.Now()
		g.works()
		t.Logf("works again after %v", time.Since(start))
	}
}
