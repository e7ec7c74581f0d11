package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
)

// TestRealPages: the pages of real findings, miscompiled and harmless ones, and of a tried test
// are whole at the widths of a desk, a tablet and a phone, and have no faults.
func TestRealPages(t *testing.T) {
	needs(t, "cuda-11.8")
	needs(t, "cuda-12.4")
	dir := t.TempDir()
	require.NoError(t, run(context.Background(), os.Getenv, strings.NewReader(""), io.Discard, io.Discard,
		[]string{"audit", "coRR-L2-L1+membar.gl", "coRR", "cas-sl+membar.gls", "--toolchains", "11.8,12.4", "--targets", "sm_35,sm_90", "--levels", "O3",
			"--html", dir, "--fail-on", "never", "-q"}))
	found, err := filepath.Glob(filepath.Join(dir, "f", "*.html"))
	require.NoError(t, err)
	require.Greater(t, len(found), 2)
	stream, changes := filepath.Join(dir, "run.jsonl"), filepath.Join(t.TempDir(), "changes")
	require.NoError(t, run(context.Background(), os.Getenv, strings.NewReader(""), io.Discard, io.Discard,
		[]string{"audit", "mp+membar.gls", "--toolchains", "11.8,12.4", "--targets", "sm_90", "--levels", "O3", "--output", stream, "-q"}))
	require.NoError(t, run(context.Background(), os.Getenv, strings.NewReader(""), io.Discard, io.Discard,
		[]string{"diff", stream, "--html", changes}))
	pages := []string{filepath.Join(dir, "index.html"), filepath.Join(dir, "changes.html"), filepath.Join(changes, "index.html")}
	forbidden := 0
	for _, f := range found {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		forbidden += strings.Count(string(text), ": forbidden by ")
	}
	require.Positive(t, forbidden, "a picture of what the model forbids is among them")
	b := browsertest.New(t)
	check := func(name string) {
		for _, width := range []int{1400, 820, 390} {
			b.Width(width)
			for _, dark := range []bool{false, true} {
				b.Dark(dark)
				require.Empty(t, append(b.Cut(), b.Faults()...), "%s at %d, dark: %v", name, width, dark)
			}
		}
		require.Empty(t, b.LowContrast(), name)
	}
	for _, f := range append(pages, found...) {
		b.Open(browsertest.FileURL(f))
		check(f)
		for _, colour := range browsertest.Eval[[]string](b, `Array.from(document.querySelectorAll(".fp-picture svg > text:first-of-type"), (e) => e.getAttribute("fill"))`) {
			require.NotContains(t, []string{"#b71c1c", "red"}, colour, "what a model forbids is no alarm by itself")
		}
	}
	at := startServeWith(t, os.Getenv)
	b.Open(at + "try.html?" + url.Values{"pick": {"mp+fence.acq_rel.gpus"}}.Encode())
	b.Click("form[data-try] button")
	b.Until(`document.querySelector("#try-result") !== null`)
	browsertest.Eval[bool](b, `document.querySelectorAll("details").forEach((e) => { e.open = true; }) === undefined`)
	require.Contains(t, b.Text("main"), "forbids it, to the test and to its machine code alike.")
	check("try.html")
}

// TestPictureModels: a stream names a model; no file is opened by that name.
func TestPictureModels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.cat")
	require.NoError(t, os.WriteFile(file, []byte("\"own\"\nacyclic po\n"), 0o600))
	_, err := newPainter().model(file)
	require.ErrorContains(t, err, "is not built in")
	_, err = newPainter().model("sc")
	require.NoError(t, err)
}
