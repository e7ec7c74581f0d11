package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
)

// kill is what the audit of tests says of one wrong optimisation.
type kill struct {
	pass    *fakeptxas.Pass
	tests   int            // in which it changes a kernel
	audited int            // of those
	cells   map[string]int // by class
	exposed int            // cells that are miscompiled by one of its rules
	by      string         // the first such cell
	after   int            // place of the first test that exposes it, from 1
	rules   map[string]int // of miscompiled cells
	reasons map[string]int // of unknown cells
	wrong   []string       // what must not be
}

func newKill(pass string) *kill {
	i := slices.IndexFunc(fakeptxas.Passes, func(p fakeptxas.Pass) bool { return p.Name == pass })
	return &kill{pass: &fakeptxas.Passes[i], cells: map[string]int{}, rules: map[string]int{}, reasons: map[string]int{}}
}

// count judges one cell of the wrong compiler beside the honest one's, and reports
// whether it exposes the pass.
func (k *kill) count(at kernelAt, c, honest *event.Cell, release string) (exposes bool) {
	k.cells[c.Class]++
	where := fmt.Sprintf("%s %s %s %s %s", at.test, release, at.target, at.level, at.layout)
	if c.Class == event.Unknown {
		k.reasons[c.Reason]++
	}
	switch {
	case c.Class == event.Unsupported && honest.Class != event.Unsupported, strings.Contains(c.Reason, "ptxas"):
		k.wrong = append(k.wrong, where+": "+c.Class+": "+c.Reason)
	case c.Class != event.Miscompiled || honest.Class == event.Miscompiled:
	case k.pass.Legal:
		// What the real compiler makes of the legal code may be wrong.
		other := slices.ContainsFunc(c.Findings, func(f event.Finding) bool { return !slices.Contains(k.pass.Rules, f.Rule) })
		if at.level == "O0" || !other {
			k.wrong = append(k.wrong, where+": legal, but called miscompiled")
		}
	default:
		for _, f := range c.Findings {
			k.rules[f.Rule]++
		}
		exposes = slices.ContainsFunc(c.Findings, func(f event.Finding) bool { return slices.Contains(k.pass.Rules, f.Rule) })
		if exposes {
			if k.exposed++; k.by == "" || where < k.by {
				k.by = where
			}
		}
	}
	return exposes
}

func (k *kill) String() string {
	c := k.cells
	s := fmt.Sprintf("%-30s %6d %5d %5d %5d %5d %5d %5d %6d  %s", k.pass.Name, k.tests, k.audited,
		c[event.Miscompiled], c[event.Optimised], c[event.Preserved], c[event.Unknown], k.exposed, k.after, cmp.Or(k.by, "-"))
	if k.exposed == 0 && len(k.rules) > 0 {
		s += fmt.Sprint(" other rules: ", k.rules)
	}
	if len(k.reasons) > 0 {
		s += fmt.Sprint(" unknown: ", k.reasons)
	}
	return s
}

func killTable(kills []*kill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s %6s %5s %5s %5s %5s %5s %5s %6s\n", "pass", "tests", "aud.", "misc.", "opt.", "pres.", "unkn.", "expo.", "after")
	for _, k := range kills {
		fmt.Fprintln(&b, k)
	}
	return b.String()
}
