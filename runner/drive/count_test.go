package drive

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// counted is a run of mp with what a device has counted: bins, and the words of outcomes without one.
func counted(t *testing.T, bins []uint64, samples [][]uint32) (*run, *runner.Result) {
	t.Helper()
	x, ok := corpus.Lookup("mp")
	require.True(t, ok)
	h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	b, err := newBins(h, Domain(x, nil))
	require.NoError(t, err)
	require.Equal(t, len(bins), b.total+1, "two registers of two values each, and the others")
	hist, list := make([]byte, 8*len(bins)), make([]byte, 4*(1+ptxgen.MaxSamples)*ptxgen.SampleWords)
	for i, n := range bins {
		binary.LittleEndian.PutUint64(hist[8*i:], n)
	}
	binary.LittleEndian.PutUint32(list, uint32(len(samples)))
	for k, words := range samples {
		for i, w := range words {
			binary.LittleEndian.PutUint32(list[4*((k+1)*ptxgen.SampleWords+i):], w)
		}
	}
	counters := make([]byte, 64)
	binary.LittleEndian.PutUint64(counters[ptxgen.CounterStress:], 70)
	binary.LittleEndian.PutUint64(counters[ptxgen.CounterGaveUp:], 7)
	return &run{p: &Program{H: h}, bins: b, perBody: 10, o: &Outcome{Histogram: runner.NewHistogram(x)}},
		&runner.Result{Done: 2, Reads: [][]byte{hist, list, counters}}
}

// TestCount: each instance has its outcome, or is one with a value from nowhere, of which some are kept.
func TestCount(t *testing.T) {
	r, res := counted(t, []uint64{9, 0, 4, 5, 2}, [][]uint32{{0, 7}, {0xffffffff, 1}})
	require.NoError(t, r.count(res))
	require.Equal(t, uint64(2), r.o.Other)
	require.Equal(t, uint64(18), r.o.Histogram.Total())
	require.Equal(t, uint64(20), r.o.Instances())
	require.Equal(t, [][]int64{{0, 7}, {-1, 1}}, r.o.Samples)
	require.Equal(t, [2]uint64{70, 7}, [2]uint64{r.o.StressAccesses, r.o.GaveUp})
	require.Len(t, r.o.Histogram.Outcomes(), 3, "an outcome that was not seen has no line")
	require.NoError(t, r.count(res))
	require.Equal(t, uint64(4), r.o.Other)
	require.Equal(t, uint64(40), r.o.Instances())
	require.Equal(t, [2]uint64{140, 14}, [2]uint64{r.o.StressAccesses, r.o.GaveUp})

	sum := &Outcome{Histogram: runner.NewHistogram(r.p.H.Test)}
	require.NoError(t, sum.Add(r.o))
	require.NoError(t, sum.Add(r.o))
	require.Equal(t, uint64(8), sum.Other)
	require.Equal(t, uint64(80), sum.Instances())
}

// TestCountLost: a count that is not that of the instances run is a fault, and nothing of it is added.
func TestCountLost(t *testing.T) {
	for what, bins := range map[string][]uint64{
		"an instance lost":         {9, 0, 4, 6, 0},
		"one too many":             {9, 0, 4, 6, 2},
		"all lost":                 {0, 0, 0, 0, 0},
		"other values fill a hole": {9, 0, 4, 5, 3},
	} {
		r, res := counted(t, bins, nil)
		require.ErrorIs(t, r.count(res), runner.ErrFault, what)
		require.Zero(t, r.o.Instances(), what)
	}
}

// TestSamplesBounded: no more samples are kept than a run holds, whatever the device says.
func TestSamplesBounded(t *testing.T) {
	r, res := counted(t, []uint64{20, 0, 0, 0, 0}, nil)
	binary.LittleEndian.PutUint32(res.Reads[1], 1<<31)
	for range 3 {
		require.NoError(t, r.count(res))
	}
	require.Len(t, r.o.Samples, ptxgen.MaxSamples)
}

// TestOther: a value that no thread of the test stores is counted as one from nowhere on a device. The thread
// loads what it has just stored, so that no schedule hides the value.
func TestOther(t *testing.T) {
	s, ctx := cpu(t), context.Background()
	c, err := LoadCollector(ctx, s, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()), Options: "-cl-std=CL3.0"})
	require.NoError(t, err)
	x, err := litmus.Parse("own", []byte(`GPU_PTX own
{
0:.reg .s32 r1; 0:.reg .b64 rd0 = x;
1:.reg .b64 rd0 = x;
}
 T0                | T1                 ;
 st.cg.s32 [rd0],1 | st.cg.s32 [rd0],2  ;
 ld.cg.s32 r1,[rd0] |                  ;
ScopeTree(grid(cta(warp T0) (warp T1)))
x: global
exists (0:r1=2)
`))
	require.NoError(t, err)
	h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	const stored = "*(volatile global uint *)l0 = t0_v0;"
	require.Contains(t, h.Text, stored)
	for text, other := range map[string]bool{h.Text: false, strings.ReplaceAll(h.Text, stored, strings.Replace(stored, ";", " + 41;", 1)): true} {
		p, err := c.Load(ctx, s, h, runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(text), Options: "-cl-std=CL3.0"})
		require.NoError(t, err)
		o, err := p.Run(ctx, s, &Memory{}, Job{Tuning: DefaultTuning(s.Device()), Seed: 1, Instances: 20_000})
		require.NoError(t, err)
		require.GreaterOrEqual(t, o.Instances(), uint64(20_000))
		require.Equal(t, other, o.Other > 0)
		for _, values := range o.Samples {
			require.Equal(t, int64(42), values[0], values)
		}
		require.Equal(t, other, len(o.Samples) > 0)
	}
}
