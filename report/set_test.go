package report

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSet: a Set is the same run, and keeps what repeats once.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRun(t)
		s := NewSet()
		require.NoError(t, r.Replay(s))
		var a, b bytes.Buffer
		back := s.Run()
		require.NoError(t, r.Replay(NewJSONLines(&a)))
		back.Tests = back.Tests[:len(r.Tests)] // cells name further ones
		require.NoError(t, back.Replay(NewJSONLines(&b)))
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

// TestChangeRank: what got worse stands first, then what is as bad as before, then what got better, and last what one side
// could not compile; of each, the worse the class, the earlier.
func TestChangeRank(t *testing.T) {
	at := func(class string) int { return slices.Index(Severities, class) }
	bad, fine, none := at(Miscompiled), at(Preserved), at(Unsupported)
	list := [][2]int{{fine, bad}, {bad, bad}, {fine, fine}, {bad, fine}, {bad, none}, {none, bad}, {fine, none}, {none, fine}, {none, none}}
	for i, c := range list[1:] {
		was := list[i]
		require.LessOrEqual(t, ChangeRank(was[0], was[1]), ChangeRank(c[0], c[1]), "%v %v", was, c)
	}
	require.Less(t, ChangeRank(bad, fine), ChangeRank(bad, none))
	require.Less(t, ChangeRank(bad, fine), ChangeRank(none, bad))
	require.Equal(t, ChangeRank(none, fine), ChangeRank(fine, none))
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
