package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileDoc: the tests that docs/hostile.md names for each word of a file are there.
func TestHostileDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/hostile.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| word | would become | what is between | test |")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	out, err := exec.Command("grep", "-rhoE", "--include=*_test.go", "^func Test[A-Za-z]+", "../..").Output()
	require.NoError(t, err)
	named := regexp.MustCompile("`(Test[A-Za-z]+|[a-z_-]+\\.txtar)`")
	rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
	require.Greater(t, len(rows), 25)
	for _, row := range rows {
		cells := strings.Split(row, " | ")
		tests := named.FindAllStringSubmatch(cells[len(cells)-1], -1)
		require.NotEmpty(t, tests, row)
		for _, m := range tests {
			if strings.HasSuffix(m[1], ".txtar") {
				require.FileExists(t, filepath.Join("testdata/script", m[1]))
			} else {
				require.Contains(t, string(out), "func "+m[1]+"\n", row)
			}
		}
	}
}
