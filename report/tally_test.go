package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestHeadline: what is new comes first, and no sentence sounds good because cells are
// unsupported or unknown.
func TestHeadline(t *testing.T) {
	free := &event.Verdict{Race: event.RaceFree}
	cell := func(test, target, class string, known string, v *event.Verdict) event.Cell {
		c := event.Cell{Test: test, Toolchain: "ptxas 1", Target: target, Level: "O3", Layout: "pointers", Result: event.Result{Class: class, Verdict: v}}
		if class == event.Miscompiled || class == event.Optimised || class == event.Changed {
			c.Findings = []event.Finding{{Rule: "merged"}}
		}
		if known != "" {
			c.Known = []string{known}
		}
		return c
	}
	ok, no := cell("a", "sm_70", event.Preserved, "", nil), cell("a", "sm_35", event.Unsupported, "", nil)
	unknown := cell("u", "sm_70", event.Unknown, "", nil)
	optimised := cell("o", "sm_70", event.Optimised, "", nil)
	for _, c := range []struct {
		want, rest string
		cells      []event.Cell
	}{
		{"No cell is supported", "1 cell is unsupported", []event.Cell{no}},
		{"The only decided cell is preserved", "1 cell is unsupported", []event.Cell{ok, no}},
		{"All 2 decided cells are preserved", "", []event.Cell{ok, cell("b", "sm_70", event.Preserved, "", nil)}},
		{"Nothing is miscompiled; 1 of 2 decided cells is optimised", "", []event.Cell{ok, optimised}},
		{"2 new changes that no model judged; in 2 of 2 decided cells", "",
			[]event.Cell{cell("b", "sm_70", event.Changed, "", nil), cell("c", "sm_70", event.Changed, "", nil)}},
		{"1 undecided cell", "1 cell could not be decided; 1 cell is unsupported", []event.Cell{ok, optimised, unknown, no}},
		{"Nothing new: 1 known miscompilation; in 2 of 3 decided cells", "1 cell is unsupported",
			[]event.Cell{ok, no, cell("m", "sm_70", event.Miscompiled, "k", nil), cell("m", "sm_75", event.Miscompiled, "k", nil)}},
		{"2 new miscompilations (1 in race-free tests), 1 known miscompilation; in 3 of 3 decided cells", "",
			[]event.Cell{cell("m", "sm_70", event.Miscompiled, "k", nil), cell("n", "sm_70", event.Miscompiled, "", free), cell("p", "sm_70", event.Miscompiled, "", nil)}},
		{"1 undecided cell, 1 known miscompilation; in 1 of 2 decided cells", "1 cell could", []event.Cell{ok, unknown, cell("m", "sm_70", event.Miscompiled, "k", nil)}},
	} {
		r := event.NewRun()
		r.Cells = c.cells
		tally := GroupsOf(r).Tally(r.Classes())
		assert.Equal(t, c.want, tally.Headline())
		require.Contains(t, tally.Rest(), c.rest)
		if c.rest == "" {
			require.Empty(t, tally.Rest())
		}
	}
}
