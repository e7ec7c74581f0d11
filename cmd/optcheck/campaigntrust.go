package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	campaigns "optcheck/audit/campaign"
	"optcheck/internal/input"
	"optcheck/internal/toolflags"
	"optcheck/internal/whole"
	"optcheck/pipeline"
)

// longest is how long something may take at most that nobody whom the user trusts has asked for.
const longest = time.Minute

// vet checks that what a campaign says, whoever wrote it, chooses no program, no more of compilers'
// arguments than any file may, and no more of this machine than it has.
func vet(s *campaigns.Spec) error {
	args := func(s *campaigns.Slurm) bool { return s != nil && len(s.Args) > 0 }
	if len(s.ToolchainDirs) > 0 || args(s.Slurm) || s.GPU != nil && args(s.GPU.Slurm) {
		return errors.New("toolchain-dirs and args say what is run on this machine")
	}
	if s.Timeout.Value() > longest {
		return fmt.Errorf("timeout: %s is more than %v", s.Timeout, longest)
	}
	if n := runtime.NumCPU(); s.Engine == campaigns.EngineLocal && (s.Jobs > n || s.Parallel > n) {
		return fmt.Errorf("jobs and parallel: this machine has %d processors", n)
	}
	for _, v := range s.Vendors {
		source := sourceFor(s, v)
		for _, r := range pipeline.Roads {
			if r.Vendor != v || source != "" && r.Source != source {
				continue
			}
			if err := toolflags.Check(r.FlagsOf, s.Flags); err != nil {
				return fmt.Errorf("ptxas-flags: %w", err)
			}
			break // the first is the vendor's usual one
		}
	}
	return nil
}

// below checks that a path, after all links, lies below a folder, so that what is written there is
// of no concern to others. It need not exist.
func below(dir, path string) error {
	rel, err := filepath.Rel(resolve(dir, "."), resolve(dir, path))
	if err != nil || !filepath.IsLocal(rel) {
		return errors.New("lies outside of its folder")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Stat(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("leads out of its folder")
	}
	return nil
}

// trustsFile checks that a campaign file says nothing that only those may whom the user trusts,
// or stands in a folder that the user trusts.
func (env *environment) trustsFile(s *campaigns.Spec, file string) error {
	dir := filepath.Dir(file)
	if env.trusts(dir) {
		return nil
	}
	err := vet(s)
	for _, out := range [][2]string{{"folder", s.Folder}, {"store", s.Store}} {
		if failed := below(dir, out[1]); err == nil && failed != nil {
			err = fmt.Errorf("%s: %s %w", out[0], out[1], failed)
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: optcheck trust %s allows that%s", file, err, shellQuote(dir),
		map[bool]string{true: ", or give --toolchain-dirs"}[len(s.ToolchainDirs) > 0])
}

// unconfigured checks that a folder holds no configuration, which commands started there would
// take, or that the user trusts it.
func (env *environment) unconfigured(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, configName))
	if errors.Is(err, fs.ErrNotExist) || env.trusts(dir) {
		return nil
	}
	return fmt.Errorf("%s holds a configuration (%s): a campaign works there only after optcheck trust %s", dir, configName, shellQuote(dir))
}

// trustsCampaign checks that a campaign's folder, which holds the program that tasks run, is of
// this user's making: it is trusted; or this user has begun just that campaign; or it holds this
// very program and says nothing that needs trust. One that merges writes the store of the plan.
func (env *environment) trustsCampaign(c *campaigns.Campaign, merges bool) error {
	if err := env.unconfigured(c.Dir); err != nil {
		return err
	}
	if env.trusts(c.Dir) || env.trusts(filepath.Dir(c.Dir)) {
		return nil
	}
	mine, err := buildID()
	if err != nil {
		return err
	}
	its, err := hashFile(c.Program())
	switch {
	case err == nil && its == c.Plan.Build && env.hasBegun(c):
		return nil
	case err == nil && its == mine && vet(c.Plan.Spec) == nil && (!merges || below(filepath.Dir(c.Dir), c.Plan.Store) == nil):
		return nil
	}
	return fmt.Errorf("%s holds programs to run, and this user did not begin that campaign: optcheck trust %s if it is yours",
		c.Dir, shellQuote(c.Dir))
}

// maxBegun is how many campaigns are remembered.
const maxBegun = 1000

// begunList lists the marks of the campaigns that this user has begun. It grants no trust: a mark
// says that this user wanted exactly that plan in that folder.
func (env *environment) begunList() (file string, marks []string) {
	dir := userDir(env.getenv)
	if dir == "" {
		return "", nil
	}
	file = filepath.Join(dir, "begun")
	text, err := input.ReadFile(file, maxConfig)
	if err != nil {
		return file, nil
	}
	return file, strings.Fields(string(text))
}

// mark identifies a campaign with all that its plan says.
func mark(c *campaigns.Campaign) string {
	dir, err := realFolder(c.Dir)
	plan, err2 := json.Marshal(c.Plan)
	if err != nil || err2 != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(dir+"\n"), plan...))
	return hex.EncodeToString(sum[:])
}

func (env *environment) hasBegun(c *campaigns.Campaign) bool {
	_, marks := env.begunList()
	return slices.Contains(marks, mark(c))
}

// begun notes that this user has begun a campaign. Without a place to keep that, the user is
// asked later.
func (env *environment) begun(c *campaigns.Campaign) {
	file, marks := env.begunList()
	m := mark(c)
	if file == "" || m == "" || slices.Contains(marks, m) || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	marks = append(marks, m)
	_ = whole.Write(file, []byte(strings.Join(marks[max(0, len(marks)-maxBegun):], "\n")+"\n"), 0o600)
}
