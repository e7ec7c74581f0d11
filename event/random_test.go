package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/event/eventtest"
)

// TestSet: a Set is the same run, and keeps what repeats once.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := eventtest.Run(t)
		s := event.NewSet()
		require.NoError(t, r.Replay(s))
		var a, b bytes.Buffer
		back := s.Run()
		require.NoError(t, r.Replay(event.NewJSONLines(&a)))
		back.Tests = back.Tests[:len(r.Tests)] // cells name further ones
		require.NoError(t, back.Replay(event.NewJSONLines(&b)))
		require.Equal(t, a.String(), b.String())
		seen := map[string]bool{}
		for i := range s.Results {
			k := s.Results[i].Signature() + s.Results[i].Class + s.Results[i].Code
			for _, f := range s.Results[i].Findings {
				k += f.Detail
			}
			require.False(t, seen[k], "result %d is there twice", i)
			seen[k] = true
		}
	})
}

// TestUnionParts: however a run is cut into parts that overlap, together they are
// the run.
func TestUnionParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := eventtest.Run(t)
		r.Config.OnDevice, r.Config.Schema = nil, event.Schema
		places := map[string]bool{}
		var cells []event.Cell
		for _, c := range r.Cells {
			if k := fmt.Sprintf("%q %q %q %q %q %q", c.Test, c.Hash, c.Toolchain, c.Target, c.Level, c.Layout); !places[k] {
				places[k] = true
				cells = append(cells, c)
			}
		}
		n := rapid.IntRange(1, 4).Draw(t, "parts")
		var runs [][]event.Event
		for i := range n {
			c := r.Config
			c.Cells = len(cells)
			runs = append(runs, []event.Event{{Config: &c}, {Stats: &event.Stats{Cells: i}}})
		}
		for i := range cells {
			only := rapid.IntRange(0, n-1).Draw(t, "part")
			for k := range runs {
				if k == only || rapid.Bool().Draw(t, "too") {
					runs[k] = append(runs[k], event.Event{Cell: &cells[i]})
				}
			}
		}
		s := event.NewSet()
		for _, e := range slices.Concat(runs...) {
			require.NoError(t, s.Handle(e))
		}
		require.NoError(t, s.Close())
		require.Empty(t, s.Mixed())
		want, got := map[string]int{}, map[string]int{}
		for i := range cells {
			want[key(&cells[i])]++
		}
		for _, c := range s.All() {
			got[key(&c)]++
		}
		require.Equal(t, want, got)
	})
}

// key tells cells apart.
func key(c *event.Cell) string {
	data, _ := json.Marshal(c)
	return string(data)
}
