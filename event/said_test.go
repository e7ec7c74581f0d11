package event

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHasFindings: which classes have findings, and which of a cell's codes then names its listing.
func TestHasFindings(t *testing.T) {
	for class, want := range map[string]bool{Preserved: false, Changed: true, Optimised: true, Miscompiled: true, Crashed: true, Unknown: false,
		Unsupported: false, Invalid: false} {
		c := &Cell{}
		c.Class, c.Code, c.Look = class, "code", "look"
		require.Equal(t, want, c.HasFindings(), class)
		require.Equal(t, map[bool]string{true: "code", false: "look"}[want], c.ListingKey(), class)
	}
}

// TestBrokenUndecided: what a run could not take, and what it could not decide, with the first reason.
func TestBrokenUndecided(t *testing.T) {
	cell := func(class, reason string, known ...string) Cell {
		c := Cell{}
		c.Class, c.Reason, c.Known = class, reason, known
		return c
	}
	for _, x := range []struct {
		cells    []Cell
		problems []Problem
		allow    int
		broken   string
		open     string
	}{
		{[]Cell{cell(Preserved, ""), cell(Changed, "")}, []Problem{{Kind: KindIncomplete, Detail: "not the end"}}, 0, "", ""},
		{[]Cell{cell(Invalid, "a label"), cell(Invalid, "another")}, nil, 0, "2 cells are invalid: a label", ""},
		{[]Cell{cell(Invalid, "a label")}, []Problem{{Kind: ProblemInput, Detail: "x.ptx: gone"}, {Kind: ProblemInput, Detail: "y.ptx"}}, 0,
			"2 files could not be read: x.ptx: gone; 1 cell is invalid: a label", ""},
		{nil, []Problem{{Kind: ProblemInput, Detail: "x.ptx: gone"}}, 0, "1 file could not be read: x.ptx: gone", ""},
		{[]Cell{cell(Unknown, "a branch"), cell(Unknown, "other")}, nil, 0, "", "2 cells could not be decided: a branch"},
		{[]Cell{cell(Unknown, "a branch"), cell(Unknown, "other", "k1")}, nil, 0, "", "1 cell could not be decided: a branch"},
		{[]Cell{cell(Unknown, "a branch"), cell(Unknown, "other")}, nil, 1, "", "2 cells could not be decided: a branch"},
		{[]Cell{cell(Unknown, "a branch"), cell(Unknown, "other")}, nil, 2, "", ""},
	} {
		r := &Run{Cells: x.cells, Problems: x.problems, AllowUnknown: x.allow}
		require.Equal(t, x.broken, r.Broken())
		require.Equal(t, x.open, r.Undecided())
	}
}

// TestExecutionText: how much of a kernel was executed, in words.
func TestExecutionText(t *testing.T) {
	for want, x := range map[string]Execution{
		"not executed: a call":                   {Why: "a call", Runs: 2},
		"executed until the first difference":    {},
		"proved for all inputs; not executed: x": {Proved: true, Why: "x"},
		"executed (2 runs, 50 % of the PTX, 75 % of the machine instructions), orders on all paths": {Runs: 2, Source: .5, Machine: .75},
		"executed (1 run, 50 % of the PTX, 75 % of the machine instructions), orders on all paths; 1 of the runs were cut; " +
			"1 condition forced, in both codes, to an outcome that no input shows; compiled with --fmad=false, without which products and sums are contracted": {
			Runs: 1, Cut: 1, Forced: 1, Uncontracted: true, Source: .5, Machine: .75},
		"executed (0 runs, 0 % of the PTX, 0 % of the machine instructions), orders on all paths; 1 of the runs were cut": {Cut: 1},
	} {
		require.Equal(t, want, x.Text())
		require.Equal(t, want == "executed until the first difference", x.Differs())
	}
}

// TestNear: of a thread only the lines at a position stay and those beside them, and what became of them; what is of no line stays
// beside what does.
func TestNear(t *testing.T) {
	list := ThreadListing{Thread: 1}
	for i := range 6 {
		list.Source = append(list.Source, Line{Pos: i})
	}
	for _, pos := range []int{0, -1, 1, 2, -1, -1, 3, -1, 4, 5, -1} {
		list.Machine = append(list.Machine, Line{Pos: pos})
	}
	at := func(list []Line) (pos []int) {
		for _, l := range list {
			pos = append(pos, l.Pos)
		}
		return pos
	}
	for _, x := range []struct {
		n               int
		positions       []int
		source, machine []int
	}{
		{0, []int{2}, []int{2}, []int{2, -1}},
		{1, []int{2}, []int{1, 2, 3}, []int{-1, 1, 2, -1, -1, 3, -1}},
		{0, []int{0}, []int{0}, []int{0, -1}},
		{0, []int{5}, []int{5}, []int{5, -1}},
		{1, []int{5, 0}, []int{0, 1, 4, 5}, []int{0, -1, 1, -1, 4, 5, -1}},
		{3, nil, nil, nil},
	} {
		got := list.Near(x.n, x.positions...)
		require.Equal(t, 1, got.Thread)
		require.Equal(t, x.source, at(got.Source), "%+v", x)
		require.Equal(t, x.machine, at(got.Machine), "%+v", x)
	}
}

