package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"optcheck/litmus"
	"optcheck/report"
	"optcheck/runner"
)

// Measured is what a run of one test under one setting on a device has given.
type Measured struct {
	Test      *litmus.Test
	Histogram *runner.Histogram
	// Unexpected counts instances that are not in the histogram; see
	// report.Histogram.
	Unexpected uint64
	Device     runner.Device
	Image      []byte // what was loaded, nil if nothing was
	// Status is one of report's statuses.
	Status        string
	Detail        string
	Elapsed       time.Duration // on the host
	DeviceTime    time.Duration // in which the device worked
	Before, After runner.State
	Faults        []error
}

// Event turns a measurement into an event, statistics included. The caller
// adds what it knows of compilation, validation, setting and seed.
func (m *Measured) Event() *report.Histogram {
	h := &report.Histogram{
		Test: m.Test.Name, Hash: m.Test.Hash(), Kind: runner.KindOf(m.Test.Cond.Quant), Condition: m.Test.Cond.String(),
		Device: TestedDevice(m.Device),
		Status: m.Status, Detail: m.Detail, Unexpected: m.Unexpected,
		Seconds: m.Elapsed.Seconds(), DeviceSeconds: m.DeviceTime.Seconds(),
		Before: conditions(m.Before), After: conditions(m.After),
		Terms: []string{}, Outcomes: []report.Outcome{},
	}
	if m.Image != nil {
		sum := sha256.Sum256(m.Image)
		h.Image = hex.EncodeToString(sum[:])
	}
	for _, e := range m.Faults {
		h.Faults = append(h.Faults, e.Error())
	}
	for _, x := range m.Histogram.Terms() {
		h.Terms = append(h.Terms, runner.TermName(x))
	}
	for _, o := range m.Histogram.Outcomes() {
		weak := m.Histogram.Satisfies(m.Test.Cond, o)
		if weak {
			h.Weak += o.Count
		}
		h.Outcomes = append(h.Outcomes, report.Outcome{Values: o.Values, Count: o.Count, Weak: weak})
	}
	h.Instances = m.Histogram.Total() + m.Unexpected
	h.Rate = rate(h)
	return h
}

// TestedDevice names a device in events.
func TestedDevice(d runner.Device) report.TestedDevice {
	return report.TestedDevice{ID: fmt.Sprintf("%s:%d", d.Backend, d.Index), Name: d.Name, UUID: d.UUID, Driver: d.Driver, API: d.API}
}

// rate computes the statistics of the weak outcomes. Instances with unexpected
// values may be weak ones: where there are any, nothing is excluded.
func rate(h *report.Histogram) *report.Rate {
	if h.Instances == 0 {
		return nil
	}
	i := runner.RateInterval(h.Weak, h.Instances)
	r := &report.Rate{Rate: runner.Rate(h.Weak, h.Instances), Low: i.Low, High: i.High, Reproducibility: runner.Reproducibility(h.Weak)}
	ended := h.Status == report.StatusDone || h.Status == report.StatusInterrupted
	if h.Weak == 0 && h.Unexpected == 0 && ended {
		r.Excluded = runner.Excluded(h.Instances)
	}
	if h.Seconds > 0 {
		r.PerSecond = float64(h.Weak) / h.Seconds
	}
	return r
}

func conditions(s runner.State) report.Conditions {
	return report.Conditions{ClockMHz: s.ClockMHz, MemoryClockMHz: s.MemoryClockMHz, Temperature: s.Temperature, PowerWatt: s.PowerWatt, Throttle: s.Throttle}
}

// LogBlock turns the event of a run into a block of a log, with what logs have
// no place for as comments.
func LogBlock(h *report.Histogram) *runner.LogBlock {
	l := &runner.LogBlock{Name: h.Test, Kind: h.Kind, Condition: h.Condition, Hash: h.Hash, Terms: h.Terms,
		Info: runner.LogInfo{Elapsed: time.Duration(h.Seconds * float64(time.Second))}}
	for _, o := range h.Outcomes {
		l.States = append(l.States, runner.LogState{Values: o.Values, Count: o.Count, Mark: o.Weak})
	}
	c := []string{
		fmt.Sprintf("Device %s, driver %s, %s", h.Device.Name, h.Device.Driver, h.Device.API),
		fmt.Sprintf("Setting %s, seed %d", h.Setting, h.Seed),
	}
	if h.Toolchain != "" {
		c = append(c, fmt.Sprintf("Compiler %s %s %s, image %s", h.Toolchain, h.Target, h.Level, h.Image))
	}
	if !h.Validated {
		c = append(c, "Unvalidated: these counts are no result about the device: "+h.Unvalidated)
	}
	if h.Status != report.StatusDone {
		c = append(c, "Status "+h.Status+": "+h.Detail)
	}
	if h.Unexpected > 0 {
		c = append(c, fmt.Sprintf("Unexpected values in %d instances", h.Unexpected))
	}
	l.Info.Comments = c
	return l
}
