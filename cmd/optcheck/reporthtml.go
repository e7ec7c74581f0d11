package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/known"
	"optcheck/report/html"
)

// writeHTML makes the folder of pages of a saved run.
func writeHTML(ctx context.Context, env *environment, files []string, sel *selection, dir string, limit float64, tables *tableFlags) error {
	if limit < 0 || limit > 1e6 {
		return fmt.Errorf("--html-limit %g: must be a number of megabytes, 0 for none", limit)
	}
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	list, own, err := knownList(env)
	if err != nil {
		return err
	}
	more, err := tables.pages()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		set := event.NewSet()
		if err := set.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Tool: version()}}); err != nil {
			return err
		}
		return writePages(ctx, env, set, list, dir, limit, more)
	}
	set, err := readSet(env, files, sel, list)
	if err != nil {
		return err
	}
	if err := writePages(ctx, env, set, list, dir, limit, more); err != nil {
		return err
	}
	run := set.Run()
	reportUnused(env, list, own, run)
	return gate.shown(counted(env, run))
}

// htmlFlag adds --html to a command that makes a report.
func htmlFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "html", "", "write pages for a browser into this folder")
}

// pagesOf writes the pages of a run, if they are wanted.
func pagesOf(ctx context.Context, env *environment, run *event.Run, list *known.List, dir string) error {
	if dir == "" {
		return nil
	}
	set := event.NewSet()
	if err := run.Replay(set); err != nil {
		return err
	}
	return writePages(ctx, env, set, list, dir, defaultHTMLLimit, nil)
}

// defaultHTMLLimit bounds the pages of findings, in megabytes.
const defaultHTMLLimit = 24

// writePages writes the pages of a set into a folder and says what they are.
func writePages(ctx context.Context, env *environment, set *event.Set, list *known.List, dir string, limit float64,
	more []html.ExtraPage) error {
	bar := newProgress(env.bar, env.quiet)
	bar.what = "pages"
	stats, err := html.Write(ctx, dir, set, html.Options{Finding: findingHooks(list), Extra: append(html.RunPages(html.NewRuns(set)),
		more...), Limit: htmlLimit(limit), Progress: bar.update})
	bar.done()
	if err != nil {
		return err
	}
	runs := ""
	if n := len(set.Histograms); n > 0 {
		runs = ", " + plain.Count(n, "run") + plain.Form(n, " on a device", " on devices")
	}
	env.tell("%s, %s%s: %s, %.1f MB; open %s",
		plain.Count(stats.Cells, "cell"), plain.Count(stats.Groups, "finding"), runs, plain.Count(stats.Files,
			"file"), float64(stats.Bytes)/1e6, filepath.Join(dir, "index.html"))
	if stats.Short > 0 {
		env.tell("short pages for %s; optcheck report --html-limit 0 writes all in full", plain.Count(stats.Short, "least severe finding"))
	}
	return nil
}

// htmlLimit turns megabytes into bytes; 0 is no limit.
func htmlLimit(megabytes float64) int64 {
	if megabytes == 0 {
		return -1
	}
	return int64(megabytes * 1e6)
}
