package main

import (
	"fmt"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
)

func newCampaignStatusCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status FOLDER",
		Short:   "Say where a campaign is, and change nothing",
		Example: "  optcheck campaign status nightly.campaign\n  optcheck campaign status nightly.campaign --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDriver(args[0], func(c *campaigns.Campaign, d *campaigns.Driver) error {
				o, err := d.Advance(cmd.Context(), false)
				if err != nil {
					return err
				}
				if asJSON {
					return env.printJSON(statusOf(c, o))
				}
				fmt.Fprintf(env.stdout, "%s: %s, results in %s\n%s\n", c.Plan.Spec.Name, c.Plan.Spec.Engine, c.Plan.Store, describe(o))
				writeLost(env.stdout, c, o)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}
