package audit

import (
	"context"
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/model"
)

// oracle judges tests by a model, each distinct one once.
type oracle struct {
	models map[string]*model.Model
	known  map[string][]string
}

func (o *oracle) outcomes(ctx context.Context, target string, t *litmus.Test) ([]string, error) {
	name := DefaultModel(target)
	key := name + "\n" + t.String()
	if s, ok := o.known[key]; ok {
		return s, nil
	}
	m := o.models[name]
	if m == nil {
		var err error
		if m, err = model.Load(name); err != nil {
			return nil, err
		}
		o.models[name] = m
	}
	states, _, err := m.Outcomes(ctx, t, model.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(states))
	for _, s := range states {
		out = append(out, fmt.Sprint(s.Values))
	}
	slices.Sort(out)
	o.known[key] = out
	return out, nil
}

// legal reports whether a changed test shows no outcome that the test forbids.
func (o *oracle) legal(ctx context.Context, target string, t, changed *litmus.Test) (bool, error) {
	a, err := o.outcomes(ctx, target, t)
	if err != nil {
		return false, err
	}
	b, err := o.outcomes(ctx, target, changed)
	if err != nil {
		return false, err
	}
	for _, s := range b {
		if _, ok := slices.BinarySearch(a, s); !ok {
			return false, nil
		}
	}
	return true, nil
}
