package realcode

import (
	"context"
	"sync"

	"optcheck/model"
)

// Model is the memory model that judges programs.
const Model = "ptx"

// Verdict is what the model says of the slice of a finding: two tests of the same
// partner, one with the kernel's thread as it is in the PTX, the other as it is in the
// machine code.
type Verdict struct {
	Class   string `json:"class"`   // miscompiled; changed if this pattern does not show it
	Pattern string `json:"pattern"` // of which the partner is: message passing
	Model   string `json:"model"`
	// Source and Machine are the tests. Outcome, the condition of both, is what the former
	// forbids, by Check and Cycle; the latter allows it if the class is miscompiled.
	Source  string `json:"source"`
	Machine string `json:"machine"`
	Outcome string `json:"outcome"`
	Check   string `json:"check,omitempty"`
	Cycle   string `json:"cycle,omitempty"`
	// Events says what the events of the cycle are: "a: T0 W x=1 (st.relaxed.gpu [x],1)".
	Events []string `json:"cycle_events,omitempty"`

	states [2]int
}

var judge = sync.OnceValues(func() (*model.Model, error) { return model.Load(Model) })

// verdict asks the model. It is nil if the pattern tells nothing: if the PTX allows
// the outcome, too.
func (s *slice) verdict(ctx context.Context) (*Verdict, error) {
	m, err := judge()
	if err != nil {
		return nil, err
	}
	x, err := m.Explain(ctx, s.source, model.Options{})
	if err != nil || x.Verdict.Undecided != "" || x.Verdict.Positive > 0 {
		return nil, err
	}
	y, err := m.Judge(ctx, s.machine, model.Options{})
	if err != nil || y.Undecided != "" {
		return nil, err
	}
	v := &Verdict{Class: Changed, Pattern: s.pattern, Model: Model, Source: s.source.String(), Machine: s.machine.String(),
		Outcome: s.machine.Cond.String(), states: [2]int{len(x.Verdict.States), len(y.States)}}
	if y.Positive > 0 {
		v.Class = Miscompiled
	}
	if x.Execution != nil {
		v.Check, v.Cycle, v.Events = x.Execution.Check, x.Execution.Cycle(x.Steps), x.Execution.Legend(x.Steps)
	}
	return v, nil
}

// judged asks the model about all findings that have a slice.
func (r *Result) judged(ctx context.Context) error {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.slice == nil {
			continue
		}
		if f.NoTest = f.slice.refused; f.NoTest == "" {
			v, err := f.slice.verdict(ctx)
			if err != nil {
				return err
			}
			f.Verdict = v
		}
		f.slice = nil
	}
	return nil
}
