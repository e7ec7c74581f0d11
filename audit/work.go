package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/spec"
	"optcheck/toolchain"
)

// jobResult is the result of a job, with cells in order of tests and layouts.
type jobResult struct {
	cells []event.Cell
	// skipped marks the cells that were known already; nil if none was.
	skipped  []bool
	listings map[int]listed            // by cell
	looks    map[string]*event.Listing // of preserved cells, by Look
	// artefacts holds the requested artefacts, by cell.
	artefacts map[int][]event.Artefact
	problems  []event.Problem
	kernels   int
	registers int // dependencies over registers, of kernels as the compiler made them
}

// listed is a listing with its hash, which also covers the names of the test's locations. All
// distinct listings are passed on, so that the listings of a matrix do not depend on how it was
// divided.
type listed struct {
	listing *event.Listing
	key     [sha256.Size]byte
}

// work does one job. Its error ends the run; whatever concerns single cells is in the result.
func (a *auditor) work(ctx context.Context, j job) (*jobResult, error) {
	w := &worker{a: a, j: j, res: &jobResult{listings: map[int]listed{}, looks: map[string]*event.Listing{},
		artefacts: map[int][]event.Artefact{}}, check: optcheck.NewChecker(), parts: map[int][]part{}}
	if w.places() == 0 {
		return w.res, nil // a store has them all
	}
	err := j.chunk.open()
	if err != nil {
		return nil, err
	}
	if w.em, err = a.emission(j); err != nil {
		return nil, err
	}
	cells, ways, err := w.ways()
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		if err := w.compile(ctx, way, cells); err != nil {
			return nil, err
		}
	}
	for _, c := range cells {
		w.cell(c)
		if err := w.verdict(ctx, w.j.road.Road().Language, c); err != nil {
			return nil, err
		}
		w.computed(c)
	}
	if !a.plain && a.visit == nil {
		if err := w.stages(ctx, cells); err != nil {
			return nil, err
		}
	}
	w.artefacts(cells)
	return w.res, nil
}

