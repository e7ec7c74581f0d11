package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The statuses of a Histogram. Only done and interrupted say anything of what
// was not observed.
const (
	StatusDone        = "done"        // all instances were run
	StatusInterrupted = "interrupted" // the user ended it; what was counted is valid
	StatusTimeout     = "timeout"     // the device hung; counts are of before
	StatusFault       = "fault"       // the device failed; likewise
	StatusRefused     = "refused"     // not run: the binary is not validated
	StatusUnsupported = "unsupported" // not run: device or harness cannot do it
)

// Histogram is what a device did with one test under one setting.
type Histogram struct {
	Test      string `json:"test"`
	Hash      string `json:"hash"`      // content hash of the test
	Kind      string `json:"kind"`      // Allowed, Forbidden, Required
	Condition string `json:"condition"` // "exists (1:r0=1 /\ 1:r1=0)"

	Device    TestedDevice `json:"device"`
	Toolchain string       `json:"toolchain,omitempty"`
	Target    string       `json:"target,omitempty"`
	Level     string       `json:"level,omitempty"`
	Layout    string       `json:"layout,omitempty"`
	// Image is the SHA-256 of the cubin, PTX or source that was loaded.
	Image string `json:"image_sha256,omitempty"`
	// Code is the hash of the machine code as in Cell.
	Code string `json:"code,omitempty"`
	// Validated: every access, fence and dependency of the binary was matched.
	// Otherwise the counts are no result about the device.
	Validated   bool   `json:"validated"`
	Unvalidated string `json:"unvalidated,omitempty"` // why not
	// Lifted is the machine code as a litmus test if it is known not to be the test, and
	// was judged instead of it. Unjudged is why that could not be done.
	Lifted   string `json:"lifted,omitempty"`
	Unjudged string `json:"unjudged,omitempty"`

	// Setting names the incantations, as in the study's Tab. 6; Parameters are
	// its numbers. Seed repeats its random choices.
	Setting string `json:"setting"`
	// Placement is, of a run on several devices, what was where.
	Placement  *Placement       `json:"placement,omitempty"`
	Parameters map[string]int64 `json:"parameters,omitempty"`
	Seed       uint64           `json:"seed"`

	Status string `json:"status"`
	Detail string `json:"detail,omitempty"` // of any status but done
	// Instances is the number of instances counted, Weak how many of them
	// satisfy the expression of the condition.
	Instances uint64 `json:"instances"`
	Weak      uint64 `json:"weak"`
	// Unexpected counts instances with values that the harness has no bin for;
	// they are in Instances and in no outcome.
	Unexpected uint64 `json:"unexpected,omitempty"`
	Launches   uint64 `json:"launches,omitempty"`
	// Seconds is the time on the host's clock, DeviceSeconds the part in which
	// the device worked.
	Seconds       float64 `json:"seconds"`
	DeviceSeconds float64 `json:"device_seconds,omitempty"`
	// Before and After are the device's conditions around the run.
	Before Conditions `json:"before"`
	After  Conditions `json:"after"`
	// Faults are the batches that were lost on the way.
	Faults []string `json:"faults,omitempty"`

	Terms    []string `json:"terms"` // what the values belong to: "1:r0", "[x]"
	Outcomes Outcomes `json:"outcomes"`
	Rate     *Rate    `json:"rate,omitempty"` // nil without instances

	// Models are those that judged, the first one the device's, and Says what
	// each says of the condition's expression: allowed, forbidden, undecided.
	Models []string `json:"models,omitempty"`
	Says   []string `json:"condition_says,omitempty"`
	// Unseen are the outcomes that the first model allows and that were not
	// seen in a run that ended well.
	Unseen []Unseen `json:"allowed_not_seen,omitempty"`
	// Samples are values of unexpected instances.
	Samples [][]int64 `json:"unexpected_samples,omitempty"`
	// StressAccesses counts the accesses of the incantation stress, GaveUp the
	// warps that waited in vain in sync.
	StressAccesses uint64 `json:"stress_accesses,omitempty"`
	GaveUp         uint64 `json:"warps_gave_up,omitempty"`
	// Slices are the slices of time of an adaptive run, and why the test got each.
	Slices []Slice `json:"slices,omitempty"`
}

