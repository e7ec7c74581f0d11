package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/known"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
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

// workbench compiles and judges for the page to try things. Nothing of a test but its meaning
// reaches a compiler: the kernels are written by ptxgen, under names that it chooses. A program
// reaches it as it is, and may name no file but headers of the compiler and the system.
type workbench struct {
	offers []*html.Offer
	list   *known.List
	models *painter
	tools  map[string]benchTool // by Compiler.Value
}

// benchTool is a toolchain on a road.
type benchTool struct {
	road *pipeline.Road
	tc   *toolchain.Toolchain
}

// newWorkbench finds the compilers of this machine, whatever they compile. Where there is
// something else to serve, one that is broken is only told of.
func newWorkbench(ctx context.Context, env *environment, list *known.List, alone bool) (*workbench, error) {
	w := &workbench{list: list, models: newPainter(), tools: map[string]benchTool{}}
	tests := &html.Offer{What: tryLitmus, Name: "Litmus test", Label: "Test", Go: "Compile and check", Levels: pipeline.Levels,
		Lead: "Type a litmus test, or begin with one that comes with optcheck. The compilers of this machine compile it, and its machine code is checked and judged."}
	programs := map[string]*html.Offer{pipeline.PTX: ptxOffer(), pipeline.CUDA: cudaOffer()}
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
			if o := programs[r.Source]; o != nil {
				w.add(o, r, tc)
			}
			if _, err := pipeline.Of(tc, r.Source); err != nil || r.Source == pipeline.CUDA { // tests are not written in it
				continue
			}
			if known[r.Vendor] == nil {
				vendors = append(vendors, r.Vendor)
			}
			known[r.Vendor] = append(known[r.Vendor], tc.Targets...)
			w.add(tests, r, tc)
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
		tests.Targets = append(tests.Targets, html.TargetChoice{Vendor: v, Targets: slices.Compact(known[v])})
	}
	w.offers = []*html.Offer{tests, programs[pipeline.PTX], programs[pipeline.CUDA], modelOffer()}
	w.begin(tests)
	for _, o := range w.offers[1:3] {
		w.beginProgram(o)
	}
	return w, nil
}

// groupNames say for readers what compilers of a road compile.
var groupNames = map[string]string{pipeline.PTX: "PTX", pipeline.OpenCL: "OpenCL C", pipeline.LLVMIR: "LLVM IR"}

func (w *workbench) add(o *html.Offer, r *pipeline.Road, tc *toolchain.Toolchain) {
	value := r.Source + " " + tc.ID
	if slices.ContainsFunc(o.Compilers, func(c html.Compiler) bool { return c.Value == value }) {
		return
	}
	w.tools[value] = benchTool{r, tc}
	o.Compilers = append(o.Compilers, html.Compiler{Value: value, Name: tc.ID, Group: groupNames[r.Source] + " for " + r.Vendor})
}

// tryFirst are the targets that are asked for at first, the first that is there.
var tryFirst = []string{"sm_90", "sm_86", "sm_80", "gfx942", "gfx90a", "gfx1030"}

// begin says what the form for tests has at first: the newest compilers of the first road.
func (w *workbench) begin(o *html.Offer) {
	for _, l := range spec.AllLayouts {
		o.Layouts = append(o.Layouts, l.String())
	}
	for _, t := range slices.Concat(corpus.Tests(), corpus.OpenCL()) {
		o.Tests = append(o.Tests, t.Name)
	}
	o.First = html.Trial{What: o.What, Level: "O3", Layout: spec.Pointers.String()}
	o.First.Text, _ = w.Text(o.What, "mp")
	for _, c := range o.Compilers {
		if c.Group == o.Compilers[0].Group {
			o.First.Compilers = append(o.First.Compilers, c.Value)
		}
	}
	for _, c := range o.Targets {
		o.First.Targets = append(o.First.Targets, firstTarget(c.Targets))
	}
	if len(o.Compilers) == 0 {
		o.Missing = "No compiler was found on this machine. optcheck toolchain install gets some; start the server again then."
	}
}

// firstTarget is the one of targets, of which there is one, that is asked for at first.
func firstTarget(targets []string) string {
	for _, t := range tryFirst {
		if slices.Contains(targets, t) {
			return t
		}
	}
	return targets[len(targets)-1]
}

// Offers are what trials may ask for.
func (w *workbench) Offers() []*html.Offer { return w.offers }

// Text is a text to begin with: a test of the corpus, or an example of a program.
func (w *workbench) Text(what, name string) (string, bool) {
	if what == tryPTX || what == tryCUDA {
		text, ok := programExamples[what][name]
		return text, ok
	}
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

// Kinds of trials.
const (
	tryLitmus = "litmus"
	tryPTX    = "ptx"
	tryCUDA   = "cuda"
	tryModel  = "model"
)

// Try does a trial of any kind.
func (w *workbench) Try(ctx context.Context, t html.Trial) (html.Outcome, error) {
	if len(t.Compilers) == 0 {
		return html.Outcome{}, errors.New("choose a compiler")
	}
	switch t.What {
	case tryPTX, tryCUDA:
		return w.tryProgram(ctx, t)
	case tryModel:
		return w.judge(ctx, t)
	}
	return w.tryTest(ctx, t)
}

// checkedTest reads a test that is not too large for this page.
func checkedTest(text string) (*litmus.Test, error) {
	test, err := parseChecked("test", text)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, th := range test.Threads {
		n += len(th.Body)
	}
	if n > tryInstructions {
		return nil, fmt.Errorf("the test has %d instructions; here a test may have %d (optcheck audit takes any)", n, tryInstructions)
	}
	return test, nil
}

// tryTest compiles and judges a test.
func (w *workbench) tryTest(ctx context.Context, t html.Trial) (out html.Outcome, err error) {
	test, err := checkedTest(t.Text)
	if err != nil {
		return out, err
	}
	layout, err := spec.ParseLayout(t.Layout)
	if err != nil {
		return out, err
	}
	if len(t.Compilers) > tryCompilers {
		return out, fmt.Errorf("%d compilers are chosen, at most %d work on a test here", len(t.Compilers), tryCompilers)
	}
	for _, r := range pipeline.Roads {
		tcs, targets, left := w.chosen(r, t)
		out.Notes = append(out.Notes, left...)
		if len(tcs) == 0 || ctx.Err() != nil {
			continue
		}
		x, err := w.audit(ctx, audit.Options{Tests: []*litmus.Test{test}, Toolchains: tcs, Targets: targets, Levels: []string{t.Level},
			Layouts: []spec.Layout{layout}, Source: r.Source, Jobs: runtime.GOMAXPROCS(0)})
		out.Tried = append(out.Tried, x)
		if err != nil {
			return out, err
		}
	}
	return out, nil
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
	set := event.NewSet()
	texts := map[string][]event.Artefact{}
	place := func(c *event.Cell) string { return c.Toolchain + "\n" + c.Target }
	o.Tool, o.KeepVerdicts, o.KeepListings, o.AllArtefacts = version(), true, true, true
	o.Artefacts = func(c *event.Cell, list []event.Artefact) error {
		texts[place(c)] = list
		return nil
	}
	err := audit.Run(ctx, o, set)
	x := html.Tried{Set: w.list.MarkSet(set), Texts: map[int][]event.Artefact{}}
	for i, c := range x.Set.All() {
		x.Texts[i] = texts[place(&c)]
	}
	return x, err
}
