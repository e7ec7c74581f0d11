package scratch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test start itself as a process that makes a folder and waits.
func TestMain(m *testing.M) {
	if os.Getenv("SCRATCH_CHILD") == "" {
		os.Exit(m.Run())
	}
	dir, err := Dir("child")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 1<<20), 0o400); err != nil {
		panic(err)
	}
	os.Stdout.WriteString(dir + "\n")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	Close()
}

func child(t *testing.T) (cmd *exec.Cmd, dir string, end func()) {
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SCRATCH_CHILD=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	dir, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd, strings.TrimSpace(dir), func() { in.Close(); _ = cmd.Wait() }
}

// TestSweep: what a killed process has left goes, what a living one has stays, and
// so does what only looks like that.
func TestSweep(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	other := filepath.Join(base, prefix+"results")
	require.NoError(t, os.MkdirAll(other, 0o700))

	killed, left, _ := child(t)
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	require.FileExists(t, filepath.Join(left, "large"))

	living, kept, end := child(t) // which sweeps
	require.NoDirExists(t, filepath.Dir(left))
	require.Contains(t, kept, filepath.Join(base, prefix)+strconv.Itoa(living.Process.Pid)+"-")

	dir, err := Dir("mine")
	require.NoError(t, err)
	require.DirExists(t, dir)
	require.FileExists(t, filepath.Join(kept, "large"))

	// A folder that somebody removes is made again.
	require.NoError(t, os.RemoveAll(filepath.Dir(dir)))
	dir, err = Dir("mine")
	require.NoError(t, err)
	require.DirExists(t, dir)

	end()
	require.NoDirExists(t, filepath.Dir(kept))
	Close()
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only what is nobody's is left")

	t.Setenv("TMPDIR", filepath.Join(base, "nowhere"))
	_, err = Dir("mine")
	require.Error(t, err)
}