// ways lists the cells to be compiled, and the ways in which their kernels are compiled.
func (w *worker) ways() (cells []int, ways []pipeline.Way, err error) {
	for i, u := range w.em.units {
		if w.skip(i) {
			continue
		}
		var list []part
		err := w.em.errs[i]
		for t := 0; err == nil && t < len(u.Kernels); t++ {
			var way pipeline.Way
			way, err = w.j.road.Way(u, t, w.j.target)
			list = append(list, part{way: way})
		}
		var un *spec.Unsupported
		if errors.As(err, &un) {
			w.set(i, optcheck.UnsupportedClass, un.Reason)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		cells, w.parts[i] = append(cells, i), list
		for _, p := range list {
			if !slices.Contains(ways, p.way) {
				ways = append(ways, p.way)
			}
		}
	}
	slices.SortFunc(ways, pipeline.Way.Compare)
	return cells, ways, nil
}

// places sets up the cells of the job and returns how many need a decision.
func (w *worker) places() int {
	a, n := w.a, len(w.j.chunk.names)*len(w.a.o.Layouts)
	w.res.cells = make([]event.Cell, n)
	todo := n
	for i := range w.res.cells {
		w.res.cells[i] = a.o.cell(w.j, i)
		if a.o.Have != nil && a.o.Have(&w.res.cells[i]) {
			if w.res.skipped == nil {
				w.res.skipped = make([]bool, n)
			}
			w.res.skipped[i] = true
			todo--
		}
	}
	return todo
}

// skip reports whether a cell was known already.
func (w *worker) skip(cell int) bool { return w.res.skipped != nil && w.res.skipped[cell] }

// test returns the test of a cell.
func (w *worker) test(cell int) *litmus.Test { return w.j.chunk.tests[cell/len(w.a.o.Layouts)] }

type worker struct {
	a     *auditor
	j     job
	em    *emission
	res   *jobResult
	check *optcheck.Checker

	users   [][]user              // of each unit that is being compiled
	parts   map[int][]part        // by cell, what was found for its threads
	units   map[int]int           // distinct kernel → unit that is being compiled
	between map[int]string        // distinct kernel → what the first of two compilers made of it
	unkept  bool                  // what is being compiled cannot be kept
	ptx     func(unit int) string // of what is being compiled; nil if the road has none
}

func (w *worker) set(cell int, class optcheck.Class, reason string) {
	w.res.cells[cell].Class, w.res.cells[cell].Reason = class.String(), reason
}

func (w *worker) problem(kind, detail string) {
	w.res.problems = append(w.res.problems, event.Problem{Kind: kind, Toolchain: w.j.tc.ID, Target: w.j.target,
		Level: w.j.level, Detail: detail})
}

// compile compiles and checks the kernels of cells that are compiled in one way. It compiles
// kernels with the same text once.
func (w *worker) compile(ctx context.Context, way pipeline.Way, cells []int) error {
	job := &pipeline.Job{Target: w.j.target, Level: w.j.level, Way: way, Units: w.distinct(way, cells),
		Flags: w.a.o.Flags, BatchUnits: w.a.o.BatchUnits, Kept: w.a.o.Code}
	if w.a.between != nil {
		job.Between = func(kernel, text string) string { return w.a.between(w.j, kernel, text) }
	}
	res, err := w.j.road.Compile(ctx, job)
	if err != nil {
		return err
	}
	var failed []error
	for u := range job.Units {
		var lack *pipeline.Lack
		switch e := res.Failed[u]; {
		case e == nil:
		case errors.Is(e, toolchain.ErrCancelled):
			return e
		case errors.As(e, &lack):
			w.lack(u, lack.Reason)
		case errors.Is(e, toolchain.ErrCrashed):
			w.crash(u, e) // the cells have the details
		default:
			w.fail(u, pipeline.Kind(e)+": "+firstLine(e.Error()))
			failed = append(failed, e)
		}
	}
	w.failures(failed)
	w.unkept, w.ptx = false, res.PTX
	if err := w.batches(ctx, res.Batches, job.Units); err != nil {
		return err
	}
	if res.Keep != nil && !w.unkept {
		if err := res.Keep(); err != nil {
			w.problem("infrastructure", "code is not kept: "+err.Error())
		}
	}
	if res.Between != nil {
		if w.between == nil {
			w.between = map[int]string{}
		}
		for k, u := range w.units {
			w.between[k] = res.Between[u]
		}
	}
	w.users, w.units = nil, nil
	return nil
}

// distinct lists the kernels of some cells that are compiled in one way, each text once.
func (w *worker) distinct(way pipeline.Way, cells []int) (units []toolchain.Unit) {
	w.users, w.units = nil, map[int]int{}
	for _, c := range cells {
		for t, k := range w.em.of[c] {
			if w.parts[c][t].way != way {
				continue
			}
			u, ok := w.units[k]
			if !ok {
				u = len(units)
				w.units[k] = u
				units = append(units, toolchain.Unit{Name: w.em.kernels[k].name, Text: w.em.kernels[k].text})
				w.users = append(w.users, nil)
			}
			w.users[u] = append(w.users[u], user{c, t})
		}
	}
	return units
}

// batches decodes several batches at once, so that a run of one job uses all cores too, and
// checks them in order.
func (w *worker) batches(ctx context.Context, bs []toolchain.Batch, units []toolchain.Unit) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type dump struct {
		parse func() (*pipeline.Code, error)
		err   error
	}
	dumps := make([]chan dump, len(bs))
	ahead := make(chan struct{}, runtime.GOMAXPROCS(0)+1) // bounds the texts in memory
	for i := range dumps {
		dumps[i] = make(chan dump, 1)
	}
	go func() {
		for i, b := range bs {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				parse, err := w.j.road.Decode(ctx, fmt.Sprintf("%s %s %s", w.j.tc.ID, w.j.target, w.j.level), w.j.target, &b)
				dumps[i] <- dump{parse, err}
			}()
		}
	}()
	for i, b := range bs {
		select {
		case d := <-dumps[i]:
			<-ahead
			var code *pipeline.Code
			if d.err == nil {
				code, d.err = d.parse()
			}
			if err := w.batch(ctx, b, units, code, d.err); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// failures creates problem events for failed units. Many failures of one kind have one cause:
// it reports the first few and counts the rest.
func (w *worker) failures(errs []error) {
	const most = 3
	by := map[string]int{}
	for _, e := range errs {
		k := pipeline.Kind(e)
		if by[k]++; by[k] <= most {
			w.problem(k, firstLine(e.Error()))
		}
	}
	for _, k := range []string{event.ProblemCompile, event.ProblemInfrastructure, event.ProblemParse, event.ProblemTimeout} {
		if n := by[k] - most; n > 0 {
			w.problem(k, fmt.Sprintf("and %d more; the cells have the details", n))
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// batch checks the kernels that one process compiled. Whatever cannot be read leaves the cells
// that use it unknown, and does not affect others.
func (w *worker) batch(ctx context.Context, b toolchain.Batch, units []toolchain.Unit, code *pipeline.Code, err error) error {
	if errors.Is(err, toolchain.ErrCancelled) {
		return err
	}
	told := ""
	fail := func(u int, err error) {
		detail := pipeline.Detail(err)
		if w.unkept = true; detail != told {
			w.problem(pipeline.Kind(err), detail)
		}
		told = detail
		w.fail(u, pipeline.Kind(err)+": "+detail)
	}
	for _, u := range b.Units {
		if err != nil {
			fail(u, err)
			continue
		}
		w.unkept = w.unkept || code.Listed // only a disassembler could read it
		switch fn, err := code.Func(units[u].Name); {
		case errors.Is(err, pipeline.ErrNoKernel):
			w.fail(u, err.Error())
		case err != nil:
			fail(u, err)
		default:
			w.check.Consts, w.check.Literals = code.Consts, code.Literals[units[u].Name]
			if err := w.kernel(ctx, u, code, fn); err != nil {
				return err
			}
			if err := w.execute(ctx, u, code, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail marks all cells that use a unit as unknown.
func (w *worker) fail(unit int, reason string) {
	for _, x := range w.users[unit] {
		w.parts[x.cell][x.thread].reason = reason
	}
}

// crash marks all cells that use a unit as such at which the compiler crashes.
func (w *worker) crash(unit int, err error) {
	for _, x := range w.users[unit] {
		w.parts[x.cell][x.thread].crash = pipeline.Crash(err, x.thread, w.j.road.Compilers())
	}
}

// lack marks all cells that use a unit as unsupported.
func (w *worker) lack(unit int, reason string) {
	for _, x := range w.users[unit] {
		p := &w.parts[x.cell][x.thread]
		p.reason, p.unsupported = reason, true
	}
}

// stages sets, for every finding of some cells, the stage at which it arose.
func (w *worker) stages(ctx context.Context, cells []int) error {
	var list []*pipeline.Suspect
	for _, c := range cells {
		by := map[int]*pipeline.Suspect{}
		for i := range w.res.cells[c].Findings {
			f := &w.res.cells[c].Findings[i]
			if f.Thread < 0 || f.Thread >= len(w.em.of[c]) {
				continue
			}
			s := by[f.Thread]
			if s == nil {
				k := w.em.of[c][f.Thread]
				s = &pipeline.Suspect{Test: w.test(c), Spec: w.em.units[c].Kernels[f.Thread].Spec, Way: w.parts[c][f.Thread].way, Between: w.between[k],
					Unit: toolchain.Unit{Name: w.em.kernels[k].name, Text: w.em.kernels[k].text}}
				by[f.Thread], list = s, append(list, s)
			}
			s.Findings = append(s.Findings, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	problems, err := w.j.road.Stages(ctx, &pipeline.Job{Target: w.j.target, Level: w.j.level, Flags: w.a.o.Flags,
		BatchUnits: w.a.o.BatchUnits}, list)
	for _, p := range problems {
		w.problem(p.Kind, p.Detail)
	}
	return err
}
