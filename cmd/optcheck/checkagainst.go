package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/report"
	"optcheck/spec"
)

// controlCodesHelp is what --control-codes does.
const controlCodesHelp = "listings of NVIDIA's machine code show control codes: scoreboards waited for, read and written, yield, stall"

// againstFlags are the flags of check for kernels without a specification.
type againstFlags struct {
	test   string
	thread int
	places []string
	codes  bool
}

func (f *againstFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.test, "against", "",
		"check against this test (a file or a name): kernels that carry its specification as an audit does, with a verdict, others by kinds and addresses of accesses")
	cmd.Flags().BoolVar(&f.codes, "control-codes", false, controlCodesHelp)
	cmd.Flags().IntVar(&f.thread, "thread", -1, "the thread of the test that the kernels are; -1: the one that their names end in (_T1)")
	cmd.Flags().StringArrayVar(&f.places, "place", nil, "the address of a location, as messages spell it: x=param+0x8")
}

// against is a test that kernels are checked against.
type against struct {
	test   *litmus.Test
	thread int
	places map[int]string
	codes  bool
}

// load reads the test, nil if none is asked for.
func (f *againstFlags) load(env *environment) (*against, error) {
	if f.test == "" {
		if f.thread >= 0 || len(f.places) > 0 || f.codes {
			return nil, fmt.Errorf("--thread, --place and --control-codes need --against")
		}
		return nil, nil
	}
	tests, err := loadTests(env, []string{f.test})
	if err != nil {
		return nil, err
	}
	if len(tests) != 1 {
		return nil, fmt.Errorf("--against %s: %s, not one", f.test, plain.Count(len(tests), "test"))
	}
	a := &against{test: tests[0], thread: f.thread, places: map[int]string{}, codes: f.codes}
	if f.thread >= len(a.test.Threads) {
		return nil, fmt.Errorf("--thread %d: %s has %s", f.thread, a.test.Name, plain.Count(len(a.test.Threads), "thread"))
	}
	for _, p := range f.places {
		name, addr, ok := strings.Cut(p, "=")
		loc := -1
		for i := range a.test.Locations {
			if a.test.Locations[i].Name == name {
				loc = i
			}
		}
		if !ok || addr == "" || loc < 0 {
			return nil, fmt.Errorf("--place %s: want LOCATION=ADDRESS with a location of %s", p, a.test.Name)
		}
		a.places[loc] = addr
	}
	return a, nil
}

// threadOf is the thread that a kernel stands for, -1 if nothing says.
func (a *against) threadOf(fn *isa.Func) int {
	if a.thread >= 0 {
		return a.thread
	}
	for i := range a.test.Threads {
		if strings.HasSuffix(fn.Name, fmt.Sprintf("_T%d", i)) {
			return i
		}
	}
	return -1
}

// marked decides about kernels that carry a specification: those of the test, if all
// its threads are there. done tells that there were some.
func (a *against) marked(ctx context.Context, env *environment, run *event.Run, file string, code *pipeline.Code, asJSON bool) (done bool,
	err error) {
	units := map[string][]audit.Thread{}
	var names []string
	for _, fn := range code.Program.Kernels() {
		c := optcheck.NewChecker()
		c.Consts, c.Literals = code.Consts, code.Literals[fn.Name]
		r, err := c.Check(fn)
		if errors.Is(err, spec.ErrNoSpec) {
			continue
		}
		if r.Spec == nil {
			return true, printResult(env, run, file, code, fn, r.Result, asJSON)
		}
		unit := strings.TrimSuffix(fn.Name, fmt.Sprintf("_T%d", r.Spec.Thread))
		if units[unit] == nil {
			names = append(names, unit)
			units[unit] = make([]audit.Thread, len(a.test.Threads))
		}
		if r.Spec.Thread < len(units[unit]) {
			units[unit][r.Spec.Thread] = audit.Thread{Func: fn, Consts: code.Consts, Literals: c.Literals, Spec: r.Spec}
		}
	}
	for _, name := range names {
		for i, th := range units[name] {
			if th.Func == nil {
				return true, fmt.Errorf("%s: %s has no kernel of thread %d of %s", file, name, i, a.test.Name)
			}
		}
		cell, listing, err := audit.Decide(ctx, a.test, units[name], a.codes)
		if err != nil {
			return true, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		run.Cells = append(run.Cells, *cell)
		if err := printCell(env, cell, listing, asJSON); err != nil {
			return true, err
		}
	}
	return len(names) > 0, nil
}

// printCell prints what was decided about a test.
func printCell(env *environment, c *event.Cell, l *event.Listing, asJSON bool) error {
	if asJSON {
		return env.lines().Encode(c)
	}
	fmt.Fprintf(env.text, "%s %s, layout %s: %s", plain.Line(c.Test), c.Target, c.Layout, c.Class)
	if c.Reason != "" {
		fmt.Fprintf(env.text, " (%s)", c.Reason)
	}
	fmt.Fprintln(env.text)
	for _, f := range c.Findings {
		fmt.Fprintf(env.text, "  %s: T%d %s\n", f.Rule, f.Thread, f.Detail)
	}
	for _, f := range c.Notes {
		fmt.Fprintf(env.text, "  note, %s: T%d %s\n", f.Rule, f.Thread, f.Detail)
	}
	if c.Verdict != nil && c.Class != event.Preserved {
		report.WriteVerdict(env.text, c.Verdict)
	}
	if l != nil {
		return report.WriteListing(env.text, l, c.Findings)
	}
	return nil
}

// check checks the kernels of a file and adds what they are to a run.
func (a *against) check(ctx context.Context, env *environment, run *event.Run, file string, asJSON bool) error {
	code, err := loadCode(ctx, env, file)
	if err != nil {
		return err
	}
	if done, err := a.marked(ctx, env, run, file, code, asJSON); done || err != nil {
		return err
	}
	c := optcheck.NewChecker()
	c.Consts = code.Consts
	for i := range a.test.Locations {
		c.Locations = append(c.Locations, a.test.Locations[i].Name)
	}
	checked := 0
	for _, fn := range code.Program.Kernels() {
		th := a.threadOf(fn)
		if th < 0 {
			continue
		}
		want, err := spec.FromTest(a.test, th, spec.Pointers)
		if err != nil {
			return fmt.Errorf("%s thread %d: %w", a.test.Name, th, err)
		}
		checked++
		c.Literals = code.Literals[fn.Name]
		r := c.CheckUnmarked(fn, want, a.places)
		if err := printResult(env, run, file, code, fn, r, asJSON); err != nil {
			return err
		}
	}
	if checked == 0 {
		return fmt.Errorf("%s: no kernel's name says which thread of %s it is: use --thread", file, a.test.Name)
	}
	if n := len(code.Program.Problems); n > 0 {
		p := code.Program.Problems[0]
		return fmt.Errorf("%s:%d: not understood: %s (%s)", file, p.Line, p.Text, plain.Count(n, "such line"))
	}
	return nil
}