// Slice is a slice of time that an adaptive run gave to a test under a setting.
type Slice struct {
	Seed    uint64  `json:"seed"`
	End     float64 `json:"end_s"` // since the first slice of the run began
	Seconds float64 `json:"seconds"`
	// Chance is how likely it was held that the outcome can be seen, and Rate how often it was
	// expected, per second.
	Chance float64 `json:"chance"`
	Rate   float64 `json:"rate"`
}

// Placement says on which devices the threads and locations of a test were, by number
// in Devices.
type Placement struct {
	Devices   []TestedDevice `json:"devices"`
	Threads   []int          `json:"threads"`
	Locations map[string]int `json:"locations"`
	// OneDevice is what the first model says of the condition where all threads are on
	// one device: allowed, forbidden, undecided; "" if the test itself names devices.
	OneDevice string `json:"one_device_says,omitempty"`
}

// Unseen is an outcome that a model allows and that was not seen.
type Unseen struct {
	Values []int64 `json:"values"`
	// Excluded is the rate per instance that is excluded at 95 %.
	Excluded float64 `json:"excluded95"`
}

// DeviceRun is in the config of a run on a device: what all its histograms have
// in common.
type DeviceRun struct {
	Device DeviceInfo `json:"device"`
	// Others are the further devices of a run on several.
	Others   []TestedDevice `json:"other_devices,omitempty"`
	Seed     uint64         `json:"seed"`
	Settings []string       `json:"settings"`
	// Tuning are the parameters of launches by name.
	Tuning map[string]string `json:"tuning,omitempty"`
	Models []string          `json:"models,omitempty"`
	Start  time.Time         `json:"start"`
}

// DeviceInfo describes a device. What is 0 is not known.
type DeviceInfo struct {
	TestedDevice
	Vendor         string `json:"vendor,omitempty"`
	Platform       string `json:"platform,omitempty"`
	Type           string `json:"type,omitempty"` // gpu, cpu, accelerator
	PCI            string `json:"pci,omitempty"`
	Target         string `json:"target,omitempty"`
	Units          int    `json:"compute_units,omitempty"`
	Warp           int    `json:"warp,omitempty"`
	MaxBlock       int    `json:"max_threads_per_cta,omitempty"`
	UnitThreads    int    `json:"threads_per_unit,omitempty"`
	Shared         uint64 `json:"shared_bytes_per_cta,omitempty"`
	Memory         uint64 `json:"memory_bytes,omitempty"`
	L2             uint64 `json:"l2_bytes,omitempty"`
	MaxClock       int    `json:"max_clock_mhz,omitempty"`
	MaxMemoryClock int    `json:"max_memory_clock_mhz,omitempty"`
	Clusters       bool   `json:"clusters,omitempty"`
}

// TestedDevice names a device.
type TestedDevice struct {
	ID     string `json:"id"` // "cuda:0"
	Name   string `json:"name"`
	UUID   string `json:"uuid,omitempty"`
	Driver string `json:"driver,omitempty"`
	API    string `json:"api,omitempty"`
}

// Conditions are a device's clocks and temperature; 0 is unknown.
type Conditions struct {
	ClockMHz       int      `json:"clock_mhz,omitempty"`
	MemoryClockMHz int      `json:"memory_clock_mhz,omitempty"`
	Temperature    int      `json:"temperature_c,omitempty"`
	PowerWatt      float64  `json:"power_w,omitempty"`
	Throttle       []string `json:"throttle,omitempty"`
}

// Outcome is one line of a histogram.
type Outcome struct {
	Values []int64 `json:"values"`
	Count  uint64  `json:"count"`
	Weak   bool    `json:"weak,omitempty"` // satisfies the condition's expression
	// Effect is the two-sided verdict in the words of audit/device: "sequentially
	// consistent", "hardware, allowed", "hardware, forbidden", "compiler, forbidden",
	// …; empty if nobody judged.
	Effect string `json:"effect,omitempty"`
	// CodeSays is what the first model says of the outcome of Histogram.Lifted.
	CodeSays string `json:"machine_says,omitempty"`
	// Says is what each of Histogram.Models says of the outcome.
	Says []string `json:"says,omitempty"`
	// A forbidden outcome was tried again Reruns times with other seeds;
	// Confirmed of them showed it, Again times in all.
	Reruns    int    `json:"reruns,omitempty"`
	Confirmed int    `json:"confirmed,omitempty"`
	Again     uint64 `json:"again,omitempty"`
	// First is when an adaptive campaign first saw the outcome under the setting, in
	// seconds since its first run.
	First float64 `json:"first_seen_s,omitempty"`
}

