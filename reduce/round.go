package reduce

import (
	"context"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// candidate is a test obtained by some steps.
type candidate struct {
	test  *litmus.Test
	steps []step
	holds bool
}

// round tries every single step at once. It then chains the steps that keep the finding, tries
// all prefixes at once, and takes the longest that keeps it. It returns false if no single step
// keeps the finding.
func (r *reducer) round(ctx context.Context) (bool, error) {
	r.res.Rounds++
	if r.res.Rounds > maxRounds {
		return false, fmt.Errorf("no end after %d rounds", maxRounds)
	}
	t := r.res.Min.Test
	single := r.singles(t)
	if err := r.try(ctx, single); err != nil {
		return false, err
	}
	info := Round{Number: r.res.Rounds, Candidates: len(single)}
	var good []step
	for _, c := range single {
		if c.holds {
			good = append(good, c.steps...)
		}
	}
	info.Kept = len(good)
	if len(good) == 0 {
		r.progress(info)
		return false, nil
	}
	prefixes := chain(t, good)
	if err := r.try(ctx, prefixes); err != nil {
		return false, err
	}
	info.Candidates += len(prefixes)
	for _, c := range slices.Backward(prefixes) {
		if !c.holds {
			continue
		}
		r.res.Min.Test = c.test
		for _, s := range c.steps {
			r.took(s.name)
			info.Step = s.name
		}
		r.progress(info)
		return true, nil
	}
	return false, fmt.Errorf("%w any more: a step that kept it does not keep it alone", ErrNotThere)
}

func (r *reducer) progress(i Round) {
	if r.o.Progress == nil {
		return
	}
	t := r.res.Min.Test
	i.Threads = len(t.Threads)
	for k := range t.Threads {
		i.Instrs += len(t.Threads[k].Body)
	}
	r.o.Progress(i)
}

// singles lists the valid tests that one allowed step leads to, each once.
func (r *reducer) singles(t *litmus.Test) []*candidate {
	seen := map[string]bool{t.Hash(): true}
	var list []*candidate
	for _, s := range steps(t) {
		if r.keeps(s.part) || s.cache && r.needsCache() {
			continue
		}
		if n := after(t, s); n != nil && !seen[n.Hash()] {
			seen[n.Hash()] = true
			list = append(list, &candidate{test: n, steps: []step{s}})
		}
	}
	return list
}

// chain applies steps one after the other, skipping those that no longer lead to a valid test,
// and lists the test after each.
func chain(t *litmus.Test, list []step) []*candidate {
	var out []*candidate
	var taken []step
	hash := t.Hash()
	for _, s := range list {
		n := after(t, s)
		if n == nil || n.Hash() == hash {
			continue
		}
		t, hash, taken = n, n.Hash(), append(slices.Clip(taken), s)
		out = append(out, &candidate{test: n, steps: taken})
	}
	return out
}

// after returns a copy of a test after a step, or nil if the step does not apply or the result
// is not valid.
func after(t *litmus.Test, s step) *litmus.Test {
	n := t.Clone()
	if !s.apply(n) {
		return nil
	}
	tidy(n)
	if n.Check() != nil {
		return nil
	}
	return n
}

// try audits candidates, all of them in one batch.
func (r *reducer) try(ctx context.Context, list []*candidate) error {
	if len(list) == 0 {
		return nil
	}
	var tests []*litmus.Test
	at := map[string]int{}
	for _, c := range list {
		h := r.key(c.test)
		if _, ok := at[h]; !ok {
			at[h] = len(tests)
			tests = append(tests, c.test)
		}
	}
	run, err := audited(ctx, &r.res.Min, r.o.Audit, tests)
	if err != nil {
		return err
	}
	if len(run.Cells) != len(tests) {
		return fmt.Errorf("%d of %d candidates were audited", len(run.Cells), len(tests))
	}
	r.res.Candidates += len(tests)
	for _, c := range list {
		c.holds = r.res.Min.Signature.Holds(&run.Cells[at[r.key(c.test)]])
	}
	return nil
}
