package drive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

func harness(t *testing.T, name string, form ptxgen.Form, layout spec.Layout) *ptxgen.Harness {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	h, err := ptxgen.EmitHarness(x, "sm_90", form, layout)
	require.NoError(t, err)
	return h
}

// TestEnds: a run ends when it has its instances, its time or enough, and says what it did.
func TestEnds(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	tuning := DefaultTuning(chip)
	tuning.Instances = Fixed(1 << 8)
	_, _, err := simulate(t, h, Job{Tuning: tuning}, chip)
	require.ErrorContains(t, err, "neither a number of instances nor a time limit")

	// A repetition takes a second, which is what a batch shall take: each is one.
	var told []uint64
	s, o, err := simulate(t, h, Job{Tuning: tuning, Instances: 1000, Timeout: 7 * time.Second,
		Progress: func(done uint64, _ time.Duration) { told = append(told, done) }}, chip)
	require.NoError(t, err)
	require.Equal(t, []uint64{256, 512, 768, 1024}, told)
	require.Equal(t, []uint64{4, 1024}, []uint64{o.Launches, o.Instances()})
	require.Equal(t, 4*time.Second, o.Device)
	require.Equal(t, [2]int{1, -4}, [2]int{o.First.Temperature, o.Last.Temperature}, "before the first batch and after the last")
	require.Positive(t, o.Elapsed)
	require.Equal(t, 7*time.Second, s.batches[0].Timeout)
	require.Zero(t, s.batches[0].Budget)

	_, o, err = simulate(t, h, Job{Tuning: tuning, Instances: 512}, chip)
	require.NoError(t, err)
	require.EqualValues(t, 512, o.Instances(), "so many, and no more")

	s, o, err = simulate(t, h, Job{Tuning: tuning, Budget: time.Hour, Enough: func(o *Outcome) bool { return o.Instances() >= 512 }}, chip)
	require.NoError(t, err)
	require.EqualValues(t, 512, o.Instances())
	require.Equal(t, want, s.batches[0].Budget)
	require.Equal(t, []uint64{1, math.MaxUint32}, []uint64{s.batches[0].Repeat, s.batches[1].Repeat}, "the budget ends it")

	s, o, err = simulate(t, h, Job{Tuning: tuning, Budget: 1}, chip)
	require.NoError(t, err)
	require.Empty(t, s.batches, "no time is left")
	require.Zero(t, o.Instances())

	// Different launches of a batch, where choices are random.
	tuning.Launches = 3
	for i, n := range map[Incantations]uint64{None: 1, Sync | Stress: 1, Random: 3, Banks: 3} {
		_, o, err = simulate(t, h, Job{Tuning: tuning, Incantations: i, Instances: 1}, chip)
		require.NoError(t, err)
		require.Equal(t, n, o.Launches, i)
	}
	tuning.Launches = 0
	_, o, err = simulate(t, h, Job{Tuning: tuning, Incantations: Random, Instances: 1}, chip)
	require.NoError(t, err)
	require.EqualValues(t, 1, o.Launches)
}

// TestNext: a batch takes about a second: it grows while it is much shorter, and is cut where it is much longer.
func TestNext(t *testing.T) {
	for _, x := range []struct {
		repeat uint64
		took   time.Duration
		next   uint64
	}{
		{1, 0, 16}, {3, want / 1000, 48}, {3, want/16 - 1, 48}, {4, want / 16, 64}, {10, want / 4, 40}, {10, want / 2, 10}, {10, want, 10}, {10, 2 * want, 10},
		{10, 4 * want, 2}, {1, 10 * want, 1},
	} {
		require.Equal(t, x.next, next(x.repeat, x.took), "%v", x)
	}
}

