package toolchain

import (
	"context"
	"fmt"
	"strings"
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

// TestGist: crashes that say the same but for addresses, numbers, folders, names and what was being compiled are one.
func TestGist(t *testing.T) {
	say := func(stderr string) string {
		return (&Error{Kind: ErrCrashed, Signal: "aborted", Input: "t_mp_1a2b_T0", Stderr: stderr}).Crash()
	}
	frames := func(dir string, names ...string) string {
		all := " #0 0x00007f3a llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (" + dir + "libLLVM.so.19.1+0xeb73c6)\n" +
			" #1 0x00007f3b (" + dir + "libLLVM.so.19.1+0xdfd210)\n #2 0x00007f3c (/lib/x86_64-linux-gnu/libc.so.6+0x3c050)\n"
		for i, n := range names {
			all += fmt.Sprintf("%3s 0x00007f%d %s(int, (anonymous)) (%slibclang-cpp.so.19.1+0xc5ff18)\n", fmt.Sprint("#", i+3), i, n, dir)
		}
		return all
	}
	head := "PLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: llc -O3 /tmp/a/batch.ll\n"
	one := say(head + "1.\tRunning pass 'Machine Scheduler' on function '@t_mp_1a2b_T0'\n" + frames("/usr/lib/", "a::f", "a::g", "h", "main"))
	require.Equal(t, "killed by signal: aborted; it says: Running pass 'Machine Scheduler' | in a::f < a::g < h", one)
	require.Equal(t, one, say(strings.ReplaceAll(head, "/tmp/a", "/tmp/b")+"1.\tparsing function 'k'\n2.\tRunning pass 'Machine Scheduler' on function '@k'\n"+
		frames("/opt/llvm/", "a::f", "a::g", "h", "start")))
	require.NotEqual(t, one, say(head+"1.\tRunning pass 'Machine Scheduler' on function '@t_mp_1a2b_T0'\n"+frames("/usr/lib/", "a::g", "h")))
	require.NotEqual(t, one, say(head+"1.\tRunning pass 'Register Coalescer' on function '@k'\n"+frames("/usr/lib/", "a::f", "a::g", "h")))
	require.Contains(t, say("/usr/lib/libLLVM-14.so.1(_ZN4llvm3sys15PrintStackTraceE+0x31)[0x7f12]\n/lib/libc.so.6(abort+0x1)[0x7f13]\n"+
		"/usr/lib/libLLVM-14.so.1(_ZN4llvm1fE+0x31)[0x7f14]\n"), "it says: in _ZN4llvm1fE")
	require.Contains(t, say(" #0 0x00007f12 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM.so.19.1+0xeb73c6)\n"+
		" 1 libLLVM.so.19.1      0x00007f13 llvm::sys::RunSignalHandlers() + 80\n 2 libc.so.6            0x00007f14\n"+
		" 3 libclang-cpp.so.19.1 0x00007f15\n 4 libclang-cpp.so.19.1 0x00007f16 a::f(int) + 1288\n"), "it says: in a::f", "without names of its own")
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
		{"fatal error: error in backend: cannot scavenge register\n", true},
		{"k.cu(3): error: identifier \"x\" is undefined\n", false},
	} {
		e := &Error{Kind: ErrCompile, Stderr: x.stderr}
		e.childDied()
		require.Equal(t, x.broke, e.broke(), x.stderr)
	}
}
