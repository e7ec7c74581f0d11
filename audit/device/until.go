package device

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"optcheck/event"
	"optcheck/runner/drive"
)

// Until makes a run adaptive. A test is open as long as an allowed outcome of
// its condition has not been seen that sequential consistency forbids. Open tests
// get slices of time in turn, each under the setting that is likeliest to pay
// by what settings have paid so far; the others get one slice.
type Until struct {
	// Share of the tests that were open at first is what has to be seen, 0 to 1; 0: as
	// many as there is time for.
	Share float64
	Time  time.Duration // ends the run, from the first slice on; 0: no limit
	Slice time.Duration // of time for a test; 0: DefaultSlice
	// Told, if not nil, hears of each test whose outcome was seen first.
	Told func(First)
}

// DefaultSlice is the first slice of time that a test gets; later ones are up to longestSlice
// times as long. A slice makes other choices than the one before: few launches are enough.
const (
	DefaultSlice  = 15 * time.Millisecond
	sliceLaunches = 8
	longestSlice  = 6
)

// A test that has had its first slice competes for the next one with others: of so many
// that are drawn, the one with the best prospects gets it.
const competitors = 16

// First says when an allowed outcome of a test's condition was first seen.
type First struct {
	Test, Setting string
	Seed          uint64        // of the slice
	After         time.Duration // since the first slice
	Slices        int           // that the test had had before
}

// hunted is a test in an adaptive run.
type hunted struct {
	*subject
	quest  *quest
	open   bool
	slices int
	counts map[way]*accounted
}

// way is how a test is run: under a setting, with its locations on some devices.
type way struct{ arm, place int }

// accounted is what a test did under a setting.
type accounted struct {
	part  *part
	homes []int
	out   *drive.Outcome
	job   drive.Job // of the first slice
	first map[string]float64
	err   error

	slices []event.Slice
}

type hunter struct {
	*series
	u     Until
	arms  *bandit
	rnd   *rand.Rand
	turn  []*hunted // the open ones, whose turn comes next in front
	once  []*hunted // those that get one slice
	began time.Time // the first slice
	total int       // tests that were open
	seen  int
}

