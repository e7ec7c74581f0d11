package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// TestFewInstances: launches of each form, of shared memory, clusters, neighbours and several devices find what they need, also in memory
// that a smaller run has left.
func TestFewInstances(t *testing.T) {
	tuning := DefaultTuning(chip)
	tuning.Instances, tuning.Launches = Fixed(1<<7), 2
	for _, name := range []string{"mp", "mp+relaxed.ctas-shared", "ptx-cluster+mp", "cas-sl", "mp+relaxed.ctas", "2+2w"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		x = x.Clone()
		for i := range x.Locations {
			x.Locations[i].Init = int64(16 + i)
		}
		for _, form := range oneDevice {
			for _, layout := range []spec.Layout{spec.Pointers, spec.Adjacent} {
				h, err := ptxgen.EmitHarness(x, "sm_90", form, layout)
				if err != nil {
					continue // what the form is not for
				}
				s := &simulated{t: t, h: h, devices: []runner.Device{chip}, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}, took: time.Second}
				m := &Memory{}
				for _, j := range []Job{{Instances: 1}, {Incantations: Random | Stress, Instances: 1 << 10}, {Incantations: All, Instances: 1 << 8}, {Instances: 1 << 9}} {
					j.Tuning, j.Seed = tuning, 7
					s.batches = nil
					o, err := (&Program{H: h, test: 1, collect: 2}).Run(t.Context(), s, m, j)
					require.NoError(t, err, name)
					require.Zero(t, o.Other)
					require.GreaterOrEqual(t, o.Instances(), j.Instances)
				}
				require.LessOrEqual(t, len(s.memory), 8+2*len(h.Widths), "memory that is too small is given back")
			}
		}
	}
}

// TestFilled: what a location begins with is filled in where its words are equal; else it is written once and doubled to the end of its memory.
func TestFilled(t *testing.T) {
	for name, x := range map[string]struct {
		pattern []byte
		kinds   []runner.CommandKind
	}{
		"a word":         {[]byte{1, 2, 3, 4}, []runner.CommandKind{runner.CommandFill}},
		"equal words":    {[]byte{1, 2, 3, 4, 1, 2, 3, 4}, []runner.CommandKind{runner.CommandFill}},
		"unequal words":  {[]byte{1, 2, 3, 4, 5, 6, 7, 8}, []runner.CommandKind{runner.CommandWrite, runner.CommandCopy, runner.CommandCopy, runner.CommandCopy, runner.CommandCopy, runner.CommandCopy, runner.CommandCopy}},
		"the last apart": {append(make([]byte, 252), 1, 0, 0, 0), []runner.CommandKind{runner.CommandWrite, runner.CommandCopy}},
	} {
		s := &simulated{t: t, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}}
		r, a := &run{s: s}, area{}
		require.NoError(t, r.cells(t.Context(), 0, &a, 300, x.pattern), name)
		var kinds []runner.CommandKind
		for _, c := range r.setup {
			kinds = append(kinds, c.Kind)
		}
		require.Equal(t, x.kinds, kinds, name)
		s.all(r.setup, nil)
		for i, b := range s.memory[a.buf] {
			require.Equal(t, x.pattern[i%len(x.pattern)], b, "%s: byte %d", name, i)
		}
		require.Len(t, s.memory[a.buf], 512)
	}
}