// TestAdd: what two runs have counted is in their sum, and no more samples than of one.
func TestAdd(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	outcome := func(n int) *Outcome {
		o := &Outcome{Histogram: runner.NewHistogram(h.Test), Other: 1, Samples: slices.Repeat([][]int64{{int64(n), 7}}, n), Launches: 2,
			StressAccesses: 3, GaveUp: 4, Elapsed: 5, Device: 6, First: runner.State{Temperature: n}, Last: runner.State{Temperature: 10 + n},
			Faults: []error{fmt.Errorf("fault %d", n)}}
		require.NoError(t, o.Histogram.Add([]int64{1, 0}, 8))
		return o
	}
	o := outcome(1)
	require.NoError(t, o.Add(outcome(2)))
	require.Equal(t, []uint64{18, 2, 4, 6, 8}, []uint64{o.Instances(), o.Other, o.Launches, o.StressAccesses, o.GaveUp})
	require.Equal(t, [][]int64{{1, 7}, {2, 7}, {2, 7}}, o.Samples)
	require.Equal(t, [4]int{10, 12, 1, 12}, [4]int{int(o.Elapsed), int(o.Device), o.First.Temperature, o.Last.Temperature})
	require.EqualError(t, errors.Join(o.Faults...), "fault 1\nfault 2")
	require.NoError(t, o.Add(outcome(ptxgen.MaxSamples)))
	require.Len(t, o.Samples, ptxgen.MaxSamples)

	iriw := harness(t, "iriw", ptxgen.FormFast, spec.Pointers)
	other := &Outcome{Histogram: runner.NewHistogram(iriw.Test)}
	require.NoError(t, other.Histogram.Add(make([]int64, len(iriw.Terms)), 1))
	require.Error(t, o.Add(other), "of another test")
}

// TestDistance: locations of an instance lie so far apart, in one arena, as the arena has room for all instances.
func TestDistance(t *testing.T) {
	h, tuning := harness(t, "mp", ptxgen.FormFast, spec.Pointers), DefaultTuning(chip)
	for _, x := range []struct{ distance, instances, want uint32 }{{0, 1 << 10, 0}, {64, 1 << 10, 64}, {66, 1 << 10, 64}, {3, 1 << 10, 0},
		{512, 1 << 20, 512}, {516, 1 << 20, 256}, {4096, 1 << 20, 512}} {
		tuning.Distance, tuning.Instances = Fixed(x.distance), Fixed(x.instances)
		l, err := newPlanner(h, chip, Job{Tuning: tuning}).launch()
		require.NoError(t, err)
		require.Equal(t, x.instances, l.instances)
		require.Equal(t, x.want > 0, l.arena, x)
		if l.arena {
			require.Equal(t, x.want, l.offset[1]-l.offset[0], x)
			require.Equal(t, 2*x.want, l.stride[0])
		}
	}
	tuning.Distance, tuning.Instances = Fixed(64), Fixed(1<<10)
	for what, change := range map[string]func(*ptxgen.Harness, *Job){
		"values": func(h *ptxgen.Harness, _ *Job) { h.Test.Locations[1].Init++ },
		"widths": func(h *ptxgen.Harness, _ *Job) { h.Widths, h.Cells = []int{4, 8}, []int{4, 8} },
		"homes":  func(_ *ptxgen.Harness, j *Job) { j.Homes = []int{0, 1} },
	} {
		own, j := *h, Job{Tuning: tuning}
		own.Test = h.Test.Clone()
		change(&own, &j)
		l, err := newPlanner(&own, chip, j).launch()
		require.NoError(t, err)
		require.False(t, l.arena, "locations of different %s have memory of their own", what)
	}
	for _, cta := range []int{0, 1} {
		own := *h
		own.Shape.Shared = []int{-1, cta}
		l, err := newPlanner(&own, chip, Job{Tuning: tuning}).launch()
		require.NoError(t, err)
		require.False(t, l.arena, "shared ones, too")
	}
}

