package realcode

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/model"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/report"
)

// Statement says what a comparison claims, and what it does not, if kernels are executed on so many inputs.
func Statement(runs int) string {
	if runs == 0 {
		return fmt.Sprintf(statement, "", "", "")
	}
	return fmt.Sprintf(statement, ";\nand each operation that writes memory was performed by a run of both that was compared",
		"; or both were executed on an\ninput, and do different things",
		fmt.Sprintf(", but\non %s or more, as far as kernels could be executed", plain.Count(runs, "input")))
}

const statement = `What is claimed: a finding is an operation of the PTX without its counterpart, one that is less than its
instruction, or a path through the machine code's control flow on which two operations stand in an order, or one stands as
often, as on no path through the PTX. Of what is preserved, every synchronising operation was found, or a note says why it
needs no instruction; and for each pair whose order the model may require every path through the machine code is one of the PTX%s.
What is miscompiled: the model forbids an outcome of a litmus test of the finding's operations and a partner made for them, and
allows it with what the machine code has in their place%s.
What is not claimed: a finding without such a test is no verdict, and with one none of the whole program: whether it has such a
partner nobody has said. Not compared: which iteration of a loop an access belongs to; what is read and written%s; paths that exist only
if conditions have nothing to do with each other; calls that are elsewhere; pairs of which an operation has no image.`

// Report gathers cells for people.
type Report struct {
	Notes      bool   // also notes
	Incomplete string // why cells are not there
	Execute    int    // on how many inputs kernels were executed
	// Made tells of files of PTX for which targets a front end made them, where it made
	// other PTX for others.
	Made []string
	// All lists every finding, not the first ten; Claims adds what is claimed, and what is not.
	All, Claims bool
	// Origins are the texts that files of PTX were made of, by the names of these.
	Origins map[string]Origin
	// Itself are, by kernel, what was found out of the program itself.
	Itself []string
	cells  []*Cell
}

// Add takes a cell over.
func (r *Report) Add(c *Cell) { r.cells = append(r.cells, c) }

