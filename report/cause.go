package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Cause is what many changes of instructions have in common: the instructions that differ,
// without those around them, and what that means.
type Cause struct {
	// Left and Right are the instructions that differ; none where the meaning says all: of
	// another order of accesses, and of what one side refuses.
	Left, Right []string
	Meaning     string
	// Changes are those in the code of tests and programs, the one in most cells first, and
	// Operations those of what operations become, whatever tests there are.
	Changes    []*CodeChange
	Operations []*OperationChange
}

// Strength is the first word of the meaning: weaker, another, stronger or equal.
func (c *Cause) Strength() string { return word1(c.Meaning) }

// Title says in a line what changed.
func (c *Cause) Title() string {
	if len(c.Left)+len(c.Right) == 0 {
		return c.Meaning
	}
	lines := instructionLines(c.Left, c.Right)
	return lines[0] + " -> " + lines[1]
}

// Where says at which operations of how many cells the cause shows, a line for tests and
// programs and one for the mapping.
func (c *Cause) Where() (out []string) {
	if len(c.Changes) > 0 {
		var all CodeChange
		var at []string
		for _, e := range c.Changes {
			all.Cells += e.Cells
			put(&at, e.Title())
			put(&all.Tests, e.Tests...)
			put(&all.Targets, e.Targets...)
			put(&all.Levels, e.Levels...)
			put(&all.Layouts, e.Layouts...)
		}
		slices.Sort(all.Levels)
		out = append(out, fmt.Sprintf("%s, in %s", named(at), all.Where()))
	}
	if len(c.Operations) > 0 {
		var all OperationChange
		for _, o := range c.Operations {
			put(&all.Operations, o.Operations...)
			put(&all.Targets, o.Targets...)
			put(&all.Levels, o.Levels...)
		}
		out = append(out, "by the mapping, in "+all.Where())
	}
	if len(c.Left)+len(c.Right) == 0 { // the title does not say what they are
		for _, o := range c.Operations[:min(len(c.Operations), maxNamed)] {
			out = append(out, fmt.Sprintf("%s: %s -> %s", named(o.Operations), o.Left, o.Right))
		}
	}
	return out
}

// Causes puts the changes of instructions together, what got weaker first; of those that
// mean alike, what changes most first.
func Causes(changes []*CodeChange, operations []*OperationChange) []*Cause {
	by := map[string]*Cause{}
	var out []*Cause
	of := func(left, right []string, meaning string) *Cause {
		key := strings.Join(left, ";") + "\x00" + strings.Join(right, ";") + "\x00" + meaning
		c := by[key]
		if c == nil {
			c = &Cause{Left: left, Right: right, Meaning: meaning}
			by[key], out = c, append(out, c)
		}
		return c
	}
	for _, e := range changes {
		left, right := unequal(e.Left, e.Right)
		if e.Source == Order {
			left, right = nil, nil // whatever moves
		}
		c := of(left, right, e.Meaning)
		c.Changes = append(c.Changes, e)
	}
	for _, o := range operations {
		left, right := unequal(strings.Split(o.Left, " ; "), strings.Split(o.Right, " ; "))
		for _, side := range []*[]string{&left, &right} {
			if one := (*side)[:min(len(*side), 1)]; len(one) == 1 && (one[0] == OperationRefused || one[0] == OperationCrashed) {
				left, right = nil, nil // whatever instructions the other release has
			}
		}
		c := of(left, right, o.Meaning)
		c.Operations = append(c.Operations, o)
	}
	size := func(c *Cause) (n int) {
		for _, e := range c.Changes {
			n += e.Cells
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b *Cause) int {
		return cmp.Or(strengthOrder(a.Meaning)-strengthOrder(b.Meaning), size(b)-size(a), len(b.Operations)-len(a.Operations))
	})
	return out
}

// unequal leaves the instructions of two sequences that differ, without operands, guards and
// the paths that they are on: of equally long ones those that stand for each other, each pair
// once, else what lies between what they begin and end with in common.
func unequal(left, right []string) (l, r []string) {
	a, b := bare(left), bare(right)
	if len(a) == len(b) {
		seen := map[[2]string]bool{}
		for i := range a {
			if pair := [2]string{a[i], b[i]}; a[i] != b[i] && !seen[pair] {
				seen[pair] = true
				l, r = append(l, a[i]), append(r, b[i])
			}
		}
		if len(l) > 0 {
			return l, r
		}
		return left, right // only paths and operands differ
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func bare(list []string) (out []string) {
	for _, text := range list {
		out = append(out, mnemonic(frame.FindStringSubmatch(text)[2]))
	}
	return out
}

// put adds the words that a list lacks.
func put(list *[]string, words ...string) {
	for _, w := range words {
		if !slices.Contains(*list, w) {
			*list = append(*list, w)
		}
	}
}

func word1(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return strings.TrimSuffix(w, ":")
}

// Conclusion counts what a comparison comes to.
type Conclusion struct {
	// Weaker, Another, Stronger and Equal count causes of changed instructions.
	Weaker   int `json:"weaker"`
	Another  int `json:"another"`
	Stronger int `json:"stronger"`
	Equal    int `json:"equal"`
	// New and Gone count causes of findings by class, Known those of the new ones that are known.
	New   map[string]int `json:"new"`
	Gone  map[string]int `json:"gone"`
	Known int            `json:"known"`
}

// Instructions counts causes of changed instructions: "0 weaker, 0 stronger, 15 equal".
func (c *Conclusion) Instructions() string {
	order := []string{plain.Number(c.Weaker) + " weaker"}
	if c.Another > 0 {
		order = append(order, plain.Number(c.Another)+" without an order of strength")
	}
	return strings.Join(append(order, plain.Number(c.Stronger)+" stronger", plain.Number(c.Equal)+" equal"), ", ")
}

// String is the conclusion in a line: "0 weaker, 0 stronger, 15 equal; 3 new findings".
func (c *Conclusion) String() string {
	parts := []string{countFindings("new", c.New)}
	if c.Known > 0 {
		parts[0] += fmt.Sprintf(", %s known", plain.Number(c.Known))
	}
	if len(c.Gone) > 0 {
		parts = append(parts, countFindings("gone", c.Gone))
	}
	return c.Instructions() + "; " + strings.Join(parts, "; ")
}

// countFindings is "3 new findings (2 miscompiled, 1 optimised)".
func countFindings(what string, n map[string]int) string {
	sum := 0
	var classes []string
	for _, s := range event.Severities {
		if n[s] > 0 {
			sum += n[s]
			classes = append(classes, plain.Number(n[s])+" "+s)
		}
	}
	out := fmt.Sprintf("%s %s %s", plain.Number(sum), what, plain.Form(sum, "finding", "findings"))
	if sum > 0 {
		out += " (" + strings.Join(classes, ", ") + ")"
	}
	return out
}

// Conclude counts causes and changes of findings.
func Conclude(causes []*Cause, findings []*FindingChange) *Conclusion {
	c := &Conclusion{New: map[string]int{}, Gone: map[string]int{}}
	for _, x := range causes {
		switch x.Strength() {
		case weaker:
			c.Weaker++
		case stronger:
			c.Stronger++
		case equal:
			c.Equal++
		default:
			c.Another++
		}
	}
	for _, f := range findings {
		switch f.Change {
		case FindingNew:
			c.New[f.Class]++
			if len(f.Known) > 0 {
				c.Known++
			}
		case FindingGone:
			c.Gone[f.Class]++
		}
	}
	return c
}
