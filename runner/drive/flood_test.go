package drive

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// TestBetween: each unit has a place of its own by arithmetic of 32 bits, units that are every
// apart have neighbouring places, and of so many in a row at least one stresses.
func TestBetween(t *testing.T) {
	for _, test := range []uint32{1, 2, 3, 4096, 3 << 14, 1 << 17} {
		for _, every := range []uint32{2, 3, 9, 33} {
			p := &planner{every: every}
			units, mul := p.between(test)
			require.GreaterOrEqual(t, units, test)
			used, tests := make([]bool, units), uint32(0)
			for u := range units {
				place := u * mul % units
				require.False(t, used[place], "%d %d: unit %d", test, every, u)
				used[place] = true
				require.Equal(t, (place+1)%units, (u+p.every)%units*mul%units)
				if tests++; place >= test {
					tests = 0
				}
				require.LessOrEqual(t, tests, p.every, "%d %d: unit %d", test, every, u)
			}
		}
	}
}

// TestFloodStress: the stress of a flood stays in the memory that it is given, and loads only where that
// is the test's own; every instance is counted.
func TestFloodStress(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	d := runner.Device{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024}
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, form := range oneDevice {
		h, err := ptxgen.EmitHarness(mp, "sm_90", form, spec.Pointers)
		require.NoError(t, err)
		for _, s := range Drawn(DefaultTuning(d), 3, 200) {
			s.Tuning.Near, s.Tuning.StressEvery, s.Tuning.StressOwn = Fixed(1+rnd.Uint32N(4)), Knob{2, 2, 40}, Fixed(1)
			p := newPlanner(h, d, Job{Incantations: Stress | Random, Tuning: s.Tuning, Seed: 1})
			l, err := p.launch()
			require.NoError(t, err)
			require.Greater(t, l.set["stress_units"], l.set["test_units"])
			if l.own < 0 {
				continue
			}
			last := min(uint64(l.set["stress_lines"]-1)*uint64(l.set["stress_line"]), uint64(l.set["stress_wrap"]))
			require.LessOrEqual(t, last&^3+31*uint64(l.set["stress_lane"])+4, l.size(l.own), s.Tuning)
			require.Zero(t, l.set["stress_stores"])
			need := footprint{cells: make([]uint64, len(h.Widths))}
			need.add(h, l)
			require.Zero(t, need.scratch, "it needs no memory of its own")
		}
	}
}

// TestOwnWithoutStress: what is not stressed is not stressed through its own memory.
func TestOwnWithoutStress(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	d := runner.Device{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024}
	h, err := ptxgen.EmitHarness(mp, "sm_90", ptxgen.FormPermuted, spec.Pointers)
	require.NoError(t, err)
	tuning := DefaultTuning(d)
	tuning.StressOwn = Fixed(1)
	for _, inc := range []Incantations{None, Random, Sync | Random, Stress | Random} {
		l, err := newPlanner(h, d, Job{Incantations: inc, Tuning: tuning, Seed: 1}).launch()
		require.NoError(t, err)
		require.Equal(t, inc&Stress != 0, l.own >= 0, inc)
	}
}

// TestFloodPoCL: every instance of a flood that is stressed is counted.
func TestFloodPoCL(t *testing.T) {
	s := cpu(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	tuning := DefaultTuning(s.Device())
	for _, x := range []string{"near=1..4", "stress-every=2..9", "stress-own=0..1", "instances=4096", "stress-rounds=2"} {
		require.NoError(t, tuning.Set(x))
	}
	x, _ := corpus.Lookup("iriw+relaxed.gpus")
	for _, form := range oneDevice {
		h, err := ptxgen.EmitHarnessOpenCL(x, form, spec.Pointers)
		require.NoError(t, err)
		p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
		require.NoError(t, err)
		for _, i := range []Incantations{Stress, Stress | Random} {
			o, err := p.Run(ctx, s, &Memory{}, Job{Incantations: i, Tuning: tuning, Seed: 1, Instances: 20000})
			require.NoError(t, err)
			require.Zero(t, o.Other, o.Samples)
			require.GreaterOrEqual(t, o.Instances(), uint64(20000))
			require.Positive(t, o.StressAccesses)
		}
	}
}
