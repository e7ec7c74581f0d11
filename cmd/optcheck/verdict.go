package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// gate is what makes the exit code of a command that reports on cells.
type gate struct {
	fail         event.FailOn
	allowUnknown int // cells that may be undecided
}

// choose tells a run what its reader chose.
func (g gate) choose(r *event.Run) { r.FailOn, r.AllowUnknown = g.fail, g.allowUnknown }

// gate returns what --fail-on and --allow-unknown ask for.
func (s *settings) gate() (gate, error) {
	fail, err := s.fail()
	if s.allowUnknown < 0 {
		err = errors.Join(err, fmt.Errorf("--allow-unknown %d: how many cells may be undecided, 0 or more", s.allowUnknown))
	}
	return gate{fail, s.allowUnknown}, err
}

// shown is the verdict on a run that is only shown: that not all of it was done is an error where
// somebody asks whether there is nothing.
func (g gate) shown(r *event.Run) error {
	g.choose(r)
	if why := onlyFailures(r); why != "" {
		return fmt.Errorf("no cell could be decided: %s", why)
	}
	if g.hit(r, r.Undecided() != "") {
		return errFound
	}
	if why := cmp.Or(r.Broken(), r.Incomplete()); why != "" && g.fail.Names(event.Unknown) {
		return fmt.Errorf("%s, so that --fail-on %s cannot say that there is nothing", why, g.fail)
	}
	return nil
}

// done is the verdict on a run that was to be done: what was asked for is broken, then something was
// found, then not all was done.
func (g gate) done(r *event.Run) error {
	g.choose(r)
	undecided := r.Undecided()
	switch why := cmp.Or(nothing(r), onlyFailures(r)); {
	case why != "":
		return fmt.Errorf("no cell could be decided: %s", why)
	case r.Broken() != "":
		return errors.New(r.Broken())
	case g.hit(r, undecided != ""):
		return errFound
	case r.Incomplete() != "":
		return errors.New(r.Incomplete())
	case undecided != "":
		return fmt.Errorf("%s (--allow-unknown N accepts N such cells, and so does a known finding of the rule %s)", undecided, event.Undecided)
	}
	return nil
}

// one is the verdict on a single cell.
func (g gate) one(c event.Result) error {
	return g.done(&event.Run{Cells: []event.Cell{{Result: c}}})
}

// hit reports whether a run has cells that --fail-on counts.
func (g gate) hit(r *event.Run, undecided bool) bool {
	if undecided && g.fail.Names(event.Unknown) {
		return true
	}
	for _, c := range r.All() {
		if g.fail.Counts(c) {
			return true
		}
	}
	return r.Classes()[event.Crashed] == 0 && looseCrash(r) && g.fail.Names(event.Crashed)
}

// looseCrash reports whether a compiler crashed at something that has no cell.
func looseCrash(r *event.Run) bool {
	for _, p := range r.Problems {
		if p.Kind == event.ProblemCrash {
			return true
		}
	}
	return false
}

// onlyFailures is why nothing was decided if tools failed wherever something
// might have been; otherwise "".
func onlyFailures(r *event.Run) (why string) {
	for _, c := range r.All() {
		switch {
		case c.Class == event.Unsupported:
		case !event.Transient(&c.Result):
			return ""
		case why == "":
			why = c.Reason
		}
	}
	return why
}

// nothing is why nothing at all was decided, "" if something was.
func nothing(r *event.Run) (why string) {
	for _, c := range r.All() {
		switch c.Class {
		case event.Unsupported, event.Invalid:
			why = cmp.Or(why, c.Reason, c.Class)
		case event.Unknown:
			return "" // which is told with its number
		default:
			return ""
		}
	}
	if why == "" && len(r.Problems) > 0 && r.Len() == 0 {
		why = r.Problems[0].Detail
	}
	return why
}

// lackingFiles is which files nothing could be decided of, "" if there are none.
func lackingFiles(r *event.Run) string {
	file := map[[2]string]string{}
	for i := range r.Tests {
		t := &r.Tests[i]
		name := t.File
		if cuda, _, ok := strings.Cut(name, ".cu@"); ok { // PTX that a front end made
			name = cuda + ".cu"
		}
		file[[2]string{t.Name, t.Hash}] = name
	}
	tried, why := map[string]bool{}, map[string]string{}
	var order []string
	for _, c := range r.All() {
		f := file[[2]string{c.Test, c.Hash}]
		if c.Class != event.Unsupported {
			tried[f] = true
		} else if _, seen := why[f]; !seen {
			why[f], order = c.Reason, append(order, f)
		}
	}
	n, first := 0, ""
	for _, f := range order {
		if !tried[f] {
			n, first = n+1, cmp.Or(first, f+": "+why[f])
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s supported in no cell: %s", plain.Count(n, "file")+plain.Form(n, " is", " are"), first)
}