// TestLosses: a lost batch is run again, three in a row end the run, and so does one that hung, or another error; what was counted before
// stays, and an interrupt is no error.
func TestLosses(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	tuning := DefaultTuning(chip)
	tuning.Instances = Fixed(1 << 8)
	lost, child, hung := runner.Errorf(runner.ErrFault, "batch", "x"), runner.Errorf(runner.ErrChild, "batch", "x"), runner.Errorf(runner.ErrTimeout, "batch", "x")
	other, cancelled := errors.New("other"), runner.Errorf(runner.ErrCancelled, "batch", "x")
	for name, x := range map[string]struct {
		fail   []error // of batches from the second on
		runs   int
		faults int
		err    error
	}{
		"none":                       {nil, 6, 0, nil},
		"one":                        {[]error{lost}, 7, 1, nil},
		"a process":                  {[]error{child}, 7, 1, nil},
		"two":                        {[]error{lost, child}, 8, 2, nil},
		"two and two":                {[]error{lost, lost, nil, lost, lost}, 10, 4, nil},
		"three":                      {[]error{lost, lost, lost}, 4, 3, runner.ErrFault},
		"hung":                       {[]error{hung}, 2, 1, runner.ErrTimeout},
		"another error":              {[]error{other}, 2, 0, other},
		"an interrupt":               {[]error{cancelled}, 2, 0, nil},
		"a hang after what was lost": {[]error{lost, hung}, 3, 2, runner.ErrTimeout},
	} {
		s := &simulated{t: t, h: h, devices: []runner.Device{chip}, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}, took: time.Second}
		f := &flaky{Session: s, fail: map[int]error{}}
		for i, err := range x.fail {
			f.fail[i+2] = err
		}
		told := 0
		o, err := (&Program{H: h, test: 1, collect: 2}).Run(t.Context(), f, &Memory{}, Job{Tuning: tuning, Seed: 1, Instances: 6 << 8,
			Progress: func(done uint64, _ time.Duration) { told++; require.EqualValues(t, told<<8, done) }})
		require.ErrorIs(t, err, x.err, name)
		require.Equal(t, []int{x.runs, x.faults}, []int{f.runs, len(o.Faults)}, name)
		if x.err == nil && x.fail == nil || len(x.fail) > 0 && err == nil && !errors.Is(x.fail[0], runner.ErrCancelled) {
			require.EqualValues(t, 6<<8, o.Instances(), name)
		} else {
			require.EqualValues(t, 1<<8, o.Instances(), name)
		}
		require.EqualValues(t, o.Instances()>>8, o.Launches)
	}
	empty := &emptied{simulated{t: t, h: h, devices: []runner.Device{chip}, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}}, 0}
	o, err := (&Program{H: h, test: 1, collect: 2}).Run(t.Context(), empty, &Memory{}, Job{Tuning: tuning, Instances: 1})
	require.ErrorIs(t, err, runner.ErrChild)
	require.ErrorContains(t, err, "a batch without results")
	require.Len(t, o.Faults, 3)
}

// emptied is a session whose batches have no results, or too few.
type emptied struct {
	simulated
	runs int
}

func (e *emptied) Run(context.Context, *runner.Batch) (*runner.Result, error) {
	if e.runs++; e.runs == 1 {
		return nil, nil
	}
	return &runner.Result{Done: 1, Reads: make([][]byte, 2)}, nil
}

// library is a session of which modules have kernels by name.
type library struct {
	runner.Session
	loaded []runner.Image
	asked  []string
}

func (l *library) Load(_ context.Context, image runner.Image) (runner.Module, error) {
	if string(image.Data) == "bad" {
		return 0, runner.ErrCompile
	}
	l.loaded = append(l.loaded, image)
	return runner.Module(len(l.loaded)), nil
}

func (l *library) Kernel(_ context.Context, m runner.Module, name string) (runner.Kernel, runner.KernelInfo, error) {
	if string(l.loaded[m-1].Data) == "empty" {
		return 0, runner.KernelInfo{}, fmt.Errorf("no kernel %s", name)
	}
	l.asked = append(l.asked, name)
	return runner.Kernel(10 * int(m)), runner.KernelInfo{Resident: 3}, nil
}

// TestLoad: a program is the kernel of its harness and the collector of its vendor; what cannot be loaded says of what it is.
func TestLoad(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	for kind, opencl := range map[runner.ImageKind]bool{runner.ImageOpenCLC: true, runner.ImageCubin: false} {
		l := &library{}
		c, err := LoadCollector(t.Context(), l, runner.Image{Kind: kind, Data: []byte("collector")})
		require.NoError(t, err)
		p, err := c.Load(t.Context(), l, h, runner.Image{Kind: kind, Data: []byte("test")})
		require.NoError(t, err)
		require.Equal(t, &Program{H: h, test: 20, collect: 10, opencl: opencl, resident: 3 * 128}, p)
		require.Equal(t, []string{ptxgen.CollectName, h.Name}, l.asked)
		for _, bad := range []string{"bad", "empty"} {
			_, err = c.Load(t.Context(), l, h, runner.Image{Kind: kind, Data: []byte(bad)})
			require.Error(t, err)
			_, err = LoadCollector(t.Context(), l, runner.Image{Kind: kind, Data: []byte(bad)})
			require.ErrorContains(t, err, "collector: ")
		}
	}
}

// TestCollectorMemory: the collector's bins are in shared memory: dynamic one of a launch, or an argument of OpenCL.
func TestCollectorMemory(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	b, err := newBins(h, Domain(h.Test, nil))
	require.NoError(t, err)
	for _, opencl := range []bool{false, true} {
		p := &Program{H: h, test: 1, collect: 2, opencl: opencl}
		l, err := newPlanner(h, chip, Job{Tuning: DefaultTuning(chip)}).launch()
		require.NoError(t, err)
		list, err := p.commands(&Memory{}, l, b)
		require.NoError(t, err)
		require.Len(t, list, 2)
		last := list[1].Args[len(list[1].Args)-1]
		size := uint32(4 * (b.total + 1))
		if opencl {
			require.Equal(t, runner.LocalArg(uint64(size)), last)
			size = 0
		}
		require.Equal(t, size, list[1].Dims.Shared)
		require.Equal(t, opencl, last.Kind == runner.LocalArg(1).Kind)
	}
	_, err = (&Program{H: h}).arg(&ptxgen.HarnessParam{Name: "x", Kind: 99}, &Memory{}, nil, 0)
	require.ErrorContains(t, err, "parameter x of kind 99")
}

