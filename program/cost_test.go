package program

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
	"optcheck/runner/drive"
)

// meter is a device on which a copy takes 2 mJ and a launch 5, at 100 W.
type meter struct {
	runner.Session

	silent bool
}

func (*meter) Epoch() int            { return 0 }
func (*meter) Device() runner.Device { return runner.Device{Type: "gpu", Units: 132} }

func (m *meter) Run(_ context.Context, b *runner.Batch) (*runner.Result, error) {
	r := &runner.Result{Done: 1000}
	joules := 0.0
	for _, c := range b.Body {
		joules += map[runner.CommandKind]float64{runner.CommandCopy: 2, runner.CommandLaunch: 5}[c.Kind]
	}
	r.Body = time.Duration(joules * float64(10*time.Millisecond))
	if !m.silent && b.Energy {
		r.Watts, r.Before.EnergyJoule, r.After.EnergyJoule = 100, 50, 50+joules
	}
	return r, nil
}

// TestEnergy: what a run's launches take is told without setting buffers back, and
// without what checks; nothing is told where a device does not.
func TestEnergy(t *testing.T) {
	p := cl(t, `buffers: {a: {type: u32, count: 64}, b: {type: u32, count: 64}, e: {type: u32, count: 1}}
launches: [{kernel: k, grid: 4, block: 16, args: [a]}, {kernel: k, grid: 4, block: 16, args: [b]}]
check: [{kernel: k, grid: 1, block: 1, args: [e], errors: e}, {buffer: a, equals: 1}]
`, "kernel void k(global uint *a) {}")
	for _, silent := range []bool{false, true} {
		m := &Machine{P: p, S: &meter{silent: silent}, checks: &Variant{}, buffers: map[string]memory{}}
		for i := range p.Buffers {
			m.buffers[p.Buffers[i].Name] = memory{of: &p.Buffers[i]}
		}
		control, err := m.energy(t.Context(), m.setBack(), time.Second)
		require.NoError(t, err)
		all, err := m.energy(t.Context(), append(m.setBack(), m.launches(&Variant{}, nil)...), time.Second)
		require.NoError(t, err)
		c := Cost{Energy: all, SetBack: control}
		if silent {
			require.Nil(t, all)
			require.Nil(t, control)
			require.Zero(t, c.Millijoules())
			continue
		}
		require.InDelta(t, 3*2, control.Millijoules, 1e-9)
		require.InDelta(t, 3*2+2*5, all.Millijoules, 1e-9)
		require.InDelta(t, 10, c.Millijoules(), 1e-9)
		require.True(t, all.Counter)
		require.EqualValues(t, 1000, all.Runs)
		c.Energy, c.SetBack = control, all
		require.Zero(t, c.Millijoules(), "less than nothing is too little to tell")
	}
}

// TestSparse: blocks that stress are too few where half of the grid is less than the
// device, and nobody has said how many there are to be.
func TestSparse(t *testing.T) {
	for _, c := range []struct {
		grid, want  int
		ctas, names string
	}{{64, 32, "", "all"}, {1, 1, "", "sys-str+"}, {264, 0, "", "all"}, {64, 0, "stress-ctas=132", "all"}, {64, 0, "", "no-str-,no-str+"}} {
		p := cl(t, fmt.Sprintf(`buffers: {a: {type: u32, count: 64}}
launches: [{kernel: k, grid: 1, block: 16, args: [a]}, {kernel: k, grid: %d, block: 16, args: [a]}]
check: [{buffer: a, equals: 1}]
`, c.grid), "kernel void k(global uint *a) {}")
		s := &meter{}
		tuning := drive.DefaultTuning(s.Device())
		if c.ctas != "" {
			require.NoError(t, tuning.Keep(c.ctas))
		}
		list, err := Named(Environments(s.Device(), tuning), c.names)
		require.NoError(t, err)
		l := &Lab{Machine: &Machine{P: p, S: s}, Environments: list}
		require.Equal(t, c.want, l.Sparse(), "%+v", c)
	}
}
