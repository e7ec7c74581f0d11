// Package audit runs the whole pipeline: litmus tests are emitted, compiled by real compilers,
// disassembled, checked, and reported as a stream of events. It is the only package that knows
// all stages; each stage is usable alone.
//
// It does not render results (report does).
package audit

import (
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// Levels are the optimisation levels of the compilers.
var Levels = pipeline.Levels

// Options selects the matrix of an audit.
type Options struct {
	Tests []*litmus.Test
	// Packed, if not nil, holds the tests instead of Tests and Origin.
	Packed     *Packed
	Toolchains []*toolchain.Toolchain
	// Targets restricts the targets; empty means all targets of each toolchain.
	Targets []string
	Levels  []string // empty means Levels
	Layouts []spec.Layout
	// Source is the language of the kernels; empty means the default of each toolchain. See
	// pipeline.Of.
	Source string
	Flags  []string // further arguments for ptxas
	// NoVerdict leaves cells with findings "changed" instead of asking a model whether they are
	// optimised or miscompiled. Model replaces the model of each target (DefaultModel): the
	// name of a built-in one, or a file.
	NoVerdict bool
	Model     string
	// KeepVerdicts keeps the verdicts of preserved cells too.
	KeepVerdicts bool
	// Execute is on how many inputs at most kernels are executed with their machine code; 0: none is.
	Execute int
	// KeepListings passes on the listings of preserved cells too.
	KeepListings bool
	// Hardware also asks the model of the hardware about every cell of sm_70 and newer that has
	// a verdict.
	Hardware bool
	// Jobs is the number of jobs (toolchain × target × level) processed concurrently; 0 means
	// one more than the number of cores.
	Jobs int
	// BatchUnits bounds the tests per compiler process; 0 means the default of the toolchain
	// package.
	BatchUnits int
	// Chunk is the number of tests processed at a time; 0 means the default. Shard is the part
	// of the matrix to process.
	Chunk int
	Shard Shard
	// Have, if not nil, reports whether a cell is known already and needs no work; only the
	// cell's place is set. It must be safe for concurrent use.
	Have func(*event.Cell) bool
	// Tool is the version of optcheck; Build identifies its program exactly. Both go into the
	// config event.
	Tool, Build string
	// Origin, if not nil, returns where a test comes from: the preset that generated it, or the
	// file.
	Origin func(*litmus.Test) (preset, file string)
	// Artefacts, if not nil, receives the source and the machine code of the threads of a cell
	// with findings, before the cell is passed on; with AllArtefacts, those of every compiled
	// cell.
	Artefacts    func(*event.Cell, []event.Artefact) error
	AllArtefacts bool
	// ControlCodes includes NVIDIA's control codes in listings and artefacts.
	ControlCodes bool
	// Code, if not "", is the folder in which ptxas's output is kept and looked up: judging
	// again then compiles nothing.
	Code string
	// Progress, if not nil, is called whenever cells are done. It may be called from several
	// goroutines, one at a time.
	Progress func(done, total int)
}

// Run audits the matrix and passes the events to h in a fixed order, whatever the number of
// cores. It returns an error if nothing could be done, if h fails, or if ctx ends; the cells
// that were finished by then have been passed on.
func Run(ctx context.Context, o Options, h event.Handler) error {
	jobs, err := o.plan()
	if err != nil {
		return err
	}
	a := newAuditor(o, h)
	a.total = o.cells(jobs)
	start, own, tools := time.Now(), ownCPU(), statsOf(o.Toolchains)
	if err := a.begin(jobs); err != nil {
		return err
	}
	runErr := a.run(ctx, jobs)
	end := statsOf(o.Toolchains)
	st := event.Stats{Cells: a.done, Kernels: a.kernels, Registers: a.registers, Codes: len(a.codes), Wall: time.Since(start).Seconds(),
		OwnCPU: (ownCPU() - own).Seconds(), ToolCPU: (end.CPU() - tools.CPU()).Seconds(),
		Processes: int(end.Processes - tools.Processes), Interrupted: ctx.Err() != nil}
	if err := h.Handle(event.Event{Stats: &st}); err != nil {
		return err
	}
	return runErr
}

// testsAtOnce is the number of tests that are passed on before the handler must write them out:
// it holds their texts until then.
const testsAtOnce = 4096

// begin passes on the events that precede all cells: the config and the tests.
func (a *auditor) begin(jobs []job) error {
	c, err := a.o.config(a.total)
	if err != nil {
		return err
	}
	if err := a.h.Handle(event.Event{Config: c}); err != nil {
		return err
	}
	var last *chunk
	waiting := 0
	for _, j := range jobs {
		if j.chunk == last {
			continue
		}
		if waiting >= testsAtOnce {
			if err := a.flush(); err != nil {
				return err
			}
			waiting = 0
		}
		last = j.chunk
		waiting += len(last.names)
		list, err := a.o.origins(last)
		if err != nil {
			return err
		}
		for i, t := range list {
			if err := a.h.Handle(event.Event{Test: event.NewTest(t.Test, last.hashes[i], t.Preset, t.File)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// origins returns the tests of a chunk with their origins.
func (o *Options) origins(c *chunk) ([]packedTest, error) {
	if c.packed != nil {
		return c.packed.unpack(c.first, len(c.names))
	}
	list := make([]packedTest, len(c.tests))
	for i, t := range c.tests {
		list[i].Test = t
		if o.Origin != nil {
			list[i].Preset, list[i].File = o.Origin(o.Tests[c.first+i])
		}
	}
	return list, nil
}

func newAuditor(o Options, h event.Handler) *auditor {
	a := &auditor{o: o, h: h, cache: newCheckCache(), listed: map[[sha256.Size]byte]bool{}, looks: map[string]bool{},
		codes: map[[16]byte]bool{}}
	if !o.NoVerdict {
		a.judge = newJudge(o.Model, o.KeepVerdicts)
	}
	return a
}

// jobs lists the places of the matrix, sorted by toolchain, target and level.
func (o *Options) jobs() ([]job, error) {
	o.Levels = pipeline.Once(o.Levels)
	if len(o.Levels) == 0 {
		o.Levels = Levels
	}
	places, err := pipeline.Places(o.Toolchains, o.Source, o.Targets, o.Levels)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(places))
	for i, p := range places {
		jobs[i] = job{tc: p.Toolchain, road: p.Pipeline, target: p.Target, level: p.Level}
	}
	return jobs, nil
}

func (o *Options) config(cells int) (*event.Config, error) {
	m, err := o.modelKey()
	if err != nil {
		return nil, err
	}
	c := &event.Config{Schema: event.Schema, Tool: o.Tool, Spec: spec.Version, Tests: o.count(), Cells: cells, Levels: o.Levels,
		Build: o.Build, Source: o.Source, Flags: o.Flags, Model: m, Execute: o.Execute, Shard: o.Shard.String()}
	for _, tc := range o.Toolchains {
		road, err := pipeline.Of(tc, o.Source)
		if err != nil {
			return nil, err
		}
		build, err := road.Build()
		if err != nil {
			return nil, err
		}
		c.Toolchains = append(c.Toolchains, event.Toolchain{ID: tc.ID, Build: build, MaxPTX: tc.MaxPTX})
		for _, t := range tc.Targets {
			if (len(o.Targets) == 0 || slices.Contains(o.Targets, t)) && !slices.Contains(c.Targets, t) {
				c.Targets = append(c.Targets, t)
			}
		}
	}
	slices.SortFunc(c.Targets, target.Compare)
	for _, l := range o.Layouts {
		c.Layouts = append(c.Layouts, l.String())
	}
	return c, nil
}

// modelKey names the models that judge, with the hash of a model that is not part of the
// program; "" if no model is asked.
func (o *Options) modelKey() (string, error) {
	if o.NoVerdict {
		return "", nil
	}
	second := ""
	if o.Hardware {
		second = ", nvhw"
	}
	if o.Model == "" {
		return "default" + second, nil
	}
	m, err := model.Load(o.Model)
	if err != nil {
		return "", err
	}
	return m.Name + " " + m.Hash() + second, nil
}

// auditor is the state of one run.
type auditor struct {
	o     Options
	h     event.Handler
	cache *checkCache
	judge *judge // nil if no model is asked

	// These serve the checks of the tool itself. plain leaves the markers out of the kernels.
	// visit, if not nil, sees every kernel of a decided cell. between, if not nil, sees and may
	// change what llc passes to ptxas. ran, if not nil, sees what the model of the hardware
	// runs, by the hash of its test.
	plain   bool
	visit   func(kernelVisit)
	ran     func(hash string, t *litmus.Test, threads []optcheck.LiftedThread)
	between func(j job, kernel, ptx string) string

	total     int
	done      int
	kernels   int
	registers int // dependencies over registers
	listed    map[[sha256.Size]byte]bool
	looks     map[string]bool   // whose listings were passed on
	codes     map[[16]byte]bool // by hash, which has as many digits
}

// kernelVisit is one compiled kernel as the checker received it.
type kernelVisit struct {
	cell   *event.Cell
	kernel ptxgen.Kernel
	fn     *isa.Func
	check  *optcheck.Checker // set up for this kernel
	result *optcheck.Result  // nil for plain kernels
}

// run processes the jobs concurrently and passes their results on in order.
func (a *auditor) run(ctx context.Context, jobs []job) error {
	n := a.o.Jobs
	if n <= 0 {
		n = runtime.GOMAXPROCS(0) + 1
	}
	type slot struct {
		res  *jobResult
		done chan struct{}
	}
	slots := make([]slot, len(jobs))
	for i, j := range jobs {
		slots[i].done = make(chan struct{})
		j.chunk.begin(j.road.Key(j.target))
	}
	g, gctx := errgroup.WithContext(ctx)
	// window bounds how far finished results may run ahead of the output.
	window := make(chan struct{}, 4*n)
	g.Go(func() error {
		for i := range slots {
			select {
			case <-slots[i].done:
			case <-gctx.Done():
				return a.drain(func(yield func(*jobResult) bool) {
					for j := i; j < len(slots); j++ {
						select {
						case <-slots[j].done:
							if slots[j].res != nil && !yield(slots[j].res) {
								return
							}
						default:
						}
					}
				}, gctx.Err())
			}
			if err := a.pass(slots[i].res); err != nil {
				return err
			}
			slots[i].res = nil
			<-window
		}
		return nil
	})
	workers := make(chan struct{}, n)
	for i, j := range jobs {
		select {
		case window <- struct{}{}:
		case <-gctx.Done():
		}
		select {
		case workers <- struct{}{}:
		case <-gctx.Done():
		}
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			defer func() { <-workers }()
			res, err := a.work(gctx, j)
			j.chunk.end(j.road.Key(j.target))
			if err != nil {
				return err
			}
			slots[i].res = res
			close(slots[i].done)
			return nil
		})
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// drain passes on what is finished when a run is interrupted.
func (a *auditor) drain(rest func(func(*jobResult) bool), cause error) error {
	err := cause
	rest(func(r *jobResult) bool {
		if e := a.pass(r); e != nil {
			err = e
			return false
		}
		return true
	})
	return err
}

// flusher is a handler that can write out what it has buffered.
type flusher interface{ Flush() error }

// passLook passes on the listing of a preserved cell's memory instructions, each distinct one
// once.
func (a *auditor) passLook(c *event.Cell, looks map[string]*event.Listing) error {
	if c.Class != event.Preserved {
		c.Look = ""
	}
	if c.Look == "" || a.looks[c.Look] {
		return nil
	}
	a.looks[c.Look] = true
	return a.h.Handle(event.Event{Listing: looks[c.Look]})
}

// pass passes the events of a finished job to the handler.
func (a *auditor) pass(r *jobResult) error {
	for _, p := range r.problems {
		if err := a.h.Handle(event.Event{Problem: &p}); err != nil {
			return err
		}
	}
	for i := range r.cells {
		c := &r.cells[i]
		if r.skipped != nil && r.skipped[i] {
			continue
		}
		if c.Code != "" {
			var k [16]byte
			copy(k[:], c.Code)
			a.codes[k] = true
		}
		if l := r.listings[i]; l.listing != nil && (c.HasFindings() || a.o.KeepListings) && !a.listed[l.key] {
			a.listed[l.key] = true
			if err := a.h.Handle(event.Event{Listing: l.listing}); err != nil {
				return err
			}
		}
		if err := a.passLook(c, r.looks); err != nil {
			return err
		}
		if x := r.artefacts[i]; len(x) > 0 {
			if err := a.o.Artefacts(c, x); err != nil {
				return err
			}
		}
		if err := a.h.Handle(event.Event{Cell: c}); err != nil {
			return err
		}
	}
	a.kernels += r.kernels
	a.registers += r.registers
	a.done += len(r.cells)
	if a.o.Progress != nil {
		a.o.Progress(a.done, a.total)
	}
	return a.flush()
}

// flush makes the handler write out what it has buffered, if it can.
func (a *auditor) flush() error {
	if f, ok := a.h.(flusher); ok {
		return f.Flush()
	}
	return nil
}

// Usage returns the CPU time used so far by this process, and by the processes that toolchains
// have run.
func Usage(tcs []*toolchain.Toolchain) (own, tools time.Duration) {
	return ownCPU(), statsOf(tcs).CPU()
}

// ownCPU returns the CPU time used so far by this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// statsOf sums the costs of the runners of toolchains, counting each runner once.
func statsOf(tcs []*toolchain.Toolchain) (s toolchain.Stats) {
	seen := map[*toolchain.Runner]bool{}
	for _, tc := range tcs {
		if r := tc.Runner(); !seen[r] {
			seen[r] = true
			x := r.Stats()
			s.Processes += x.Processes
			s.Failed += x.Failed
			s.User += x.User
			s.System += x.System
			s.Disassembly += x.Disassembly
		}
	}
	return s
}
