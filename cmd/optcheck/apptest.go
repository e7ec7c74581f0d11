package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"optcheck/program"
)

func newAppTestCmd(env *environment) *cobra.Command {
	var f appFlags
	cmd := &cobra.Command{
		Use:   "test PROGRAM…",
		Short: "Run programs in environments that stress memory, and count the runs that are wrong",
		Long: `Run programs in environments that stress memory, and count the runs that are wrong.

The environments are the eight of Sorensen and Donaldson (PLDI 2016, Tab. 5): no stress,
the tuned one (sys-str), a random one (rand-str), and one through memory of the size of
the L2 cache (cache-str). Each has ids of blocks and warps as they are (-) or randomised
(+). Blocks that stress are 15 to 50 per cent of the program's. A run that does not end
in time is an error. An environment with more than 5 per cent of errors is effective.

Exit code 1: there were errors.`,
		Example: `  optcheck app test cbe-dot
  optcheck app test cbe-dot --environments no-str-,sys-str+ --each 1m --resume cbe-dot.kept
  optcheck app test my-program.yaml --fences all --runs 100000`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return testPrograms(cmd.Context(), env, &f, args) },
	}
	f.register(cmd)
	f.registerStress(cmd)
	cmd.Flags().DurationVar(&f.each, "each", 10*time.Second, "time in each environment")
	cmd.Flags().Uint64Var(&f.runs, "runs", 0, "runs in each environment, at most")
	return cmd
}

func testPrograms(ctx context.Context, env *environment, f *appFlags, names []string) (err error) {
	a, err := f.open(ctx, env, names...)
	if err != nil {
		return err
	}
	defer func() { err = a.done(err) }()
	found := false
	for _, name := range names {
		bad, err := a.test(ctx, name)
		if err != nil {
			return err
		}
		found = found || bad
	}
	if found {
		return errFound
	}
	return nil
}

// test runs a program in all environments, and tells whether there were errors.
func (a *app) test(ctx context.Context, name string) (found bool, err error) {
	if err := a.load(ctx, name); err != nil {
		return false, err
	}
	fences, err := a.fenced()
	if err != nil {
		return false, err
	}
	if !a.f.asJSON {
		a.head()
		fmt.Fprintf(a.env.text, "%-11s %9s %8s %9s %9s %21s  %s\n", "environment", "runs", "errors", "timeouts", "rate", "95 % interval", "")
	}
	for i := range a.lab.Environments {
		r, err := a.lab.Measure(ctx, &a.lab.Environments[i], fences, "test", program.Limit{Runs: a.f.runs, Time: a.f.each})
		if r != nil && r.Runs > 0 {
			found = found || r.Errors() > 0
			if e := a.tell(r); e != nil {
				return found, errors.Join(err, e)
			}
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// tell prints a result.
func (a *app) tell(r *program.Result) error {
	if err := a.emit(program.Line{Test: r}); err != nil || a.f.asJSON {
		return err
	}
	effective := ""
	if r.Effective {
		effective = "effective"
	}
	if r.First != "" {
		effective += "  first, run " + fmt.Sprint(r.FirstRun) + ": " + r.First
	}
	if r.Lost > 0 {
		effective += fmt.Sprintf("  (%d runs lost beside them)", r.Lost)
	}
	if r.Class != "" && r.Class != "preserved" {
		effective += "  binary: " + r.Class
	}
	fmt.Fprintf(a.env.text, "%-11s %9d %8d %9d %8.3f%% %9.4f%% … %7.3f%%  %s\n", r.Environment, r.Runs, r.Errors(), r.Timeouts,
		100*r.Rate, 100*r.Low, 100*r.High, effective)
	return nil
}
