package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/internal/plain"
	"optcheck/report"
)

func newStoreCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after a store of results",
		Long: `Look after a store: the file in which audits with --store keep their results.

A store is an SQLite database. Several processes of one machine may write it at
once; one that is killed loses what it was just working on and nothing else. On a
network's file system, give each machine a store of its own and merge them.

Whatever reads a saved run (report, diff, reduce, bug) reads a store, too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreInfoCmd(env), newStoreExportCmd(env), newStoreImportCmd(env), newMergeCmd(env),
		newStoreCheckCmd(env), newStoreGCCmd(env), newStoreArtefactCmd(env))
	return cmd
}

func newMergeCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "merge OUT IN…",
		Short: "Merge stores and event streams into a store",
		Long: `Merge stores, and event streams (audit --output; - for standard input; also
compressed by gzip), into the store OUT, which is made if it is not there. Each
input is taken in as a whole or not at all. Merging an input again changes nothing,
and their order does not matter, but for which run is the latest: that of the last
input, whose setting is shown unless another one is asked for, and whose build
optcheck store gc takes for the newest. Two results for one cell are an error that
names it; the result of a failed attempt (a timeout, a process that could not be run)
gives way to any other.`,
		Example: `  optcheck merge all.store shard-1.store shard-2.store
  optcheck merge all.store run.jsonl`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return merge(cmd.Context(), env, args[0], args[1:]) },
	}
}

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
	st, err := os.Stat(out)
	made := err != nil || st.Size() == 0
	s, err := storeAt(ctx, out, store.Create)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && made {
			err = errors.Join(err, s.Discard(context.WithoutCancel(ctx)))
			return
		}
		err = errors.Join(err, s.Close())
	}()
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

func newStoreExportCmd(env *environment) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export STORE",
		Short: "Write the cells of a store as an event stream or a table",
		Long: `Write the cells of a store as an event stream: tests, cells sorted by toolchain,
target, level, test and layout, the listings of those with findings. Two stores
with the same cells give the same bytes. With --run, the stream of one run comes
out in its own order, without cells that the store had before.

The formats csv and parquet are tables with a row for each cell, in the same
order, whose columns are: id (the number of the cell in the store: optcheck reduce
all.store#17), test, hash, preset, toolchain, target, level, layout, class, rules,
notes, reason, code, known, and of the verdict model and numbers of outcomes.

` + selectionHelp,
		Example: `  optcheck store export all.store > all.jsonl
  optcheck store export all.store --run 1
  optcheck store export all.store --format csv --classes miscompiled --toolchains 11.8
  optcheck store export all.store --format parquet -o all.parquet`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runStoreExport(cmd.Context(), env, &f, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "jsonl", "jsonl (the event stream), csv or parquet")
	fl.StringVarP(&f.output, "output", "o", "", "write to this file instead of standard output")
	selectFlags(cmd, &f.sel)
	fl.Int64Var(&f.run, "run", 0, "only this run, in its own order")
	return cmd
}

func runStoreExport(ctx context.Context, env *environment, f *exportFlags, path string) (err error) {
	if !slices.Contains([]string{"jsonl", "csv", "parquet"}, f.format) {
		return fmt.Errorf("unknown format %q (jsonl, csv, parquet)", f.format)
	}
	if f.run != 0 && (f.format != "jsonl" || f.sel.setting != 0 || !f.sel.all()) {
		return errors.New("--run goes with the format jsonl and without --setting and what chooses cells")
	}
	s, err := storeAt(ctx, path, store.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	out := env.stdout
	if f.output != "" {
		file, err := os.Create(f.output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	v := store.View{Setting: f.sel.setting, Keep: f.sel.keep}
	switch f.format {
	case "csv":
		return s.ExportCSV(ctx, v, out)
	case "parquet":
		return s.ExportParquet(ctx, v, out)
	}
	h := report.NewJSONLines(out)
	if f.run != 0 {
		err = s.ExportRun(ctx, f.run, h)
	} else {
		err = s.Export(ctx, v, h)
	}
	return errors.Join(err, h.Close())
}
