package drive

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// simulated is a session of devices that have memory and read the arguments of launches as the kernels do: each access
// that a launch makes lies in the memory that it is given, each location of each instance begins with its value, and
// the collector reads the cells that the test has written. All instances end with the first outcome.
type simulated struct {
	runner.Session
	t       *testing.T
	h       *ptxgen.Harness
	devices []runner.Device
	memory  map[runner.Buffer][]byte
	on      map[runner.Buffer]int
	batches []*runner.Batch
	tests   []runner.Command // the launches of the test since the last collection
	took    time.Duration    // of a repetition
	own     int              // launches whose stress goes through memory of a location
}

func (s *simulated) Device() runner.Device    { return s.devices[0] }
func (s *simulated) Devices() []runner.Device { return s.devices }

func (s *simulated) Alloc(_ context.Context, device int, bytes uint64) (runner.Buffer, error) {
	require.NotZero(s.t, bytes, "drivers refuse to allocate nothing")
	b := runner.Buffer(len(s.on) + 1)
	s.memory[b], s.on[b] = make([]byte, bytes), device
	return b, nil
}

func (s *simulated) Free(_ context.Context, b runner.Buffer) error {
	require.Contains(s.t, s.memory, b)
	delete(s.memory, b)
	return nil
}

func (s *simulated) Run(ctx context.Context, b *runner.Batch) (*runner.Result, error) {
	s.batches = append(s.batches, b)
	res := &runner.Result{Before: runner.State{Temperature: len(s.batches)}, After: runner.State{Temperature: -len(s.batches)}}
	s.all(b.Setup, nil)
	for res.Done < b.Repeat && ctx.Err() == nil {
		s.all(b.Body, nil)
		res.Done++
		if res.Body += s.took; b.Budget > 0 && res.Body >= b.Budget {
			break
		}
	}
	s.all(b.Final, res)
	return res, ctx.Err()
}

func (s *simulated) all(list []runner.Command, res *runner.Result) {
	for _, c := range list {
		switch m := s.memory[c.Buffer]; c.Kind {
		case runner.CommandFill:
			for at := c.Offset; at < c.Offset+c.Bytes; at += 4 {
				binary.LittleEndian.PutUint32(m[at:], c.Value)
			}
		case runner.CommandWrite:
			require.NotEmpty(s.t, c.Data, "drivers refuse to write nothing")
			require.LessOrEqual(s.t, c.Offset+uint64(len(c.Data)), uint64(len(m)))
			copy(m[c.Offset:], c.Data)
		case runner.CommandCopy:
			require.Len(s.t, m[c.Offset:c.Offset+c.Bytes], copy(m[c.Offset:], s.memory[c.From][c.FromAt:c.FromAt+c.Bytes]))
		case runner.CommandRead:
			res.Reads = append(res.Reads, slices.Clone(m[c.Offset:c.Offset+c.Bytes]))
		case runner.CommandLaunch:
			if c.Kernel == 1 {
				s.test(&c)
			} else {
				s.collect(&c)
			}
		}
	}
}

// arguments are those of a launch of the test, by kind and by name or index.
func (s *simulated) arguments(c *runner.Command) (set map[string]uint32, at map[ptxgen.ParamKind]map[int]runner.Arg) {
	require.Len(s.t, c.Args, len(s.h.Params))
	set, at = map[string]uint32{}, map[ptxgen.ParamKind]map[int]runner.Arg{}
	for i, q := range s.h.Params {
		a := c.Args[i]
		switch q.Kind {
		case ptxgen.ParamSetting:
			set[q.Name] = uint32(a.Value)
		case ptxgen.ParamValue, ptxgen.ParamInitial:
			if want := uint64(q.Value); q.Wide {
				require.Equal(s.t, runner.U64(want), a)
			} else {
				require.Equal(s.t, runner.U32(uint32(want)), a)
			}
		}
		if at[q.Kind] == nil {
			at[q.Kind] = map[int]runner.Arg{}
		}
		at[q.Kind][q.Index] = a
	}
	return set, at
}

// cells are where the instances of a location lie: in a buffer from a byte on, so far apart, permuted.
type cells struct {
	buffer              runner.Buffer
	mul, stride, offset uint32
}

func (x cells) at(inst, mask uint32) uint64 {
	return uint64(x.offset) + uint64(inst*x.mul&mask)*uint64(x.stride)
}

func (s *simulated) location(at map[ptxgen.ParamKind]map[int]runner.Arg, i int) cells {
	x := cells{at[ptxgen.ParamLocation][i].Buffer, uint32(at[ptxgen.ParamMul][i].Value), uint32(at[ptxgen.ParamStride][i].Value), 0}
	x.offset = uint32(at[ptxgen.ParamOffset][i].Value)
	if s.h.Layout == spec.Adjacent {
		x.offset += uint32(s.h.Place(i))
	}
	return x
}

