package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/ptxgen/cycle"
)

func newGenKindsCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "kinds",
		Short: "List the opportunities for a compiler with which tests are composed",
		Long: `List the opportunities for a compiler with which tests are composed, as their names
spell them: BASE@KIND[.ANNOTATION]-THREAD.EVENT[.SLOT].`,
		Example: `  optcheck gen kinds
  optcheck tests --print mp@reload-1.1.0`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, k := range cycle.OpportunityKinds() {
				fmt.Fprintf(env.stdout, "%s\t%s\n", k, cycle.AboutOpportunity(k))
			}
			return nil
		},
	}
}
