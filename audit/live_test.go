package audit

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/patient"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/sass/cubin"
	"optcheck/spec"
	"optcheck/toolchain"
)

// every returns the matrix of the corpus; by default a slice through it that has
// each generation and both kinds of level.
func every(t testing.TB) Options {
	o := Options{Tests: corpus.Tests(), Toolchains: releases(t)}
	if !full() {
		o.Levels = []string{"O0", "O3"}
		o.Targets = []string{"sm_35", "sm_50", "sm_70", "sm_90"}
	}
	return o
}

// TestUndisturbed: every cell of the corpus compiled with and without markers
// has the same sequence of accesses, or is listed.
func TestUndisturbed(t *testing.T) {
	o := every(t)
	o.Levels = []string{"O0", "O3"}
	d, err := Disturb(t.Context(), o)
	require.NoError(t, err)
	t.Logf("%d kernels compared with and without markers, %d disturbed", d.Kernels, len(d.Disturbed))
	for i, c := range d.Disturbed {
		if i < 20 {
			t.Logf("disturbed: %s T%d %s %s %s %s\n  with    %s\n  without %s", c.Test, c.Thread, c.Toolchain, c.Target, c.Level, c.Layout,
				strings.Join(c.Marked, " | "), strings.Join(c.Plain, " | "))
		}
	}
	require.Greater(t, d.Kernels, 1000)
	for _, c := range d.Disturbed {
		require.Truef(t, knownDisturbed(c), "%s T%d is disturbed in a way that is not known", c.Test, c.Thread)
	}
}

// knownDisturbed lists the ways in which markers do change the accesses.
func knownDisturbed(c DisturbedCell) bool {
	// A store that is dead because the thread overwrites it: no marker can
	// bring it back, and none may; nothing is known to differ.
	_ = c
	return false
}

// aloneAsInBatch: a kernel compiled alone has the machine code that it has among hundreds.
func aloneAsInBatch(t *testing.T, o Options, batch *event.Run) {
	names := []string{"mp-L1+membar.gls", "mp+membar.gl+addr", "cas-sl", "sb"}
	if !full() {
		names = names[1:3]
	}
	o.BatchUnits = 1
	o.Levels = []string{"O0", "O3"}
	o.Tests = nil
	for _, n := range names {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		o.Tests = append(o.Tests, x)
	}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	among, compared := codes(batch), 0
	for k, c := range codes(run) {
		require.Equal(t, among[k], c, k)
		compared++
	}
	t.Logf("%d cells have the same machine code alone and in a batch", compared)
	require.Greater(t, compared, 50)
}

func codes(run *event.Run) map[string]string {
	out := map[string]string{}
	for _, c := range run.Cells {
		if c.Code != "" {
			out[strings.Join([]string{c.Test, c.Toolchain, c.Target, c.Level, c.Layout}, " ")] = c.Code
		}
	}
	return out
}

// TestDecided: the whole matrix of the corpus has no unknown cell, and every
// changed cell is explained by findings and a listing. Alone, a kernel has the code that it has there.
func TestDecided(t *testing.T) {
	o := every(t)
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	preserved, changed, unsupported, unknown := run.Count()
	t.Logf("%d cells: %d preserved, %d changed, %d unsupported, %d unknown; own CPU %.1f s, tools %.1f s",
		len(run.Cells), preserved, changed, unsupported, unknown, run.Stats.OwnCPU, run.Stats.ToolCPU)
	for _, c := range run.Cells {
		switch c.Class {
		case "unknown":
			t.Errorf("unknown: %+v", c)
		case "changed":
			t.Errorf("not classified: %+v", c)
		case "optimised", "miscompiled":
			require.NotEmpty(t, c.Findings)
			require.NotNil(t, run.Listings[c.Code])
			require.NotNil(t, c.Verdict)
			require.Equal(t, c.Class == "miscompiled", len(c.Verdict.New) > 0)
		case "unsupported":
			require.NotEmpty(t, c.Reason)
		}
	}
	require.Empty(t, run.Problems)
	aloneAsInBatch(t, o, run)
}

