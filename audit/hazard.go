package audit

import (
	"fmt"
	"slices"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/sass/hazard"
)

// unsettled are the registers that may hold anything by claims in a function.
func unsettled(fn *isa.Func, claims []hazard.Claim) (list []optcheck.Unsettled) {
	for _, c := range claims {
		for _, f := range hazard.Effects(fn, c.Finding) {
			at := f.To
			if f.Kind == hazard.WAR {
				at = f.From
			}
			for _, r := range append([]isa.Reg{f.Reg}, f.More...) {
				list = append(list, optcheck.Unsettled{Addr: fn.Insts[at].Addr, Reg: r, Left: f.Kind == hazard.WAW})
			}
		}
	}
	return list
}

// hazardous adds the registers in flight to the findings of a cell. Where such a register can only take dependencies away, the model has said
// what that allows. Else what depends on one may have any value: stored, as an address or as a condition, it allows outcomes that no model does.
// Such a cell is miscompiled, another changed at least. With fewer cycles than compilers leave, on a target of which a chip was asked that showed no
// harm, it is unknown.
func (w *worker) hazardous(cell int) {
	c := &w.res.cells[cell]
	if slices.ContainsFunc(w.parts[cell], func(p part) bool { return p.result == nil }) {
		return
	}
	class, doubt := c.Class, ""
	for t, p := range w.parts[cell] {
		for i, x := range p.result.hazards.Claims {
			f := event.Finding{Rule: x.Rule(), Thread: t, Access: -1, Detail: x.Detail, Flight: x.Excerpt}
			shown := i < len(p.early) && p.early[i] != nil
			if shown {
				f.Detail += "; executed " + p.early[i].Early.With() + ": " + counterexample(p.early[i])
			}
			c.Findings = append(c.Findings, f)
			switch judged := p.result.unsettled; {
			case shown || x.Reaches >= 0 && !judged:
				class = event.Miscompiled
			case class == event.Preserved || class == event.Optimised && !judged:
				class = event.Changed
			}
		}
		if d := p.result.hazards.Doubt; d != "" && doubt == "" {
			doubt = fmt.Sprintf("T%d: %s", t, d)
		}
	}
	switch {
	case class != c.Class:
		c.Class, c.Reason = class, ""
		w.list(cell)
	case doubt != "" && (class == event.Preserved || class == event.Optimised):
		w.set(cell, optcheck.Unknown, doubt)
	}
}
