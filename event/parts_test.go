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
	nowhere, somewhere := *result("back end", "k"), *result("back end")
	somewhere.Findings[0].At = "0x1234"
	for _, x := range []struct {
		old, new *Result
		take     bool
	}{{bare, staged, true}, {staged, bare, false}, {&nowhere, &somewhere, true}, {&somewhere, &nowhere, false}} {
		got, err := Agree(x.old, x.new)
		require.NoError(t, err)
		require.Equal(t, Agreement{Agree: true, New: x.take, Marks: true}, got)
	}
}

// TestIncomplete: what a run lacks: cells, its end on a device, or the end of a test there.
func TestIncomplete(t *testing.T) {
	device := &Config{OnDevice: &DeviceRun{}, Cells: 2}
	for _, x := range []struct {
		c     *Config
		stats *Stats
		cells int
		hists []Histogram
		want  string
	}{
		{&Config{Cells: 2}, nil, 2, nil, ""},
		{&Config{Cells: 2}, nil, 1, nil, "the run is incomplete: 1 of 2 cells is there"},
		{&Config{Cells: 2}, &Stats{Interrupted: true}, 1, nil, "the run was interrupted: 1 of 2 cells was done"},
		{device, &Stats{}, 2, nil, ""},
		{device, nil, 2, nil, "the run on the device did not come to its end"},
		{device, &Stats{}, 2, []Histogram{{}, {Status: StatusInterrupted}}, "the run on the device was interrupted"},
		{device, &Stats{Interrupted: true}, 0, nil, "the run on the device was interrupted"},
		{device, &Stats{Interrupted: true}, 1, nil, "the run was interrupted: 1 of 2 cells was done"},
		{&Config{Cells: 2}, &Stats{Interrupted: true}, 0, nil, "the run was interrupted: 0 of 2 cells were done"},
	} {
		require.Equal(t, x.want, incomplete(x.c, x.stats, x.cells, x.hists))
	}
}