// TestMadeOf: a finding in PTX is told where CUDA C++ has it, if the excerpt says so.
func TestMadeOf(t *testing.T) {
	x := &Test{Dialect: Program, Name: "k.ptx:scan", File: "k.ptx", Text: "// scan.cu:7: x = *p;\n12: ld.u32 %r1, [%rd1];\n// lib.h:3: f();\n14: st.u32 [%rd1], %r1;\n",
		Lines: [][]int{{12, 14, 0}}, Columns: [][]int{{1, 2, 0}}, Origin: "src/scan.cu", OriginLines: []int{7, 3}}
	for access, want := range []Told{{Place: "src/scan.cu:7", Line: "x = *p;"}, {Place: "lib.h:3", Line: "f();"}, {}, {}} {
		f := &Finding{Rule: "missing", Access: access}
		got := x.Tell(f)
		require.Equal(t, want, Told{Place: got.Place, Line: got.Line}, "%d", access)
		require.Equal(t, map[int]int{0: 7, 1: 3}[access], x.LineOf(f))
	}
	bare := *x
	bare.Origin = ""
	require.Equal(t, "k.ptx:14:2", bare.Tell(&Finding{Access: 1}).Place)
	require.Equal(t, 14, bare.LineOf(&Finding{Access: 1}))
	require.Zero(t, bare.LineOf(&Finding{Access: -1}))
	bare.File = ""
	require.Empty(t, bare.Tell(&Finding{Access: 1}).Place)
}

// TestRunHandles: a run keeps each kind of event, and replays what it keeps.
func TestRunHandles(t *testing.T) {
	r := NewRun()
	cell := &Cell{Test: "t", Toolchain: "ptxas 1"}
	cell.Class, cell.Code = Changed, "code"
	for _, e := range []Event{{Config: &Config{Cells: 3}}, {Test: &Test{Name: "t"}}, {Problem: &Problem{Kind: ProblemInput}}, {Listing: &Listing{Code: "code"}}, {Cell: cell},
		{Cell: cell}, {Histogram: &Histogram{Test: "t"}}, {Stats: &Stats{Interrupted: true}}} {
		require.NoError(t, r.Handle(e))
	}
	require.Equal(t, 3, r.Config.Cells)
	require.Equal(t, "t", r.Tests[0].Name)
	require.Len(t, r.Cells, 2)
	require.NotNil(t, r.Listings["code"])
	require.Len(t, r.Problems, 1)
	require.Len(t, r.Histograms, 1)
	require.True(t, r.Stats.Interrupted)
	again := NewRun()
	require.NoError(t, r.Replay(again))
	require.Equal(t, r, again)
	for i := range r.All() {
		require.Zero(t, i)
		break
	}
	stop := errors.New("stop")
	for n := range 8 {
		left := n
		require.ErrorIs(t, r.Replay(handler(func(Event) error {
			if left--; left < 0 {
				return stop
			}
			return nil
		})), stop, "event %d", n)
	}
}

// handler handles events by a function.
type handler func(Event) error

func (h handler) Handle(e Event) error { return h(e) }
func (h handler) Close() error         { return nil }

// TestHistogramRate: a rate lies in its interval, and all of them are shares.
func TestHistogramRate(t *testing.T) {
	for _, x := range []struct {
		low, rate, high, excluded float64
		ok                        bool
	}{{0, 0, 0, 0, true}, {0, .5, 1, 1, true}, {.1, .2, .3, .4, true}, {-.1, .5, 1, 0, false}, {.6, .5, 1, 0, false}, {0, .5, .4, 0, false}, {0, .5, 1.1, 0, false},
		{0, .5, 1, -.1, false}, {0, .5, 1, 1.1, false}} {
		h := &Histogram{Test: "t", Status: StatusDone, Rate: &Rate{Low: x.low, Rate: x.rate, High: x.high, Excluded: x.excluded}}
		require.Equal(t, x.ok, h.Check() == nil, "%+v: %v", x, h.Check())
	}
	for effect, by := range map[string][2]bool{"compiler, forbidden": {true, false}, "hardware, forbidden": {false, true}, "allowed": {}, "": {}} {
		o := &Outcome{Effect: effect}
		require.Equal(t, by, [2]bool{o.ByCompiler(), o.ByHardware()}, effect)
	}
	for v, hidden := range map[*Verdict]bool{{}: false, {New: []string{"x=1;"}}: true, {New: []string{"x=1;"}, Visible: []string{"x=1;"}}: false} {
		require.Equal(t, hidden, v.Hidden())
	}
	require.Empty(t, (&Result{}).RaceWord())
	require.Equal(t, WordRaceFree, (&Result{Verdict: &Verdict{Race: RaceFree}}).RaceWord())
}
