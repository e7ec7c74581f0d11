package verify

import (
	"cmp"
	"fmt"
	"slices"

	"optcheck/ir"
	"optcheck/ptx"
)

// Need is a synchronisation of a kernel, and whether something is found when it is left out or made weaker.
type Need struct {
	Side
	// Change is what was done to it.
	Change string `json:"change"`
	// Noticed are the rules that are broken without it; none if nothing was found.
	Noticed []Rule `json:"noticed,omitempty"`
	// Unknown tells why that nothing was found says little.
	Unknown []string `json:"unknown,omitempty"`
	// Every tells that nothing would be found in any other schedule either: this launch does not need it.
	Every bool `json:"every_schedule,omitempty"`
	// Loses are two strong accesses that are ordered in each run with it, and were not without it: they do not race, but may see values in
	// another order.
	Loses []Side `json:"loses_order,omitempty"`
	// Ordered tells, of an access, that all that conflicts with it was ordered with it in each run, so that it need not be strong there.
	Ordered bool `json:"ordered,omitempty"`
	// With is another one that does the same: with both left out, something is found.
	With *Side `json:"with,omitempty"`

	change edited
}

// edited is a change of an instruction.
type edited struct {
	inst int
	to   ir.Effect
}

// Needed changes each synchronisation of a kernel that can be decided, one after the other, and looks whether that is noticed: whether
// something is found that is not found without the change. What is not noticed is not needed in this launch, or more than the engine can
// see.
func Needed(m *ptx.Module, kernel string, o *Options) ([]Need, *Result, error) {
	p, err := lowered(m, kernel, &o.Launch)
	if err != nil {
		return nil, nil, err
	}
	set := *o
	set.Unmended, set.Progress = true, nil
	lines, kept := LinesOf(m), newOrders()
	set.watch = kept.watch
	r, err := program(p, lines, &set)
	if err != nil || len(r.Unknown) > 0 {
		return nil, r, err
	}
	had := map[sourceKey]bool{}
	for _, y := range r.Found {
		had[keyOf(p, y)] = true
	}
	f := &findings{program: p, lines: lines, block: r.Block, grid: r.Grid}
	more := set // further schedules show what is not ordered with all synchronisations, either
	more.Schedules = max(o.Schedules, moreSchedules)
	all, err := program(p, lines, &more)
	if err != nil {
		return nil, nil, err
	}
	for _, y := range all.Found {
		had[keyOf(p, y)] = true
	}
	var left *orders
	without := func(e ...edited) (*Result, error) {
		left = newOrders()
		set.watch = left.watch
		x, err := program(with(p, e), lines, &set)
		if err == nil && len(e) == 1 && len(x.Unknown) == 0 && !slices.ContainsFunc(x.Found, func(y *Finding) bool { return !had[keyOf(p, y)] }) {
			more.watch = left.watch
			x, err = program(with(p, e), lines, &more)
		}
		if err == nil {
			x.Found = slices.DeleteFunc(x.Found, func(y *Finding) bool { return had[keyOf(p, y)] })
		}
		return x, err
	}
	var out []Need
	for i := range p.Insts {
		if slices.Contains(r.Missed, i) {
			continue
		}
		for _, c := range changes(p.Insts[i].Do) {
			e := edited{i, c.to}
			x, err := without(e)
			if err != nil {
				return nil, nil, err
			}
			n := Need{Side: f.side(int32(i), id{}, 1), Change: c.what, Unknown: x.Unknown, Every: x.Every, change: e}
			for _, y := range x.Found {
				if !slices.Contains(n.Noticed, y.Rule) {
					n.Noticed = append(n.Noticed, y.Rule)
				}
			}
			if lost, ok := kept.lost(left, p); ok && n.spared() {
				n.Loses = []Side{f.side(lost[0], id{}, 1), f.side(lost[1], id{}, 1)}
			}
			out = append(out, n)
		}
	}
	if err := accompany(out, without); err != nil {
		return nil, nil, err
	}
	set.Steps = cmp.Or(o.Steps, chosenSteps)
	foot := newFootprint(p)
	for i := range out {
		n := &out[i]
		if _, access := n.change.to.(*ir.Access); access && n.spared() {
			n.Ordered = kept.always(n.change.inst)
		} else if n.spared() && n.With == nil && n.change.to == nil {
			n.Every = n.Every || set.spare(p, lines, foot, n.change.inst)
		}
	}
	return out, r, nil
}

