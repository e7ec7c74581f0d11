package audit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/known"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
	"optcheck/report/figures"
	"optcheck/toolchain"
)

var publish = flag.Bool("publish", false, "store what the whole matrices are now; the pages' tables follow with go test ./report/figures -update")

// TestPublished: the matrices whose counts pages state are, cell by cell, what is stored: class, rules, what they do to
// outcomes, and what is known. OPTCHECK_FULL=1 audits all cells, else each test is for some releases and targets.
func TestPublished(t *testing.T) {
	for _, m := range []struct {
		file       string
		toolchains []*toolchain.Toolchain
		targets    []string
		tests      []*litmus.Test
		one        int // pair of a release and a target in so many, for each test
	}{
		{figures.Quick, releases(t), nil, append(corpus.Tests(), quick(t)...), 22},
		{figures.LLVM, pairs(t, "14", "19", "22", "11.8", "12.4"), []string{"sm_60", "sm_70", "sm_80", "sm_90"}, corpus.Tests(), 11},
	} {
		t.Run(filepath.Base(m.file), func(t *testing.T) {
			got, n := figures.Matrix{}, 0
			for _, tc := range m.toolchains {
				for _, target := range tc.Targets {
					if m.targets != nil && !slices.Contains(m.targets, target) {
						continue
					}
					o := Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}}
					for i, x := range m.tests {
						if full() || *publish || (i+n)%m.one == 0 {
							o.Tests = append(o.Tests, x)
						}
					}
					n++
					run := event.NewRun()
					require.NoError(t, Run(t.Context(), o, run))
					list := known.Builtin()
					for i := range run.Cells {
						c := &run.Cells[i]
						list.Mark(c)
						got[figures.Place{Test: c.Test, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}] = figures.Fate(c)
					}
				}
			}
			published(t, m.file, got)
		})
	}
}

// TestPublishedDependencies: the same of false dependencies, of an old and a new target, or of all.
func TestPublishedDependencies(t *testing.T) {
	got := figures.Matrix{}
	for _, tc := range releases(t) {
		for _, target := range tc.Targets {
			some := tc.Release() == "11.8" && target == "sm_35" || tc.Release() == "12.4" && target == "sm_90"
			if !some && !full() && !*publish {
				continue
			}
			cells, err := Dependencies(t.Context(), Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}})
			require.NoError(t, err)
			for _, c := range cells {
				name := fmt.Sprintf("dep+%s+%s+%s.%s%d", c.Scheme, c.Kind, c.Into, c.Space, c.Bits)
				got[figures.Place{Test: name, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}] = c.Fate
			}
		}
	}
	published(t, figures.Depends, got)
}

// quick are the generated tests of the preset.
func quick(t *testing.T) []*litmus.Test {
	g, err := cycle.Preset("quick")
	require.NoError(t, err)
	var out []*litmus.Test
	for x := range g.Tests() {
		out = append(out, x)
	}
	return out
}

// published compares cells with those that are stored.
func published(t *testing.T, file string, got figures.Matrix) {
	file = filepath.Join("..", file)
	if *publish {
		var b bytes.Buffer
		_, err := got.WriteTo(&b)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	want, err := figures.ReadMatrix(f)
	require.NoError(t, err)
	require.NotEmpty(t, got)
	wrong := 0
	for p, fate := range got {
		if want[p] != fate {
			if wrong++; wrong <= 20 {
				t.Errorf("%v: published as %q, is %q", p, want[p], fate)
			}
		}
	}
	if full() {
		require.Len(t, got, len(want))
	}
	t.Logf("%d of %d published cells compared, %d differ", len(got), len(want), wrong)
}
