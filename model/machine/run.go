package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Options bound a run.
type Options struct {
	Unroll int // as in exec.Options
	// MaxStates bounds the states that are visited; 0 means 2 million.
	MaxStates int
	// End, if not nil, is called for every final state with the schedule that leads there, also
	// for repeated states; it returns false to stop.
	End func(values []int64, schedule func() []explore.Step) bool
}

// DefaultStates is the default bound on states: a judgement then needs a few hundred megabytes.
const DefaultStates = 2_000_000

// Run finds the final states that the machine can reach. If a limit is reached or ctx ends, the
// result has Undecided set. For tests that the model does not cover, the error wraps
// ErrOutside.
func (m *Model) Run(ctx context.Context, p *exec.Program, o Options) (*exec.Result, error) {
	if m.divided {
		p = p.Divided()
	}
	list, err := p.Unfold(o.Unroll)
	if err != nil {
		return nil, err
	}
	r := &runner{m: m, ctx: ctx, p: p, o: o, left: o.MaxStates, res: &exec.Result{Terms: p.Terms}, index: map[string]int{}}
	if r.left <= 0 {
		r.left = DefaultStates
	}
	for _, paths := range list {
		for _, path := range paths {
			r.res.Cut = r.res.Cut || path.Cut
		}
	}
	err = r.combine(list, nil)
	switch {
	case errors.Is(err, explore.ErrStop):
		r.res.Stopped = true
	case errors.Is(err, explore.ErrLimit):
		r.res.Undecided = fmt.Sprintf("limit of %d states reached", r.visited)
	case err != nil && ctx.Err() != nil:
		r.res.Undecided = fmt.Sprintf("stopped: %v", context.Cause(ctx))
	case err != nil:
		return nil, err
	}
	slices.SortFunc(r.res.States, func(a, b exec.State) int { return slices.Compare(a.Values, b.Values) })
	return r.res, nil
}

type runner struct {
	m             *Model
	ctx           context.Context
	p             *exec.Program
	o             Options
	left, visited int
	res           *exec.Result
	index         map[string]int
}

// combine chooses a path for every thread.
func (r *runner) combine(list [][]*exec.Path, pick []*exec.Path) error {
	if len(pick) < len(list) {
		for _, path := range list[len(pick)] {
			if path.Cut {
				continue
			}
			if path.Fault != "" {
				return fmt.Errorf("%w: %s", ErrOutside, path.Fault)
			}
			if err := r.combine(list, append(pick[:len(pick):len(pick)], path)); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := newProgram(r.p, pick)
	if err != nil {
		return err
	}
	for i := range p.events {
		if err := r.m.accepts(p, &p.events[i]); err != nil {
			return fmt.Errorf("%w %s: %s: %w", ErrOutside, r.m.Name, p.events[i].text, err)
		}
	}
	n, err := r.m.run(r.ctx, r.m, p, r.left, func(e end) error { return r.end(p, e) })
	r.left -= n
	r.visited += n
	r.res.Candidates += uint64(n)
	return err
}

// end records a final state, and its images under exchange of equal threads.
func (r *runner) end(p *Program, e end) error {
	if !e.images {
		return r.note(p.outcome(e, nil), e.schedule)
	}
	return p.images(func(as []int) error {
		return r.note(p.outcome(e, as), func() []explore.Step {
			list := e.schedule()
			for i := range list {
				list[i].Thread = slices.Index(as, list[i].Thread)
			}
			return list
		})
	})
}

// note counts a final state.
func (r *runner) note(values []int64, schedule func() []explore.Step) error {
	k := fmt.Sprint(values)
	i, ok := r.index[k]
	if !ok {
		i = len(r.res.States)
		r.index[k] = i
		r.res.States = append(r.res.States, exec.State{Values: values})
	}
	r.res.States[i].Count++
	if r.o.End != nil && !r.o.End(values, schedule) {
		return explore.ErrStop
	}
	return nil
}
