package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetOfFindings: with FindingsOnly a set has just the listings that cells with
// findings have.
func TestSetOfFindings(t *testing.T) {
	s := NewSet()
	s.FindingsOnly = true
	cell := func(code, look string, findings ...Finding) Event {
		class := map[bool]string{true: Miscompiled, false: Preserved}[len(findings) > 0]
		return Event{Cell: &Cell{Test: "mp", Hash: "h", Toolchain: "x", Target: code,
			Result: Result{Class: class, Code: code, Look: look, Findings: findings}}}
	}
	for _, e := range []Event{{Config: &Config{}}, {Test: &Test{Name: "mp", Hash: "h"}}, {Listing: &Listing{Code: "l1"}}, cell("a", "l1"),
		{Listing: &Listing{Code: "b"}}, cell("b", "", Finding{Rule: "missing"}), cell("c", "l1"), {Listing: &Listing{Code: "l2"}}, cell("d", "l2")} {
		require.NoError(t, s.Handle(e))
	}
	require.NoError(t, s.Close())
	require.Len(t, s.Cells, 4)
	require.Equal(t, map[string]*Listing{"b": {Code: "b"}}, s.Listings)
}

// TestOnly: the part of one toolchain is a run with everything else as it was.
func TestOnly(t *testing.T) {
	r := NewRun()
	r.Config = Config{Tests: 2, Levels: []string{"O3"}, Model: "ptx", Toolchains: []Toolchain{{ID: "ptxas 11.8.89"}, {ID: "ptxas 12.4.131"}}}
	for _, tc := range r.Config.Toolchains {
		r.Cells = append(r.Cells, Cell{Test: "mp", Toolchain: tc.ID})
	}
	one, err := r.Only("12.4.131")
	require.NoError(t, err)
	require.Equal(t, Config{Tests: 2, Levels: []string{"O3"}, Model: "ptx", Toolchains: r.Config.Toolchains[1:]}, one.Config)
	require.Equal(t, r.Cells[1:], one.Cells)
	for name, why := range map[string]string{"ptxas": "means 2 toolchains of the run", "10.2": "means 0 toolchains of the run"} {
		_, err = r.Only(name)
		require.ErrorContains(t, err, why)
	}
}
