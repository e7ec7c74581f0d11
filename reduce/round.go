package reduce

import (
	"context"
	"fmt"

	"optcheck/litmus"
)

// stepOf is one simplification of a T, a litmus test or a kernel. It must be applicable after
// others, too.
type stepOf[T any] struct {
	part  string
	name  string
	cache bool // drops a cache operator
	// apply simplifies. It returns false if there is nothing to do.
	apply func(T) bool
}

// candidateOf is what some steps lead to.
type candidateOf[T any] struct {
	test  T
	steps []stepOf[T]
	holds bool // it has the finding
}

// shrinker is what rounds of a reduction ask.
type shrinker[T any] interface {
	// after returns a copy after a step, and what distinguishes it from others; "" if the step
	// does not apply or the result is not valid.
	after(T, stepOf[T]) (T, string)
	// try finds out which candidates have the finding, all of them in one batch.
	try(context.Context, []*candidateOf[T]) error
}

// singles lists what one of the steps leads to, each once.
func singles[T any](s shrinker[T], now T, key string, list []stepOf[T]) (out []*candidateOf[T]) {
	seen := map[string]bool{key: true, "": true}
	for _, st := range list {
		if n, k := s.after(now, st); !seen[k] {
			seen[k] = true
			out = append(out, &candidateOf[T]{test: n, steps: []stepOf[T]{st}})
		}
	}
	return out
}

// chain applies steps one after the other, skipping those that no longer lead to anything valid
// or new, and lists what there is after each.
func chain[T any](s shrinker[T], now T, key string, list []stepOf[T]) (out []*candidateOf[T]) {
	var taken []stepOf[T]
	for _, st := range list {
		n, k := s.after(now, st)
		if k == "" || k == key {
			continue
		}
		now, key, taken = n, k, append(taken[:len(taken):len(taken)], st)
		out = append(out, &candidateOf[T]{test: now, steps: taken})
	}
	return out
}

// round tries every single step at once. It then chains the steps that keep the finding, tries
// all prefixes at once, and returns the longest that keeps it, nil if no single step does.
func round[T any](ctx context.Context, s shrinker[T], now T, key string, list []stepOf[T]) (best *candidateOf[T], info Round, err error) {
	single := singles(s, now, key, list)
	if err := s.try(ctx, single); err != nil {
		return nil, info, err
	}
	info.Candidates = len(single)
	var good []stepOf[T]
	for _, c := range single {
		if c.holds {
			good = append(good, c.steps...)
		}
	}
	if info.Kept = len(good); len(good) == 0 {
		return nil, info, nil
	}
	prefixes := chain(s, now, key, good)
	if err := s.try(ctx, prefixes); err != nil {
		return nil, info, err
	}
	info.Candidates += len(prefixes)
	for i := len(prefixes) - 1; i >= 0 && best == nil; i-- {
		if prefixes[i].holds {
			best = prefixes[i]
		}
	}
	if best == nil {
		return nil, info, fmt.Errorf("%w any more: a step that kept it does not keep it alone", ErrNotThere)
	}
	info.Step = best.steps[len(best.steps)-1].name
	return best, info, nil
}

// round makes a round. It returns false if no single step keeps the finding.
func (r *reducer) round(ctx context.Context) (bool, error) {
	r.res.Rounds++
	if r.res.Rounds > maxRounds {
		return false, fmt.Errorf("no end after %d rounds", maxRounds)
	}
	t := r.res.Min.Test
	best, info, err := round(ctx, r, t, t.Hash(), r.steps(t))
	if err != nil {
		return false, err
	}
	if best != nil {
		r.res.Min.Test = best.test
		for _, s := range best.steps {
			r.took(s.name)
		}
	}
	info.Number = r.res.Rounds
	r.progress(info)
	return best != nil, nil
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

// steps lists the steps that are allowed.
func (r *reducer) steps(t *litmus.Test) (out []step) {
	for _, s := range steps(t) {
		if !r.keeps(s.part) && !(s.cache && r.needsCache()) {
			out = append(out, s)
		}
	}
	return out
}

func (r *reducer) singles(t *litmus.Test) []*candidate { return singles(r, t, t.Hash(), r.steps(t)) }

func (r *reducer) after(t *litmus.Test, s step) (*litmus.Test, string) {
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
