package drive

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
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
		{1, 0, 16}, {3, want/16 - 1, 48}, {4, want / 16, 64}, {10, want / 4, 40}, {10, want / 2, 10}, {10, want, 10}, {10, 2 * want, 10},
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

// TestSpread: a test runs only on devices of one architecture, as many as it needs, and its locations lie on those.
func TestSpread(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	var divided *litmus.Test
	for x := range Divide(mp, 2) {
		divided = x
	}
	small, older := chip, chip
	small.Units, older.Target, older.Name = 3, "sm_80", "old"
	for _, x := range []struct {
		what    string
		layout  spec.Layout
		devices []runner.Device
		homes   []int
		want    string
	}{
		{"two", spec.Pointers, []runner.Device{chip, small}, []int{0, 1}, ""},
		{"another architecture", spec.Pointers, []runner.Device{chip, older}, nil, "are not of one architecture"},
		{"one device", spec.Pointers, []runner.Device{chip}, nil, "a test on 2 devices, there are 1"},
		{"a home too far", spec.Pointers, []runner.Device{chip, chip}, []int{0, 2}, "is to lie on device 2, there are 2"},
		{"no home", spec.Pointers, []runner.Device{chip, chip}, []int{-1, 0}, "is to lie on device -1"},
		{"neighbours", spec.Adjacent, []runner.Device{chip, chip}, []int{1, 1}, ""},
		{"neighbours apart", spec.Adjacent, []runner.Device{chip, chip}, []int{0, 1}, "neighbours in the memory of several devices"},
	} {
		h, err := ptxgen.EmitHarness(divided, "sm_90", ptxgen.FormDevices, x.layout)
		require.NoError(t, err)
		p := newPlanner(h, x.devices[0], Job{Tuning: DefaultTuning(chip), Homes: x.homes})
		if err := p.spread(x.devices); x.want != "" {
			require.ErrorIs(t, err, runner.ErrUnsupported, x.what)
			require.ErrorContains(t, err, x.want, x.what)
			continue
		}
		require.NoError(t, p.spread(x.devices), x.what)
		require.Equal(t, len(x.devices), p.devices)
		tuning := DefaultTuning(chip)
		tuning.Instances = Fixed(1 << 8)
		s, o, err := simulate(t, h, Job{Tuning: tuning, Instances: 1, Homes: x.homes}, x.devices...)
		require.NoError(t, err, x.what)
		require.Zero(t, o.Other)
		for d := range x.homes {
			require.Contains(t, s.on, runner.Buffer(d+1))
		}
	}
	h, err := ptxgen.EmitHarness(divided, "sm_90", ptxgen.FormDevices, spec.Pointers)
	require.NoError(t, err)
	p := newPlanner(h, chip, Job{Tuning: DefaultTuning(chip)})
	require.NoError(t, p.spread([]runner.Device{chip, small}))
	require.Equal(t, 3, p.d.Units, "the smallest decides how much is resident")
	p = newPlanner(harness(t, "mp", ptxgen.FormFast, spec.Pointers), chip, Job{Tuning: DefaultTuning(chip)})
	require.NoError(t, p.spread([]runner.Device{chip, older}), "other forms run on the first one")
	require.Equal(t, 1, p.devices)
}

// TestHomes: locations lie where a setting says, and where it says nothing, where the test does.
func TestHomes(t *testing.T) {
	mp, neighbours := harness(t, "mp", ptxgen.FormFast, spec.Pointers), harness(t, "mp", ptxgen.FormFast, spec.Adjacent)
	shared := harness(t, "mp+relaxed.ctas-shared", ptxgen.FormFast, spec.Pointers)
	a, b := mp.Test.Locations[0].Name, mp.Test.Locations[1].Name
	for _, x := range []struct {
		h     *ptxgen.Harness
		place string
		want  string // placements, or an error
	}{
		{mp, "1", "[[1 1]]"}, {mp, "0", "[[0 0]]"}, {mp, "2", "there is no device 2 of 2"}, {mp, "-1", "there is no device -1 of 2"},
		{mp, "each", "[[0 0] [0 1] [1 0] [1 1]]"}, {neighbours, "each", "[[0 0] [1 1]]"},
		{mp, b + "=1", "[[0 1]]"}, {mp, a + "=1," + b + "=1", "[[1 1]]"}, {mp, "elsewhere=1", "[[0 0]]"}, {mp, "", "[[0 0]]"},
		{mp, a + "=2", "below 2"}, {mp, a + "=-1", "below 2"}, {mp, a, "below 2"}, {mp, a + "=1,", "below 2"},
		{shared, "each", "[[0 0]]"},
	} {
		got, err := Homes(x.place, x.h, 2)
		if !strings.HasPrefix(x.want, "[") {
			require.ErrorContains(t, err, x.want, x.place)
			continue
		}
		require.NoError(t, err, x.place)
		if x.h == shared {
			for _, homes := range got {
				for l, d := range homes {
					require.True(t, x.h.Shape.Shared[l] < 0 || d == 0)
				}
			}
			continue
		}
		require.Equal(t, x.want, fmt.Sprint(got), x.place)
	}
	test := mp.Test.Clone()
	test.Locations[0].Homed, test.Locations[0].Device = true, 1
	h := *mp
	h.Test = test
	got, err := Homes("each", &h, 2)
	require.NoError(t, err)
	require.Equal(t, "[[1 0] [1 1]]", fmt.Sprint(got), "the test's own word counts")
	test.Locations[1].Homed = true
	n := *neighbours
	n.Test = test
	got, err = Homes("each", &n, 2)
	require.NoError(t, err)
	require.Equal(t, "[[1 0]]", fmt.Sprint(got), "which is refused when it is run")
}

