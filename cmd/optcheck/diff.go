package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/mapping"
	"optcheck/report"
	"optcheck/report/html"
)

func newDiffCmd(env *environment) *cobra.Command {
	var asJSON, asMarkdown, all bool
	var left, right, dir, table string
	var sel selection
	cmd := &cobra.Command{
		Use:   "diff A.jsonl [B.jsonl]",
		Short: "Say what a release changed, or what two runs do not agree on",
		Long: `Say what a release changed, the conclusion first: "0 weaker, 0 stronger, 15 equal; 3 new
findings". Below it stand findings that are new or gone, what got worse first; changes of
instructions, those that are weaker first, with both codes side by side; and what only one
of the two has. What has one cause stands there once, in whichever tests it shows.

Two runs of one toolchain each are compared across toolchains. With --left and
--right, toolchains are picked out of runs; with one file, both are picked out of it, and
need not be named if it has two.

The exit code is 1 if the right side has a finding that the left one lacks, or has in a
milder class, and --fail-on counts it: by default miscompiled or crashed, and not known.
Cells that only the right side has count, too.

Outputs of optcheck hunt --values are compared likewise, by the causes of wrong values.

With --mapping, also what operations become that no test has, each change of instructions
once with what it means: the table is what optcheck mapping --json wrote for both releases.

` + selectionHelp + ` A class, a rule or a text
is enough on one of the two sides.`,
		Example: `  optcheck diff yesterday.jsonl today.jsonl
  optcheck diff run.jsonl --left 11.2 --right 12.4
  optcheck diff run.jsonl --left 11.8 --right 12.4 --html changes/
  optcheck diff run.jsonl --left 11.8 --right 12.4 --markdown > changes.md
  optcheck diff wrong-11.8.jsonl wrong-12.4.jsonl
  optcheck mapping --toolchains 11.8,12.4 --json > mapping.jsonl
  optcheck diff run.jsonl --left 11.8 --right 12.4 --mapping mapping.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			fail, err := env.settings.fail()
			if err != nil {
				return err
			}
			x, err := compareFiles(env, args, left, right, &sel)
			if err != nil {
				return err
			}
			if table != "" {
				if err := addOperations(x, table); err != nil {
					return err
				}
			}
			switch {
			case dir != "":
				err = html.WriteComparison(env.ctx, dir, x)
			case asJSON:
				err = report.WriteComparisonJSON(env.stdout, x)
			case asMarkdown:
				err = report.WriteComparisonMarkdown(env.stdout, x, all)
			default:
				err = onScreen(env, env.stdout, func(w io.Writer) error { return report.WriteComparison(w, x, all) })
			}
			if err == nil && worse(x, fail, env.settings.newOnly) {
				err = errFound
			} else if err == nil && x.Both == 0 {
				err = errors.New("nothing was compared: no cell is in both")
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print Markdown")
	cmd.Flags().BoolVar(&all, "all", false, "show all findings and changes of instructions, however many there are")
	cmd.Flags().StringVar(&dir, "html", "", "write the comparison as a page for a browser into this folder")
	cmd.Flags().StringVar(&table, "mapping", "", "also what operations become, from this file (optcheck mapping --json)")
	cmd.Flags().StringVar(&left, "left", "", "toolchain of the left run")
	cmd.Flags().StringVar(&right, "right", "", "toolchain of the right run")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "html")
	failOnFlag(cmd)
	selectFlags(cmd, &sel)
	knownFlags(cmd)
	return cmd
}

// compareFiles compares two runs, or two toolchains of one.
func compareFiles(env *environment, args []string, left, right string, sel *selection) (*report.Comparison, error) {
	if x, err := compareHunts(args, left, right); x != nil || err != nil {
		return x, err
	}
	list, _, err := knownList(env)
	if err != nil {
		return nil, err
	}
	wanted := map[cellPlace]bool{}
	a, err := sel.side(env, args[0], list, wanted)
	if err != nil {
		return nil, err
	}
	b := a
	if len(args) == 2 {
		if b, err = sel.side(env, args[1], list, wanted); err != nil {
			return nil, err
		}
	} else if tcs := a.Config.Toolchains; left == "" && right == "" && len(tcs) == 2 {
		left, right = tcs[0].ID, tcs[1].ID
	} else if left == "" || right == "" {
		return nil, fmt.Errorf("with one run, --left and --right must name two of its toolchains (%s)", ids(a))
	}
	if left != "" {
		if a, err = a.Only(left); err != nil {
			return nil, fmt.Errorf("--left: %w", err)
		}
	}
	if right != "" {
		if b, err = b.Only(right); err != nil {
			return nil, fmt.Errorf("--right: %w", err)
		}
	}
	return report.Compare(a, b, func(c *event.Cell) bool { return wanted[placeOf(c)] }), nil
}

// addOperations adds what the releases of a comparison make of operations, from the table in
// a file.
func addOperations(x *report.Comparison, file string) error {
	if x.Left == "" {
		return errors.New("--mapping: name the releases with --left and --right")
	}
	cells, err := readTableFile(file, mapping.Read)
	if err != nil {
		return fmt.Errorf("--mapping: %w", err)
	}
	type place struct{ op, target, level string }
	right := map[place]string{}
	n := map[string]int{}
	for i := range cells {
		c := &cells[i]
		if n[c.Toolchain]++; c.Toolchain == x.Right {
			right[place{c.Op, c.Target, c.Level}] = madeOf(c)
		}
	}
	for _, tc := range []string{x.Left, x.Right} {
		if n[tc] == 0 {
			return fmt.Errorf("--mapping: %s has nothing of %s; optcheck mapping --toolchains %q,%q --json makes a table of both", file, tc,
				x.Left, x.Right)
		}
	}
	var list []report.Operation
	for i := range cells {
		c := &cells[i]
		if there, ok := right[place{c.Op, c.Target, c.Level}]; ok && c.Toolchain == x.Left {
			list = append(list, report.Operation{Name: c.Op, Target: c.Target, Level: c.Level, Left: madeOf(c), Right: there})
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("--mapping: %s has no target and level of both releases", file)
	}
	x.Operations, x.OperationsAsked = report.OperationChanges(list), true
	return nil
}

// madeOf is what an operation becomes.
func madeOf(c *mapping.Cell) string {
	switch c.Status {
	case mapping.Mapped:
		return c.Machine
	case mapping.Refused:
		return report.OperationRefused
	case mapping.Crashed:
		return report.OperationCrashed
	}
	return report.OperationUnknown
}

// worse reports whether what is new on the right side is as bad as --fail-on says.
func worse(x *report.Comparison, fail event.FailOn, newOnly bool) bool {
	return slices.ContainsFunc(x.Worse(fail == event.FailNew || newOnly), fail.Names)
}

func ids(r *event.Run) string {
	var s []string
	for _, t := range r.Config.Toolchains {
		s = append(s, t.ID)
	}
	return strings.Join(s, ", ")
}
