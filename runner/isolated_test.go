package runner_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/runner"
	"optcheck/runner/fake"
)

// TestMain lets the tests start this binary as a device process.
func TestMain(m *testing.M) {
	if os.Getenv("OPTCHECK_TEST_DEVICE") == "fake" {
		if err := runner.ServeProcess(context.Background(), fake.New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func isolation(t *testing.T) runner.Isolation {
	dir := t.TempDir()
	return runner.Isolation{
		Backend: "fake", Command: []string{os.Args[0]}, LockDir: dir,
		Env:    []string{"OPTCHECK_TEST_DEVICE=fake", "OPTCHECK_FAKE_GONE=" + filepath.Join(dir, "gone")},
		Notify: func(err error) { t.Log("lost: ", err) },
	}
}

// rig is an open session with a buffer of four words and the kernels of a
// script.
type rig struct {
	t *testing.T
	s runner.Session
	m runner.Module
	b runner.Buffer
}

const script = `
add add
slow sleep=5ms add
hang add hang@3
fault add fault@3
lost lost
gone gone
memory memory@3
exit add exit@3
kill kill
panic panic
garbage garbage
`

func newRig(t *testing.T, o runner.Isolation) *rig { return newRigOn(t, o, 0) }

// newRigOn opens several devices; the last one has the buffer and runs the kernels.
func newRigOn(t *testing.T, o runner.Isolation, devices ...int) *rig {
	ctx := context.Background()
	s, err := runner.Isolated(o).Open(ctx, devices...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	m, err := s.Load(ctx, runner.Image{Kind: runner.ImageFake, Data: []byte(script)})
	require.NoError(t, err)
	b, err := s.Alloc(ctx, len(devices)-1, 16)
	require.NoError(t, err)
	return &rig{t, s, m, b}
}

func (r *rig) batch(kernel string, repeat uint64) *runner.Batch {
	k, _, err := r.s.Kernel(context.Background(), r.m, kernel)
	require.NoError(r.t, err)
	limit := patient.Long
	if kernel == "hang" {
		limit = 400 * time.Millisecond
	}
	return &runner.Batch{
		Setup: []runner.Command{runner.Fill(r.b, 0, 16, 100)},
		Body: []runner.Command{runner.Launch(k, runner.Dim1(1, 4), runner.BufArg(r.b), runner.Counter32(1, 1)).On(len(r.s.Devices())-1,
			false)},
		Repeat:  repeat,
		Final:   []runner.Command{runner.Read(r.b, 4, 8)},
		Timeout: limit,
	}
}

// sum is what a batch of add must leave.
func sum(n uint64) uint32 { return uint32(100 + n*(n+1)/2) }

// works checks that the session counts right.
func (r *rig) works() {
	r.t.Helper()
	res, err := r.s.Run(context.Background(), r.batch("add", 1000))
	require.NoError(r.t, err)
	require.EqualValues(r.t, 1000, res.Done)
	require.Equal(r.t, sum(1000), binary.NativeEndian.Uint32(res.Reads[0]))
	require.Equal(r.t, 20, res.After.Temperature)
}

func TestIsolated(t *testing.T) {
	ctx := context.Background()
	o := isolation(t)
	list, err := runner.Isolated(o).Devices(ctx)
	require.NoError(t, err)
	direct, err := fake.New().Devices(ctx)
	require.NoError(t, err)
	require.Equal(t, direct, list)

	r := newRig(t, o)
	r.works()
	require.Equal(t, direct[0], r.s.Device())
	c, err := r.s.Compile(ctx, runner.Image{Kind: runner.ImageFake, Data: []byte("k add")})
	require.NoError(t, err)
	require.Equal(t, "FAKEk add", string(c.Binary))
	require.Zero(t, r.s.Epoch())
}

// Every way to lose the process costs that run and nothing else: the kind of
// failure is told, and the session goes on with the same handles.
func TestFaults(t *testing.T) {
	for n, c := range []struct {
		kernel string
		kind   error
		says   string
	}{
		{"hang", runner.ErrTimeout, "of 10 repetitions"},
		{"fault", runner.ErrFault, "FAKE_ILLEGAL_ADDRESS"},
		{"lost", runner.ErrFault, "FAKE_DEVICE_LOST"},
		{"exit", runner.ErrChild, "exit status 7"},
		{"exit", runner.ErrChild, "fake driver: giving up"},
		{"kill", runner.ErrChild, "signal: killed"},
		{"panic", runner.ErrChild, "panic on demand"},
		{"garbage", runner.ErrChild, "frame of"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			t.Parallel()
			r := newRigOn(t, isolation(t), []int{0, 1}[:1+n%2]...)
			r.works()
			res, err := r.s.Run(context.Background(), r.batch(c.kernel, 10))
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.says)
			require.True(t, runner.Lost(err))
			require.Nil(t, res, "nothing is known of a run that was lost")
			require.Equal(t, 1, r.s.Epoch())
			r.works()
		})
	}
}

// What is refused without harm to the process leaves it alone.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, isolation(t))
	_, err := r.s.Alloc(ctx, 0, fake.Memory)
	require.ErrorIs(t, err, runner.ErrMemory)
	_, err = r.s.Run(ctx, r.batch("memory", 10))
	require.ErrorIs(t, err, runner.ErrMemory)
	_, err = r.s.Load(ctx, runner.Image{Kind: runner.ImageFake, Data: []byte("k nosuch")})
	require.ErrorIs(t, err, runner.ErrCompile)
	_, err = r.s.Load(ctx, runner.Image{Kind: runner.ImageCubin, Data: []byte("k add")})
	require.ErrorIs(t, err, runner.ErrUnsupported)
	_, _, err = r.s.Kernel(ctx, r.m, "nosuch")
	require.ErrorIs(t, err, runner.ErrUsage)
	b := r.batch("add", 1)
	b.Final = []runner.Command{runner.Read(r.b, 8, 16)}
	_, err = r.s.Run(ctx, b)
	require.ErrorIs(t, err, runner.ErrUsage)
	b.Final, b.Body = b.Body, b.Final
	_, err = r.s.Run(ctx, b)
	require.ErrorContains(t, err, "reads stand only in Final")
	require.Zero(t, r.s.Epoch())
	r.works()
}

// A device that does not come back is given up, with an error that is not
// Lost: a caller that goes on after losses ends.
func TestDeviceGone(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, isolation(t))
	b, add := r.batch("gone", 1), r.batch("add", 1)
	_, err := r.s.Run(ctx, b)
	require.ErrorIs(t, err, runner.ErrFault)
	for range 10 {
		if _, err = r.s.Run(ctx, add); !runner.Lost(err) {
			break
		}
	}
	require.ErrorIs(t, err, runner.ErrUnsupported)
	require.ErrorContains(t, err, "the device is gone")
}