func (s *simulated) test(c *runner.Command) {
	set, at := s.arguments(c)
	cluster := [3]uint32{}
	if s.h.Shape.Ranks > 1 { // older devices know no launches with clusters
		cluster = [3]uint32{uint32(s.h.Shape.Ranks), 1, 1}
	}
	require.Equal(s.t, cluster, c.Dims.Cluster)
	last := set["inst_mask"]
	for i, w := range s.h.Widths {
		if s.h.Shape.Shared[i] >= 0 {
			require.Equal(s.t, runner.U64(0), at[ptxgen.ParamLocation][i], "shared memory has no address")
			window, stride := at[ptxgen.ParamWindow][i].Value, at[ptxgen.ParamStride][i].Value
			require.LessOrEqual(s.t, window+stride*uint64(set["cta_mask"])+uint64(w), uint64(c.Dims.Shared))
			require.Zero(s.t, window%uint64(w)+stride%uint64(w), "accesses are aligned")
			continue
		}
		x := s.location(at, i)
		if r := s.h.Root(i); r != i {
			whole := s.location(at, r)
			whole.offset += uint32(s.h.Test.Locations[i].Offset)
			require.Equal(s.t, whole, x, "a part lies in its location")
			continue
		}
		require.Zero(s.t, x.offset%uint32(w)+x.stride%uint32(w), "accesses are aligned")
		for inst := range last + 1 {
			cell := s.memory[x.buffer][x.at(inst, last):][:w]
			require.Equal(s.t, binary.LittleEndian.AppendUint64(nil, uint64(s.h.Test.Locations[i].Init))[:w], cell, "%s of instance %d", s.h.Test.Locations[i].Name, inst)
		}
	}
	require.GreaterOrEqual(s.t, len(s.memory[at[ptxgen.ParamResults][0].Buffer]), int(set["result_step"])*s.h.Slots)
	scratch := s.memory[at[ptxgen.ParamScratch][0].Buffer]
	line := min(uint64(set["stress_line"])*uint64(set["stress_lines"]-1)+uint64(set["stress_base"]), uint64(set["stress_wrap"]))
	if set["stress_units"] > set["test_units"] {
		require.LessOrEqual(s.t, line&^3+31*uint64(set["stress_lane"])+4, uint64(len(scratch)))
	}
	for _, a := range at[ptxgen.ParamLocation] {
		if a.Kind == runner.ArgBuffer && a.Buffer == at[ptxgen.ParamScratch][0].Buffer {
			require.Zero(s.t, set["stress_stores"], "stress stores to a location of the test")
			s.own++
			break
		}
	}
	s.tests = append(s.tests, *c)
}

func (s *simulated) collect(c *runner.Command) {
	require.Len(s.t, s.tests, len(s.devices), "a launch on each device for each collection")
	for d, x := range s.tests {
		require.Equal(s.t, d, x.Device)
		require.Equal(s.t, d > 0, x.Beside)
	}
	set, at := s.arguments(&s.tests[0])
	s.tests = nil
	pointers, settings := c.Args[ptxgen.MaxLocations:], c.Args[ptxgen.MaxLocations+len(ptxgen.CollectPointers):]
	own := settings[len(ptxgen.CollectSettings):]
	instances, n := settings[0].Value, 0
	require.Equal(s.t, at[ptxgen.ParamResults][0].Buffer, pointers[0].Buffer)
	require.Equal(s.t, at[ptxgen.ParamCounters][0].Buffer, pointers[4].Buffer)
	require.EqualValues(s.t, set["inst_mask"], settings[1].Value)
	require.EqualValues(s.t, set["result_step"], settings[4].Value)
	require.EqualValues(s.t, set["result_step"], 4*instances)
	require.GreaterOrEqual(s.t, len(s.memory[pointers[4].Buffer]), ptxgen.CounterSync+ptxgen.SyncStride*int(settings[6].Value))
	for i, w := range s.h.Widths {
		if s.h.Shape.Shared[i] >= 0 || s.h.Root(i) != i {
			continue
		}
		word := func(k int) uint32 { return uint32(own[k*ptxgen.MaxLocations+n].Value) }
		init, slot := uint64(s.h.Test.Locations[i].Init), uint32(ptxgen.NoSlot)
		for _, x := range s.h.Terms {
			if x.Loc == i {
				slot = uint32(x.Slot)
			}
		}
		require.Equal(s.t, s.location(at, i), cells{c.Args[n].Buffer, word(0), word(1), word(2)})
		require.Equal(s.t, [4]uint32{uint32(init), uint32(init >> 32), uint32(w), slot}, [4]uint32{word(3), word(4), word(5), word(6)})
		n++
	}
	require.EqualValues(s.t, n, settings[5].Value)
	require.GreaterOrEqual(s.t, uint64(c.Dims.Grid[0])*256, min(instances, 1056*256))
	hist := s.memory[pointers[1].Buffer]
	require.Len(s.t, hist, max(64, 8*(int(settings[3].Value)+1)))
	binary.LittleEndian.PutUint64(hist, binary.LittleEndian.Uint64(hist)+instances)
}

