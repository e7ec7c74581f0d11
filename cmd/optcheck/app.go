package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/device"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/program"
	"optcheck/runner"
	"optcheck/target"
)

// appFlags are the flags of the commands for programs.
type appFlags struct {
	runFlags
	keep   string
	fences string
	params map[string]int64
	length float64
	stress bool // there are flags for it
	each   time.Duration
	runs   uint64
}

func newAppCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "app",
		Example: "  optcheck app list\n  optcheck app test cbe-dot\n  optcheck app harden cbe-dot",
		Short:   "Test programs under stress, harden them with fences, and measure what those cost",
		Long: `Test programs under stress, harden them with fences, and measure what those cost.

A program is a file with kernels, buffers, launches and a post-condition, which says
whether a run was right (docs/internals/programs.md). Some are built in: optcheck app list.

The commands do what Sorensen and Donaldson do in Exposing Errors Related to Weak Memory
in GPU Applications (PLDI 2016). Beyond it, fences are looked for in the machine code of
each release, and the memory model says whether it demands them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAppListCmd(env), newAppTestCmd(env), newAppHardenCmd(env), newAppCostCmd(env))
	return cmd
}

// paperLength is how many times as long as its own a run takes under stress (Sorensen and
// Donaldson, PLDI 2016, Sec. 4.2).
const paperLength = 10

// register adds the flags that the commands share.
func (f *appFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.length = paperLength
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices (default: the first GPU, else the first device)")
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release (default: the newest that has the target)")
	fl.StringVar(&f.level, "level", "O3", "optimisation level")
	fl.StringToInt64Var(&f.params, "param", nil, "set a parameter of the program (n=4096)")
	fl.StringVar(&f.fences, "fences", "", "put full fences behind the accesses with these numbers (2,5; all), in front of them (-5), or forms of them (2=fence.acq_rel.gpu)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.StringVarP(&f.output, "output", "o", "",
		"write what is found to this file, too, as JSON lines: optcheck report --programs makes a page of it")
	jsonFlag(cmd, &f.asJSON, jsonLines)
	quietFlag(cmd, &f.quiet)
}

// registerStress adds those of commands that run programs under stress.
func (f *appFlags) registerStress(cmd *cobra.Command) {
	f.stress = true
	fl := cmd.Flags()
	fl.StringVar(&f.environments, "environments", "", "environments by name, separated by commas (default: all eight)")
	fl.StringVar(&f.useProfile, "profile", "", "take the parameters of stress that optcheck tune has found")
	fl.StringSliceVar(&f.tune, "tune", nil,
		"parameters of stress, as optcheck run takes them: stress-pattern, stress-line, stress-lines, stress-lane; stress-ctas: blocks that stress, in the place of 15 to 50 per cent of the program's")
	fl.Float64Var(&f.length, "stress-length", paperLength, "how many times as long as its own a run takes under stress")
	fl.StringVar(&f.keep, "resume", "", "keep what is measured in this file, and go on from what it holds")
}

// check refuses what the flags cannot mean.
func (f *appFlags) check() error {
	if f.length < 1 || f.length > 1e6 {
		return fmt.Errorf("--stress-length %g: want 1 to 1000000", f.length)
	}
	return nil
}

// app is a program on a device.
type app struct {
	env   *environment
	f     *appFlags
	s     runner.Session
	road  program.Road
	lab   *program.Lab
	p     *program.Program
	tools map[string]*device.Compiler // found, by target
	front *frontRun                   // found; nil until a program needs it
	out   io.Writer                   // of --output, or nil
	close []io.Closer
}

// emit writes a result as JSON, where that is wanted.
func (a *app) emit(l program.Line) (err error) {
	if a.f.asJSON {
		err = a.env.lines().Encode(l)
	}
	if a.out != nil {
		err = errors.Join(err, json.NewEncoder(a.out).Encode(l))
	}
	return err
}

// code is the text whose lines the sites name.
func (a *app) code() string {
	if _, ok := a.road.(*program.PTXRoad); ok {
		return string(a.p.PTX.Text)
	}
	return string(a.p.OpenCL.Text)
}

// open opens the device once for all programs, which are read before.
func (f *appFlags) open(ctx context.Context, env *environment, names ...string) (*app, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := program.Load(name); err != nil {
			return nil, err
		}
	}
	a := &app{env: env, f: f}
	var err error
	if f.output != "" {
		out, err := input.Create(f.output)
		if err != nil {
			return nil, err
		}
		a.out, a.close = out, append(a.close, out)
	}
	if a.s, err = openDevice(ctx, env, f.device); err != nil {
		return nil, a.done(err)
	}
	a.close = append(a.close, a.s)
	return a, nil
}

// done closes what is open.
func (a *app) done(err error) error {
	for _, c := range a.close {
		err = errors.Join(err, c.Close())
	}
	return err
}

// load prepares a program.
func (a *app) load(ctx context.Context, name string) (err error) {
	if a.lab != nil && a.lab.Machine != nil {
		if err := a.lab.Close(ctx); err != nil {
			return err
		}
		a.lab = nil
	}
	if a.p, err = program.Load(name); err != nil {
		return err
	}
	if len(a.f.params) > 0 {
		if a.p, err = a.p.With(a.f.params); err != nil {
			return err
		}
	}
	if a.road, err = a.roadOf(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t, err := a.f.tuning(a.s.Device())
	if err != nil {
		return err
	}
	a.lab = &program.Lab{Environments: program.Environments(a.s.Device(), t), Keep: &program.Keep{}, Seed: a.f.seed, Length: a.f.length}
	if !a.f.quiet {
		a.lab.Progress = a.progress()
	}
	if a.f.environments != "" {
		if a.lab.Environments, err = program.Named(a.lab.Environments, a.f.environments); err != nil {
			return err
		}
	}
	if a.f.keep != "" {
		var c io.Closer
		if a.lab.Keep, c, err = program.OpenKeep(a.f.keep); err != nil {
			return err
		}
		a.close = append(a.close, c)
	}
	if a.lab.Machine, err = program.NewMachine(ctx, a.p, a.s, a.road); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n, units := a.lab.Sparse(), a.s.Device().Units; n > 0 && a.f.stress && !a.f.quiet {
		a.env.tell("%s: at most %s to stress %s: --tune stress-ctas=%d..%d stresses all", a.p.Name, plain.Count(n, "block"),
			plain.Count(units, "multiprocessor"), units, 2*units)
	}
	return nil
}

// roadOf is how the program gets onto the device.
func (a *app) roadOf(ctx context.Context) (program.Road, error) {
	d := a.s.Device()
	if d.Target == "" {
		if len(a.p.OpenCL.Text) == 0 {
			return nil, fmt.Errorf("it has no OpenCL C (opencl:), which is what %s takes", d.Name)
		}
		return program.NewCLRoad(a.p, d)
	}
	if a.tools[d.Target] == nil {
		c, err := a.f.compilerFor(ctx, a.env, d.Target)
		if err != nil {
			return nil, err
		}
		a.tools = map[string]*device.Compiler{d.Target: c}
	}
	c := a.tools[d.Target]
	if len(a.p.PTX.Text) == 0 {
		if err := a.compileCUDA(ctx, d.Target); err != nil {
			return nil, err
		}
	}
	return program.NewPTXRoad(a.p, a.p.PTX.Text, c.Tool, d.Target, a.f.level)
}

// compileCUDA makes PTX of the program's CUDA C++ for a target, by the newest front end.
func (a *app) compileCUDA(ctx context.Context, gpu string) error {
	if len(a.p.CUDA.Text) == 0 {
		return fmt.Errorf("it has no PTX and no CUDA C++ (source: a .ptx or .cu file), which is what %s takes", gpu)
	}
	if a.front == nil {
		a.front = newFrontRun(a.env, nil, "")
	}
	r := a.front
	if err := r.find(ctx); err != nil {
		return err
	}
	r.targets = slices.DeleteFunc(r.targets, func(t string) bool { return target.Compare(t, gpu) > 0 })
	newest := r.pairs[len(r.pairs)-1]
	for _, tc := range r.pairs { // NVIDIA's own before clang
		if tc.Compilers()[0].Tool == "nvcc" {
			newest = tc
		}
	}
	file := filepath.Join(filepath.Dir(a.p.File), a.p.CUDA.Name)
	made, err := madePTX{}, fmt.Errorf("%s: no target of %s runs on %s", file, newest.ID, gpu)
	for _, t := range r.targets { // the first that the file allows
		if made.text, err = r.compile(ctx, newest, file, string(a.p.CUDA.Text), t); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	m, err := r.module(newest, file, &made, false)
	if err != nil {
		return err
	}
	a.p.PTX = program.Source{Name: filepath.Base(m.File), Text: m.Apply()}
	return nil
}

// progress tells from time to time how far a measurement is.
func (a *app) progress() func(string, program.Count) {
	last := time.Now()
	return func(what string, c program.Count) {
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			a.env.tell("%s %s: %d runs, %d errors, %.0f s", a.p.Name, what, c.Runs, c.Errors(), c.Seconds)
		}
	}
}

// fenced reads --fences.
func (a *app) fenced() (program.Fences, error) {
	fences := program.Fences{}
	sites := a.road.Sites()
	if a.f.fences == "all" {
		for _, s := range sites {
			fences[s.N] = a.road.Fence()
		}
		return fences, nil
	}
	for one := range strings.SplitSeq(a.f.fences, ",") {
		if one == "" {
			continue
		}
		number, text, form := strings.Cut(one, "=")
		if !form {
			text = a.road.Fence()
		}
		n, err := strconv.Atoi(number)
		known := false
		for _, s := range sites {
			known = known || s.N == max(n, -n)
		}
		if err != nil || !known || text == "" {
			return nil, fmt.Errorf("--fences %s: %s has sites 1 to %d", one, a.p.Name, len(sites))
		}
		fences[n] = text
	}
	return fences, nil
}

// head says what is measured with what.
func (a *app) head() {
	d := a.s.Device()
	fmt.Fprintf(a.env.text, "%s on %s, driver %s; compiled by %s; seed %d\n", a.p.Name, plain.Line(d.Name), orDash(d.Driver),
		a.road.Compiler(), a.f.seed)
}
