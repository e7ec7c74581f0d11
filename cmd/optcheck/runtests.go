package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/audit/device"
	"optcheck/audit/store"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/runner/drive"
)

// runFlags are the flags of the run command.
type runFlags struct {
	gen, device, toolchain, level, target  string
	incantations, shard, output, log, plot string
	layout                                 string
	block                                  uint64
	instances                              string
	form, environments, until              string
	drawn                                  int
	budget, total                          time.Duration
	seed                                   uint64
	tune, reports, models, patch           []string
	cubins, saveCubins, store              string
	across                                 acrossFlags
	useProfile, html                       string
	usedProfile                            *drive.Profile
	compiledBy                             string // whose cubins of a store; --toolchain
	// setting is what the run's results are stored under, beside those of the
	// audit that it belongs to; nil for their own.
	setting                                     *store.Setting
	progress                                    func(done, total int) // instead of a bar
	asJSON, table6, unvalidated, quiet, outcome bool
	brief                                       bool
}

func newRunCmd(env *environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [TEST|DIR|corpus…]",
		Short: "Run tests on a device and say whose effect each outcome is",
		Long: `Run tests on a device: many instances at a time, under incantations, counted on
the device. Each test becomes one harness kernel, which is compiled, checked like
a kernel in audit form, thread by thread, and only run if the machine code is the
test. Outcomes are judged by the memory models.

Incantations: stress, banks, sync, random, joined by + (stress+random); none; all
runs all sixteen sets. All random choices come from the seed, which is printed.

--toolchain names a ptxas release; "driver" is the driver's own compiler. For
devices of OpenCL without PTX the tests become OpenCL C. What PoCL makes of them for
x86-64 is checked like PTX; what no decoder reads needs --unvalidated, and results say so.

A machine that compiles and one that has a device work together by a store:
--save-cubins STORE leaves the binaries there, --cubins STORE runs them. Results go
into a store with --store.

Ctrl-C ends the run and keeps what was counted.`,
		Example: `  optcheck run mp sb-inter --incantations stress+sync+random --budget 10s
  optcheck run corpus --iterations 1e8 --output results.jsonl --report junit=results.xml
  optcheck run --table6 --iterations 1e6
  optcheck run --gen paper --iterations 1e5 --incantations stress+random --total 20m
  optcheck run mp --device opencl:0                               # PoCL: a CPU
  optcheck run corpus --devices 0,1 --incantations random         # CTAs divided over two devices
  optcheck run mp+membar.gls --patch CCTL.IVALL=NOP               # what is that instruction for?
  optcheck run corpus --target sm_90 --save-cubins farm.store     # no device needed
  optcheck run corpus --cubins farm.store --store results.store   # no compiler needed`,
		RunE: func(cmd *cobra.Command, args []string) error { return runTests(cmd.Context(), env, &f, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *runFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.gen, "gen", "", "run the generated tests of this preset or configuration file")
	fl.StringVar(&f.shard, "shard", "", "only part i of n of the tests (2/8)")
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices (default: the first GPU, else the first device)")
	f.across.add(fl)
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release, or driver (default: the newest that has the target)")
	fl.StringVar(&f.level, "level", "O3", "optimisation level, or several: O0..O3, O0,O3")
	fl.Lookup("level").Annotations = map[string][]string{several: nil}
	fl.Uint64Var(&f.block, "unit", 0,
		"how many instances count as one in intervals and excluded rates (default: 32, the lanes of a warp; with random 1)")
	fl.StringVar(&f.layout, "layout", "pointers",
		"where the locations of an instance lie: pointers (compilers know nothing of them), or adjacent (they are neighbours)")
	fl.StringVar(&f.target, "target", "", "compile for this target instead of the device's own")
	fl.StringVar(&f.instances, "iterations", "1e6", "instances of each test under each set of incantations, at least; 0: by --budget")
	fl.DurationVar(&f.budget, "budget", 0, "time limit for each test under each set")
	fl.DurationVar(&f.total, "total", 0, "time limit of the whole run")
	fl.StringVar(&f.incantations, "incantations", "none", "sets of incantations, separated by commas; all")
	fl.StringVar(&f.form, "form", "fast",
		"form of the harness: fast (a thread plays one role), permuted (every role, each of another instance), both")
	fl.StringVar(&f.environments, "environments", "",
		"settings by name, separated by commas, instead of incantations; all, hunt (docs/internals/running.md lists them)")
	fl.IntVar(&f.drawn, "drawn", 0, "so many further settings whose parameters are drawn from wide ranges")
	fl.StringVar(&f.until, "until", "",
		"run adaptively, until every allowed outcome (seen) or a share of them (95%) has been seen, or for a time (5m)")
	fl.StringSliceVar(&f.models, "model", nil, "judge the outcomes by these models too: built-in ones (optcheck models) or .cat files")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of all random choices (default: a new one, printed)")
	names, _ := drive.TuningNames()
	fl.StringSliceVar(&f.tune, "tune", nil,
		"parameters of launches, NAME=VALUE or NAME=LOW..HIGH, from which random draws. Names: "+strings.Join(names, ", "))
	fl.StringVar(&f.useProfile, "profile", "", "take the parameters of stress that optcheck tune has found, which nothing overwrites")
	fl.BoolVar(&f.unvalidated, "unvalidated", false, "also run binaries that were not validated; their results say so")
	fl.StringArrayVar(&f.patch, "patch", nil,
		"change the machine code of the tests, OPCODE[#N]=OPCODE, =NOP, =wait=BARRIERS, =wait=none or =swap (sm_70 and newer); results are marked")
	fl.BoolVar(&f.table6, "table6", false, "print the table of incantations (Tab. 6 of the study) for "+strings.Join(table6Tests,
		", ")+" or the tests named, with equal numbers of instances a launch; coRR is the one whose loads compilers do not merge")
	jsonFlag(cmd, &f.asJSON, "print the event stream, JSON lines as optcheck report reads them")
	streamFlag(cmd, &f.output)
	fl.StringVar(&f.log, "log", "", "write histograms to this file, in herd's log format")
	fl.StringSliceVar(&f.reports, "report", nil, "also write these forms to files: FORM=FILE,… ("+strings.Join(runFormats, ", ")+")")
	htmlFlag(cmd, &f.html)
	fl.StringVar(&f.plot, "plot", "", "write a plot of the rates per set of incantations (.svg or .png)")
	fl.BoolVar(&f.outcome, "outcomes", false, "print every outcome")
	quietFlag(cmd, &f.quiet)
	fl.BoolVar(&f.brief, "brief", false, "print no line for each run")
	fl.StringVar(&f.saveCubins, "save-cubins", "",
		"run nothing: compile for --target and write the cubins to this zip file, or store if it is one or ends in .store or .db")
	fl.StringVar(&f.cubins, "cubins", "", "check and run the cubins of this zip file or store instead of compiling")
	fl.StringVar(&f.store, "store", "", "keep the results in this store (see optcheck store)")
}

// count reads a number of instances: 100000 or 1e8.
func count(s string) (uint64, error) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil || x < 0 || x > 1e15 || x != float64(uint64(x)) {
		return 0, fmt.Errorf("%q is no number of instances (100000, 1e8)", s)
	}
	return uint64(x), nil
}

