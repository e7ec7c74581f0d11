// Command benchmodel measures the model engine against herd7 on the same tests
// and models in one run and prints both and the ratio. It exits with 1 if a
// ratio is below its bar.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"syscall"
	"time"

	"optcheck/internal/input"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/model/internal/gen"
	"optcheck/model/internal/herd"
)

func main() {
	quick := flag.Bool("quick", false, "six writers in the place of eight: herd7 needs seconds, not minutes")
	count := flag.Int("n", 1000, "tests of the batch")
	flag.Parse()
	debug.SetGCPercent(400) // as the command does
	ok, err := run(context.Background(), os.Stdout, *quick, *count)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmodel:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// job is one comparison.
type job struct {
	name, model string
	tests       []*litmus.Test
	variants    [][]string // further options of herd7 that are sound here
	bar         float64
	repeat      int // of our own run, the fastest counts
}

func run(ctx context.Context, w io.Writer, quick bool, count int) (bool, error) {
	writers := 8
	if quick {
		writers = 6
	}
	optace := []string{"-optace", "true"}
	ring, err := parse(gen.Ring(12))
	if err != nil {
		return false, err
	}
	many, err := parse(gen.Writers(writers))
	if err != nil {
		return false, err
	}
	// Coherence per location is part of sc, so that -optace true is sound; it
	// is not for ptx-2015, which allows coRR.
	fenced, err := parse(gen.FencedRing(5))
	if err != nil {
		return false, err
	}
	jobs := []job{
		{"ordinary tests", "sc", ordinary(count), [][]string{optace}, 50, 5},
		{"ordinary tests", "ptx-2015", ordinary(count), nil, 50, 5},
		{ring.Name, "sc", []*litmus.Test{ring}, [][]string{optace, {"-speedcheck", "fast"}}, 20, 20},
		{many.Name, "sc", []*litmus.Test{many}, [][]string{optace}, 500, 20},
		// herd7 goes through all orders of the fences: six threads take it half a minute.
		{fenced.Name, "ptx", []*litmus.Test{fenced}, nil, 50, 20},
	}
	fmt.Fprintf(w, "%d cores; wall time, reading and parsing included; herd7 uses one core\n\n", runtime.GOMAXPROCS(0))
	good := true
	for _, j := range jobs {
		g, err := compare(ctx, w, j)
		if err != nil {
			return false, fmt.Errorf("%s under %s: %w", j.name, j.model, err)
		}
		good = good && g
	}
	r, err := rings(ctx, w)
	if err != nil {
		return false, err
	}
	g, err := slowest(ctx, w)
	if err != nil {
		return false, err
	}
	good = good && r
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return false, err
	}
	fmt.Fprintf(w, "peak memory of this process: %d MiB (bar 512)\n", u.Maxrss/1024)
	return good && g && u.Maxrss/1024 < 512, nil
}

func parse(src string) (*litmus.Test, error) { return litmus.Parse("bench.litmus", []byte(src)) }

func ordinary(n int) []*litmus.Test {
	r := rand.New(rand.NewPCG(1, 2))
	var list []*litmus.Test
	for i := range n {
		list = append(list, gen.Ordinary(r, fmt.Sprintf("T%05d", i), true))
	}
	return list
}

// compare runs herd7 with every variant and this engine, and prints the
// fastest of each.
func compare(ctx context.Context, w io.Writer, j job) (bool, error) {
	dir, err := os.MkdirTemp("", "benchmodel")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	theirs, err := runHerd(ctx, w, dir, j)
	if err != nil {
		return false, err
	}
	for i, t := range j.tests {
		if err := input.WriteFile(filepath.Join(dir, fmt.Sprintf("own%05d.litmus", i)), t.Append(nil)); err != nil {
			return false, err
		}
	}
	files := input.Glob(dir, "own*.litmus")
	if err != nil {
		return false, err
	}
	sort.Strings(files)
	good, all := true, runtime.GOMAXPROCS(0)
	for _, cores := range []int{1, all} {
		ours := time.Duration(1 << 62)
		for range j.repeat {
			took, err := runOwn(ctx, j.model, files, cores)
			if err != nil {
				return false, err
			}
			ours = min(ours, took)
		}
		ratio := theirs.Seconds() / ours.Seconds()
		n := float64(len(j.tests))
		fmt.Fprintf(w, "  optcheck, %d core(s): %.4f s, %.0f tests/s; %.0f times as fast as the fastest herd7 (bar %.0f)\n",
			cores, ours.Seconds(), n/ours.Seconds(), ratio, j.bar)
		if cores == all { // one core is told for information
			good = good && ratio >= j.bar
			break
		}
	}
	fmt.Fprintln(w)
	return good, nil
}

