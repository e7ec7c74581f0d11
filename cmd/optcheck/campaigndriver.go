package main

import (
	"fmt"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
)

// withDriver opens the campaign in a folder and passes it to f with a driver.
func withDriver(dir string, f func(c *campaigns.Campaign, d *campaigns.Driver) error) error {
	c, err := campaigns.Open(dir)
	if err != nil {
		return err
	}
	d, release, err := campaigns.NewDriver(c)
	if err != nil {
		return err
	}
	defer release()
	return f(c, d)
}

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

func newCampaignCancelCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "cancel FOLDER",
		Short:   "Take a campaign's tasks off the cluster; what is done is kept",
		Example: "  optcheck campaign cancel nightly.campaign",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDriver(args[0], func(c *campaigns.Campaign, d *campaigns.Driver) error {
				if err := d.Cancel(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintf(env.stdout, "cancelled; go on with: optcheck campaign attach %s\n", shellQuote(c.Dir))
				return nil
			})
		},
	}
}
