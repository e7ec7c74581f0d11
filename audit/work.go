package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/report"
	"optcheck/sass"
	"optcheck/spec"
	"optcheck/toolchain"
)

// jobResult is what a job found, cells in order of tests and layouts.
type jobResult struct {
	cells []report.Cell
	// skipped marks the cells that were known already; nil if none was.
	skipped  []bool
	listings map[int]listed // by cell
	// artefacts are those that are wanted, by cell.
	artefacts map[int][]report.Artefact
	problems  []report.Problem
	kernels   int
}

// listed is a listing with its hash: beside the code, it shows the names of the
// test's locations. All that differ are passed on, so that the listings of a
// matrix do not depend on how it was divided.
type listed struct {
	listing *report.Listing
	key     [sha256.Size]byte
}

// work does one job. Its error is one that ends the run; whatever concerns
// single cells is in the result.
func (a *auditor) work(ctx context.Context, j job) (*jobResult, error) {
	w := &worker{a: a, j: j, res: &jobResult{listings: map[int]listed{}, artefacts: map[int][]report.Artefact{}}, check: optcheck.NewChecker()}
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
	if j.tc.LLVM != nil {
		return w.res, w.amd(ctx)
	}
	maxV, err := ptxgen.ParseVersion(j.tc.MaxPTX)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.tc.ID, err)
	}
	byVersion := map[ptxgen.Version][]int{}
	for i, u := range w.em.units {
		v := maxV // llc sees to the version, for all kernels
		if u != nil && j.tc.LLC == nil {
			if v, err = u.VersionFor(j.target); err != nil {
				return nil, err
			}
		}
		switch {
		case w.skip(i):
		case w.em.errs[i] != nil:
			w.set(i, optcheck.UnsupportedClass, reasonOf(w.em.errs[i]))
		case v > maxV:
			w.set(i, optcheck.UnsupportedClass, fmt.Sprintf("needs PTX %v, %s has %v", v, j.tc.ID, maxV))
		default:
			byVersion[v] = append(byVersion[v], i)
		}
	}
	for v := ptxgen.Version(10); v <= maxV; v++ {
		if cells := byVersion[v]; len(cells) > 0 {
			if err := w.compile(ctx, v, cells); err != nil {
				return nil, err
			}
		}
	}
	return w.res, nil
}