// TestKnobJSON: a knob is written as a number or a range, and read as what it was.
func TestKnobJSON(t *testing.T) {
	for text, k := range map[string]Knob{"7": Fixed(7), `"1..64"`: {1, 1, 64}, "0": Fixed(0)} {
		data, err := json.Marshal(k)
		require.NoError(t, err)
		require.Equal(t, text, string(data))
		var again Knob
		require.NoError(t, json.Unmarshal(data, &again))
		require.Equal(t, k, again)
	}
	require.Error(t, json.Unmarshal([]byte(`"4..1"`), &Knob{}))
}

// TestNeighboursFit: the cells of neighbours are whole ones, apart as far as is asked for where that fits and there is no room for more.
func TestNeighboursFit(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Adjacent)
	cell := uint32(h.Check.Cell)
	for mask := range 30 {
		for _, stride := range []uint32{1, 4, 8, 12, 100, 2048} {
			p := newPlanner(h, chip, Job{})
			p.t.Stride, p.t.Offset = Fixed(stride), Fixed(3*cell+1)
			l := &launch{set: map[string]uint32{"inst_mask": 1<<mask - 1}}
			p.adjacent(l, 32)
			require.True(t, l.arena)
			wanted := (stride + cell - 1) / cell * cell
			for i := range h.Widths {
				require.Zero(t, l.stride[i]%cell)
				require.Equal(t, 3*cell+h.Place(i), l.offset[i])
				require.LessOrEqual(t, l.stride[i], wanted)
				if fits := uint64(wanted)<<mask <= maxCells; fits {
					require.Equal(t, wanted, l.stride[i])
				} else {
					require.True(t, uint64(l.stride[i])<<mask <= maxCells || l.stride[i] == cell, "%d %d: %d", mask, stride, l.stride[i])
					require.Greater(t, uint64(2*l.stride[i]+2*cell)<<mask, uint64(maxCells), "more would fit")
				}
			}
		}
	}
}

// TestCellsFit: so are the cells of locations in memory of their own, and of those that lie beside each other in an arena.
func TestCellsFit(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	n, w := uint32(len(h.Widths)), uint32(h.Widths[0])
	for mask := range 30 {
		for _, stride := range []uint32{1, 4, 100, 2048} {
			for _, distance := range []uint32{0, 4, 64} {
				p := newPlanner(h, chip, Job{})
				p.t.Stride, p.t.Distance, p.t.Scatter = Fixed(stride), Fixed(distance), Fixed(100)
				l := &launch{set: map[string]uint32{"inst_mask": 1<<mask - 1}, homes: p.homes}
				p.layout(l, 32)
				least := w
				if l.arena {
					least = max(w, p.distance(1<<mask)*n)
				}
				for i := range h.Widths {
					require.Zero(t, l.stride[i]%w)
					require.GreaterOrEqual(t, l.stride[i], least)
					require.True(t, uint64(l.stride[i])<<mask <= maxCells || l.stride[i] == least, "%d %d: %d", mask, stride, l.stride[i])
				}
			}
		}
	}
}

// TestScatter: of a hundred locations so many are permuted: none, all, or about as many.
func TestScatter(t *testing.T) {
	for _, share := range []uint32{0, 1, 30, 99, 100, 300} {
		p := newPlanner(harness(t, "mp", ptxgen.FormFast, spec.Pointers), chip, Job{Tuning: Tuning{Scatter: Fixed(share)}, Incantations: Random, Seed: 1})
		permuted := uint32(0)
		for range 10_000 {
			if mul := p.scatter(); mul != 1 {
				permuted++
				require.Equal(t, uint32(1), mul%2)
			}
		}
		want := min(share, 100) * 100
		require.InDelta(t, want, permuted, 150, share)
		require.Equal(t, share == 0, permuted == 0)
	}
}

// TestPlacesEnd: whoever has enough placements gets no more, and threads of which nobody knows the CTA are placed nowhere.
func TestPlacesEnd(t *testing.T) {
	x, _ := corpus.Lookup("iriw")
	for most := 1; most < 5; most++ {
		n := 0
		for range Divide(x, 3) {
			if n++; n == most {
				break
			}
		}
		require.Equal(t, most, n)
		n = 0
		for range partitions(4, 3) {
			if n++; n == most {
				break
			}
		}
		require.Equal(t, most, n)
	}
	for range partitions(0, 3) {
		t.Error("nothing to place")
	}
	y := x.Clone()
	y.Threads[1].Placed = false
	for z := range Divide(y, 2) {
		t.Error(z.Name)
	}
}

