package reduce

import (
	"context"

	"optcheck/litmus"
)

// steps lists the steps that are allowed.
func (r *reducer) steps(t *litmus.Test) (out []step) {
	for _, s := range steps(t) {
		if !r.keeps(s.part) && !(s.cache && r.needsCache()) {
			out = append(out, s)
		}
	}
	return out
}

func (*reducer) key(t *litmus.Test) string { return t.Hash() }

func (*reducer) size(t *litmus.Test) (threads, instrs int) {
	for k := range t.Threads {
		instrs += len(t.Threads[k].Body)
	}
	return len(t.Threads), instrs
}

func (*reducer) after(t *litmus.Test, s step) (*litmus.Test, string) {
	n := t.Clone()
	if !s.apply(n) {
		return nil, ""
	}
	tidy(n)
	if n.Check() != nil {
		return nil, ""
	}
	return n, n.Hash()
}

func (r *reducer) ask(ctx context.Context, list []*litmus.Test) ([]bool, error) {
	var tests []*litmus.Test
	at := map[string]int{}
	for _, t := range list {
		h := r.program(t)
		if _, ok := at[h]; !ok {
			at[h] = len(tests)
			tests = append(tests, t)
		}
	}
	cells, err := Cells(ctx, &r.res.Min, r.o.Audit, tests)
	if err != nil {
		return nil, err
	}
	holds := make([]bool, len(list))
	for i, t := range list {
		holds[i] = r.res.Min.Signature.Holds(&cells[at[r.program(t)]])
	}
	return holds, nil
}
