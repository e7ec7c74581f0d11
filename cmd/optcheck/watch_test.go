package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWatch: a watch audits again when a file changes that is named or may be included, and not for others; a round that fails
// or finds something does not end it, the end of the context does.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("k.cu", "a")
	write("include/own.cuh", "a")
	var told bytes.Buffer
	env := &environment{stderr: &told}
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	err := watch(ctx, env, []string{filepath.Join(dir, "k.cu")}, func() error {
		switch rounds++; rounds {
		case 1:
			write("k.cu", "changed while it is audited")
			return errFound
		case 2:
			go write("include/own.cuh", "changed")
			return errors.New("k.cu:1: no such thing")
		case 3:
			go write("notes.md", "nothing reads this")
			go write("include/new.h", "is new")
			return nil
		}
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 4, rounds)
	require.Equal(t, "optcheck: 2 files are watched; Ctrl-C ends\noptcheck: k.cu:1: no such thing\noptcheck: 2 files are watched; Ctrl-C ends\n"+
		"optcheck: 2 files are watched; Ctrl-C ends\n", told.String())
	require.Error(t, watch(t.Context(), env, []string{filepath.Join(dir, "none.cu")}, nil))

	before, n, err := stateOf([]string{dir})
	require.NoError(t, err)
	require.Equal(t, 3, n)
	write("notes.md", "changed")
	after, _, err := stateOf([]string{dir, filepath.Join(dir, "k.cu")})
	require.NoError(t, err)
	require.Equal(t, before, after)
}
