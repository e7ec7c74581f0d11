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
)

// TestResults: each page of results has a command that makes it, and each command is there: a command of this program with its
// flags, a test, a script. make results runs them.
func TestResults(t *testing.T) {
	root := filepath.Join("..", "..")
	table, err := os.ReadFile(filepath.Join(root, "scripts", "results.txt"))
	require.NoError(t, err)
	made := map[string]bool{"all.md": true}
	kinds := map[string]bool{"short": false, "long": false, "set": false, "device": false, "pair": false, "checkout": false, "newer": false}
	var short []string
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		require.Len(t, f, 3, line)
		page, kind, command := f[0], f[1], f[2]
		require.Contains(t, kinds, kind, line)
		made[page], kinds[kind] = true, true
		if page != "all.md" {
			require.FileExists(t, filepath.Join(root, "docs", "results", page), line)
		}
		if kind == "short" {
			short = append(short, page+": "+command)
		}
		words := shellWords(command)
		for len(words) > 0 && setsVariable.MatchString(words[0]) {
			words = words[1:]
		}
		switch words[0] {
		case "optcheck":
			assert.NoError(t, wrongCommand(words[1:]), line)
		case "go":
			assert.NoError(t, wrongGo(root, words[1:]), line)
		case "make":
		default:
			require.FileExists(t, filepath.Join(root, words[0]), line)
		}
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs", "results"), func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			rel, _ := filepath.Rel(filepath.Join(root, "docs", "results"), path)
			assert.True(t, made[filepath.ToSlash(rel)], "scripts/results.txt has no command for %s", rel)
		}
		return err
	}))
	for kind, used := range kinds {
		assert.True(t, used, kind)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "results.sh"), "-n").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, strings.Join(short, "\n")+"\n", string(out))
}

var (
	setsVariable = regexp.MustCompile(`^[A-Z_]+=`)
	testFunc     = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// wrongGo says what is wrong with a call of go: a package that is not there, or no test of the name.
func wrongGo(root string, words []string) error {
	run := ""
	for i, w := range words {
		if w == "-run" {
			run = words[i+1]
		}
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "./") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, w, "*.go"))
		if err != nil || len(files) == 0 {
			return fs.ErrNotExist
		}
		if run == "" {
			continue
		}
		re, err := regexp.Compile(run)
		if err != nil {
			return err
		}
		found := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				found = found || re.Match(m[1])
			}
		}
		if !found {
			return fs.ErrNotExist
		}
	}
	return nil
}
