package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHeadline: what is new comes first, and no sentence sounds good because cells are
// unsupported or unknown.
func TestHeadline(t *testing.T) {
	free := &Verdict{Race: RaceFree}
	cell := func(test, target, class string, known string, v *Verdict) Cell {
		c := Cell{Test: test, Toolchain: "ptxas 1", Target: target, Level: "O3", Layout: "pointers", Result: Result{Class: class, Verdict: v}}
		if class == Miscompiled || class == Optimised || class == Changed {
			c.Findings = []Finding{{Rule: "merged"}}
		}
		if known != "" {
			c.Known = []string{known}
		}
		return c
	}
	ok, no := cell("a", "sm_70", Preserved, "", nil), cell("a", "sm_35", Unsupported, "", nil)
	unknown := cell("u", "sm_70", Unknown, "", nil)
	optimised := cell("o", "sm_70", Optimised, "", nil)
	for _, c := range []struct {
		want, rest string
		cells      []Cell
	}{
		{"No cell is supported", "1 cell is unsupported", []Cell{no}},
		{"The only decided cell is preserved", "1 cell is unsupported", []Cell{ok, no}},
		{"All 2 decided cells are preserved", "", []Cell{ok, cell("b", "sm_70", Preserved, "", nil)}},
		{"Nothing is miscompiled; 1 of 2 decided cells is optimised", "", []Cell{ok, optimised}},
		{"2 new changes that no model judged; in 2 of 2 decided cells", "",
			[]Cell{cell("b", "sm_70", Changed, "", nil), cell("c", "sm_70", Changed, "", nil)}},
		{"1 undecided cell", "1 cell could not be decided; 1 cell is unsupported", []Cell{ok, optimised, unknown, no}},
		{"Nothing new: 1 known miscompilation; in 2 of 3 decided cells", "1 cell is unsupported",
			[]Cell{ok, no, cell("m", "sm_70", Miscompiled, "k", nil), cell("m", "sm_75", Miscompiled, "k", nil)}},
		{"2 new miscompilations (1 in race-free tests), 1 known miscompilation; in 3 of 3 decided cells", "",
			[]Cell{cell("m", "sm_70", Miscompiled, "k", nil), cell("n", "sm_70", Miscompiled, "", free), cell("p", "sm_70", Miscompiled, "", nil)}},
		{"1 undecided cell, 1 known miscompilation; in 1 of 2 decided cells", "1 cell could", []Cell{ok, unknown, cell("m", "sm_70", Miscompiled, "k", nil)}},
	} {
		r := NewRun()
		r.Cells = c.cells
		tally := GroupsOf(r).Tally(r.Classes())
		assert.Equal(t, c.want, tally.Headline())
		require.Contains(t, tally.Rest(), c.rest)
		if c.rest == "" {
			require.Empty(t, tally.Rest())
		}
	}
}
