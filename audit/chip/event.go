package chip

import (
	"strings"

	"optcheck/audit"
	"optcheck/report"
	"optcheck/runner"
)

// Compiled says how the binaries of a campaign were made.
type Compiled struct{ Compiler, Target, Level string }

// Report turns a result into an event of the common stream. It needs
// Result.Binary, and Result.Histogram if anything was run. interrupted says
// that the user ended the run.
func (r *Result) Report(d runner.Device, c Compiled, interrupted bool) *report.Histogram {
	m := audit.Measured{Test: r.Binary.Test, Histogram: r.Histogram, Unexpected: r.Other, Device: d, Elapsed: r.Elapsed, Before: r.Clocks[0], After: r.Clocks[1]}
	if m.Histogram == nil {
		m.Histogram = runner.NewHistogram(r.Binary.Test)
	}
	m.Status, m.Detail = r.status(interrupted)
	h := m.Event()
	h.DeviceSeconds, h.Faults, h.Launches = r.Device, r.Faults, r.Launches
	h.Toolchain, h.Target, h.Level, h.Image, h.Code = c.Compiler, c.Target, c.Level, r.Cubin, r.Code
	h.Setting, h.Seed = r.Setting, r.Seed
	if h.Validated = r.Validated; !h.Validated {
		h.Unvalidated = r.State + ": " + r.Why
	}
	effects := map[string]string{}
	for _, s := range r.Seen {
		effects[key(s.Values)] = s.Effect
	}
	for i := range h.Outcomes {
		h.Outcomes[i].Effect = effects[key(h.Outcomes[i].Values)]
	}
	return h
}

// status is how a run ended, in the words of package report.
func (r *Result) status(interrupted bool) (status, detail string) {
	switch {
	case strings.Contains(r.Failure, runner.ErrTimeout.Error()):
		return report.StatusTimeout, r.Failure
	case strings.Contains(r.Failure, runner.ErrUnsupported.Error()) && !r.Ran:
		return report.StatusUnsupported, r.Failure
	case r.Failure != "":
		return report.StatusFault, r.Failure
	case !r.Ran && !r.Validated:
		return report.StatusRefused, r.State + ": " + r.Why
	case interrupted:
		return report.StatusInterrupted, ""
	}
	return report.StatusDone, ""
}
