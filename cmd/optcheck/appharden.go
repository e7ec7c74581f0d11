package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/program"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// hardenFlags are the flags of app harden.
type hardenFlags struct {
	appFlags
	iterations uint64
	stable     time.Duration
	stableRuns uint64
	rounds     int
	narrow     time.Duration
	sites      string
}

func newAppHardenCmd(env *environment) *cobra.Command {
	var f hardenFlags
	cmd := &cobra.Command{
		Use:   "harden PROGRAM",
		Short: "Find the fewest fences with which a program is right under stress",
		Long: `Find the fewest fences with which a program is right under stress: empirical fence
insertion of Sorensen and Donaldson (PLDI 2016, Alg. 1). It begins with a fence behind
each access. Halves of them are taken away as long as no run is wrong, then single ones;
what is left must do without a wrong run for the time of --stable. If it does not, all
begins again with twice the runs. (The published pseudo-code checks the fences that are
to go, its text what is left without them: that is done here.)

The environment is the one in which most runs are wrong, by a survey of --each of
those named, or the one named by --environments.

Beyond the paper, each fence is looked for in the machine code of every installed
release, at each level, and narrower forms are tried in its place. The memory model is
asked which orders of the program's accesses nothing gives: the litmus tests of two
accesses and of two others of the same kernel that could rely on them. So a fence is
demanded by the model, seen to matter on this chip only, or not shown to matter.

Exit code 1: an order that the model demands is given by none of the fences.`,
		Example: `  optcheck app harden cbe-dot --resume cbe-dot.kept
  optcheck app harden cub-scan-nf --environments cache-str- --stable 5m --runs 256`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return hardenProgram(cmd.Context(), env, &f, args[0]) },
	}
	f.register(cmd)
	f.registerStress(cmd)
	fl := cmd.Flags()
	fl.DurationVar(&f.each, "each", 3*time.Second, "time in each environment of the survey")
	fl.Uint64Var(&f.iterations, "runs", 32, "runs of a check in the first round (I)")
	fl.DurationVar(&f.stable, "stable", time.Minute, "how long the result must do without a wrong run")
	fl.Uint64Var(&f.stableRuns, "stable-runs", 0, "or in how many runs")
	fl.IntVar(&f.rounds, "rounds", 12, "how often all begins again, at most")
	fl.StringVar(&f.sites, "sites", "after", "where fences may stand: after accesses, before them, both")
	fl.DurationVar(&f.narrow, "narrow", 5*time.Second, "time for each narrower form of a fence; 0: none is tried")
	return cmd
}

func hardenProgram(ctx context.Context, env *environment, f *hardenFlags, name string) (err error) {
	if f.iterations < 1 || f.rounds < 1 || f.stable <= 0 && f.stableRuns == 0 {
		return errors.New("--runs, --rounds and --stable: want 1 or more, and a time")
	}
	if !slices.Contains([]string{"after", "before", "both"}, f.sites) {
		return fmt.Errorf("--sites %s: want after, before or both", f.sites)
	}
	if f.fences != "" {
		return errors.New("--fences: app harden looks for them itself")
	}
	a, err := f.open(ctx, env, name)
	if err != nil {
		return err
	}
	defer func() { err = a.done(err) }()
	if err := a.load(ctx, name); err != nil {
		return err
	}
	if !f.asJSON {
		a.head()
	}
	e, err := f.environment(ctx, a)
	if err != nil {
		return err
	}
	h := &program.HardenedProgram{Program: a.p.Name, Device: a.s.Device().Name, Driver: a.s.Device().Driver, Compiler: a.road.Compiler(),
		Environment: e.Name, Stress: e.Stressing(f.length), Sites: a.road.Sites(), Verdicts: map[int]string{}, Code: a.code()}
	told := func(s program.Step) {
		if !f.asJSON {
			fmt.Fprintf(env.text, "round %d, %-9s fences %-24s %7d runs, %d wrong, %.1f s\n", s.Round, s.Phase, brief(s.Fences), s.Runs,
				s.Errors, s.Seconds)
		}
	}
	h.Hardened, err = a.lab.Harden(ctx, e, program.Hardening{Iterations: f.iterations, Rounds: f.rounds, Told: told,
		Stable: program.Limit{Time: f.stable, Runs: f.stableRuns}}, f.sites != "after", f.sites != "before")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if f.narrow > 0 {
		limit := program.Limit{Time: f.narrow, Stop: true}
		if h.Narrower, err = a.lab.Narrow(ctx, e, h.Fences, limit); err != nil {
			return err
		}
	}
	if err := f.beyond(ctx, a, h); err != nil {
		return err
	}
	return f.tell(a, h)
}

