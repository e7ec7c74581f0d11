package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/bug"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// reducible is a finding as reduce and bug know it: in a litmus test, in PTX, or in CUDA C++ at which its compiler crashes.
type reducible interface {
	// look finds it; the other methods are for what is found.
	look(context.Context, *environment) error
	address() string
	// class is that of its cell. The error wraps reduce.ErrNotThere if the finding is not there.
	class(context.Context, *environment) (string, error)
	// smallest makes it small, or takes it as it is (whole); the other methods are for what comes of that.
	smallest(ctx context.Context, env *environment, whole bool) error
	locate(context.Context, *environment) (*reduce.Where, error)
	// reduced is the smallest, and what a file of it has.
	reduced(*environment) (*reducedFinding, []byte, error)
	print(io.Writer, *reducedFinding)
	// bundle makes its bundle, and says what a reader of that should know.
	bundle(context.Context, *environment, *bugFlags, *reduce.Where) (b *bug.Bundle, note string, err error)
}

// reducedFinding is the JSON form of a reduction.
type reducedFinding struct {
	Finding   string         `json:"finding"`
	Address   string         `json:"address"` // of the smallest
	Signature any            `json:"signature"`
	Flags     []string       `json:"flags,omitempty"`
	Test      string         `json:"test,omitempty"`
	Program   string         `json:"program"` // PTX, OpenCL C, LLVM IR or CUDA C++
	Cell      any            `json:"cell,omitempty"`
	Crash     *event.Finding `json:"crash,omitempty"`
	Listing   *event.Listing `json:"listing,omitempty"`
	reduce.Effort
	Where *reduce.Where `json:"where,omitempty"`
}

// reducible reads a FINDING.
func (f *findingFlags) reducible(cmd *cobra.Command, env *environment, arg string) (reducible, error) {
	a, program, err := f.programAddress(cmd, env, arg)
	switch {
	case err != nil:
		return nil, err
	case !program:
		return &testFinding{f: f, arg: arg}, nil
	case isCUDA(a.Test) && f.atSource(env, a, cmp.Or(f.finding, a.Rule, f.rule)):
		return &sourceFinding{f: f, at: a}, nil
	}
	return &programFinding{f: f, at: a}, nil
}

// progress says what a round of a reduction did, with the size of what is left.
func (f *findingFlags) progress(env *environment, left func(reduce.Round) string) func(reduce.Round) {
	if f.quiet {
		return nil
	}
	return func(r reduce.Round) {
		env.tell("round %d: %s, %d %s the finding; now %s", r.Number, plain.Count(r.Candidates, "candidate"), r.Kept,
			plain.Form(r.Kept, "keeps", "keep"), left(r))
	}
}

// effort says what a reduction took.
func effort(e *reduce.Effort) string {
	return fmt.Sprintf("%s in %s, %s compiled",
		plain.Count(len(e.Steps), "step"), plain.Count(e.Rounds, "round"), plain.Count(e.Candidates, "candidate"))
}

// testFinding is a finding in a litmus test.
type testFinding struct {
	f    *findingFlags
	arg  string
	find *reduce.Finding
	all  []*toolchain.Toolchain
	res  *reduce.Result
}

func (t *testFinding) look(ctx context.Context, env *environment) (err error) {
	t.find, t.all, err = t.f.resolve(ctx, env, t.arg)
	return err
}

func (t *testFinding) address() string { return t.find.Address() }

func (t *testFinding) class(ctx context.Context, env *environment) (string, error) {
	c, _, err := t.find.Confirm(ctx, t.f.options(env))
	if err != nil {
		return "", err
	}
	return c.Class, nil
}

func (t *testFinding) smallest(ctx context.Context, env *environment, whole bool) (err error) {
	if whole {
		cell, listing, err := t.find.Confirm(ctx, t.f.options(env))
		if err == nil {
			t.res = &reduce.Result{Start: *t.find, Min: *t.find, Cell: *cell, Listing: listing}
		}
		return err
	}
	o := reduce.Options{Audit: t.f.options(env), Keep: t.f.keep}
	o.Progress = t.f.progress(env, func(r reduce.Round) string {
		return plain.Count(r.Threads, "thread") + ", " + plain.Count(r.Instrs, "instruction")
	})
	t.res, err = reduce.Run(ctx, t.find, o)
	return err
}

func (t *testFinding) locate(ctx context.Context, env *environment) (*reduce.Where, error) {
	return reduce.Locate(ctx, &t.res.Min, t.all, t.f.options(env))
}

func (t *testFinding) reduced(env *environment) (*reducedFinding, []byte, error) {
	min := &t.res.Min
	program, err := bug.Program(min, env.settings.kernels())
	if err != nil {
		return nil, nil, err
	}
	return &reducedFinding{Finding: t.res.Start.Address(), Address: min.Address(), Signature: min.Signature, Flags: min.Flags,
		Test: min.Test.String(), Program: program, Cell: &t.res.Cell, Listing: t.res.Listing, Effort: t.res.Effort}, min.Test.Append(nil), nil
}

func (t *testFinding) print(w io.Writer, x *reducedFinding) {
	min, cell := &t.res.Min, &t.res.Cell
	fmt.Fprintf(w, "%s, %s\n", plain.Line(x.Address), cell.Class)
	for _, d := range cell.Findings {
		if d.Rule == min.Signature.Rule {
			fmt.Fprintf(w, "%s: T%d %s\n", d.Rule, d.Thread, d.Detail)
		}
	}
	if len(min.Flags) > 0 {
		fmt.Fprintf(w, "ptxas flags: %s\n", strings.Join(min.Flags, " "))
	}
	fmt.Fprintf(w, "%s\n\n%s\n%s\n", effort(&x.Effort), min.Test, x.Program)
}

func (t *testFinding) bundle(
	ctx context.Context, env *environment, f *bugFlags, where *reduce.Where,
) (b *bug.Bundle, note string, err error) {
	in := &bug.Input{Result: t.res, Where: where, Toolchains: t.all, Audit: t.f.options(env), Form: f.form,
		Tool: version(), Host: host(), Stamp: f.stamp, Run: f.run}
	if !env.config.given("format") {
		in.Form = bug.FormOf(&t.res.Min)
	}
	if b, err = bug.Build(ctx, in); err == nil && t.res.Cell.Class == event.Optimised {
		note = t.res.Cell.Verdict.Model + " finds no new outcome: the report says that this is not a miscompilation"
	}
	return b, note, err
}
