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

	// Undefined says why the vendor's model gives the machine code no meaning; Bytes is then what
	// it says if accesses of different sizes synchronise (model.BytesModel): forbids or allows.
	Undefined string `json:"undefined,omitempty"`
	Bytes     string `json:"bytes,omitempty"`

	states [2]int
}

// judges are the models that judge, by name.
var judges = map[string]func() (*model.Model, error){}

func init() {
	for _, name := range []string{Model, model.AsyncModel, model.BytesModel} {
		judges[name] = sync.OnceValues(func() (*model.Model, error) { return model.Load(name) })
	}
}

// verdict asks the model. It is nil if the pattern tells nothing: if the PTX allows
// the outcome, too.
func (s *slice) verdict(ctx context.Context) (*Verdict, error) {
	name := model.Vendor(s.machine)
	m, err := judges[name]()
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
	v := &Verdict{Class: Changed, Pattern: s.pattern, Model: name, Source: s.source.String(), Machine: s.machine.String(),
		Outcome: s.machine.Cond.String(), states: [2]int{len(x.Verdict.States), len(y.States)}}
	switch {
	case y.Undefined != "":
		v.Undefined = y.Undefined
		if err := s.bytewise(ctx, v); err != nil {
			return nil, err
		}
	case y.Positive > 0:
		v.Class = Miscompiled
	}
	if x.Execution != nil {
		v.Check, v.Cycle, v.Events = x.Execution.Check, x.Execution.Cycle(x.Steps), x.Execution.Legend(x.Steps)
	}
	return v, nil
}

// bytewise asks whether a machine code to which the vendor gives no meaning would keep the order if
// accesses of different sizes synchronised.
func (s *slice) bytewise(ctx context.Context, v *Verdict) error {
	m, err := judges[model.BytesModel]()
	if err != nil {
		return err
	}
	y, err := m.Judge(ctx, s.machine, model.Options{})
	if err != nil || y.Undecided != "" {
		return err
	}
	v.Bytes = "forbids"
	if y.Positive > 0 {
		v.Bytes, v.Class = "allows", Miscompiled
	}
	return nil
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