// TestLoneUnsupported: one instance a launch is what tests can be whose CTAs have one thread.
func TestLoneUnsupported(t *testing.T) {
	tuning, several := DefaultTuning(chip), 0
	for _, x := range corpus.Tests() {
		h, err := ptxgen.EmitHarness(x, "sm_90", ptxgen.FormFast, spec.Pointers)
		if err != nil {
			continue
		}
		l, err := newPlanner(h, chip, Job{Tuning: tuning, Incantations: All, Lone: true}).launch()
		if h.Shape.Warps*h.Shape.Lanes > 1 {
			several++
			require.ErrorIs(t, err, runner.ErrUnsupported, x.Name)
			continue
		}
		require.NoError(t, err, x.Name)
		require.Equal(t, [3]uint32{1, 1, 1}, [3]uint32{l.threads, l.instances, l.blocks})
	}
	require.Positive(t, several)
	l, err := newPlanner(harness(t, "mp", ptxgen.FormPermuted, spec.Pointers), chip, Job{Tuning: tuning, Lone: true}).launch()
	require.NoError(t, err)
	require.Greater(t, l.instances, uint32(1), "of the fast form")
	one := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	crowd := chip
	crowd.Units = 2
	var stressing []int
	for _, warps := range []uint32{1, 32} { // a lone thread leaves its multiprocessor to those that stress, whatever a CTA has else
		tuning.Warps, tuning.StressCTAs = Fixed(warps), Fixed(1<<16)
		l, err := newPlanner(one, crowd, Job{Tuning: tuning, Incantations: Stress, Lone: true}).launch()
		require.NoError(t, err)
		stressing = append(stressing, int(l.ctas))
	}
	require.Equal(t, stressing[0], stressing[1])
	one.Shape.Lanes = 2
	_, err = newPlanner(one, chip, Job{Tuning: tuning, Lone: true}).launch()
	require.ErrorIs(t, err, runner.ErrUnsupported)
}

// TestResident: where CTAs wait for each other, no more are launched than a multiprocessor holds threads of the kernel.
func TestResident(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	for threads, most := range map[int]uint32{0: 8 * 2048, 4096: 8 * 2048, 512: 8 * 512} {
		p := newPlanner(h, chip, Job{Tuning: DefaultTuning(chip), Incantations: Sync})
		p.threads = threads
		l, err := p.launch()
		require.NoError(t, err)
		require.Equal(t, most/l.threads, p.resident(l.threads))
		require.LessOrEqual(t, l.ctas*l.threads, most)
	}
	small := chip
	small.UnitThreads = 1024
	p := newPlanner(h, small, Job{Tuning: DefaultTuning(chip)})
	require.EqualValues(t, 8*4, p.resident(256))
	p.d.UnitThreads = 0
	require.EqualValues(t, 8*8, p.resident(256), "2048 where nobody knows")
}

// TestManyUnits: the places of units are computed with 32 bits, whatever their number.
func TestManyUnits(t *testing.T) {
	h, tuning := harness(t, "mp", ptxgen.FormFast, spec.Pointers), DefaultTuning(chip)
	tuning.Warps = Fixed(1)
	large := chip
	large.Units = 1 << 16
	for _, n := range []uint32{1 << 5, 1 << 10, 1 << 20, 1 << 24} {
		tuning.Instances = Fixed(n)
		for seed := range uint64(8) {
			l, err := newPlanner(h, large, Job{Tuning: tuning, Incantations: Random, Seed: seed}).launch()
			require.NoError(t, err)
			require.LessOrEqual(t, l.instances, n)
			require.Less(t, uint64(l.set["units"])*uint64(l.set["mul_unit"])+uint64(l.set["add_unit"]), uint64(1)<<32, n)
		}
	}
}

