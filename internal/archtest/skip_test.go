package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// skips are the tests that skip for another reason than a missing program, by file and what they say.
var skips = map[string]string{
	"audit/live_test.go":             "OPTCHECK_FULL=1",
	"cmd/optcheck/container_test.go": "to be had",                     // an image from a registry
	"cmd/optcheck/store_test.go":     "no file system can be mounted", // only root can
	"internal/required/required.go":  "format, args...",
	"model/cat/herd_test.go":         "starts many processes", // -short
	"model/nvhw/mutants_test.go":     "OPTCHECK_MUTANTS=1",
	"program/cases_test.go":          "OPTCHECK_FULL=1",
	"prove/measure_test.go":          "OPTCHECK_",
	"ptxgen/cycle/gen_test.go":       "a million tests", // -short
	"report/serve/first_test.go":     "a million cells", // -short
	"runner/cuda/gpu_test.go":        "no ",             // a GPU, or its clusters: no machine of CI has them
}

// TestSkips: what skips a test for want of a program says so by internal/required, so that CI fails where something that
// it requires is missing. Other reasons are listed.
func TestSkips(t *testing.T) {
	skip := regexp.MustCompile(`\b[a-z]+\.Skip(f|Now)?\((.*)\)`)
	root, used := filepath.Join("..", ".."), map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		for _, m := range skip.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(string(text), "\"testing\"") {
				continue
			}
			if why := skips[name]; why != "" && strings.Contains(m[2], why) {
				used[name] = true
				continue
			}
			t.Errorf("%s: %s: internal/required says what a test does without a tool", name, m[0])
		}
		return err
	}))
	for name := range skips {
		require.True(t, used[name], "%s skips nothing any more", name)
	}
}
