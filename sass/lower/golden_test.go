package lower_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/sass/lower"
)

var update = flag.Bool("update", false, "write golden files anew")

// corpus are PTX files with what is rare.
func corpus(t *testing.T) []string {
	files, err := filepath.Glob("../../realcode/testdata/*.ptx")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	return files
}

// TestOpaque asserts which forms are not understood, by release and target, of what compilers make of rare PTX at O3.
func TestOpaque(t *testing.T) {
	tcs := releases(t)
	for _, rel := range slices.Sorted(maps.Keys(tcs)) {
		for _, target := range []string{"sm_80", "sm_90"} {
			if rel == "11.2" && target == "sm_90" || rel == "11.8" {
				continue
			}
			t.Run(rel+"-"+target, func(t *testing.T) {
				forms := map[string]bool{}
				for _, f := range corpus(t) {
					text, err := os.ReadFile(f)
					require.NoError(t, err)
					c, err := compile(t, tcs[rel], target, "O3", string(text))
					if err != nil {
						continue // of another target or release
					}
					for _, fn := range c.prog.Funcs {
						p, err := lower.Kernel(c.prog, c.file, fn.Name)
						require.NoError(t, err)
						for i := range p.Insts {
							if p.Insts[i].Opaque != "" {
								forms[p.Insts[i].Form+": "+p.Insts[i].Opaque] = true
							}
						}
					}
				}
				got := strings.Join(slices.Sorted(maps.Keys(forms)), "\n") + "\n"
				golden := "testdata/opaque-" + rel + "-" + target + ".txt"
				if *update {
					require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				assert.Equal(t, string(want), got)
			})
		}
	}
}
