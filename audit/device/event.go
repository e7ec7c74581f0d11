package device

import (
	"fmt"
	"reflect"
	"time"

	"optcheck/event"
	"optcheck/litmus/herdlog"
	"optcheck/runner"
	"optcheck/spec"
)

// Config is the event that the stream of a run on a device begins with. tool is
// the version of optcheck.
func (o *Options) Config(tool string, start time.Time) *event.Config {
	c, d := o.Compiler, o.Session.Device()
	run := &event.DeviceRun{Seed: o.Seed, Models: o.Judge.Asked, Start: start, Tuning: map[string]string{}, Device: event.DeviceInfo{
		TestedDevice: TestedDevice(d),
		Vendor:       d.Vendor, Platform: d.Platform, Type: d.Type, PCI: d.PCI, Target: d.Target, Units: d.Units,
		Warp: d.Warp, MaxBlock: d.MaxBlock,
		UnitThreads: d.UnitThreads, Shared: d.Shared, Memory: d.Memory, L2: d.L2, MaxClock: d.ClockMHz,
		MaxMemoryClock: d.MemoryClockMHz, Clusters: d.Clusters}}
	for _, d := range o.Session.Devices()[1:] {
		run.Others = append(run.Others, TestedDevice(d))
	}
	for _, s := range o.Settings {
		run.Settings = append(run.Settings, s.String())
	}
	v := reflect.ValueOf(o.Tuning)
	for i := range v.NumField() {
		run.Tuning[v.Type().Field(i).Name] = fmt.Sprint(v.Field(i))
	}
	return &event.Config{Schema: event.Schema, Tool: tool, Spec: spec.Version, Tests: len(o.Tests),
		Toolchains: []event.Toolchain{{ID: c.Name()}}, Targets: []string{c.Target}, Levels: o.levels(),
		Layouts: []string{}, OnDevice: run}
}

// TestedDevice names a device in events.
func TestedDevice(d runner.Device) event.TestedDevice {
	return event.TestedDevice{ID: fmt.Sprintf("%s:%d", d.Backend, d.Index), Name: d.Name, UUID: d.UUID, Driver: d.Driver, API: d.API}
}

// LogBlock turns the event of a run into a block of a log, with what logs have
// no place for as comments.
func LogBlock(h *event.Histogram) *herdlog.Block {
	l := &herdlog.Block{Name: h.Test, Kind: h.Kind, Condition: h.Condition, Hash: h.Hash, Counted: []uint64{},
		Time: time.Duration(h.Seconds * float64(time.Second))}
	for i, t := range h.Terms {
		l.Columns = append(l.Columns, herdlog.Column{Name: t, At: i})
	}
	for _, o := range h.Outcomes {
		l.States, l.Counted, l.Mark = append(l.States, o.Values), append(l.Counted, o.Count), append(l.Mark, o.Weak)
		if o.Weak {
			l.Positive += o.Count
		} else {
			l.Negative += o.Count
		}
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
	if h.Status != event.StatusDone {
		c = append(c, "Status "+h.Status+": "+h.Detail)
	}
	if h.Unexpected > 0 {
		c = append(c, fmt.Sprintf("Unexpected values in %d instances", h.Unexpected))
	}
	l.Comments = c
	return l
}
