package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/device"
	"optcheck/internal/input"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// benchFlags are the flags of the bench-gpu command.
type benchFlags struct {
	runFlags
	each  time.Duration
	score bool
}

func newBenchGPUCmd(env *environment) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench-gpu",
		Short: "Measure instances and weak outcomes per second on a device",
		Long: `Measure how many instances per second a device runs end to end: memory set back, test,
histogram, host included. Beside it stands the same test with one instance per launch,
as tools ran tests before: with the results copied back after every launch, and counted
on the device. Then measure weak outcomes per second of mp, sb and lb under a list of
settings.

--score measures instead what counts for finding bugs: which share of outcomes is
seen that the model allows and sequential consistency forbids, and how many per
second. The tests are mutants of forbidden ones: a fence dropped or narrowed, a
dependency cut, an acquire relaxed.`,
		Example: `  optcheck bench-gpu --device cuda -o bench.jsonl
  optcheck bench-gpu --score --each 30s
  optcheck bench-gpu --score --environments no-str-,sys-str+,roles --each 20s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(cmd.Context(), env, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices")
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release, or driver")
	fl.StringVar(&f.level, "level", "O3", "optimisation level")
	fl.StringVarP(&f.output, "output", "o", "", "write measurements as JSON lines to this file, too")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.DurationVar(&f.each, "each", 2*time.Second, "time of each measurement")
	fl.BoolVar(&f.score, "score", false, "measure the share of allowed outcomes that is seen, and how soon")
	fl.StringVar(&f.gen, "gen", "score", "with --score: the preset or configuration file whose tests' mutants are run")
	fl.StringVar(&f.environments, "environments", "", "with --score: settings by name that are scored one by one; all, hunt")
	fl.StringSliceVar(&f.tune, "tune", nil, "with --score: parameters of launches, as optcheck run takes them")
	fl.StringVar(&f.useProfile, "profile", "", "with --score: settings with and without what this profile of optcheck tune says")
	fl.BoolVar(&f.unvalidated, "unvalidated", false, "also run binaries that were not validated")
	return cmd
}

// measurement is one line of the benchmark.
type measurement struct {
	Event     string       `json:"event"` // "bench"
	Test      string       `json:"test"`
	What      string       `json:"what"`
	Setting   string       `json:"setting"`
	Tuning    drive.Tuning `json:"tuning"`
	Instances uint64       `json:"instances"`
	Launches  uint64       `json:"launches"`
	Seconds   float64      `json:"seconds"`
	PerSecond float64      `json:"instances_per_second"`
	Weak      uint64       `json:"weak"`
	WeakRate  float64      `json:"weak_per_second"`
	Validated bool         `json:"validated"`
	Seed      uint64       `json:"seed"`
	State     runner.State `json:"state"`
}

type bench struct {
	env *environment
	f   *benchFlags
	s   runner.Session
	c   *drive.Collector
	mem *drive.Memory
	out *os.File
}

func runBench(ctx context.Context, env *environment, f *benchFlags) (err error) {
	b := &bench{env: env, f: f, mem: &drive.Memory{}}
	if b.s, err = openDevice(ctx, env, f.device); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.s.Close()) }()
	if f.output != "" {
		if b.out, err = input.Create(f.output); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.out.Close()) }()
	}
	comp, err := f.compiler(ctx, env, b.s)
	if err != nil {
		return err
	}
	if f.score {
		return b.score(ctx, comp)
	}
	image, err := comp.Collector(ctx)
	if err != nil {
		return err
	}
	if b.c, err = drive.LoadCollector(ctx, b.s, image.Image); err != nil {
		return err
	}
	tests, err := loadTests(env, []string{"mp", "sb-inter", "lb"})
	if err != nil {
		return err
	}
	bins, err := comp.Build(ctx, tests, ptxgen.FormFast)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "%s; compiled by %s; seed %d\n", b.s.Device().Name, comp.Name(), f.seed)
	for i, bin := range bins {
		if bin.Image == nil || !bin.Validated && !f.unvalidated {
			return fmt.Errorf("%s: %s: %s", bin.Test.Name, bin.State, bin.Why)
		}
		if err := b.test(ctx, bin, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// test measures one test.
func (b *bench) test(ctx context.Context, bin *device.Binary, alone bool) error {
	p, err := b.c.Load(ctx, b.s, bin.Harness, bin.Image.Image)
	if err != nil {
		return err
	}
	t := drive.DefaultTuning(b.s.Device())
	many, err := b.measure(ctx, p, bin, "many instances per launch", drive.None, t, false)
	if err != nil {
		return err
	}
	if alone {
		if err := b.lone(ctx, p, bin, t, many); err != nil {
			return err
		}
	}
	var best measurement
	for _, set := range []drive.Incantations{drive.None, drive.Random, drive.Stress, drive.Stress | drive.Sync, drive.Stress | drive.Random,
		drive.Sync, drive.All} {
		for _, v := range variants(t, b.s.Device()) {
			m, err := b.measure(ctx, p, bin, "weak outcomes", set, v, true)
			if err != nil {
				return err
			}
			if m.WeakRate > best.WeakRate {
				best = m
			}
		}
	}
	if best.Weak == 0 {
		fmt.Fprintf(b.env.stdout, "%s: no weak outcome under any setting\n", bin.Test.Name)
		return nil
	}
	fmt.Fprintf(b.env.stdout, "%s: best setting %s: %.3g weak outcomes per second, %.3g instances per second (tuning %+v)\n",
		bin.Test.Name, best.Setting, best.WeakRate, best.PerSecond, best.Tuning)
	return nil
}

// variants are tunings that are tried for weak outcomes.
func variants(t drive.Tuning, d runner.Device) []drive.Tuning {
	list := []drive.Tuning{t}
	if d.Type == "cpu" {
		return list
	}
	for _, change := range []func(*drive.Tuning){
		func(v *drive.Tuning) { v.Instances = drive.Fixed(4 << 20) },
		func(v *drive.Tuning) { v.Stride = drive.Fixed(32) },
		func(v *drive.Tuning) { v.Warps, v.Blocks = drive.Fixed(32), drive.Fixed(128) },
	} {
		v := t
		change(&v)
		list = append(list, v)
	}
	return list
}

// lone measures the test with one instance per launch.
func (b *bench) lone(ctx context.Context, p *drive.Program, bin *device.Binary, t drive.Tuning, many measurement) error {
	job := drive.Job{Tuning: t, Seed: b.f.seed, Instances: 1, Budget: b.f.each, Lone: true}
	start, n := time.Now(), uint64(0)
	for time.Since(start) < b.f.each && ctx.Err() == nil {
		o, err := p.Run(ctx, b.s, b.mem, job)
		if err != nil {
			return err
		}
		n += o.Instances()
	}
	m := measurement{Test: bin.Test.Name, What: "one instance per launch, results copied back", Setting: "none", Tuning: t,
		Instances: n, Launches: n,
		Seconds: time.Since(start).Seconds(), Validated: bin.Validated, Seed: b.f.seed}
	b.print(&m)
	copied := m
	job.Instances = 0
	o, err := p.Run(ctx, b.s, b.mem, job)
	if err != nil {
		return err
	}
	m = measurement{Test: bin.Test.Name, What: "one instance per launch, counted on the device", Setting: "none", Tuning: t,
		Instances: o.Instances(),
		Launches:  o.Launches, Seconds: o.Elapsed.Seconds(), Validated: bin.Validated, Seed: b.f.seed}
	b.print(&m)
	fmt.Fprintf(b.env.stdout, "%s: many instances per launch are %.0f times one per launch with results copied back, %.0f times without\n",
		bin.Test.Name, many.PerSecond/copied.PerSecond, many.PerSecond/m.PerSecond)
	return nil
}

func (b *bench) measure(ctx context.Context, p *drive.Program, bin *device.Binary, what string, set drive.Incantations, t drive.Tuning,
	short bool) (measurement, error) {
	each := b.f.each
	if short {
		each /= 8
	}
	o, err := p.Run(ctx, b.s, b.mem, drive.Job{Incantations: set, Tuning: t, Seed: b.f.seed, Budget: each})
	m := measurement{Test: bin.Test.Name, What: what, Setting: set.String(), Tuning: t, Validated: bin.Validated, Seed: b.f.seed}
	if err != nil {
		return m, err
	}
	m.Instances, m.Launches, m.Seconds, m.State = o.Instances(), o.Launches, o.Elapsed.Seconds(), o.Last
	m.Weak, _ = o.Histogram.Count(bin.Test.Cond)
	b.print(&m)
	return m, ctx.Err()
}

func (b *bench) print(m *measurement) {
	m.Event = "bench"
	if m.Seconds > 0 {
		m.PerSecond, m.WeakRate = float64(m.Instances)/m.Seconds, float64(m.Weak)/m.Seconds
	}
	mark := ""
	if !m.Validated {
		mark = "  [NOT VALIDATED]"
	}
	fmt.Fprintf(b.env.stdout, "%-9s %-46s %-26s %13d in %5.2fs, %8d a launch: %8.3g instances/s, %8.3g weak/s%s\n", m.Test, m.What,
		m.Setting, m.Instances,
		m.Seconds, m.Instances/max(m.Launches, 1), m.PerSecond, m.WeakRate, mark)
	if b.out != nil {
		if data, err := json.Marshal(m); err == nil {
			fmt.Fprintf(b.out, "%s\n", data)
		}
	}
}
