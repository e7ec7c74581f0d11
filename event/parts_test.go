package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnlyConfig: the part of a run that belongs to one toolchain says so, whatever stands beside it.
func TestOnlyConfig(t *testing.T) {
	r := NewRun()
	r.Config.Toolchains = []Toolchain{{ID: "ptxas 11.8.89"}, {ID: "ptxas 12.4.131"}}
	for _, tc := range []string{"ptxas 11.8.89", "ptxas 12.4.131"} {
		require.NoError(t, r.Handle(Event{Cell: &Cell{Test: "mp", Toolchain: tc, Result: Result{Class: Preserved}}}))
	}
	for _, id := range []string{"ptxas 11.8.89", "ptxas 12.4.131"} {
		part, err := r.Only(id)
		require.NoError(t, err)
		require.Equal(t, []Toolchain{{ID: id}}, part.Config.Toolchains)
		require.Equal(t, 1, part.Len())
	}
	require.Len(t, r.Config.Toolchains, 2)
	_, err := r.Only("ptxas")
	require.Error(t, err)
}

// TestAgreeOnStages: of two results that differ in the stages found and in what is known, the one with more stages is
// kept, in either order.
func TestAgreeOnStages(t *testing.T) {
	result := func(stage string, known ...string) *Result {
		return &Result{Class: Changed, Findings: []Finding{{Rule: "merged", Stage: stage}}, Known: known}
	}
	bare, staged := result("", "k"), result("back end")
	for _, x := range []struct {
		old, new *Result
		take     bool
	}{{bare, staged, true}, {staged, bare, false}} {
		got, err := Agree(x.old, x.new)
		require.NoError(t, err)
		require.Equal(t, Agreement{Agree: true, New: x.take, Marks: true}, got)
	}
}
