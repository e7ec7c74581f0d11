package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestVerifyFor: a kernel of a megabyte, whose runs and whose mending take minutes, is unknown when its time is up, and so it is
// told; a later run with --resume has not taken that for the answer.
func TestVerifyFor(t *testing.T) {
	file, kept := filepath.Join(t.TempDir(), "k.ptx"), filepath.Join(t.TempDir(), "kept")
	body := fill(maxHostile, "", func(i int) string {
		return fmt.Sprintf("\tatom.global.add.u32 %%r%d, [%%rd1+%d], 1;\n", i%6+1, i%64*4)
	}, "")
	text := strings.Replace(someKernel, "loop:", body+"loop:", 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	for range 2 {
		var out, errs bytes.Buffer
		start := time.Now()
		cmd := exec.Command("optcheck", "verify", file, "--for", "500ms", "--fail-on", "race", "--resume", kept, "-q")
		cmd.Env, cmd.Stdout, cmd.Stderr = hostileEnv(t.TempDir()), &out, &errs
		require.ErrorContains(t, cmd.Run(), "exit status", errs.String())
		require.Less(t, time.Since(start), 30*time.Second)
		require.Contains(t, out.String(), "the time for the kernel was up (--for)", errs.String())
	}
	held, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.NotContains(t, string(held), `"kernel"`)
}