// moreSchedules is how many schedules are run at least of a change that is not noticed. In some of them strong loads read old values.
const moreSchedules = 12

// with is a program with changes.
func with(p *ir.Program, edits []edited) *ir.Program {
	q := *p
	q.Insts = slices.Clone(p.Insts)
	for _, e := range edits {
		if q.Insts[e.inst].Do = e.to; e.to == nil {
			q.Insts[e.inst].Pre, q.Insts[e.inst].Post = nil, nil
		}
	}
	return &q
}

// maxCompany is how many others are tried with a synchronisation whose loss is not noticed.
const maxCompany = 6

// accompany looks, for each synchronisation that is not missed, for the nearest other one that does the same.
func accompany(needs []Need, without func(e ...edited) (*Result, error)) error {
	var spare []int
	for i := range needs {
		if needs[i].spared() {
			spare = append(spare, i)
		}
	}
	for _, i := range spare {
		n := &needs[i]
		others := slices.DeleteFunc(slices.Clone(spare), func(k int) bool { return needs[k].change.inst == n.change.inst })
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(n.apart(&needs[a]), n.apart(&needs[b])) })
		for _, k := range others[:min(maxCompany, len(others))] {
			x, err := without(n.change, needs[k].change)
			if err != nil {
				return err
			}
			if len(x.Found) > 0 {
				n.With = &needs[k].Side
				break
			}
		}
	}
	return nil
}

// spared reports whether nothing is seen to be missing without a synchronisation.
func (n *Need) spared() bool { return len(n.Noticed)+len(n.Unknown)+len(n.Loses) == 0 }

// apart is how far two synchronisations are apart, in instructions.
func (n *Need) apart(o *Need) int {
	return max(n.change.inst-o.change.inst, o.change.inst-n.change.inst)
}

type change struct {
	what string
	to   ir.Effect
}

// changes are the ways in which a synchronisation is left out or made weaker.
func changes(e ir.Effect) []change {
	switch x := e.(type) {
	case *ir.Fence:
		out := []change{{"left out", nil}}
		if x.Scope > ir.CTA && x.Proxy == "" {
			c := *x
			c.Scope = ir.CTA
			out = append(out, change{"with scope cta", &c})
		}
		return out
	case *ir.Barrier:
		if x.Kind == ir.BarrierSync || x.Kind == ir.BarrierWarp {
			return []change{{"left out", nil}}
		}
	case *ir.Copy:
		switch x.Kind {
		case ir.CopyWait:
			c := *x
			c.Groups++
			return []change{{"left out", nil}, {fmt.Sprintf("for all but %d groups", c.Groups), &c}}
		case ir.CopyWaitAll, ir.CopyProductFence:
			return []change{{"left out", nil}}
		}
	case *ir.Access:
		return weaker(x)
	}
	return nil
}

func weaker(a *ir.Access) (out []change) {
	with := func(what string, do func(c *ir.Access)) {
		c := *a
		do(&c)
		out = append(out, change{what, &c})
	}
	if a.Sem > ir.Relaxed {
		with("made relaxed", func(c *ir.Access) { c.Sem = ir.Relaxed })
	}
	if a.Sem != ir.Weak && a.Kind != ir.Atomic {
		with("made weak", func(c *ir.Access) { c.Sem, c.Scope, c.Volatile = ir.Weak, ir.NoScope, false })
	}
	if a.Sem != ir.Weak && a.Scope > ir.CTA && a.Space != ir.Shared {
		with("with scope cta", func(c *ir.Access) { c.Scope = ir.CTA })
	}
	return out
}
