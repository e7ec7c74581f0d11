package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// sentence says in a line what was found, and where its author finds it.
func sentence(t *event.Test, f *event.Finding) string {
	x := t.Tell(f)
	if x.Place == "" || t.Dialect != event.Program {
		return f.Rule + ": " + x.Text
	}
	return x.Place + ": " + f.Rule + ": " + x.Text
}

// writeFindings tells what was found in a test: the line of its author first, then the instruction.
func writeFindings(b *bufio.Writer, t *event.Test, list []event.Finding, what string) {
	for i := range list {
		if i == MaxTold {
			fmt.Fprintf(b, "  and %d more of %d\n", len(list)-i, len(list))
			return
		}
		x := t.Tell(&list[i])
		place := ""
		if x.Place != "" {
			place = x.Place + ": "
		}
		fmt.Fprintf(b, "  %s%s%s: %s\n", place, what, list[i].Rule, x.Text)
		if x.Line != "" {
			fmt.Fprintf(b, "    | %s\n", begin(x.Line, maxSourceLine))
		}
		for _, line := range list[i].Flight.Text() {
			fmt.Fprintf(b, "    %s\n", plain.Line(line))
		}
		if list[i].NoTest != "" {
			fmt.Fprintf(b, "    no test: %s\n", list[i].NoTest)
		}
	}
}

// maxSourceLine bounds a line of an author's that is repeated, in characters.
const maxSourceLine = 90

// begin is the beginning of a text.
func begin(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// maxListed bounds lists of what is the same of many kernels, unless notes are asked for.
const maxListed = 4

// writePrograms says of a run of programs what was compared, how much was executed, and what was found out of the programs
// themselves.
func writePrograms(b *bufio.Writer, r *event.Run, o TextOptions) {
	var sum event.Matched
	var x executions
	for _, c := range r.All() {
		if c.Compared != nil {
			sum.Add(*c.Compared)
		}
		x.add(c, o.Notes)
	}
	if sum.Functions > 0 || x.kernels > 0 {
		b.WriteByte('\n')
	}
	if sum.Functions > 0 && o.Notes {
		fmt.Fprintln(b, comparedText(&sum))
	}
	x.write(b, o.Notes)
	if r.Config.Claims != "" && !o.Claims {
		fmt.Fprintln(b, ClaimsNote)
	}
	for _, line := range parts(r.Tests) {
		fmt.Fprintln(b, line)
	}
	for _, t := range r.Tests {
		if t.Itself != "" {
			fmt.Fprintf(b, "the program itself: %s: %s\n", plain.Label(t.Name), plain.Line(t.Itself))
		}
	}
}

// comparedText says what was compared, in a line.
func comparedText(c *event.Matched) string {
	return fmt.Sprintf("compared: %d of %d synchronising operations, %d of %d others, %d of %s",
		c.StrongFound, c.Strong, c.WeakFound, c.Weak, c.Pairs, plain.Count(c.Pairs+c.Open, "ordered pair"))
}

// parts tells for which targets which PTX is, of files of which a front end made other PTX for other targets.
func parts(tests []event.Test) (lines []string) {
	lists := map[string][]string{} // the lists of targets of what an author wrote
	for i := range tests {
		if t := &tests[i]; t.Origin != "" {
			lists[t.Origin] = append(lists[t.Origin], strings.Join(t.Targets, ", "))
		}
	}
	seen := map[string]bool{} // a file has many kernels
	for i := range tests {
		t := &tests[i]
		if seen[t.File] || len(slices.Compact(slices.Sorted(slices.Values(lists[t.Origin])))) < 2 {
			continue
		}
		seen[t.File] = true
		lines = append(lines, fmt.Sprintf("%s: the PTX for %s", plain.Label(t.File), strings.Join(t.Targets, ", ")))
	}
	return lines
}

// writeProgramNotes tells each note on a program, with the cells that have it.
func writeProgramNotes(b *bufio.Writer, r *event.Run) {
	tests := map[[2]string]*event.Test{}
	for i := range r.Tests {
		tests[[2]string{r.Tests[i].Name, r.Tests[i].Hash}] = &r.Tests[i]
	}
	var order []string
	cells := map[string][]*event.Cell{}
	for _, c := range r.All() {
		t := tests[[2]string{c.Test, c.Hash}]
		if c.Compared == nil || t == nil {
			continue
		}
		var lines strings.Builder
		for i := range c.Notes {
			w := bufio.NewWriter(&lines)
			writeFindings(w, t, c.Notes[i:i+1], "note: ")
			w.Flush()
			if cells[lines.String()] == nil {
				order = append(order, lines.String())
			}
			one := *c
			cells[lines.String()] = append(cells[lines.String()], &one)
			lines.Reset()
		}
	}
	for _, lines := range order {
		b.WriteString(lines)
		for _, p := range Places(cells[lines]) {
			fmt.Fprintf(b, "    in %s\n", p)
		}
	}
}

// executions gathers how much of programs was executed.
type executions struct {
	// kernels are all, runs those of which runs were compared, differ those whose first run differed, proved those that are proved
	kernels, runs, differ, proved int
	least, most                   int
	source, machine               []float64
	lines                         []string // what is told of single kernels, in order
	cells                         map[string][]*event.Cell
}

func (x *executions) add(c *event.Cell, notes bool) {
	e := c.Executed
	if e == nil {
		return
	}
	if e.Proved && !e.Uncontracted {
		x.proved++
	}
	switch x.kernels++; {
	case e.Differs():
		x.differ++
	case e.Why == "":
		if x.runs++; x.runs == 1 {
			x.least = e.Runs
		}
		x.least, x.most = min(x.least, e.Runs), max(x.most, e.Runs)
		x.source, x.machine = append(x.source, e.Source), append(x.machine, e.Machine)
	}
	if e.Why == "" && !notes {
		return
	}
	if x.cells == nil {
		x.cells = map[string][]*event.Cell{}
	}
	line := plain.Label(c.Test) + ": " + plain.Line(e.Text())
	if x.cells[line] == nil {
		x.lines = append(x.lines, line)
	}
	one := *c
	x.cells[line] = append(x.cells[line], &one)
}

func (x *executions) write(b *bufio.Writer, notes bool) {
	if x.kernels == 0 {
		return
	}
	fmt.Fprintf(b, "executed: %d of %s", x.runs+x.differ, plain.Count(x.kernels, "kernel"))
	if x.differ > 0 {
		fmt.Fprintf(b, ", %d until the first difference", x.differ)
	}
	if x.runs > 0 {
		slices.Sort(x.source)
		slices.Sort(x.machine)
		runs := fmt.Sprint(x.least)
		if x.most > x.least {
			runs += fmt.Sprintf(" to %d", x.most)
		}
		others := plain.Form(min(x.differ, 1), "of the others ", "")
		fmt.Fprintf(b, ", %s%s runs each, in the median %.0f %% of PTX, %.0f %% of machine code",
			others, runs, 100*x.source[(x.runs-1)/2], 100*x.machine[(x.runs-1)/2])
	}
	b.WriteByte('\n')
	if x.proved > 0 {
		fmt.Fprintf(b, "proved for all inputs: %d of %s\n", x.proved, plain.Count(x.kernels, "kernel"))
	}
	for i, line := range x.lines {
		if i == maxListed && !notes {
			fmt.Fprintf(b, "and %d more like these: --notes tells all\n", len(x.lines)-i)
			return
		}
		fmt.Fprintln(b, line)
		for _, p := range Places(x.cells[line]) {
			fmt.Fprintf(b, "    %s\n", p)
		}
	}
}
