package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/bug"
	"optcheck/internal/plain"
	"optcheck/internal/whole"
	"optcheck/reduce"
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
	s, err := f.reducible(cmd, env, arg)
	if err != nil {
		return err
	}
	err = s.look(ctx, env)
	if f.check {
		var class string
		if err == nil {
			class, err = s.class(ctx, env)
		}
		if errors.Is(err, reduce.ErrNotThere) {
			env.tell("%v", err)
			return errFound
		}
		if err == nil {
			fmt.Fprintf(env.text, "%s: %s\n", plain.Line(s.address()), class)
		}
		return err
	}
	if err != nil {
		return err
	}
	if err := s.smallest(ctx, env, false); err != nil {
		return err
	}
	var where *reduce.Where
	if !f.noWhere {
		if where, err = s.locate(ctx, env); err != nil {
			return err
		}
	}
	out, text, err := s.reduced(env)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := whole.Write(f.out, text, 0o666); err != nil {
			return err
		}
	}
	if out.Where = where; f.asJSON {
		return env.printJSON(out)
	}
	s.print(env.text, out)
	if where == nil {
		return nil
	}
	fmt.Fprintf(env.text, "%s\n", bug.RangeText(where))
	return writePlaces(env.text, where)
}

// writePlaces prints per release where the finding is: targets and levels.
func writePlaces(w io.Writer, where *reduce.Where) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, g := range where.Groups() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", g.Toolchain, g.Level, g.What, strings.Join(g.Targets, " "))
	}
	return tw.Flush()
}
