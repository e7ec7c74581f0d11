package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"optcheck/runner"
)

// Timed runs a variant as it is some times, and gives the time on the device that the
// launches of each run took, without setting buffers back and checks, and what became
// of it.
func (m *Machine) Timed(ctx context.Context, v *Variant, n int) (times []time.Duration, out []Outcome, err error) {
	return m.timed(ctx, v, nil, n)
}

// timed times runs whose launches are drawn.
func (m *Machine) timed(ctx context.Context, v *Variant, draw func(int, *Launch) (uint32, []uint32), n int) (times []time.Duration,
	out []Outcome, err error) {
	slot := m.slot()
	for len(out) < n {
		if err := m.start(ctx); err != nil {
			return nil, nil, err
		}
		size := min(n-len(out), timedBatch, m.most(v))
		b := &runner.Batch{Timeout: time.Duration(size+1) * m.P.Timeout}
		for i := range size {
			one := func(l *Launch) (uint32, []uint32) { return draw(i, l) }
			b.Body = append(b.Body, m.commands(v, one, uint64(i)*slot, runner.Mark())...)
		}
		b.Final = []runner.Command{runner.Read(m.log, 0, uint64(size)*slot)}
		r, err := m.S.Run(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		if len(r.Marks) != 2*size {
			return nil, nil, errors.New("the device's times are not there")
		}
		for i := range size {
			times = append(times, r.Marks[2*i+1]-r.Marks[2*i])
		}
		out = append(out, m.judged(r.Reads[0], size)...)
	}
	return times, out, nil
}

// timedBatch is how many runs are timed in one batch.
const timedBatch = 32

// Cost is what a variant of a program costs.
type Cost struct {
	Program string `json:"program"`
	Target  string `json:"target"`
	// Variant is "as it is", "hardened" or "all"; Fences are its.
	Variant string `json:"variant"`
	Fences  Fences `json:"fences,omitempty"`
	// Median is the time of a run on the device in microseconds, Low to High its 95 %
	// interval, of Runs runs; Wrong of them were not right.
	Runs   int     `json:"runs"`
	Wrong  int     `json:"wrong"`
	First  string  `json:"first,omitempty"` // what was wrong first
	Median float64 `json:"median_us"`
	Low    float64 `json:"low_us"`
	High   float64 `json:"high_us"`
	// Energy is that of the runs of a batch, which set buffers back, too; SetBack that of a
	// batch that does nothing else: the control. nil if it was not measured.
	Energy  *Energy `json:"energy,omitempty"`
	SetBack *Energy `json:"set_back,omitempty"`
	// Class and Sync are those of Build.
	Class string      `json:"class,omitempty"`
	Sync  []MachineOp `json:"machine_code,omitempty"`
}

// Energy is what a batch of runs took: Watts is the mean power, Millijoules that of one
// run, by the device's counter of energy if Counter says so, else power times time.
type Energy struct {
	Runs        uint64  `json:"runs"`
	Seconds     float64 `json:"seconds"`
	Watts       float64 `json:"watts"`
	Millijoules float64 `json:"millijoule"`
	Counter     bool    `json:"counter"`
}

// Millijoules is the energy of the launches of a run: what setting buffers back takes is
// subtracted. 0 if it was not measured, or is too little to tell.
func (c *Cost) Millijoules() float64 {
	if c.Energy == nil || c.SetBack == nil {
		return 0
	}
	return max(0, c.Energy.Millijoules-c.SetBack.Millijoules)
}

// Priced is a variant to measure.
type Priced struct {
	Name   string
	Fences Fences
}

// Costs measures variants: runs of all timed in turn, then for each a batch of at least
// so long for its energy.
func (m *Machine) Costs(ctx context.Context, list []Priced, runs int, energy time.Duration) (out []*Cost, err error) {
	variants := make([]*Variant, len(list))
	times := make([][]time.Duration, len(list))
	for i, p := range list {
		if variants[i], err = m.Load(ctx, p.Fences, false); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		defer func() { _ = m.Unload(ctx, variants[i]) }()                   // what fails here fails later, too
		if _, _, err := m.Timed(ctx, variants[i], timedBatch); err != nil { // the first runs are slow
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		out = append(out, &Cost{Program: m.P.Name, Target: m.S.Device().Target, Variant: p.Name, Fences: p.Fences,
			Class: variants[i].Build.Class, Sync: variants[i].Build.Sync})
	}
	for done := 0; done < runs; done += timedBatch {
		for i, v := range variants {
			some, outcomes, err := m.Timed(ctx, v, min(timedBatch, runs-done))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list[i].Name, err)
			}
			times[i] = append(times[i], some...)
			for _, o := range outcomes {
				if o.Kind != Right {
					out[i].Wrong++
					out[i].First = cmp.Or(out[i].First, o.Detail)
				}
			}
		}
	}
	for i, c := range out {
		c.Runs = len(times[i])
		c.Median, c.Low, c.High = median(times[i])
	}
	if energy <= 0 {
		return out, nil
	}
	control, err := m.energy(ctx, m.setBack(), energy)
	for i, c := range out {
		if err == nil {
			c.SetBack = control
			c.Energy, err = m.energy(ctx, append(m.setBack(), m.launches(variants[i], nil)...), energy)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, energy: %w", c.Variant, err)
		}
	}
	return out, nil
}

// energy measures a batch that repeats what a run does; nil if the device does not tell.
func (m *Machine) energy(ctx context.Context, run []runner.Command, least time.Duration) (*Energy, error) {
	if err := m.start(ctx); err != nil {
		return nil, err
	}
	r, err := m.S.Run(ctx, &runner.Batch{Body: run, Repeat: math.MaxUint32, Budget: least, Energy: true,
		Timeout: 2*m.P.Timeout + time.Second})
	if err != nil {
		return nil, err
	}
	e := &Energy{Runs: r.Done, Seconds: r.Body.Seconds(), Watts: r.Watts}
	joules := e.Watts * e.Seconds
	if used := r.After.EnergyJoule - r.Before.EnergyJoule; r.Before.EnergyJoule > 0 && used > 0 {
		joules, e.Counter = used, true
	}
	if joules == 0 {
		return nil, nil
	}
	e.Millijoules = 1000 * joules / float64(r.Done)
	return e, nil
}

// median gives the median of times in microseconds with its 95 % interval, by order
// statistics: the ranks between which the median lies with that probability, whatever
// the distribution is.
func median(times []time.Duration) (mid, low, high float64) {
	s := slices.Sorted(slices.Values(times))
	at := func(i int) float64 { return float64(s[min(max(i, 0), len(s)-1)].Nanoseconds()) / 1000 }
	n := len(s)
	if n == 0 {
		return 0, 0, 0
	}
	half := distuv.UnitNormal.Quantile((1+runner.Confidence)/2) * math.Sqrt(float64(n)) / 2
	low, high = at(int(math.Floor(float64(n)/2-half))), at(int(math.Ceil(float64(n)/2+half)))
	return (at((n-1)/2) + at(n/2)) / 2, low, high
}
