package drive

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/opencl"
	"optcheck/spec"
)

// cpu opens the first CPU device of OpenCL (PoCL).
func cpu(t *testing.T) runner.Session {
	t.Helper()
	ctx := context.Background()
	b := opencl.New()
	devices, err := b.Devices(ctx)
	if err != nil {
		required.Missing(t, "%v", err)
	}
	for _, d := range devices {
		if d.Type == "cpu" {
			s, err := b.Open(ctx, d.Index)
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			return s
		}
	}
	required.Missing(t, "no CPU device of OpenCL")
	return nil
}

// TestMain lets the tests start this binary as a device process.
func TestMain(m *testing.M) {
	if os.Getenv("OPTCHECK_TEST_DEVICE") != "" {
		if err := runner.ServeProcess(context.Background(), opencl.New()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// twoCPUs opens two devices of PoCL, driven by a process of their own.
func twoCPUs(t *testing.T) runner.Session {
	t.Helper()
	cpu(t) // is there one at all?
	b := runner.Isolated(runner.Isolation{Backend: "opencl", Command: []string{os.Args[0]},
		Env: []string{"OPTCHECK_TEST_DEVICE=1", "POCL_DEVICES=pthread pthread"}})
	s, err := b.Open(context.Background(), 0, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestDevices runs divided tests on two devices, with each placement of their
// locations: each instance is counted and has values that the test can produce.
func TestDevices(t *testing.T) {
	s := twoCPUs(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	m := &Memory{}
	for name, want := range map[string]int{"mp": 4, "iriw+relaxed.gpus": 7 * 4, "2+2w": 4} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		runs := 0
		for y := range Divide(x, 2) {
			h, err := ptxgen.EmitHarnessOpenCL(y, ptxgen.FormDevices, spec.Pointers)
			require.NoError(t, err, name)
			p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
			require.NoError(t, err, name)
			placements, err := Homes("each", h, 2)
			require.NoError(t, err)
			for _, homes := range placements {
				i := []Incantations{None, Random, Sync | Random, All}[runs%4]
				o, err := p.Run(ctx, s, m, Job{Incantations: i, Tuning: DefaultTuning(s.Device()), Seed: 1, Instances: 5000, Homes: homes})
				require.NoError(t, err, name)
				require.Zero(t, o.Other, "%s %v: %v", y.Name, i, o.Samples)
				require.GreaterOrEqual(t, o.Instances(), uint64(5000))
				runs++
			}
		}
		require.Equal(t, want, runs, name)
	}
}

// TestPoCL runs tests end to end on a CPU: every instance is counted, with all
// incantations, and none has a value that the test cannot produce.
func TestPoCL(t *testing.T) {
	s := cpu(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	m, tuning := &Memory{}, DefaultTuning(s.Device())
	require.NoError(t, tuning.Set("bank-lanes=16"))
	for _, name := range []string{"mp", "sb-inter", "lb", "2+2w", "cas-sl", "iriw+relaxed.gpus"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		for form := range ptxgen.Forms {
			h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.Form(form), spec.Pointers)
			require.NoError(t, err, name)
			p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
			require.NoError(t, err, name)
			for _, i := range []Incantations{None, Random, Sync | Banks, All} {
				o, err := p.Run(ctx, s, m, Job{Incantations: i, Tuning: tuning, Seed: 1, Instances: 20000,
					Budget: 2 * patient.Long})
				require.NoError(t, err, name)
				require.Zero(t, o.Other, "%s %v: %v", name, i, o.Samples)
				require.GreaterOrEqual(t, o.Instances(), uint64(20000))
				require.Equal(t, i&Stress != 0 || i&Banks != 0 && h.Form.Banks(), o.StressAccesses > 0)
				t.Log(h.Form, name, i, o.Histogram.Outcomes(), o.Elapsed, o.GaveUp)
			}
		}
	}
}

// TestLone: one instance a launch, with stress around it.
func TestLone(t *testing.T) {
	s := cpu(t)
	ctx := context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()),
		Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	m, tuning := &Memory{}, DefaultTuning(s.Device())
	require.NoError(t, tuning.Set("lone=1"))
	for name, want := range map[string]error{"mp": nil, "mp+relaxed.ctas": runner.ErrUnsupported} {
		x, _ := corpus.Lookup(name)
		h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
		require.NoError(t, err)
		p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: "-cl-std=CL3.0"})
		require.NoError(t, err)
		o, err := p.Run(ctx, s, m, Job{Incantations: Stress | Random, Tuning: tuning, Seed: 1, Instances: 200})
		require.ErrorIs(t, err, want)
		if want == nil {
			require.Equal(t, o.Launches, o.Instances())
			require.Greater(t, len(o.Histogram.Outcomes()), 1, "what each role reads is counted")
			require.Positive(t, o.StressAccesses)
			require.Zero(t, o.Other)
		}
	}
}

// TestKernel: kernels choose lanes for bank conflicts only where a setting has such lanes.
func TestKernel(t *testing.T) {
	tuning := DefaultTuning(runner.Device{Type: "gpu"})
	lanes := tuning
	require.NoError(t, lanes.Set("bank-lanes=0..8"))
	lone := lanes
	require.NoError(t, lone.Set("lone=1"))
	for _, x := range []struct {
		form ptxgen.Form
		i    Incantations
		t    Tuning
		want ptxgen.Form
	}{
		{ptxgen.FormFast, All, tuning, ptxgen.FormFast},
		{ptxgen.FormFast, Random, lanes, ptxgen.FormFast},
		{ptxgen.FormFast, Banks, lanes, ptxgen.FormBanks},
		{ptxgen.FormFast, Banks, lone, ptxgen.FormFast},
		{ptxgen.FormPermuted, Banks, lanes, ptxgen.FormPermuted},
		{ptxgen.FormDevices, Banks, lanes, ptxgen.FormDevices},
	} {
		require.Equal(t, x.want, Setting{Form: x.form, Incantations: x.i, Tuning: x.t}.Kernel(), "%v %v", x.form, x.i)
	}
	mp, _ := corpus.Lookup("mp")
	for form, name := range ptxgen.Forms {
		h, err := ptxgen.EmitHarness(mp, "sm_90", ptxgen.Form(form), spec.Pointers)
		require.NoError(t, err)
		require.Equal(t, h.Form.Banks(), strings.Contains(h.Text, "log_lanes"), name)
		require.Equal(t, h.Form.Banks(), strings.Contains(h.Text, "bank_rounds"), name)
	}
}

// TestHunt: what adaptive runs begin with are environments, each once.
func TestHunt(t *testing.T) {
	d := runner.Device{Type: "gpu", Units: 132}
	all := Environments(d, DefaultTuning(d))
	list, err := Find(all, Hunt)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, s := range list {
		names[s.Name] = true
	}
	require.Len(t, names, len(list))
	require.Greater(t, len(all), len(list))
	_, err = Find(all, "no-str")
	require.ErrorContains(t, err, "; all; hunt)")
}
