package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHelpGroups: each command is in one group, each group has commands that are there, and each page of help begins with examples.
func TestHelpGroups(t *testing.T) {
	root := newRootCmd(&environment{getenv: func(string) string { return "" }})
	n := map[string]int{}
	for _, g := range groups {
		for _, name := range g.commands {
			n[name]++
		}
	}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			require.Equal(t, 1, n[c.Name()], c.Name())
		}
		delete(n, c.Name())
	}
	require.Empty(t, n)
	for _, c := range visible(root) {
		var out, errs bytes.Buffer
		words := append(strings.Fields(c.CommandPath())[1:], "--help")
		require.Equal(t, exitOK, Main(t.Context(), func(string) string { return "" }, nil, &out, &errs, words), errs.String())
		require.True(t, strings.HasPrefix(out.String(), "Examples:\n  optcheck"), "%s: %.80q", c.CommandPath(), out.String())
		require.Equal(t, 1, strings.Count(out.String(), "Examples:"))
	}
}
