package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"optcheck/event"
	"optcheck/internal/limits"
	"optcheck/optcheck"
)

// verdicts holds the functions that classify cells, by the language that gives a test its
// meaning (pipeline.Road).
var verdicts map[string]func(w *worker, ctx context.Context, cell int) error

func init() {
	verdicts = map[string]func(w *worker, ctx context.Context, cell int) error{
		ptxModel: (*worker).classify, languageModel: (*worker).hardware, "": (*worker).unjudged}
}

// verdict classifies a cell whose test has its meaning from a language.
func (w *worker) verdict(ctx context.Context, language string, cell int) error {
	if err := verdicts[language](w, ctx, cell); err != nil {
		return err
	}
	w.hazardous(cell)
	return nil
}

// unjudged leaves a cell as it is, but for one that could not be fully compared, which is
// unknown.
func (w *worker) unjudged(_ context.Context, cell int) error {
	if why := w.undecided(cell); why != "" && w.res.cells[cell].Class == event.Preserved {
		w.set(cell, optcheck.Unknown, why)
	}
	return nil
}

// classify asks the model about a decided cell. Preserved cells are lifted too: they must allow
// what the test allows, which tests this tool.
func (w *worker) classify(ctx context.Context, cell int) error {
	c := &w.res.cells[cell]
	if w.em.units[cell].Program && (c.Class != event.Changed || !w.lifted(cell)) { // nothing lifts what is not said by a finding
		return nil
	}
	if w.a.judge == nil || w.a.plain || c.Class != event.Preserved && c.Class != event.Changed {
		return nil
	}
	s := &subject{test: w.j.chunk.first + cell/len(w.a.o.Layouts), t: w.test(cell), hash: c.Hash, target: w.j.target,
		layout: c.Layout, changed: c.Class == event.Changed}
	var err error
	for t, p := range w.parts[cell] {
		k := &w.em.units[cell].Kernels[t]
		if p.result.liftErr != nil && err == nil {
			err = fmt.Errorf("thread %d: %w", t, p.result.liftErr)
		}
		s.threads = append(s.threads, optcheck.LiftedThread{Lifted: p.result.lifted, Spec: k.Spec, Values: k.Values})
	}
	j := &judgement{err: err}
	if err == nil {
		j = w.a.judge.judge(ctx, s)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.a.o.KeepVerdicts {
		c.Verdict = j.verdict
	}
	var slow *limits.Slow
	switch {
	case errors.As(j.err, &slow):
		w.set(cell, optcheck.Unknown, "timeout: "+slow.Error())
	case j.err != nil && s.changed:
		w.set(cell, optcheck.Unknown, j.err.Error())
	case j.err != nil:
		w.toolError(cell, j.err.Error())
	case s.changed && j.verdict.Unjudged != "":
		c.Verdict = j.verdict
	case s.changed && j.subset:
		c.Class, c.Verdict = event.Optimised, j.verdict
	case s.changed:
		c.Class, c.Verdict = event.Miscompiled, j.verdict
	case !j.subset && w.promote(cell, optcheck.UnreadGone):
		c.Class, c.Verdict = event.Miscompiled, j.verdict
		w.list(cell)
	case !j.subset:
		w.toolError(cell, fmt.Sprintf("preserved, but lifted it allows %s", j.verdict.New[0]))
	case !j.equal:
		w.stronger(cell, j.verdict)
	}
	return w.second(ctx, cell)
}

// lifted reports whether all threads of a cell were lifted.
func (w *worker) lifted(cell int) bool {
	return !slices.ContainsFunc(w.parts[cell], func(p part) bool { return p.result.liftErr != nil })
}

// stronger classifies a cell whose machine code breaks no rule but allows less than the test:
// it is stronger, and thereby another test.
func (w *worker) stronger(cell int, v *event.Verdict) {
	c := &w.res.cells[cell]
	var findings []event.Finding
	for t, p := range w.parts[cell] {
		l, _ := p.result.lifted.(*optcheck.Lifted)
		for _, x := range l.Extra {
			findings = append(findings, event.Finding{Rule: optcheck.Strengthened.ID, Thread: t, Access: -1,
				Detail: "a fence that the test does not have: " + x})
		}
	}
	if !w.promote(cell, optcheck.Strengthened) && len(findings) == 0 {
		w.toolError(cell, fmt.Sprintf("preserved, but lifted it does not allow %s", v.Lost[0]))
		return
	}
	c.Class, c.Findings, c.Verdict = event.Optimised, append(findings, c.Findings...), v
	w.list(cell)
}

// promote turns a cell's notes of a rule into findings, because the model says that they
// matter. It returns false if there are none.
func (w *worker) promote(cell int, rule *optcheck.Rule) bool {
	c := &w.res.cells[cell]
	kept := c.Notes[:0:0]
	for _, f := range c.Notes {
		if f.Rule == rule.ID {
			c.Findings = append(c.Findings, f)
		} else {
			kept = append(kept, f)
		}
	}
	c.Notes = kept
	return len(c.Findings) > 0
}

// toolError records a failure of this tool, not of the compiler.
func (w *worker) toolError(cell int, detail string) {
	c := &w.res.cells[cell]
	w.problem("tool", fmt.Sprintf("%s, layout %s: %s", c.Test, c.Layout, detail))
	w.set(cell, optcheck.Unknown, "tool error: "+detail)
}
