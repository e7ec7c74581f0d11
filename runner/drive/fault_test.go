package drive

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
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
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	x, _ := corpus.Lookup("mp")
	h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
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
	d := runner.Device{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}
	both := func(i Incantations) ptxgen.Form { return ptxgen.Form(i >> 1 & 1) } // as good as any
	for i := None; i <= All; i++ {
		h, err := ptxgen.EmitHarness(x, "sm_90", both(i), spec.Pointers)
		require.NoError(t, err)
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

// TestInstances: every instance has each role once, played by threads that lie as the
// scope tree says, and no two share a cell, whatever the choices: the arithmetic of
// the kernels, done here.
func TestInstances(t *testing.T) {
	d := runner.Device{Type: "gpu", Units: 4, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}
	tuning := DefaultTuning(d)
	tuning.Distance, tuning.Instances, tuning.BankLanes = Knob{0, 0, 64}, Fixed(1<<13), Knob{0, 0, 31}
	tuning.Near, tuning.Mixed, tuning.Scatter = Knob{0, 0, 8}, Knob{0, 0, 1}, Knob{0, 30, 200}
	layout := spec.Pointers
	check := func(x *litmus.Test, form ptxgen.Form, homes ...int) {
		h, err := ptxgen.EmitHarness(x, "sm_90", form, layout)
		require.NoError(t, err)
		for _, i := range []Incantations{None, Random, All} {
			pl := newPlanner(h, d, Job{Incantations: i, Tuning: tuning, Seed: 9, Homes: homes})
			require.NoError(t, pl.spread([]runner.Device{d, d, d}))
			for range 3 {
				l, err := pl.launch()
				require.NoError(t, err)
				checkInstances(t, h, l)
				checkCells(t, h, l)
			}
		}
	}
	for _, name := range []string{"warp-mp", "warp-other-warp", "warp-none"} { // threads of one warp
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		check(x, ptxgen.FormFast)
		check(x, ptxgen.FormBanks)
	}
	for _, name := range []string{"mp", "mp-volatile", "iriw", "ptx-cluster+mp", "isa2+release.gpu+acquire.gpu", "mp+relaxed.ctas"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		for form := range ptxgen.Forms {
			check(x, ptxgen.Form(form))
		}
		n := 0
		for y := range Divide(x, 3) {
			if n++; n%3 == 1 { // of iriw there are many
				check(y, ptxgen.FormDevices)
				check(y, ptxgen.FormDevices, 0, 2)
			}
		}
		if name == "mp" || name == "iriw" {
			tuning.Lone = Fixed(1)
			check(x, ptxgen.FormFast)
			tuning.Lone = Fixed(0)
		}
		layout = spec.Adjacent
		check(x, ptxgen.FormFast)
		check(x, ptxgen.FormPermuted)
		layout = spec.Pointers
	}
}

// player is a thread of a launch.
type player struct{ device, cluster, cta, warp, lane uint32 }

// plays calls do for each role and instance that a thread plays.
func plays(h *ptxgen.Harness, l *launch, p player, do func(role int, inst uint32)) {
	s, g := h.Shape, l.set
	ranks, lanes := uint32(s.Ranks), uint32(32/s.Lanes)
	logical := (p.cluster*g["mul_unit"] + g["add_unit"]) % g["units"]
	if logical >= g["test_units"] {
		return
	}
	rank := (p.cta%ranks + g["add_rank"]) % ranks
	if h.Form != ptxgen.FormPermuted {
		group := logical % uint32(s.Units)
		if h.Form == ptxgen.FormDevices && l.active[p.device]>>group&1 == 0 {
			return
		}
		block := (logical/uint32(s.Units)*g["mul_block"] + group*g["add_block"]) & g["block_mask"]
		warp := (p.warp*g["mul_warp"] + g["add_warp"]) & g["warp_mask"]
		slot := ((group*ranks+rank)*uint32(s.Warps)+warp%uint32(s.Warps))*uint32(s.Lanes) + p.lane%uint32(s.Lanes)
		wb := (warp/uint32(s.Warps)*g["mul_group"] + slot*g["add_group"]) & g["group_mask"]
		lb := (p.lane/uint32(s.Lanes)*g["mul_lane"] + slot*g["add_lane"]) & (lanes - 1)
		for r, at := range s.Roles {
			if uint32(at) == slot && lb>>g["log_lanes"] == 0 {
				do(r, block<<g["log_cta"]|wb<<g["log_lanes"]|lb)
			}
		}
		return
	}
	index := func(coordinate uint32, what string, mask uint32, place, places, number int) uint32 {
		q := uint32(max(2, pow2(places)) * (2*number + 1))
		return ((1+q*g["mul_"+what])*coordinate + uint32(place) + q*g["add_"+what]) & mask
	}
	pos := ((p.cta*g["warps"]+p.warp)*32 + p.lane) >> g["order_shift"] * g["order_mul"]
	pos = (pos + g["order_add"]) >> 16 % uint32(len(s.Roles))
	for range g["rounds"] {
		r := int(g["order"] >> (4 * pos) & 15)
		pos = (pos + g["order_step"]) % uint32(len(s.Roles))
		slot := s.Roles[r]
		lane, at := slot%s.Lanes, slot/s.Lanes
		warp, cta := at%s.Warps, at/s.Warps
		unit := cta / s.Ranks
		block := index(logical, "block", g["block_mask"], unit, s.Units, unit)
		block = block*ranks + (rank+ranks-uint32(cta%s.Ranks))%ranks
		do(r, block<<g["log_cta"]|index(p.warp, "warp", g["warp_mask"], warp, s.Warps, at)<<5|index(p.lane, "lane", 31, lane, s.Lanes,
			slot))
	}
}

func checkInstances(t *testing.T, h *ptxgen.Harness, l *launch) {
	t.Helper()
	s := h.Shape
	by := make([]player, len(s.Roles)*int(l.instances))
	played := 0
	for n := range uint32(len(l.active)) * l.ctas {
		device, cta := n/l.ctas, n%l.ctas
		for thr := range l.threads {
			p := player{device, cta / uint32(s.Ranks), cta, thr >> 5, thr & 31}
			plays(h, l, p, func(r int, inst uint32) {
				require.Less(t, inst, l.instances)
				at := &by[r*int(l.instances)+int(inst)]
				require.Zero(t, *at, "role %d of instance %d is played twice", r, inst)
				*at = player{p.device, p.cluster + 1, p.cta, p.warp, p.lane}
				played++
			})
		}
	}
	require.Equal(t, len(by), played)
	for inst := range int(l.instances) {
		for a := range s.Roles {
			for b := range a {
				p, q := h.Test.Threads[a].Place, h.Test.Threads[b].Place
				x, y := by[a*int(l.instances)+inst], by[b*int(l.instances)+inst]
				here := x.device == y.device
				same := []bool{p.SameScope(q, litmus.ScopeGPU), p.SameScope(q, litmus.ScopeCluster), p.SameScope(q, litmus.ScopeCTA)}
				if same[0] != here || same[1] != (here && x.cluster == y.cluster) || same[2] != (here && x.cta == y.cta) || x == y ||
					s.Roles[a]/s.Lanes == s.Roles[b]/s.Lanes != (here && x.cta == y.cta && x.warp == y.warp) {
					t.Fatalf("%s, instance %d: roles %d and %d are played by %v and %v", h.Test.Name, inst, a, b, x, y)
				}
			}
		}
	}
}

// checkCells: the cells of different instances and locations do not overlap.
func checkCells(t *testing.T, h *ptxgen.Harness, l *launch) {
	t.Helper()
	type cell struct{ buffer, at uint32 }
	used := map[cell]bool{}
	for i := range h.Widths {
		if h.Layout == spec.Adjacent {
			require.Zero(t, l.stride[i]%uint32(h.Check.Cell))
			require.Equal(t, h.Place(i), l.offset[i]%uint32(h.Check.Cell))
		}
	}
	for i, w := range h.Widths {
		if h.Shape.Shared[i] >= 0 {
			continue
		}
		buffer := uint32(i + 1 + 16*l.homes[i])
		if l.arena {
			buffer = 0
		}
		for inst := range l.instances {
			at := (inst*l.mul[i]&l.set["inst_mask"])*l.stride[i] + l.offset[i]
			for k := uint32(0); k < uint32(w); k += 4 {
				c := cell{buffer, (at + k) / 4}
				if used[c] {
					t.Fatalf("%s: location %d of instance %d shares a cell", h.Test.Name, i, inst)
				}
				used[c] = true
			}
		}
	}
}

// TestEqual: launches have equal numbers of instances, whatever the incantations.
func TestEqual(t *testing.T) {
	d := runner.Device{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10}
	tuning := DefaultTuning(d)
	tuning.Equal = Fixed(1 << 14)
	for _, name := range []string{"mp", "iriw", "ptx-cluster+mp"} {
		x, _ := corpus.Lookup(name)
		for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted} {
			h, err := ptxgen.EmitHarness(x, "sm_90", form, spec.Pointers)
			require.NoError(t, err)
			for i := None; i <= All; i++ {
				pl := newPlanner(h, d, Job{Incantations: i, Tuning: tuning, Seed: 4})
				for range 5 {
					l, err := pl.launch()
					require.NoError(t, err)
					require.EqualValues(t, 1<<14, l.instances, "%s %v %v", name, form, i)
					require.Equal(t, i&Stress != 0, l.set["stress_units"] > l.set["test_units"])
				}
			}
		}
	}
}
