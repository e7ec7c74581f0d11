package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/report"
)

func newDiffCmd(env *environment) *cobra.Command {
	var asJSON bool
	var left, right string
	var sel selection
	cmd := &cobra.Command{
		Use:   "diff A.jsonl [B.jsonl]",
		Short: "List the cells whose classification or machine code differ between two runs",
		Long: `List the cells whose classification, findings or machine code differ.

Two runs of one toolchain each are compared across toolchains: that is what a
release changed. With --left and --right, toolchains are picked out of runs; with
one file, both are picked out of it.

` + selectionHelp + ` A class, a rule or a text
is enough on one of the two sides.`,
		Example: `  optcheck diff yesterday.jsonl today.jsonl
  optcheck diff run.jsonl --left 11.2 --right 12.4`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			wanted := map[cellPlace]bool{}
			a, err := sel.side(env, args[0], wanted)
			if err != nil {
				return err
			}
			b := a
			if len(args) == 2 {
				if b, err = sel.side(env, args[1], wanted); err != nil {
					return err
				}
			} else if left == "" || right == "" {
				return fmt.Errorf("with one run, --left and --right must name two of its toolchains (%s)", ids(a))
			}
			if left != "" {
				if a, err = a.Only(left); err != nil {
					return fmt.Errorf("--left: %w", err)
				}
			}
			if right != "" {
				if b, err = b.Only(right); err != nil {
					return fmt.Errorf("--right: %w", err)
				}
			}
			n, ds := report.Compare(a, b, func(c *report.Cell) bool { return wanted[placeOf(c)] })
			if asJSON {
				return report.WriteDifferencesJSON(env.stdout, ds)
			}
			return report.WriteDifferences(env.stdout, n, ds)
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.Flags().StringVar(&left, "left", "", "toolchain of the left run")
	cmd.Flags().StringVar(&right, "right", "", "toolchain of the right run")
	selectFlags(cmd, &sel)
	return cmd
}

func ids(r *report.Run) string {
	var s []string
	for _, t := range r.Config.Toolchains {
		s = append(s, t.ID)
	}
	return strings.Join(s, ", ")
}
