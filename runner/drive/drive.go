package drive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"optcheck/ptxgen"
	"optcheck/runner"
)

// Job is what to run.
type Job struct {
	Incantations Incantations
	Tuning       Tuning
	Seed         uint64
	// Instances is how many instances to run at least; 0: as many as Budget
	// allows.
	Instances uint64
	// Budget ends the run; 0: no limit. One of Instances and Budget is needed.
	Budget time.Duration
	// Domain lists further values of the test's terms; see Domain.
	Domain [][]int64
	// Timeout is the watchdog's; 0: the default.
	Timeout time.Duration
	// Homes are the devices in whose memory the locations lie, by location; nil: the
	// first device of the session.
	Homes []int
	// Lone runs one instance per launch, as tools did before; for comparisons.
	Lone bool
	// Enough, if not nil, ends the run when it reports true of what was counted.
	Enough func(*Outcome) bool
	// Progress, if not nil, is told the instances done so far.
	Progress func(done uint64, elapsed time.Duration)
}

// Outcome is what a run has counted. It is valid also beside an error: then it
// holds what was counted before.
type Outcome struct {
	Histogram *runner.Histogram
	// Other is the number of instances with a value that was not expected;
	// Samples are some of their outcomes.
	Other   uint64
	Samples [][]int64
	// Launches is the number of launches of the test kernel.
	Launches uint64
	// StressAccesses and GaveUp are the device's counters: stress accesses
	// performed, and warps that waited in vain for others.
	StressAccesses, GaveUp uint64
	// Elapsed is host time around all batches, Device the part that the
	// repetitions took.
	Elapsed, Device time.Duration
	First, Last     runner.State
	Faults          []error // batches that were lost
}

// Add takes in what another run of the same test has counted.
func (o *Outcome) Add(x *Outcome) error {
	for _, y := range x.Histogram.Outcomes() {
		if err := o.Histogram.Add(y.Values, y.Count); err != nil {
			return err
		}
	}
	o.Other += x.Other
	o.Samples = append(o.Samples, x.Samples[:min(len(x.Samples), ptxgen.MaxSamples-len(o.Samples))]...)
	o.Launches += x.Launches
	o.StressAccesses += x.StressAccesses
	o.GaveUp += x.GaveUp
	o.Elapsed += x.Elapsed
	o.Device += x.Device
	o.Last = x.Last
	o.Faults = append(o.Faults, x.Faults...)
	return nil
}

// Instances is the number of instances counted.
func (o *Outcome) Instances() uint64 { return o.Histogram.Total() + o.Other }

// maxFaults is how many batches in a row may be lost before a run is given up.
const maxFaults = 3

// Run runs a program. Interrupting ctx is no error: what was counted is
// returned.
func (p *Program) Run(ctx context.Context, s runner.Session, m *Memory, j Job) (*Outcome, error) {
	o := &Outcome{Histogram: runner.NewHistogram(p.H.Test)}
	if j.Instances == 0 && j.Budget == 0 {
		return o, errors.New("neither a number of instances nor a time limit")
	}
	r := &run{p: p, s: s, m: m, j: j, o: o}
	var err error
	if r.bins, err = newBins(p.H, Domain(p.H.Test, j.Domain)); err != nil {
		return o, err
	}
	if err := r.prepare(ctx); err != nil {
		return o, err
	}
	start := time.Now()
	defer func() { o.Elapsed = time.Since(start) }()
	repeat, faults := uint64(1), 0
	for ctx.Err() == nil {
		if j.Instances > 0 && o.Instances() >= j.Instances || j.Budget > 0 && time.Since(start) >= j.Budget {
			break
		}
		if j.Instances > 0 {
			repeat = min(repeat, (j.Instances-o.Instances()+r.perBody-1)/r.perBody)
		}
		took, err := r.batch(ctx, repeat, start)
		switch {
		case err == nil:
			faults = 0
		case errors.Is(err, runner.ErrCancelled):
			return o, nil
		case errors.Is(err, runner.ErrFault) || errors.Is(err, runner.ErrTimeout) || errors.Is(err, runner.ErrChild):
			o.Faults = append(o.Faults, err)
			if faults++; faults >= maxFaults || errors.Is(err, runner.ErrTimeout) {
				return o, err
			}
			continue
		default:
			return o, err
		}
		if j.Progress != nil {
			j.Progress(o.Instances(), time.Since(start))
		}
		if j.Enough != nil && j.Enough(o) {
			break
		}
		repeat = next(repeat, took)
		if j.Instances == 0 { // the budget ends it
			repeat = math.MaxUint32
		}
	}
	return o, nil
}

