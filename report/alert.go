package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/optcheck"
)

// alert is one finding as reports for machines show it: a rule broken at one
// place of one test, with all the cells that have it. Cells that differ in
// class or in the stage of the compiler are different alerts. A cell that could
// not be decided belongs to the alert of its test with the rule undecided.
type alert struct {
	Finding
	test, hash string
	class      string
	// cells are those that have the finding. If some of them are new, only
	// those; else known lists the known findings that they are instances of.
	cells   []*Cell
	known   []string
	old     []*Cell      // the known cells beside new ones
	reasons []string     // of undecided cells, each once
	runs    []*Histogram // instead of cells: what devices did
}

// The rules of alerts that are no rules of the checker.
const (
	ruleUndecided = "undecided"         // the machine code could not be judged
	ruleForbidden = "forbidden-outcome" // a device showed what the model forbids
	ruleCompiled  = "compiled-outcome"  // a device showed what the test forbids and its machine code allows
	ruleRunFailed = "run-failed"        // a device gave no result
)

// ownRules describes them in the form of the checker's rules.
var ownRules = []*optcheck.Rule{
	{ID: ruleUndecided, Title: "it could not be decided whether the machine code is the test",
		Explain: `The compiler or the disassembler failed, or the machine code has something that the
checker does not understand. Nothing is known of these cells; they are never good.`},
	{ID: ruleForbidden, Title: "a device showed an outcome that the memory model forbids",
		Explain: `The machine code was shown to be the test, and a run on a device ended in a state that
the model forbids, or the machine code is known not to be the test, and the model forbids
the state for it as well. Either the model is too strong for the device, or the device is wrong.`},
	{ID: ruleCompiled, Title: "a device showed an outcome that the test forbids and its machine code allows",
		Explain: `The machine code is not the test, and a run on a device ended in a state that the model
forbids for the test and allows for the machine code: the compiler has made it possible.`},
	{ID: ruleRunFailed, Title: "a run on a device failed",
		Explain: `The device hung or failed, so that the run says nothing of what was not seen.`},
}

// alertRule returns the rule of an ID; one that this version does not know
// (of a stream by another version) has no explanation.
func alertRule(id string) *optcheck.Rule {
	if r, ok := optcheck.LookupRule(id); ok {
		return r
	}
	for _, r := range ownRules {
		if r.ID == id {
			return r
		}
	}
	return &optcheck.Rule{ID: id, Title: "a rule that this version does not know: " + id}
}

// severity orders classes for reports: 3 is an error, 2 a warning, 1 a note, 0
// nothing to report. A class that is not known is a warning.
func severity(class string) int {
	switch class {
	case Miscompiled:
		return 3
	case Preserved, Unsupported:
		return 0
	case Optimised:
		return 1
	}
	return 2
}

// rank orders classes of equal severity.
func rank(class string) int {
	return slices.Index([]string{Optimised, Unknown, Changed, Miscompiled}, class)
}

type alertKey struct {
	test, hash, class, rule, stage string
	thread, access                 int
}

// alerts lists the alerts of a run, worst first: by class, new ones before
// known ones, tests without a data race before others, then by test, rule and place.
func (r *Run) alerts() []*alert {
	by := map[alertKey]*alert{}
	var list []*alert
	for _, c := range r.All() {
		if severity(c.Class) == 0 {
			continue
		}
		kept := *c
		c := &kept
		key := alertKey{test: c.Test, hash: c.Hash, class: c.Class}
		add := func(f Finding) *alert {
			key.rule, key.stage, key.thread, key.access = f.Rule, f.Stage, f.Thread, f.Access
			a := by[key]
			if a == nil {
				a = &alert{Finding: f, test: c.Test, hash: c.Hash, class: c.Class}
				by[key] = a
				list = append(list, a)
			}
			a.add(c, f)
			return a
		}
		if !c.HasFindings() || len(c.Findings) == 0 {
			add(Finding{Rule: ruleUndecided, Thread: -1, Access: -1}).undecided(c)
			continue
		}
		for _, f := range c.Findings {
			add(f)
		}
	}
	for _, a := range list {
		if len(a.cells) == 0 {
			a.cells, a.old = a.old, nil
			for _, c := range a.cells {
				a.known = append(a.known, c.Known...)
			}
			slices.Sort(a.known)
			a.known = slices.Compact(a.known)
		}
	}
	list = append(list, r.deviceAlerts()...)
	slices.SortStableFunc(list, compareAlerts)
	return list
}

func compareAlerts(a, b *alert) int {
	return cmp.Or(
		cmp.Compare(severity(b.class), severity(a.class)), cmp.Compare(rank(b.class), rank(a.class)),
		cmp.Compare(len(a.known), len(b.known)), cmp.Compare(a.raceRank(), b.raceRank()), cmp.Compare(a.test, b.test), cmp.Compare(a.hash, b.hash),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Access, b.Access),
		cmp.Compare(a.Stage, b.Stage))
}

// add adds a cell. The text of the finding is that of the first cell that is
// shown.
func (a *alert) add(c *Cell, f Finding) {
	to := &a.cells
	if len(c.Known) > 0 {
		to = &a.old
	} else if len(a.cells) == 0 {
		a.Finding = f
	}
	if n := len(*to); n == 0 || (*to)[n-1] != c { // a rule may be broken twice at one place
		*to = append(*to, c)
	}
}

