package device

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// Options say what to run.
type Options struct {
	Tests []*litmus.Test
	// Parents are the tests that divided ones were made of; see Divide.
	Parents  map[*litmus.Test]*litmus.Test
	Session  runner.Session
	Compiler *Compiler
	// Levels are the optimisation levels that the tests are run at, one after the other;
	// none: that of Compiler.
	Levels []string
	Judge  *Judge
	// Settings are those that each test is run under.
	Settings []drive.Setting
	Tuning   drive.Tuning // that the settings have in common, for the record
	Seed     uint64
	// Instances and Budget end each run of a test under a setting.
	Instances uint64
	Budget    time.Duration
	// Block is how many instances count as one in statistics; 0: a warp's without thread
	// randomisation, else one.
	Block uint64
	// Total ends the run; 0: no limit.
	Total time.Duration
	// Until, if not nil, makes the run adaptive: see Until.
	Until *Until
	// Unvalidated runs binaries that were not validated, too.
	Unvalidated bool
	// Batch is the number of tests that are compiled together; 0: 128, in adaptive runs 32.
	Batch int
	// Emit receives the results in the order of tests and settings.
	Emit func(*Result)
	// Progress is told what is done, in runs.
	Progress func(done, total int)
}

// prepared is a batch of tests that is ready to run.
type prepared struct {
	tests []*subject
	err   error
}

// subject is a test with its binaries.
type subject struct {
	test  *litmus.Test
	parts []*part // by form; nil where no setting has the form
}

// part is a test in one form.
type part struct {
	bin     *Binary
	judged  *Judgement
	program *drive.Program // once it is loaded
	refused *Result        // why it cannot run, once that is known
	alone   string         // of a divided test: what the model says of it on one device
}

