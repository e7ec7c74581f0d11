package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// What became of a finding between two sides.
const (
	FindingNew     = "new"     // only the right side has it
	FindingGone    = "gone"    // only the left side has it, and the right side has its cells
	FindingChanged = "changed" // both have it, and another class, reason or outcome
)

// FindingChange is one cause of findings and all cells in which only one side shows it: the
// same rule, at the same operation, with the same instruction, in whichever tests.
type FindingChange struct {
	Change string `json:"change"`
	// From and To are the classes of the cells; "" for a side that lacks the cells. Class is
	// that of the side with the finding.
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Class string `json:"class"`
	Rule  string `json:"rule,omitempty"`
	// What says what was found, of the first of the cells.
	What string `json:"what"`
	// Also are further findings that exactly the same cells show, with the same fate.
	Also  []string `json:"also,omitempty"`
	Known []string `json:"known,omitempty"`
	Cells int      `json:"cells"`
	Tests []string `json:"tests"`
	Where []string `json:"where"` // places of the cells

	cells []*event.Cell
}

// Title says in a line what became of it: "new: miscompiled, was preserved".
func (f *FindingChange) Title() string {
	s := f.Change + ": " + f.Class
	switch {
	case f.Change == FindingNew && f.From == "":
		s += ", in cells that the left side lacks"
	case f.Change == FindingNew && f.From != f.Class:
		s += ", was " + f.From
	case f.Change == FindingGone && f.To != f.Class:
		s += ", is " + f.To
	case f.Change == FindingChanged && f.From != f.To:
		s += ", was " + f.From
	}
	return s
}

// Count says in how many cells of which tests it is.
func (f *FindingChange) Count() string {
	return fmt.Sprintf("%s of %s: %s", plain.Count(f.Cells, "cell"), plain.Count(len(f.Tests), "test"), named(f.Tests))
}

// findingChanges gathers them.
type findingChanges struct {
	by   map[string]*FindingChange
	list []*FindingChange
}

// add takes a finding of cells of one side; other is the same cell of the other side, or nil.
func (x *findingChanges) add(change string, c, other *event.Cell, found event.Finding, what string) {
	f := &FindingChange{Change: change, Class: c.Class, Rule: found.Rule, What: what, Known: c.Known}
	side, far := &f.To, &f.From
	if change == FindingGone {
		side, far = far, side
	}
	*side = c.Class
	if other != nil {
		*far = other.Class
	}
	key := strings.Join([]string{change, f.From, f.To, causeOf(&found), strings.Join(f.Known, " ")}, "\x00")
	if found.Rule == "" {
		key += what
	}
	if have := x.by[key]; have != nil {
		f = have
	} else {
		x.by[key], x.list = f, append(x.list, f)
	}
	f.cells = append(f.cells, c)
	put(&f.Tests, c.Test)
}

// pair takes a cell that differs in class or in what was found; l is nil where only the
// right side has it.
func (x *findingChanges) pair(l, r *event.Cell) {
	var none event.Cell
	before, after := causesOf(cmp.Or(l, &none)), causesOf(r)
	moved := false
	for _, s := range []struct {
		change     string
		c, other   *event.Cell
		have, lack map[string]event.Finding
	}{{FindingNew, r, l, after, before}, {FindingGone, l, r, before, after}} {
		for _, k := range sortedKeys(s.have) {
			if _, ok := s.lack[k]; !ok && s.c != nil {
				f := s.have[k]
				x.add(s.change, s.c, s.other, f, f.Rule+": "+f.Text())
				moved = true
			}
		}
	}
	switch {
	case moved:
	case l == nil || r.Class == event.Unknown && l.Class != event.Unknown:
		x.add(FindingNew, r, l, event.Finding{}, cmp.Or(r.Reason, "undecided"))
	case l.Class == event.Unknown && r.Class != event.Unknown:
		x.add(FindingGone, l, r, event.Finding{}, cmp.Or(l.Reason, "undecided"))
	default:
		x.add(FindingChanged, r, l, event.Finding{}, brief(l)+" -> "+brief(r))
	}
}

// causesOf lists the findings of a cell by cause; those of what is legal, too.
func causesOf(c *event.Cell) map[string]event.Finding {
	out := map[string]event.Finding{}
	for _, f := range c.Findings {
		k := causeOf(&f)
		if _, ok := out[k]; !ok {
			out[k] = f
		}
	}
	return out
}

// own is what a cause of findings does not depend on: positions, places and registers.
var own = regexp.MustCompile(`^\d+:\d+ |#\d+ |(desc)?\[[^\]]*\]|\b(UR|UP|R|P|B)(\d+|Z|T)\b|%\w+|\b\d+:\d+\b`)

// cause identifies what a finding has in common with those of other tests and lines.
func causeOf(f *event.Finding) string {
	return f.Rule + "\x00" + f.Stage + "\x00" + f.At + "\x00" + strings.Join(strings.Fields(own.ReplaceAllString(f.Detail, "")), " ")
}

// together makes one of the changes that exactly the same cells show: an access that is lost breaks several rules.
func together(list []*FindingChange) (out []*FindingChange) {
	by := map[string]*FindingChange{}
	for _, f := range list {
		key := fmt.Sprint(f.Change, f.From, f.To, f.Known)
		for _, c := range f.cells {
			key += fmt.Sprintf(" %p", c)
		}
		if first := by[key]; first != nil {
			first.Also = append(first.Also, f.What)
			continue
		}
		by[key], out = f, append(out, f)
	}
	return out
}

// Lines are What and Also.
func (f *FindingChange) Lines() []string { return append([]string{f.What}, f.Also...) }

// findingsOf lists what became of findings, what got worse first, known ones last: of the cells
// that both sides have, and of those that only the right side has.
func findingsOf(differences []Difference) []*FindingChange {
	g := &findingChanges{by: map[string]*FindingChange{}}
	for _, d := range differences {
		switch {
		case d.Right == nil:
		case d.Left != nil && d.Class, d.Left == nil && (d.Right.HasFindings() || d.Right.Class == event.Unknown):
			g.pair(d.Left, d.Right)
		}
	}
	g.list = together(g.list)
	for _, f := range g.list {
		f.Cells = len(f.cells)
		for _, p := range Places(f.cells) {
			f.Where = append(f.Where, p.String())
		}
	}
	rank := func(f *FindingChange) int {
		return ChangeRank(severity(cmp.Or(f.From, event.Preserved)), severity(cmp.Or(f.To, event.Preserved)))
	}
	slices.SortStableFunc(g.list, func(a, b *FindingChange) int {
		return cmp.Or(min(len(a.Known), 1)-min(len(b.Known), 1), rank(a)-rank(b), b.Cells-a.Cells, cmp.Compare(a.What, b.What))
	})
	return g.list
}
