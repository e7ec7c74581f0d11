package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/optcheck"
)

// The rules of cells that are Crashed.
var RuleCrash, RuleHang = optcheck.Crash.ID, optcheck.Hang.ID

// CrashKey identifies the crash that a finding is of: what the compiler said, and where it was.
func (f *Finding) CrashKey() string { return f.Rule + "\x00" + f.Detail + "\x00" + f.At }

// Full is the detail of a finding, of a crash with its place.
func (f *Finding) Full() string {
	if f.At == "" {
		return f.Detail
	}
	return f.Detail + ", at " + f.At
}

// Text says what a finding is in one line: its detail, and where it arose.
func (f *Finding) Text() string { return fmt.Sprintf("T%d %s%s", f.Thread, f.Full(), arose(f.Stage)) }

// Crash is one fault of a compiler, in whichever tests and cells it shows.
type Crash struct {
	Finding
	Tests []string // whose kernels it shows in, each once
	Cells []*Cell
	Known []string // IDs of known findings, of the first cell
}

// Crashes lists the crashes and hangs of a run in the order of its cells: those at which a
// compiler says the same at the same place are one.
func (r *Run) Crashes() (list []*Crash) {
	by := map[string]*Crash{}
	for _, c := range r.All() {
		if c.Class != Crashed || len(c.Findings) == 0 {
			continue
		}
		f := c.Findings[0]
		x := by[f.CrashKey()]
		if x == nil {
			x = &Crash{Finding: f, Known: c.Known}
			by[f.CrashKey()], list = x, append(list, x)
		}
		own := *c
		x.Cells = append(x.Cells, &own)
		if !slices.Contains(x.Tests, c.Test) {
			x.Tests = append(x.Tests, c.Test)
		}
	}
	return list
}

// writeCrashes lists the crashes of a run.
func writeCrashes(w io.Writer, r *Run) {
	list := r.Crashes()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d distinct %s of compilers:\n", len(list), plain.Form(len(list), "crash or hang", "crashes and hangs"))
	for _, x := range list {
		fmt.Fprintf(w, "  %s: %s: %s of %s, first %s in %s\n", x.Rule, x.Full(), plain.Count(len(x.Cells), "cell"),
			plain.Count(len(x.Tests), "test"), plain.Label(x.Tests[0]), strings.Join(whereShort(x.Cells[:1]), ""))
	}
}
