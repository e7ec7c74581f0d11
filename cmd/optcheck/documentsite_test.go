package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
	"optcheck/internal/required"
)

var (
	siteLink = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	siteID   = regexp.MustCompile(`\bid="([^"]*)"`)
)

// madeSite makes the pages of the documents.
func madeSite(t *testing.T) (dir string) {
	hugo, err := exec.LookPath("hugo")
	if err != nil {
		required.Missing(t, "no hugo")
	}
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), hugo, "--source", filepath.Join("..", "..", "site"), "--destination", dir, "--cacheDir", t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// TestSiteInBrowser: each guide can be read in both themes, on a desktop and on a phone, with
// the keyboard alone: nothing is cut off, and axe-core finds nothing wrong. Other pages are made
// by the same layouts: each is read in one of the four ways, or with OPTCHECK_FULL=1 in all of them.
func TestSiteInBrowser(t *testing.T) {
	b := browsertest.New(t)
	dir := madeSite(t)
	guides, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	require.Greater(t, len(guides), 15)
	var others []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".html" && filepath.Dir(path) != dir {
			others = append(others, path)
		}
		return err
	}))
	require.Greater(t, len(others), 40)
	for n, as := range []struct {
		width int
		dark  bool
	}{{1400, false}, {390, true}, {1400, true}, {390, false}} {
		b.Width(as.width)
		b.Dark(as.dark)
		var pages []string
		for i, guide := range guides { // wide and narrow, light and dark
			if full() || i%2 == n/2 {
				pages = append(pages, guide)
			}
		}
		for i, other := range others {
			if full() || i%4 == n {
				pages = append(pages, other)
			}
		}
		for _, p := range pages {
			b.Open(browsertest.FileURL(p))
			require.Zero(t, b.Overflow(), "%s, %+v", p, as)
			require.Empty(t, b.Axe(), "%s, %+v", p, as)
		}
	}
	b.Press(kb.Tab)
	require.Equal(t, "Skip to the text", browsertest.Eval[string](b, "document.activeElement.innerText"), "the first stop of the keyboard")
	require.Empty(t, b.Errors())
}

// TestSite: the documents become pages that need no server: each link leads to a file and a place that are there.
func TestSite(t *testing.T) {
	dir := madeSite(t)
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
