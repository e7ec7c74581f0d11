package program

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"optcheck/runner"
)

// Count is what became of runs.
type Count struct {
	// Runs are those whose end is known; each of the others is a part of it.
	Runs     uint64 `json:"runs"`
	Wrong    uint64 `json:"wrong"`
	Overruns uint64 `json:"overruns,omitempty"`
	Timeouts uint64 `json:"timeouts,omitempty"`
	Faults   uint64 `json:"faults,omitempty"`
	// Lost are runs of which nothing is known, because another one of their batch did
	// not end, or failed.
	Lost    uint64  `json:"lost,omitempty"`
	Seconds float64 `json:"seconds"`
	// First says what was wrong first, and FirstRun in which run.
	First    string `json:"first,omitempty"`
	FirstRun uint64 `json:"first_run,omitempty"`
}

// Errors counts the runs that were not right. A run that did not end in time is one.
func (c *Count) Errors() uint64 { return c.Wrong + c.Overruns + c.Timeouts + c.Faults }

// Rate is the share of errors, with its 95 % interval.
func (c *Count) Rate() (rate float64, i runner.Interval) {
	return runner.Rate(c.Errors(), c.Runs), runner.RateInterval(c.Errors(), c.Runs)
}

// next is the number of the next run.
func (c *Count) next() uint64 { return c.Runs + c.Lost }

func (c *Count) add(o Outcome) {
	if o.Kind != Right && c.First == "" {
		c.First, c.FirstRun = o.Detail, c.next()
	}
	c.Runs++
	switch o.Kind {
	case Right:
	case Wrong:
		c.Wrong++
	case Overrun:
		c.Overruns++
	case Timeout:
		c.Timeouts++
	case Fault:
		c.Faults++
	}
}

// lose counts a batch of n runs that was lost: one of them did not end, or failed.
func (c *Count) lose(err error, n int) {
	o := Outcome{Fault, firstLine(err)}
	if errors.Is(err, runner.ErrTimeout) {
		o = Outcome{Timeout, "a run did not end in time"}
	}
	c.add(o)
	c.Lost += uint64(n - 1)
}

// Limit ends a measurement: after Runs, after Time, or, with Stop, after the first
// error. Zero is no limit.
type Limit struct {
	Runs uint64
	Time time.Duration
	Stop bool
}

func (l *Limit) reached(c *Count) bool {
	return l.Runs > 0 && c.Runs >= l.Runs || l.Time > 0 && c.Seconds >= l.Time.Seconds() || l.Stop && c.Errors() > 0
}

// Run measures a variant in an environment, after what was counted before: run n is
// drawn from the seed and n. each is told from time to time. The count is valid with an
// error, too.
func (m *Machine) Run(ctx context.Context, v *Variant, e *Environment, s Setting, limit Limit, c Count, each func(Count)) (Count, error) {
	n := 1
	for !limit.reached(&c) {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		size := min(n, m.most(v))
		if limit.Runs > 0 {
			size = int(min(uint64(size), limit.Runs-c.Runs))
		}
		first, start := c.next(), time.Now()
		out, err := m.batch(ctx, v, m.drawing(v, e, s, first), size)
		took := time.Since(start)
		switch {
		case ctx.Err() != nil:
			return c, ctx.Err()
		case err != nil && runner.Lost(err):
			c.lose(err, size)
			n = 1
		case err != nil:
			return c, err
		case took < batchTime:
			n = 2 * size
		}
		c.Seconds += took.Seconds()
		for _, o := range out {
			c.add(o)
		}
		if each != nil {
			each(c)
		}
	}
	return c, nil
}

// batchTime is about how long a batch takes: what one hang can cost is small.
const batchTime = 100 * time.Millisecond

// most is how many runs fit into a batch.
func (m *Machine) most(v *Variant) int {
	commands := len(m.commands(v, func(*Launch) (uint32, []uint32) { return 1, nil }, 0))
	return int(max(1, min(uint64(runner.MaxCommands/2/commands), m.logBytes/m.slot())))
}

// Setting is what decides how an environment is drawn: the seed, and for how many
// rounds blocks stress.
type Setting struct {
	Seed   uint64 `json:"run_seed"`
	Rounds uint32 `json:"rounds,omitempty"`
}

// drawing is how an environment draws the launches of runs: the same for the same seed
// and number of the run.
func (m *Machine) drawing(v *Variant, e *Environment, s Setting, first uint64) func(int, *Launch) (uint32, []uint32) {
	at, rnd := -1, (*rand.Rand)(nil)
	return func(run int, l *Launch) (uint32, []uint32) {
		if run != at {
			at, rnd = run, rand.New(rand.NewPCG(s.Seed, first+uint64(run)))
		}
		return e.draw(rnd, l, m.room, s.Rounds, v.Build.Own)
	}
}

// Calibrate finds for how many rounds blocks must stress so that a run takes length
// times as long as without: the paper has ten (Sec. 4.2). Of a program whose runs are
// long, because it waits in vain, it takes what it has after calibrationTime.
func (m *Machine) Calibrate(ctx context.Context, v *Variant, e *Environment, seed uint64, length float64) (uint32, error) {
	if !e.Stress {
		return 0, nil
	}
	took := func(e *Environment, rounds uint32) (time.Duration, error) {
		times, _, err := m.timed(ctx, v, m.drawing(v, e, Setting{seed, rounds}, 0), calibrationRuns)
		mid, _, _ := median(times)
		return time.Duration(1000 * mid), err
	}
	var err error
	if quiet := *e; m.alone == 0 {
		quiet.Stress = false
		if _, err = took(&quiet, 0); err == nil { // the first runs of a kernel are slow
			m.alone, err = took(&quiet, 0)
		}
	}
	rounds := uint32(minRounds)
	for start := time.Now(); err == nil && rounds < maxRounds && time.Since(start) < calibrationTime; {
		var t time.Duration
		if t, err = took(e, rounds); float64(t) >= length*float64(m.alone) {
			break
		}
		rounds *= 2
	}
	if runner.Lost(err) { // a run that does not end says nothing of the time
		err = nil
	}
	return rounds, err
}

const (
	calibrationRuns = 8
	calibrationTime = 2 * time.Second
	minRounds       = 16
	maxRounds       = 1 << 20
)
