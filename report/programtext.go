package report

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Title is what a finding is in: a test by its name, a kernel by its own, with the file that its author wrote.
func (t *Test) Title() string {
	if t.Dialect != Program {
		return plain.Label(t.Name)
	}
	return t.Kernel() + " in " + plain.Label(cmp.Or(t.Origin, t.File))
}

// Kernel is the name of a program's kernel, as its author wrote it.
func (t *Test) Kernel() string {
	kernel := t.Name[strings.LastIndexByte(t.Name, ':')+1:]
	return plain.Clip(plain.Line(plain.Demangled(kernel)), plain.MaxName)
}

// FileTitle is the file of a program: that of its author, and which front end made PTX of it if one did.
func (t *Test) FileTitle() string {
	_, by, made := strings.Cut(t.File, "@")
	if t.Origin == "" || !made {
		return plain.Label(t.File)
	}
	return plain.Label(t.Origin) + " (PTX by " + plain.Label(strings.TrimSuffix(by, ".ptx")) + ")"
}

// Told is a finding as reports tell it: where its author finds it, and what stands there.
type Told struct {
	Place string // FILE:LINE:COLUMN of what the author wrote, "" if no file has it
	Line  string // what stands in that line of CUDA C++, "" if it is not at hand
	Text  string // what is found
}

// Tell finds the place of a finding.
func (t *Test) Tell(f *Finding) (x Told) {
	x.Text = f.Text()
	at := func(list [][]int) int {
		if f.Thread < 0 || f.Thread >= len(list) || f.Access < 0 || f.Access >= len(list[f.Thread]) {
			return 0
		}
		return list[f.Thread][f.Access]
	}
	line, column := at(t.Lines), at(t.Columns)
	if t.Dialect == Program {
		x.Text = strings.TrimPrefix(f.Full()+arose(f.Stage), fmt.Sprintf("%d:%d ", line, column))
	}
	if line == 0 || t.File == "" {
		return x
	}
	x.Place = fmt.Sprintf("%s:%d:%d", plain.Label(t.File), line, column)
	if made, text := t.madeOf(line); made != "" {
		x.Place, x.Line = plain.Line(made), plain.Line(text)
	}
	return x
}

// madeOf is the place that a line of PTX was made of, by the excerpt that the text of a program is.
func (t *Test) madeOf(line int) (place, text string) {
	if t.Origin == "" {
		return "", ""
	}
	begin := fmt.Sprintf("%d: ", line)
	for s := range strings.Lines(t.Text) {
		s = strings.TrimSuffix(s, "\n")
		if made, ok := strings.CutPrefix(s, "// "); ok {
			place, text, _ = strings.Cut(made, ": ")
		} else if strings.HasPrefix(s, begin) {
			break
		}
	}
	if file, n, ok := strings.Cut(place, ":"); ok && file == filepath.Base(t.Origin) {
		place = t.Origin + ":" + n
	}
	return place, text
}

// sentence says in a line what was found, and where its author finds it.
func sentence(t *Test, f *Finding) string {
	x := t.Tell(f)
	if x.Place == "" || t.Dialect != Program {
		return f.Rule + ": " + x.Text
	}
	return x.Place + ": " + f.Rule + ": " + x.Text
}

// writeFindings tells what was found in a test: the line of its author first, then the instruction.
func writeFindings(b *bufio.Writer, t *Test, list []Finding, what string) {
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
func writePrograms(b *bufio.Writer, r *Run, o TextOptions) {
	var sum Matched
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

// parts tells for which targets which PTX is, of files of which a front end made other PTX for other targets.
func parts(tests []Test) (lines []string) {
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
func writeProgramNotes(b *bufio.Writer, r *Run) {
	tests := map[[2]string]*Test{}
	for i := range r.Tests {
		tests[[2]string{r.Tests[i].Name, r.Tests[i].Hash}] = &r.Tests[i]
	}
	var order []string
	cells := map[string][]*Cell{}
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
	cells                         map[string][]*Cell
}

func (x *executions) add(c *Cell, notes bool) {
	e := c.Executed
	if e == nil {
		return
	}
	if e.Proved {
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
		x.cells = map[string][]*Cell{}
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
		fmt.Fprintf(b, ", %s%s runs each, in the median %.0f %% of the PTX, %.0f %% of the machine code",
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
