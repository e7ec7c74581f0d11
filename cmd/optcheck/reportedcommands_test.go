package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
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
		if _, err := strconv.Atoi(a.Rule); isCUDA(a.Test) && err == nil && !strings.Contains(a.Toolchain, "+") {
			return fmt.Errorf("%s: a finding in CUDA C++ names front end and ptxas", a.Test)
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
	w := event.NewJSONLines(f)
	require.NoError(t, w.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Tool: "t", Tests: 9, Cells: 9,
		Claims: "Claimed is this.\nAnd that."}}))
	n := 0
	add := func(test event.Test, toolchain, target, layout, rule string) {
		n++
		test.Hash = fmt.Sprint("h", n)
		class, access := event.Changed, 0
		if rule == event.RuleCrash || rule == event.RuleHang {
			class, access = event.Crashed, -1
		}
		require.NoError(t, w.Handle(event.Event{Test: &test}))
		require.NoError(t, w.Handle(event.Event{Cell: &event.Cell{Test: test.Name, Hash: test.Hash, Toolchain: toolchain, Target: target,
			Level: "O3", Layout: layout, Result: event.Result{Class: class, Code: fmt.Sprint("c", n),
				Findings: []event.Finding{{Rule: rule, Access: access, Detail: "d"}}}}}))
	}
	add(event.Test{Name: "mp", Dialect: "GPU_PTX", Preset: "corpus"}, "ptxas 12.4.131", "sm_80", "pointers", "merged")
	add(event.Test{Name: "it's", Dialect: "GPU_PTX", File: "a dir/it's.litmus"}, "ptxas 12.4.131", "sm_80", "offsets", "weakened")
	add(event.Test{Name: "mp2", Dialect: "GPU_PTX", File: "-x.litmus"}, "llc 22.1.8 + ptxas 12.4.131", "sm_80", "pointers", "fence-removed")
	add(event.Test{Name: "cl-mp", Dialect: "GPU_OPENCL", Preset: "corpus"}, "clang 22.1.8", "gfx90a", "pointers", "missing")
	add(event.Test{Name: "k.ptx:k", File: "k.ptx", Dialect: event.Program, Lines: [][]int{{17}}}, "ptxas 11.8.89", "sm_70", "own", "weakened")
	add(event.Test{Name: "k.cu@nvcc-12.4.131.ptx:k", File: "k.cu", Dialect: event.Program, Lines: [][]int{{17}}},
		"nvcc 12.4.131 + ptxas 11.8.89", "sm_70", "own", "weakened")
	add(event.Test{Name: "own.cu@nvcc-12.4.131.ptx:k", File: "own.cu@nvcc-12.4.131.ptx", Origin: "own.cu", OriginLines: []int{7}, Dialect: event.Program,
		Lines: [][]int{{17}}}, "nvcc 12.4.131 + ptxas 11.8.89", "sm_70", "own", "weakened")
	add(event.Test{Name: "c.ptx:k", File: "c.ptx", Dialect: event.Program, Lines: [][]int{{17}}}, "ptxas 11.8.89", "sm_70", "own", event.RuleCrash)
	add(event.Test{Name: "c.cu@nvcc-12.4.131", File: "c.cu", Dialect: event.Program, Lines: [][]int{{}}}, "nvcc 12.4.131 + ptxas 11.8.89", "sm_70", "own",
		event.RuleHang)
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// commandsIn are the commands in all forms of report of a stream.
func commandsIn(t *testing.T, stream string) map[string][]string {
	lines := map[string][]string{}
	ok := func(args ...string) string {
		var out, errs bytes.Buffer
		require.Equal(t, exitOK, Main(t.Context(), os.Getenv, nil, &out, &errs, append([]string{"report", stream, "--fail-on", "never"}, args...)), errs.String())
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
	for form, least := range map[string]int{"markdown": 18, "html": 18, "sarif": 7} {
		require.GreaterOrEqual(t, len(lines[form]), least, "%s: %v", form, lines[form])
	}
	for form, all := range lines {
		for _, line := range all {
			assert.NoError(t, wrongLine(t, line), "%s: %s", form, line)
		}
	}
	crashes := strings.Join(lines["markdown"], "\n")
	for _, want := range []string{"optcheck reduce c.ptx@11.8.89/sm_70/O3:crash", "optcheck bug own.cu@nvcc-12.4.131+11.8.89/sm_70/O3:7 --output bundle", "optcheck bug c.cu@nvcc-12.4.131+11.8.89/sm_70/O3:hang --output bundle"} {
		require.Contains(t, crashes, want)
	}
	for _, bad := range []string{"optcheck reduce 'k.ptx@ptxas 11.8.89/sm_70/O3/own:weakened'", "optcheck reduce mp@12.4/sm_80/O3/pointers:no",
		"optcheck audit mp --targit x", `optcheck gen cycle "Rfe DpAddr Fre"`, "optcheck bug k.cu@12.4/sm_80/O3:3"} {
		require.Error(t, wrongLine(t, bad), bad)
	}
}

// inText is a command of this program in a sentence, up to where the sentence goes on.
var inText = regexp.MustCompile("\\boptcheck ([a-z][^\"'`;(),\\n]*)")

// TestPrintedCommands: every command that a text of the program names is one, with its flags: reports, messages, help and
// what bundles have are made of these texts.
func TestPrintedCommands(t *testing.T) {
	root := newRootCmd(&environment{getenv: func(string) string { return "" }})
	tops := map[string]bool{}
	for _, c := range root.Commands() {
		tops[c.Name()] = true
	}
	wrong := func(sentence string) error {
		words := strings.Fields(sentence)
		for i, w := range words {
			if words[i] = strings.TrimRight(w, ".:"); w == "for" || w == "has" || w == "…" { // the sentence goes on
				words = words[:i]
				break
			}
		}
		if !tops[words[0]] {
			return nil // "optcheck made it"
		}
		c, rest, err := root.Find(words)
		if err != nil {
			return err
		}
		if c.HasSubCommands() && c.Name() != "model" && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return fmt.Errorf("%s has no command %s", c.CommandPath(), rest[0])
		}
		for _, w := range rest {
			name, _, _ := strings.Cut(w, "=")
			name, long := strings.CutPrefix(name, "--")
			if long && name != "" && name != "help" && !strings.ContainsAny(name, "%…") && c.Flag(name) == nil && c.InheritedFlags().Lookup(name) == nil {
				return fmt.Errorf("%s has no flag --%s", c.CommandPath(), name)
			}
		}
		return nil
	}
	n := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(x ast.Node) bool {
			lit, ok := x.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			for _, m := range inText.FindAllStringSubmatch(text, -1) {
				n++
				assert.NoError(t, wrong(m[1]), "%s: %s", path, m[0])
			}
			return true
		})
		return nil
	}))
	require.Greater(t, n, 300)
	for _, bad := range []string{"toolchain instal nvcc-12.4", "hunt --replay x --valuess", "store artifact list", "reduce x --chek"} {
		require.Error(t, wrong(bad), bad)
	}
}
