package audit

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
	"optcheck/ptxgen/cycle"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// BenchmarkDecode measures, in one run and over the same cells, an audit whose
// cubins nvdisasm prints as a whole, as all did before there were dictionaries,
// against one that begins without any dictionary and one that finds them on
// disk: the corpus, and 100,000 cells of generated tests, each with every
// release, target, level and layout.
func BenchmarkDecode(b *testing.B) {
	g, err := cycle.Preset("ptx")
	if err != nil {
		b.Fatal(err)
	}
	var generated []*litmus.Test
	n := 0
	for t := range g.Tests() {
		if n++; n%30 == 0 && len(generated) < 273 { // 100,000 cells
			generated = append(generated, t)
		}
	}
	for _, set := range []struct {
		name  string
		tests []*litmus.Test
	}{{"corpus", corpus.Tests()}, {"generated", generated}} {
		b.Run(set.name, func(b *testing.B) {
			for b.Loop() {
				benchmarkWays(b, set.tests)
			}
		})
	}
}

func benchmarkWays(b *testing.B, tests []*litmus.Test) {
	dir := b.TempDir()
	var whole event.Stats
	for _, way := range []string{"nvdisasm", "cold", "warm"} {
		pipeline.Forget() // as in a new process
		runtime.GC()
		r := toolchain.NewRunner(0, 0)
		tcs, errs := tested.CUDA(context.Background(), toolchain.Options{Cache: filepath.Join(dir, "identities.json"), Runner: r, Listings: way == "nvdisasm"})
		if len(tcs) == 0 {
			required.Missing(b, "no toolchain found %v", errs)
		}
		before := r.Stats()
		run := event.NewRun()
		if err := Run(context.Background(), Options{Tests: tests, Toolchains: tcs}, event.Tee{run, event.NewJSONLines(io.Discard)}); err != nil {
			b.Fatal(err)
		}
		after, s := r.Stats(), *run.Stats
		dis := (after.Disassembly - before.Disassembly).Seconds()
		if way == "nvdisasm" {
			whole = s
		}
		fmt.Printf("%-8s %d cells: %.1f s; tools %.1f s CPU, of which nvdisasm %.1f s (%.1f %%); optcheck %.1f s CPU; %.2f times as fast, tools' CPU %.2f times less\n",
			way, s.Cells, s.Wall, s.ToolCPU, dis, 100*dis/s.ToolCPU, s.OwnCPU, whole.Wall/s.Wall, whole.ToolCPU/s.ToolCPU)
		if way != "nvdisasm" {
			b.ReportMetric(whole.Wall/s.Wall, "x-wall-"+way)
			b.ReportMetric(whole.ToolCPU/s.ToolCPU, "x-tools-"+way)
			b.ReportMetric(100*dis/s.ToolCPU, "%nvdisasm-"+way)
		}
	}
}
