package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/audit/store"
	"optcheck/internal/required"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// child is this test's binary as the program itself: TestMain runs it so by
// its name.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(path)
	cmd.Args = append([]string{"optcheck"}, args...)
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

// stored runs the program and returns its standard output.
func stored(t *testing.T, args ...string) string {
	t.Helper()
	cmd := child(t, args...)
	out, err := cmd.Output()
	require.NoError(t, err, "%v: %s", args, cmd.Stderr)
	return string(out)
}

// matrixArgs is an audit of a few seconds by real compilers.
func matrixArgs(t *testing.T, file string) []string {
	t.Helper()
	if tcs, _ := tested.CUDA(t.Context(), toolchain.Options{}); len(tcs) == 0 {
		required.Missing(t, "no compilers found")
	}
	return []string{"audit", "coRR", "mp", "lb", "sb", "dlb-mp", "coWW", "iriw", "--targets", "sm_60,sm_80", "--levels", "O0,O3",
		"--quiet", "--store", file}
}

// sound checks a store that somebody has just died on.
func sound(t *testing.T, file string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		return // killed before it was made
	}
	s, err := store.Open(t.Context(), file, store.Create)
	require.NoError(t, err)
	defer s.Close()
	ps, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, ps)
}

// TestKill: killed at random moments, and begun again, an audit ends with the
// results of one that was not disturbed.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "whole.store")
	args := matrixArgs(t, file)
	begin := time.Now()
	stored(t, args...)
	whole := time.Since(begin)
	want := stored(t, "store", "export", file)
	kills, rounds, finished := 3, 0, 0
	if os.Getenv("OPTCHECK_FULL") != "" {
		kills = 25
	}
	file = filepath.Join(dir, "killed.store")
	args[len(args)-1] = file
	for done := 0; done < kills; rounds++ {
		if killed(t, whole*7/10, args) {
			done++
			sound(t, file)
			continue
		} // it was faster
		require.Equal(t, want, stored(t, "store", "export", file))
		finished++
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(file + suffix)
		}
	}
	stored(t, args...)
	require.Equal(t, want, stored(t, "store", "export", file))
	t.Logf("%d kills, %d audits finished between them, undisturbed %v", kills, finished, whole.Round(time.Millisecond))
}

// TestTwoAtOnce: two audits of one matrix into one store at the same time do no
// harm to each other.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two.store")
	args := matrixArgs(t, file)
	a, b := child(t, args...), child(t, args...)
	require.NoError(t, a.Start())
	require.NoError(t, b.Start())
	require.NoError(t, a.Wait(), "%s", a.Stderr)
	require.NoError(t, b.Wait(), "%s", b.Stderr)
	sound(t, file)
	one := filepath.Join(dir, "one.store")
	args[len(args)-1] = one
	stored(t, args...)
	require.Equal(t, stored(t, "store", "export", one), stored(t, "store", "export", file))
}

// small mounts a file system of a megabyte, which only root can.
func small(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

// TestDiskFull: when the disk is full, an audit says so, what was stored before
// is intact, and with more room the next one goes on.
func TestDiskFull(t *testing.T) {
	dir := small(t, "size=220k")
	file := filepath.Join(dir, "a.store")
	args := matrixArgs(t, file)
	cmd := child(t, args...)
	require.Error(t, cmd.Run())
	require.Contains(t, cmd.Stderr.(*bytes.Buffer).String(), "no space left for the store; what was stored before is intact")
	require.NoError(t, syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=20m"))
	sound(t, file)
	stored(t, args...)
	one := filepath.Join(t.TempDir(), "one.store")
	args[len(args)-1] = one
	stored(t, args...)
	require.Equal(t, stored(t, "store", "export", one), stored(t, "store", "export", file))
}

// TestDiskFullAtOnce: a new store for which there is no room leaves nothing, however little room
// there is; one with results stays.
func TestDiskFullAtOnce(t *testing.T) {
	dir := small(t, "size=4k")
	file := filepath.Join(dir, "a.store")
	args := matrixArgs(t, file)
	for _, size := range []int{4, 40, 96, 100, 104, 112, 124, 128, 140} {
		require.NoError(t, syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", size)))
		cmd := child(t, args...)
		require.Error(t, cmd.Run())
		require.Contains(t, cmd.Stderr.(*bytes.Buffer).String(), "no space left for the store", size)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, size)
	}
	require.NoError(t, os.WriteFile(file, nil, 0o600), "an empty file that somebody else made")
	require.Error(t, child(t, args...).Run())
	require.NoFileExists(t, file)
	require.NoError(t, syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=4k"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), make([]byte, 4096), 0o600), "not a byte is left")
	cmd := child(t, args...)
	require.Error(t, cmd.Run())
	require.Contains(t, cmd.Stderr.(*bytes.Buffer).String(), "no space left for the store")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// TestReadOnly: where nothing can be written, a store can be read, and an audit
// says why it cannot begin.
func TestReadOnly(t *testing.T) {
	dir := small(t, "size=8m")
	file := filepath.Join(dir, "a.store")
	stored(t, matrixArgs(t, file)...)
	want := stored(t, "store", "export", file)
	require.NoError(t, syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	require.Equal(t, want, stored(t, "store", "export", file))
	for _, f := range []string{file, filepath.Join(dir, "new.store")} {
		cmd := child(t, matrixArgs(t, f)...)
		require.Error(t, cmd.Run())
		out := cmd.Stderr.(*bytes.Buffer).String()
		require.Contains(t, out, "the store cannot be written", out)
		require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 1, out)
	}
}
