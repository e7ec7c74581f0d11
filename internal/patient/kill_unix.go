//go:build unix

package patient

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Kill starts commands concurrently, kills them with their children after a fraction of a
// duration, and reports whether that hit one of them. A command that was not hit and fails
// makes the test fail.
func Kill(t testing.TB, within time.Duration, commands ...*exec.Cmd) (hit bool) {
	t.Helper()
	for _, cmd := range commands {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	time.Sleep(time.Duration(rand.Float64() * float64(within)))
	for _, cmd := range commands {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	for _, cmd := range commands {
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
			hit = true
		} else if err != nil {
			t.Fatalf("%v: %v: %v", cmd.Args, err, cmd.Stderr)
		}
	}
	return hit
}
