package model

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/litmus"
)

// kindOf is the word that stands behind a test's name in logs.
func kindOf(q litmus.Quantifier) string {
	switch q {
	case litmus.NotExists:
		return "Forbidden"
	case litmus.Forall:
		return "Required"
	}
	return "Allowed"
}

// LogOptions modify a log.
type LogOptions struct {
	// StatesOnly ends a test's block behind its states.
	StatesOnly bool
	// Time is printed as the test's time; negative means no Time line, which
	// makes logs comparable byte by byte.
	Time time.Duration
	// Candidates adds a line with the candidates looked at.
	Candidates bool
}

// WriteLog writes a verdict as a block of herd's log format, a blank line at
// its end. Lines that herd's own logs do not have: "Undecided NAME reason" in
// the place of Ok, Condition and Observation where a limit was reached;
// "Cutoff", "Blocked". Readers of the format skip what they do not know.
func WriteLog(w io.Writer, v *Verdict, o LogOptions) error {
	b := make([]byte, 0, 512+64*len(v.States))
	_, err := w.Write(v.appendLog(b, o))
	return err
}

func (v *Verdict) appendLog(b []byte, o LogOptions) []byte {
	t := v.Test
	b = appendWords(b, "Test ", t.Name, " ", kindOf(t.Cond.Quant), "\nStates ")
	b = strconv.AppendInt(b, int64(len(v.States)), 10)
	b = append(b, '\n')
	b = v.appendStates(b)
	decided := v.Undecided == ""
	switch {
	case !decided:
		b = appendWords(b, "Undecided ", t.Name, " ", oneLine(v.Undecided), "\n")
	case v.Holds:
		b = append(b, "Ok\n"...)
	default:
		b = append(b, "No\n"...)
	}
	if v.Cut {
		b = appendWords(b, "Cutoff ", t.Name, " loops were unrolled a bounded number of times; executions that need more are not counted\n")
	}
	switch {
	case v.BlockedCounted:
		b = appendWords(b, "Blocked ", t.Name, " in some executions threads wait at a barrier for ever; what they have then is counted\n")
	case v.Blocked:
		b = appendWords(b, "Blocked ", t.Name, " in some executions threads wait at a barrier for ever; they are not counted\n")
	}
	if !o.StatesOnly {
		b = v.summary(b, o, decided)
	}
	return append(b, '\n')
}

func appendWords(b []byte, words ...string) []byte {
	for _, w := range words {
		b = append(b, w...)
	}
	return b
}

func appendCount(b []byte, label string, k uint64) []byte {
	return strconv.AppendUint(append(b, label...), k, 10)
}

func (v *Verdict) summary(b []byte, o LogOptions, decided bool) []byte {
	t := v.Test
	b = appendCount(b, "Witnesses\nPositive: ", v.Positive)
	b = appendCount(b, " Negative: ", v.Negative)
	b = append(b, '\n')
	for _, f := range v.Flags {
		b = appendWords(b, "Flag ", f, "\n")
	}
	if decided {
		b = appendWords(b, "Condition ", conditionOf(t), "\nObservation ", t.Name, " ", v.Observation.String())
		b = appendCount(b, " ", v.Positive)
		b = appendCount(b, " ", v.Negative)
		b = append(b, '\n')
	}
	if o.Time >= 0 {
		b = appendWords(b, "Time ", t.Name, " ")
		b = append(strconv.AppendFloat(b, o.Time.Seconds(), 'f', 2, 64), '\n')
	}
	if o.Candidates {
		b = appendWords(b, "Candidates ", t.Name)
		b = append(appendCount(b, " ", v.Candidates), '\n')
	}
	return appendWords(b, "Hash=", t.Hash(), "\n")
}

// conditionOf prints a condition as logs have it.
func conditionOf(t *litmus.Test) string {
	s := t.Cond.String()
	if !strings.Contains(s, "(") {
		q, rest, _ := strings.Cut(s, " ")
		return q + " (" + rest + ")"
	}
	return s
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// termName is a term as logs write it: 0:r1, [x].
func termName(x litmus.Term) string {
	if x.Kind == litmus.TermReg {
		return strconv.Itoa(x.Thread) + ":" + x.Name
	}
	return "[" + x.Name + "]"
}

// appendStates writes the states in herd's form, sorted by the values of the
// registers by thread and name, then of locations.
func (v *Verdict) appendStates(b []byte) []byte {
	type column struct {
		name string
		at   int
	}
	order := make([]int, len(v.Terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareTerms(v.Terms[a], v.Terms[b]) })
	columns := make([]column, len(order))
	for i, at := range order {
		columns[i] = column{termName(v.Terms[at]) + "=", at}
	}
	states := make([][]int64, len(v.States))
	for i := range v.States {
		states[i] = v.States[i].Values
	}
	slices.SortFunc(states, func(x, y []int64) int {
		for _, c := range columns {
			if d := cmp.Compare(x[c.at], y[c.at]); d != 0 {
				return d
			}
		}
		return 0
	})
	for _, s := range states {
		for i, c := range columns {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(b, c.name...)
			b = append(strconv.AppendInt(b, s[c.at], 10), ';')
		}
		b = append(b, '\n')
	}
	return b
}

func compareTerms(x, y litmus.Term) int {
	if x.Kind != y.Kind {
		return int(x.Kind) - int(y.Kind)
	}
	if x.Thread != y.Thread {
		return x.Thread - y.Thread
	}
	return strings.Compare(x.Name, y.Name)
}
