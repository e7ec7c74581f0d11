package model

import (
	"fmt"
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
	var b strings.Builder
	t := v.Test
	fmt.Fprintf(&b, "Test %s %s\nStates %d\n", t.Name, kindOf(t.Cond.Quant), len(v.States))
	for _, line := range v.stateLines() {
		b.WriteString(line + "\n")
	}
	decided := v.Undecided == ""
	switch {
	case !decided:
		fmt.Fprintf(&b, "Undecided %s %s\n", t.Name, oneLine(v.Undecided))
	case v.Holds:
		b.WriteString("Ok\n")
	default:
		b.WriteString("No\n")
	}
	if v.Cut {
		fmt.Fprintf(&b, "Cutoff %s loops were unrolled a bounded number of times; executions that need more are not counted\n", t.Name)
	}
	if v.Blocked {
		fmt.Fprintf(&b, "Blocked %s some paths wait at a barrier forever; they are not counted\n", t.Name)
	}
	if !o.StatesOnly {
		v.summary(&b, o, decided)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (v *Verdict) summary(b *strings.Builder, o LogOptions, decided bool) {
	t := v.Test
	fmt.Fprintf(b, "Witnesses\nPositive: %d Negative: %d\n", v.Positive, v.Negative)
	for _, f := range v.Flags {
		fmt.Fprintf(b, "Flag %s\n", f)
	}
	if decided {
		fmt.Fprintf(b, "Condition %s\n", conditionOf(t))
		fmt.Fprintf(b, "Observation %s %s %d %d\n", t.Name, v.Observation, v.Positive, v.Negative)
	}
	if o.Time >= 0 {
		fmt.Fprintf(b, "Time %s %.2f\n", t.Name, o.Time.Seconds())
	}
	if o.Candidates {
		fmt.Fprintf(b, "Candidates %s %d\n", t.Name, v.Candidates)
	}
	fmt.Fprintf(b, "Hash=%s\n", t.Hash())
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

// stateLines are the states in herd's form, sorted: registers by thread and
// name, then locations.
func (v *Verdict) stateLines() []string {
	order := make([]int, len(v.Terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareTerms(v.Terms[a], v.Terms[b]) })
	var lines []string
	for _, s := range v.States {
		var parts []string
		for _, i := range order {
			parts = append(parts, fmt.Sprintf("%s=%d;", termName(v.Terms[i]), s.Values[i]))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	slices.Sort(lines)
	return lines
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
