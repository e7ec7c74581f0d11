package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/internal/plain"
)

func newStoreImportCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "import STORE FILE…",
		Short:   "Take event streams into a store",
		Example: "  optcheck store import all.store run.jsonl\n  ssh box optcheck audit --format json | optcheck store import all.store -",
		Args:    cobra.MinimumNArgs(2),
		RunE:    func(cmd *cobra.Command, args []string) error { return merge(cmd.Context(), env, args[0], args[1:]) },
	}
}

// merge takes stores and event streams into a store.
func merge(ctx context.Context, env *environment, out string, in []string) (err error) {
	for _, f := range in { // before anything is made
		if f == "-" {
			continue
		}
		if _, err := os.Stat(f); err != nil {
			return err
		}
		if !store.Is(f) {
			if err := expect(f, wantStream); err != nil {
				return err
			}
		}
	}
	s, err := storeAt(ctx, out, store.Create)
	if err != nil {
		return err
	}
	defer func() { err = s.End(err) }()
	for _, f := range in {
		n, err := mergeOne(ctx, env, s, f)
		if err != nil {
			return err
		}
		env.tell("%s: %s, %d of them new", f, plain.Count(n.Cells+n.Repeated+n.Replaced, "cell"), n.Cells+n.Replaced)
	}
	return nil
}

func mergeOne(ctx context.Context, env *environment, s *store.Store, file string) (store.Counts, error) {
	if file != "-" && store.Is(file) {
		from, err := storeAt(ctx, file, store.Read)
		if err != nil {
			return store.Counts{}, err
		}
		defer from.Close()
		return s.Merge(ctx, from)
	}
	in, done, err := openStream(env, file)
	if err != nil {
		return store.Counts{}, err
	}
	defer done()
	return s.Import(ctx, file, in)
}

// exportFlags are the flags of store export.
type exportFlags struct {
	format string
	output string
	run    int64
	sel    selection
}
