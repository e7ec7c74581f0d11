package reduce

import (
	"context"
	"fmt"
	"time"
)

// stepOf is one simplification of a T, a litmus test, a kernel or a text. It must be applicable after
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

// subject says what a reduction must know of a T.
type subject[T any] interface {
	// after returns a copy after a step, and what distinguishes it from others (key); "" if the step
	// does not apply or the result is not valid.
	after(T, stepOf[T]) (T, string)
	key(T) string
	// ask tells of each candidate whether it has the finding. No two have one key, and none was asked about before.
	ask(context.Context, []T) ([]bool, error)
	// size counts the threads and instructions of a T, or what it has in their place.
	size(T) (threads, instrs int)
}

// Round describes a round of a reduction.
type Round struct {
	Number     int    // counted from 1
	Candidates int    // tests compiled in this round
	Kept       int    // candidates that still have the finding
	Step       string // the last simplification taken, "" if none was left
	Threads    int    // of the smallest test so far
	Instrs     int    // of the smallest test so far
}

// Effort is what a reduction did.
type Effort struct {
	Steps      []string `json:"steps"`             // the simplifications taken, in order
	Stopped    bool     `json:"stopped,omitempty"` // a limit ended it: further steps might lead on
	Rounds     int      `json:"rounds"`
	Candidates int      `json:"candidates"` // that were judged
}

// within makes a reduction until it ends, or a limit of time does: what is reached then is the result. 0 is no limit.
func (e *Effort) within(ctx context.Context, limit time.Duration, all func(context.Context) error) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	err := all(limited)
	if e.Stopped = err != nil && limited.Err() != nil && ctx.Err() == nil; e.Stopped {
		return nil
	}
	return err
}

// maxRounds ends a reduction that does not terminate. Every step makes a test smaller, so only
// a bug here can reach it.
const maxRounds = 500

// reduction is the smallest T so far, and what was learned on the way to it.
type reduction[T any] struct {
	of       subject[T]
	now      T
	seen     map[string]bool // whether what has a key has the finding
	progress func(Round)     // nil if nobody wants to know
	Effort
}

// singles lists what one of the steps leads to, each once.
func (r *reduction[T]) singles(list []stepOf[T]) (out []*candidateOf[T]) {
	seen := map[string]bool{r.of.key(r.now): true, "": true}
	for _, st := range list {
		if n, k := r.of.after(r.now, st); !seen[k] {
			seen[k] = true
			out = append(out, &candidateOf[T]{test: n, steps: []stepOf[T]{st}})
		}
	}
	return out
}

// chain applies steps one after the other, skipping those that no longer lead to anything valid
// or new, and lists what there is after each.
func (r *reduction[T]) chain(list []stepOf[T]) (out []*candidateOf[T]) {
	now, key := r.now, r.of.key(r.now)
	var taken []stepOf[T]
	for _, st := range list {
		n, k := r.of.after(now, st)
		if k == "" || k == key {
			continue
		}
		now, key, taken = n, k, append(taken[:len(taken):len(taken)], st)
		out = append(out, &candidateOf[T]{test: now, steps: taken})
	}
	return out
}

// try finds out which candidates have the finding, those not known yet in one batch.
func (r *reduction[T]) try(ctx context.Context, list []*candidateOf[T]) error {
	var todo []T
	var keys []string
	asked := map[string]bool{}
	for _, c := range list {
		key := r.of.key(c.test)
		if _, known := r.seen[key]; !known && !asked[key] {
			todo, keys, asked[key] = append(todo, c.test), append(keys, key), true
		}
	}
	if len(todo) > 0 {
		holds, err := r.of.ask(ctx, todo)
		if err != nil {
			return err
		}
		if r.Candidates += len(todo); r.seen == nil {
			r.seen = map[string]bool{}
		}
		for i, key := range keys {
			r.seen[key] = holds[i]
		}
	}
	for _, c := range list {
		c.holds = r.seen[r.of.key(c.test)]
	}
	return nil
}

// has reports whether a T has the finding.
func (r *reduction[T]) has(ctx context.Context, t T) (bool, error) {
	c := &candidateOf[T]{test: t}
	err := r.try(ctx, []*candidateOf[T]{c})
	return c.holds, err
}

// best tries every single step at once. It then chains the steps that keep the finding, tries
// all prefixes at once, and returns the longest that keeps it, nil if no single step does.
func (r *reduction[T]) best(ctx context.Context, list []stepOf[T]) (best *candidateOf[T], info Round, err error) {
	single := r.singles(list)
	if err := r.try(ctx, single); err != nil {
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
	prefixes := r.chain(good)
	if err := r.try(ctx, prefixes); err != nil {
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

// round makes a round with some steps. It returns false if no single step keeps the finding.
func (r *reduction[T]) round(ctx context.Context, list []stepOf[T]) (bool, error) {
	if r.Rounds++; r.Rounds > maxRounds {
		return false, fmt.Errorf("no end after %d rounds", maxRounds)
	}
	best, info, err := r.best(ctx, list)
	if err != nil {
		return false, err
	}
	if best != nil {
		r.now = best.test
		for _, s := range best.steps {
			r.Steps = append(r.Steps, s.name)
		}
	}
	if info.Number = r.Rounds; r.progress != nil {
		info.Threads, info.Instrs = r.of.size(r.now)
		r.progress(info)
	}
	return best != nil, nil
}

// rounds makes rounds with the steps of what is the smallest then, as long as they lead on.
func (r *reduction[T]) rounds(ctx context.Context, steps func(T) []stepOf[T]) error {
	for {
		if again, err := r.round(ctx, steps(r.now)); err != nil || !again {
			return err
		}
	}
}
