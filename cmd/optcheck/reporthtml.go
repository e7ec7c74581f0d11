package main

import (
	"context"
	"fmt"
	"path/filepath"

	"optcheck/internal/plain"
	"optcheck/report/html"
)

// writeHTML makes the folder of pages of a saved run.
func writeHTML(ctx context.Context, env *environment, files []string, sel *selection, dir string, limit float64, tables *tableFlags) error {
	if limit < 0 || limit > 1e6 {
		return fmt.Errorf("--html-limit %g: must be a number of megabytes, 0 for none", limit)
	}
	fail, err := env.settings.fail()
	if err != nil {
		return err
	}
	list, own, err := knownList(env)
	if err != nil {
		return err
	}
	set, err := readSet(env, files, sel, list)
	if err != nil {
		return err
	}
	more, err := tables.pages()
	if err != nil {
		return err
	}
	bar := newProgress(env.bar, false)
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
		env.tell("short pages for %s; --html-limit 0 writes all in full", plain.Count(stats.Short, "least severe finding"))
	}
	run := set.Run()
	reportUnused(env, list, own, run)
	return verdict(counted(env, run), fail)
}

// htmlLimit turns megabytes into bytes; 0 is no limit.
func htmlLimit(megabytes float64) int64 {
	if megabytes == 0 {
		return -1
	}
	return int64(megabytes * 1e6)
}
