package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/internal/plain"
)

func newStoreInfoCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "info STORE",
		Short:   "List the runs and settings of a store, with counts and sizes",
		Example: "  optcheck store info all.store\n  optcheck store info all.store --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStoreInfo(cmd.Context(), env, args[0], asJSON)
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

func runStoreInfo(ctx context.Context, env *environment, path string, asJSON bool) error {
	s, err := storeAt(ctx, path, store.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return env.printJSON(info)
	}
	w := env.text
	fmt.Fprintf(w, "%s: schema %d, %d bytes, %s", plain.Line(path), info.Schema, info.Bytes, plain.Count(info.Cells, "cell"))
	if info.Cells > 0 {
		fmt.Fprintf(w, " (%d bytes each, all counted)", info.Bytes/info.Cells)
	}
	fmt.Fprintf(w, "\n%s, %s, %s, %s", plain.Count(info.Tests, "test"), plain.Count(info.Results, "result"),
		plain.Count(info.Listings, "listing"), plain.Count(info.Artefacts, "artefact"))
	if info.Histograms > 0 {
		fmt.Fprintf(w, ", %s of runs on devices", plain.Count(info.Histograms, "histogram"))
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "\nSETTING\tCELLS\tCOLUMNS\tOPTCHECK\tBUILD\tSOURCE\tMODEL\tFLAGS\n")
	for _, x := range info.Settings {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%s\t%.12s\t%s\t%.40s\t%q\n", x.ID, x.Cells, x.Columns, dash(x.Tool), dash(x.Build),
			dash(x.Source), dash(x.Model), x.Flags)
	}
	fmt.Fprintf(tw, "\nRUN\tSETTING\tBEGUN\tCELLS\tPLANNED\tHISTOGRAMS\tSHARD\tSTATE\n")
	for _, r := range info.Runs {
		fmt.Fprintf(tw, "%d\t%d\t%s\t%d\t%d\t%d\t%s\t%s\n", r.ID, r.Setting, time.Unix(r.Started, 0).UTC().Format(time.DateTime), r.Cells,
			r.Planned, r.Histograms, dash(r.Shard), r.State)
	}
	return tw.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
