package chip

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"optcheck/audit"
	"optcheck/report"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/spec"
)

// Compiled says how the binaries of a campaign were made.
type Compiled struct{ Compiler, Target, Level string }

// Campaign says what a campaign is of.
type Campaign struct {
	Version  string // of optcheck
	Device   runner.Device
	Compiled Compiled
	Seed     uint64
	Settings []string
	Tuning   drive.Tuning
	Tests    int
	Models   []string
	Start    time.Time
}

// Config is the event that a campaign's stream begins with.
func (c *Campaign) Config() *report.Config {
	d := &c.Device
	out := &report.Config{Schema: report.Schema, Tool: c.Version, Spec: spec.Version, Tests: c.Tests,
		Toolchains: []report.Toolchain{{ID: c.Compiled.Compiler}}, Targets: []string{c.Compiled.Target}, Levels: []string{c.Compiled.Level}, Layouts: []string{},
		Campaign: &report.Campaign{Seed: c.Seed, Settings: c.Settings, Models: c.Models, Start: c.Start, Tuning: map[string]string{}, Device: report.DeviceInfo{
			TestedDevice: audit.TestedDevice(c.Device),
			Vendor:       d.Vendor, Platform: d.Platform, Type: d.Type, PCI: d.PCI, Target: d.Target, Units: d.Units, Warp: d.Warp, MaxBlock: d.MaxBlock,
			UnitThreads: d.UnitThreads, Shared: d.Shared, Memory: d.Memory, L2: d.L2, MaxClock: d.ClockMHz, MaxMemoryClock: d.MemoryClockMHz, Clusters: d.Clusters}}}
	v := reflect.ValueOf(c.Tuning)
	for i := range v.NumField() {
		out.Campaign.Tuning[v.Type().Field(i).Name] = fmt.Sprint(v.Field(i))
	}
	return out
}

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
		h.Unvalidated = strings.TrimSuffix(r.State+": "+r.Why, ": ")
		h.Lifted, h.Unjudged = r.Lifted, r.Unjudged
	}
	h.Models, h.Says, h.Samples, h.StressAccesses, h.GaveUp = r.Models, r.Says, r.Samples, r.Stress, r.GaveUp
	for _, u := range r.Unseen {
		h.Unseen = append(h.Unseen, report.Unseen{Values: u.Values, Excluded: u.Excluded})
	}
	seen := map[string]*Seen{}
	for i := range r.Seen {
		seen[key(r.Seen[i].Values)] = &r.Seen[i]
	}
	for i := range h.Outcomes {
		o := &h.Outcomes[i]
		if s := seen[key(o.Values)]; s != nil {
			o.Effect, o.CodeSays, o.Says, o.Reruns, o.Confirmed, o.Again = s.Effect, s.Code, s.Says, s.Reruns, s.Confirmed, s.Again
		}
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