// TestWarps: a CTA has a power of two times the warps of the test, as many as the device takes.
func TestWarps(t *testing.T) {
	for _, name := range []string{"mp", "mp+relaxed.ctas"} {
		h := harness(t, name, ptxgen.FormFast, spec.Pointers)
		for _, most := range []int{0, 32, 64, 128, 1024, 4096} {
			for n := range uint32(70) {
				d := chip
				d.MaxBlock = most
				p := newPlanner(h, d, Job{Tuning: Tuning{Warps: Fixed(n)}})
				got, least := p.warps(), uint32(h.Shape.Warps)
				require.Zero(t, got%least)
				require.Equal(t, 1, bits.OnesCount32(got/least))
				require.True(t, got == least || got <= min(uint32(max(most, 32))/32, 32), "%d of %d: %d", n, most, got)
				require.True(t, n == 0 || got < 2*max(n, least), "%d: %d", n, got)
				require.True(t, 2*got > min(n, uint32(max(most, 32))/32, 32), "%d of %d: %d", n, most, got)
			}
		}
	}
}

// TestLongest: where there are too many outcomes, a term with many values loses some before one with few loses any.
func TestLongest(t *testing.T) {
	h := harness(t, "iriw", ptxgen.FormFast, spec.Pointers)
	for long := range h.Terms {
		domain := make([][]int64, len(h.Terms))
		for i := range domain {
			n := int64(ptxgen.MaxTermValues)
			if i == long {
				n = 4
			}
			for v := range n {
				domain[i] = append(domain[i], v)
			}
		}
		b, err := newBins(h, domain)
		require.NoError(t, err)
		require.LessOrEqual(t, b.total, ptxgen.MaxBins-1)
		require.Len(t, b.words[long].values, 4)
		least, most := ptxgen.MaxTermValues, 0
		for i := range b.words {
			if i != long {
				least, most = min(least, len(b.words[i].values)), max(most, len(b.words[i].values))
			}
		}
		require.Less(t, least, ptxgen.MaxTermValues)
		require.LessOrEqual(t, most-least, 1, "they lose alike")
	}
}

// TestNoMore: a run makes its batches longer while they are short, but runs hardly more instances than are asked for; what it needs it
// allocates once.
func TestNoMore(t *testing.T) {
	h := harness(t, "mp", ptxgen.FormFast, spec.Pointers)
	tuning := DefaultTuning(chip)
	tuning.Instances = Fixed(1 << 8)
	s := &simulated{t: t, h: h, devices: []runner.Device{chip}, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}, took: time.Millisecond}
	m := &Memory{}
	for _, n := range []uint64{1, 255, 256, 257, 100 << 8, 1000<<8 + 1} {
		s.batches = nil
		o, err := (&Program{H: h, test: 1, collect: 2}).Run(t.Context(), s, m, Job{Tuning: tuning, Seed: 1, Instances: n})
		require.NoError(t, err)
		require.Equal(t, (n+255)&^255, o.Instances())
		require.Less(t, len(s.batches), 5)
		require.EqualValues(t, 1, s.batches[0].Repeat)
		require.Len(t, s.on, len(s.memory), "nothing was given back, nothing allocated again")
	}
}

// TestFloods: what is drawn for one launch is not left to the next one: a launch is a flood, and some of its CTAs stress beside the others,
// only where that was drawn for it.
func TestFloods(t *testing.T) {
	h, tuning := harness(t, "mp", ptxgen.FormFast, spec.Pointers), DefaultTuning(chip)
	tuning.Instances, tuning.Near, tuning.StressEvery = Fixed(1<<14), Knob{0, 0, 2}, Knob{3, 3, 40}
	for _, i := range []Incantations{None, Random, Random | Stress, Random | Sync, Random | Sync | Stress} {
		p, floods, others := newPlanner(h, chip, Job{Tuning: tuning, Incantations: i, Seed: 1}), 0, 0
		for range 40 {
			l, err := p.launch()
			require.NoError(t, err)
			if p.near == 0 {
				others++
				require.Zero(t, p.every)
				continue
			}
			floods++
			require.Zero(t, l.set["add_unit"])
			require.Equal(t, i&Stress != 0, p.every > 0)
			require.Equal(t, i&Stress != 0, l.set["stress_units"] > l.set["test_units"])
		}
		require.Equal(t, i&Random != 0 && i&Sync == 0, floods > 0, i)
		require.Positive(t, others)
	}
	tuning.StressEvery = Fixed(0)
	p := newPlanner(h, chip, Job{Tuning: tuning, Incantations: Random | Stress, Seed: 1})
	for range 10 {
		_, err := p.launch()
		require.NoError(t, err)
		require.Zero(t, p.near, "its stress acts on CTAs that are all there")
	}
}
