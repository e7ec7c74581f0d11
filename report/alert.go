package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/optcheck"
)

// alert is one finding as reports for machines show it: a Group, or what devices
// did with a test. Its rule and place are those of the group's first finding, or
// the rule undecided.
type alert struct {
	event.Finding
	test, hash string
	about      *event.Test // of cells
	class      string
	cells      []*event.Cell
	reasons    []string           // of undecided cells and of devices
	runs       []*event.Histogram // instead of cells: what devices did
}

// The rules of alerts that are no rules of the checker.
const (
	ruleInvalid   = "invalid"           // no compiler takes the file
	ruleForbidden = "forbidden-outcome" // a device showed what the model forbids
	ruleCompiled  = "compiled-outcome"  // a device showed what the test forbids and its machine code allows
	ruleRunFailed = "run-failed"        // a device gave no result
)

// ownRules describes them in the form of the checker's rules.
var ownRules = []*optcheck.Rule{
	{ID: ruleInvalid, Title: "no compiler takes the file",
		Explain: `The compilers refuse the file for a reason in the file: no other target and no other release
takes it. Nothing of it was audited.`},
	{ID: event.Undecided, Title: "it could not be decided whether the machine code is the test",
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

// weight returns how a class is reported: 3 is an error, 2 a warning, 1 a note. A class
// that is not known is a warning.
func weight(class string) int {
	switch class {
	case event.Miscompiled, event.Crashed:
		return 3
	case event.Optimised:
		return 1
	}
	return 2
}

// alerts lists the findings of a run in the order of Groups; what devices did stands
// after those of its class. A crash is one alert, in whichever tests it shows: that of the first.
func alertsOf(r *event.Run) []*alert {
	var list []*alert
	crashes := map[string]*alert{}
	gs := GroupsOf(r)
	for _, g := range gs.List {
		t := &gs.Set.Tests[g.Test]
		a := &alert{Finding: event.Finding{Rule: event.Undecided, Thread: -1, Access: -1}, test: t.Name, hash: t.Hash, about: t,
			class: g.Class, cells: gs.InFull(g)}
		c := a.cells[0]
		if c.HasFindings() && len(c.Findings) > 0 {
			a.Finding = c.Findings[0]
		} else {
			a.reasons = []string{c.WhyUndecided()}
		}
		switch {
		case c.Class == event.Invalid:
			a.Rule = ruleInvalid
		case c.Class == event.Crashed && len(c.Findings) > 0:
			if first := crashes[a.CrashKey()]; first != nil {
				first.cells = append(first.cells, a.cells...)
				continue
			}
			crashes[a.CrashKey()] = a
		}
		list = append(list, a)
	}
	list = append(list, deviceAlerts(r)...)
	slices.SortStableFunc(list, func(a, b *alert) int {
		return cmp.Or(cmp.Compare(severity(a.class), severity(b.class)), min(len(a.known()), 1)-min(len(b.known()), 1), a.raceRank()-b.raceRank())
	})
	return list
}

// maxRelated bounds the further findings that are shown at their places.
const maxRelated = 16

// further lists the findings of the alert after its first one.
func (a *alert) further() []event.Finding {
	if len(a.reasons) > 0 { // else there are cells
		return nil
	}
	f := a.cells[0].Findings
	return f[1:min(len(f), 1+maxRelated)]
}

// known lists the known findings that an alert is an instance of.
func (a *alert) known() []string {
	if len(a.cells) == 0 {
		return nil
	}
	return a.cells[0].Known
}

// verdict returns what a model says of the first cell, nil if none was asked.
func (a *alert) verdict() *event.Verdict {
	if len(a.cells) == 0 {
		return nil
	}
	return a.cells[0].Verdict
}

func (a *alert) raceRank() int {
	r := event.Result{Verdict: a.verdict()}
	return r.RaceRank()
}

// deviceAlerts lists what devices did that nobody expects.
func deviceAlerts(r *event.Run) []*alert {
	by := map[[2]string]*alert{}
	var list []*alert
	add := func(h *event.Histogram, rule, class, reason string) {
		k := [2]string{h.Test + "\x00" + h.Hash, rule}
		a := by[k]
		if a == nil {
			a = &alert{Finding: event.Finding{Rule: rule, Thread: -1, Access: -1}, test: h.Test, hash: h.Hash, class: class}
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
				add(h, ruleForbidden, event.Miscompiled, fmt.Sprintf("%s %s", h.StateText(o), o.Effect))
			case o.ByCompiler():
				add(h, ruleCompiled, event.Miscompiled, fmt.Sprintf("%s %s", h.StateText(o), o.Effect))
			}
		}
		if failed(h) {
			add(h, ruleRunFailed, event.Unknown, firstOf(strings.TrimSuffix(h.Status+": "+h.Detail, ": ")))
		}
	}
	return list
}

// failed reports whether a run says nothing of what was not seen although it
// should. A run that was refused or is not supported was never begun.
func failed(h *event.Histogram) bool {
	switch h.Status {
	case event.StatusDone, event.StatusInterrupted, event.StatusRefused, event.StatusUnsupported:
		return false
	}
	return true
}

// flights are the instructions of registers in flight, in lines.
func (a *alert) flights() (lines []string) {
	if len(a.reasons) > 0 { // else there are cells
		return nil
	}
	for _, f := range a.cells[0].Findings {
		for _, line := range f.Flight.Text() {
			lines = append(lines, plain.Line(line))
		}
	}
	return lines
}

// title is what an alert is in, as its author names it.
func (a *alert) title() string {
	if a.about != nil {
		return a.about.Title()
	}
	return plain.Label(a.test)
}

// text says in one or a few lines what was found.
func (a *alert) text() string {
	var b strings.Builder
	if a.class == event.Miscompiled || a.class == event.Optimised || a.class == event.Changed || a.class == event.Crashed {
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
		for i, f := range a.cells[0].Findings {
			if i == 0 { // its place and its rule are those of the alert
				b.WriteString(a.about.Tell(&f).Text)
			} else {
				fmt.Fprintf(&b, "\n%s", sentence(a.about, &f))
			}
		}
	}
	if v := a.verdict(); v != nil && len(v.New) > 0 {
		fmt.Fprintf(&b, "\nThe machine code allows %s", v.New[0])
		if n := len(v.New) - 1; n > 0 {
			fmt.Fprintf(&b, " and %s", plain.Count(n, "more new outcome"))
		}
		if v.Check != "" {
			fmt.Fprintf(&b, ", which model %s forbids in the test by %s: %s", v.Model, v.Check, v.Cycle)
			if len(v.Events) > 0 {
				fmt.Fprintf(&b, " (%s)", strings.Join(v.Events, "; "))
			}
		}
	}
	if v := a.verdict(); v != nil && v.RaceText() != "" {
		fmt.Fprintf(&b, "\n%s", v.RaceSentence())
	}
	if len(a.cells) > 0 {
		fmt.Fprintf(&b, "\nIn %s", strings.Join(whereShort(a.cells), "; "))
	}
	if n := a.otherTests(); n > 0 {
		fmt.Fprintf(&b, "\nThe same in %s", plain.Count(n, "other test"))
	}
	if known := a.known(); len(known) > 0 {
		fmt.Fprintf(&b, "\nKnown: %s", strings.Join(known, ", "))
	}
	for _, h := range a.runs[:min(len(a.runs), maxOutcomes)] {
		fmt.Fprintf(&b, "\nOn %s, setting %s, seed %d: %s", h.Device.Name, h.Setting, h.Seed, plain.Count(h.Instances, "instance"))
	}
	return b.String()
}

// otherTests counts the tests of an alert but its first.
func (a *alert) otherTests() int {
	tests := map[string]bool{}
	for _, c := range a.cells {
		tests[c.Test+"\x00"+c.Hash] = true
	}
	return max(0, len(tests)-1)
}

// maxPlaces bounds the places named in a message.
const maxPlaces = 6

// whereShort says in which cells an alert lies, in few words.
func whereShort(cells []*event.Cell) []string {
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
