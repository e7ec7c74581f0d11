package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// TestSignals: a command that does not look at its context ends with the first
// signal all the same, and one that takes its time with the second.
func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		signals int
	}{
		"reads":      {[]string{"check", "-"}, 1}, // from a pipe that says nothing
		"ends":       {[]string{"audit", "-", "--quiet"}, 1},
		"keeps":      {[]string{"reduce", "-"}, 2},
		"from a log": {[]string{"log", "check", "-"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("optcheck", c.args...) // of testscript
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			defer in.Close()
			var errs bytes.Buffer
			cmd.Stderr = &errs
			require.NoError(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			_, err = in.Write([]byte(strings.Repeat(" ", 1<<12)))
			require.NoError(t, err)
			time.Sleep(300 * time.Millisecond) // or else the signal comes before the program
			for range c.signals {
				require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
				time.Sleep(50 * time.Millisecond)
			}
			select {
			case <-ended:
			case <-time.After(patient.Long):
				_ = cmd.Process.Kill()
				t.Fatal("it does not end")
			}
			require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), errs.String())
			require.Contains(t, errs.String(), "interrupted")
		})
	}
}