// verdict is what a model says of the first cell, nil if none was asked.
func (a *alert) verdict() *Verdict {
	if len(a.cells) == 0 {
		return nil
	}
	return a.cells[0].Verdict
}

// raced is the verdict of a cell that says whether the test has a data race: models of old
// targets do not know what one is. It is nil if nobody was asked.
func (a *alert) raced() *Verdict {
	for _, c := range a.cells {
		if w := c.RaceWord(); w == WordRaceFree || w == WordDataRace {
			return c.Verdict
		}
	}
	return a.verdict()
}

func (a *alert) raceRank() int {
	r := Result{Verdict: a.raced()}
	return r.RaceRank()
}

// undecided notes why a cell was not judged.
func (a *alert) undecided(c *Cell) {
	reason := c.Reason
	if reason == "" {
		reason = "no reason is given"
		if c.HasFindings() {
			reason = "called " + c.Class + " without a finding"
		}
	}
	if !slices.Contains(a.reasons, reason) {
		a.reasons = append(a.reasons, reason)
	}
}

// deviceAlerts lists what devices did that nobody expects.
func (r *Run) deviceAlerts() []*alert {
	by := map[[2]string]*alert{}
	var list []*alert
	add := func(h *Histogram, rule, class, reason string) {
		k := [2]string{h.Test + "\x00" + h.Hash, rule}
		a := by[k]
		if a == nil {
			a = &alert{Finding: Finding{Rule: rule, Thread: -1, Access: -1}, test: h.Test, hash: h.Hash, class: class}
			by[k] = a
			list = append(list, a)
		}
		if !slices.Contains(a.reasons, reason) {
			a.reasons = append(a.reasons, reason)
		}
		if n := len(a.runs); n == 0 || a.runs[n-1] != h {
			a.runs = append(a.runs, h)
		}
	}
	for i := range r.Histograms {
		h := &r.Histograms[i]
		for _, o := range h.Outcomes {
			switch {
			case o.ByHardware():
				add(h, ruleForbidden, Miscompiled, fmt.Sprintf("%s %s", h.StateText(o), o.Effect))
			case o.ByCompiler():
				add(h, ruleCompiled, Miscompiled, fmt.Sprintf("%s %s", h.StateText(o), o.Effect))
			}
		}
		if h.failed() {
			add(h, ruleRunFailed, Unknown, firstOf(strings.TrimSuffix(h.Status+": "+h.Detail, ": ")))
		}
	}
	return list
}

// failed reports whether a run says nothing of what was not seen although it
// should. A run that was refused or is not supported was never begun.
func (h *Histogram) failed() bool {
	switch h.Status {
	case StatusDone, StatusInterrupted, StatusRefused, StatusUnsupported:
		return false
	}
	return true
}

// text says in one or a few lines what was found.
func (a *alert) text() string {
	var b strings.Builder
	if a.class == Miscompiled || a.class == Optimised || a.class == Changed {
		if a.Rule != ruleForbidden && a.Rule != ruleCompiled {
			fmt.Fprintf(&b, "%s, ", a.class)
		}
	}
	fmt.Fprintf(&b, "%s: ", a.Rule)
	if len(a.reasons) > 0 {
		fmt.Fprint(&b, strings.Join(a.reasons[:min(len(a.reasons), maxOutcomes)], "; "))
		if n := len(a.reasons) - maxOutcomes; n > 0 {
			fmt.Fprintf(&b, "; and %s", plain.Count(n, "more reason"))
		}
	} else {
		fmt.Fprintf(&b, "T%d %s%s", a.Thread, a.Detail, arose(a.Stage))
	}
	if v := a.verdict(); v != nil && len(v.New) > 0 {
		fmt.Fprintf(&b, "\nThe machine code allows %s", v.New[0])
		if n := len(v.New) - 1; n > 0 {
			fmt.Fprintf(&b, " and %s", plain.Count(n, "more new outcome"))
		}
		if v.Check != "" {
			fmt.Fprintf(&b, ", which model %s forbids in the test by %s: %s", v.Model, v.Check, v.Cycle)
		}
	}
	if v := a.raced(); v != nil && v.RaceText() != "" {
		fmt.Fprintf(&b, "\n%s", v.RaceSentence())
	}
	if len(a.cells) > 0 {
		fmt.Fprintf(&b, "\nIn %s", strings.Join(whereShort(a.cells), "; "))
	}
	if len(a.known) > 0 {
		fmt.Fprintf(&b, "\nKnown: %s", strings.Join(a.known, ", "))
	}
	for _, h := range a.runs[:min(len(a.runs), maxOutcomes)] {
		fmt.Fprintf(&b, "\nOn %s, setting %s, seed %d: %s", h.Device.Name, h.Setting, h.Seed, plain.Count(h.Instances, "instance"))
	}
	return b.String()
}

// maxPlaces bounds the places named in a message.
const maxPlaces = 6

// whereShort says in which cells an alert lies, in few words.
func whereShort(cells []*Cell) []string {
	var out []string
	places := Places(cells)
	for _, p := range places[:min(len(places), maxPlaces)] {
		out = append(out, p.String())
	}
	if n := len(places) - maxPlaces; n > 0 {
		out = append(out, "and "+plain.Count(n, "more place"))
	}
	return out
}
