package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
)

// compareFlags are the flags of model compare.
type compareFlags struct {
	modelFlags
	gen, without, seen     []string
	limit                  int
	table, explain, asJSON bool
}

func newModelCompareCmd(env *environment) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B [TEST…]",
		Short: "List the tests on which two models disagree",
		Long: `List the tests on which two models allow different final states, with those
states, the smallest test first. A model is the name of a built-in one, of axioms
or a machine, or a .cat file. Tests of which one of them does not speak are counted
and left out. The exit code is 1 if there is a test that tells the models apart.

With --explain each state comes with the execution or schedule by which the one
model allows it and the cycle by which the other forbids it. With --seen it is told
how often a device showed it: a model that forbids what was seen is refuted.`,
		Example: `  optcheck model compare ptx-2015 ptx corpus
  optcheck model compare ptx my.cat tests/
  optcheck model compare ugpu ptx-2015 --gen paper --without dependencies,atomics --table
  optcheck model compare ugpu ptx-2015 corpus --seen h200.jsonl --explain
  optcheck model compare sc ptx corpus --json`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd.Context(), env, &f, args) },
	}
	f.addLimits(cmd)
	fl := cmd.Flags()
	f.addTests(cmd)
	fl.BoolVar(&f.table, "table", false, "print a table: how many tests, and one line for each that differs")
	fl.IntVar(&f.limit, "most", 0, "list at most so many tests (0: all)")
	fl.BoolVar(&f.explain, "explain", false, "say why each state is allowed and forbidden")
	jsonFlag(cmd, &f.asJSON, jsonLines)
	cmd.MarkFlagsMutuallyExclusive("table", "json")
	cmd.MarkFlagsMutuallyExclusive("table", "explain")
	return cmd
}

// addTests adds the flags that say which tests are compared, and what is known of them.
func (f *compareFlags) addTests(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.gen, "gen", nil, "also the tests of these presets or configurations of gen")
	fl.StringSliceVar(&f.without, "without", nil, "leave out tests with: "+strings.Join(model.Features, ", "))
	fl.StringSliceVar(&f.seen, "seen", nil, "files or stores of optcheck run: tell what the device showed")
}

// compared are two models and how they relate.
type compared struct {
	*model.Comparison
	a, b   *model.Model
	o      model.Options
	n      int // tests that were asked for
	past   *devices
	failed error // tests without a verdict
}

// compare judges the tests by both models.
func (f *compareFlags) compare(ctx context.Context, env *environment, args []string) (*compared, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	c := &compared{o: o.Options}
	if c.a, err = f.loadModel(ctx, env, args[0]); err != nil {
		return nil, err
	}
	if c.b, err = f.loadModel(ctx, env, args[1]); err != nil {
		return nil, err
	}
	tests, err := f.tests(env, args[2:])
	if err != nil {
		return nil, err
	}
	if c.past, err = seenBy(env, f.seen); err != nil {
		return nil, err
	}
	c.n = len(tests)
	c.Comparison, c.failed = model.Compare(ctx, c.a, c.b, tests, o, c.past.of)
	return c, nil
}

func runCompare(ctx context.Context, env *environment, f *compareFlags, args []string) error {
	c, err := f.compare(ctx, env, args)
	if err != nil {
		return err
	}
	if err := f.write(ctx, env.out(f.asJSON), c); err != nil {
		return err
	}
	if c.failed != nil {
		return c.failed
	}
	return f.conclude(env, c)
}

// tests are those of the arguments and of the preset, as far as they are wanted.
func (f *compareFlags) tests(env *environment, args []string) ([]*litmus.Test, error) {
	if err := model.ParseFeatures(f.without); err != nil {
		return nil, err
	}
	if len(args) == 0 && len(f.gen) == 0 {
		return nil, errors.New("name tests, or a preset with --gen")
	}
	var tests []*litmus.Test
	var err error
	if len(args) > 0 {
		if tests, err = loadTests(env, args); err != nil {
			return nil, err
		}
	}
	for _, preset := range f.gen {
		more, err := generated(env, preset)
		if err != nil {
			return nil, err
		}
		if tests, err = unique(env, append(tests, more...)); err != nil {
			return nil, err
		}
	}
	return model.Without(tests, f.without)
}

// write lists the differences.
func (f *compareFlags) write(ctx context.Context, w io.Writer, c *compared) error {
	if f.table {
		return c.WriteTable(w, f.limit)
	}
	for i := range c.Differences {
		if f.limit > 0 && i == f.limit {
			break
		}
		d := &c.Differences[i]
		if f.explain {
			if err := d.Explain(ctx, c.a, c.b, c.o); err != nil {
				return err
			}
		}
		write := d.WriteText
		if f.asJSON {
			write = d.WriteJSON
		}
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// conclude tells what came of it all. No common test is no agreement.
func (f *compareFlags) conclude(env *environment, c *compared) error {
	if n := len(c.Differences); f.asJSON {
		s := model.JSONSummary{Models: []string{c.A, c.B}, Tests: c.n, Different: &n, Outside: len(c.Outside)}
		if err := model.WriteSummaryJSON(env.stdout, s); err != nil {
			return err
		}
	}
	for _, out := range c.Outside[:min(1, len(c.Outside))] {
		env.tell("%s left out, the first: %v", plain.Count(len(c.Outside), "test"), out.Why)
	}
	if len(c.Outside) == c.n && c.n > 0 {
		return fmt.Errorf("%s and %s have no test in common", c.A, c.B)
	}
	env.tell("%s and %s differ on %d of %s", c.A, c.B, len(c.Differences), plain.Count(c.Tests, "test"))
	if _, _, _, seenA, seenB := c.Counts(); seenA+seenB > 0 {
		for _, s := range []struct {
			forbids string
			n       int
		}{{c.B, seenA}, {c.A, seenB}} {
			if s.n > 0 {
				env.tell("refuted by what was seen: %s, on %s", s.forbids, plain.Count(s.n, "test"))
			}
		}
	}
	if len(c.Differences) > 0 {
		return errFound
	}
	return nil
}

// devices is what devices showed, by hash of test.
type devices struct {
	byHash map[string]*model.Seen
	past   map[string]*model.Past
}

// of is what was shown of a test, nil if nothing is known.
func (d *devices) of(t *litmus.Test) *model.Seen { return d.byHash[t.Hash()] }

// seenBy reads what devices showed: valid results of optcheck run, added up by test.
func seenBy(env *environment, files []string) (*devices, error) {
	d := &devices{map[string]*model.Seen{}, map[string]*model.Past{}}
	for _, file := range files {
		set, err := readAll(env, []string{file}, 0, nil)
		if err != nil {
			return nil, err
		}
		for i := range set.Histograms {
			h := &set.Histograms[i]
			if !h.Validated || h.Instances == 0 {
				continue
			}
			if d.byHash[h.Hash] == nil {
				d.byHash[h.Hash] = &model.Seen{Terms: h.Terms}
				d.past[h.Hash] = &model.Past{Name: h.Test}
			}
			s, p := d.byHash[h.Hash], d.past[h.Hash]
			s.Instances += h.Instances
			p.Instances += h.Instances
			p.Weak += h.Weak
			for _, o := range h.Outcomes {
				s.Add(o.Values, o.Count)
			}
		}
	}
	if len(files) > 0 && len(d.byHash) == 0 {
		return nil, fmt.Errorf("%s: no validated result of a device", strings.Join(files, ", "))
	}
	return d, nil
}
