package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	campaigns "optcheck/audit/campaign"
)

// TestForeignCampaign: the program in the folder of a campaign that somebody
// else made is not run, unless the user trusts the folder.
func TestForeignCampaign(t *testing.T) {
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	evil := filepath.Join(home, "evil")
	require.NoError(t, os.WriteFile(evil, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o755))
	retries := 0
	spec := &campaigns.Spec{Name: "x", Engine: campaigns.EngineLocal, Shards: 1, Retries: &retries}
	c, err := campaigns.Create(filepath.Join(home, "theirs"), evil, &campaigns.Plan{Spec: spec, Parts: []campaigns.Part{{Vendor: "nvidia"}},
		Store: filepath.Join(home, "x.db")}, [][]campaigns.Test{nil})
	require.NoError(t, err)
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Main(context.Background(), func(key string) string { return map[string]string{"HOME": home}[key] }, &out, &out, &errs, args)
		return code, errs.String()
	}
	code, text := run("campaign", "attach", c.Dir, "-q")
	require.Equal(t, exitUsage, code)
	require.Contains(t, text, "this user did not begin that campaign: optcheck trust ")
	require.NoFileExists(t, ran)

	code, text = run("trust", c.Dir)
	require.Zero(t, code, text)
	_, _ = run("campaign", "attach", c.Dir, "-q")
	require.FileExists(t, ran)
}
