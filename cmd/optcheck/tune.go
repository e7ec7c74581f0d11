package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/device"
	"optcheck/internal/input"
	"optcheck/internal/whole"
	"optcheck/report"
	"optcheck/runner/drive"
	"optcheck/runner/drive/tune"
)

// tuneFlags are the flags of the tune command.
type tuneFlags struct {
	runFlags
	count, epsilon       uint64
	profile, keep, plots string
}

// maxTune is the longest time for tuning.
const maxTune = 20 * time.Minute

func newTuneCmd(env *environment) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Find the stress that makes a device show most weak outcomes",
		Long: `Find the stress that makes a device show most weak outcomes, by the procedure of
Sorensen and Donaldson, Exposing Errors Related to Weak Memory in GPU Applications
(PLDI 2016, Sec. 3): the critical patch size, on which mp, lb and sb-inter must agree,
the sequence of accesses that is best for all three, and how many patches to stress.

Each of the three searches has its share of --total and goes from coarse to fine: one
distance between the locations of a test after the other. Stress is in steps of 32
bytes. What is found is printed as Tables 2 and 3 and Figures 3 and 4 of the paper, and
written to a profile, which run --profile and bench-gpu --profile use.`,
		Example: `  optcheck tune --total 20m --profile h200.profile --resume h200.cells
  optcheck run --gen divisions --profile h200.profile --environments sys-str+
  optcheck bench-gpu --score --profile h200.profile --each 60s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(cmd.Context(), env, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device as listed by: optcheck devices")
	fl.StringVar(&f.toolchain, "toolchain", "", "the compiler: a ptxas release, or driver")
	fl.StringVar(&f.level, "level", "O3", "optimisation level")
	fl.StringVar(&f.form, "form", "permuted", "form of the harness: fast, permuted")
	fl.DurationVar(&f.total, "total", maxTune, "time limit of the whole, 20m at most")
	fl.Uint64Var(&f.count, "runs", 1024, "executions of a test in each cell (C)")
	fl.Uint64Var(&f.epsilon, "epsilon", 3, "weak outcomes of a cell that are noise")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fl.StringVar(&f.profile, "profile", "", "write the profile to this file")
	fl.StringVar(&f.keep, "resume", "", "keep what is measured in this file, and go on from what it holds")
	fl.StringVar(&f.plots, "plots", "", "write Figures 3 and 4 as SVG into this folder")
	fl.StringSliceVar(&f.tune, "tune", nil, "parameters of launches that are not searched, as optcheck run takes them")
	fl.BoolVar(&f.unvalidated, "unvalidated", false, "also tune by binaries that were not validated")
	quietFlag(cmd, &f.quiet)
	return cmd
}

func runTune(ctx context.Context, env *environment, f *tuneFlags) (err error) {
	if f.total <= 0 || f.total > maxTune || f.count < 1 || f.count > 1<<20 {
		return fmt.Errorf("--total %v, --runs %d: want at most %v and 1 to %d", f.total, f.count, maxTune, 1<<20)
	}
	forms, err := drive.ParseForms(f.form)
	if err != nil || len(forms) != 1 {
		return errors.Join(err, fmt.Errorf("--form %s: want fast or permuted", f.form))
	}
	o := device.TuneOptions{Form: forms[0], Count: f.count, Seed: f.seed, Unvalidated: f.unvalidated}
	if o.Idioms, err = loadTests(env, tune.Idioms); err != nil {
		return err
	}
	if o.Session, err = openDevice(ctx, env, f.device); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Session.Close()) }()
	if o.Compiler, err = f.compiler(ctx, env, o.Session); err != nil {
		return err
	}
	if o.Tuning, err = f.tuning(o.Session.Device()); err != nil {
		return err
	}
	if f.keep != "" {
		fh, err := input.Update(f.keep, 0o666)
		if err != nil {
			return err
		}
		defer fh.Close()
		if err := o.Resume(fh); err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
	}
	u := &tune.Tuner{Total: f.total, Epsilon: f.epsilon, Seed: f.seed}
	if u.Measure, err = o.Measurer(ctx); err != nil {
		return err
	}
	if !f.quiet {
		u.Progress = func(search string, n int) {
			fmt.Fprintf(env.bar, "\r%s: %d of %d distances   ", search, n, tune.Distances)
		}
	}
	t, err := u.Run(ctx)
	if !f.quiet {
		fmt.Fprintln(env.bar)
	}
	if err != nil {
		return err
	}
	return f.tuned(env, &o, t)
}

// tuned writes what was found.
func (f *tuneFlags) tuned(env *environment, o *device.TuneOptions, t *tune.Tuned) error {
	d := o.Session.Device()
	fmt.Fprintf(env.text, "%s, driver %s; compiled by %s; seed %d; %d executions a cell, noise %d\n", d.Name, d.Driver, o.Compiler.Name(),
		f.seed, f.count, f.epsilon)
	if err := t.WriteText(env.text, d.Name); err != nil {
		return err
	}
	if f.profile != "" {
		if err := writeWhole(f.profile, o.Profile(t, f.epsilon).Write); err != nil {
			return err
		}
	}
	if f.plots == "" {
		return nil
	}
	if err := os.MkdirAll(f.plots, 0o777); err != nil {
		return err
	}
	var curves []report.Curve
	for i, name := range tune.Idioms {
		c := report.Curve{Name: name, Start: 1, Step: 1}
		for _, s := range t.Spreads {
			c.Values = append(c.Values, s.Score[i])
		}
		curves = append(curves, c)
		if err := f.figure3(d.Name, name, t.ByDistance(i)); err != nil {
			return err
		}
	}
	return f.draw("figure4.svg", func(w io.Writer) error {
		return report.WriteCurves(w, "Spread, "+d.Name, "stressed patches", "weak", curves)
	})
}

// shownDistances is how many distances a plot of patches shows.
const shownDistances = 6

// figure3 draws the patches of an idiom.
func (f *tuneFlags) figure3(chip, name string, list []tune.Patch) error {
	var curves []report.Curve
	for i := 0; i < len(list); i += max(1, len(list)/shownDistances) {
		curves = append(curves, report.Curve{Name: fmt.Sprintf("d = %d", list[i].Distance), Step: tune.LocationStep, Values: list[i].Weak})
	}
	return f.draw("figure3-"+name+".svg", func(w io.Writer) error {
		return report.WriteCurves(w, name+", "+chip, "stressed location (words)", "weak", curves)
	})
}

// draw writes a plot.
func (f *tuneFlags) draw(file string, write func(io.Writer) error) error {
	return writeWhole(filepath.Join(f.plots, file), write)
}

// writeWhole writes a file as a whole or not at all.
func writeWhole(file string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return whole.Write(file, b.Bytes(), 0o666)
}
