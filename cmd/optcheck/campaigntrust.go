package main

import (
	"fmt"
	"path/filepath"
	"slices"

	campaigns "optcheck/audit/campaign"
)

// namesPrograms reports whether a campaign file says what is run on this machine.
func namesPrograms(s *campaigns.Spec) bool {
	args := func(s *campaigns.Slurm) bool { return s != nil && len(s.Args) > 0 }
	return len(s.ToolchainDirs) > 0 || args(s.Slurm) || s.GPU != nil && args(s.GPU.Slurm)
}

// trustsFile checks that a campaign file names no programs to run, or stands in
// a folder that the user trusts.
func (env *environment) trustsFile(s *campaigns.Spec, file string) error {
	if !namesPrograms(s) || env.trusts(filepath.Dir(file)) {
		return nil
	}
	return fmt.Errorf("%s: toolchain-dirs and args say what is run on this machine: optcheck trust %s allows that, or give --toolchain-dirs",
		file, shellQuote(filepath.Dir(file)))
}

// trustsCampaign checks that a campaign's folder, which holds the program that
// tasks run, is of this user's making: it was begun by this user, or is trusted, or
// holds this very program and names no other.
func (env *environment) trustsCampaign(c *campaigns.Campaign) error {
	if env.trusts(c.Dir) || env.trusts(filepath.Dir(c.Dir)) {
		return nil
	}
	mine, err := buildID()
	if err != nil {
		return err
	}
	if !namesPrograms(c.Plan.Spec) {
		if its, err := hashFile(c.Program()); err == nil && its == mine {
			return nil
		}
	}
	return fmt.Errorf("%s holds programs to run, and this user did not begin that campaign: optcheck trust %s if it is yours",
		c.Dir, shellQuote(c.Dir))
}

// begun notes that a campaign is this user's. Without a place to keep that, the
// user is asked later.
func (env *environment) begun(c *campaigns.Campaign) {
	dir, err := realFolder(c.Dir)
	if err != nil {
		return
	}
	if all, err := env.trusted(); err == nil && !slices.Contains(all, dir) {
		_ = env.writeTrusted(append(all, dir))
	}
}