// until runs an adaptive run.
func (c *series) until(ctx context.Context, batches iter.Seq[*prepared]) (h *hunter, err error) {
	h = &hunter{series: c, u: *c.o.Until, arms: newBandit(c.o.Seed, len(c.o.Settings)), rnd: rand.New(rand.NewPCG(c.o.Seed, 5))}
	if h.u.Slice == 0 {
		h.u.Slice = DefaultSlice
	}
	ready := make(chan *prepared)
	feed := func(send func(*prepared) bool) {
		for p := range batches {
			if !send(p) {
				return
			}
		}
	}
	if c.o.Compiler.alone() {
		feed(func(p *prepared) bool { err = p.err; h.take(ctx, p); return err == nil })
		close(ready)
	} else {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer close(ready)
			feed(func(p *prepared) bool {
				select {
				case ready <- p:
					return true
				case <-inner.Done():
					return false
				}
			})
		}()
	}
	for more := true; err == nil && ctx.Err() == nil && !h.ended(!more); {
		var p *prepared
		switch {
		case more && len(h.turn)+len(h.once) == 0:
			p, more = <-ready
		case more:
			select {
			case p, more = <-ready:
			default:
			}
		}
		if p != nil {
			if err = p.err; err == nil {
				h.take(ctx, p)
			}
			continue
		}
		if len(h.turn)+len(h.once) > 0 {
			err = h.next(ctx)
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	for _, t := range append(h.once, h.turn...) {
		h.close(ctx, t)
	}
	return h, err
}

// ended reports whether the run has come to its end; all tells that no more
// tests will come.
func (h *hunter) ended(all bool) bool {
	switch {
	case h.over() || h.u.Time > 0 && !h.began.IsZero() && time.Since(h.began) >= h.u.Time:
		return true
	case !all || len(h.once) > 0:
		return false
	}
	return len(h.turn) == 0 || h.u.Share > 0 && float64(h.seen) >= h.u.Share*float64(h.total)
}

// take takes in a batch of tests.
func (h *hunter) take(ctx context.Context, p *prepared) {
	for _, s := range p.tests {
		t := &hunted{subject: s, quest: h.arms.quest(s.test), counts: map[way]*accounted{}}
		runs := false
		for _, x := range s.parts {
			if x == nil {
				continue
			}
			if e := h.load(ctx, x); e != nil {
				x.refused = h.empty(x.bin, x.judged)
				x.refused.fail(e)
			}
			if x.refused != nil {
				h.emit(ctx, x.refused)
				continue
			}
			runs = true
			t.open = x.judged.open()
		}
		switch {
		case !runs:
			h.step(len(h.o.Settings))
		case t.open:
			h.turn = slices.Insert(h.turn, 0, t) // it has its first slice at once
			h.total++
		default:
			h.once = append(h.once, t)
		}
	}
}

// open reports whether the outcome of the condition is one to look for: the first of the models that decide allows it, and sequential
// consistency does not, as far as it has an answer: it has none for asynchronous operations.
func (r *Judgement) open() bool {
	interleaved := r.index(sc)
	for m, says := range r.cond {
		if says != Undecided && m != interleaved {
			return says == Allowed && r.cond[interleaved] != Allowed
		}
	}
	return false
}

// next gives a slice of time to a test: to each one, then to those with the best prospects.
func (h *hunter) next(ctx context.Context) error {
	list, at := &h.turn, 0
	if len(h.once) > 0 && (len(h.turn) == 0 || h.turn[0].slices > 0) {
		list = &h.once
	}
	best := h.choose((*list)[0])
	if (*list)[0].slices > 0 {
		for range competitors {
			k := h.rnd.IntN(len(h.turn))
			if c := h.choose(h.turn[k]); c.rate > best.rate {
				best, at = c, k
			}
		}
	}
	t := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	found, err := h.slice(ctx, t, best)
	if err != nil || found || !t.open {
		h.close(ctx, t)
		return err
	}
	h.turn = append(h.turn, t)
	return nil
}

// choose returns the setting for a test's next slice and its prospects.
func (h *hunter) choose(t *hunted) choice {
	return h.arms.choose(t.quest, func(a int) bool {
		x := t.parts[h.o.Settings[a].Kernel()]
		return x != nil && x.refused == nil
	})
}

// slice runs a test for a slice of time under a setting. found tells that it is no
// longer open.
func (h *hunter) slice(ctx context.Context, t *hunted, by choice) (found bool, err error) {
	arm := by.arm
	if h.began.IsZero() {
		h.began = time.Now()
	}
	set := h.o.Settings[arm]
	x := t.parts[set.Kernel()]
	homes, err := h.homes(x, set)
	if err != nil {
		return false, err
	}
	w := way{arm, t.slices % len(homes)}
	a := t.counts[w]
	job := h.job(x, set)
	job.Homes = homes[w.place]
	long := min(1+t.slices/2, longestSlice)
	job.Instances, job.Budget, job.Seed = 0, h.u.Slice*time.Duration(long), h.o.Seed+uint64(t.slices)
	job.Tuning.Launches = min(job.Tuning.Launches, sliceLaunches*long)
	if t.open {
		job.Enough = func(o *drive.Outcome) bool { return satisfying(o, x) > 0 }
	}
	if a == nil {
		a = &accounted{part: x, homes: job.Homes, job: job, first: map[string]float64{}}
		t.counts[w] = a
	}
	out, err := x.program.Run(ctx, h.o.Session, h.mem, job)
	if err != nil {
		a.err = err
		if thisOnly(err) {
			err = nil
		}
	}
	if out == nil || out.Instances() == 0 {
		h.learn(t, arm, job.Budget, false) // it is not tried for ever
		return false, err
	}
	at := time.Since(h.began)
	a.slices = append(a.slices, event.Slice{Seed: job.Seed, End: at.Seconds(), Seconds: out.Elapsed.Seconds(),
		Chance: by.chance, Rate: by.rate})
	for _, o := range out.Histogram.Outcomes() {
		if k := key(o.Values); a.first[k] == 0 {
			a.first[k] = at.Seconds()
		}
	}
	found = t.open && satisfying(out, x) > 0
	if a.out == nil {
		a.out = out
	} else if e := a.out.Add(out); e != nil {
		return false, e
	}
	before := t.slices
	h.learn(t, arm, out.Elapsed, found)
	if found {
		h.seen++
		if h.u.Told != nil {
			h.u.Told(First{x.bin.Test.Name, set.String() + placed(job.Homes), job.Seed, at, before})
		}
	}
	return found, err
}

// learn notes what a slice has shown. A test whose outcome the model forbids says nothing of settings.
func (h *hunter) learn(t *hunted, arm int, d time.Duration, found bool) {
	t.slices++
	if t.open {
		h.arms.learn(t.quest, arm, d.Seconds(), found)
	}
}

// satisfying counts the instances that showed the outcome of the condition.
func satisfying(o *drive.Outcome, x *part) (n uint64) {
	for _, y := range o.Histogram.Outcomes() {
		if o.Histogram.Satisfies(x.bin.Test.Cond, y) {
			n += y.Count
		}
	}
	return n
}

// close emits what a test did.
func (h *hunter) close(ctx context.Context, t *hunted) {
	for _, w := range slices.SortedFunc(maps.Keys(t.counts), func(a, b way) int { return cmp.Or(a.arm-b.arm, a.place-b.place) }) {
		a := t.counts[w]
		r := h.started(a.part, h.o.Settings[w.arm])
		h.place(r, a.part, a.homes)
		r.Seed = a.job.Seed
		r.fill(a.out, a.part.judged)
		r.Slices = a.slices
		if a.err != nil {
			r.fail(a.err)
		} else if err := h.again(ctx, a.part, a.job, r); err != nil {
			r.fail(err)
		}
		for i := range r.Outcomes {
			r.Outcomes[i].First = a.first[key(r.Outcomes[i].Values)]
		}
		h.emit(ctx, r)
	}
	if len(t.counts) > 0 {
		h.step(len(h.o.Settings))
	}
}
