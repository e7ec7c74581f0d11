package report

import (
	"fmt"
	"strings"

	"optcheck/internal/plain"
)

// Incomplete says why a run has not done all that it set out to do, "" if it
// has. A report for machines must not look good only because cells are missing.
func (r *Run) Incomplete() string {
	return incomplete(&r.Config, r.Stats, r.Len(), r.Histograms)
}

// Incomplete returns Run.Incomplete for a set. A set of several runs is closed before.
func (s *Set) Incomplete() string {
	return incomplete(&s.Config, s.Stats, len(s.Cells), s.Histograms)
}

// Mixed says what the runs of a set do not have in common that decides results.
func (s *Set) Mixed() []string { return mixed(s.Problems) }

func mixed(problems []Problem) (out []string) {
	for _, p := range problems {
		if p.Kind == KindMixed {
			out = append(out, p.Detail)
		}
	}
	return out
}

func incomplete(c *Config, stats *Stats, cells int, hists []Histogram) string {
	switch {
	case stats != nil && stats.Interrupted && c.OnDevice != nil && cells == 0:
		return "the run on the device was interrupted"
	case stats != nil && stats.Interrupted:
		return fmt.Sprintf("the run was interrupted: %d of %s %s done", cells, plain.Count(max(c.Cells, cells), "cell"),
			plain.Form(cells, "was", "were"))
	case cells < c.Cells:
		return fmt.Sprintf("the run is incomplete: %d of %s %s there", cells, plain.Count(c.Cells, "cell"), plain.Form(cells, "is", "are"))
	}
	if c.OnDevice != nil && stats == nil {
		return "the run on the device did not come to its end"
	}
	for i := range hists {
		if hists[i].Status == StatusInterrupted {
			return "the run on the device was interrupted"
		}
	}
	return ""
}

// String writes a problem in a line.
func (p Problem) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{p.Kind, p.Toolchain, p.Target, p.Level}, " ")), " ") + ": " + p.Detail
}
