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

// LogBlock is one test's block of a log.
type LogBlock struct {
	Name      string
	Kind      string // Allowed, Forbidden or Required
	Condition string // "exists (1:r0=1 /\ 1:r1=0)"
	Hash      string
	Terms     []string // "1:r0", "[x]"
	States    []LogState
	Info      LogInfo
}

// LogState is one line of a block's histogram.
type LogState struct {
	Values []int64 // one per term
	Count  uint64
	Mark   bool // satisfies the condition's expression
}

// KindOf is the word that stands behind a test's name in logs.
func KindOf(q litmus.Quantifier) string {
	switch q {
	case litmus.NotExists:
		return "Forbidden"
	case litmus.Forall:
		return "Required"
	}
	return "Allowed"
}

// WriteLog writes a histogram as a block of the log format of litmus and herd,
// with a blank line at its end.
func WriteLog(w io.Writer, t *litmus.Test, h *Histogram, info LogInfo) error {
	l := &LogBlock{Name: t.Name, Kind: KindOf(t.Cond.Quant), Condition: t.Cond.String(), Hash: t.Hash(), Info: info}
	for _, x := range h.terms {
		l.Terms = append(l.Terms, TermName(x))
	}
	for _, o := range h.Outcomes() {
		l.States = append(l.States, LogState{o.Values, o.Count, h.Satisfies(t.Cond, o)})
	}
	return l.Write(w)
}

// Write writes the block.
func (l *LogBlock) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Test %s %s\nHistogram (%d states)\n", l.Name, l.Kind, len(l.States))
	var positive, negative uint64
	for _, s := range l.States {
		mark := ':'
		if s.Mark {
			mark = '*'
			positive += s.Count
		} else {
			negative += s.Count
		}
		fmt.Fprintf(b, "%-8d%c>%s\n", s.Count, mark, l.state(s))
	}
	holds := positive > 0
	switch l.Kind {
	case "Forbidden":
		holds = positive == 0
	case "Required":
		holds = negative == 0
	}
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
	fmt.Fprintf(b, "Condition %s is %svalidated\nHash=%s\n", oneLine(l.Condition), not, l.Hash)
	for _, c := range l.Info.Comments {
		fmt.Fprintf(b, "%s\n", oneLine(c))
	}
	fmt.Fprintf(b, "Observation %s %s %d %d\nTime %s %.2f\n\n", l.Name, observation, positive, negative, l.Name, l.Info.Elapsed.Seconds())
	return b.Flush()
}

// state prints an outcome: "0:r1=0; [x]=1;".
func (l *LogBlock) state(s LogState) string {
	parts := make([]string, len(l.Terms))
	for i, x := range l.Terms {
		parts[i] = x + "=" + strconv.FormatInt(s.Values[i], 10) + ";"
	}
	return strings.Join(parts, " ")
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

// TermName is a term as logs write it: 0:r1, [x].
func TermName(x litmus.Term) string {
	if x.Kind == litmus.TermReg {
		return strconv.Itoa(x.Thread) + ":" + x.Name
	}
	return "[" + x.Name + "]"
}
