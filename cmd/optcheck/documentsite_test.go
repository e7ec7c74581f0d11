package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
)

var (
	siteLink = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	siteID   = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestSite: the documents become pages that need no server: each link leads to a file and a place that are there.
func TestSite(t *testing.T) {
	hugo, err := exec.LookPath("hugo")
	if err != nil {
		required.Missing(t, "no hugo")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), hugo, "--source", filepath.Join("..", "..", "site"), "--destination", dir, "--cacheDir", t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	texts, places := map[string]string{}, map[string]map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path], places[path] = string(text), map[string]bool{}
		for _, m := range siteID.FindAllStringSubmatch(string(text), -1) {
			places[path][m[1]] = true
		}
		return err
	}))
	require.Greater(t, len(texts), 40)
	links := 0
	for page, text := range texts {
		for _, m := range siteLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, place, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			rel, _ := filepath.Rel(dir, page)
			_, err := os.Stat(to) // a folder of files is shown as a list
			if assert.NoError(t, err, "%s: %s", rel, m[1]) && place != "" {
				assert.True(t, places[to][place], "%s: %s: there is no such place", rel, m[1])
			}
		}
	}
	require.Greater(t, links, 1000)
	require.Contains(t, texts[filepath.Join(dir, "index.html")], "What we found")
}
