package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/internal/plain"
)

// gcFlags are the flags of store gc.
type gcFlags struct {
	dry, json  bool
	keepBuilds int
	olderThan  string
}

func newStoreGCCmd(env *environment) *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc STORE",
		Short: "Remove what is superseded or not referred to",
		Long: `Remove cells that an older build of optcheck found, or found with an older build of a
compiler of the same name, and that a newer build has done again with otherwise the
same setting. What no newer build has done stays. A build is the newer one if the
store got a run of it later: merge old stores and streams first, then new ones.

With --keep-builds or --older-than these alone decide, and nothing is compared. All
cells of builds of optcheck go that are not among the newest N, or that no audit has
used for so long. With both, only those go of which both are true. The build of the
latest run never goes.

Then runs, results, tests, listings and artefacts go that nothing refers to. What a
device did stays, with its machine code; so does whatever has a name (optcheck store
artefact). All is removed at once, or nothing if it is interrupted; the space is given
back. Audits that write the store meanwhile wait for it and are not harmed.`,
		Example: `  optcheck store gc all.store --dry-run
  optcheck store gc all.store --keep-builds 2
  optcheck store gc all.store --older-than 90d --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStoreGC(cmd.Context(), env, args[0], &f, cmd.Flags().Changed("keep-builds"))
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.dry, "dry-run", false, "only say what would be removed")
	fl.IntVar(&f.keepBuilds, "keep-builds", 0, "remove all cells of builds of optcheck but the newest `N`")
	fl.StringVar(&f.olderThan, "older-than", "", "remove all cells of builds of optcheck that no audit has used for this `TIME` (90d, 36h)")
	jsonFlag(cmd, &f.json, oneObject)
	return cmd
}

// policy reads what the flags say.
func (f *gcFlags) policy(keep bool) (p store.Policy, err error) {
	p = store.Policy{KeepBuilds: f.keepBuilds, Dry: f.dry}
	if keep && f.keepBuilds < 1 {
		return p, fmt.Errorf("--keep-builds %d: at least 1", f.keepBuilds)
	}
	if f.olderThan == "" {
		return p, nil
	}
	if days, ok := strings.CutSuffix(f.olderThan, "d"); ok {
		n, e := strconv.Atoi(days)
		if err = e; n > 100_000 {
			n = 0
		}
		p.OlderThan = time.Duration(n) * 24 * time.Hour
	} else {
		p.OlderThan, err = time.ParseDuration(f.olderThan)
	}
	if err != nil || p.OlderThan <= 0 {
		return p, fmt.Errorf("--older-than %q: must be a time such as 90d or 36h", f.olderThan)
	}
	return p, nil
}

func runStoreGC(ctx context.Context, env *environment, path string, f *gcFlags, keep bool) (err error) {
	p, err := f.policy(keep)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	s, err := storeAt(ctx, path, store.Write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	bar := newProgress(env.stderr, false)
	p.Progress = func(what string, done, total int64) {
		if bar.what = "builds looked at"; what == store.Compacting {
			bar.what, done, total = "kB of what stays written anew", done/1e3, total/1e3
		}
		bar.update(int(done), int(total))
	}
	g, err := s.GC(ctx, p)
	bar.done()
	if err != nil {
		return err
	}
	if f.json {
		return env.printJSON(g)
	}
	writeGarbage(env, g)
	return nil
}

func writeGarbage(env *environment, g *store.Garbage) {
	did := "removed"
	if g.Dry {
		did = "would remove"
	}
	older := int64(0)
	for i, b := range g.Builds {
		what := fmt.Sprintf("optcheck %s", dash(b.Tool))
		if b.Build != "" {
			what += fmt.Sprintf(", build %.12s", b.Build)
		}
		if b.Compiler != "" {
			what += ", with " + b.Compiler
		}
		fmt.Fprintf(env.text, "%s (last used %s): %s %s and about %s, %s %s\n", what, time.Unix(b.LastUsed, 0).UTC().Format(time.DateOnly), did,
			plain.Count(b.Removed, "cell"), size(b.Bytes), plain.Count(b.Kept, "cell"), plain.Form(b.Kept, "stays", "stay"))
		if i > 0 {
			older += b.Kept
		}
	}
	fmt.Fprintf(env.text, "%s %s\n", did, strings.Join([]string{plain.Count(g.Cells, "cell"), plain.Count(g.Results, "result"),
		plain.Count(g.Tests, "test"),
		plain.Count(g.Listings, "listing"), plain.Count(g.Artefacts, "artefact"), plain.Count(g.Runs, "run")}, ", "))
	if g.Dry {
		fmt.Fprintf(env.text, "%s, then about %s\n", size(g.Before), size(g.After))
	} else {
		fmt.Fprintf(env.text, "%s, before %s\n", size(g.After), size(g.Before))
	}
	if older > 0 {
		fmt.Fprintf(env.text, "%s of older builds stay (--keep-builds and --older-than remove more)\n", plain.Count(older, "cell"))
	}
}

// size writes a number of bytes.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return plain.Count(n, "byte")
}
