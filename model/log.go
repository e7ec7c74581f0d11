package model

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"optcheck/litmus"
	"optcheck/litmus/herdlog"
)

// LogOptions control the form of a log.
type LogOptions struct {
	// StatesOnly ends a test's block after its states.
	StatesOnly bool
	// Time is printed as the test's time; if negative, there is no Time line, so that logs can
	// be compared byte by byte.
	Time time.Duration
	// Candidates adds a line with the number of candidates examined.
	Candidates bool
}

// WriteLog writes a verdict as a block in herd's log format, ending with a blank line. It
// writes lines that herd's own logs do not have: "Undecided NAME reason" instead of Ok,
// Condition and Observation if a limit was reached; "Cutoff"; "Blocked". Readers of the format
// ignore unknown lines.
func WriteLog(w io.Writer, v *Verdict, o LogOptions) error {
	t := v.Test
	l := herdlog.Block{Name: t.Name, Kind: herdlog.Kind(t.Cond.Quant), Condition: conditionOf(t), Hash: t.Hash(),
		Columns: herdlog.Sorted(v.Terms), Positive: v.Positive, Negative: v.Negative,
		Undecided: v.Undecided, Flags: v.Flags, Time: o.Time, StatesOnly: o.StatesOnly}
	l.States = v.sortedStates(l.Columns)
	if v.Cut {
		l.Notes = append(l.Notes, "Cutoff "+t.Name+" loops were unrolled a bounded number of times; executions that need more are not counted")
	}
	switch {
	case v.BlockedCounted:
		l.Notes = append(l.Notes, "Blocked "+t.Name+" in some executions threads wait at a barrier for ever; what they have then is counted")
	case v.Blocked:
		l.Notes = append(l.Notes, "Blocked "+t.Name+" in some executions threads wait at a barrier for ever; they are not counted")
	}
	if o.Candidates {
		l.Candidates = &v.Candidates
	}
	_, err := w.Write(l.Append(make([]byte, 0, 512+64*len(v.States))))
	return err
}

// conditionOf formats a condition as in logs.
func conditionOf(t *litmus.Test) string {
	s := t.Cond.String()
	if !strings.Contains(s, "(") {
		q, rest, _ := strings.Cut(s, " ")
		return q + " (" + rest + ")"
	}
	return s
}

// sortedStates returns the values of the states, sorted by columns.
func (v *Verdict) sortedStates(columns []herdlog.Column) [][]int64 {
	states := make([][]int64, len(v.States))
	for i := range v.States {
		states[i] = v.States[i].Values
	}
	slices.SortFunc(states, func(x, y []int64) int {
		for _, c := range columns {
			if d := cmp.Compare(x[c.At], y[c.At]); d != 0 {
				return d
			}
		}
		return 0
	})
	return states
}