// want is how long a batch takes, about.
const want = time.Second

// next makes batches of that length.
func next(repeat uint64, took time.Duration) uint64 {
	switch {
	case took < want/16:
		return repeat * 16
	case took < want/2 || took > 2*want:
		return max(1, uint64(float64(repeat)*float64(want)/float64(took)))
	}
	return repeat
}

type run struct {
	p       *Program
	s       runner.Session
	m       *Memory
	j       Job
	o       *Outcome
	bins    *bins
	body    []runner.Command
	perBody uint64
	planned uint64 // launches of the test in body
	setup   []runner.Command
	final   []runner.Command
}

// prepare makes the launches of a batch and the memory that they need.
func (r *run) prepare(ctx context.Context) error {
	pl := newPlanner(r.p.H, r.s.Device(), r.j)
	pl.threads = r.p.resident
	if err := pl.spread(r.s.Devices()); err != nil {
		return err
	}
	r.planned = 1
	if r.j.Incantations&(Random|Banks) != 0 {
		r.planned = uint64(max(r.j.Tuning.Launches, 1))
	}
	var launches []*launch
	need := footprint{cells: make([]uint64, len(r.p.H.Widths))}
	for range r.planned {
		l, err := pl.launch()
		if err != nil {
			return err
		}
		launches = append(launches, l)
		r.perBody += uint64(l.instances)
		need.add(r.p.H, l)
	}
	if err := r.locations(ctx, pl.homes, &need); err != nil {
		return err
	}
	if err := r.working(ctx, pl.devices, &need); err != nil {
		return err
	}
	for _, l := range launches {
		c, err := r.p.commands(r.m, l, r.bins)
		if err != nil {
			return err
		}
		r.body = append(r.body, c...)
	}
	return nil
}

// batch runs the body some times and adds what was counted.
func (r *run) batch(ctx context.Context, repeat uint64, start time.Time) (time.Duration, error) {
	b := &runner.Batch{Setup: r.setup, Body: r.body, Repeat: repeat, Final: r.final, Timeout: r.j.Timeout}
	if r.j.Budget > 0 {
		b.Budget = min(max(r.j.Budget-time.Since(start), time.Millisecond), want)
	}
	res, err := r.s.Run(ctx, b)
	if res == nil || len(res.Reads) < 3 {
		if err == nil {
			err = fmt.Errorf("%w: a batch without results", runner.ErrChild)
		}
		return 0, err
	}
	if e := r.count(res); e != nil {
		return 0, e
	}
	if r.o.Launches == 0 {
		r.o.First = res.Before
	}
	r.o.Last = res.After
	r.o.Launches += res.Done * r.planned
	r.o.Device += res.Body
	return res.Body, err
}

// count adds the bins of a batch.
func (r *run) count(res *runner.Result) error {
	hist, samples, counters := res.Reads[0], res.Reads[1], res.Reads[2]
	sum := uint64(0)
	counts := make([]uint64, r.bins.total+1)
	for i := range counts {
		counts[i] = binary.LittleEndian.Uint64(hist[8*i:])
		sum += counts[i]
	}
	if want := res.Done * r.perBody; sum != want {
		return fmt.Errorf("%w: the device counted %d instances, %d were run", runner.ErrFault, sum, want)
	}
	for i, n := range counts[:r.bins.total] {
		if err := r.o.Histogram.Add(r.bins.values(r.p.H, i), n); n > 0 && err != nil {
			return err
		}
	}
	r.o.Other += counts[r.bins.total]
	r.o.StressAccesses += binary.LittleEndian.Uint64(counters[ptxgen.CounterStress:])
	r.o.GaveUp += binary.LittleEndian.Uint64(counters[ptxgen.CounterGaveUp:])
	n := min(int(binary.LittleEndian.Uint32(samples)), ptxgen.MaxSamples)
	for k := 1; k <= n && len(r.o.Samples) < ptxgen.MaxSamples; k++ {
		words := make([]uint32, len(r.bins.words))
		for t := range words {
			words[t] = binary.LittleEndian.Uint32(samples[4*(k*ptxgen.SampleWords+t):])
		}
		r.o.Samples = append(r.o.Samples, r.bins.join(r.p.H, words))
	}
	return nil
}
