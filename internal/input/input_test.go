package input

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotRegular: nothing but regular files is opened, and nothing blocks.
func TestNotRegular(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero", t.TempDir()} {
		_, err := ReadFile(path, 1<<40)
		require.ErrorIs(t, err, ErrNotRegular, path)
	}
	socket := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	for _, path := range []string{socket, fifo, "/dev/null", "/dev/tty"} {
		_, err := Open(path)
		require.ErrorIs(t, err, ErrNotRegular, path)
		_, err = Update(path, 0o600)
		require.ErrorIs(t, err, ErrNotRegular, path)
	}
	root, err := os.OpenRoot(filepath.Dir(fifo))
	require.NoError(t, err)
	defer root.Close()
	_, err = OpenIn(root, "fifo")
	require.ErrorIs(t, err, ErrNotRegular)
	_, err = ReadFile("no such file", 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestLimit: a file is refused by its size, a stream by what comes; both hold
// for the last byte.
func TestLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err := ReadFile(path, 1<<20)
	require.ErrorIs(t, err, ErrTooLarge)

	require.NoError(t, os.Truncate(path, 8))
	data, err := ReadFile(path, 8)
	require.NoError(t, err)
	require.Len(t, data, 8)
	_, err = ReadFile(path, 7)
	require.ErrorIs(t, err, ErrTooLarge)

	_, err = Read("zeros", strings.NewReader("12345678"), 7)
	require.ErrorIs(t, err, ErrTooLarge)
	data, err = Read("zeros", strings.NewReader("12345678"), 8)
	require.NoError(t, err)
	require.Equal(t, "12345678", string(data))
}

// TestMarks: the mark of UTF-8 is no text, those of UTF-16 are an error.
func TestMarks(t *testing.T) {
	for in, want := range map[string]string{"\xef\xbb\xbfab": "ab", "ab": "ab", "": "", "\xef": "\xef", "\xef\xbb\xbf": ""} {
		data, err := Read("x", strings.NewReader(in), 100)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
		b := bufio.NewReader(strings.NewReader(in))
		require.NoError(t, SkipMark(b))
		data, err = io.ReadAll(b)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	for _, in := range []string{"\xff\xfea\x00", "\xfe\xff\x00a"} {
		_, err := Read("x", strings.NewReader(in), 100)
		require.ErrorIs(t, err, ErrUTF16)
		require.ErrorIs(t, SkipMark(bufio.NewReader(strings.NewReader(in))), ErrUTF16)
	}
}

// TestUntil: a reader ends with its context.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := Until(ctx, bytes.NewReader(make([]byte, 10)))
	n, err := r.Read(make([]byte, 4))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	cancel()
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, context.Canceled)
}

// TestGlob: a folder's name is no pattern, and what matches comes in order.
func TestGlob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a[b]*?\c`)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "y"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "x"), 0o700))
	require.Equal(t, []string{filepath.Join(dir, "x"), filepath.Join(dir, "y")}, Glob(dir, "?"))
	require.Equal(t, []string{dir}, Glob(dir))
	require.Empty(t, Glob(dir, "?", "z"))
}
