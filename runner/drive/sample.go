package drive

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"optcheck/ptxgen"
	"optcheck/runner"
)

// Sample is one launch of a harness kernel as a device would get it, small enough for an emulator: dimensions, parameters
// packed as the kernel reads them, and what memory holds at its beginning.
type Sample struct {
	Dims   runner.Dims
	Params []byte
	Memory []Area
}

// Area is memory of a device, in bytes.
type Area struct {
	Addr uint64
	Data []byte
}

// sampled are the launches of Samples. Together they perform each instruction of a harness, and give what it computes
// with different values.
var sampled = []struct {
	incantations Incantations
	set          map[string]uint32 // settings that differ from what the planner chooses
	found        bool              // what the stress reads makes the kernel write CounterSeen
	// wild is a launch that no device gets, but both codes compute with: see differ.
	wild bool
}{
	{incantations: None, set: stress(0, 0, map[string]uint32{"markers": 1})},
	{incantations: All, set: stress(0b10101, 0b01010, map[string]uint32{"sync": 1 << 30, "pre_mask": 7})}, // all wait in vain
	{incantations: All, set: stress(0b01010, 0b10101, map[string]uint32{"pre_mask": 7})},
	{incantations: Stress, set: stress(0b11111, 0, nil), found: true},
	{incantations: None, set: stress(1, 2, map[string]uint32{"mul_block": 3, "add_block": 1, "mul_warp": 3, "add_warp": 1, "mul_group": 3,
		"add_group": 1, "mul_lane": 5, "add_lane": 3, "block_mask": 3, "units": 7, "test_units": 4}), wild: true},
	{incantations: Random | Banks, set: stress(2, 4, nil), wild: true},
	{incantations: Sync | Stress, set: stress(4, 8, nil), wild: true},
	{incantations: All, set: stress(8, 16, nil), wild: true},
	{incantations: All, set: stress(16, 1, nil), wild: true},
}

// stress makes settings: accesses k of a sequence of five are loads and stores where bits are set.
func stress(loads, stores uint32, set map[string]uint32) map[string]uint32 {
	out := map[string]uint32{"stress_loads": loads, "stress_stores": stores, "stress_steps": 5}
	maps.Copy(out, set)
	return out
}

// bounding are settings that bound a loop or divide.
var bounding = []string{"units", "sync", "sync_bound", "stress_iterations", "bank_rounds", "pre_mask", "rounds", "markers"}

// inBytes are settings that are distances in memory.
var inBytes = []string{"stress_line", "stress_base", "stress_lane", "bank_step", "result_step"}

// Samples plans launches of a harness by the planner that Run uses: alone, and with all incantations, on each device of which
// the test speaks. A harness has the same samples each time.
func Samples(h *ptxgen.Harness) ([]*Sample, error) {
	d := runner.Device{Type: "gpu", Units: 2, UnitThreads: 128, MaxBlock: 64, Shared: 48 << 10, Clusters: true}
	t := DefaultTuning(d)
	t.Blocks, t.Launches, t.Pattern = Fixed(2), 1, "ld st"
	t.StressCTAs, t.StressLines, t.StressLane = Fixed(2), Fixed(7), Fixed(8)
	t.Offset, t.BankRounds, t.SyncBound, t.SyncShare, t.PreRounds = Knob{0, 0, 64}, Fixed(1), Fixed(2), Fixed(50), Fixed(3)
	var out []*Sample
	for seed, x := range sampled {
		t.Instances, t.PreShare, t.Warps, t.StressRounds = Fixed(64), Fixed(100), Fixed(2), Fixed(2)
		switch {
		case x.wild:
			t.PreShare, t.Warps = Fixed(50), Fixed(1+uint32(seed)%2)
		case x.found: // by one warp: several would race
			t.Warps, t.StressRounds = Fixed(1), Fixed(1)
		}
		s := &paper{devices: slices.Repeat([]runner.Device{d}, 1+slices.Max(h.Shape.Devices))}
		r := &run{p: &Program{H: h, test: 1, collect: 2}, s: s, m: &Memory{},
			j: Job{Incantations: x.incantations, Tuning: t, Seed: uint64(seed)}}
		if err := s.begin(r, x.found); err != nil {
			return nil, err
		}
		rnd := rand.New(rand.NewPCG(uint64(seed), 0))
		for _, c := range r.body {
			if c.Kernel != r.p.test {
				continue
			}
			set := maps.Clone(x.set)
			if x.wild {
				differ(set, h, &c, rnd)
			}
			out = append(out, s.sample(h, &c, set))
		}
	}
	return out, nil
}