// places sets up the cells of the job and returns how many are to be decided.
func (w *worker) places() int {
	a, n := w.a, len(w.j.chunk.names)*len(w.a.o.Layouts)
	w.res.cells = make([]report.Cell, n)
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

func reasonOf(err error) string {
	var un *spec.Unsupported
	if errors.As(err, &un) {
		return un.Reason
	}
	return err.Error()
}

type worker struct {
	a     *auditor
	j     job
	em    *emission
	res   *jobResult
	check *optcheck.Checker

	users [][]user       // of each unit that is being compiled
	parts map[int][]part // by cell, what was found for its threads
	units map[int]int    // distinct kernel → unit that is being compiled
	ptx   []string       // of each such unit, what llc made of it; nil without llc
	keep  string         // the file in which what was compiled is to be kept; "" if it is not
}

func (w *worker) set(cell int, class optcheck.Class, reason string) {
	w.res.cells[cell].Class, w.res.cells[cell].Reason = class.String(), reason
}

func (w *worker) problem(kind, detail string) {
	w.res.problems = append(w.res.problems, report.Problem{Kind: kind, Toolchain: w.j.tc.ID, Target: w.j.target, Level: w.j.level, Detail: detail})
}

// kindOf names the kind of a toolchain error for problem events.
func kindOf(err error) string {
	switch {
	case errors.Is(err, toolchain.ErrTimeout):
		return "timeout"
	case errors.Is(err, toolchain.ErrCompile):
		return "compile"
	}
	return "infrastructure"
}

// compile compiles and checks the given cells, which share a PTX version. Of
// kernels with the same text one is compiled.
func (w *worker) compile(ctx context.Context, v ptxgen.Version, cells []int) error {
	w.parts = map[int][]part{}
	for _, c := range cells {
		w.parts[c] = make([]part, len(w.em.of[c]))
	}
	units := w.distinct(cells, nil)
	var failed []error
	res, err := w.machineCode(ctx, v, units, &failed)
	if err != nil {
		return err
	}
	for u := range units {
		if e := res.Failed[u]; e != nil {
			if errors.Is(e, toolchain.ErrCancelled) {
				return e
			}
			w.fail(u, kindOf(e)+": "+firstLine(e.Error()))
			failed = append(failed, e)
		}
	}
	w.failures(failed)
	if err := w.batches(ctx, res.Batches, units); err != nil {
		return err
	}
	w.kept(res.Batches)
	for _, c := range cells {
		w.cell(c)
		if err := w.classify(ctx, c); err != nil {
			return err
		}
		if w.ptx != nil && w.res.cells[c].HasFindings() {
			w.ptxStages(c)
		}
	}
	w.artefacts(ptxgen.Header(v, w.j.target), cells)
	w.users, w.parts, w.units, w.ptx = nil, nil, nil, nil
	return nil
}

// distinct lists the kernels of some cells, each text once; of all of them if
// want is nil.
func (w *worker) distinct(cells []int, want func(*distinctKernel) bool) (units []toolchain.Unit) {
	w.users, w.units = nil, map[int]int{}
	for _, c := range cells {
		for t, k := range w.em.of[c] {
			if want != nil && !want(&w.em.kernels[k]) {
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

// machineCode compiles units to cubins: PTX by ptxas, LLVM IR by llc before.
func (w *worker) machineCode(ctx context.Context, v ptxgen.Version, units []toolchain.Unit, failed *[]error) (*toolchain.Result, error) {
	job := toolchain.Job{Target: w.j.target, Level: w.j.level, LineInfo: true,
		Header: ptxgen.Header(v, w.j.target), Units: units, Flags: w.a.o.Flags, BatchUnits: w.a.o.BatchUnits}
	if w.j.tc.LLC == nil {
		return w.compiled(ctx, job)
	}
	return w.fromIR(ctx, job, failed)
}

// batches decodes several batches at once, so that a run of one job uses
// all cores too, and checks them in order.
func (w *worker) batches(ctx context.Context, bs []toolchain.Batch, units []toolchain.Unit) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type dump struct {
		parse func() (*Code, error)
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
				parse, err := disassemble(ctx, w.j.tc, fmt.Sprintf("%s %s %s", w.j.tc.ID, w.j.target, w.j.level), w.j.target, b.Cubin)
				dumps[i] <- dump{parse, err}
			}()
		}
	}()
	for i, b := range bs {
		select {
		case d := <-dumps[i]:
			<-ahead
			var code *Code
			if d.err == nil {
				code, d.err = d.parse()
			}
			if err := w.batch(b, units, code, d.err); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// failures makes problem events of failed units. More than a few with one kind
// have one cause, which is told once.
func (w *worker) failures(errs []error) {
	const most = 3
	by := map[string]int{}
	for _, e := range errs {
		k := kindOf(e)
		if by[k]++; by[k] <= most {
			w.problem(k, firstLine(e.Error()))
		}
	}
	for _, k := range []string{"compile", "infrastructure", "timeout"} {
		if n := by[k] - most; n > 0 {
			w.problem(k, fmt.Sprintf("and %d more; the cells have the details", n))
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// batch checks the kernels of a cubin. One that could not be disassembled leaves
// the cells that use it unknown and all others alone.
func (w *worker) batch(b toolchain.Batch, units []toolchain.Unit, code *Code, err error) error {
	fail := func(kind, detail string) {
		w.keep = ""
		w.problem(kind, detail)
		for _, u := range b.Units {
			w.fail(u, kind+": "+detail)
		}
	}
	var parse *sass.Error
	switch {
	case errors.Is(err, toolchain.ErrCancelled):
		return err
	case errors.As(err, &parse):
		fail("parse", err.Error())
		return nil
	case err != nil:
		fail(kindOf(err), firstLine(err.Error()))
		return nil
	}
	if len(code.Program.Problems) > 0 {
		p := code.Program.Problems[0]
		fail("parse", fmt.Sprintf("line %d of the disassembly not understood: %s (%s)", p.Line, p.Text, p.Why))
		return nil
	}
	if code.Listed {
		w.keep = "" // only nvdisasm could read it
	}
	funcs := code.Funcs()
	w.check.Consts = code.Consts
	for _, u := range b.Units {
		w.check.Literals = code.Literals[units[u].Name]
		w.kernel(u, units[u].Name, funcs[units[u].Name])
	}
	return nil
}

// fail leaves all cells that use a unit unknown.
func (w *worker) fail(unit int, reason string) {
	for _, x := range w.users[unit] {
		w.parts[x.cell][x.thread].reason = reason
	}
}
