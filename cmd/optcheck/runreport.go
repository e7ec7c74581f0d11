package main

import (
	"context"
	"errors"
	"os"
	"time"

	"optcheck/audit/device"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/input"
)

// runFormats are the forms that optcheck run writes to files.
var runFormats = []string{"json", "text", "sarif", "junit", "markdown", "log", "svg", "png", "placements"}

// runEvents writes what a run on a device does as the event stream that optcheck
// report reads.
type runEvents struct {
	ctx     context.Context
	env     *environment
	start   time.Time
	out     event.Tee
	file    *os.File      // of --output, or nil
	run     *event.Run    // what --report needs, or nil
	reports []*reportFile // of --report
	html    string        // of --html
	store   *store.Store  // of --store, or nil
	err     error
}

// newRunEvents opens the outputs that the flags ask for and begins the stream.
func newRunEvents(ctx context.Context, env *environment, f *runFlags, o *device.Options) (*runEvents, error) {
	w := &runEvents{ctx: ctx, env: env, start: time.Now().UTC(), html: f.html}
	var err error
	if w.reports, err = reportFiles(f.reports, runFormats); err != nil {
		return nil, err
	}
	if len(w.reports) > 0 || w.html != "" {
		w.run = event.NewRun()
		w.out = append(w.out, w.run)
	}
	if f.asJSON {
		w.out = append(w.out, event.NewJSONLines(env.stdout))
	}
	if f.output != "" {
		if w.file, err = input.Create(f.output); err != nil {
			discard(w.reports)
			return nil, err
		}
		w.out = append(w.out, event.NewJSONLines(w.file))
	}
	if f.store != "" {
		if w.store, err = storeAt(ctx, f.store, store.Create); err != nil {
			discard(w.reports)
			return nil, err
		}
		w.out = append(w.out, w.store.Writer())
	}
	cfg := o.Config(version(), w.start)
	if s := f.setting; s != nil {
		cfg.Build, cfg.Source, cfg.Flags, cfg.Model, cfg.Execute = s.Build, s.Source, s.Flags, s.Model, s.Execute
	}
	w.handle(event.Event{Config: cfg})
	for _, t := range o.Tests {
		preset, file := env.origin(t)
		w.handle(event.Event{Test: event.NewTest(t, t.Hash(), preset, file)})
	}
	return w, nil
}

// handle writes an event at once: a run that dies keeps its results.
func (w *runEvents) handle(e event.Event) {
	if w.err == nil {
		w.err = errors.Join(w.out.Handle(e), w.out.Flush())
	}
}

// result writes one result.
func (w *runEvents) result(r *device.Result) {
	if len(w.out) > 0 {
		w.handle(event.Event{Histogram: &r.Histogram})
	}
}

// close ends the stream, writes the reports, and returns the first error of
// all.
func (w *runEvents) close() error {
	w.handle(event.Event{Stats: &event.Stats{Wall: time.Since(w.start).Seconds(), Interrupted: w.ctx.Err() != nil}})
	err := w.err
	if w.store != nil {
		err = w.store.End(err)
	}
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	if err == nil && w.run != nil && len(w.run.Histograms) > 0 {
		list, _, e := knownList(w.env)
		if err = e; err == nil {
			err = errors.Join(writeReports(&rendering{env: w.env, list: list}, w.reports, w.run),
				pagesOf(context.WithoutCancel(w.ctx), w.env, w.run, list, w.html))
		}
	}
	discard(w.reports)
	return err
}