// A device that fails every time is given up too.
func TestFailsAlways(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, isolation(t))
	b := r.batch("lost", 1)
	n := 0
	var err error
	for n = range 20 {
		if _, err = r.s.Run(ctx, b); !runner.Lost(err) {
			break
		}
	}
	require.ErrorContains(t, err, "given up after")
	require.Less(t, n, 10)
}

// An interrupt keeps what was counted, and the count is right.
func TestCancelKeepsCounts(t *testing.T) {
	r := newRig(t, isolation(t))
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user had enough")
	b := r.batch("slow", 1e6)
	b.Progress = func(done uint64) {
		if done >= 5 {
			cancel(why)
		}
	}
	res, err := r.s.Run(ctx, b)
	require.ErrorIs(t, err, runner.ErrCancelled)
	require.ErrorIs(t, err, why)
	require.NotNil(t, res)
	require.True(t, res.Stopped)
	require.GreaterOrEqual(t, res.Done, uint64(5))
	require.Less(t, res.Done, uint64(1e6))
	require.Equal(t, sum(res.Done), binary.NativeEndian.Uint32(res.Reads[0]))
	require.Zero(t, r.s.Epoch(), "the process lives on")
	r.works()

	res, err = r.s.Run(ctx, b)
	require.ErrorIs(t, err, runner.ErrCancelled)
	require.Nil(t, res, "nothing was begun")
}

