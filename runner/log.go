package runner

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"optcheck/litmus"
)

// LogInfo is what a log says of a run besides its histogram.
type LogInfo struct {
	// Elapsed is the time that the instances took.
	Elapsed time.Duration
	// Comments are further lines, "Device NVIDIA H200"; readers of the format
	// skip lines that they do not know.
	Comments []string
}

// WriteLog writes a histogram as a block of the log format of litmus and herd,
// with a blank line at its end.
func WriteLog(w io.Writer, t *litmus.Test, h *Histogram, info LogInfo) error {
	b := bufio.NewWriter(w)
	kind := map[litmus.Quantifier]string{litmus.Exists: "Allowed", litmus.NotExists: "Forbidden", litmus.Forall: "Required"}[t.Cond.Quant]
	outcomes := h.Outcomes()
	fmt.Fprintf(b, "Test %s %s\nHistogram (%d states)\n", t.Name, kind, len(outcomes))
	for _, o := range outcomes {
		mark := ':'
		if h.Satisfies(t.Cond, o) {
			mark = '*'
		}
		fmt.Fprintf(b, "%-8d%c>%s\n", o.Count, mark, h.state(o))
	}
	positive, negative := h.Count(t.Cond)
	holds := map[litmus.Quantifier]bool{litmus.Exists: positive > 0, litmus.NotExists: positive == 0, litmus.Forall: negative == 0}[t.Cond.Quant]
	verdict, not := "Ok", ""
	if !holds {
		verdict, not = "No", "NOT "
	}
	observation := "Sometimes"
	switch {
	case positive == 0:
		observation = "Never"
	case negative == 0:
		observation = "Always"
	}
	fmt.Fprintf(b, "%s\n\nWitnesses\nPositive: %d, Negative: %d\n", verdict, positive, negative)
	fmt.Fprintf(b, "Condition %s is %svalidated\nHash=%s\n", oneLine(t.Cond.String()), not, t.Hash())
	for _, c := range info.Comments {
		fmt.Fprintf(b, "%s\n", oneLine(c))
	}
	fmt.Fprintf(b, "Observation %s %s %d %d\nTime %s %.2f\n\n", t.Name, observation, positive, negative, t.Name, info.Elapsed.Seconds())
	return b.Flush()
}

// oneLine keeps texts from without from adding lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// state prints an outcome: "0:r1=0; [x]=1;".
func (h *Histogram) state(o Outcome) string {
	parts := make([]string, len(h.terms))
	for i, x := range h.terms {
		parts[i] = TermName(x) + "=" + strconv.FormatInt(o.Values[i], 10) + ";"
	}
	return strings.Join(parts, " ")
}

// TermName is a term as logs write it: 0:r1, [x].
func TermName(x litmus.Term) string {
	if x.Kind == litmus.TermReg {
		return strconv.Itoa(x.Thread) + ":" + x.Name
	}
	return "[" + x.Name + "]"
}