// TestNames: what names settings is read, and what is no such name is refused with those that are.
func TestNames(t *testing.T) {
	d := chip
	for text, want := range map[string]string{"none": "[none]", "stress+random": "[stress+random]", "random+stress,sync": "[stress+random sync]",
		"banks+none": "[banks]", "": "unknown incantation", "stress+": "unknown incantation", "stres": `"stres"`} {
		list, err := ParseIncantations(text)
		if strings.HasPrefix(want, "[") {
			require.NoError(t, err, text)
			require.Equal(t, want, fmt.Sprint(list))
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
	all, err := ParseIncantations("all")
	require.NoError(t, err)
	require.Len(t, all, 16)
	for i, x := range all {
		require.EqualValues(t, i, x)
		again, err := ParseIncantations(x.String())
		require.NoError(t, err)
		require.Equal(t, all[i:i+1], again)
	}
	for text, want := range map[string][]ptxgen.Form{"both": oneDevice, ptxgen.FormFast.String(): oneDevice[:1], ptxgen.FormPermuted.String(): oneDevice[1:]} {
		list, err := ParseForms(text)
		require.NoError(t, err)
		require.Equal(t, want, list)
	}
	_, err = ParseForms(ptxgen.FormDevices.String())
	require.ErrorContains(t, err, "unknown form")
	require.Equal(t, "permuted:stress", Setting{Form: ptxgen.FormPermuted, Incantations: Stress}.String())
	require.Equal(t, "stress", Setting{Incantations: Stress}.String())
	require.Equal(t, "x", Setting{Name: "x", Form: ptxgen.FormPermuted, Incantations: Stress}.String())

	envs := Environments(d, DefaultTuning(d))
	got, err := Find(envs, "all")
	require.NoError(t, err)
	require.Len(t, got, len(envs))
	got, err = Find(envs, "flood,no-str-")
	require.NoError(t, err)
	require.Equal(t, "[flood no-str-]", fmt.Sprint(got))
}

// TestTuning: parameters are numbers or ranges up to a bound, patterns one to five accesses; what is written is read.
func TestTuning(t *testing.T) {
	for text, want := range map[string]string{"warps=4": "warps=4 ", "warps=1..16": "warps=1..16 ", "warps=3..3": "warps=3 ", "warps=0x10": "warps=16 ",
		"warps=16777216": "warps=16777216 ", "warps=0..16777216": "warps=0..16777216 ",
		"stress-pattern=ld-st-st-ld-ld": "stress-pattern=ld-st-st-ld-ld", "stress-pattern=random": "stress-pattern=random", "launches=1": "launches=1", "launches=1024": "launches=1024"} {
		tuning := DefaultTuning(chip)
		require.NoError(t, tuning.Set(text), text)
		require.Contains(t, tuning.String()+" ", want)
	}
	for text, want := range map[string]string{"warps=16777217": "neither a number nor a range", "warps=2..1": "neither", "warps=x": "neither", "warps=1..x": "neither",
		"warps=-1": "neither", "warps": "warps: ", "wraps=1": "NAME=NUMBER", "launches=0": "from 1 to 1024", "launches=1025": "from 1 to 1024", "launches=x": "from 1",
		"stress-pattern=ld-ld-ld-ld-ld-ld": "one to five", "stress-pattern=": "one to five", "stress-pattern=ld-rd": "want ld and st"} {
		tuning := DefaultTuning(chip)
		require.ErrorContains(t, tuning.Set(text), want, text)
	}
	k, err := Knob{Value: 8}.parse("1..4")
	require.NoError(t, err)
	require.Equal(t, Knob{4, 1, 4}, k, "the value without random lies in the range")
	k, err = Knob{Value: 8}.parse("16..32")
	require.NoError(t, err)
	require.Equal(t, Knob{16, 16, 32}, k)

	names, help := TuningNames()
	require.Len(t, help, len(names))
	for i, n := range names {
		require.NotEmpty(t, help[i], n)
	}
	tuning := DefaultTuning(chip)
	loads, stores, steps, err := tuning.pattern(nil)
	require.NoError(t, err)
	require.Equal(t, [3]uint32{1, 2, 2}, [3]uint32{loads, stores, steps})
	require.NoError(t, tuning.Keep("stride=64"))
	require.NoError(t, tuning.change("stride=8"))
	require.Equal(t, Fixed(64), tuning.Stride, "a user's word counts")
	for _, s := range append(Environments(chip, tuning), Drawn(tuning, 1, 20)...) {
		require.Equal(t, Fixed(64), s.Tuning.Stride, s)
	}
	require.NoError(t, tuning.Keep("stress-pattern=st"))
	require.NoError(t, tuning.Keep("stress-rounds=9999"))
	for _, s := range Drawn(tuning, 1, 5) {
		require.Equal(t, "st", s.Tuning.Pattern)
		require.Equal(t, Fixed(9999), s.Tuning.StressRounds)
	}
}

// TestProfile: a profile is what was written, and holds of the device, driver and compiler that it was made for.
func TestProfile(t *testing.T) {
	p := &Profile{Device: "chip", Driver: "1", Compiler: "ptxas 12", Tuning: map[string]string{"stride": "64", "warps": "1..8"}}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	again, err := ReadProfile(&b)
	require.NoError(t, err)
	require.Equal(t, p, again)
	tuning := DefaultTuning(chip)
	require.NoError(t, p.Apply(&tuning))
	require.Equal(t, []string{"stride", "warps"}, tuning.Kept)
	require.Equal(t, Fixed(64), tuning.Stride)
	d := runner.Device{Name: "chip", Driver: "1"}
	require.Empty(t, p.Differs(d, "ptxas 12"))
	require.Equal(t, `it is for compiler "ptxas 12", this is "ptxas 11"`, p.Differs(d, "ptxas 11"))
	require.Contains(t, p.Differs(runner.Device{Name: "chip", Driver: "2"}, "ptxas 12"), `driver "1"`)
	require.Contains(t, p.Differs(runner.Device{Name: "other", Driver: "1"}, "ptxas 12"), `device "chip"`)
	for _, bad := range []string{"{", `{"devise":"x"}`, `{"tuning":{"stride":"x"}}`} {
		_, err := ReadProfile(strings.NewReader(bad))
		require.ErrorContains(t, err, "profile: ", bad)
	}
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
		"widths": func(h *ptxgen.Harness, _ *Job) { h.Widths = []int{4, 8} },
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

// TestLoneUnsupported: one instance a launch is what tests of single threads can be.
func TestLoneUnsupported(t *testing.T) {
	tuning := DefaultTuning(chip)
	for name, want := range map[string]error{"mp": nil, "mp+relaxed.ctas": runner.ErrUnsupported, "mp+relaxed.ctas-shared": runner.ErrUnsupported} {
		h := harness(t, name, ptxgen.FormFast, spec.Pointers)
		l, err := newPlanner(h, chip, Job{Tuning: tuning, Incantations: All, Lone: true}).launch()
		require.ErrorIs(t, err, want, name)
		if want == nil {
			require.Equal(t, [3]uint32{1, 1, 1}, [3]uint32{l.threads, l.instances, l.blocks})
		}
	}
	l, err := newPlanner(harness(t, "mp", ptxgen.FormPermuted, spec.Pointers), chip, Job{Tuning: tuning, Lone: true}).launch()
	require.NoError(t, err)
	require.Greater(t, l.instances, uint32(1), "of the fast form")
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

// TestDomain: values that are given are the likeliest; what a test begins with and stores is expected beside a few of them.
func TestDomain(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	require.Equal(t, [][]int64{{0, 1}, {0, 1}}, Domain(mp, nil))
	require.Equal(t, [][]int64{{7, 0, 1}, {0, 1}}, Domain(mp, [][]int64{{7}}))
	require.Equal(t, [][]int64{{1, 0}, {0, 1}}, Domain(mp, [][]int64{{1}, nil}))
	require.Equal(t, [][]int64{{5, 6, 7, 0}, {5, 6, 7, 8, 9}}, Domain(mp, [][]int64{{5, 6, 7}, {5, 6, 7, 8, 9}}))
	x := mp.Clone()
	x.Locations[0].Init = 9
	require.Equal(t, [][]int64{{0, 9, 1}, {0, 9, 1}}, Domain(x, nil))
}
