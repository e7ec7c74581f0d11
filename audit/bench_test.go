package audit

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
	"optcheck/toolchain"
)

// BenchmarkThroughput measures, in one run and on the same kernels, the audit
// with its batches against one ptxas and one nvdisasm process per kernel, the
// way in which scripts do it. Both use all cores. The ratio is what counts.
func BenchmarkThroughput(b *testing.B) {
	tcs := releases(b)
	tc := tcs[len(tcs)-1]
	const target, level = "sm_80", "O3"
	o := Options{Tests: corpus.Tests(), Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}, Levels: []string{level}}
	maxV, err := ptxgen.ParseVersion(tc.MaxPTX)
	if err != nil {
		b.Fatal(err)
	}
	var kernels []toolchain.Unit
	for _, x := range o.Tests {
		for _, l := range spec.Layouts {
			u, err := ptxgen.Emit(x, ptxgen.Options{Target: target, Layout: l})
			if err == nil && u.Version <= maxV {
				kernels = append(kernels, toolchain.Unit{Name: u.Name, Text: u.Text})
			}
		}
	}
	for b.Loop() {
		single := perUnit(b, tc, target, level, kernels[:min(48, len(kernels))])
		batched := audited(b, o)
		ratio := batched / single
		fmt.Printf("one process per test: %.1f cells/s; audit in batches: %.1f cells/s; %.0f times as many\n", single, batched, ratio)
		b.ReportMetric(single, "cells/s-single")
		b.ReportMetric(batched, "cells/s-batched")
		b.ReportMetric(ratio, "x")
	}
}

// perUnit compiles and disassembles each unit in processes of its own.
func perUnit(b *testing.B, tc *toolchain.Toolchain, target, level string, units []toolchain.Unit) float64 {
	ctx := context.Background()
	start := time.Now()
	sem := make(chan struct{}, runtime.GOMAXPROCS(0))
	errs := make(chan error, len(units))
	for _, u := range units {
		sem <- struct{}{}
		go func() {
			defer func() { <-sem }()
			res, err := tc.Compile(ctx, toolchain.Job{Target: target, Level: level, LineInfo: true, Header: ptxgen.Header(84, target), Units: []toolchain.Unit{u}})
			if err == nil && len(res.Failed) > 0 {
				err = res.Failed[0]
			}
			if err == nil {
				_, err = tc.Disassemble(ctx, res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true})
			}
			errs <- err
		}()
	}
	for range units {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
	return float64(len(units)) / time.Since(start).Seconds()
}

// audited runs the whole audit and returns decided cells per second.
func audited(b *testing.B, o Options) float64 {
	run := event.NewRun()
	start := time.Now()
	if err := Run(context.Background(), o, run); err != nil {
		b.Fatal(err)
	}
	preserved, changed, _, _ := run.Count()
	return float64(preserved+changed) / time.Since(start).Seconds()
}

// BenchmarkOwnShare runs the full matrix of the corpus and prints the CPU time
// of optcheck itself against that of the tools it starts, and its memory.
func BenchmarkOwnShare(b *testing.B) {
	o := Options{Tests: corpus.Tests(), Toolchains: releases(b)}
	for b.Loop() {
		run := event.NewRun()
		h := event.NewJSONLines(io.Discard)
		if err := Run(context.Background(), o, event.Tee{run, h}); err != nil {
			b.Fatal(err)
		}
		s := run.Stats
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Printf("%d cells, %d kernels in %.1f s: tools %.1f s CPU, optcheck %.1f s CPU, %.1f %%; %d MiB taken from the system\n",
			s.Cells, s.Kernels, s.Wall, s.ToolCPU, s.OwnCPU, 100*s.OwnCPU/s.ToolCPU, m.Sys>>20)
		b.ReportMetric(100*s.OwnCPU/s.ToolCPU, "%own")
	}
}

// BenchmarkVerdicts measures, in one run, the CPU time of optcheck itself with
// and without lifting and judging: the corpus and the preset quick, every
// release, at O0 and O3.
func BenchmarkVerdicts(b *testing.B) {
	g, err := cycle.Preset("quick")
	if err != nil {
		b.Fatal(err)
	}
	tests := corpus.Tests()
	for t := range g.Tests() {
		tests = append(tests, t)
	}
	o := Options{Tests: tests, Toolchains: releases(b), Levels: []string{"O0", "O3"}}
	cpu := func(no bool) (float64, *event.Run) {
		o.NoVerdict = no
		runtime.GC()
		run := event.NewRun()
		if err := Run(context.Background(), o, run); err != nil {
			b.Fatal(err)
		}
		return run.Stats.OwnCPU, run
	}
	for b.Loop() {
		without, _ := cpu(true)
		with, run := cpu(false)
		n := run.Classes()
		fmt.Printf("%d cells (%d preserved, %d optimised, %d miscompiled, %d unknown): own CPU %.1f s without verdicts, %.1f s with, %+.0f %%\n",
			run.Stats.Cells, n[event.Preserved], n[event.Optimised], n[event.Miscompiled], n[event.Unknown], without, with, 100*(with/without-1))
		b.ReportMetric(100*(with/without-1), "%more")
	}
}
