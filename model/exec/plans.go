package exec

import "optcheck/model/cat"

// plans holds the parts of a model that the search evaluates, for one way of choosing the order
// of the fences.
type plans struct {
	static  *cat.Plan
	afterRF *cat.Plan // what rf decides
	leaf    *cat.Plan // the rest
	partRF  *cat.Plan // checks on executions with some reads open
	partCO  *cat.Plan // checks with some writes unordered
	full    *cat.Plan // everything at once
	incl    []cat.Inclusion
	// plans of the inclusions of either form alone
	inclIn, inclEither *cat.Plan
	// minimal: only partial coherence orders without unneeded pairs have to be examined; see
	// partial.go.
	minimal bool

	// For an order of the fences where it is needed, see fences.go: the checks
	// that more of rf, co and sync_fence never satisfies, with those that demand
	// pairs of co; the checks that demand pairs of sync_fence, whose sides theory
	// computes; and by check whether it looks at sync_fence at all.
	theory   *cat.Plan
	demandSF []int
	looksSF  []bool
}

// newPlans makes the plans. With lazy, the order of the fences is one of the
// orders that grow along the search; else it is known from the start.
func newPlans(p *cat.Program, lazy bool) *plans {
	pl := &plans{}
	all := p.AllInputs()
	growing, orders := p.MaskOf(nameRF, nameCO, nameFR), p.MaskOf(nameCO, nameFR, nameFW)
	if lazy {
		growing, orders = growing.Or(p.MaskOf(nameSF)), orders.Or(p.MaskOf(nameSF))
	}
	final := p.MaskOf(nameFW)
	early := all.Without(orders).Without(p.MaskOf(nameRF))
	pl.static = p.Plan(cat.PlanOptions{Changed: early, Known: early})
	pl.afterRF = p.Plan(cat.PlanOptions{Changed: p.MaskOf(nameRF), Known: all.Without(orders)})
	pl.leaf = p.Plan(cat.PlanOptions{Changed: orders, Known: all})
	pl.full = p.Plan(cat.PlanOptions{Changed: all, Known: all})
	var prune, pruneCO, in, either, theory []int
	pl.minimal = true
	for i, c := range p.Checks() {
		pl.looksSF = append(pl.looksSF, c.Deps.Meets(p.MaskOf(nameSF)))
		forever := c.Kind == cat.KindCheck && c.FailsForever(growing) && !c.Deps.Meets(final)
		if forever && c.Deps.Meets(growing) {
			prune = append(prune, i)
			theory = append(theory, i)
		}
		if forever && c.Deps.Meets(orders) {
			pruneCO = append(pruneCO, i)
		}
		incl := cat.NoInclusion
		if c.Kind == cat.KindCheck {
			incl = p.Inclusion(i, nameCO, growing)
		}
		pl.incl = append(pl.incl, incl)
		sf := lazy && demandsSF(p, i, growing)
		switch {
		case incl == cat.InInput:
			in = append(in, i)
			theory = append(theory, i)
		case incl == cat.InEitherOrder:
			either = append(either, i)
		case sf:
			pl.demandSF = append(pl.demandSF, i)
		}
		if c.Deps.Meets(orders) && !forever && !sf && incl == cat.NoInclusion {
			pl.minimal = false
		}
	}
	known := all.Without(final)
	pl.partRF = p.Plan(cat.PlanOptions{Changed: growing, Known: known, Checks: nonNil(prune)})
	pl.inclIn = p.Plan(cat.PlanOptions{Changed: growing, Known: known, Checks: nonNil(in)})
	pl.inclEither = p.Plan(cat.PlanOptions{Changed: growing, Known: known, Checks: nonNil(either)})
	pl.partCO = p.Plan(cat.PlanOptions{Changed: orders, Known: known, Checks: nonNil(pruneCO)})
	pl.theory = p.Plan(cat.PlanOptions{Changed: growing, Known: known, Checks: nonNil(theory), Sides: pl.demandSF})
	return pl
}

// demandsSF reports whether check i has the form "empty a \ sync_fence" with a
// that does not shrink.
func demandsSF(p *cat.Program, i int, growing cat.Mask) bool {
	_, b := p.Sides(i)
	return b >= 0 && b == p.Input(nameSF) && p.Checks()[i].Kind == cat.KindCheck && p.Inclusion(i, nameSF, growing) == cat.InInput
}

// orderableLate reports whether the order of the fences may be determined when everything else
// is chosen: whatever depends on it either stays violated as rf, co and the order grow, or
// requires pairs of one of these orders.
func orderableLate(p *cat.Program) bool {
	growing := p.MaskOf(nameRF, nameCO, nameFR, nameSF)
	for i, c := range p.Checks() {
		if !c.Deps.Meets(p.MaskOf(nameSF)) {
			a, _ := p.Sides(i)
			if p.Inclusion(i, nameCO, growing) == cat.InEitherOrder && a.Meets(p.MaskOf(nameCO, nameFR)) {
				return false // the required order would depend on the order of the fences
			}
			continue
		}
		if c.Kind != cat.KindCheck || c.Deps.Meets(p.MaskOf(nameFW)) {
			return false
		}
		if !c.FailsForever(growing) && !demandsSF(p, i, growing) && p.Inclusion(i, nameCO, growing) != cat.InInput {
			return false
		}
	}
	return true
}

func nonNil(x []int) []int {
	if x == nil {
		return []int{}
	}
	return x
}
