package html

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// files reads a folder.
func files(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(name)] = string(b)
		return err
	}))
	return out
}

func writeSet(t *testing.T, dir string, s *event.Set) map[string]string {
	stats, err := Write(context.Background(), dir, s, Options{})
	require.NoError(t, err)
	out := files(t, dir)
	size := int64(0)
	for _, b := range out {
		size += int64(len(b))
	}
	require.Equal(t, size, stats.Bytes)
	require.Len(t, out, stats.Files)
	return out
}

var linkPattern = regexp.MustCompile(`(?:href|src)="([^"#]*)(?:#[^"]*)?"`)

// checkLinks asserts that everything pages lead to is there and nothing leads
// outside.
func checkLinks(t *testing.T, pages map[string]string) {
	n := 0
	for name, text := range pages {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, m := range linkPattern.FindAllStringSubmatch(text, -1) {
			if m[1] == "" || m[1] == "data:," {
				continue
			}
			to := filepath.ToSlash(filepath.Clean(filepath.Join(filepath.Dir(name), m[1])))
			require.Containsf(t, pages, to, "%s leads to %s", name, m[1])
			n++
		}
		require.NotRegexp(t, `(?i)(src|href)\s*=\s*"?\s*(https?:|//|javascript:)`, text)
	}
	require.Positive(t, n)
}

func TestWrite(t *testing.T) {
	s := sample(40)
	dir := filepath.Join(t.TempDir(), "new", "report")
	first := writeSet(t, dir, s)
	checkLinks(t, first)
	require.Contains(t, first["index.html"], "known miscompilations; in ")
	require.Equal(t, first, writeSet(t, dir, s), "the same files when written again")
	require.Equal(t, first, writeSet(t, t.TempDir(), shuffled(s, 3)), "whatever the order of the stream")
	smaller := writeSet(t, dir, sample(10))
	checkLinks(t, smaller)
	require.Equal(t, smaller, writeSet(t, t.TempDir(), sample(10)), "nothing is left of an older report")
}

func TestWriteEmpty(t *testing.T) {
	out := writeSet(t, t.TempDir(), event.NewSet())
	require.Contains(t, out["index.html"], "No cells")
	s := sample(1)
	s.Config.Cells += 5
	require.Contains(t, writeSet(t, t.TempDir(), s)["index.html"], "Not all of it is here")
}

func TestWriteForeign(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600))
	_, err := Write(context.Background(), dir, sample(1), Options{})
	require.ErrorIs(t, err, ErrForeign)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte("<html>mine"), 0o600))
	_, err = Write(context.Background(), dir, sample(1), Options{})
	require.ErrorIs(t, err, ErrForeign)
	require.Len(t, files(t, dir), 2)
	_, err = Write(context.Background(), filepath.Join(dir, "letter.txt"), sample(1), Options{})
	require.Error(t, err)

	// A link in an older report must not lead writing elsewhere.
	old, outside := t.TempDir(), t.TempDir()
	writeSet(t, old, sample(4))
	require.NoError(t, os.RemoveAll(filepath.Join(old, "f")))
	require.NoError(t, os.Symlink(outside, filepath.Join(old, "f")))
	_, err = Write(context.Background(), old, sample(4), Options{})
	require.Error(t, err)
	require.Empty(t, files(t, outside))
}

func TestWriteCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Write(ctx, t.TempDir(), sample(1), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// hostile returns a set whose names want to be more than names.
func hostile() *event.Set {
	s := event.NewSet()
	names := []string{`<script>alert(1)</script>`, `../../../etc/passwd`, `"><img src=x onerror=alert(1)>`, strings.Repeat("long", 2500),
		"turned \u202e round", "control \x1b[2J\x00", "{{.}}", "javascript:alert(1)", "' onmouseover='alert(1)",
		"</title></style></textarea>", "bad \xff utf-8", ""}
	for i, n := range names {
		f := []event.Finding{{Rule: n, Thread: 0, Access: i, Detail: n, Stage: n}}
		_ = s.Handle(event.Event{Test: &event.Test{Name: n, Hash: n, Text: n, Preset: n}})
		_ = s.Handle(event.Event{Cell: &event.Cell{Test: n, Hash: n, Toolchain: n, Target: n, Level: n, Layout: n,
			Result: event.Result{Class: event.Optimised, Findings: f, Known: []string{n}, Code: n, Verdict: &event.Verdict{Model: n,
				New: []string{n}, Lifted: n}}}})
		_ = s.Handle(event.Event{Cell: &event.Cell{Test: n, Hash: n, Toolchain: n, Target: n, Level: n, Layout: n + "2",
			Result: event.Result{Class: n, Reason: n}}})
		_ = s.Handle(event.Event{Listing: &event.Listing{Code: n, Threads: []event.ThreadListing{{Source: []event.Line{{Text: n}}}}}})
		_ = s.Handle(event.Event{Problem: &event.Problem{Kind: n, Detail: n}})
	}
	s.Config = event.Config{Tool: names[0], Model: names[2], Source: names[4],
		Toolchains: []event.Toolchain{{ID: names[0], Build: names[2]}}}
	return s
}

func TestWriteHostile(t *testing.T) {
	out := writeSet(t, t.TempDir(), hostile())
	checkLinks(t, out)
	safe := regexp.MustCompile(`^(assets/|f/)?[a-z0-9-]+\.(html|css|js)$`)
	for name, text := range out {
		require.Regexp(t, safe, name)
		if strings.HasPrefix(name, "assets/") {
			continue
		}
		for _, bad := range []string{"<script>alert", "<img", "\u202e", "\x1b", "\x00", "onerror=alert(1)>", `'alert(1)'`} {
			require.NotContains(t, text, bad, name)
		}
		require.True(t, strings.Contains(text, "<title>"), name)
	}
	require.Less(t, len(out["index.html"]), 400<<10, "long names are cut")
	require.Equal(t, fmt.Sprint(len(out)), fmt.Sprint(len(writeSet(t, t.TempDir(), shuffled(hostile(), 5)))))
}

func TestWriteLimit(t *testing.T) {
	s := sample(60)
	size := func(limit int64) (pages int64, stats Stats) {
		dir := t.TempDir()
		stats, err := Write(context.Background(), dir, s, Options{Limit: limit})
		require.NoError(t, err)
		for name, text := range files(t, dir) {
			if strings.HasPrefix(name, "f/") {
				pages += int64(len(text))
			}
		}
		return pages, stats
	}
	all, stats := size(-1)
	require.Zero(t, stats.Short)
	limit := all * 3 / 4
	less, stats := size(limit)
	require.LessOrEqual(t, less, limit)
	require.Greater(t, stats.Short, 0)
	require.Less(t, stats.Short, stats.Groups)
	_, stats = size(all / 4)
	require.Positive(t, stats.Groups-stats.Short, "the worst have whole pages")
	_, stats = size(1)
	require.Equal(t, stats.Groups, stats.Short, "each finding has a page whatever the limit")
}