// placing are settings by which each instance has its own memory in a CTA: mbarriers bear no others.
var placing = []string{"cta_mask", "inst_mask", "log_cta", "mul_lane", "add_lane", "mul_group", "add_group", "group_mask", "log_lanes",
	"mul_warp", "add_warp", "warp_mask", "add_rank"}

// differ adds to a set about half of the settings of a launch that are not in it and bound no loop, each a little greater.
func differ(set map[string]uint32, h *ptxgen.Harness, launch *runner.Command, rnd *rand.Rand) {
	for i, q := range h.Params {
		if _, fixed := set[q.Name]; q.Kind != ptxgen.ParamSetting || fixed || slices.Contains(bounding, q.Name) ||
			h.Program && slices.Contains(placing, q.Name) || rnd.Uint32N(2) == 0 {
			continue
		}
		unit := uint32(1)
		if slices.Contains(inBytes, q.Name) {
			unit = 8
		}
		set[q.Name] = uint32(launch.Args[i].Value) + unit*rnd.Uint32N(8)
	}
}

// paper is a session of devices that exist on paper alone: they have memory, and launch nothing.
type paper struct {
	runner.Session
	devices []runner.Device
	memory  [][]byte // of Buffer 1, 2 …
}

func (s *paper) Device() runner.Device    { return s.devices[0] }
func (s *paper) Devices() []runner.Device { return s.devices }

// addr is where a buffer lies: far enough from others that what misses one hits none.
func (s *paper) addr(b runner.Buffer) uint64 { return 0x7e00_0000_0000 + uint64(b)<<32 }

func (s *paper) Alloc(_ context.Context, _ int, bytes uint64) (runner.Buffer, error) {
	const most = 1 << 24 // the launches are small
	if bytes > most {
		return 0, runner.Errorf(runner.ErrMemory, "sample", "%d bytes for a launch on paper", bytes)
	}
	s.memory = append(s.memory, make([]byte, bytes))
	return runner.Buffer(len(s.memory)), nil
}

func (s *paper) Free(_ context.Context, b runner.Buffer) error {
	s.memory[b-1] = nil
	return nil
}

// begin plans a run and gives memory what it holds before the first launch. With found, all that the stress loads is
// ptxgen.SeenSum.
func (s *paper) begin(r *run, found bool) (err error) {
	if r.bins, err = newBins(r.p.H, Domain(r.p.H.Test, nil)); err != nil {
		return err
	}
	if err := r.prepare(context.Background()); err != nil {
		return err
	}
	if found {
		for _, a := range r.m.scratch[:len(s.devices)] {
			r.setup = append(r.setup, runner.Fill(a.buf, 0, a.size&^3, ptxgen.SeenSum))
		}
	}
	for _, c := range r.setup {
		if err := s.do(&c); err != nil {
			return err
		}
	}
	return nil
}

// do carries out a command that changes memory.
func (s *paper) do(c *runner.Command) error {
	m := s.memory[c.Buffer-1]
	switch c.Kind {
	case runner.CommandFill:
		for at := c.Offset; at < c.Offset+c.Bytes; at += 4 {
			binary.LittleEndian.PutUint32(m[at:], c.Value)
		}
	case runner.CommandWrite:
		copy(m[c.Offset:], c.Data)
	case runner.CommandCopy:
		copy(m[c.Offset:], s.memory[c.From-1][c.FromAt:c.FromAt+c.Bytes])
	default:
		return fmt.Errorf("command %d in front of a launch", c.Kind)
	}
	return nil
}

// sample is a launch with what memory holds now.
func (s *paper) sample(h *ptxgen.Harness, launch *runner.Command, set map[string]uint32) *Sample {
	out := &Sample{Dims: launch.Dims}
	for i, q := range h.Params {
		v, size := launch.Args[i].Value, int64(4)
		if launch.Args[i].Kind == runner.ArgBuffer {
			v = s.addr(launch.Args[i].Buffer)
		}
		if other, ok := set[q.Name]; ok {
			v = uint64(other)
		}
		if q.Wide {
			size = 8
		}
		out.Params = append(out.Params, make([]byte, max(0, q.At+size-int64(len(out.Params))))...)
		copy(out.Params[q.At:], binary.LittleEndian.AppendUint64(nil, v)[:size])
	}
	for i, data := range s.memory {
		out.Memory = append(out.Memory, Area{s.addr(runner.Buffer(i + 1)), data})
	}
	return out
}
