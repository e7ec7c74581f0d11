package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// change is the cells of one test that change in the same way.
type change struct {
	test, from, to string
	rank           int
	cells          []*Cell // of the right side
}

// changes puts the differences of class or findings together, the worst first.
func changes(ds []Difference) []*change {
	by := map[string]*change{}
	for _, d := range ds {
		if !d.Class {
			continue
		}
		key := strings.Join([]string{d.Test, d.Left.Hash, d.Left.Class, d.Left.Says(), d.Right.Class, d.Right.Says()}, "\x00")
		x := by[key]
		if x == nil {
			x = &change{test: d.Test, from: brief(d.Left), to: brief(d.Right), rank: ChangeRank(severity(d.Left.Class), severity(d.Right.Class))}
			by[key] = x
		}
		x.cells = append(x.cells, d.Right)
	}
	out := slices.Collect(maps.Values(by))
	slices.SortFunc(out, func(a, b *change) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(a.test, b.test), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
			cmp.Compare(Places(a.cells)[0].String(), Places(b.cells)[0].String()))
	})
	return out
}

// ClassChange is the cells of one test that change in class or findings in the same way.
type ClassChange struct {
	Test, From, To string
	Where          []string
}

// Classes lists the changes of class or findings, what got worse first.
func (x *Comparison) Classes() (out []ClassChange) {
	for _, c := range changes(x.Differences) {
		e := ClassChange{Test: label(c.test), From: c.from, To: c.to}
		for _, p := range Places(c.cells) {
			e.Where = append(e.Where, p.String())
		}
		out = append(out, e)
	}
	return out
}

// WriteComparison renders a comparison as text: what changed in class or findings, what
// changed in memory instructions, and what only one side has.
func WriteComparison(w io.Writer, x *Comparison, all bool) error {
	text := plain.NewWriter(w)
	d := &diffText{b: bufio.NewWriter(text), x: x, all: all, left: cmp.Or(x.Left, "left"), right: cmp.Or(x.Right, "right")}
	if x.Left != "" {
		fmt.Fprintf(d.b, "%s -> %s\n", x.Left, x.Right)
	}
	fmt.Fprintln(d.b, x.Compared.String())
	d.classes()
	d.code()
	d.operations()
	for side, name := range []string{d.left, d.right} {
		for i, line := range x.Only[side].Lines(name) {
			fmt.Fprintln(d.b, []string{"\n", "  "}[min(i, 1)]+line)
		}
	}
	return errors.Join(d.b.Flush(), text.Flush())
}

// Bounds of what is named in a line, and of changes that are shown with their code.
const (
	maxNamed = 6
	maxShown = 40
)

type diffText struct {
	b           *bufio.Writer
	x           *Comparison
	all         bool
	left, right string
}

// classes tells the changes of class or findings.
func (d *diffText) classes() {
	list := d.x.Classes()
	if len(list) == 0 {
		return
	}
	fmt.Fprint(d.b, "\nClass or findings changed:\n")
	for _, x := range list {
		fmt.Fprintf(d.b, "%s: %s -> %s\n", x.Test, x.From, x.To)
		for _, p := range x.Where {
			fmt.Fprintf(d.b, "  in %s\n", p)
		}
	}
}

// code tells the changes of memory instructions.
func (d *diffText) code() {
	c := d.x.Instructions
	list := c.List()
	if len(list) > 0 {
		fmt.Fprintf(d.b, "\nMemory instructions changed in %s:\n", plain.Count(len(list), "way"))
	}
	for i, e := range list {
		if i == maxShown && !d.all {
			fmt.Fprintf(d.b, "\n%s more: --all shows them\n", plain.Number(len(list)-i))
			break
		}
		d.change(i+1, e)
	}
	for _, line := range c.Rest() {
		fmt.Fprintf(d.b, "\n%s\n", line)
	}
}

// operations tells the changes of what operations become, in tests or not.
func (d *diffText) operations() {
	list := d.x.Operations
	switch {
	case !d.x.OperationsAsked:
		return
	case len(list) == 0:
		fmt.Fprint(d.b, "\nBy the mapping, every operation becomes the same.\n")
		return
	}
	fmt.Fprintf(d.b, "\nBy the mapping, operations changed in %s, whether a test has them or not:\n", plain.Count(len(list), "way"))
	for i, c := range list {
		if i == maxShown && !d.all {
			fmt.Fprintf(d.b, "\n%s more: --all shows them\n", plain.Number(len(list)-i))
			break
		}
		fmt.Fprintf(d.b, "\n     %s\n  -> %s\n  means: %s\n  in %s\n", c.Left, c.Right, c.Meaning, c.Where())
	}
}

