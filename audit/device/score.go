package device

import (
	"context"
	"slices"
	"time"

	"optcheck/runner/drive"
)

// Contender is a way to run tests that is scored: an adaptive run under some
// settings.
type Contender struct {
	Name     string
	Settings []drive.Setting
}

// Score is what a contender has shown of the outcomes that are allowed and not
// sequentially consistent.
type Score struct {
	Contender string
	Open      int     // tests with such an outcome
	Firsts    []First // by time
	Elapsed   time.Duration
	// Interrupted tells that the run was ended from outside before its time.
	Interrupted bool
}

// Share is the part of the outcomes that was seen, 0 to 1.
func (s *Score) Share() float64 {
	if s.Open == 0 {
		return 0
	}
	return float64(len(s.Firsts)) / float64(s.Open)
}

// PerSecond is how many outcomes were seen first per second.
func (s *Score) PerSecond() float64 { return float64(len(s.Firsts)) / max(s.Elapsed.Seconds(), 1e-9) }

// RunScore scores contenders by the same binaries, one behind the other, each for a time.
func RunScore(ctx context.Context, o Options, contenders []Contender, each time.Duration, tell func(*Score)) error {
	o.Settings = nil
	for _, x := range contenders {
		o.Settings = append(o.Settings, x.Settings...)
	}
	if o.Emit == nil {
		o.Emit = func(*Result) {}
	}
	c, err := newSeries(ctx, o)
	if err != nil {
		return err
	}
	var all []*prepared
	for p := range c.prepare(ctx) {
		if p.err != nil {
			return p.err
		}
		all = append(all, p)
	}
	for _, x := range contenders {
		s := &Score{Contender: x.Name}
		c.o.Settings, c.start = x.Settings, time.Now()
		c.o.Until = &Until{Time: each, Share: 1, Told: func(f First) { s.Firsts = append(s.Firsts, f) }}
		h, err := c.until(ctx, slices.Values(all))
		if err != nil {
			return err
		}
		s.Open, s.Elapsed = h.total, time.Since(c.start)
		s.Interrupted = ctx.Err() != nil
		tell(s)
		if s.Interrupted {
			return ctx.Err()
		}
	}
	return nil
}
