package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdCode    = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	mdHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// pages are all documents of the repository, by their paths from its root.
func pages(t *testing.T) map[string]string {
	root, all := filepath.Join("..", ".."), map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "bin") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	}))
	return all
}

// anchors are the places of a page that links may name: its headings, as GitHub and the site spell them.
func anchors(text string) map[string]bool {
	list := map[string]bool{}
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, m := range mdHeading.FindAllStringSubmatch(text, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(mdLink.ReplaceAllString(m[1], "]")) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		list[b.String()] = true
	}
	return list
}

// TestDocumentLinks: every link of a document leads to a file of the repository, and to a heading that is there.
func TestDocumentLinks(t *testing.T) {
	all := pages(t)
	n := 0
	for page, text := range all {
		if page == "CHANGELOG.md" {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(page), file))
			}
			if _, err := os.Stat(filepath.Join("..", "..", to)); !assert.NoError(t, err, "%s: %s", page, m[1]) || anchor == "" {
				continue
			}
			assert.True(t, anchors(all[to])[anchor], "%s: %s has no heading #%s", page, to, anchor)
		}
	}
	require.Greater(t, n, 200)
}
