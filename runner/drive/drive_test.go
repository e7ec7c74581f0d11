package drive

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/opencl"
)

// cpu opens the first CPU device of OpenCL (PoCL).
func cpu(t *testing.T) runner.Session {
	t.Helper()
	ctx := context.Background()
	b := opencl.New()
	devices, err := b.Devices(ctx)
	if err != nil {
		t.Skip(err)
	}
	for _, d := range devices {
		if d.Type == "cpu" {
			s, err := b.Open(ctx, d.Index)
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			return s
		}
	}
	t.Skip("no CPU device of OpenCL")
	return nil
}

// TestPoCL runs tests end to end on a CPU: every instance is counted, with all
// incantations, and none has a value that the test cannot produce.
func TestPoCL(t *testing.T) {
	s := cpu(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	m := &Memory{}
	for _, name := range []string{"mp", "sb-inter", "lb", "2+2w", "cas-sl", "iriw+relaxed.gpus"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		for form := range ptxgen.Forms {
			h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.Form(form))
			require.NoError(t, err, name)
			p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
			require.NoError(t, err, name)
			for _, i := range []Incantations{None, Random, Sync | Banks, All} {
				o, err := p.Run(ctx, s, m, Job{Incantations: i, Tuning: DefaultTuning(s.Device()), Seed: 1, Instances: 20000, Budget: 2 * patient.Long})
				require.NoError(t, err, name)
				require.Zero(t, o.Other, "%s %v: %v", name, i, o.Samples)
				require.GreaterOrEqual(t, o.Instances(), uint64(20000))
				require.Equal(t, i&Stress != 0, o.StressAccesses > 0)
				t.Log(h.Form, name, i, o.Histogram.Outcomes(), o.Elapsed, o.GaveUp)
			}
		}
	}
}
