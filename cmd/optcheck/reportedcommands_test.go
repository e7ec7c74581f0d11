package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/reduce"
	"optcheck/report"
)

// wrongLine parses a command line as the shell and the program would, and what its command makes of its
// operands as far as no compiler is needed.
func wrongLine(t *testing.T, line string) error {
	words := shellWords(strings.TrimPrefix(line, "optcheck "))
	if err := wrongCommand(words); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(line, "optcheck gen cycle "):
		var out, errs bytes.Buffer
		if code := Main(t.Context(), os.Getenv, nil, &out, &errs, words); code != exitOK {
			return fmt.Errorf("%s", errs.String())
		}
	case len(words) > 1 && (words[0] == "reduce" || words[0] == "bug") && strings.Contains(words[1], "@"):
		a, err := reduce.ParseAddress(words[1])
		if err != nil {
			return err
		}
		if isCUDA(a.Test) {
			return fmt.Errorf("%s: a finding is in PTX", a.Test)
		}
		if isProgram(a.Test) && a.Layout != "" {
			return fmt.Errorf("%s: PTX has no layout", words[1])
		}
		if !isProgram(a.Test) {
			return checkSignature(reduce.Signature{Rule: a.Rule})
		}
	}
	return nil
}

var (
	shownLine = regexp.MustCompile(`(?m)^\s*(optcheck [a-z]+ .*)$`)
	inSARIF   = regexp.MustCompile(`"finding": ("(?:[^"\\]|\\.)*")`)
	inHTML    = regexp.MustCompile(`(?s)<(?:code|pre)[^>]*>(optcheck [a-z]+ .*?)</(?:code|pre)>`)
)

// oddities writes a stream with a finding of each pipeline, in tests and programs.
func oddities(t *testing.T, file string) {
	f, err := os.Create(file)
	require.NoError(t, err)
	w := report.NewJSONLines(f)
	require.NoError(t, w.Handle(report.Event{Config: &report.Config{Schema: report.Schema, Tool: "t", Tests: 6, Cells: 6,
		Claims: "Claimed is this.\nAnd that."}}))
	n := 0
	add := func(test report.Test, toolchain, target, layout, rule string) {
		n++
		test.Hash = fmt.Sprint("h", n)
		require.NoError(t, w.Handle(report.Event{Test: &test}))
		require.NoError(t, w.Handle(report.Event{Cell: &report.Cell{Test: test.Name, Hash: test.Hash, Toolchain: toolchain, Target: target,
			Level: "O3", Layout: layout, Result: report.Result{Class: report.Changed, Code: fmt.Sprint("c", n),
				Findings: []report.Finding{{Rule: rule, Detail: "d"}}}}}))
	}
	add(report.Test{Name: "mp", Dialect: "GPU_PTX", Preset: "corpus"}, "ptxas 12.4.131", "sm_80", "pointers", "merged")
	add(report.Test{Name: "it's", Dialect: "GPU_PTX", File: "a dir/it's.litmus"}, "ptxas 12.4.131", "sm_80", "offsets", "weakened")
	add(report.Test{Name: "mp2", Dialect: "GPU_PTX", File: "-x.litmus"}, "llc 22.1.8 + ptxas 12.4.131", "sm_80", "pointers", "fence-removed")
	add(report.Test{Name: "cl-mp", Dialect: "GPU_OPENCL", Preset: "corpus"}, "clang 22.1.8", "gfx90a", "pointers", "missing")
	add(report.Test{Name: "k.ptx:k", File: "k.ptx", Dialect: report.Program, Lines: [][]int{{17}}}, "ptxas 11.8.89", "sm_70", "own", "weakened")
	add(report.Test{Name: "k.cu@nvcc-12.4.131.ptx:k", File: "k.cu", Dialect: report.Program, Lines: [][]int{{17}}},
		"nvcc 12.4.131 + ptxas 11.8.89", "sm_70", "own", "weakened")
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// commandsIn are the commands in all forms of report of a stream.
func commandsIn(t *testing.T, stream string) map[string][]string {
	lines := map[string][]string{}
	ok := func(args ...string) string {
		var out, errs bytes.Buffer
		require.Equal(t, exitOK, Main(t.Context(), os.Getenv, nil, &out, &errs, append([]string{"report", stream}, args...)), errs.String())
		return out.String()
	}
	for _, form := range []string{"text", "markdown", "github", "junit"} {
		t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(t.TempDir(), "summary.md"))
		text := ok("--format", form)
		require.NotContains(t, text, `\n`, form)
		for _, m := range shownLine.FindAllStringSubmatch(text, -1) {
			lines[form] = append(lines[form], m[1])
		}
	}
	for _, m := range inSARIF.FindAllStringSubmatch(ok("--format", "sarif"), -1) {
		var s string
		require.NoError(t, json.Unmarshal([]byte(m[1]), &s))
		lines["sarif"] = append(lines["sarif"], report.ShellLine("optcheck", "reduce", s))
	}
	dir := filepath.Join(t.TempDir(), "pages")
	ok("--html", dir)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range inHTML.FindAllStringSubmatch(string(text), -1) {
			lines["html"] = append(lines["html"], html.UnescapeString(m[1]))
		}
		return err
	}))
	return lines
}

// TestReportedCommands: every command that a report prints is one of this program, with its flags, and names a
// finding as reduce and bug read it, in all forms of report.
func TestReportedCommands(t *testing.T) {
	stream := filepath.Join(t.TempDir(), "run.jsonl")
	oddities(t, stream)
	lines := commandsIn(t, stream)
	for form, least := range map[string]int{"markdown": 12, "html": 12, "sarif": 5} {
		require.GreaterOrEqual(t, len(lines[form]), least, "%s: %v", form, lines[form])
	}
	for form, all := range lines {
		for _, line := range all {
			assert.NoError(t, wrongLine(t, line), "%s: %s", form, line)
		}
	}
	for _, bad := range []string{"optcheck reduce 'k.ptx@ptxas 11.8.89/sm_70/O3/own:weakened'", "optcheck reduce mp@12.4/sm_80/O3/pointers:no",
		"optcheck audit mp --targit x", `optcheck gen cycle "Rfe DpAddr Fre"`, "optcheck bug k.cu@12.4/sm_80/O3:3"} {
		require.Error(t, wrongLine(t, bad), bad)
	}
}
