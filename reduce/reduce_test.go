package reduce

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/event"
)

// TestReal reduces findings of the corpus with the real compilers, and checks
// of each result that it still shows the finding, that no single step leads
// further, and that reducing it again changes nothing.
func TestReal(t *testing.T) {
	for _, c := range real {
		t.Run(c.test+" "+c.rule, func(t *testing.T) {
			ctx := context.Background()
			f := finding(t, c.test, c.release, c.target, c.layout, c.rule)
			res, err := Run(ctx, f, Options{})
			require.NoError(t, err)
			t.Logf("%d rounds, %d candidates, %v\n%s", res.Rounds, res.Candidates, res.Min.Address(), res.Min.Test)

			again := res.Min
			cell, _, err := again.Confirm(ctx, audit.Options{})
			require.NoError(t, err)
			require.True(t, f.Signature.Holds(cell))
			require.NotEmpty(t, f.Signature.Class, "Confirm fills in the class")

			numbered := res.Min.Test.Clone()
			number(numbered)
			r := newReducer(Options{}, &res.Min, numbered)
			r.model = cell.Verdict.Model
			list := r.singles(r.steps(numbered))
			require.NoError(t, r.try(ctx, list))
			for _, s := range list {
				require.Falsef(t, s.holds, "not 1-minimal: %s", s.steps[0].name)
			}

			twice, err := Run(ctx, &again, Options{})
			require.NoError(t, err)
			require.Empty(t, twice.Steps)
			require.Equal(t, res.Min.Test.String(), twice.Min.Test.String())
			require.Equal(t, res.Min.Address(), twice.Min.Address())
		})
	}
}

// TestHolds: a finding that has to stay race-free is not there where a race is, or might
// be.
func TestHolds(t *testing.T) {
	c := &event.Cell{Result: event.Result{Class: event.Miscompiled, Findings: []event.Finding{{Rule: "merged"}}, Verdict: &event.Verdict{}}}
	for race, free := range map[string]bool{event.RaceFree: true, event.DataRace: false, event.RaceUnknown: false, "": false} {
		c.Verdict.Race = race
		require.True(t, Signature{Rule: "merged"}.Holds(c), race)
		require.Equal(t, free, Signature{Rule: "merged", RaceFree: true}.Holds(c), race)
	}
	c.Verdict = nil
	require.False(t, Signature{Rule: "merged", RaceFree: true}.Holds(c))
}
