package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
)

func repositoryFile(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	require.NoError(t, err)
	return string(text)
}

// TestContainerfile: the container file copies what an archive of make dist has, and nothing
// else; each instruction is one, and the program that it starts is copied.
func TestContainerfile(t *testing.T) {
	recipe := repositoryFile(t, "Makefile")
	_, recipe, _ = strings.Cut(recipe, "\nDIST_FILES := ")
	recipe, _, _ = strings.Cut(recipe, "\nclean:")
	files, rest, _ := strings.Cut(recipe, "\n")
	there := append(strings.Fields(files), "optcheck")
	for _, m := range regexp.MustCompile(`> bin/dist/common/(\S+)`).FindAllStringSubmatch(rest, -1) {
		there = append(there, m[1])
	}
	require.Contains(t, there, "THIRD_PARTY")
	require.Contains(t, there, "Containerfile")
	var order []string
	copied := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(repositoryFile(t, "Containerfile"), "\\\n", " ")) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		require.Contains(t, []string{"FROM", "RUN", "COPY", "ENV", "VOLUME", "WORKDIR", "ENTRYPOINT"}, words[0])
		require.Greater(t, len(words), 1, line)
		order = append(order, words[0])
		if words[0] == "COPY" {
			require.Greater(t, len(words), 2, line)
			for _, name := range words[1 : len(words)-1] {
				require.Contains(t, there, name, "it is not in the archive")
				copied[name] = words[len(words)-1]
			}
			if len(words) > 3 {
				require.True(t, strings.HasSuffix(words[len(words)-1], "/"), "several files go into a folder: %s", line)
			}
		}
		if words[0] == "ENTRYPOINT" {
			require.Equal(t, `["optcheck"]`, words[1])
		}
	}
	require.Equal(t, "FROM", order[0])
	require.Equal(t, "ENTRYPOINT", order[len(order)-1])
	require.Equal(t, "/usr/local/bin/optcheck", copied["optcheck"])
	require.False(t, slices.Contains(order[1:], "FROM"))
}

// TestRaceWithoutCompiler: what lacks a C compiler says so, and how to get one.
func TestRaceWithoutCompiler(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		required.Missing(t, "no make")
	}
	cmd := exec.Command("make", "-C", filepath.Join("..", ".."), "race")
	cmd.Env = append(os.Environ(), "CC=no-such-compiler -m64", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "needs a C compiler, and no-such-compiler -m64 is not there: apt-get install gcc libc6-dev")
	require.NotContains(t, string(out), "go test")
}
