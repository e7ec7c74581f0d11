package chip

import (
	"time"

	"optcheck/runner"
	"optcheck/runner/drive"
)

// Seen is an outcome that was counted.
type Seen struct {
	Values []int64  `json:"values"`
	Count  uint64   `json:"count"`
	Says   []string `json:"says"`                // by model
	Code   string   `json:"code_says,omitempty"` // what the first model says of changed machine code
	Effect string   `json:"effect"`              // whose effect it is
	Weak   bool     `json:"weak"`                // not sequentially consistent
	// Confirmed counts the reruns with other seeds that showed a forbidden
	// outcome again, of Reruns.
	Confirmed int    `json:"confirmed,omitempty"`
	Reruns    int    `json:"reruns,omitempty"`
	Again     uint64 `json:"again,omitempty"` // hits in the reruns
}

// Unseen is an outcome that the machine's model allows and that was not seen.
type Unseen struct {
	Values []int64 `json:"values"`
	// Excluded is the rate per instance that is excluded at 95 %.
	Excluded float64 `json:"excluded_rate"`
}

// Result is a run of a test under a setting, or why there was none.
type Result struct {
	Event     string   `json:"event"` // "result"
	Test      string   `json:"test"`
	Hash      string   `json:"hash"`
	Terms     []string `json:"terms,omitempty"`
	Setting   string   `json:"setting,omitempty"`
	Column    int      `json:"column,omitempty"` // of Tab. 6
	Seed      uint64   `json:"seed"`
	State     string   `json:"state"` // of the binary
	Validated bool     `json:"validated"`
	Why       string   `json:"why,omitempty"`
	Ran       bool     `json:"ran"`
	Failure   string   `json:"failure,omitempty"` // timeout, device fault: nothing is concluded
	// Lifted is the machine code of a changed binary as a litmus test, Unjudged why
	// nothing is known of what it allows.
	Lifted    string `json:"lifted,omitempty"`
	Unjudged  string `json:"unjudged,omitempty"`
	Cubin     string `json:"cubin_sha256,omitempty"`
	Code      string `json:"code,omitempty"`
	Instances uint64 `json:"instances"`
	Launches  uint64 `json:"launches,omitempty"`
	// Positive counts the instances that satisfy the condition's proposition.
	Positive uint64          `json:"positive"`
	Rate     float64         `json:"rate"`
	Low      float64         `json:"rate_low"`
	High     float64         `json:"rate_high"`
	Again    float64         `json:"reproducibility"` // 1-e^-n
	Seconds  float64         `json:"seconds"`
	Device   float64         `json:"device_seconds"`
	Models   []string        `json:"models,omitempty"`
	Says     []string        `json:"condition_says,omitempty"` // of the condition's proposition
	Seen     []Seen          `json:"outcomes,omitempty"`
	Unseen   []Unseen        `json:"allowed_not_seen,omitempty"`
	Other    uint64          `json:"other,omitempty"`
	Samples  [][]int64       `json:"other_samples,omitempty"`
	Stress   uint64          `json:"stress_accesses"`
	GaveUp   uint64          `json:"warps_gave_up,omitempty"`
	Faults   []string        `json:"faults,omitempty"`
	Clocks   [2]runner.State `json:"clocks"`

	Binary    *Binary           `json:"-"`
	Histogram *runner.Histogram `json:"-"`
	Elapsed   time.Duration     `json:"-"`
}

// fill takes over what was counted.
func (r *Result) fill(out *drive.Outcome, j *Judgement) {
	if out == nil {
		return
	}
	r.Ran = out.Instances() > 0
	r.Histogram, r.Elapsed = out.Histogram, out.Elapsed
	r.Instances, r.Launches, r.Other, r.Samples = out.Instances(), out.Launches, out.Other, out.Samples
	r.Stress, r.GaveUp = out.StressAccesses, out.GaveUp
	r.Seconds, r.Device = out.Elapsed.Seconds(), out.Device.Seconds()
	r.Clocks = [2]runner.State{out.First, out.Last}
	for _, f := range out.Faults {
		r.Faults = append(r.Faults, f.Error())
	}
	r.Positive, _ = out.Histogram.Count(r.Binary.Test.Cond)
	r.Rate = runner.Rate(r.Positive, r.Instances)
	iv := runner.RateInterval(r.Positive, r.Instances)
	r.Low, r.High, r.Again = iv.Low, iv.High, runner.Reproducibility(r.Positive)
	seen := map[string]bool{}
	for _, x := range out.Histogram.Outcomes() {
		s := Seen{Values: x.Values, Count: x.Count, Code: j.CodeSays(x.Values), Effect: j.Effect(x.Values, r.Validated)}
		for m := range j.Models {
			s.Says = append(s.Says, j.Says(m, x.Values))
		}
		s.Weak = j.Says(j.index(sc), x.Values) == Forbidden
		seen[key(x.Values)] = true
		r.Seen = append(r.Seen, s)
	}
	for _, k := range sortedKeys(j.allows[0]) {
		if !seen[k] {
			r.Unseen = append(r.Unseen, Unseen{parse(k), runner.Excluded(r.Instances)})
		}
	}
}
