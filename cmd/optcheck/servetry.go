package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"optcheck/audit"
	"optcheck/known"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
	"optcheck/report"
	"optcheck/report/html"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// Bounds of a test that somebody tries: threads and instructions decide what judging costs.
const (
	tryCompile      = 10 * time.Second // of one process
	tryCompilers    = 16
	tryInstructions = 64
)

// workbench compiles tests for the page to try things. Nothing of a test but its meaning
// reaches a compiler: the kernels are written by ptxgen, under names that it chooses.
type workbench struct {
	offer html.Offer
	list  *known.List
	tools map[string]benchTool // by Compiler.Value
}

// benchTool is a toolchain on a road.
type benchTool struct {
	road *pipeline.Road
	tc   *toolchain.Toolchain
}

// newWorkbench finds the compilers of this machine, whatever they compile. Where there is
// something else to serve, one that is broken is only told of.
func newWorkbench(ctx context.Context, env *environment, list *known.List, alone bool) (*workbench, error) {
	w := &workbench{list: list, tools: map[string]benchTool{}}
	limit, err := env.settings.limit()
	if err != nil {
		return nil, err
	}
	o := toolchain.Options{Dirs: env.settings.toolchainDirs, Env: env.getenv,
		Runner: toolchain.NewRunner(runtime.GOMAXPROCS(0), min(limit, tryCompile))}
	known := map[string][]string{} // targets, by vendor
	var vendors []string
	var wrong []error
	for _, r := range pipeline.Roads {
		found, errs := r.Find(ctx, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if pipeline.Usual(r.Vendor) == r {
			wrong = append(wrong, toolchain.DistinctErrors(errs)...)
		}
		for _, tc := range found {
			if _, err := pipeline.Of(tc, r.Source); err != nil {
				continue
			}
			if known[r.Vendor] == nil {
				vendors = append(vendors, r.Vendor)
			}
			known[r.Vendor] = append(known[r.Vendor], tc.Targets...)
			w.add(r, tc)
		}
	}
	for _, e := range toolchain.DistinctErrors(wrong) {
		var place *toolchain.PlaceError
		if alone && errors.As(e, &place) {
			return nil, e // somebody asked for it
		}
		env.tell("%v", e)
	}
	for _, v := range vendors {
		slices.SortFunc(known[v], target.Compare)
		w.offer.Targets = append(w.offer.Targets, html.TargetChoice{Vendor: v, Targets: slices.Compact(known[v])})
	}
	w.begin()
	return w, nil
}

// groupNames say for readers what compilers of a road compile.
var groupNames = map[string]string{pipeline.PTX: "PTX", pipeline.OpenCL: "OpenCL C", pipeline.LLVMIR: "LLVM IR"}

func (w *workbench) add(r *pipeline.Road, tc *toolchain.Toolchain) {
	value := r.Source + " " + tc.ID
	if _, ok := w.tools[value]; ok {
		return
	}
	w.tools[value] = benchTool{r, tc}
	w.offer.Compilers = append(w.offer.Compilers, html.Compiler{Value: value, Name: tc.ID, Group: groupNames[r.Source] + " for " + r.Vendor})
}

// tryFirst are the targets that are asked for at first, the first that is there.
var tryFirst = []string{"sm_90", "sm_86", "sm_80", "gfx942", "gfx90a", "gfx1030"}

// begin says what the form has at first: the newest compilers of the first road.
func (w *workbench) begin() {
	o := &w.offer
	o.Levels = pipeline.Levels
	for _, l := range spec.AllLayouts {
		o.Layouts = append(o.Layouts, l.String())
	}
	for _, t := range slices.Concat(corpus.Tests(), corpus.OpenCL()) {
		o.Tests = append(o.Tests, t.Name)
	}
	o.First = html.Trial{Level: "O3", Layout: spec.Pointers.String()}
	o.First.Text, _ = w.Text("mp")
	for _, c := range o.Compilers {
		if c.Group == o.Compilers[0].Group {
			o.First.Compilers = append(o.First.Compilers, c.Value)
		}
	}
	for _, c := range o.Targets {
		first := c.Targets[len(c.Targets)-1]
		for _, t := range slices.Backward(tryFirst) {
			if slices.Contains(c.Targets, t) {
				first = t
			}
		}
		o.First.Targets = append(o.First.Targets, first)
	}
	if len(o.Compilers) == 0 {
		o.Missing = "No compiler was found on this machine. optcheck toolchain install gets some; start the server again then."
	}
}

// Offer is what trials may ask for.
func (w *workbench) Offer() *html.Offer { return &w.offer }

// Text is the text of a test of the corpus.
func (w *workbench) Text(name string) (string, bool) {
	if _, ok := corpus.Lookup(name); !ok {
		return "", false
	}
	for _, dir := range []string{"tests", "opencl"} {
		if text, err := corpus.FS.ReadFile(dir + "/" + name + ".litmus"); err == nil {
			return string(text), true
		}
	}
	return "", false
}

// Try compiles and judges a test.
func (w *workbench) Try(ctx context.Context, t html.Trial) (tried []html.Tried, notes []string, err error) {
	test, err := parseChecked("test", t.Text)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for _, th := range test.Threads {
		n += len(th.Body)
	}
	layout, err := spec.ParseLayout(t.Layout)
	switch {
	case err != nil:
		return nil, nil, err
	case n > tryInstructions:
		return nil, nil, fmt.Errorf("the test has %d instructions; here a test may have %d (optcheck audit takes any)", n, tryInstructions)
	case len(t.Compilers) == 0:
		return nil, nil, errors.New("choose a compiler")
	case len(t.Compilers) > tryCompilers:
		return nil, nil, fmt.Errorf("%d compilers are chosen, at most %d work on a test here", len(t.Compilers), tryCompilers)
	}
	for _, r := range pipeline.Roads {
		tcs, targets, left := w.chosen(r, t)
		notes = append(notes, left...)
		if len(tcs) == 0 || ctx.Err() != nil {
			continue
		}
		x, err := w.audit(ctx, audit.Options{Tests: []*litmus.Test{test}, Toolchains: tcs, Targets: targets, Levels: []string{t.Level},
			Layouts: []spec.Layout{layout}, Source: r.Source, Jobs: runtime.GOMAXPROCS(0)})
		tried = append(tried, x)
		if err != nil {
			return tried, notes, err
		}
	}
	return tried, notes, nil
}

// chosen are the toolchains of a road that a trial asks for, with the targets that they know.
func (w *workbench) chosen(r *pipeline.Road, t html.Trial) (tcs []*toolchain.Toolchain, targets, left []string) {
	for _, c := range t.Compilers {
		x := w.tools[c]
		if x.road != r {
			continue
		}
		knows := false
		for _, name := range t.Targets {
			if x.tc.HasTarget(name) {
				knows = true
				targets = append(targets, name)
			}
		}
		if knows {
			tcs = append(tcs, x.tc)
		} else {
			left = append(left, fmt.Sprintf("%s is left out: it does not know the target.", x.tc.ID))
		}
	}
	return tcs, pipeline.Once(targets), left
}

// audit runs an audit in memory and keeps all there is to see of it.
func (w *workbench) audit(ctx context.Context, o audit.Options) (html.Tried, error) {
	set := report.NewSet()
	texts := map[string][]report.Artefact{}
	place := func(c *report.Cell) string { return c.Toolchain + "\n" + c.Target }
	o.Tool, o.KeepVerdicts, o.KeepListings, o.AllArtefacts = version(), true, true, true
	o.Artefacts = func(c *report.Cell, list []report.Artefact) error {
		texts[place(c)] = list
		return nil
	}
	err := audit.Run(ctx, o, set)
	x := html.Tried{Set: w.list.MarkSet(set), Texts: map[int][]report.Artefact{}}
	for i, c := range x.Set.All() {
		x.Texts[i] = texts[place(&c)]
	}
	return x, err
}