// Run runs tests. Cancelling ctx ends it; what was counted has been
// emitted.
func Run(ctx context.Context, o Options) error {
	start := time.Now()
	for i, level := range o.levels() {
		x := o
		x.Compiler = new(Compiler)
		*x.Compiler = *o.Compiler
		x.Compiler.Level = level
		if x.Progress != nil {
			each := len(o.Tests) * len(o.Settings)
			x.Progress = func(done, total int) { o.Progress(i*each+done, len(o.levels())*each) }
		}
		if o.Total > 0 {
			if x.Total = o.Total - time.Since(start); x.Total <= 0 {
				return nil
			}
		}
		if err := run(ctx, x); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// levels are the optimisation levels.
func (o *Options) levels() []string {
	if len(o.Levels) == 0 {
		return []string{o.Compiler.Level}
	}
	return o.Levels
}

// run runs the tests at one level.
func run(ctx context.Context, o Options) error {
	c, err := newSeries(ctx, o)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Until != nil {
		_, err := c.until(ctx, c.prepare(inner))
		return errors.Join(err, c.unload(ctx))
	}
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

// newSeries loads what all tests need.
func newSeries(ctx context.Context, o Options) (*series, error) {
	image, err := o.Compiler.Collector(ctx)
	if err != nil {
		return nil, err
	}
	collector, err := drive.LoadCollector(ctx, o.Session, image.Image)
	if err != nil {
		return nil, err
	}
	return &series{o: o, collector: collector, mem: &drive.Memory{}, start: time.Now(), device: TestedDevice(o.Session.Device()),
		compiler: o.Compiler.Name()}, nil
}

type series struct {
	o         Options
	device    event.TestedDevice
	compiler  string
	collector *drive.Collector
	mem       *drive.Memory
	start     time.Time
	done      int
	modules   map[*Image]runner.Module
}

func (c *series) over() bool { return c.o.Total > 0 && time.Since(c.start) > c.o.Total }

// prepare compiles, validates and judges batches ahead of the device, several
// at a time, and hands them over in order. What the driver compiles is prepared
// only when it is wanted: a session takes one call at a time.
func (c *series) prepare(ctx context.Context) iter.Seq[*prepared] {
	size := c.o.Batch
	switch {
	case size > 0:
	case c.o.Until != nil:
		size = 32 // the device need not wait long for the first
	default:
		size = 128
	}
	var batches [][]*litmus.Test
	for at := 0; at < len(c.o.Tests); at += size {
		batches = append(batches, c.o.Tests[at:min(at+size, len(c.o.Tests))])
	}
	ahead := max(1, runtime.GOMAXPROCS(0)/2)
	if c.o.Compiler.alone() {
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
func (c *series) one(ctx context.Context, tests []*litmus.Test) *prepared {
	p := &prepared{}
	for _, t := range tests {
		p.tests = append(p.tests, &subject{t, make([]*part, len(ptxgen.Forms))})
	}
	for form := range ptxgen.Forms {
		if !slices.ContainsFunc(c.o.Settings, func(s drive.Setting) bool { return int(s.Kernel()) == form }) {
			continue
		}
		bins, err := c.o.Compiler.Build(ctx, tests, ptxgen.Form(form))
		if err != nil {
			p.err = err
			return p
		}
		for i, b := range bins {
			x := &part{bin: b}
			if b.Image != nil {
				x.judged, x.alone = c.o.Judge.Binary(ctx, b), c.alone(ctx, b.Test)
			}
			p.tests[i].parts[form] = x
		}
	}
	return p
}

// batch runs the tests of a batch.
func (c *series) batch(ctx context.Context, p *prepared) error {
	for _, t := range p.tests {
		for _, x := range t.parts {
			if x == nil || ctx.Err() != nil || c.over() {
				continue
			}
			if err := c.form(ctx, x); err != nil {
				return err
			}
		}
	}
	return c.unload(ctx)
}

// load makes a part ready to run; refused says why it is not.
func (c *series) load(ctx context.Context, x *part) (err error) {
	b := x.bin
	if x.program != nil || x.refused != nil {
		return nil
	}
	if b.Image == nil || !b.Validated && !c.o.Unvalidated {
		x.refused = c.empty(b, x.judged)
		return nil
	}
	m, ok := c.modules[b.Image]
	if !ok {
		if m, err = c.o.Session.Load(ctx, b.Image.Image); err == nil {
			if c.modules == nil {
				c.modules = map[*Image]runner.Module{}
			}
			c.modules[b.Image] = m
		}
	}
	if err == nil {
		if x.program, err = c.collector.Program(ctx, c.o.Session, b.Harness, m); err == nil {
			return nil
		}
	} else if !errors.Is(err, runner.ErrCompile) {
		return err
	}
	x.refused = c.empty(b, x.judged)
	x.refused.fail(err)
	return nil
}

// unload forgets what was loaded.
func (c *series) unload(ctx context.Context) (err error) {
	for _, m := range c.modules {
		err = errors.Join(err, c.o.Session.Unload(context.WithoutCancel(ctx), m))
	}
	c.modules = nil
	return err
}

func (c *series) step(n int) {
	c.done += n
	if c.o.Progress != nil {
		c.o.Progress(c.done, len(c.o.Tests)*len(c.o.Settings))
	}
}

// form runs a test in one form under all settings that have it.
func (c *series) form(ctx context.Context, x *part) error {
	if err := c.load(ctx, x); err != nil {
		return err
	}
	for _, set := range c.o.Settings {
		if x.bin.Form != set.Kernel() || ctx.Err() != nil || c.over() {
			continue
		}
		if x.refused == nil {
			if err := c.placed(ctx, x, set); err != nil {
				return err
			}
		}
		c.step(1)
	}
	if x.refused != nil {
		c.emit(ctx, x.refused)
	}
	return nil
}

// placed runs a part under a setting, with each placement of its locations.
func (c *series) placed(ctx context.Context, x *part, set drive.Setting) error {
	list, err := c.homes(x, set)
	if err != nil {
		return err
	}
	for _, homes := range list {
		if ctx.Err() != nil || c.over() {
			return nil
		}
		r, err := c.setting(ctx, x, set, homes)
		if r != nil {
			c.emit(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// job is how a part is run under a setting.
func (c *series) job(x *part, set drive.Setting) drive.Job {
	return drive.Job{Incantations: set.Incantations, Tuning: set.Tuning, Seed: c.o.Seed, Instances: c.o.Instances, Budget: c.o.Budget,
		Domain: x.judged.Domain()}
}

// started is the result of a part that is run under a setting.
func (c *series) started(x *part, set drive.Setting) *Result {
	r := c.empty(x.bin, x.judged)
	r.Setting, r.set, r.unit = set.String(), set, c.o.Block
	if set.Name == "" {
		r.Column = int(set.Incantations) + 1
	}
	return r
}

// thisOnly reports whether an error of a run says nothing of the runs behind it.
func thisOnly(err error) bool {
	return errors.Is(err, runner.ErrTimeout) || errors.Is(err, runner.ErrUnsupported) || errors.Is(err,
		runner.ErrFault) || errors.Is(err, runner.ErrMemory)
}

// setting runs a part under one setting, with its locations on the devices homes.
func (c *series) setting(ctx context.Context, x *part, set drive.Setting, homes []int) (*Result, error) {
	job, r := c.job(x, set), c.started(x, set)
	job.Homes = homes
	c.place(r, x, homes)
	out, err := x.program.Run(ctx, c.o.Session, c.mem, job)
	r.fill(out, x.judged)
	if err != nil {
		r.fail(err)
		if thisOnly(err) {
			err = nil
		}
		return r, err
	}
	return r, c.again(ctx, x, job, r)
}

// reruns is how often a forbidden outcome is tried again before it is reported.
const reruns = 3

// again runs a part some times more if it showed what it must not.
func (c *series) again(ctx context.Context, x *part, job drive.Job, r *Result) error {
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if !ByHardware(o.Effect) {
			continue
		}
		for k := 1; k <= reruns && ctx.Err() == nil; k++ {
			job.Seed++
			again, err := x.program.Run(ctx, c.o.Session, c.mem, job)
			if err != nil {
				return fmt.Errorf("rerun: %w", err)
			}
			o.Reruns++
			for _, y := range again.Histogram.Outcomes() {
				if key(y.Values) == key(o.Values) {
					o.Confirmed++
					o.Again += y.Count
				}
			}
		}
	}
	return nil
}
