package main

import (
	"context"
	"errors"
	"os"

	"optcheck/audit/chip"
	"optcheck/report"
	"optcheck/spec"
)

// histogramFile writes the results of a campaign as the event stream that
// optcheck report reads.
type histogramFile struct {
	ctx  context.Context
	file *os.File
	out  *report.JSONLines
	h    header
	err  error
}

func newHistogramFile(ctx context.Context, path string, h header) (*histogramFile, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &histogramFile{ctx: ctx, file: file, out: report.NewJSONLines(file), h: h}
	w.handle(report.Event{Config: &report.Config{Schema: report.Schema, Tool: h.Version, Spec: spec.Version, Tests: h.Tests,
		Toolchains: []report.Toolchain{{ID: h.Compiler}}, Targets: []string{h.Target}, Levels: []string{h.Level}, Layouts: []string{}}})
	return w, nil
}

// handle writes an event at once: a run that dies keeps its results.
func (w *histogramFile) handle(e report.Event) {
	if w.err == nil {
		w.err = errors.Join(w.out.Handle(e), w.out.Flush())
	}
}

// result writes one result; nil is no file.
func (w *histogramFile) result(r *chip.Result) {
	if w != nil {
		made := chip.Compiled{Compiler: w.h.Compiler, Target: w.h.Target, Level: w.h.Level}
		w.handle(report.Event{Histogram: r.Report(w.h.Device, made, w.ctx.Err() != nil)})
	}
}

// close ends the file and returns the first error of all.
func (w *histogramFile) close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.err, w.file.Close())
}
