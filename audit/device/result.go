package device

import (
	"context"
	"errors"
	"strings"

	"optcheck/event"
	"optcheck/litmus/herdlog"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/spec"
)

// Result is a run of a test under a setting, or why there was none: the event
// of the stream and what it is of.
type Result struct {
	event.Histogram
	Binary *Binary
	set    drive.Setting
	unit   uint64 // Options.Block
	Column int    // of Tab. 6, from 1 on; 0 without a setting
}

// warpLanes are neighbouring instances, whose accesses are one of their warp each if
// threads are not randomised.
const warpLanes = 32

// block is how many instances count as one in statistics.
func (r *Result) block() uint64 {
	switch {
	case r.unit > 0:
		return r.unit
	case r.set.Incantations&drive.Random != 0:
		return 1
	}
	return warpLanes
}

// Ran reports whether anything was counted.
func (r *Result) Ran() bool { return r.Instances > 0 }

// Failed reports whether the device did not do the run, or not to its end:
// nothing is concluded from what it does not show.
func (r *Result) Failed() bool {
	return r.Status == event.StatusTimeout || r.Status == event.StatusFault
}

// empty is the result of a test that has not run.
func (c *series) empty(b *Binary, j *Judgement) *Result {
	r := &Result{Binary: b}
	h := &r.Histogram
	*h = event.Histogram{Test: b.Test.Name, Hash: b.Test.Hash(), Kind: herdlog.Kind(b.Test.Cond.Quant), Condition: b.Test.Cond.String(),
		Toolchain: c.compiler, Target: c.o.Compiler.Target, Level: c.o.Compiler.Level, Device: c.device,
		Code: b.Code, Layout: layoutName(c.o.Compiler.Layout), Validated: b.Validated, Seed: c.o.Seed, Status: event.StatusDone,
		Terms: []string{}, Outcomes: []event.Outcome{}}
	for _, t := range b.Test.Terms() {
		h.Terms = append(h.Terms, herdlog.Term(t))
	}
	if b.Image != nil {
		h.Image = b.Image.SHA256
	}
	if !b.Validated {
		h.Unvalidated = strings.TrimSuffix(b.State+": "+b.Why, ": ")
		h.Status, h.Detail = event.StatusRefused, b.State+": "+b.Why
	}
	if j != nil {
		h.Models, h.Says, h.Unjudged = j.Models, j.cond, j.Unjudged
		if j.code != nil {
			h.Lifted = b.Machine[0].Test.String()
		}
	}
	return r
}

// layoutName names a layout in results: the usual one is not named.
func layoutName(l spec.Layout) string {
	if l == spec.Pointers {
		return ""
	}
	return l.String()
}

// fill takes over what was counted.
func (r *Result) fill(out *drive.Outcome, j *Judgement) {
	if out == nil {
		return
	}
	h := &r.Histogram
	h.Instances, h.Unexpected, h.Samples, h.Launches = out.Instances(), out.Other, out.Samples, out.Launches
	h.StressAccesses, h.GaveUp = out.StressAccesses, out.GaveUp
	h.Seconds, h.DeviceSeconds = out.Elapsed.Seconds(), out.Device.Seconds()
	h.Before, h.After = conditions(out.First), conditions(out.Last)
	if r.Ran() {
		h.Status, h.Detail = event.StatusDone, ""
	}
	for _, f := range out.Faults {
		h.Faults = append(h.Faults, f.Error())
	}
	seen := map[string]bool{}
	for _, x := range out.Histogram.Outcomes() {
		o := event.Outcome{Values: x.Values, Count: x.Count, Weak: out.Histogram.Satisfies(r.Binary.Test.Cond, x),
			Effect: j.Effect(x.Values, r.Validated), CodeSays: j.CodeSays(x.Values)}
		if r.Binary.State == statePatched && o.Effect != EffectNone {
			o.Effect = EffectPatch
		}
		for m := range j.Models {
			o.Says = append(o.Says, j.Says(m, x.Values))
		}
		if o.Weak {
			h.Weak += x.Count
		}
		seen[key(x.Values)] = true
		h.Outcomes = append(h.Outcomes, o)
	}
	for _, k := range sortedKeys(j.allows[0]) {
		if !seen[k] {
			h.Unseen = append(h.Unseen, event.Unseen{Values: parse(k), Excluded: runner.Excluded(h.Instances)})
		}
	}
}

// fail notes that the device did not do a run.
func (r *Result) fail(err error) {
	r.Status, r.Detail = event.StatusFault, err.Error()
	switch {
	case errors.Is(err, runner.ErrTimeout):
		r.Status = event.StatusTimeout
	case errors.Is(err, runner.ErrUnsupported) && !r.Ran():
		r.Status = event.StatusUnsupported
	}
	r.Unseen = nil // a run that did not end well excludes nothing
}

// emit passes a result on. Cancelling ctx has interrupted what else would be done.
func (c *series) emit(ctx context.Context, r *Result) {
	if r.Status == event.StatusDone && ctx.Err() != nil {
		r.Status = event.StatusInterrupted
	}
	for i := range r.Unseen {
		r.Unseen[i].Excluded = runner.Excluded(max(r.Instances/r.block(), 1))
	}
	r.Rate = rate(&r.Histogram, r.block())
	c.o.Emit(r)
}

// rate computes the statistics of the weak outcomes. Instances with unexpected
// values may be weak ones: where there are any, nothing is excluded.
func rate(h *event.Histogram, block uint64) *event.Rate {
	if h.Instances == 0 {
		return nil
	}
	i := runner.BlockInterval(h.Weak, h.Instances, block)
	r := &event.Rate{Block: block, Rate: runner.Rate(h.Weak, h.Instances), Low: i.Low, High: i.High,
		Reproducibility: runner.Reproducibility((h.Weak + block - 1) / block)}
	ended := h.Status == event.StatusDone || h.Status == event.StatusInterrupted
	if h.Weak == 0 && h.Unexpected == 0 && ended {
		r.Excluded = runner.Excluded(max(h.Instances/block, 1))
	}
	if h.Seconds > 0 {
		r.PerSecond = float64(h.Weak) / h.Seconds
	}
	return r
}

func conditions(s runner.State) event.Conditions {
	return event.Conditions{ClockMHz: s.ClockMHz, MemoryClockMHz: s.MemoryClockMHz, Temperature: s.Temperature,
		PowerWatt: s.PowerWatt, Throttle: s.Throttle}
}