func (d *diffText) change(n int, e *CodeChange) {
	fmt.Fprintf(d.b, "\n%d. %s\n", n, e.Title())
	lines := e.Instructions()
	fmt.Fprintf(d.b, "     %s\n  -> %s\n", lines[0], lines[1])
	fmt.Fprintf(d.b, "  means: %s\n  in %s\n  such as %s:\n", e.Meaning, e.Where(), e.Example())
	rows := e.Thread.Rows()
	head := [3]string{"source", d.left, d.right}
	width := [2]int{len(head[0]), len(head[1])}
	for _, r := range rows {
		width[0], width[1] = max(width[0], len(r[0])), max(width[1], len(r[1]))
	}
	fmt.Fprintf(d.b, "    T%d  %-*s | %-*s | %s\n", e.Thread.Left.Thread, width[0], head[0], width[1], head[1], head[2])
	for _, r := range rows {
		fmt.Fprintln(d.b, strings.TrimRight(fmt.Sprintf("        %-*s | %-*s | %s", width[0], r[0], width[1], r[1], r[2]), " "))
	}
}

// Rows puts source and both machine codes side by side. Where all are in the order of the
// source, what belongs to an access stands beside it.
func (t Trio) Rows() (out [][3]string) {
	byPos := func(lines []Line) map[int][]string {
		m := map[int][]string{}
		for _, l := range lines {
			m[l.Pos] = append(m[l.Pos], l.Text)
		}
		return m
	}
	if ordered(t.Left) && ordered(t.Right) {
		l, r := byPos(t.Left.Machine), byPos(t.Right.Machine)
		for _, s := range t.Source() {
			for i := range max(1, len(l[s.Pos]), len(r[s.Pos])) {
				row := [3]string{1: nth(l[s.Pos], i), 2: nth(r[s.Pos], i)}
				if i == 0 {
					row[0] = s.Text
				}
				out = append(out, row)
			}
		}
		return out
	}
	numbered := func(l Line) string {
		if l.Pos < 0 {
			return l.Text
		}
		return fmt.Sprintf("#%d %s", l.Pos, l.Text)
	}
	for i := range max(len(t.Source()), len(t.Left.Machine), len(t.Right.Machine)) {
		var row [3]string
		if s := t.Source(); i < len(s) {
			row[0] = s[i].Text
		}
		if i < len(t.Left.Machine) {
			row[1] = numbered(t.Left.Machine[i])
		}
		if i < len(t.Right.Machine) {
			row[2] = numbered(t.Right.Machine[i])
		}
		out = append(out, row)
	}
	return out
}

// Source returns what the thread does.
func (t Trio) Source() []Line { return t.Left.Source }

// ordered reports whether every machine instruction belongs to an access, in their order.
func ordered(t ThreadListing) bool {
	return slices.IsSortedFunc(t.Machine, func(a, b Line) int { return a.Pos - b.Pos }) && (len(t.Machine) == 0 || t.Machine[0].Pos >= 0)
}

func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// named lists a few names, and counts the others.
func named(list []string) string {
	var out []string
	for _, n := range list[:min(len(list), maxNamed)] {
		out = append(out, label(n))
	}
	if n := len(list) - maxNamed; n > 0 {
		return strings.Join(out, ", ") + " and " + plain.Number(n) + " more"
	}
	return strings.Join(out, ", ")
}

func brief(c *Cell) string {
	s := c.Class
	seen := map[string]bool{}
	for _, f := range c.Findings {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			s += " " + f.Rule
		}
	}
	return s
}

// WriteComparisonJSON renders a comparison as JSON lines: an object for each cell that
// differs, then one with the key code_change for each change of memory instructions, and
// one with the key operation_change for each of what operations become.
func WriteComparisonJSON(w io.Writer, x *Comparison) error {
	ds := x.Differences
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range ds {
		if err := enc.Encode(&ds[i]); err != nil {
			return err
		}
	}
	for _, e := range x.Instructions.List() {
		if err := enc.Encode(map[string]any{"code_change": e}); err != nil {
			return err
		}
	}
	for _, c := range x.Operations {
		if err := enc.Encode(map[string]any{"operation_change": c}); err != nil {
			return err
		}
	}
	return nil
}
