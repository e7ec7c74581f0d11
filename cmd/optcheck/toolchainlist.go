package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/toolchain"
)

func newToolchainListCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the compilers found, with build tags and targets",
		Example: `  optcheck toolchain list
  optcheck toolchain list --vendor amd
  optcheck toolchain list --source llvm-ir --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			of := env
			if !env.config.given("vendor") && !env.config.given("source") {
				of = env.forVendor(everyVendor)
			}
			tcs, wrong, err := found(cmd.Context(), of)
			if err != nil {
				return err
			}
			if asJSON {
				list := []toolchain.Description{}
				for _, t := range tcs {
					list = append(list, t.Describe())
				}
				err = env.printJSON(list)
			} else if len(tcs) > 0 {
				err = listToolchains(env, tcs)
			} else if len(wrong) == 0 {
				return errors.New("no toolchain found; try: optcheck toolchain install, or toolchain add PATH")
			}
			for _, w := range wrong {
				err = errors.Join(err, w)
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	cmd.Flags().String("vendor", "", "only compilers for this vendor's targets: nvidia or amd")
	sourceFlag(cmd)
	return cmd
}

// listToolchains prints a table of toolchains.
func listToolchains(env *environment, tcs []*toolchain.Toolchain) error {
	tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tNAME\tPTX\tTARGETS\tBUILD\tFOUND IN")
	for _, t := range tcs {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.MaxPTX, t.TargetRange(), t.Build, t.Source)
	}
	return tw.Flush()
}
