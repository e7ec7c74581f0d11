package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	campaigns "optcheck/audit/campaign"
)

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
	folder := resolve(dir, s.Folder)
	if err := env.unconfigured(folder); err != nil {
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
	if old, err := campaigns.Open(folder); err == nil {
		if err := env.trustsCampaign(old, true); err != nil {
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
