// Package herdlog reads and writes logs in the form of herd, which lists the states that a
// model allows, and of litmus, which counts what a device did.
//
// It neither judges a test (package model does) nor runs one.
package herdlog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/litmus"
)

// Block is the part of a log about one test. Its form is herd's, or with Counted that of
// litmus.
type Block struct {
	Name      string
	Kind      string // Allowed, Forbidden or Required: see Kind
	Condition string // "exists (1:r0=1 /\ 1:r1=0)"
	Hash      string
	Columns   []Column
	States    [][]int64
	// Counted holds for each state how often it was seen, and Mark whether it satisfies the
	// expression of the condition. Both are nil in a model's log.
	Counted []uint64
	Mark    []bool
	// Positive and Negative count the executions or instances that satisfy the
	// expression of the condition, and the others.
	Positive, Negative uint64
	Undecided          string   // why the condition is not decided, "" if it is
	Notes              []string // lines after the states
	Flags              []string // what a model warns of
	Comments           []string // further lines; readers skip lines that they do not know
	// Time is the duration of the test; negative means no Time line, so that logs can be
	// compared byte by byte.
	Time       time.Duration
	Candidates *uint64 // the candidates that a model looked at, nil for no line
	StatesOnly bool    // end the block after its states
}

// Column is a term of the states: its name as logs write it, and the index of
// its value in each state.
type Column struct {
	Name string
	At   int
}

// Kind returns the word that follows a test's name in logs.
func Kind(q litmus.Quantifier) string {
	switch q {
	case litmus.NotExists:
		return "Forbidden"
	case litmus.Forall:
		return "Required"
	}
	return "Allowed"
}

// Term returns a term in the form used in logs: 0:r1, [x].
func Term(x litmus.Term) string {
	if x.Kind == litmus.TermReg {
		return strconv.Itoa(x.Thread) + ":" + x.Name
	}
	return "[" + x.Name + "]"
}

// Sorted returns the columns of terms in herd's order: registers by thread and
// name, then locations.
func Sorted(terms []litmus.Term) []Column {
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := terms[a], terms[b]
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Thread, y.Thread), strings.Compare(x.Name, y.Name))
	})
	out := make([]Column, len(order))
	for i, at := range order {
		out[i] = Column{Term(terms[at]), at}
	}
	return out
}

// Observation is herd's word for how often the condition's expression holds.
func Observation(positive, negative uint64) string {
	switch {
	case positive == 0:
		return "Never"
	case negative == 0:
		return "Always"
	}
	return "Sometimes"
}

// Holds reports whether the condition with its quantifier is validated.
func (l *Block) Holds() bool {
	switch l.Kind {
	case "Forbidden":
		return l.Positive == 0
	case "Required":
		return l.Negative == 0
	}
	return l.Positive > 0
}

// Append appends the block with a blank line at its end.
func (l *Block) Append(b []byte) []byte {
	b = words(b, "Test ", l.Name, " ", l.Kind, "\n")
	b = l.states(b)
	switch {
	case l.Undecided != "":
		b = words(b, "Undecided ", l.Name, " ", oneLine(l.Undecided), "\n")
	case l.Holds():
		b = append(b, "Ok\n"...)
	default:
		b = append(b, "No\n"...)
	}
	for _, n := range l.Notes {
		b = words(b, n, "\n")
	}
	switch {
	case l.StatesOnly:
	case l.Counted != nil:
		b = l.counted(b)
	default:
		b = l.modelled(b)
	}
	return append(b, '\n')
}

func (l *Block) states(b []byte) []byte {
	n := strconv.Itoa(len(l.States))
	if l.Counted != nil {
		b = words(b, "Histogram (", n, " states)\n")
	} else {
		b = words(b, "States ", n, "\n")
	}
	for k, s := range l.States {
		if l.Counted != nil {
			mark := ":>"
			if l.Mark[k] {
				mark = "*>"
			}
			at := len(b)
			for b = strconv.AppendUint(b, l.Counted[k], 10); len(b) < at+8; b = append(b, ' ') {
			}
			b = append(b, mark...)
		}
		for i, c := range l.Columns {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(words(b, c.Name, "="), strconv.FormatInt(s[c.At], 10)...)
			b = append(b, ';')
		}
		b = append(b, '\n')
	}
	return b
}

// modelled writes the rest of a block as herd does.
func (l *Block) modelled(b []byte) []byte {
	positive, negative := strconv.FormatUint(l.Positive, 10), strconv.FormatUint(l.Negative, 10)
	b = words(b, "Witnesses\nPositive: ", positive, " Negative: ", negative, "\n")
	for _, f := range l.Flags {
		b = words(b, "Flag ", f, "\n")
	}
	if l.Undecided == "" {
		b = words(b, "Condition ", l.Condition, "\nObservation ", l.Name, " ", Observation(l.Positive, l.Negative), " ",
			positive, " ", negative, "\n")
	}
	b = l.time(b)
	if l.Candidates != nil {
		b = words(b, "Candidates ", l.Name, " ", strconv.FormatUint(*l.Candidates, 10), "\n")
	}
	return words(b, "Hash=", l.Hash, "\n")
}

// counted writes the rest of a block as litmus does.
func (l *Block) counted(b []byte) []byte {
	positive, negative := strconv.FormatUint(l.Positive, 10), strconv.FormatUint(l.Negative, 10)
	not := ""
	if !l.Holds() {
		not = "NOT "
	}
	b = words(b, "\nWitnesses\nPositive: ", positive, ", Negative: ", negative, "\n")
	b = words(b, "Condition ", oneLine(l.Condition), " is ", not, "validated\nHash=", l.Hash, "\n")
	for _, c := range l.Comments {
		b = words(b, oneLine(c), "\n")
	}
	return l.time(words(b, "Observation ", l.Name, " ", Observation(l.Positive, l.Negative), " ", positive, " ", negative, "\n"))
}

func (l *Block) time(b []byte) []byte {
	if l.Time < 0 {
		return b
	}
	b = words(b, "Time ", l.Name, " ")
	return append(strconv.AppendFloat(b, l.Time.Seconds(), 'f', 2, 64), '\n')
}

func words(b []byte, list ...string) []byte {
	for _, w := range list {
		b = append(b, w...)
	}
	return b
}

// oneLine prevents foreign texts from adding lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}