// Write prints a summary, the findings, each with the cells that have it, and what was compared.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	n, total := map[string]int{}, Count{}
	for _, c := range r.cells {
		n[c.Class]++
		if c.Result != nil {
			total.add(c.Result.Count)
		}
	}
	fmt.Fprintf(&b, "%s:", plain.Count(len(r.cells), "cell"))
	for i, class := range []string{Preserved, Changed, Miscompiled, Unknown, Unsupported} {
		fmt.Fprintf(&b, "%s %d %s", map[bool]string{true: ",", false: ""}[i > 0], n[class], class)
	}
	for _, class := range []string{Crashed, Invalid} {
		if n[class] > 0 {
			fmt.Fprintf(&b, ", %d %s", n[class], class)
		}
	}
	b.WriteByte('\n')
	r.limits(&b)
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "NOT ALL WAS DONE: %s\n", r.Incomplete)
	}
	r.findings(&b, "", func(res *Result) []Finding { return res.Findings })
	r.findings(&b, "unknown: ", func(res *Result) []Finding { return res.Unknown })
	if r.Notes {
		r.findings(&b, "note: ", func(res *Result) []Finding { return res.Notes })
	}
	r.known(&b)
	r.executed(&b)
	r.failures(&b)
	r.lowered(&b)
	for _, made := range r.Made {
		fmt.Fprintln(&b, made)
	}
	for _, s := range r.Itself {
		fmt.Fprintf(&b, "the program itself: %s\n", plain.Line(s))
	}
	fmt.Fprintf(&b, "compared: %d of %d synchronising and strong operations, %d of %d others, %d ordered pairs\n",
		total.StrongFound, total.Strong, total.WeakFound, total.Weak, total.Pairs)
	if total.Open > 0 {
		fmt.Fprintf(&b, "not compared: %s of which one operation has no counterpart\n", plain.Count(total.Open, "pair"))
	}
	if total.Registers > 0 {
		fmt.Fprintf(&b, "control codes: %d dependencies over registers\n", total.Registers)
	}
	if r.Claims {
		fmt.Fprintln(&b, Statement(r.Execute))
	} else {
		fmt.Fprintln(&b, report.ClaimsNote)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// limits says what the preserved cells are not about, those of which the same is true at once.
func (r *Report) limits(b *strings.Builder) {
	var keys []string
	n := map[string]int{}
	for _, c := range r.cells {
		if c.Class != Preserved || c.Result == nil {
			continue
		}
		if key := c.Result.Count.Limits(); key != "" {
			if n[key]++; n[key] == 1 {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys[:min(len(keys), maxLimits)] {
		fmt.Fprintf(b, "  of %d preserved: %s\n", n[key], key)
	}
	if more := len(keys) - maxLimits; more > 0 {
		fmt.Fprintf(b, "  and of others: operations without an instruction (%d more kinds)\n", more)
	}
}

// maxLimits bounds the lines on what preserved cells are not about.
const maxLimits = 8

// Nothing is why no cell was compiled, "" if one was.
func (r *Report) Nothing() (why string) {
	for _, c := range r.cells {
		if c.Class != Unsupported && c.Class != Invalid {
			return ""
		}
		why = cmp.Or(why, c.Reason)
	}
	return why
}

// known says how it is known what the machine code does.
func (r *Report) known(b *strings.Builder) {
	var runs []int
	var source, machine []float64
	kernels := 0
	for _, c := range r.cells {
		if c.Result == nil {
			continue
		}
		for i := range c.Result.Executed {
			x := &c.Result.Executed[i]
			if kernels++; x.Why != "" {
				continue
			}
			runs = append(runs, x.Runs+x.Cut)
			source, machine = append(source, x.Source.Share()), append(machine, x.Machine.Share())
		}
	}
	if kernels == 0 {
		return
	}
	fmt.Fprintf(b, "executed: %d of %s", len(runs), plain.Count(kernels, "kernel"))
	if len(runs) > 0 {
		slices.Sort(runs)
		slices.Sort(source)
		slices.Sort(machine)
		n := len(runs)
		fmt.Fprintf(b, " (%d to %d runs each; median %.0f %% of the PTX, %.0f %% of the machine instructions), orders on all paths",
			runs[0], runs[n-1], 100*source[n/2], 100*machine[n/2])
	}
	b.WriteByte('\n')
}

// executed tells which kernels were not executed, and with notes how much of each other one was, in the cells that say the
// same at once.
func (r *Report) executed(b *strings.Builder) {
	var keys []string
	cells := map[string][]string{}
	for _, c := range r.cells {
		if c.Result == nil {
			continue
		}
		for i := range c.Result.Executed {
			x := &c.Result.Executed[i]
			if x.Why == "" && !r.Notes {
				continue
			}
			key := fmt.Sprintf("%s: %s: %s", plain.Line(c.File), plain.Line(plain.Demangled(x.Kernel)), x.Known())
			if cells[key] == nil {
				keys = append(keys, key)
			}
			cells[key] = append(cells[key], c.where())
		}
	}
	for _, k := range r.bounded(b, keys) {
		fmt.Fprintf(b, "%s\n    %s\n", k, ranges(cells[k]))
	}
}

// maxListed bounds lists of what is the same of many files, unless notes are asked for.
const maxListed = 4

// bounded are the first of a list, and says how many more there are.
func (r *Report) bounded(b *strings.Builder, list []string) []string {
	if n := len(list) - maxListed; n > 0 && !r.Notes {
		fmt.Fprintf(b, "%d of %d are told, --notes tells all:\n", maxListed, len(list))
		return list[:maxListed]
	}
	return list
}

// failures tells of the cells that have no result, those with one reason at once.
func (r *Report) failures(b *strings.Builder) {
	var keys []string
	cells := map[string][]string{}
	for _, c := range r.cells {
		if c.Result != nil {
			continue
		}
		key := plain.Line(c.File) + "\x00" + c.Class + ": " + c.why()
		if cells[key] == nil {
			keys = append(keys, key)
		}
		cells[key] = append(cells[key], c.where())
	}
	for _, k := range keys {
		file, why, _ := strings.Cut(k, "\x00")
		fmt.Fprintf(b, "%s: %s: %s\n", file, ranges(cells[k]), why)
	}
}

// why is why a cell has no result.
func (c *Cell) why() string {
	if c.Crash != nil {
		return c.Crash.Full()
	}
	return c.Reason
}

func (c *Cell) where() string { return fmt.Sprintf("%s %s %s", c.Toolchain, c.Target, c.Level) }

// lowered tells which files were compiled as an older version of PTX than theirs.
func (r *Report) lowered(b *strings.Builder) {
	var list []string
	for _, c := range r.cells {
		if c.CompiledAs != "" {
			list = append(list, fmt.Sprintf("%s: %s compiled it as PTX %s, the newest that it knows", plain.Line(c.File), c.Toolchain, c.CompiledAs))
		}
	}
	for _, line := range r.bounded(b, pipeline.Once(list)) {
		fmt.Fprintln(b, line)
	}
}

// told is a finding with the cells that have it.
type told struct {
	*Finding
	file  string
	cells []string
	next  string // the command line with which a reader goes on
}

// next is the command line with which a reader goes on from a finding.
func (r *Report) next(c *Cell, f *Finding) string {
	t := report.Test{Name: c.File, File: cmp.Or(r.Origins[c.File].File, c.File), Dialect: report.Program}
	cell := report.Cell{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level}
	cell.Class, cell.Findings = c.Class, []report.Finding{{Rule: string(f.Rule), Access: -1}}
	if f.First != nil {
		t.Lines, cell.Findings[0].Access = [][]int{{f.First.Pos.Line}}, 0
	}
	return report.Next(&report.Config{}, &t, &cell)
}

// findings prints each finding once, with the cells that have it: what is miscompiled first.
func (r *Report) findings(b *strings.Builder, what string, of func(*Result) []Finding) {
	var list []*told
	groups := map[string]*told{}
	for _, c := range r.cells {
		if c.Result == nil {
			continue
		}
		seen := map[string]bool{}
		for i, all := 0, of(c.Result); i < len(all); i++ {
			f := &all[i]
			key := plain.Line(c.File) + "\n" + f.at() + f.headline()
			if f.Verdict != nil {
				key += "\n" + f.Verdict.claim()
			}
			if seen[key] {
				continue
			}
			seen[key] = true
			g := groups[key]
			if g == nil {
				g = &told{Finding: f, file: c.File}
				groups[key] = g
				list = append(list, g)
			}
			g.cells = append(g.cells, c.where())
			if g.next == "" {
				g.next = r.next(c, f)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y *told) int { return cmp.Compare(x.rank(), y.rank()) })
	shown := list
	if len(list) > report.MaxTold && !r.All {
		shown = list[:report.MaxTold]
	}
	for _, g := range shown {
		r.finding(b, g, what)
	}
	if more := len(list) - len(shown); more > 0 {
		fmt.Fprintf(b, "and %d more of %d: --cells lists all, --html FOLDER shows them\n", more, len(list))
	}
}

// rank sorts what a model or an execution calls miscompiled before the rest.
func (f *Finding) rank() int {
	if f.Execution != nil || f.Hazard != "" || f.Verdict != nil && f.Verdict.Class == Miscompiled {
		return 0
	}
	return 1
}

// finding prints one finding: the line that its author wrote comes first, if it is known.
func (r *Report) finding(b *strings.Builder, g *told, what string) {
	file := plain.Line(g.file)
	if at := g.First; at != nil && at.Made.Line > 0 {
		name, line := r.made(g.file, at.Made)
		fmt.Fprintf(b, "%s:%d: %s%s\n", plain.Line(name), at.Made.Line, what, g.headline())
		if line != "" {
			fmt.Fprintf(b, "    %d | %s\n", at.Made.Line, plain.Line(line))
		}
		fmt.Fprintf(b, "    PTX: %s:%d:%d\n", file, at.Pos.Line, at.Pos.Col)
	} else {
		fmt.Fprintf(b, "%s:%s%s\n", file, g.at(), what+g.headline())
	}
	for _, c := range g.Code {
		fmt.Fprintf(b, "    %s+%#x: %s\n", plain.Demangled(c.Func), c.Addr, c.Text)
	}
	switch {
	case g.Execution != nil && g.Execution.Early != nil:
		fmt.Fprintf(b, "    %s: executed with what the register may hold, the machine code does something else than the PTX\n", Miscompiled)
	case g.Execution != nil:
		fmt.Fprintf(b, "    %s: executed on the same input, the PTX and the machine code do different things\n", Miscompiled)
	case g.Hazard != "":
		fmt.Fprintf(b, "    %s: the content of a register is not what the code computes\n", Miscompiled)
	}
	if v := g.Verdict; v != nil {
		fmt.Fprintf(b, "    %s: %s: %s\n", v.Class, v.Pattern, v.claim())
		for _, e := range v.Events {
			fmt.Fprintf(b, "      %s\n", e)
		}
	} else if g.NoTest != "" {
		fmt.Fprintf(b, "    no test: %s\n", g.NoTest)
	}
	fmt.Fprintf(b, "    %s\n", ranges(g.cells))
	if what == "" && g.next != "" {
		fmt.Fprintf(b, "    next: %s\n", plain.Line(g.next))
	}
}

// made is the file that a place is in, as its reader knows it, and its line.
func (r *Report) made(module string, at ptx.Loc) (file, line string) {
	o := r.Origins[module]
	if o.File == "" || filepath.Base(o.File) != filepath.Base(at.File) {
		return at.File, ""
	}
	if lines := strings.Split(o.Text, "\n"); at.Line <= len(lines) {
		line = strings.TrimSpace(lines[at.Line-1])
	}
	return o.File, cut(line, maxText)
}

// claim says what the model says of the two tests.
func (v *Verdict) claim() string {
	does := "does not allow it either"
	if v.Class == Miscompiled {
		does = "allows it"
	}
	if v.Undefined != "" {
		does = "has " + v.Undefined
		if v.Bytes != "" {
			does += fmt.Sprintf("; if accesses of different sizes synchronise (%s), the model %s it", model.BytesModel, v.Bytes)
		}
	}
	why := ", for no execution has it"
	if v.Check != "" {
		why = fmt.Sprintf(" by %s (%s)", v.Check, v.Cycle)
	}
	return fmt.Sprintf("the model %s forbids %s%s; the machine code %s", v.Model, v.Outcome, why, does)
}

// at is the place of a finding, with a colon and a blank behind it.
func (f *Finding) at() string {
	if f.First == nil {
		return " "
	}
	return fmt.Sprintf("%d:%d: ", f.First.Pos.Line, f.First.Pos.Col)
}

// headline is a finding in a line.
func (f *Finding) headline() string {
	s := string(f.Rule) + ": " + plain.Demangled(f.Kernel) + ": "
	if f.First != nil {
		s += f.First.Text + ": "
	}
	if f.Second != nil {
		s += fmt.Sprintf("and %d:%d %s: ", f.Second.Pos.Line, f.Second.Pos.Col, f.Second.Text)
	}
	return s + f.Detail
}

// ranges lists cells: those of one release and target in one word.
func ranges(cells []string) string {
	var out []string
	for _, c := range pipeline.Once(cells) { // parts of a file have one name
		i := strings.LastIndexByte(c, ' ')
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], c[:i+1]) {
			out[n-1] += "," + c[i+1:]
			continue
		}
		out = append(out, c)
	}
	return strings.Join(out, "; ")
}
