package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// WriteComparison renders a comparison as text: the conclusion, what became of findings, what
// changed in instructions, and what only one side has.
func WriteComparison(w io.Writer, x *Comparison, all bool) error {
	text := plain.NewWriter(w)
	b := bufio.NewWriter(text)
	if x.Left != "" {
		fmt.Fprintf(b, "%s -> %s\n", x.Left, x.Right)
	}
	fmt.Fprintln(b, x.Conclusion())
	for _, s := range x.summary() {
		fmt.Fprintln(b, s)
	}
	findings, unshown := shown(x.Findings, all)
	for _, f := range findings {
		fmt.Fprintf(b, "\n%s\n  %s\n  in %s\n", f.Title(), strings.Join(f.Lines(), "\n  "), f.Count())
		for _, p := range f.Where {
			fmt.Fprintf(b, "  in %s\n", p)
		}
		if len(f.Known) > 0 {
			fmt.Fprintf(b, "  known: %s\n", strings.Join(f.Known, ", "))
		}
	}
	for _, line := range unshown {
		fmt.Fprintf(b, "\n%s\n", line)
	}
	causes, more := shown(x.Causes(), all)
	for i, c := range causes {
		fmt.Fprintf(b, "\n%d. %s\n", i+1, c.Title())
		if c.Title() != c.Meaning {
			fmt.Fprintf(b, "  %s\n", c.Meaning)
		}
		for _, line := range c.Where() {
			fmt.Fprintf(b, "  %s\n", line)
		}
		if len(c.Changes) > 0 {
			fmt.Fprintf(b, "  such as %s:\n%s", c.Changes[0].Example(), c.Changes[0].sides("    ", x.names()))
		}
	}
	for _, section := range append([][]string{more}, x.rest()...) {
		for i, line := range section {
			fmt.Fprintln(b, []string{"\n", "  "}[min(i, 1)]+line)
		}
	}
	return errors.Join(b.Flush(), text.Flush())
}

// Bounds of what is named in a line, and of findings and causes that are shown.
const (
	maxNamed = 6
	maxShown = 40
)

// names are those of the sides.
func (x *Comparison) names() [2]string {
	return [2]string{cmp.Or(x.Left, "left"), cmp.Or(x.Right, "right")}
}

// summary is what stands below the conclusion.
func (x *Comparison) summary() []string {
	return append([]string{x.Compared.String()}, x.Notes...)
}

// shown are those of a list that are shown, and a line that says how many are not.
func shown[T any](list []T, all bool) ([]T, []string) {
	if n := len(list) - maxShown; n > 0 && !all {
		return list[:maxShown], []string{plain.Number(n) + " more: --all shows them"}
	}
	return list, nil
}

// rest are the sections at the end: of which cells nothing is listed, and what only one side has.
func (x *Comparison) rest() (out [][]string) {
	if x.OperationsAsked && len(x.Operations) == 0 {
		out = append(out, []string{"By the mapping, every operation becomes the same."})
	}
	for _, line := range x.Instructions.Rest() {
		out = append(out, []string{line})
	}
	for side, name := range x.names() {
		if lines := x.Only[side].Lines(name); lines != nil {
			out = append(out, lines)
		}
	}
	return out
}

// sides is the thread that shows a change: the source and both machine codes, side by side.
func (e *CodeChange) sides(indent string, names [2]string) string {
	rows := append([][3]string{{"source", names[0], names[1]}}, e.Thread.Rows()...)
	var width [2]int
	for _, r := range rows {
		width[0], width[1] = max(width[0], len(r[0])), max(width[1], len(r[1]))
	}
	var b strings.Builder
	for i, r := range rows {
		head := "    "
		if i == 0 {
			head = fmt.Sprintf("T%-3d", e.Thread.Left.Thread)
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s%s%-*s | %-*s | %s", indent, head, width[0], r[0], width[1], r[1], r[2]), " ") + "\n")
	}
	return b.String()
}

// Rows puts source and both machine codes side by side. Where all are in the order of the
// source, what belongs to an access stands beside it.
func (t Trio) Rows() (out [][3]string) {
	byPos := func(lines []event.Line) map[int][]string {
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
	numbered := func(l event.Line) string {
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
func (t Trio) Source() []event.Line { return t.Left.Source }

// ordered reports whether every machine instruction belongs to an access, in their order.
func ordered(t event.ThreadListing) bool {
	return slices.IsSortedFunc(t.Machine, func(a, b event.Line) int { return a.Pos - b.Pos }) && (len(t.Machine) == 0 || t.Machine[0].Pos >= 0)
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
		out = append(out, readable(n))
	}
	if n := len(list) - maxNamed; n > 0 {
		return strings.Join(out, ", ") + " and " + plain.Number(n) + " more"
	}
	return strings.Join(out, ", ")
}

// readable is the name of a test, or of a kernel of a file as its author wrote it.
func readable(name string) string {
	if file, kernel, ok := strings.Cut(name, ":_Z"); ok {
		name = file + ":" + plain.Demangled("_Z"+kernel)
	}
	return plain.Label(name)
}

func brief(c *event.Cell) string {
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
// differs, then one with the key finding_change for each cause of findings that one side has,
// one with the key code_change for each change of memory instructions, one with the key
// operation_change for each of what operations become, and the conclusion.
func WriteComparisonJSON(w io.Writer, x *Comparison) error {
	ds := x.Differences
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range ds {
		if err := enc.Encode(&ds[i]); err != nil {
			return err
		}
	}
	for _, f := range x.Findings {
		if err := enc.Encode(map[string]any{"finding_change": f}); err != nil {
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
	return enc.Encode(map[string]any{"conclusion": Conclude(x.Causes(), x.Findings)})
}
