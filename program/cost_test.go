package program

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

// meter is a device on which a copy takes 2 mJ and a launch 5, at 100 W.
type meter struct {
	runner.Session

	silent bool
}

func (*meter) Epoch() int            { return 0 }
func (*meter) Device() runner.Device { return runner.Device{} }

func (m *meter) Run(_ context.Context, b *runner.Batch) (*runner.Result, error) {
	r := &runner.Result{Done: 1000}
	joules := 0.0
	for _, c := range b.Body {
		joules += map[runner.CommandKind]float64{runner.CommandCopy: 2, runner.CommandLaunch: 5}[c.Kind]
	}
	r.Body = time.Duration(joules * float64(10*time.Millisecond))
	if !m.silent {
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
