package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Delta is in what two results of one cell differ, from the least on.
type Delta uint8

// The deltas.
const (
	Same    Delta = iota
	InCode        // only in machine code
	InFound       // in findings or new outcomes
	InClass
)

// deltaOf says in what two results differ. Which findings are known is no difference.
func deltaOf(c, o *event.Result) Delta {
	switch {
	case c.Class != o.Class:
		return InClass
	case c.Says() != o.Says():
		return InFound
	case c.Code != o.Code:
		return InCode
	}
	return Same
}

// Compared counts the cells of two sides.
type Compared struct {
	Both               int // cells that both sides have
	Class, Found, Code int // of them: differ in class, only in what was found, only in machine code
	OnlyLeft           int // cells that the right side lacks
	OnlyRight          int
}

// Add counts a cell that both sides have.
func (c *Compared) Add(d Delta) {
	c.Both++
	switch d {
	case InClass:
		c.Class++
	case InFound:
		c.Found++
	case InCode:
		c.Code++
	}
}

// String says in a sentence how the cells differ that both sides have.
func (c *Compared) String() string {
	differ := func(n int) string { return plain.Number(n) + " " + plain.Form(n, "differs", "differ") }
	both := plain.Number(c.Both) + " " + plain.Form(c.Both, "cell", "cells")
	switch {
	case c.Both == 0:
		return "No cell is in both."
	case c.Class+c.Found+c.Code == 0:
		return both + " in both, and no difference."
	}
	return fmt.Sprintf("Of %s in both, %s in class, %s in what was found and %s in machine code alone.",
		both, differ(c.Class), differ(c.Found), differ(c.Code))
}

// ChangeRank orders changes of class, given as positions in Severities: what got
// worse, what is only different, what got better, what came or went with support;
// each from the worst class on.
func ChangeRank(from, to int) int {
	worst, unsupported := min(from, to), slices.Index(event.Severities, event.Unsupported)
	switch {
	case from == unsupported || to == unsupported:
		return 30 + worst
	case to < from:
		return worst
	case to == from:
		return 10 + worst
	}
	return 20 + worst
}

// Difference is a cell that two runs do not agree on. Left or Right is nil
// where a run does not have the cell.
type Difference struct {
	Test   string      `json:"test"`
	Target string      `json:"target"`
	Level  string      `json:"level"`
	Layout string      `json:"layout"`
	Left   *event.Cell `json:"left,omitempty"`
	Right  *event.Cell `json:"right,omitempty"`
	// Class and Code tell what differs: the classification or findings, the
	// machine code. Missing tells that only one run has the cell.
	Class   bool `json:"class_differs"`
	Code    bool `json:"code_differs"`
	Missing bool `json:"missing,omitempty"`
}

// Comparison is what two runs, or two releases, do differently.
type Comparison struct {
	// Left and Right are the toolchains if each side has one, else "".
	Left, Right string
	Compared
	Differences  []Difference
	Findings     []*FindingChange
	Instructions *CodeChanges
	Only         [2]Lone // what only the left and only the right side has
	// Operations are changes of what operations become, whatever tests there are; nil if
	// nobody has looked. OperationsAsked says that somebody has.
	Operations      []*OperationChange
	OperationsAsked bool
	Notes           []string // what a reader must know of both sides
}

// Causes are the changes of instructions, put together.
func (x *Comparison) Causes() []*Cause { return Causes(x.Instructions.List(), x.Operations) }

// Conclusion says in a line what the comparison comes to.
func (x *Comparison) Conclusion() string { return Conclude(x.Causes(), x.Findings).String() }

// Compare lists the cells whose classification, findings or machine code
// differ, of those that are wanted. Cells are compared within the same toolchain,
// unless each run has exactly one: then across, which shows what a release changed.
func Compare(left, right *event.Run, wanted func(*event.Cell) bool) *Comparison {
	x := &Comparison{Instructions: NewCodeChanges()}
	across := len(left.Config.Toolchains) == 1 && len(right.Config.Toolchains) == 1
	if across {
		x.Left, x.Right = left.Config.Toolchains[0].ID, right.Config.Toolchains[0].ID
	}
	pairs := map[string][2]*event.Cell{}
	for side, r := range []*event.Run{left.Full(), right.Full()} { // cells are kept
		for i := range r.Cells {
			c := &r.Cells[i]
			key := strings.Join([]string{c.Test, c.Hash, c.Target, c.Level, c.Layout}, "\x00")
			if !across {
				key += "\x00" + c.Toolchain
			}
			p := pairs[key]
			p[side] = c
			pairs[key] = p
		}
	}
	keys := slices.DeleteFunc(sortedKeys(pairs), func(k string) bool {
		l, r := pairs[k][0], pairs[k][1]
		return !(l != nil && wanted(l)) && !(r != nil && wanted(r))
	})
	for _, k := range keys {
		if l, r := pairs[k][0], pairs[k][1]; l != nil && r != nil {
			x.Only[0].both(l)
			x.Only[1].both(r)
		}
	}
	for _, k := range keys {
		x.add(pairs[k][0], pairs[k][1], left, right)
	}
	x.Findings = findingsOf(x.Differences)
	return x
}

// add takes a cell; what a side does not have is nil.
func (x *Comparison) add(l, r *event.Cell, left, right *event.Run) {
	c := cmp.Or(l, r)
	d := Difference{Test: c.Test, Target: c.Target, Level: c.Level, Layout: c.Layout, Left: l, Right: r}
	switch {
	case l == nil:
		x.OnlyRight++
		x.Only[1].add(r)
		d.Missing = true
	case r == nil:
		x.OnlyLeft++
		x.Only[0].add(l)
		d.Missing = true
	default:
		delta := deltaOf(&l.Result, &r.Result)
		x.Compared.Add(delta)
		d.Class, d.Code = delta >= InFound, l.Code != r.Code
		if d.Code && l.Code != "" && r.Code != "" {
			x.Instructions.Add(r, left.Listings[l.ListingKey()], right.Listings[r.ListingKey()])
		}
	}
	if d.Class || d.Code || d.Missing {
		x.Differences = append(x.Differences, d)
	}
}

// Worse lists the classes of findings that only the right side has, each once; without known
// findings if newOnly is set.
func (x *Comparison) Worse(newOnly bool) (out []string) {
	for _, f := range x.Findings {
		worse := f.Change == FindingNew || f.Change == FindingChanged && severity(f.To) < severity(f.From)
		if worse && !(newOnly && len(f.Known) > 0) {
			put(&out, f.Class)
		}
	}
	return out
}