// ByHardware reports whether a device showed what its model forbids it.
func (o *Outcome) ByHardware() bool { return strings.HasPrefix(o.Effect, "hardware, forbidden") }

// ByCompiler reports whether a device showed what the test forbids and its machine code
// allows.
func (o *Outcome) ByCompiler() bool { return o.Effect == "compiler, forbidden" }

// Outcomes are the outcomes of a test, at most maxBins of them where they come from a file.
type Outcomes []Outcome

// maxBins is far above the number of bins that any harness has.
const maxBins = 1 << 16

// UnmarshalJSON reads one outcome after the other, so that a stream of too many of them costs
// no more than those that are allowed.
func (o *Outcomes) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	switch open, err := dec.Token(); {
	case err != nil || open == nil:
		return err
	case open != json.Delim('['):
		return fmt.Errorf("outcomes are a list, not %v", open)
	}
	for dec.More() {
		if len(*o) == maxBins {
			return fmt.Errorf("more than %d outcomes of a test", maxBins)
		}
		var next Outcome
		if err := dec.Decode(&next); err != nil {
			return err
		}
		*o = append(*o, next)
	}
	return nil
}

// Rate is the statistics of the weak outcomes, per instance.
type Rate struct {
	Rate float64 `json:"rate"`
	// Low and High are the 95 % confidence interval.
	Low  float64 `json:"low95"`
	High float64 `json:"high95"`
	// Block is how many neighbouring instances were taken for one that is independent of
	// the others, because they nearly always see the same; 0 or 1: each stands for itself.
	Block uint64 `json:"block,omitempty"`
	// Reproducibility is the probability that an equal run sees a weak outcome
	// again: 1 − e^−n for n hits.
	Reproducibility float64 `json:"reproducibility"`
	// Excluded, where nothing was seen and the run ended well, is the rate that
	// is excluded at 95 %.
	Excluded float64 `json:"excluded95,omitempty"`
	// PerSecond is the number of weak outcomes per second on the host's clock.
	PerSecond float64 `json:"weak_per_second,omitempty"`
}

// Check refuses histograms that contradict themselves: they come from files.
func (h *Histogram) Check() error {
	if err := h.words(); err != nil {
		return err
	}
	var total, weak uint64
	for _, o := range h.Outcomes {
		if len(o.Values) != len(h.Terms) {
			return fmt.Errorf("bad histogram of %s: %d values for %d terms", h.Test, len(o.Values), len(h.Terms))
		}
		if total+o.Count < total {
			return fmt.Errorf("bad histogram of %s: counts overflow", h.Test)
		}
		total += o.Count
		if o.Weak {
			weak += o.Count
		}
	}
	for _, u := range h.Unseen {
		if len(u.Values) != len(h.Terms) {
			return fmt.Errorf("bad histogram of %s: %d values for %d terms", h.Test, len(u.Values), len(h.Terms))
		}
	}
	if total+h.Unexpected != h.Instances || weak != h.Weak {
		return fmt.Errorf("bad histogram of %s: %d instances, %d weak, but the outcomes sum up to %d and %d", h.Test,
			h.Instances, h.Weak, total, weak)
	}
	if r := h.Rate; r != nil && !(0 <= r.Low && r.Low <= r.Rate && r.Rate <= r.High && r.High <= 1 && 0 <= r.Excluded && r.Excluded <= 1) {
		return fmt.Errorf("bad histogram of %s: a rate of %g between %g and %g, excluded %g", h.Test, r.Rate, r.Low, r.High, r.Excluded)
	}
	return nil
}

// StateText prints an outcome as logs do: "1:r0=1; [x]=0;".
func (h *Histogram) StateText(o Outcome) string {
	parts := make([]string, 0, len(o.Values))
	for i, v := range o.Values {
		if i < len(h.Terms) {
			parts = append(parts, fmt.Sprintf("%s=%d;", h.Terms[i], v))
		}
	}
	return strings.Join(parts, " ")
}
