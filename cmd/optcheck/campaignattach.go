package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/plain"
)

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
			if err := env.trustsCampaign(c, true); err != nil {
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
	return renderRun(&sub, func() (*event.Set, error) { return readCampaign(ctx, c) }, f.format, f.reports, f.text, f.html,
		func(g gate, run *event.Run) error {
			if err := writeBaseline(env, f.writeKnown, run.All()); err != nil {
				return err
			}
			return g.done(run)
		})
}

// readCampaign reads what the store of a complete campaign has of its setting:
// campaigns with other settings may use the same store.
func readCampaign(ctx context.Context, c *campaigns.Campaign) (*event.Set, error) {
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
	set := event.NewSet()
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