// TestBins: each outcome of expected values has a bin of its own and is read back from it, whatever the widths.
func TestBins(t *testing.T) {
	for _, name := range []string{"mp", "iriw", "cas-sl", "2+2w"} {
		h := harness(t, name, ptxgen.FormFast, spec.Pointers)
		for _, wide := range []bool{false, true} {
			own := *h
			own.Terms = slices.Clone(h.Terms)
			for i := range own.Terms {
				own.Terms[i].Wide = wide && i == 0
			}
			domain := Domain(h.Test, nil)
			domain[0] = append(domain[0], -3)
			if wide {
				domain[0] = append(domain[0], 5<<32|1)
			}
			b, err := newBins(&own, domain)
			require.NoError(t, err, name)
			seen := map[string]bool{}
			for i := range b.total {
				v := b.values(&own, i)
				require.False(t, seen[fmt.Sprint(v)], "%s: %v has two bins", name, v)
				seen[fmt.Sprint(v)] = true
			}
			for i, list := range domain {
				for _, v := range list {
					want := make([]int64, len(domain))
					want[i] = v
					require.True(t, seen[fmt.Sprint(want)], "%s: %v has no bin", name, want)
				}
			}
			table := b.table()
			require.Len(t, table, 4*ptxgen.TermWords*len(b.words))
			for i, w := range b.words {
				row := words(table[4*ptxgen.TermWords*i:])[:ptxgen.TermWords]
				require.Equal(t, []uint32{uint32(w.slot), uint32(len(w.values)), uint32(w.weight)}, row[:3])
				require.Equal(t, w.values, row[3:3+len(w.values)])
			}
		}
	}
}

// TestManyOutcomes: where there are more outcomes than bins, values named last are unexpected ones; each term keeps one.
func TestManyOutcomes(t *testing.T) {
	h := harness(t, "iriw", ptxgen.FormFast, spec.Pointers)
	many := make([][]int64, len(h.Terms))
	for i := range many {
		for v := range int64(100) {
			many[i] = append(many[i], v)
		}
	}
	b, err := newBins(h, Domain(h.Test, many))
	require.NoError(t, err)
	require.LessOrEqual(t, b.total, ptxgen.MaxBins-1)
	require.Greater(t, b.total, (ptxgen.MaxBins-1)/2)
	for _, w := range b.words {
		require.LessOrEqual(t, len(w.values), ptxgen.MaxTermValues)
		require.Greater(t, len(w.values), 1)
		for i, v := range w.values {
			require.EqualValues(t, i, v, "the first ones are kept")
		}
	}
	one := *h
	one.Terms = one.Terms[:1]
	b, err = newBins(&one, many)
	require.NoError(t, err)
	require.Len(t, b.words[0].values, ptxgen.MaxTermValues)
	for range ptxgen.SampleWords {
		one.Terms = append(one.Terms, h.Terms[0])
	}
	_, err = newBins(&one, slices.Repeat([][]int64{{1}}, len(one.Terms)))
	require.ErrorIs(t, err, runner.ErrUnsupported, "more terms than a sample has words")
	_, err = newBins(&one, slices.Repeat([][]int64{{1, 2}}, len(one.Terms)))
	require.ErrorIs(t, err, runner.ErrUnsupported)
}

// TestNoTerms: a test without terms has no table that could be written.
func TestNoTerms(t *testing.T) {
	h := *harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	h.Test, h.Terms = h.Test.Clone(), nil
	s, _, _ := simulate(t, &h, Job{Tuning: DefaultTuning(chip), Instances: 1}, chip)
	require.Len(t, s.batches, 1)
}

// TestLanes: only a kernel for bank conflicts leaves lanes to them, and not where threads meet at barriers.
func TestLanes(t *testing.T) {
	for _, x := range []struct {
		form ptxgen.Form
		inc  Incantations
		full bool
		want uint32
	}{
		{ptxgen.FormBanks, Banks, false, 8}, {ptxgen.FormBanks, Random, false, 32}, {ptxgen.FormFast, Banks, false, 32}, {ptxgen.FormBanks, Banks, true, 32},
	} {
		h := harness(t, "mp", x.form, spec.Pointers)
		h.Shape.Full = x.full
		tuning := DefaultTuning(chip)
		tuning.BankLanes = Fixed(20)
		require.Equal(t, x.want, newPlanner(h, chip, Job{Tuning: tuning, Incantations: x.inc}).lanes(), "%+v", x)
	}
}
