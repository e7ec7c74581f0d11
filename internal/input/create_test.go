package input

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCreate: files are emptied or continued; a pipe is written if somebody reads it, and refused if nobody does.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	require.NoError(t, WriteFile(file, []byte("a longer text")))
	require.NoError(t, WriteFile(file, []byte("text")))
	f, err := Append(file)
	require.NoError(t, err)
	_, err = f.WriteString(" and more")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "text and more", string(data))

	// A link leads to no file, but to a device, and what the system calls so is a file.
	for name, to := range map[string]string{"link": "file", "nowhere": "new", "null": os.DevNull} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	require.ErrorIs(t, WriteFile(filepath.Join(dir, "link"), nil), ErrLink)
	require.ErrorIs(t, WriteFile(filepath.Join(dir, "nowhere"), nil), ErrLink)
	_, err = Append(filepath.Join(dir, "link"))
	require.ErrorIs(t, err, ErrLink)
	require.NoFileExists(t, filepath.Join(dir, "new"))
	require.NoError(t, WriteFile(filepath.Join(dir, "null"), []byte("x")))
	f, err = os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, WriteFile(fmt.Sprint("/dev/fd/", f.Fd()), []byte("through the system")))
	data, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "through the system", string(data))

	// Nor is a file written that has another name, but through the system.
	other, inDir := filepath.Join(dir, "other"), "other"
	require.NoError(t, os.Link(file, other))
	require.ErrorIs(t, WriteFile(other, nil), ErrLink)
	_, err = Append(other)
	require.ErrorIs(t, err, ErrLink)
	in, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer in.Close()
	_, err = CreateIn(in, inDir, 0o600)
	require.ErrorIs(t, err, ErrLink)
	require.NoError(t, WriteFile(fmt.Sprint("/dev/fd/", f.Fd()), []byte("through the system")))
	require.ErrorIs(t, WriteFileIn(in, "link", nil, 0o600), ErrLink)
	require.NoError(t, WriteFileIn(in, "program", []byte("x"), 0o700))
	st, err := os.Stat(filepath.Join(dir, "program"))
	require.NoError(t, err)
	require.EqualValues(t, 0o700, st.Mode())
	require.NoError(t, os.Remove(other))

	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = Create(pipe)
	require.ErrorIs(t, err, ErrNobodyReads)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	_, err = CreateIn(root, "pipe", 0o600)
	require.ErrorIs(t, err, ErrNobodyReads)
	read := make(chan []byte)
	go func() {
		b := []byte("the pipe was not opened")
		if r, err := os.Open(pipe); err == nil {
			b, _ = io.ReadAll(r)
			r.Close()
		}
		read <- b
	}()
	much := bytes.Repeat([]byte("x"), 1<<20)
	require.NoError(t, WriteFile(pipe, much))
	require.Equal(t, much, <-read)
}

// TestForeignJournal: a file without a line is taken for a journal only if it is empty, or begins as one.
func TestForeignJournal(t *testing.T) {
	type line struct {
		Key  string `json:"key"`
		More int    `json:"more"`
	}
	name := filepath.Join(t.TempDir(), "journal")
	for text, ours := range map[string]bool{"": true, "{": true, `{"kind":"x`: false, `{"key":"x`: true, "mine": false, `{"key":"x"}`: false, "{}": false} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		j, err := OpenJournal(name, 1000, "line", func(line) {})
		data, readErr := os.ReadFile(name)
		require.NoError(t, readErr)
		if !ours {
			require.ErrorContains(t, err, "line 1: no line", text)
			require.Equal(t, text, string(data))
			continue
		}
		require.NoError(t, err, text)
		require.Empty(t, data)
		require.NoError(t, j.Close())
	}
	require.NoError(t, os.Link(name, name+"2"))
	_, err := OpenJournal(name, 1000, "line", func(line) {})
	require.ErrorIs(t, err, ErrLink)
}
