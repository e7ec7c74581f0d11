package archtest

import (
	"io/fs"
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

// TestQuick: make test-quick runs the light tier, which takes no compilers and no network, and each test that it leaves out is there.
func TestQuick(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		required.Missing(t, "no make")
	}
	root := filepath.Join("..", "..")
	out, err := exec.Command("make", "-s", "-n", "-C", root, "test-quick", "GO=go").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "GO=\"go\" scripts/testquick.sh\n", string(out))
	script, err := os.ReadFile(filepath.Join(root, "scripts", "testquick.sh"))
	require.NoError(t, err)
	tests := declared(t, root)
	var left []string
	for _, list := range regexp.MustCompile(`(?m)^slow=['"](?:\$slow\|)?(.*)['"]$`).FindAllSubmatch(script, -1) {
		left = append(left, strings.Split(string(list[1]), "|")...)
	}
	require.Greater(t, len(left), 10)
	for _, name := range left {
		require.True(t, slices.ContainsFunc(tests, func(x string) bool { return strings.Contains(x, name) }), "no test is named %s", name)
	}
	// The script itself, with tests that fail if it hides no compilers.
	cmd := exec.Command("sh", "scripts/testquick.sh", "-run", "^TestHidden$", "-v", "./toolchain/tested")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "OPTCHECK_REQUIRE_TOOLS=1", "QUICK_ONLY=1")
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestHidden")
}

// declared are the names of the tests of all packages.
func declared(t *testing.T, root string) (names []string) {
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		return err
	}))
	return names
}