// equalInstances is how many instances each launch of a table of incantations has: as
// many as are resident at once beside stress.
const equalInstances = 1 << 14

// table6Tests are the tests of the study's Tab. 6, with loads that compilers
// keep apart for coRR.
var table6Tests = []string{"coRR-volatile", "lb", "mp", "sb-inter"}

// tests returns the tests to run.
func (f *runFlags) tests(env *environment, args []string) ([]*litmus.Test, error) {
	sh, err := parseShard(f.shard)
	if err != nil {
		return nil, err
	}
	var all []*litmus.Test
	switch {
	case f.gen != "" && len(args) > 0:
		return nil, errors.New("--gen and named tests exclude each other")
	case f.gen != "":
		all, err = generated(env, f.gen)
	case f.table6 && len(args) == 0:
		all, err = loadTests(env, table6Tests)
	case len(args) == 0:
		return nil, errors.New("no test: name tests, folders or corpus, or use --gen")
	default:
		all, err = loadTests(env, args)
	}
	if err != nil {
		return nil, err
	}
	var out []*litmus.Test
	for i, t := range all {
		if i%sh.n == sh.i-1 {
			out = append(out, t)
		}
	}
	return out, nil
}

func runTests(ctx context.Context, env *environment, f *runFlags, args []string) (err error) {
	loaded, err := f.tests(env, args)
	if err != nil {
		return err
	}
	if f.saveCubins != "" {
		if len(f.patch) > 0 {
			return errors.New("--patch changes what is run; give it where the cubins are run")
		}
		return f.writeCubins(ctx, env, loaded)
	}
	f.compiledBy = f.toolchain
	return runLoaded(ctx, env, f, loaded)
}

