package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
	"optcheck/audit/store"
	"optcheck/internal/plain"
	"optcheck/report"
)

// followFlags say how a campaign is followed and what is printed at its end.
type followFlags struct {
	poll    time.Duration
	quiet   bool
	detach  bool
	format  string
	reports []string
	text    report.TextOptions
}

func (f *followFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	pollFlag(cmd, &f.poll)
	quietFlag(cmd, &f.quiet)
	fl.BoolVar(&f.detach, "detach", false, "submit and return at once (engine slurm)")
	failOnFlag(cmd)
	formatFlags(cmd, &f.format, &f.reports, auditFormats)
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
		Long: `A campaign is a file that says which tests go through which compilers, on which
device they are run, where the results go, and who does the work: this machine, or
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
	cmd.AddCommand(newCampaignInitCmd(env), newCampaignRunCmd(env), newCampaignStatusCmd(env), newCampaignAttachCmd(env), newCampaignCancelCmd(env),
		newCampaignTaskCmd(env))
	return cmd
}

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

func newCampaignRunCmd(env *environment) *cobra.Command {
	var f followFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Begin the campaign that a file describes, or go on with it, and follow it",
		Long: `Begin the campaign that a file describes, or go on with it, follow it to its end,
and print the report of its store.

If the campaign's folder holds a campaign that is complete, and the file, the
tests or the compilers have changed since, the folder is taken over: what its
parts know already is not done again.

Under Slurm Ctrl-C only ends the following; --detach does not even begin it.`,
		Example: "  optcheck campaign run campaign.yaml\n  optcheck campaign run campaign.yaml --detach\n  optcheck campaign run campaign.yaml --report sarif=optcheck.sarif",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := expect(args[0], wantCampaign); err != nil {
				return err
			}
			s, err := campaigns.ReadFile(args[0])
			if err != nil {
				return err
			}
			if err := env.trustsFile(s, args[0]); err != nil {
				return err
			}
			f.text.NewOnly = env.settings.newOnly
			return beginCampaign(cmd.Context(), env, s, filepath.Dir(args[0]), &f)
		},
	}
	f.add(cmd)
	return cmd
}

// beginCampaign makes the folder of a campaign, whose paths are relative to
// dir, and follows it.
func beginCampaign(ctx context.Context, env *environment, s *campaigns.Spec, dir string, f *followFlags) error {
	// Before work is begun whose report cannot be written.
	if _, err := env.settings.fail(); err != nil {
		return err
	}
	if err := checkFormat(f.format, auditFormats); err != nil {
		return err
	}
	p, tests, err := planCampaign(ctx, env, s, dir)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	folder := resolve(dir, s.Folder)
	if old, err := campaigns.Open(folder); err == nil {
		if err := env.trustsCampaign(old); err != nil {
			return err
		}
	}
	c, err := campaigns.Create(folder, exe, p, tests)
	if err != nil {
		return err
	}
	env.begun(c)
	return followCampaign(ctx, env, c, f)
}

func newCampaignAttachCmd(env *environment) *cobra.Command {
	var f followFlags
	cmd := &cobra.Command{
		Use:     "attach FOLDER",
		Short:   "Follow a campaign again, and submit what is missing",
		Long:    "Follow a campaign again that was left or cancelled. Tasks that were given up are\ntried again.",
		Example: "  optcheck campaign attach nightly.campaign",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := campaigns.Open(args[0])
			if err != nil {
				return err
			}
			if err := env.trustsCampaign(c); err != nil {
				return err
			}
			f.text.NewOnly = env.settings.newOnly
			return followCampaign(cmd.Context(), env, c, &f)
		},
	}
	f.add(cmd)
	return cmd
}

// errDetached makes the exit code that of an interrupted program; what there is
// to say has been said.
var errDetached = errors.New("detached")

// followCampaign follows a campaign to its end and prints its report.
func followCampaign(ctx context.Context, env *environment, c *campaigns.Campaign, f *followFlags) error {
	if _, err := os.Stat(c.Plan.Store); errors.Is(err, fs.ErrNotExist) {
		if err := c.Forget(campaigns.Task{Stage: campaigns.Merge, Index: 1}); err != nil {
			return err
		}
	}
	d, release, err := campaigns.NewDriver(c)
	if err != nil {
		return err
	}
	defer release()
	if err := d.Resume(); err != nil {
		return err
	}
	if f.detach {
		if !d.Detaches() {
			return errors.New("--detach is for the engine slurm: tasks on this machine end with this program")
		}
		o, err := d.Advance(ctx, true)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.stdout, "%s\n", describe(o))
		fmt.Fprintf(env.stdout, "follow it with: optcheck campaign attach %s\n", shellQuote(c.Dir))
		return nil
	}
	bar := newFollowBar(env.bar, f.quiet)
	o, err := d.Follow(ctx, pollEvery(d, f.poll), bar.show, func(err error) {
		bar.clear()
		env.tell("the engine does not answer; trying on: %v", err)
	})
	bar.clear()
	if ctx.Err() != nil {
		what := "interrupted; what was finished is kept. Go on with"
		if d.Detaches() {
			what = "detached; the cluster goes on. Follow it again with"
		}
		env.tell("%s: optcheck campaign attach %s", what, shellQuote(c.Dir))
		return errDetached
	}
	if err != nil {
		return err
	}
	if !o.Complete() {
		return incomplete(env, c, o)
	}
	sub := *env
	sub.settings.known = slices.Concat(env.settings.known, c.Plan.Known)
	return renderRun(&sub, func() (*report.Set, error) { return readCampaign(ctx, c) }, f.format, f.reports, f.text)
}

// readCampaign reads what the store of a complete campaign has of its setting:
// campaigns with other settings may use the same store.
func readCampaign(ctx context.Context, c *campaigns.Campaign) (*report.Set, error) {
	p := c.Plan
	s, err := storeAt(ctx, p.Store, store.Read)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	part := &p.Parts[0] // all parts have one setting
	setting := int64(0)
	for _, x := range info.Settings {
		if x.Build == p.Build && x.Source == part.Source && x.Model == part.Model && slices.Equal(x.Flags, p.Spec.Flags) {
			setting = x.ID
		}
	}
	if setting == 0 {
		return nil, fmt.Errorf("%s holds nothing of this campaign; remove %s to do it again", p.Store, c.Dir)
	}
	set := report.NewSet()
	err = storeEvents(ctx, p.Store, setting, set)
	return set, err
}

func pollEvery(d *campaigns.Driver, asked time.Duration) time.Duration {
	switch {
	case asked > 0:
		return asked
	case d.Detaches():
		return 5 * time.Second
	}
	return 200 * time.Millisecond
}

// incomplete says why a campaign has come to a stop before its end.
func incomplete(env *environment, c *campaigns.Campaign, o *campaigns.Overview) error {
	env.tell("%s", describe(o))
	writeLost(env.stderr, c, o)
	if o.Cancelled {
		return fmt.Errorf("cancelled; go on with: optcheck campaign attach %s", shellQuote(c.Dir))
	}
	return fmt.Errorf("%s failed too often, nothing was merged; try again with: optcheck campaign attach %s",
		plain.Count(len(o.Lost), "task"), shellQuote(c.Dir))
}
