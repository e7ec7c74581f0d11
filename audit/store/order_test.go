package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestCanonical: cells are sorted by toolchain, target, level, test and layout, each in the order in which a reader expects them.
func TestCanonical(t *testing.T) {
	var want []event.Cell
	for _, toolchain := range []string{"clang 19", "ptxas 9.2", "ptxas 11.8.89", "ptxas 12.4.131"} {
		for _, target := range []string{"sm_80", "sm_90", "sm_90a", "sm_100"} {
			for _, level := range []string{"O0", "O3"} {
				for _, test := range []event.Test{{Name: "lb", Hash: "2"}, {Name: "mp", Hash: "1"}, {Name: "mp", Hash: "2"}} {
					for _, layout := range []string{"pointers", "symbols", "offsets", "adjacent", "another", "unheard"} {
						want = append(want, event.Cell{Test: test.Name, Hash: test.Hash, Toolchain: toolchain, Target: target, Level: level, Layout: layout,
							Result: event.Result{Class: event.Preserved}})
					}
				}
			}
		}
	}
	rnd := rand.New(rand.NewPCG(31, 0))
	for range 3 {
		set := event.NewSet()
		require.NoError(t, set.Handle(event.Event{Config: &event.Config{Schema: event.Schema}}))
		mixed := slices.Clone(want)
		rnd.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for i := range mixed {
			require.NoError(t, set.Handle(event.Event{Cell: &mixed[i]}))
		}
		Sort(set)
		for i := range want {
			require.Equal(t, want[i], set.Cell(i))
		}
	}
}

// TestConfigSorted: the config of a store's set lists what its cells have, in order, whichever came first.
func TestConfigSorted(t *testing.T) {
	run := func(toolchain, target, level, layout string) []byte {
		cfg := event.Config{Schema: event.Schema, Tool: "t", Toolchains: []event.Toolchain{{ID: "ptxas 9.2", Build: "b"}, {ID: toolchain, Build: "b"}}}
		return stream(t, []event.Event{{Config: &cfg}, {Cell: &event.Cell{Test: "mp", Hash: "h", Toolchain: toolchain, Target: target, Level: level,
			Layout: layout, Result: event.Result{Class: event.Preserved}}}})
	}
	runs := [][]byte{run("ptxas 12.4.131", "sm_100", "O3", "offsets"), run("ptxas 11.8.89", "sm_90", "O2", "symbols"), run("clang 19", "sm_80", "O0", "pointers")}
	for i, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		s := imported(t, t.TempDir(), fmt.Sprint(i), runs[order[0]], runs[order[1]], runs[order[2]])
		set, err := s.Load(t.Context(), View{})
		require.NoError(t, err)
		require.Equal(t, []event.Toolchain{{ID: "clang 19", Build: "b"}, {ID: "ptxas 11.8.89", Build: "b"}, {ID: "ptxas 12.4.131", Build: "b"}},
			set.Config.Toolchains, "not one without cells")
		require.Equal(t, []string{"sm_80", "sm_90", "sm_100"}, set.Config.Targets)
		require.Equal(t, []string{"O0", "O2", "O3"}, set.Config.Levels)
		require.Equal(t, []string{"pointers", "symbols", "offsets"}, set.Config.Layouts)
		require.Equal(t, []int{1, 3}, []int{set.Config.Tests, set.Config.Cells})
		require.NoError(t, s.Close())
	}
}
