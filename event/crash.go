package event

import (
	"slices"

	"optcheck/optcheck"
)

// The rules of cells that are Crashed.
var RuleCrash, RuleHang = optcheck.Crash.ID, optcheck.Hang.ID

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
