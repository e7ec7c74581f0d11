package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"optcheck/program"
	"optcheck/report"
)

// costFlags are the flags of app cost.
type costFlags struct {
	appFlags
	energy time.Duration
	plot   string
}

func newAppCostCmd(env *environment) *cobra.Command {
	var f costFlags
	cmd := &cobra.Command{
		Use:   "cost PROGRAM…",
		Short: "Measure the time and energy of programs as they are, with some fences, and with a fence behind each access",
		Long: `Measure the time and energy of programs as they are, with the fences of --fences (those
that app harden found), and with a full fence behind each access. Sorensen and Donaldson
measure so (PLDI 2016, Sec. 6).

Time is that on the device of the launches of a run, without setting buffers back and
checks: the median, and its 95 per cent interval by order statistics. Energy is power
times time over a batch of runs of at least --energy, from the device's own counter of
energy where it has one, less that of a batch that only sets buffers back.`,
		Example: `  optcheck app cost cbe-dot --fences 5
  optcheck app cost cbe-dot cbe-ht --energy 0 --runs 1000 --plot cost.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return costPrograms(cmd.Context(), env, &f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.Uint64Var(&f.runs, "runs", 200, "runs that are timed")
	fl.DurationVar(&f.energy, "energy", 2*time.Second, "least time of a batch whose energy is measured; 0: none is")
	fl.StringVar(&f.plot, "plot", "", "draw the overheads into this SVG")
	return cmd
}

func costPrograms(ctx context.Context, env *environment, f *costFlags, names []string) (err error) {
	if f.runs < 1 || f.runs > 1<<20 || f.energy < 0 {
		return errors.New("--runs: want 1 to 1048576; --energy: a time")
	}
	a, err := f.open(ctx, env, names...)
	if err != nil {
		return err
	}
	defer func() { err = a.done(err) }()
	var all []*program.Cost
	for _, name := range names {
		list, err := f.measure(ctx, a, name)
		all = append(all, list...)
		if err != nil {
			return err
		}
	}
	if f.plot == "" {
		return nil
	}
	return writeWhole(f.plot, func(w io.Writer) error { return drawCosts(w, a.s.Device().Name, all) })
}

// drawCosts draws what fences cost each program in time and energy, beside itself.
func drawCosts(w io.Writer, device string, all []*program.Cost) error {
	var names []string
	base := map[string]*program.Cost{}
	for _, c := range all {
		if base[c.Program] == nil {
			base[c.Program], names = c, append(names, c.Program)
		}
	}
	of := func(variant string, value func(*program.Cost) float64) (out []float64) {
		for _, name := range names {
			more := 0.0
			for _, c := range all {
				if b := value(base[name]); c.Program == name && c.Variant == variant && b > 0 {
					more = 100 * (value(c)/b - 1)
				}
			}
			out = append(out, more)
		}
		return out
	}
	var list []report.Bars
	for _, variant := range []string{"hardened", "all"} {
		list = append(list, report.Bars{Name: variant + ", time", Values: of(variant, func(c *program.Cost) float64 { return c.Median })},
			report.Bars{Name: variant + ", energy", Values: of(variant, (*program.Cost).Millijoules)})
	}
	return report.WriteBars(w, "What fences cost, "+device, "more than as it is (%)", names, list)
}

// measure measures the variants of a program, each right after the others.
func (f *costFlags) measure(ctx context.Context, a *app, name string) (list []*program.Cost, err error) {
	if err := a.load(ctx, name); err != nil {
		return nil, err
	}
	fences, err := a.fenced()
	if err != nil {
		return nil, err
	}
	all := program.Fences{}
	for _, s := range a.road.Sites() {
		all[s.N] = a.road.Fence()
	}
	variants := []program.Priced{{Name: "as it is"}}
	if len(fences) > 0 {
		variants = append(variants, program.Priced{Name: "hardened", Fences: fences})
	}
	variants = append(variants, program.Priced{Name: "all", Fences: all})
	if list, err = a.lab.Costs(ctx, variants, int(f.runs), f.energy); err != nil {
		return nil, fmt.Errorf("%s, %w", name, err)
	}
	if !f.asJSON {
		a.head()
		fmt.Fprintf(a.env.text, "%-10s %7s %12s %23s %8s %10s %9s %8s\n", "variant", "fences", "median", "95 % interval", "time", "energy",
			"power", "energy")
	}
	for _, c := range list {
		if err := f.row(a, list[0], c); err != nil {
			return list, err
		}
	}
	return list, nil
}

// row prints a variant beside the program as it is.
func (f *costFlags) row(a *app, base, c *program.Cost) error {
	if err := a.emit(program.Line{Cost: c}); err != nil || f.asJSON {
		return err
	}
	energy, power, more := "-", "-", "-"
	if c.Energy != nil {
		power = fmt.Sprintf("%.0f W", c.Energy.Watts)
	}
	if own := c.Millijoules(); own > 0 {
		energy = fmt.Sprintf("%.3f mJ", own)
		if all := base.Millijoules(); all > 0 {
			more = fmt.Sprintf("%+.1f %%", 100*(own/all-1))
		}
	}
	wrong := ""
	if c.Wrong > 0 {
		wrong = fmt.Sprintf("  %d of %d runs were wrong", c.Wrong, c.Runs)
	}
	fmt.Fprintf(a.env.text, "%-10s %7d %9.1f µs %9.1f … %8.1f µs %+7.1f%% %10s %9s %8s%s\n", c.Variant, len(c.Fences), c.Median,
		c.Low, c.High,
		100*(c.Median/base.Median-1), energy, power, more, wrong)
	return nil
}
