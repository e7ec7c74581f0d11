package main

import (
	"time"

	"github.com/spf13/cobra"

	"optcheck/report"
)

// followFlags say how a campaign is followed and what is printed at its end.
type followFlags struct {
	poll    time.Duration
	quiet   bool
	detach  bool
	format  string
	html    string
	reports []string
	text    report.TextOptions
	// writeKnown is the file of a new list of known findings; "" for none.
	writeKnown string
}

func (f *followFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	pollFlag(cmd, &f.poll)
	quietFlag(cmd, &f.quiet)
	fl.BoolVar(&f.detach, "detach", false, "submit and return at once (engine slurm)")
	failOnFlag(cmd)
	allowUnknownFlag(cmd)
	formatFlags(cmd, &f.format, &f.reports, auditFormats)
	htmlFlag(cmd, &f.html)
	textFlags(cmd, &f.text)
	knownFlags(cmd)
}

func pollFlag(cmd *cobra.Command, poll *time.Duration) {
	cmd.Flags().DurationVar(poll, "poll", 0, "how often to look (default: 5s under Slurm, 200ms here)")
}

func newCampaignCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Work on a large matrix in parts: on this machine, or on a cluster",
		Long: `A campaign is a file that says which tests go through which compilers, on which device
they are run, and where the results go. It also says who does the work: this machine, or
a cluster under Slurm (job arrays, then a job that merges the parts' stores).

Everything about a campaign under way is in its folder: the plan, a copy of this
program, the tests, the parts' stores and logs. On a cluster all machines must see
that folder. Following it can be ended at any time and taken up again; what
failed is submitted again, as often as the file allows.`,
		Example: `  optcheck campaign init > campaign.yaml
  optcheck campaign run campaign.yaml
  optcheck campaign status nightly.campaign
  optcheck campaign attach nightly.campaign
  optcheck campaign cancel nightly.campaign`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCampaignInitCmd(env), newCampaignRunCmd(env), newCampaignStatusCmd(env), newCampaignAttachCmd(env),
		newCampaignCancelCmd(env),
		newCampaignTaskCmd(env))
	return cmd
}