// A hang is ended although the user has interrupted, too.
func TestCancelOfHang(t *testing.T) {
	r := newRig(t, isolation(t))
	patient.Limits(t, 100*time.Millisecond, func(t *patient.Trial, untilHung time.Duration) {
		b := r.batch("hang", 10)
		ctx, cancel := context.WithTimeout(context.Background(), untilHung)
		defer cancel()
		_, err := r.s.Run(ctx, b)
		require.ErrorIs(t, err, runner.ErrTimeout)
	})
	r.works()
}

func TestBudget(t *testing.T) {
	r := newRig(t, isolation(t))
	b := r.batch("slow", 1e6)
	b.Budget = 60 * time.Millisecond
	res, err := r.s.Run(context.Background(), b)
	require.NoError(t, err)
	require.True(t, res.Stopped)
	require.Positive(t, res.Done)
	require.Equal(t, sum(res.Done), binary.NativeEndian.Uint32(res.Reads[0]))
	require.GreaterOrEqual(t, res.Elapsed, res.Body)
}

// What takes long to read is read for those who ask.
func TestEnergy(t *testing.T) {
	r := newRig(t, isolation(t))
	for _, asked := range []bool{false, true} {
		b := r.batch("slow", 1)
		b.Energy = asked
		res, err := r.s.Run(context.Background(), b)
		require.NoError(t, err)
		require.Positive(t, res.After.ClockMHz)
		require.Equal(t, asked, res.Before.EnergyJoule > 0)
		require.Equal(t, asked, res.After.EnergyJoule > 0)
	}
}

// Devices are opened together, each under its own lock, if each can access the
// memory of the others.
func TestSeveral(t *testing.T) {
	ctx := context.Background()
	o := isolation(t)
	r := newRigOn(t, o, 1, 0)
	r.works()
	require.Equal(t, []string{"FAKE-2", "FAKE-1"}, []string{r.s.Devices()[0].UUID, r.s.Devices()[1].UUID})
	_, err := runner.Isolated(o).Open(ctx, 2, 0)
	require.ErrorIs(t, err, runner.ErrUnsupported)
	_, err = runner.Isolated(o).Open(ctx, 0, 0)
	require.ErrorIs(t, err, runner.ErrUsage)
	_, err = runner.Isolated(o).Open(ctx)
	require.ErrorIs(t, err, runner.ErrUsage)
	_, err = runner.Isolated(o).Open(ctx, 0)
	require.ErrorIs(t, err, runner.ErrBusy)
	s, err := runner.Isolated(o).Open(ctx, 2)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// One run per GPU; the message says who has it.
func TestLock(t *testing.T) {
	ctx := context.Background()
	o := isolation(t)
	s, err := runner.Isolated(o).Open(ctx, 0)
	require.NoError(t, err)
	_, err = runner.Isolated(o).Open(ctx, 0)
	require.ErrorIs(t, err, runner.ErrBusy)
	require.ErrorContains(t, err, fmt.Sprintf("Fake GPU (FAKE-1) is used by another run: process %d since", os.Getpid()))
	require.NoError(t, s.Close())
	s, err = runner.Isolated(o).Open(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing twice is no failure")
	_, err = s.Alloc(ctx, 0, 4)
	require.ErrorIs(t, err, runner.ErrUsage)
}

// A command that is no device process is told from one that is.
func TestNoDeviceProcess(t *testing.T) {
	for _, command := range [][]string{{"/bin/true"}, {"/bin/sh", "-c", "echo hello >&4; exec sleep 60"}, {"/nonexistent"}} {
		_, err := runner.Isolated(runner.Isolation{Command: command}).Devices(context.Background())
		require.ErrorIs(t, err, runner.ErrChild, "%v", command)
	}
	require.ErrorIs(t, runner.ServeProcess(context.Background(), fake.New()), runner.ErrUsage)
}