// TestDeterminism: the same matrix gives the same stream on any number of jobs.
func TestDeterminism(t *testing.T) {
	o := Options{Tests: corpus.Tests()[:20], Toolchains: releases(t), Levels: []string{"O0", "O3"}, Targets: []string{"sm_50", "sm_80", "sm_90"}}
	stream := func(jobs int) string {
		var b bytes.Buffer
		o.Jobs = jobs
		h := event.NewJSONLines(&b)
		require.NoError(t, Run(t.Context(), o, h))
		require.NoError(t, h.Close())
		s, _, _ := strings.Cut(b.String(), `{"stats":`)
		return s
	}
	require.Equal(t, stream(1), stream(7))
}

// TestInterrupt: what was finished before an interruption is passed on, and
// nothing of it is wrong.
func TestInterrupt(t *testing.T) {
	o := Options{Tests: corpus.Tests(), Toolchains: releases(t), Layouts: []spec.Layout{spec.Pointers}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(done, _ int) {
		if done > 300 {
			cancel()
		}
	}
	run := event.NewRun()
	start := time.Now()
	err := Run(ctx, o, run)
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(start), patient.Long)
	require.NotNil(t, run.Stats)
	require.True(t, run.Stats.Interrupted)
	require.Greater(t, len(run.Cells), 300)
	_, _, _, unknown := run.Count()
	require.Zero(t, unknown)
}

// TestEmitAssembles: every unit of the corpus that ptxgen emits is accepted by
// every release and target: what a target lacks is known beforehand.
func TestEmitAssembles(t *testing.T) {
	if !full() {
		t.Skip("covered by TestDecided; OPTCHECK_FULL=1 runs it")
	}
	for _, tc := range releases(t) {
		maxV, err := ptxgen.ParseVersion(tc.MaxPTX)
		require.NoError(t, err)
		for _, target := range tc.Targets {
			v, units := ptxgen.Version(0), []toolchain.Unit(nil)
			for _, x := range corpus.Tests() {
				for _, plain := range []bool{false, true} {
					u, err := ptxgen.Emit(x, ptxgen.Options{Target: target, Layout: spec.Offsets, Plain: plain, Unit: fmt.Sprintf("u%d", len(units))})
					if err != nil || u.Version > maxV {
						continue
					}
					v = max(v, u.Version)
					units = append(units, toolchain.Unit{Name: x.Name, Text: u.Text})
				}
			}
			res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O1", Header: ptxgen.Header(v, target), Units: units})
			require.NoError(t, err)
			for i, e := range res.Failed {
				t.Errorf("%s %s: %s: %v", tc.ID, target, units[i].Name, e)
			}
		}
	}
}

// TestCheckAlone: a cubin is checked by what is inside it and nothing else.
func TestCheckAlone(t *testing.T) {
	x, _ := corpus.Lookup("coRR")
	for _, tc := range releases(t) {
		u, err := ptxgen.Emit(x, ptxgen.Options{Target: "sm_80", Layout: spec.Symbols})
		require.NoError(t, err)
		res, err := tc.Compile(t.Context(), toolchain.Job{Target: "sm_80", Level: "O3", LineInfo: true, Header: ptxgen.Header(u.Version, "sm_80"),
			Units: []toolchain.Unit{{Name: x.Name, Text: u.Text}}})
		require.NoError(t, err)
		code, err := pipeline.LoadCubin(t.Context(), "x.cubin", res.Batches[0].Cubin, releases(t))
		require.NoError(t, err)
		f, err := cubin.Parse(res.Batches[0].Cubin)
		require.NoError(t, err)
		require.Equal(t, tc.Release(), f.Release)
		c := optcheck.NewChecker()
		c.Consts = code.Consts
		merged := 0
		for _, fn := range code.Program.Funcs {
			r, err := c.Check(fn)
			require.NoError(t, err)
			for _, f := range r.Findings {
				require.Equal(t, optcheck.Merged.ID, f.Rule)
				merged++
			}
		}
		require.Equal(t, 1, merged)
	}
}
