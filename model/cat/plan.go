package cat

// Plan is a list of operations and checks to run in order. It is immutable
// and belongs to one Program.
type Plan struct {
	p     *Program
	steps []int32 // slot of an operation, or ^index of a check
}

// PlanOptions selects what a plan does.
type PlanOptions struct {
	// Changed lists the inputs that have changed since the values were last computed: values
	// that do not depend on them are not recomputed. Values that depend on no input are always
	// available.
	Changed Mask
	// Known lists the inputs that have values; whatever depends on others is omitted, checks
	// included.
	Known Mask
	// Checks are the indexes of the wanted checks in the wanted order; nil means all in the
	// order of the text. Checks that cannot be evaluated yet are omitted, but the operands that
	// can be computed are.
	Checks []int
	// Sides are the indexes of checks of which only the compared values are computed, at the
	// end; see Machine.CheckValue.
	Sides []int

	values bool // also the tested values themselves
}

// Plan makes a plan. Operations that a check needs come just before it, so
// that an early failure saves the rest.
func (p *Program) Plan(o PlanOptions) *Plan {
	pl := &Plan{p: p}
	done := make([]bool, len(p.ops))
	var need func(s int32)
	need = func(s int32) {
		if s == noSlot || done[s] {
			return
		}
		done[s] = true
		x := &p.ops[s]
		for _, a := range p.operands(x) {
			need(a)
		}
		if x.code <= opPhi || x.code == opFixResult || x.region >= 0 || !x.deps.Meets(o.Changed) || !x.deps.Within(o.Known) {
			return
		}
		pl.steps = append(pl.steps, s)
	}
	checks := o.Checks
	if checks == nil {
		for i := range p.checks {
			checks = append(checks, i)
		}
	}
	for _, i := range checks {
		c := &p.checks[i]
		if o.values || c.code == checkAcyclic || c.code == checkIrreflexive || c.code == checkEmpty {
			need(c.slot)
		}
		need(c.a)
		need(c.b)
		if c.Deps.Within(o.Known) && (c.Deps.Meets(o.Changed) || c.Deps.IsZero()) {
			pl.steps = append(pl.steps, ^int32(i))
		}
	}
	for _, i := range o.Sides {
		need(p.checks[i].a)
		need(p.checks[i].b)
	}
	return pl
}

// Empty reports whether the plan does nothing.
func (pl *Plan) Empty() bool { return len(pl.steps) == 0 }

// Checks returns the indexes of the checks that the plan evaluates, in order.
func (pl *Plan) Checks() []int {
	var out []int
	for _, s := range pl.steps {
		if s < 0 {
			out = append(out, int(^s))
		}
	}
	return out
}

// NumOps returns the number of operations of the plan.
func (pl *Plan) NumOps() int { return len(pl.steps) - len(pl.Checks()) }

// operands is builder.operands for the linked program.
func (p *Program) operands(o *op) []int32 {
	b := builder{ops: p.ops, fixes: p.fixes}
	return b.operands(o)
}
