package main

import (
	"fmt"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
)

func newCampaignInitCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "init",
		Short:   "Print an example of a campaign file, with comments",
		Example: "  optcheck campaign init > campaign.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(env.stdout, campaigns.Example)
			return err
		},
	}
}