func runHerd(ctx context.Context, w io.Writer, dir string, j job) (time.Duration, error) {
	src, err := model.ModelForHerd(j.model)
	if err != nil {
		return 0, err
	}
	var texts []string
	for _, t := range j.tests {
		l, err := model.ToLISA(t)
		if err != nil {
			return 0, err
		}
		texts = append(texts, l.Text)
	}
	files, err := herd.Write(dir, model.LISABell, src, texts)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "%s (%d) under %s\n", j.name, len(j.tests), j.model)
	best := time.Duration(1 << 62)
	for _, v := range append([][]string{nil}, j.variants...) {
		r, err := herd.Run(ctx, append(append([]string{}, v...), files...)...)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(w, "  herd7 %v: %.3f s, %.0f tests/s, %d MiB\n", v, r.Wall.Seconds(), float64(len(j.tests))/r.Wall.Seconds(), r.PeakKiB/1024)
		best = min(best, r.Wall)
	}
	return best, nil
}

// runOwn loads the model, reads, parses and judges the files and makes the
// log, as the command does.
func runOwn(ctx context.Context, name string, files []string, cores int) (time.Duration, error) {
	start := time.Now()
	m, err := model.Load(name)
	if err != nil {
		return 0, err
	}
	old := runtime.GOMAXPROCS(cores)
	defer runtime.GOMAXPROCS(old)
	tests, errs := litmus.ParseFiles(files)
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	_, err = m.RunCommand(ctx, tests, model.CommandOptions{Jobs: cores}, io.Discard)
	return time.Since(start), err
}

// rings prints how the time for a ring with fence.sc grows with its threads.
func rings(ctx context.Context, w io.Writer) (bool, error) {
	const bar = 100 * time.Millisecond
	m, err := model.Load("ptx")
	if err != nil {
		return false, err
	}
	good := true
	for _, n := range []int{5, 7, 8, 10, 12} {
		t, err := parse(gen.FencedRing(n))
		if err != nil {
			return false, err
		}
		best, states := time.Duration(1<<62), 0
		for range 5 {
			start := time.Now()
			v, err := m.Judge(ctx, t, model.Options{})
			if err != nil {
				return false, err
			}
			best, states = min(best, time.Since(start)), len(v.States)
		}
		fmt.Fprintf(w, "%s under ptx: %d states, %.2f ms (bar 100)\n", t.Name, states, float64(best.Microseconds())/1000)
		good = good && best < bar
	}
	fmt.Fprintln(w)
	return good, nil
}

// slowest prints, for every built-in model, the corpus test that takes longest.
func slowest(ctx context.Context, w io.Writer) (bool, error) {
	const bar = 50 * time.Millisecond
	good := true
	for _, info := range model.Builtin() {
		if info.Operational() {
			continue // does not speak of all of the corpus
		}
		m, err := model.Load(info.Name)
		if err != nil {
			return false, err
		}
		s, err := m.RunCommand(ctx, corpus.Tests(), model.CommandOptions{Jobs: 1}, io.Discard)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(w, "corpus under %-12s: %d tests, slowest %s %.2f ms (bar 50)\n", info.Name, s.Tests, s.Slowest,
			float64(s.Max.Microseconds())/1000)
		good = good && s.Max < bar
	}
	return good, nil
}