// runLoaded runs tests on the device that the flags name.
func runLoaded(ctx context.Context, env *environment, f *runFlags, tests []*litmus.Test) (err error) {
	o := device.Options{Tests: tests, Budget: f.budget, Total: f.total, Unvalidated: f.unvalidated || len(f.patch) > 0, Seed: f.seed,
		Block: f.block}
	if o.Instances, err = count(f.instances); err != nil {
		return err
	}
	if o.Instances == 0 && o.Budget == 0 && f.until == "" {
		return errors.New("neither --iterations nor --budget")
	}
	if f.table6 {
		f.incantations = "all"
	}
	if f.plot != "" {
		form := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.plot)), ".")
		if form != "svg" && form != "png" {
			return fmt.Errorf("plot %s: want .svg or .png", f.plot)
		}
		f.reports = append(f.reports, form+"="+f.plot)
	}
	if o.Until, err = parseUntil(f.until); err != nil {
		return err
	}
	if o.Levels, err = f.levels(); err != nil {
		return err
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 53)
	}
	if err = f.open(ctx, env, &o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Session.Close()) }()
	if o.Compiler, err = f.compiler(ctx, env, o.Session); err != nil {
		return err
	}
	if o.Compiler.Maker != nil && len(o.Levels) > 1 {
		return fmt.Errorf("--levels: %s compiles at one level; run each on its own", o.Compiler.Name())
	}
	if o.Tuning, err = f.tuning(o.Session.Device()); err != nil {
		return err
	}
	if f.table6 && o.Tuning.Equal.High == 0 {
		o.Tuning.Equal = drive.Fixed(equalInstances)
	}
	if o.Settings, err = f.settings(o.Session.Device(), o.Tuning, o.Seed); err != nil {
		return err
	}
	if p := f.usedProfile; p != nil {
		if why := p.Differs(o.Session.Device(), o.Compiler.Name()); why != "" {
			env.tell("%s may not fit: %s", f.useProfile, why)
		}
	}
	models := audit.ModelsFor(o.Compiler.Target)
	for _, m := range f.models {
		if !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	if o.Judge, err = device.NewJudge(models...); err != nil {
		return err
	}
	return onDevice(ctx, env, f, o)
}

// errNotRun says that no binary was one to be run.
var errNotRun = errors.New("no test was run: each is unsupported, or its binary was not validated (--unvalidated runs those, too; their results say so)")

// errSomeFailed says that a device did not do all runs: it is no success, but
// what the others showed stands.
var errSomeFailed = errors.New("failed, from which nothing follows")

// onDevice runs and reports.
func onDevice(ctx context.Context, env *environment, f *runFlags, o device.Options) (err error) {
	out := &runOutput{f: f, models: o.Judge.Asked, leveled: len(o.Levels) > 1}
	if f.log != "" {
		fh, err := input.Create(f.log)
		if err != nil {
			return err
		}
		b := bufio.NewWriter(fh)
		defer func() {
			if e := errors.Join(b.Flush(), fh.Close()); err == nil {
				err = e
			}
		}()
		out.log = b
	}
	if out.events, err = newRunEvents(ctx, env, f, &o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.events.close()) }()
	text := env.text
	if f.asJSON {
		text = env.stderr
	}
	out.text = text
	d, c := o.Session.Device(), o.Compiler
	fmt.Fprintf(text, "%s, %s; driver %s\ncompiled by %s", d.Name, plain.Count(d.Units, "compute unit"), d.Driver, c.Name())
	if c.Target != "" {
		fmt.Fprintf(text, " for %s at %s", c.Target, strings.Join(o.Levels, ", "))
	}
	fmt.Fprintf(text, "; seed %d\n", o.Seed)
	p := newProgress(env.bar, f.quiet)
	o.Emit, o.Progress = out.result, p.update
	if o.Until != nil {
		o.Until.Told = out.first
	}
	if f.progress != nil {
		o.Progress = f.progress
	}
	runErr := device.Run(ctx, o)
	runErr = errors.Join(runErr, out.err)
	p.done()
	out.summary()
	if runErr == nil && ctx.Err() != nil {
		runErr = ctx.Err()
	}
	if runErr == nil {
		runErr = out.verdict()
	}
	return runErr
}
