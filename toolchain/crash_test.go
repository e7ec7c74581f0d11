package toolchain

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// TestCrashIsConfirmed: a compiler that dies of its own doing each time has crashed; one that does
// once, or is killed, or ends in time when it is asked again, has not.
func TestCrashIsConfirmed(t *testing.T) {
	compile := func(t require.TestingT, tc *Toolchain, mark string) (*Error, *Result) {
		job := fakeJob(1)
		job.Units[0].Text += "\n// fake: " + mark
		res, err := tc.Compile(context.Background(), job)
		require.NoError(t, err)
		e, _ := res.Failed[0].(*Error)
		return e, res
	}
	e, _ := compile(t, fake(t, patient.Long), "segv")
	require.ErrorIs(t, e, ErrCrashed)
	require.NotErrorIs(t, e, ErrTimeout)
	require.Equal(t, "killed by signal: segmentation fault; it says nothing", e.Crash())
	require.Contains(t, e.At, "+0x", "the shell's system library killed itself there")
	require.ErrorContains(t, e, "3 times of 3")

	e, _ = compile(t, fake(t, patient.Long), "once")
	require.ErrorIs(t, e, ErrInfrastructure)
	require.ErrorContains(t, e, "but not each time")
	require.Empty(t, e.Crash())

	e, _ = compile(t, fake(t, patient.Long), "crash") // by SIGKILL: from outside
	require.ErrorIs(t, e, ErrInfrastructure)

	patient.Limits(t, leastTime, func(c *patient.Trial, limit time.Duration) {
		e, _ := compile(c, fake(t, limit), "hang")
		require.ErrorIs(c, e, ErrHung)
		require.ErrorIs(c, e, ErrCrashed)
		require.Equal(c, "no end within the time limit; it says nothing", e.Crash())
	})
	e, _ = compile(t, fake(t, leastTime/10), "hang")
	require.ErrorIs(t, e, ErrTimeout)
	require.NotErrorIs(t, e, ErrCrashed, "nobody gave it time")
}

// TestBigInputHangs: a compiler that exceeds its time at a large input has not hung.
func TestBigInputHangs(t *testing.T) {
	e := &Error{Kind: ErrTimeout, limit: time.Minute}
	require.True(t, e.hung(smallInput))
	require.False(t, e.hung(smallInput+1))
	e.limit = leastTime - 1
	require.False(t, e.hung(1))
}

// TestGist: crashes that say the same but for addresses, numbers, folders and names are one.
func TestGist(t *testing.T) {
	say := func(stderr string) string {
		return (&Error{Kind: ErrCrashed, Signal: "aborted", Input: "t_mp_1a2b_T0", Stderr: stderr}).Crash()
	}
	one := say("PLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: llc -O3 /tmp/a/batch.ll\n" +
		"1.\tRunning pass 'Machine Scheduler' on function '@t_mp_1a2b_T0'\n#0 0x00007f3a /usr/lib/llvm-19/lib/libLLVM.so+0x1234\n")
	require.Equal(t, one, say("PLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: llc -O0 /tmp/b/batch.ll\n"+
		"1.\tRunning pass 'Machine Scheduler' on function '@t_mp_1a2b_T0'\n#0 0x00006f00 /opt/llvm/lib/libLLVM.so+0x9999\n"))
	require.Contains(t, one, "killed by signal: aborted; it says: PLEASE submit a bug report | Stack dump: | ")
	require.NotContains(t, one, "t_mp")
	require.NotEqual(t, one, say("PLEASE submit a bug report\nStack dump:\n1.\tRunning pass 'Register Coalescer' on function '@t_mp_1a2b_T0'\n"))
	require.LessOrEqual(t, len(say(string(make([]byte, 1<<20)))), 2*maxGist)
}

// TestChildDies: a driver says of what its part died.
func TestChildDies(t *testing.T) {
	for _, x := range []struct {
		stderr string
		broke  bool
	}{
		{"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n", true},
		{"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n", false},
		{"ptxas fatal   : (C7907) Internal compiler error\n", true},
		{"k.cu(3): error: identifier \"x\" is undefined\n", false},
	} {
		e := &Error{Kind: ErrCompile, Stderr: x.stderr}
		e.childDied()
		require.Equal(t, x.broke, e.broke(), x.stderr)
	}
}
