package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// TestNotices: every module that is linked has a licence in the notices.
func TestNotices(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, write(&b))
	modules, err := linked()
	require.NoError(t, err)
	require.Greater(t, len(modules), 20)
	for _, m := range modules {
		at := strings.Index(b.String(), strings.Repeat("=", 80)+"\n"+m.path+" "+m.version+", ")
		require.Positive(t, at, m.path)
	}
	for _, words := range []string{"Apache License", "Permission is hereby granted", "Redistribution and use", ", NOTICE\n"} {
		require.Contains(t, b.String(), words)
	}
	bundled, err := input.ReadFile("../../report/html/editor/package.json", 1<<20)
	require.NoError(t, err)
	var of struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal(bundled, &of))
	for name, version := range of.Dependencies {
		require.Contains(t, b.String(), name+" "+version+" (MIT)", "a bundle that make editor has not made again")
	}
	require.NotContains(t, b.String(), "chromedp", "what only tests use is not shipped")
}