// simulate runs a test on simulated devices.
func simulate(t *testing.T, h *ptxgen.Harness, j Job, devices ...runner.Device) (*simulated, *Outcome, error) {
	s := &simulated{t: t, h: h, devices: devices, memory: map[runner.Buffer][]byte{}, on: map[runner.Buffer]int{}, took: time.Second}
	o, err := (&Program{H: h, test: 1, collect: 2}).Run(t.Context(), s, &Memory{}, j)
	return s, o, err
}

var chip = runner.Device{Type: "gpu", Target: "sm_90", Units: 8, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}

// beside are tests beside those of the corpus: with parts of locations, and with values of 64 bits.
func beside(t *testing.T) (list []*litmus.Test) {
	for _, text := range []string{
		"PTX parts\n{ x=0; h=x+4; y=0; }\n P0@cta 0, gpu 0 | P1@cta 1, gpu 0 ;\n st.weak.u64 [x], 1 | st.weak.u32 [h], 1 ;\n ld.weak r0, y | st.weak y, 1 ;\nexists (P0:r0=0)\n",
		"PTX wide\n{ x=0; y=4294967297; }\n P0@cta 0, gpu 0 | P1@cta 1, gpu 0 ;\n st.weak.u64 x, 8589934593 | ld.weak.u64 r0, x ;\n st.weak.u64 y, 1 | ld.weak.u64 r1, y ;\nexists (P1:r0=8589934593)\n",
		"PTX shared\n{ a=0; b=0; }\n P0@cta 0, gpu 0 | P1@cta 0, gpu 0 ;\n st.weak.u32 a, 1 | ld.weak.u64 r0, b ;\n st.weak.u64 b, 1 | ld.weak r1, a ;\na: shared, b: shared\nexists (P1:r0=1)\n",
	} {
		x, err := litmus.Parse("beside", []byte(text))
		require.NoError(t, err)
		require.NoError(t, x.Check())
		list = append(list, x)
	}
	return list
}

// TestLaunchesFit: whatever is chosen, launches find the locations of their instances, with what they begin with, and
// access what they are given.
func TestLaunchesFit(t *testing.T) {
	for _, x := range slices.Concat(corpus.Tests(), beside(t)) {
		x, name, settings := x.Clone(), x.Name, 1
		if slices.Contains([]string{"parts", "wide", "mp", "iriw", "mp+relaxed.ctas-shared", "mp-volatile", "cas-sl", "ptx-cluster+mp"}, name) {
			settings = 6
		}
		for i := range x.Locations { // to be told apart
			if x.Locations[i].Init == 0 && x.Locations[i].Of == "" {
				x.Locations[i].Init = int64(16 + i)
			}
		}
		for _, form := range oneDevice {
			for _, layout := range []spec.Layout{spec.Pointers, spec.Adjacent} {
				h, err := ptxgen.EmitHarness(x, "sm_90", form, layout)
				if err != nil {
					continue // what the form is not for
				}
				for _, s := range Drawn(DefaultTuning(chip), 5, settings) {
					s.Tuning.Instances, s.Tuning.Launches = Fixed(1<<10), 2
					own := s.Incantations&Stress != 0 && s.Tuning.Scatter.High%2 == 0
					if own {
						s.Tuning.StressOwn, s.Tuning.StressLane = Fixed(1), Fixed(0)
						s.Tuning.BankStride = Fixed(4)
					}
					d, o, err := simulate(t, h, Job{Incantations: s.Incantations, Tuning: s.Tuning, Seed: 1, Instances: 1 << 12}, chip)
					require.NoError(t, err, name)
					if !slices.ContainsFunc(h.Shape.Shared, func(cta int) bool { return cta >= 0 }) {
						require.Equal(t, own, d.own > 0, name)
					}
					require.Zero(t, o.Other)
					require.GreaterOrEqual(t, o.Instances(), uint64(1<<12))
				}
			}
		}
	}
}
