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
			tcs, err := discover(cmd.Context(), of)
			if err != nil {
				return err
			}
			if asJSON {
				list := []toolchain.Description{}
				for _, t := range tcs {
					list = append(list, t.Describe())
				}
				return env.printJSON(list)
			}
			if len(tcs) == 0 {
				return errors.New("no toolchain found; try: optcheck toolchain install")
			}
			tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "ID\tNAME\tPTX\tTARGETS\tBUILD\tFOUND IN")
			for _, t := range tcs {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.MaxPTX, t.TargetRange(), t.Build, t.Source)
			}
			return tw.Flush()
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	cmd.Flags().String("vendor", "", "only compilers for this vendor's targets: nvidia or amd")
	sourceFlag(cmd)
	return cmd
}