// environment is the one to harden in.
func (f *hardenFlags) environment(ctx context.Context, a *app) (*program.Environment, error) {
	if len(a.lab.Environments) == 1 {
		return &a.lab.Environments[0], nil
	}
	e, ok, err := a.lab.Best(ctx, f.each, func(r *program.Result) error {
		if f.asJSON {
			return nil
		}
		return a.tell(r)
	})
	if err == nil && !ok {
		err = fmt.Errorf("%s: no run was wrong in any environment: there is nothing that hardening could show (--each for longer)", a.p.Name)
	}
	return e, err
}

// beyond asks the machine code of all releases, and the model.
func (f *hardenFlags) beyond(ctx context.Context, a *app, h *program.HardenedProgram) error {
	road, ok := a.road.(*program.PTXRoad)
	if !ok {
		return nil
	}
	tools, wrong, err := found(ctx, a.env)
	if err != nil {
		return err
	}
	for _, e := range wrong { // the others can be asked
		a.env.tell("%v", e)
	}
	tools = slices.DeleteFunc(tools, func(t *toolchain.Toolchain) bool { return t.Nvdisasm == "" })
	if h.Verified, err = road.Verify(ctx, tools, realcode.Levels, program.Full(h.Fences...)); err != nil {
		return err
	}
	if h.Demands, h.Open, err = road.Judge(ctx, h.Fences); err != nil {
		return err
	}
	for _, n := range h.Fences {
		h.Verdicts[n] = program.NotShown
		if h.Needed[n].Errors > 0 {
			h.Verdicts[n] = program.OnlySeen
		}
		for _, d := range h.Demands {
			if d.Site == n {
				h.Verdicts[n] = program.Demanded
			}
		}
	}
	return nil
}

// tell prints what was found. The error is errFound if the model demands more.
func (f *hardenFlags) tell(a *app, h *program.HardenedProgram) error {
	short := 0
	for _, d := range h.Demands {
		if d.Site == 0 {
			short++
		}
	}
	var err error
	if short > 0 {
		err = errFound
	}
	if e := a.emit(program.Line{Hardened: h}); e != nil || f.asJSON {
		return errors.Join(e, err)
	}
	w := a.env.text
	fmt.Fprintf(w, "\n%s of %d sites, after %s in %s: %.0f s, of which %.0f s show no error in %d runs\n", plain.Count(len(h.Fences), "fence"),
		len(h.Sites), plain.Count(h.Rounds, "round"), stressed(h), h.Seconds, h.StableSeconds, h.StableRuns)
	for _, s := range h.Sites {
		for _, n := range []int{-s.N, s.N} {
			if slices.Contains(h.Fences, n) {
				fmt.Fprintf(w, "  %d, %s line %d: %s\n    without it %d of %d runs are wrong; %s\n", n, map[bool]string{true: "behind",
					false: "in front of"}[n > 0],
					s.Pos.Line, plain.Line(s.Text), h.Needed[n].Errors, h.Needed[n].Runs, orDash(h.Verdicts[n]))
			}
		}
	}
	f.tellBeyond(a, h)
	return err
}

// stressed names the environment, with what its stress consists of.
func stressed(h *program.HardenedProgram) string {
	if h.Stress == "" {
		return h.Environment
	}
	return h.Environment + " (" + h.Stress + ")"
}

func (f *hardenFlags) tellBeyond(a *app, h *program.HardenedProgram) {
	w := a.env.text
	if len(h.Narrower) > 0 {
		fmt.Fprintln(w, "narrower forms, one at a time:")
	}
	for _, n := range h.Narrower {
		what := fmt.Sprintf("%d of %d runs are wrong", n.Errors, n.Runs)
		if n.Refuse != "" {
			what = "not tried: " + plain.Line(n.Refuse)
		}
		fmt.Fprintf(w, "  %d as %s: %s\n", n.Site, n.Form, what)
	}
	if len(h.Verified) > 0 && len(h.Fences) > 0 {
		fmt.Fprintln(w, "in the machine code:")
		for _, v := range h.Verified {
			var list []string
			for _, n := range slices.Sorted(maps.Keys(v.Fences)) {
				list = append(list, fmt.Sprintf("%d %s", n, v.Fences[n]))
			}
			fmt.Fprintf(w, "  %s %s %s: %s: %s\n", v.Toolchain, v.Target, v.Level, v.Class, orDash(strings.Join(list, ", ")+plain.Line(v.Reason)))
		}
	}
	if _, ok := a.road.(*program.PTXRoad); ok {
		tellDemands(w, h.Demands, h.Open)
	}
}

// brief lists sites.
func brief(list []int) string {
	if len(list) > 8 {
		return fmt.Sprintf("%d of them", len(list))
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",") + map[bool]string{true: "none"}[len(list) == 0]
}
