package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
)

// execution is what a kernel and its machine code do when both are executed on the same inputs.
type execution struct {
	found *refine.Finding // the first difference, nil for none
	why   string          // why nothing was compared, "" if something was
}

// execute runs a kernel in which the comparison has found nothing, with its machine code: addresses, operands, lanes,
// conditions and results are computed on both sides. It does nothing for code that no emulator executes (before sm_70, AMD).
func (w *worker) execute(ctx context.Context, unit int, code *pipeline.Code, fn *isa.Func) error {
	if w.a.o.Execute == 0 || w.ptx == nil || w.a.plain || !nvidia.Executes(code.File) {
		return nil
	}
	var same []*part
	o := w.options()
	for _, x := range w.users[unit] {
		if w.em.units[x.cell].Program { // clusters have several blocks
			o.Grid, o.Block = [3]int{}, [3]int{}
		}
		if p := &w.parts[x.cell][x.thread]; p.result != nil && p.result.Class == optcheck.Preserved {
			same = append(same, p)
		}
	}
	if len(same) == 0 {
		return nil
	}
	r, err := nvidia.CompareText(ctx, w.ptx(unit), code.Program, code.File, fn.Name, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	x := &execution{}
	switch {
	case err != nil:
		x.why = err.Error()
	case len(r.Findings) > 0:
		x.found = &r.Findings[0]
	case r.Runs+r.Cut == 0:
		x.why = slices.Sorted(maps.Keys(r.Cannot))[0]
	}
	for i := range same {
		same[i].run = x
	}
	return w.perform(ctx, unit, code, fn, same)
}

// perform executes a kernel whose machine code uses registers in flight with the content that those then have.
func (w *worker) perform(ctx context.Context, unit int, code *pipeline.Code, fn *isa.Func, same []*part) error {
	claims := same[0].result.hazards.Claims
	if len(claims) == 0 || same[0].run.found != nil {
		return nil
	}
	m, err := ptx.Parse(fn.Name+".ptx", []byte(w.ptx(unit)))
	if err != nil {
		return nil // it was not executed
	}
	shown := make([]*refine.Finding, len(claims))
	for i := range claims[:min(len(claims), mostPerformed)] {
		r, err := nvidia.Hazard(ctx, m, code.Program, code.File, fn.Name, fn.Name, claims[i].Finding, w.options())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && len(r.Findings) > 0 {
			shown[i] = &r.Findings[0]
		}
	}
	for i := range same {
		same[i].early = shown
	}
	return nil
}

// mostPerformed bounds the registers in flight that are used so, of each kernel.
const mostPerformed = 8

// options are how tests are executed: one warp shows whether code depends on the lane.
func (w *worker) options() refine.Options {
	return refine.Options{Runs: w.a.o.Execute, Enough: true, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Shared: true}
}

// finding is the difference as a finding of a thread, with its counterexample in words.
func (x *execution) finding(thread int) event.Finding {
	f := x.found
	return event.Finding{Rule: string(f.Rule), Thread: thread, Access: -1, Detail: counterexample(f)}
}

// counterexample says in words where and on which input a difference shows.
func counterexample(f *refine.Finding) string {
	detail := fmt.Sprintf("%s (executed: lane %d, input of seed %d)", f.Why, f.Lane, f.Input.Seed)
	for _, text := range []string{f.SourceText, f.MachineText} {
		if text != "" {
			detail += ": " + text
		}
	}
	return detail
}

// computed lowers the class of a cell of which the comparison has found nothing, but execution has, or could not say.
func (w *worker) computed(cell int) {
	c := &w.res.cells[cell]
	if c.Class != event.Preserved && c.Class != event.Optimised {
		return
	}
	why := ""
	for t, p := range w.parts[cell] {
		switch {
		case p.run == nil:
		case p.run.found != nil:
			c.Class = event.Miscompiled
			c.Findings = append(c.Findings, p.run.finding(t))
		case p.run.why != "" && why == "":
			why = fmt.Sprintf("T%d cannot be executed: %s", t, p.run.why)
		}
	}
	switch {
	case c.Class == event.Miscompiled:
		w.list(cell)
	case why != "" && c.Class == event.Preserved:
		w.set(cell, optcheck.Unknown, why)
	}
}
