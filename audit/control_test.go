package audit

import (
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
)

// control is one cell with at least one injection that changed its code.
type control struct {
	at       kernelAt
	kinds    []string
	strength bool // only strengthening
	changed  *litmus.Test
	legal    bool
	got      *event.Cell
}

func (c *control) want() []string {
	switch {
	case !c.legal:
		return []string{event.Miscompiled}
	case c.strength:
		return []string{event.Preserved, event.Optimised}
	}
	return []string{event.Optimised}
}

// controlRules are the rules of which one at least must be reported for an
// injection, by the first words of its kind. An access that changes places with
// a fence has left what the fence orders.
var controlRules = []struct {
	kind  string
	rules []*optcheck.Rule
}{
	{"move", []*optcheck.Rule{optcheck.Reordered, optcheck.FenceRemoved}},
	{"drop fence", []*optcheck.Rule{optcheck.FenceRemoved, optcheck.FenceWeakened}},
	{"narrow fence", []*optcheck.Rule{optcheck.FenceWeakened, optcheck.FenceRemoved}},
	{"fence.sc to", []*optcheck.Rule{optcheck.FenceWeakened}},
	{"drop cache operator", []*optcheck.Rule{optcheck.Weakened}},
	{"drop", []*optcheck.Rule{optcheck.Missing}},
	{"forward store", []*optcheck.Rule{optcheck.Missing, optcheck.Merged}},
	{"merge", []*optcheck.Rule{optcheck.Merged}},
	{"cut dependency", []*optcheck.Rule{optcheck.DependencyBroken}},
	{"duplicate", []*optcheck.Rule{optcheck.Duplicated, optcheck.ExtraAccess}}, // the first of two atomics becomes a red
	{"retarget", []*optcheck.Rule{optcheck.Retargeted, optcheck.Missing}},
	{"speculate", []*optcheck.Rule{optcheck.ControlChanged}},
	{"weaken", []*optcheck.Rule{optcheck.Weakened, optcheck.FenceRemoved, optcheck.FenceWeakened}}, // an acquire or release is a fence too
	{"narrow", []*optcheck.Rule{optcheck.Weakened, optcheck.FenceRemoved, optcheck.FenceWeakened}},
}

// wrongRule says that the findings of a cell with a single injection do not
// name what was injected.
func (c *control) wrongRule() string {
	if len(c.kinds) != 1 || c.strength || !c.got.HasFindings() {
		return ""
	}
	for _, x := range controlRules {
		if !strings.HasPrefix(c.kinds[0], x.kind) {
			continue
		}
		for _, r := range x.rules {
			if slices.ContainsFunc(c.got.Findings, func(f event.Finding) bool { return f.Rule == r.ID }) {
				return ""
			}
		}
		return "wrong rule for " + c.kinds[0]
	}
	return "no rule is expected for " + c.kinds[0]
}
