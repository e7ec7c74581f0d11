package report

import (
	"fmt"
	"strings"
)

// Incomplete says why a run has not done all that it set out to do, "" if it
// has. A report for machines must not look good only because cells are missing.
func (r *Run) Incomplete() string {
	switch {
	case r.Stats != nil && r.Stats.Interrupted:
		return fmt.Sprintf("the run was interrupted: %d of %d cells were done", len(r.Cells), max(r.Config.Cells, len(r.Cells)))
	case len(r.Cells) < r.Config.Cells:
		return fmt.Sprintf("the run is incomplete: %d of %d cells are there", len(r.Cells), r.Config.Cells)
	}
	for i := range r.Histograms {
		if r.Histograms[i].Status == StatusInterrupted {
			return "the run on the device was interrupted"
		}
	}
	return ""
}

// String writes a problem in a line.
func (p Problem) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{p.Kind, p.Toolchain, p.Target, p.Level}, " ")), " ") + ": " + p.Detail
}
