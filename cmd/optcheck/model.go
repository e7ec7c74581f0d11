package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"optcheck/model"
)

// modelFlags are the flags that commands which judge tests share.
type modelFlags struct {
	name, cat, co string
	blocked       string
	unroll        int
	candidates    uint64
	timeout       time.Duration
	jobs          int
}

func (f *modelFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.name, "model", "ptx", "judge under this model: a built-in one (optcheck models) or a .cat file")
	fl.StringVar(&f.cat, "cat", "", "file with a model in the cat language, whatever its name")
	f.addLimits(cmd)
	cmd.MarkFlagsMutuallyExclusive("model", "cat")
}

func (f *modelFlags) addLimits(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.co, "co", "", "coherence orders: total or partial (default: by the model's header line)")
	fl.StringVar(&f.blocked, "blocked", "drop",
		"executions in which threads wait at a barrier for ever: drop or count (the state they have then)")
	fl.IntVar(&f.unroll, "unroll", 2, "how often a branch may jump back")
	fl.Uint64Var(&f.candidates, "max-candidates", 50_000_000, "evaluations of the model for one test")
	fl.DurationVar(&f.timeout, "timeout", model.DefaultTimeout, "time limit for each test and model, and for reading a model (0: none)")
	fl.IntVarP(&f.jobs, "jobs", "j", 0, "tests judged at a time (0: one per core)")
}

func (f *modelFlags) options() (model.CommandOptions, error) {
	var o model.CommandOptions
	co, err := model.ParseCo(f.co)
	if err != nil {
		return o, err
	}
	if f.unroll < 1 || f.unroll > 100 {
		return o, fmt.Errorf("--unroll %d: expected 1 to 100", f.unroll)
	}
	if f.timeout < 0 {
		return o, fmt.Errorf("--timeout %v: expected 0 or more", f.timeout)
	}
	blocked, err := model.ParseBlocked(f.blocked)
	if err != nil {
		return o, err
	}
	o.Options = model.Options{Blocked: blocked, Unroll: f.unroll, Co: co, MaxCandidates: f.candidates, Timeout: f.timeout}
	if f.timeout == 0 {
		o.Timeout = -1
	}
	o.Jobs = f.jobs
	return o, nil
}

// load returns the model that the flags name, its warnings on standard error.
func (f *modelFlags) load(ctx context.Context, env *environment) (*model.Model, error) {
	if f.cat == "" {
		return f.loadModel(ctx, env, f.name)
	}
	if err := expect(f.cat, wantModel); err != nil {
		return nil, err
	}
	path := f.cat
	if filepath.Ext(path) != ".cat" {
		path, _ = filepath.Abs(path) // a file, whatever its name
	}
	return f.loadModel(ctx, env, path)
}

func (f *modelFlags) loadModel(ctx context.Context, env *environment, name string) (*model.Model, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("time limit of %v reached", f.timeout))
		defer cancel()
	}
	m, err := model.LoadContext(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, w := range m.Warnings {
		env.tell("warning: %s", w)
	}
	return m, nil
}

func newModelCmd(env *environment) *cobra.Command {
	var f modelFlags
	var states, explain, svg, dot, noTime, candidates, asJSON bool
	cmd := &cobra.Command{
		Use:   "model TEST…",
		Short: "Judge tests with a memory model",
		Long: `Judge tests with a memory model: which final states it allows, as a log in
herd's format, one block per test, in input order.

A test is a file, a folder, a test of the corpus, the word corpus, or - for
standard input. With --explain the violated check and its cycle are named for an
outcome that the model forbids, and an execution listed for one that it allows;
--svg and --dot draw it. A test that cannot be decided within the limits is an
error, never a verdict.

With --json a line per test and a summary at the end, see docs/internals/models.md; with
--explain the reason is in it.`,
		Example: `  optcheck model --model ptx mp
  optcheck model --cat my.cat --states tests/
  optcheck model --json --explain tests/ | jq -r 'select(.verdict.holds) | .verdict.test'
  optcheck model --model ptx-2015 --svg coRR > coRR.svg
  optcheck model compare ptx-2015 ptx corpus`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			o.NoTime, o.Candidates, o.JSON = noTime, candidates, asJSON
			switch {
			case states:
				o.Output = model.OutStates
			case explain:
				o.Output = model.OutExplain
			case svg:
				o.Output = model.OutSVG
			case dot:
				o.Output = model.OutDOT
			}
			if env.getenv("GOGC") == "" {
				debug.SetGCPercent(400) // small tests leave little behind
			}
			m, err := f.load(cmd.Context(), env)
			if err != nil {
				return err
			}
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if svg && len(tests) != 1 {
				return errors.New("--svg draws one test at a time")
			}
			sum, err := m.RunCommand(cmd.Context(), tests, o, env.stdout)
			if asJSON && sum.Tests == len(tests) {
				err = errors.Join(err, model.WriteSummaryJSON(env.stdout, model.JSONSummary{Models: []string{m.Name}, Tests: sum.Tests,
					Undecided: sum.Undecided, Failed: sum.Failed}))
			}
			return err
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&states, "states", false, "print the states and whether the condition holds, no more")
	fl.BoolVar(&explain, "explain", false, "say why the outcome can or cannot happen")
	fl.BoolVar(&svg, "svg", false, "draw an execution that shows it (SVG)")
	fl.BoolVar(&dot, "dot", false, "the same for Graphviz")
	fl.BoolVar(&noTime, "no-time", false, "leave the Time lines out")
	fl.BoolVar(&candidates, "candidates", false, "print how many candidate executions were looked at")
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.MarkFlagsMutuallyExclusive("states", "explain", "svg", "dot")
	for _, other := range []string{"states", "svg", "dot"} {
		cmd.MarkFlagsMutuallyExclusive("json", other)
	}
	cmd.AddCommand(newModelCompareCmd(env), newModelSearchCmd(env))
	return cmd
}
