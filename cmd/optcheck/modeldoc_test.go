package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateDoc = flag.Bool("update-doc", false, "write the tables of docs/internals/models.md anew")

// comparison is a table in docs/internals/models.md: a comment with the command's arguments,
// then what it prints.
var comparison = regexp.MustCompile("<!-- compare: ([^\n]*) -->\n(?:\n(?:    [^\n]*\n)+)?")

// TestModelTables runs the comparisons of docs/internals/models.md: the tables are what the
// command prints.
func TestModelTables(t *testing.T) {
	const doc = "../../docs/internals/models.md"
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	text, err := os.ReadFile(doc)
	require.NoError(t, err)
	n := 0
	got := comparison.ReplaceAllFunc(text, func(b []byte) []byte {
		args := string(comparison.FindSubmatch(b)[1])
		if n++; n > 1 && os.Getenv("OPTCHECK_FULL") == "" && !*updateDoc {
			return b // seconds each
		}
		var out, told bytes.Buffer
		words := append([]string{"model", "compare"}, strings.Fields(strings.ReplaceAll(args, "docs/", root+"/docs/"))...)
		err := run(context.Background(), func(string) string { return "" }, strings.NewReader(""), &out, &told,
			append(words, "--table", "--limit", "4"))
		require.True(t, err == nil || err == errFound, "%v: %s", err, &told)
		block := fmt.Sprintf("<!-- compare: %s -->\n\n    $ optcheck model compare %s --table --limit 4\n", args, args)
		for line := range strings.Lines(out.String()) {
			if strings.TrimSpace(line) != "" {
				block += "    " + line
			}
		}
		return []byte(block)
	})
	require.Equal(t, 5, n)
	if *updateDoc {
		require.NoError(t, os.WriteFile(doc, got, 0o666))
		return
	}
	require.Equal(t, string(text), string(got), "go test ./cmd/optcheck -run ModelTables -update-doc")
}
