package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit"
	campaigns "optcheck/audit/campaign"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/ptxgen/named"
	"optcheck/realcode"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// newCampaignTaskCmd is the command that engines run, on whatever machine.
func newCampaignTaskCmd(env *environment) *cobra.Command {
	var begun bool
	cmd := &cobra.Command{
		Use:   "task FOLDER STAGE INDEX",
		Short: "Do one task of a campaign: what engines call",
		Long: `Do one task of a campaign whose folder this machine sees. STAGE is shard, gpu or
merge. A task may be done anywhere and more than once; one that is done already is
left alone. Exit codes: 0 it is done, 2 it is not, 130 it was ended from outside.`,
		Hidden: true,
		Args:   cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := campaigns.Open(args[0])
			if err != nil {
				return err
			}
			t := campaigns.Task{Stage: campaigns.Stage(args[1])}
			if t.Index, err = strconv.Atoi(args[2]); err != nil || t.Index < 1 || t.Index > c.Tasks(t.Stage) ||
				!slices.Contains(campaigns.Stages, t.Stage) {
				return fmt.Errorf("this campaign has no task %s %s", args[1], args[2])
			}
			if !begun {
				if err := env.trustsCampaign(c, t.Stage == campaigns.Merge); err != nil {
					return err
				}
			}
			return doTask(cmd.Context(), env, c, t)
		},
	}
	cmd.Flags().BoolVar(&begun, "begun", false, "the caller vouches for the campaign: an engine, whose user has begun it")
	return cmd
}

func doTask(ctx context.Context, env *environment, c *campaigns.Campaign, t campaigns.Task) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	if build != c.Plan.Build {
		return fmt.Errorf("this is not the program that the campaign was planned with; tasks are done by %s", c.Program())
	}
	a, err := c.Begin(t)
	if errors.Is(err, campaigns.ErrDone) {
		fmt.Fprintf(env.stdout, "%v is done already\n", t)
		return nil
	}
	if err != nil {
		return err
	}
	switch t.Stage {
	case campaigns.Shards:
		return doShard(ctx, env, c, a)
	case campaigns.Device:
		return doDevice(ctx, env, c, a)
	}
	return doMerge(ctx, env, c, a)
}

// doShard audits a part of the matrix, and compiles a part of the tests for the
// device.
func doShard(ctx context.Context, env *environment, c *campaigns.Campaign, a *campaigns.Attempt) (err error) {
	if a.Resumed {
		if err := readable(ctx, a.Store); err != nil {
			env.tell("what an earlier try left is of no use: %v", err)
			a.Discard()
		}
	}
	cells := 0
	log := &problemLog{env: env}
	for i := range c.Plan.Parts {
		n, err := auditPart(ctx, env, c, a, &c.Plan.Parts[i], cells, log)
		if err != nil {
			return err
		}
		cells += n
	}
	if log.transient > 0 && !a.Last {
		return fmt.Errorf("%s could not be decided for reasons that may pass; the next try does them again", plain.Count(log.transient, "cell"))
	}
	if g := c.Plan.Spec.GPU; g != nil && g.Target != "" {
		if err := compilePart(ctx, env, c, a); err != nil {
			return fmt.Errorf("compiling for the device: %w", err)
		}
	}
	fmt.Fprintf(env.stdout, "%v: %s\n", a.Task, plain.Count(cells, "cell"))
	return a.Finish(cells, true)
}

