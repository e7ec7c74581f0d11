package main

import (
	"fmt"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
)

func newCampaignCancelCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "cancel FOLDER",
		Short:   "Take a campaign's tasks off the cluster; what is done is kept",
		Example: "  optcheck campaign cancel nightly.campaign",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDriver(args[0], func(c *campaigns.Campaign, d *campaigns.Driver) error {
				if err := env.trustsCampaign(c, true); err != nil {
					return err
				}
				if err := d.Cancel(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintf(env.stdout, "cancelled; go on with: optcheck campaign attach %s\n", shellQuote(c.Dir))
				return nil
			})
		},
	}
}
