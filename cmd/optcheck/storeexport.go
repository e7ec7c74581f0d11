package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/input"
)

func newStoreExportCmd(env *environment) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export STORE",
		Short: "Write the cells of a store as an event stream or a table",
		Long: `Write the cells of a store as an event stream: tests, cells sorted by toolchain,
target, level, test and layout, the listings of those with findings. Two stores
with the same cells give the same bytes. With --run, the stream of one run comes
out in its own order, without cells that the store had before.

The formats csv and parquet are tables with a row for each cell, in the same order.
Their columns are id (the number of the cell in the store: optcheck reduce
all.store#17), test, hash, preset, toolchain, target, level, layout, class, rules,
notes, reason, code, and known. The verdict adds its model and numbers of outcomes.

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
		file, err := input.Create(f.output)
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
	h := event.NewJSONLines(out)
	if f.run != 0 {
		err = s.ExportRun(ctx, f.run, h)
	} else {
		err = s.Export(ctx, v, h)
	}
	return errors.Join(err, h.Close())
}
