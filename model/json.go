package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"optcheck/litmus"
	"optcheck/litmus/herdlog"
)

// JSON lines: one object with one key each, like the events of an audit. The keys are verdict,
// one per test in input order; or difference, of two models; or forbidden, one per faulty test
// of a log; and finally summary, without which the output is truncated. docs/internals/models.md
// describes the fields.

type jsonLine struct {
	Verdict    *jsonVerdict    `json:"verdict,omitempty"`
	Difference *jsonDifference `json:"difference,omitempty"`
	Forbidden  *jsonForbidden  `json:"forbidden,omitempty"`
	Decider    *jsonDecider    `json:"decider,omitempty"`
	Summary    *JSONSummary    `json:"summary,omitempty"`
}

// JSONSummary is the last of the JSON lines.
type JSONSummary struct {
	Models    []string `json:"models"`
	Tests     int      `json:"tests"`
	Undecided int      `json:"undecided"`           // tests without a verdict because a limit was reached
	Failed    int      `json:"failed"`              // tests that could not be judged at all
	Different *int     `json:"different,omitempty"` // tests on which two models disagree
	Outside   int      `json:"outside,omitempty"`   // tests that a model does not cover
	Forbidden *int     `json:"forbidden,omitempty"` // tests of a log with states that the model forbids
}

type jsonVerdict struct {
	Test      string      `json:"test"`
	Hash      string      `json:"hash"`
	Model     string      `json:"model"`
	Kind      string      `json:"kind"`
	Condition string      `json:"condition"`
	Terms     []string    `json:"terms,omitempty"`
	States    []jsonState `json:"states,omitempty"`
	// Holds and Observation are omitted if there is no verdict.
	Holds       *bool   `json:"holds,omitempty"`
	Observation string  `json:"observation,omitempty"`
	Positive    *uint64 `json:"positive,omitempty"`
	Negative    *uint64 `json:"negative,omitempty"`

	Flags      []string         `json:"flags,omitempty"`
	Cutoff     bool             `json:"cutoff,omitempty"`
	Blocked    bool             `json:"blocked,omitempty"`
	Counted    bool             `json:"blocked_counted,omitempty"`
	Candidates uint64           `json:"candidates,omitempty"`
	Why        *jsonExplanation `json:"why,omitempty"`
	Undecided  string           `json:"undecided,omitempty"`
	Error      string           `json:"error,omitempty"`
}

type jsonState struct {
	Values  []int64 `json:"values"`
	Witness bool    `json:"witness,omitempty"`
	Blocked bool    `json:"blocked,omitempty"` // only while threads wait at a barrier for ever
}

type jsonExplanation struct {
	Possible   bool           `json:"possible"` // some candidate has the outcome, whatever the model; of a machine: it is allowed
	Allowed    bool           `json:"allowed"`
	Check      string         `json:"check,omitempty"`
	Cycle      []jsonEdge     `json:"cycle,omitempty"`
	Violations map[string]int `json:"violations,omitempty"`
	Events     []jsonEvent    `json:"events,omitempty"`
	Edges      []jsonEdge     `json:"edges,omitempty"`
	Schedule   []jsonStep     `json:"schedule,omitempty"` // of a machine
}

type jsonStep struct {
	Thread int    `json:"thread"` // -1: the memory system
	Text   string `json:"text"`
}

type jsonEvent struct {
	Name        string `json:"name"`
	Thread      int    `json:"thread"` // -1: an initial write
	Text        string `json:"text"`
	Instruction string `json:"instruction,omitempty"`
}

type jsonEdge struct {
	From     string `json:"from"`
	Relation string `json:"relation"`
	To       string `json:"to"`
}

type jsonDifference struct {
	Test         string         `json:"test"`
	Hash         string         `json:"hash"`
	Terms        []string       `json:"terms"`
	Sides        [2]jsonVersion `json:"sides"`
	Instructions int            `json:"instructions"`
	Instances    uint64         `json:"instances,omitempty"` // that a device ran
}

type jsonDecider struct {
	*jsonDifference
	Rate  float64 `json:"expected_rate,omitempty"`
	Alike int     `json:"tests_alike,omitempty"`
	Known bool    `json:"seen,omitempty"`
}

type jsonVersion struct {
	Model       string    `json:"model"`
	Observation string    `json:"observation"`
	Only        [][]int64 `json:"only"` // states that the other model forbids
	// Seen is how often a device showed each state; Why says why one model allows it and the
	// other forbids it.
	Seen []uint64  `json:"seen,omitempty"`
	Why  []jsonWhy `json:"why,omitempty"`
}

type jsonWhy struct {
	Allows  *jsonExplanation `json:"allows"`
	Forbids *jsonExplanation `json:"forbids"`
}

type jsonForbidden struct {
	Test       string         `json:"test"`
	Hash       string         `json:"hash,omitempty"`
	Model      string         `json:"model"`
	States     []jsonLogState `json:"states,omitempty"`
	NotChecked string         `json:"not_checked,omitempty"`
}

type jsonLogState struct {
	Line   int         `json:"line"`
	Values []jsonValue `json:"values"`
	Count  *int64      `json:"count,omitempty"` // not in a model's log
}

type jsonValue struct {
	Term  string `json:"term"`
	Value int64  `json:"value"`
}

func encode(w io.Writer, l jsonLine) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(l)
}

// WriteSummaryJSON writes the line that ends the output.
func WriteSummaryJSON(w io.Writer, s JSONSummary) error { return encode(w, jsonLine{Summary: &s}) }

