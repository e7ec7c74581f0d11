package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/bug"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// reduceFlags are the flags of the reduce command.
type reduceFlags struct {
	findingFlags
	check, asJSON, noWhere bool
	out                    string
}

func newReduceCmd(env *environment) *cobra.Command {
	var f reduceFlags
	cmd := &cobra.Command{
		Use:   "reduce FINDING",
		Short: "Make the test of a finding as small as possible",
		Long: `Make the test of a finding, and the way to compile it, as small as possible while the
same rule is broken and the class stays the same. Threads, instructions, condition,
modifiers, types, values, placement, layout, level and flags become smaller. All
candidates of a round are compiled together. The result is 1-minimal: no single step
leads further; reducing it again changes nothing.

Weaker modifiers count as smaller, because a rule broken in a weaker program says
more; but a finding about volatile loads can become one about plain loads that
way. --keep modifiers prevents that.

Findings of clang for AMD (--vendor amd) are reduced in the same way, and those in
kernels written as LLVM IR (--source llvm-ir). There the finding stays with that of llc
and ptxas in which it arose.

Of real PTX (FILE.ptx), and of the PTX that a front end makes of CUDA C++ (FILE.cu), it
makes the smallest kernel with a finding of the same rule, about the same operations.
Other functions, stretches of statements, single ones, parameters and variables go;
values become constants or parameters; conditions always hold, or never. Each candidate
is compiled and compared anew, so the finding is true of the result. --for bounds the
time; --keep does not apply. Of CUDA C++ at which its compiler crashes (FILE.cu) lines
go, statements, what is in brackets, and words.

It also tells in which of the installed releases, targets and levels the finding
is, and the first bad and last good release.

` + findingHelp + `

With --check nothing is reduced: the exit code is 0 if the finding is there, 1 if
not. That is an interestingness test for cvise and other reducers.`,
		Example: `  optcheck reduce coRR@12.4/sm_80/O3/offsets
  optcheck reduce run.jsonl#17 --keep modifiers --output min.litmus
  optcheck reduce mp.litmus@11.8/sm_35/O3/pointers:fence-weakened --json
  optcheck reduce --check min.litmus@12.4/sm_80/O1/offsets:merged
  optcheck reduce kernel.ptx@11.8/sm_80/O3:missing --output min.ptx
  optcheck reduce kernel.cu@nvcc-12.4+11.8/sm_80/O3:17 --output min.ptx
  optcheck reduce kernel.ptx --toolchains 11.8 --targets sm_80 --finding 22 --for 5m`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runReduce(cmd, env, &f, args[0]) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.check, "check", false, "only tell whether the finding is there")
	jsonFlag(cmd, &f.asJSON, oneObject)
	fl.BoolVar(&f.noWhere, "no-where", false, "do not look for the finding in other releases, targets and levels")
	fl.StringVarP(&f.out, "output", "o", "", "also write the smallest test to this file")
	return cmd
}

func runReduce(cmd *cobra.Command, env *environment, f *reduceFlags, arg string) error {
	ctx := cmd.Context()
	if a, ok, err := f.programAddress(cmd, env, arg); err != nil || ok {
		if err != nil {
			return err
		}
		if isCUDA(a.Test) && f.atSource(env, a, cmp.Or(f.finding, a.Rule, f.rule)) {
			return reduceSource(ctx, env, f, a)
		}
		return reduceProgram(ctx, env, f, a)
	}
	find, all, err := f.resolve(ctx, env, arg)
	if err != nil {
		return err
	}
	if f.check {
		c, _, err := find.Confirm(ctx, f.options(env))
		if errors.Is(err, reduce.ErrNotThere) {
			env.tell("%v", err)
			return errFound
		}
		if err == nil {
			fmt.Fprintf(env.text, "%s: %s\n", plain.Line(find.Address()), c.Class)
		}
		return err
	}
	res, where, err := f.reduce(ctx, env, find, all)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := input.WriteFile(f.out, res.Min.Test.Append(nil)); err != nil {
			return err
		}
	}
	program, err := bug.Program(&res.Min, env.settings.kernels())
	if err != nil {
		return err
	}
	if f.asJSON {
		return env.printJSON(reduced{Finding: res.Start.Address(), Address: res.Min.Address(), Signature: res.Min.Signature,
			Flags: res.Min.Flags, Test: res.Min.Test.String(), Program: program, Cell: &res.Cell, Listing: res.Listing, Steps: res.Steps,
			Rounds: res.Rounds, Candidates: res.Candidates, Where: where})
	}
	return writeReduced(env.text, res, where, program)
}

// reduced is the JSON form of a result.
type reduced struct {
	Finding    string           `json:"finding"`
	Address    string           `json:"address"` // of the smallest
	Signature  reduce.Signature `json:"signature"`
	Flags      []string         `json:"flags,omitempty"`
	Test       string           `json:"test"`
	Program    string           `json:"program"` // PTX, OpenCL C or LLVM IR
	Cell       *event.Cell      `json:"cell"`
	Listing    *event.Listing   `json:"listing,omitempty"`
	Steps      []string         `json:"steps"`
	Rounds     int              `json:"rounds"`
	Candidates int              `json:"candidates"`
	Where      *reduce.Where    `json:"where,omitempty"`
}

// reduce reduces a finding and locates the result, with progress.
func (f *findingFlags) run(ctx context.Context, env *environment, find *reduce.Finding) (*reduce.Result, error) {
	o := reduce.Options{Audit: f.options(env), Keep: f.keep}
	if !f.quiet {
		o.Progress = func(r reduce.Round) {
			env.tell("round %d: %s, %d %s the finding; now %s, %s", r.Number, plain.Count(r.Candidates, "candidate"), r.Kept,
				plain.Form(r.Kept, "keeps", "keep"), plain.Count(r.Threads, "thread"), plain.Count(r.Instrs, "instruction"))
		}
	}
	return reduce.Run(ctx, find, o)
}

func (f *reduceFlags) reduce(ctx context.Context, env *environment, find *reduce.Finding,
	all []*toolchain.Toolchain) (*reduce.Result, *reduce.Where, error) {
	res, err := f.run(ctx, env, find)
	if err != nil || f.noWhere {
		return res, nil, err
	}
	where, err := reduce.Locate(ctx, &res.Min, all, f.options(env))
	return res, where, err
}

func writeReduced(w io.Writer, r *reduce.Result, where *reduce.Where, program string) error {
	fmt.Fprintf(w, "%s, %s\n", plain.Line(r.Min.Address()), r.Cell.Class)
	for _, d := range r.Cell.Findings {
		if d.Rule == r.Min.Signature.Rule {
			fmt.Fprintf(w, "%s: T%d %s\n", d.Rule, d.Thread, d.Detail)
		}
	}
	if len(r.Min.Flags) > 0 {
		fmt.Fprintf(w, "ptxas flags: %s\n", strings.Join(r.Min.Flags, " "))
	}
	fmt.Fprintf(w, "%s in %s, %s compiled\n\n%s\n%s\n", plain.Count(len(r.Steps), "step"), plain.Count(r.Rounds, "round"),
		plain.Count(r.Candidates, "candidate"), r.Min.Test, program)
	if where == nil {
		return nil
	}
	fmt.Fprintf(w, "%s\n", bug.RangeText(where))
	return writePlaces(w, where)
}

// writePlaces prints per release where the finding is: targets and levels.
func writePlaces(w io.Writer, where *reduce.Where) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, g := range where.Groups() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", g.Toolchain, g.Level, g.What, strings.Join(g.Targets, " "))
	}
	return tw.Flush()
}
