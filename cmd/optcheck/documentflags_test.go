package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/plain"
)

var shown = regexp.MustCompile(`^\s*(?:(?:- )?run: |\$ )?(?:[A-Z_]+=\S+ )*optcheck (.*)$`)

// told is a command in a sentence, with or without more.
var told = regexp.MustCompile("`optcheck ([a-z][a-z-]+(?: [a-z][a-z-]+)?)[ `]")

// quoted is a command in a sentence with an argument in quotes, which leaves nothing to fill in.
var quoted = regexp.MustCompile("`(optcheck [^`\n]*[\"'][^`\n]*)`")

// commandsOf are the command lines in blocks of a page.
func commandsOf(text string) (out []string) {
	fenced := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if m := shown.FindStringSubmatch(line); m != nil && (fenced || strings.HasPrefix(line, "    ")) {
			out = append(out, m[1])
		}
	}
	return out
}

// TestDocumentedCommands: every command that a document shows exists, with its flags and as
// many arguments as it takes. Those of the pages for newcomers are run as well (TestDocuments);
// what the others show wants devices, clusters, hours, or files of the reader's.
func TestDocumentedCommands(t *testing.T) {
	checked := 0
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if d != nil && d.IsDir() && (rel == filepath.Join("docs", "reference") || strings.HasPrefix(d.Name(), ".") && rel != ".") {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, line := range commandsOf(string(text)) {
			assert.NoError(t, wrongLine(t, "optcheck "+line), "%s: optcheck %s", rel, line)
			checked++
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			assert.NoError(t, wrongLine(t, m[1]), "%s: %s", rel, m[1])
		}
		for _, m := range told.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1])
			_, _, err := newRootCmd(&environment{}).Find(words)
			assert.NoError(t, err, "%s: `optcheck %s`", rel, m[1])
		}
		return nil
	}))
	require.Greater(t, checked, 120)
	require.Error(t, wrongCommand([]string{"audit", "mp", "--targit", "sm_80"}), "the check sees what it should")
	require.Error(t, wrongCommand([]string{"audits"}))
	require.Error(t, wrongCommand([]string{"diff"}))
}

// wrongCommand parses a command line without doing what it says.
func wrongCommand(words []string) error {
	if slices.Contains(words, "--help") || slices.Contains(words, "--version") {
		return nil
	}
	env := &environment{ctx: context.Background(), getenv: func(string) string { return "" }, stdin: strings.NewReader(""), stdout: io.Discard,
		stderr: plain.NewWriter(io.Discard), text: plain.NewWriter(io.Discard), bar: io.Discard}
	cmd, rest, err := newRootCmd(env).Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if !cmd.HasParent() && len(cmd.Flags().Args()) > 0 {
		return cobra.NoArgs(cmd, cmd.Flags().Args())
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// shellWords are the words of the command with which a line of shell begins.
func shellWords(line string) (words []string) {
	var b strings.Builder
	quote, any_, escaped := rune(0), false, false
	flush := func() {
		if any_ {
			words = append(words, b.String())
		}
		b.Reset()
		any_ = false
	}
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case quote == 0 && r == '\\':
			escaped, any_ = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, any_ = r, true
		case r == ' ' || r == '\t':
			flush()
		case r == '|' || r == '>' || r == ';' || r == '&' || r == '#' && !any_:
			flush()
			return words
		default:
			any_ = true
			b.WriteRune(r)
		}
	}
	flush()
	return words
}
