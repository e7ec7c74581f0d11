package runner

import (
	"context"
	"time"
)

// Executor is what a back end offers to Execute.
type Executor interface {
	// Enqueue starts one command of repetition i. Commands take effect in
	// order. The data of a Read are complete when it returns.
	Enqueue(c *Command, i uint64) ([]byte, error)
	// Synchronise waits until everything enqueued has completed.
	Synchronise() error
	// State reads clocks and temperature, and the energy used if asked for; what cannot be
	// read stays zero.
	State(energy bool) State
	// Marks gives the times of the Mark commands since it was last called, and
	// forgets them. Everything enqueued has completed.
	Marks() ([]time.Duration, error)
}

// Between two synchronisations, which are the heartbeats of a batch, lie as
// many repetitions as take about this long.
const (
	beatShort = 50 * time.Millisecond
	beatLong  = 150 * time.Millisecond
	maxChunk  = 1 << 20
)

// Execute runs a batch on a back end: the common part of Session.Run.
func Execute(ctx context.Context, b *Batch, x Executor) (*Result, error) {
	if err := b.Check(); err != nil {
		return nil, &Error{Kind: ErrUsage, Op: "batch", Err: err}
	}
	progress := b.Progress
	if progress == nil {
		progress = func(uint64) {}
	}
	if _, err := x.Marks(); err != nil { // of a batch that failed
		return nil, err
	}
	r := &Result{Before: x.State(b.Energy)}
	if err := parts(ctx, b, x, r, progress); err != nil {
		// What was enqueued before a refused command still runs: it must not run
		// into the next batch, and its own fault weighs more.
		if e := x.Synchronise(); e != nil && !Lost(err) {
			return nil, e
		}
		return nil, err
	}
	r.After = x.State(b.Energy)
	var err error
	if r.Marks, err = x.Marks(); err != nil {
		return nil, err
	}
	progress(r.Done)
	if ctx.Err() != nil && r.Stopped {
		return r, cancelled(ctx, "batch")
	}
	return r, nil
}

func parts(ctx context.Context, b *Batch, x Executor, r *Result, progress func(uint64)) error {
	start := time.Now()
	if err := list(x, b.Setup, r); err != nil {
		return err
	}
	progress(0)
	body := time.Now()
	if err := repeat(ctx, b, x, r, progress); err != nil {
		return err
	}
	r.Body = time.Since(body)
	if err := list(x, b.Final, r); err != nil {
		return err
	}
	r.Elapsed = time.Since(start)
	return nil
}

// list executes commands once.
func list(x Executor, commands []Command, r *Result) error {
	for i := range commands {
		data, err := x.Enqueue(&commands[i], 0)
		if err != nil {
			return err
		}
		if commands[i].Kind == CommandRead {
			r.Reads = append(r.Reads, data)
		}
	}
	return x.Synchronise()
}

// repeat executes the body until the count, the budget or the context ends it.
func repeat(ctx context.Context, b *Batch, x Executor, r *Result, progress func(uint64)) error {
	total := max(1, b.Repeat)
	chunk := uint64(1)
	start := time.Now()
	watts, samples, sampled := 0.0, 0.0, start
	for r.Done < total {
		// A batch that is stopped before it began has done nothing, which Final
		// must see too; a budget is for the repetitions and allows one.
		if ctx.Err() != nil || b.Budget > 0 && r.Done > 0 && time.Since(start) >= b.Budget {
			r.Stopped = true
			return nil
		}
		n := min(chunk, total-r.Done)
		begin := time.Now()
		for i := range n {
			for c := range b.Body {
				if _, err := x.Enqueue(&b.Body[c], r.Done+i); err != nil {
					return err
				}
			}
		}
		if err := x.Synchronise(); err != nil {
			return err
		}
		r.Done += n
		if time.Since(sampled) >= beatLong { // asking takes time, too
			sampled = time.Now()
			if w := x.State(false).PowerWatt; w > 0 {
				watts, samples = watts+w, samples+1
				r.Watts = watts / samples
			}
		}
		progress(r.Done)
		chunk = nextChunk(n, time.Since(begin), b.Budget, time.Since(start))
	}
	return nil
}

// nextChunk adapts the number of repetitions between heartbeats to the time
// that n of them took and to what is left of the budget.
func nextChunk(n uint64, took, budget, used time.Duration) uint64 {
	each := float64(took) / float64(n)
	switch {
	case took < beatShort:
		n = min(2*n, maxChunk)
	case took > beatLong:
		n = max(1, n/2)
	}
	if budget > 0 && took > 0 {
		fits := float64(budget-used) / each
		n = max(1, min(n, uint64(max(0, fits))+1))
	}
	return n
}

// Since turns times into those from the first one on.
func Since(times []time.Time) (list []time.Duration) {
	for _, t := range times {
		list = append(list, t.Sub(times[0]))
	}
	return list
}
