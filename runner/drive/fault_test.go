package drive

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
)

// flaky is a session of a real device, some of whose batches are lost.
type flaky struct {
	runner.Session
	fail map[int]error // by number of the batch
	runs int
	hook func(n int)
}

func (f *flaky) Run(ctx context.Context, b *runner.Batch) (*runner.Result, error) {
	f.runs++
	if f.hook != nil {
		f.hook(f.runs)
	}
	if err := f.fail[f.runs]; err != nil {
		return nil, err
	}
	return f.Session.Run(ctx, b)
}

// TestFaults: a lost batch loses nothing that was counted before, and a hang
// ends the run as what it is.
func TestFaults(t *testing.T) {
	s := cpu(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()), Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	x, _ := corpus.Lookup("mp")
	h, err := ptxgen.EmitHarnessOpenCL(x)
	require.NoError(t, err)
	p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	m := &Memory{}
	job := Job{Tuning: DefaultTuning(s.Device()), Seed: 3, Instances: 5_000_000}
	fault := runner.Errorf(runner.ErrFault, "batch", "illegal address")

	f := &flaky{Session: s, fail: map[int]error{2: fault}}
	o, err := p.Run(ctx, f, m, job)
	require.NoError(t, err)
	require.Len(t, o.Faults, 1)
	require.GreaterOrEqual(t, o.Instances(), job.Instances, "the lost batch is run again")

	f = &flaky{Session: s, fail: map[int]error{2: fault, 3: fault, 4: fault, 5: fault}}
	o, err = p.Run(ctx, f, m, job)
	require.ErrorIs(t, err, runner.ErrFault)
	require.Positive(t, o.Instances(), "the first batch stays counted")

	f = &flaky{Session: s, fail: map[int]error{2: runner.Errorf(runner.ErrTimeout, "batch", "hung")}}
	o, err = p.Run(ctx, f, m, job)
	require.ErrorIs(t, err, runner.ErrTimeout)
	require.Equal(t, 2, f.runs, "a hang is not tried again")
	require.Positive(t, o.Instances())

	inner, cancel := context.WithCancel(ctx)
	f = &flaky{Session: s, hook: func(n int) {
		if n == 2 {
			cancel()
		}
	}}
	job.Instances, job.Budget = 0, 2*patient.Long
	o, err = p.Run(inner, f, m, job)
	require.NoError(t, err, "an interrupt is no error")
	require.Positive(t, o.Instances())
}

// TestSeed: the same seed makes the same choices, another one others.
func TestSeed(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	h, err := ptxgen.EmitHarness(x, "sm_90")
	require.NoError(t, err)
	d := runner.Device{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}
	for i := None; i <= All; i++ {
		r := func(seed uint64) []*launch {
			pl := newPlanner(h, d, Job{Incantations: i, Tuning: DefaultTuning(d), Seed: seed})
			var out []*launch
			for range 8 {
				l, err := pl.launch()
				require.NoError(t, err)
				out = append(out, l)
				require.Zero(t, l.instances&(l.instances-1), "instances are a power of two")
				require.Equal(t, uint32(1), gcd(l.set["mul_unit"], l.set["units"]))
				require.LessOrEqual(t, l.threads, uint32(1024))
				if i&Sync != 0 {
					require.LessOrEqual(t, l.ctas*l.threads, uint32(132*2048)*17/16, "CTAs that wait for each other must all be resident")
				}
			}
			return out
		}
		require.Equal(t, r(1), r(1))
		if i&(Random|Banks) != 0 {
			require.NotEqual(t, r(1), r(2))
		}
	}
}

// TestInstances: every instance has each role once and no two share a cell,
// whatever the choices: the arithmetic of the kernels, done here.
func TestInstances(t *testing.T) {
	d := runner.Device{Type: "gpu", Units: 4, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}
	for _, name := range []string{"mp", "mp-volatile", "iriw", "ptx-cluster+mp", "isa2+release.gpu+acquire.gpu"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		h, err := ptxgen.EmitHarness(x, "sm_90")
		require.NoError(t, err)
		pl := newPlanner(h, d, Job{Incantations: All, Tuning: DefaultTuning(d), Seed: 9})
		for range 4 {
			l, err := pl.launch()
			require.NoError(t, err)
			checkInstances(t, h, l)
		}
	}
}

func checkInstances(t *testing.T, h *ptxgen.Harness, l *launch) {
	t.Helper()
	s, g := h.Shape, l.set
	roles := map[[2]uint32]uint32{} // role, instance → CTA+1
	ranks := uint32(s.Ranks)
	for cta := range l.ctas {
		logical := (cta/ranks*g["mul_unit"] + g["add_unit"]) % g["units"]
		if logical >= g["test_units"] {
			continue
		}
		rank := (cta%ranks + g["add_rank"]) % ranks
		group := logical % uint32(s.Units)
		block := (logical/uint32(s.Units)*g["mul_block"] + group*g["add_block"]) & g["block_mask"]
		for thr := range l.threads {
			warp := (thr>>5*g["mul_warp"] + g["add_warp"]) & g["warp_mask"]
			lane := thr & 31
			slot := ((group*ranks+rank)*uint32(s.Warps)+warp%uint32(s.Warps))*uint32(s.Lanes) + lane%uint32(s.Lanes)
			wb := (warp/uint32(s.Warps)*g["mul_group"] + slot*g["add_group"]) & g["group_mask"]
			lanes := uint32(32 / s.Lanes)
			lb := (lane/uint32(s.Lanes)*g["mul_lane"] + slot*g["add_lane"]) & (lanes - 1)
			inst := block<<g["log_cta"] | wb*lanes | lb
			for r, at := range s.Roles {
				if uint32(at) == slot {
					k := [2]uint32{uint32(r), inst}
					require.Zero(t, roles[k], "role %d of instance %d is played twice", r, inst)
					roles[k] = cta + 1
				}
			}
		}
	}
	require.Len(t, roles, len(s.Roles)*int(l.instances))
	for inst := range l.instances {
		for a := range s.Roles {
			for b := range a {
				p, q := h.Test.Threads[a].Place, h.Test.Threads[b].Place
				same := p.GPU == q.GPU && p.Cluster == q.Cluster && p.CTA == q.CTA
				require.Equal(t, same, roles[[2]uint32{uint32(a), inst}] == roles[[2]uint32{uint32(b), inst}], "%s: scope tree", h.Test.Name)
			}
		}
	}
}