// readable reads a store once.
func readable(ctx context.Context, path string) error {
	s, err := storeAt(ctx, path, store.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Load(ctx, store.View{})
	return err
}

// auditPart audits what a shard has of a vendor's matrix and returns the number
// of its cells; before is that of the vendors before.
func auditPart(ctx context.Context, env *environment, c *campaigns.Campaign, a *campaigns.Attempt, p *campaigns.Part, before int,
	log *problemLog) (n int, err error) {
	sub, o, err := partOptions(ctx, env, c, p)
	if err != nil {
		return 0, err
	}
	o.Shard = audit.Shard{I: a.Task.Index, N: c.Plan.Spec.Shards}
	o.Progress = func(done, total int) { a.Progress(before+done, before+total) }
	st, err := openStore(ctx, sub, a.Store, "findings", &o)
	if err != nil {
		return 0, err
	}
	defer func() { err = st.s.End(err) }()
	if err := errors.Join(audit.Run(ctx, o, event.Tee{st, log}), st.Writer.Close()); err != nil {
		return 0, err
	}
	return st.plan.Cells, nil
}

// problemLog prints what goes wrong into a task's log, and counts the cells that
// another try may decide.
type problemLog struct {
	env       *environment
	n         int
	transient int
}

// Handle implements report.Handler.
func (l *problemLog) Handle(e event.Event) error {
	if e.Cell != nil && store.Transient(&e.Cell.Result) {
		l.transient++
	}
	if p := e.Problem; p != nil {
		if l.n++; l.n <= 20 {
			l.env.tell("%s: %s %s %s: %s", p.Kind, p.Toolchain, p.Target, p.Level, errors.New(p.Detail))
		}
	}
	return nil
}

// Close implements report.Handler.
func (l *problemLog) Close() error { return nil }

// executions is on how many inputs the kernels of a campaign are executed.
func executions(s *campaigns.Spec) int {
	if s.Execute == nil {
		return realcode.Runs
	}
	return int(*s.Execute)
}

// partOptions are the options of an audit of a part, with the toolchains of
// this machine, which must be those of the plan.
func partOptions(ctx context.Context, env *environment, c *campaigns.Campaign, p *campaigns.Part) (*environment, audit.Options, error) {
	s := c.Plan.Spec
	sub := env.forPart(s, p.Vendor, p.Source, s.ToolchainDirs)
	o := audit.Options{Targets: p.Targets, Levels: p.Levels, Source: p.Source, Flags: s.Flags, Model: s.Model,
		NoVerdict: s.NoVerdict, Execute: executions(s), Jobs: s.Jobs,
		Tool: version(), Build: c.Plan.Build}
	for _, l := range p.Layouts {
		layout, err := spec.ParseLayout(l)
		if err != nil {
			return nil, o, err
		}
		o.Layouts = append(o.Layouts, layout)
	}
	all, err := discover(ctx, sub)
	if err != nil {
		return nil, o, err
	}
	for _, want := range p.Toolchains {
		k := slices.IndexFunc(all, func(tc *toolchain.Toolchain) bool {
			road, err := pipeline.Of(tc, p.Source)
			if err != nil || tc.ID != want.ID {
				return false
			}
			build, err := road.Build()
			return err == nil && build == want.Build
		})
		if k < 0 {
			return nil, o, fmt.Errorf("this machine lacks %s (%s), which the campaign is planned with", want.ID, want.Build)
		}
		o.Toolchains = append(o.Toolchains, all[k])
	}
	if o.Packed, err = audit.NewPacked(); err != nil {
		return nil, o, err
	}
	err = c.EachTest(p, func(t campaigns.Test, hash string) error { return o.Packed.Add(t.Test, hash, t.Preset, t.File) })
	if err != nil {
		return nil, o, err
	}
	cfg, err := o.Config()
	if err != nil {
		return nil, o, err
	}
	if cfg.Cells != p.Cells || cfg.Model != p.Model {
		return nil, o, errors.New("this machine would do another matrix than was planned")
	}
	return sub, o, nil
}

// partTests reads the tests of a part.
func partTests(c *campaigns.Campaign, p *campaigns.Part) ([]*litmus.Test, map[*litmus.Test]named.Origin, error) {
	frozen, err := c.Tests(p)
	if err != nil {
		return nil, nil, err
	}
	var tests []*litmus.Test
	from := map[*litmus.Test]named.Origin{}
	for _, t := range frozen {
		tests = append(tests, t.Test)
		from[t.Test] = named.Origin{Preset: t.Preset, File: t.File}
	}
	return tests, from, nil
}

// doMerge joins the stores of all tasks. What is missing is submitted again, with
// another merging after it: nobody else may be looking.
func doMerge(ctx context.Context, env *environment, c *campaigns.Campaign, a *campaigns.Attempt) error {
	var in []string
	cells := 0
	// Devices first: reports are of the setting of the latest run.
	for _, s := range []campaigns.Stage{campaigns.Device, campaigns.Shards} {
		for i := 1; i <= c.Tasks(s); i++ {
			t := campaigns.Task{Stage: s, Index: i}
			d, err := c.Done(t)
			if err != nil {
				return err
			}
			if d == nil {
				return errors.Join(fmt.Errorf("%v is not done", t), submitMissing(ctx, env, c, a.Task))
			}
			if s == campaigns.Shards {
				cells += d.Cells
			}
			if d.Store != "" {
				in = append(in, c.StoreOf(t, d))
			}
		}
	}
	if cells != c.Plan.Cells {
		return fmt.Errorf("the shards have %s together, %d %s planned", plain.Count(cells, "cell"), c.Plan.Cells,
			plain.Form(c.Plan.Cells, "was", "were"))
	}
	a.Progress(0, len(in))
	if err := merge(ctx, env, c.Plan.Store, in); err != nil {
		return err
	}
	return a.Finish(cells, false)
}

func submitMissing(ctx context.Context, env *environment, c *campaigns.Campaign, self campaigns.Task) error {
	d, release, err := campaigns.NewDriver(c)
	if err != nil {
		return err
	}
	defer release()
	if !d.Detaches() {
		return nil // who follows on this machine will see it
	}
	d.Self = &self
	o, err := d.Settle(ctx)
	if err == nil {
		fmt.Fprintf(env.stdout, "submitted what is missing: %s\n", describe(o))
	}
	return err
}

// shardTests are the tests that a shard compiles and runs.
func shardTests(tests []*litmus.Test, i, n int) (out []*litmus.Test) {
	for k, t := range tests {
		if k%n == i-1 {
			out = append(out, t)
		}
	}
	return out
}

// nvidia is the part of the campaign whose tests go to the device.
func nvidia(c *campaigns.Campaign) (*campaigns.Part, error) {
	for i := range c.Plan.Parts {
		if c.Plan.Parts[i].Vendor == target.NVIDIA {
			return &c.Plan.Parts[i], nil
		}
	}
	return nil, errors.New("no tests for a device")
}

// compilePart compiles a shard's tests for the device, into its store.
func compilePart(ctx context.Context, env *environment, c *campaigns.Campaign, a *campaigns.Attempt) (err error) {
	p, err := nvidia(c)
	if err != nil {
		return err
	}
	tests, _, err := partTests(c, p)
	if err != nil {
		return err
	}
	comp, err := deviceCompiler(ctx, env, c.Plan.Spec)
	if err != nil {
		return err
	}
	if comp.Tool.ID != c.Plan.Compiler {
		return fmt.Errorf("this machine would compile by %s, the campaign is planned with %s", comp.Tool.ID, c.Plan.Compiler)
	}
	s, err := storeAt(ctx, a.Store, store.Create)
	if err != nil {
		return err
	}
	defer func() { err = s.End(err) }()
	n, err := comp.StoreCubins(ctx, s, shardName(c, a.Task), shardTests(tests, a.Task.Index, c.Plan.Spec.Shards))
	if err == nil {
		fmt.Fprintf(env.stdout, "%v: %s for %s\n", a.Task, plain.Count(n, "kernel"), c.Plan.Spec.GPU.Target)
	}
	return err
}

func shardName(c *campaigns.Campaign, t campaigns.Task) string {
	return fmt.Sprintf("%s/%d of %d", c.Plan.ID, t.Index, c.Plan.Spec.Shards)
}

// doDevice runs a shard's tests on the device.
func doDevice(ctx context.Context, env *environment, c *campaigns.Campaign, a *campaigns.Attempt) error {
	a.Discard() // a run that was interrupted begins again
	shard := campaigns.Task{Stage: campaigns.Shards, Index: a.Task.Index}
	compiled, err := c.Result(shard)
	if err != nil {
		return err
	}
	p, err := nvidia(c)
	if err != nil {
		return err
	}
	all, origins, err := partTests(c, p)
	if err != nil {
		return err
	}
	tests := shardTests(all, a.Task.Index, c.Plan.Spec.Shards)
	if len(tests) == 0 {
		return a.Finish(0, false)
	}
	g := c.Plan.Spec.GPU
	f := &runFlags{device: g.Device, level: g.Level, incantations: strings.Join(g.Incantations, ","), instances: g.Iterations,
		budget: g.Budget.Value(),
		seed:   g.Seed, tune: g.Tune, unvalidated: g.Unvalidated, quiet: true, store: a.Store, compiledBy: c.Plan.Compiler,
		setting: &store.Setting{Build: c.Plan.Build, Source: p.Source, Flags: c.Plan.Spec.Flags, Model: p.Model, Execute: executions(c.Plan.Spec)}}
	if f.instances == "" {
		f.instances = "0"
	}
	if g.Target != "" {
		f.target, f.cubins = g.Target, compiled
	}
	sub := env.forPart(c.Plan.Spec, target.NVIDIA, "", c.Plan.Spec.ToolchainDirs)
	sub.origins = origins
	runs := 0
	f.progress = func(done, total int) {
		runs = done
		a.Progress(done, total)
	}
	if err := runLoaded(ctx, sub, f, tests); err != nil && !errors.Is(err, errNotRun) && !errors.Is(err, errSomeFailed) {
		return err
	}
	return a.Finish(runs, true)
}
