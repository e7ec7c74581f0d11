package event

import (
	"cmp"
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

// Mixed returns Set.Mixed for a run.
func (r *Run) Mixed() []string { return mixed(r.Problems) }

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

// Broken says what of a run's input could not be taken, "" if all was: files that could not be read,
// and those that no compiler takes for a reason in them.
func (r *Run) Broken() string {
	var out []string
	files, first := 0, ""
	for _, p := range r.Problems {
		if p.Kind == ProblemInput {
			files, first = files+1, cmp.Or(first, p.Detail)
		}
	}
	if files > 0 {
		out = append(out, fmt.Sprintf("%s could not be read: %s", plain.Count(files, "file"), first))
	}
	cells, first := 0, ""
	for _, c := range r.All() {
		if c.Class == Invalid {
			cells, first = cells+1, cmp.Or(first, c.Reason)
		}
	}
	if cells > 0 {
		out = append(out, fmt.Sprintf("%s %s invalid: %s", plain.Count(cells, "cell"), plain.Form(cells, "is", "are"), first))
	}
	return strings.Join(out, "; ")
}

// Undecided says which cells of a run could not be decided, "" if that is accepted: of known ones, and of
// at most AllowUnknown others.
func (r *Run) Undecided() string {
	n, first := 0, ""
	for _, c := range r.All() {
		if c.Class == Unknown && len(c.Known) == 0 {
			n, first = n+1, cmp.Or(first, c.WhyUndecided())
		}
	}
	if n <= r.AllowUnknown {
		return ""
	}
	return fmt.Sprintf("%s could not be decided: %s", plain.Count(n, "cell"), first)
}

// Undone says why not all that was asked for is done, "" if it is.
func (r *Run) Undone() string {
	return cmp.Or(r.Broken(), r.Incomplete(), r.Undecided())
}

// String writes a problem in a line.
func (p Problem) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{p.Kind, p.Toolchain, p.Target, p.Level}, " ")), " ") + ": " + p.Detail
}

// Undecided is the rule of cells that could not be judged.
const Undecided = "undecided"

// WhyUndecided is why a cell was not judged.
func (c *Cell) WhyUndecided() string {
	switch {
	case c.Reason != "":
		return c.Reason
	case c.HasFindings():
		return "called " + c.Class + " without a finding"
	}
	return "no reason is given"
}
