package chip

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"optcheck/litmus"
	"optcheck/report"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// Options say what to run.
type Options struct {
	Tests    []*litmus.Test
	Session  runner.Session
	Compiler *Compiler
	Judge    *Judge
	// Settings are the sets of incantations that each test is run under.
	Settings []drive.Incantations
	Tuning   drive.Tuning
	Seed     uint64
	// Instances and Budget end each run of a test under a setting.
	Instances uint64
	Budget    time.Duration
	// Total ends the campaign; 0: no limit.
	Total time.Duration
	// Unvalidated runs binaries that were not validated, too.
	Unvalidated bool
	// Batch is the number of tests that are compiled together; 0: 128.
	Batch int
	// Emit receives the results in the order of tests and settings.
	Emit func(*Result)
	// Progress is told what is done, in runs.
	Progress func(done, total int)
}

// prepared is a batch of tests that is ready to run.
type prepared struct {
	bins   []*Binary
	judged []*Judgement
	err    error
}

// Run runs the campaign. Cancelling ctx ends it; what was counted has been
// emitted.
func Run(ctx context.Context, o Options) error {
	image, err := o.Compiler.Collector(ctx)
	if err != nil {
		return err
	}
	collector, err := drive.LoadCollector(ctx, o.Session, image.Image)
	if err != nil {
		return err
	}
	c := &campaign{o: o, collector: collector, mem: &drive.Memory{}, start: time.Now(), device: TestedDevice(o.Session.Device()), compiler: o.Compiler.Name()}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	for p := range c.prepare(inner) {
		if p.err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return p.err
		}
		if err := c.batch(ctx, p); err != nil {
			return err
		}
		if ctx.Err() != nil || c.over() {
			return nil
		}
	}
	return nil
}

type campaign struct {
	o         Options
	device    report.TestedDevice
	compiler  string
	collector *drive.Collector
	mem       *drive.Memory
	start     time.Time
	done      int
}

func (c *campaign) over() bool { return c.o.Total > 0 && time.Since(c.start) > c.o.Total }

// prepare compiles, validates and judges batches ahead of the device, several
// at a time, and hands them over in order. What the driver compiles is prepared
// only when it is wanted: a session takes one call at a time.
func (c *campaign) prepare(ctx context.Context) iter.Seq[*prepared] {
	size := c.o.Batch
	if size <= 0 {
		size = 128
	}
	var batches [][]*litmus.Test
	for at := 0; at < len(c.o.Tests); at += size {
		batches = append(batches, c.o.Tests[at:min(at+size, len(c.o.Tests))])
	}
	ahead := max(1, runtime.GOMAXPROCS(0)/2)
	if c.o.Compiler.JIT {
		ahead = 0
	}
	return func(yield func(*prepared) bool) {
		ready := make([]chan *prepared, len(batches))
		next := 0
		start := func(upto int) {
			for ; next < len(batches) && next <= upto; next++ {
				one, tests := make(chan *prepared, 1), batches[next]
				ready[next] = one
				go func() { one <- c.one(ctx, tests) }()
			}
		}
		for i := range batches {
			start(i + ahead)
			if !yield(<-ready[i]) {
				return
			}
		}
	}
}

// one prepares a batch.
func (c *campaign) one(ctx context.Context, tests []*litmus.Test) *prepared {
	p := &prepared{}
	p.bins, p.err = c.o.Compiler.Build(ctx, tests)
	if p.err != nil {
		return p
	}
	for _, b := range p.bins {
		var j *Judgement
		if b.Image != nil {
			j = c.o.Judge.Binary(ctx, b)
		}
		p.judged = append(p.judged, j)
	}
	return p
}

// batch runs the tests of a batch.
func (c *campaign) batch(ctx context.Context, p *prepared) error {
	var module runner.Module
	var loaded *Image
	unload := func() error {
		if loaded == nil {
			return nil
		}
		loaded = nil
		return c.o.Session.Unload(context.WithoutCancel(ctx), module)
	}
	for i, b := range p.bins {
		if ctx.Err() != nil || c.over() {
			break
		}
		if b.Image == nil || !b.Validated && !c.o.Unvalidated {
			c.emit(ctx, c.empty(b, p.judged[i]))
			c.step(len(c.o.Settings))
			continue
		}
		if b.Image != loaded {
			if err := unload(); err != nil {
				return err
			}
			m, err := c.o.Session.Load(ctx, b.Image.Image)
			if err != nil {
				r := c.empty(b, p.judged[i])
				r.fail(err)
				c.emit(ctx, r)
				c.step(len(c.o.Settings))
				if errors.Is(err, runner.ErrCompile) {
					continue
				}
				return err
			}
			module, loaded = m, b.Image
		}
		if err := c.test(ctx, b, p.judged[i], module); err != nil {
			return err
		}
	}
	return unload()
}

func (c *campaign) step(n int) {
	c.done += n
	if c.o.Progress != nil {
		c.o.Progress(c.done, len(c.o.Tests)*len(c.o.Settings))
	}
}

// test runs one test under all settings.
func (c *campaign) test(ctx context.Context, b *Binary, j *Judgement, m runner.Module) error {
	prog, err := c.collector.Program(ctx, c.o.Session, b.Harness, m)
	if err != nil {
		r := c.empty(b, j)
		r.fail(err)
		c.emit(ctx, r)
		return nil
	}
	for _, set := range c.o.Settings {
		if ctx.Err() != nil || c.over() {
			return nil
		}
		r, err := c.setting(ctx, prog, b, j, set)
		if r != nil {
			c.emit(ctx, r)
		}
		c.step(1)
		if err != nil {
			return err
		}
	}
	return nil
}

// reruns is how often a forbidden outcome is tried again before it is reported.
const reruns = 3

// setting runs a test under one set of incantations.
func (c *campaign) setting(ctx context.Context, prog *drive.Program, b *Binary, j *Judgement, set drive.Incantations) (*Result, error) {
	job := drive.Job{Incantations: set, Tuning: c.o.Tuning, Seed: c.o.Seed, Instances: c.o.Instances, Budget: c.o.Budget, Domain: j.Domain()}
	r := c.empty(b, j)
	r.Setting, r.Column = set.String(), int(set)+1
	out, err := prog.Run(ctx, c.o.Session, c.mem, job)
	r.fill(out, j)
	if err != nil {
		r.fail(err)
		if errors.Is(err, runner.ErrTimeout) || errors.Is(err, runner.ErrUnsupported) || errors.Is(err, runner.ErrFault) || errors.Is(err, runner.ErrMemory) {
			err = nil // this test only
		}
		return r, err
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if !ByHardware(o.Effect) {
			continue
		}
		for k := 1; k <= reruns && ctx.Err() == nil; k++ {
			job.Seed = c.o.Seed + uint64(k)
			again, err := prog.Run(ctx, c.o.Session, c.mem, job)
			if err != nil {
				return r, fmt.Errorf("rerun: %w", err)
			}
			o.Reruns++
			for _, x := range again.Histogram.Outcomes() {
				if key(x.Values) == key(o.Values) {
					o.Confirmed++
					o.Again += x.Count
				}
			}
		}
	}
	return r, nil
}
