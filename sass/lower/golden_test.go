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

	"optcheck/ptx"
	"optcheck/sass/lower"
)

var update = flag.Bool("update", false, "write golden files anew")

// corpus are modules with what is rare, in groups in which no name is declared twice.
func corpus(t *testing.T) (groups [][]string) {
	files, err := filepath.Glob("../../realcode/testdata/*.ptx")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	var taken []map[string]bool // by group
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		m, err := ptx.Parse(f, text)
		require.NoError(t, err)
		var names []string
		for _, x := range m.Funcs {
			names = append(names, x.Name)
		}
		for _, x := range m.Vars {
			names = append(names, x.Name)
		}
		for _, x := range m.Prototypes {
			names = append(names, x.Name)
		}
		g := slices.IndexFunc(taken, func(of map[string]bool) bool {
			return !slices.ContainsFunc(names, func(n string) bool { return of[n] })
		})
		if g < 0 {
			g, groups, taken = len(groups), append(groups, nil), append(taken, map[string]bool{})
		}
		groups[g] = append(groups[g], string(text))
		for _, n := range names {
			taken[g][n] = true
		}
	}
	return groups
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
				other := func(error) {} // of another target or release
				for _, texts := range corpus(t) {
					for _, c := range compileSome(t, tcs[rel], target, "O3", texts, other) {
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