func (v *Verdict) json(o CommandOptions) *jsonVerdict {
	j := head(v.Test, v.Model)
	j.Terms, j.Positive, j.Negative = termNames(v), &v.Positive, &v.Negative
	j.Flags, j.Cutoff, j.Blocked, j.Counted, j.Undecided = v.Flags, v.Cut, v.Blocked, v.BlockedCounted, v.Undecided
	for _, s := range v.States {
		j.States = append(j.States, jsonState{s.Values, s.Satisfies, s.Blocked > 0 && s.Blocked == s.Count})
	}
	if v.Undecided == "" {
		j.Holds, j.Observation = &v.Holds, v.Observation.String()
	}
	if o.Candidates {
		j.Candidates = v.Candidates
	}
	return j
}

func termNames(v *Verdict) []string {
	names := make([]string, len(v.Terms))
	for i, x := range v.Terms {
		names[i] = herdlog.Term(x)
	}
	return names
}

// json returns an explanation in machine-readable form.
func (x *Explanation) json() *jsonExplanation {
	ex := x.Execution
	if x.Machine {
		j := &jsonExplanation{Possible: x.Schedule != nil, Allowed: x.Schedule != nil}
		for _, s := range x.Schedule {
			j.Schedule = append(j.Schedule, jsonStep(s))
		}
		return j
	}
	if ex == nil {
		return &jsonExplanation{}
	}
	j := &jsonExplanation{Possible: true, Allowed: ex.Allowed, Check: ex.Check, Violations: x.Violations}
	for e := range ex.Events {
		if ev := &ex.Events[e]; ev.Thread >= 0 || ex.used(e) {
			j.Events = append(j.Events, jsonEvent{ev.Name, ev.Thread, ev.Text, ev.Instr})
		}
	}
	edge := func(from, to int, rel string) jsonEdge {
		return jsonEdge{ex.Events[from].Name, rel, ex.Events[to].Name}
	}
	for _, s := range x.Steps {
		j.Cycle = append(j.Cycle, edge(s.From, s.To, s.Rel))
	}
	for _, e := range ex.Edges {
		j.Edges = append(j.Edges, edge(e.From, e.To, e.Rel))
	}
	return j
}

// WriteJSON writes a difference of two models as a JSON line.
func (d *Difference) WriteJSON(w io.Writer) error {
	return encode(w, jsonLine{Difference: d.json()})
}

func (d *Difference) json() *jsonDifference {
	j := &jsonDifference{Test: d.Test.Name, Hash: d.Test.Hash(), Instructions: Size(d.Test), Instances: d.Instances, Terms: termNames(d.A)}
	for i, side := range []struct {
		v    *Verdict
		only []Single
	}{{d.A, d.OnlyA}, {d.B, d.OnlyB}} {
		x := jsonVersion{Model: side.v.Model, Observation: side.v.Observation.String(), Only: [][]int64{}}
		for _, s := range side.only {
			x.Only = append(x.Only, s.Values)
			if d.Instances > 0 {
				x.Seen = append(x.Seen, s.Seen)
			}
			if s.Allows != nil {
				x.Why = append(x.Why, jsonWhy{s.Allows.json(), s.Forbids.json()})
			}
		}
		j.Sides[i] = x
	}
	return j
}

// WriteJSON writes a finding about a test of a log as a JSON line.
func (f *LogFinding) WriteJSON(w io.Writer, model string) error {
	j := &jsonForbidden{Test: f.Name, Model: model, NotChecked: f.Skipped}
	if f.Test != nil {
		j.Hash = f.Test.Hash()
	}
	for _, s := range f.States {
		x := jsonLogState{Line: s.Line, Values: []jsonValue{}}
		for _, it := range s.Items {
			x.Values = append(x.Values, jsonValue{herdlog.Term(it.Term), it.Value})
		}
		if s.Count >= 0 {
			x.Count = &s.Count
		}
		j.States = append(j.States, x)
	}
	return encode(w, jsonLine{Forbidden: j})
}

// renderJSON judges a test and writes a line, whatever the result.
func (m *Model) renderJSON(ctx context.Context, t *litmus.Test, o CommandOptions, w io.Writer) error {
	j, err := m.judgeJSON(ctx, t, o)
	switch {
	case errors.Is(err, ErrUndecided):
		j = head(t, m.Name)
		j.Undecided = err.Error()
	case err != nil:
		j = head(t, m.Name)
		j.Error = err.Error()
	case j.Undecided != "":
		err = fmt.Errorf("test %s: %w: %s", t.Name, ErrUndecided, j.Undecided)
	}
	return errors.Join(err, encode(w, jsonLine{Verdict: j}))
}

func (m *Model) judgeJSON(ctx context.Context, t *litmus.Test, o CommandOptions) (*jsonVerdict, error) {
	if o.Output == OutExplain {
		x, err := m.Explain(ctx, t, o.Options)
		if err != nil {
			return nil, err
		}
		j := x.Verdict.json(o)
		j.Why = x.json()
		return j, nil
	}
	v, err := m.Judge(ctx, t, o.Options)
	if err != nil {
		return nil, err
	}
	return v.json(o), nil
}

// head returns the part of a line that is known before the test is judged.
func head(t *litmus.Test, model string) *jsonVerdict {
	return &jsonVerdict{Test: t.Name, Hash: t.Hash(), Model: model, Kind: herdlog.Kind(t.Cond.Quant), Condition: conditionOf(t)}
}
