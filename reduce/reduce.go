package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Options controls a reduction.
type Options struct {
	// Audit holds what all audits share; its matrix is ignored.
	Audit audit.Options
	// Keep names Parts that stay unchanged.
	Keep []string
	// Progress, if not nil, is called after every round.
	Progress func(Round)
}

// Result is a finding and the smallest one found for it.
type Result struct {
	Start Finding
	Min   Finding
	// Cell and Listing are those of Min.
	Cell    event.Cell
	Listing *event.Listing
	Effort
}

// Run reduces a finding. The finding must be there: Run first calls Finding.Confirm. The result
// is 1-minimal: the finding disappears after any further single step that Options allow.
func Run(ctx context.Context, f *Finding, o Options) (*Result, error) {
	for _, k := range o.Keep {
		if !slices.Contains(Parts, k) {
			return nil, fmt.Errorf("nothing called %q can be kept (known: %v)", k, Parts)
		}
	}
	cell, _, err := f.Confirm(ctx, o.Audit)
	if err != nil {
		return nil, err
	}
	t := f.Test.Clone()
	t.Meta = nil
	number(t)
	r := newReducer(o, f, t)
	if cell.Verdict != nil {
		r.model = strings.TrimSuffix(cell.Verdict.Model, "-rmw")
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	r.res.Effort = r.Effort
	return r.res, nil
}

// reducer is the subject of a reduction of a test, and that reduction.
type reducer struct {
	o     Options
	res   *Result
	model string // that judged the finding, "" if none did
	*reduction[*litmus.Test]
}

// newReducer begins with a test in the place of a finding's, which has numbers.
func newReducer(o Options, f *Finding, t *litmus.Test) *reducer {
	r := &reducer{o: o, res: &Result{Start: *f, Min: *f}}
	r.res.Min.Test = t
	r.reduction = &reduction[*litmus.Test]{of: r, now: t, progress: o.Progress}
	return r
}

// needsCache reports whether cache operators must stay: the model of 2015 was validated with
// .cg accesses, so its verdict is worth less without them.
func (r *reducer) needsCache() bool {
	return r.model == "ptx-2015" && r.res.Min.Signature.Class == event.Miscompiled
}

func (r *reducer) keeps(part string) bool { return slices.Contains(r.o.Keep, part) }

// all alternates between the way to compile and the test until neither becomes simpler.
func (r *reducer) all(ctx context.Context) error {
	for {
		if _, err := r.place(ctx); err != nil {
			return err
		}
		if err := r.rounds(ctx, r.steps); err != nil {
			return err
		}
		r.res.Min.Test = r.now
		again, err := r.place(ctx)
		if err != nil {
			return err
		}
		if !again {
			return nil
		}
	}
}

// layoutRank orders layouts from plain to special.
var layoutRank = []spec.Layout{spec.Pointers, spec.Offsets, spec.Symbols, spec.Adjacent}

// place looks for a simpler layout, a lower level and fewer flags.
func (r *reducer) place(ctx context.Context) (changed bool, err error) {
	min := &r.res.Min
	defer func() {
		if changed {
			r.seen = nil // it was said of another place
		}
	}()
	for i := 0; i < len(min.Flags) && !r.keeps("flags"); {
		f := *min
		f.Flags = slices.Delete(slices.Clone(min.Flags), i, i+1)
		run, err := audited(ctx, &f, r.o.Audit, []*litmus.Test{min.Test})
		if err != nil {
			return false, err
		}
		r.Candidates++
		if !min.Signature.Holds(&run.Cells[0]) {
			i++
			continue
		}
		r.took("without the flag " + min.Flags[i])
		min.Flags, changed = f.Flags, true
	}
	o := r.o.Audit
	o.Tests, o.Toolchains, o.Targets, o.Flags, o.Progress = []*litmus.Test{min.Test},
		[]*toolchain.Toolchain{min.Toolchain}, []string{min.Target}, min.Flags, nil
	o.Levels, o.Layouts = []string{min.Level}, []spec.Layout{min.Layout}
	if at := slices.Index(audit.Levels, min.Level); at > 0 && !r.keeps("level") {
		o.Levels = audit.Levels[:at+1]
	}
	if at := slices.Index(layoutRank, min.Layout); at > 0 && !r.keeps("layout") {
		o.Layouts = layoutRank[:at+1]
	}
	if len(o.Levels) == 1 && len(o.Layouts) == 1 {
		return changed, nil
	}
	run, err := matrix(ctx, o)
	if err != nil {
		return false, err
	}
	r.Candidates += len(run.Cells)
	for _, l := range o.Layouts {
		for _, lv := range o.Levels {
			for i := range run.Cells {
				c := &run.Cells[i]
				if c.Layout != l.String() || c.Level != lv || !min.Signature.Holds(c) {
					continue
				}
				if l != min.Layout || lv != min.Level {
					r.took(fmt.Sprintf("layout %v at %s", l, lv))
					min.Layout, min.Level, changed = l, lv, true
				}
				return changed, nil
			}
		}
	}
	return false, fmt.Errorf("%w any more: %s gave another result the second time", ErrNotThere, min.Address())
}

func (r *reducer) took(step string) { r.Steps = append(r.Steps, step) }

// suffix marks the names of reduced tests.
const suffix = "-min"

// program returns what is equal for tests that become the same program.
func (r *reducer) program(t *litmus.Test) string {
	if tc := r.res.Min.Toolchain; tc != nil {
		if p, err := pipeline.Of(tc, r.o.Audit.Source); err == nil {
			return p.Means(t).Hash()
		}
	}
	return t.Hash()
}

// finish names the smallest test, audits it alone and keeps the result.
func (r *reducer) finish(ctx context.Context) error {
	t := r.res.Min.Test
	if len(r.Steps) > 0 {
		t.Name, t.Doc = strings.TrimSuffix(r.res.Start.Test.Name, suffix)+suffix, "Reduced from "+r.res.Start.Test.Name
	}
	// As anybody else will read it: from its text.
	back, err := litmus.Parse(t.Name, t.Append(nil))
	if err != nil {
		return fmt.Errorf("the reduced test does not parse: %w", err)
	}
	if back.Hash() != t.Hash() {
		return fmt.Errorf("the reduced test means something else when read back:\n%s", t)
	}
	r.res.Min.Test = back
	cell, listing, err := r.res.Min.Confirm(ctx, r.o.Audit)
	if err != nil {
		return err
	}
	r.res.Cell, r.res.Listing = *cell, listing
	return r.wonder(ctx)
}

// wonder changes the condition of a miscompiled test to its first new outcome, so that the test
// itself says what goes wrong.
func (r *reducer) wonder(ctx context.Context) error {
	v := r.res.Cell.Verdict
	if r.res.Cell.Class != event.Miscompiled || v == nil || len(v.New) == 0 || r.keeps("condition") {
		return nil
	}
	for _, outcome := range v.New {
		t, err := audit.Asking(r.res.Min.Test, outcome)
		if err != nil {
			return err
		}
		if t.Observed = nil; r.res.Min.Signature.Visible {
			only(t, r.res.Min.Test.Terms())
		}
		if t.Hash() == r.res.Min.Test.Hash() {
			return nil
		}
		f := r.res.Min
		f.Test = t
		cell, listing, err := f.Confirm(ctx, r.o.Audit)
		if err != nil {
			continue // without the other terms this outcome is one of the test's own
		}
		r.took("the condition asks for " + outcome)
		r.res.Min, r.res.Cell, r.res.Listing = f, *cell, listing
		return nil
	}
	return nil
}

// only keeps the comparisons of some terms in a condition that is a conjunction.
func only(t *litmus.Test, terms []litmus.Term) {
	and, ok := t.Cond.Expr.(litmus.And)
	if !ok {
		return
	}
	and.List = slices.DeleteFunc(and.List, func(e litmus.Expr) bool {
		a, ok := e.(litmus.Atom)
		return ok && !slices.Contains(terms, a.Left)
	})
	if t.Cond.Expr = and; len(and.List) == 1 {
		t.Cond.Expr = and.List[0]
	}
}
