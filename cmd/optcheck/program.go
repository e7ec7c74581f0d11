package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// readPTXs reads the modules of a file: several if cuobjdump wrote it.
func readPTXs(file string) ([]*ptx.Module, error) {
	data, err := input.ReadFile(file, ptx.MaxInput)
	if err != nil {
		return nil, err
	}
	return ptx.ParseAll(file, data)
}

// readPTX reads the module of a file that has a line; line is 0 if none is named.
func readPTX(file string, line int) (*ptx.Module, error) {
	all, err := readPTXs(file)
	if i := slices.IndexFunc(all, func(m *ptx.Module) bool { return m.Has(line) }); i >= 0 {
		return all[i], nil
	}
	if err == nil && len(all) > 1 {
		err = fmt.Errorf("%s: %d modules, and one is meant: name the line of a finding, or give a file of its own", file, len(all))
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// programRun is an audit of files of real code, on its way into reports. A file that cannot be read is told at the end, and costs
// no other.
type programRun struct {
	env      *environment
	f        *auditFlags
	files    []string
	o        realcode.Options
	modules  []*ptx.Module
	programs []*realcode.Program
	known    int  // cells that a store has
	failed   int  // files that could not be read
	partly   bool // some parts of a file were not read
	problems []event.Problem
}

func newProgramRun(env *environment, f *auditFlags, files []string) *programRun {
	return &programRun{env: env, f: f, files: files, o: realcode.Options{Targets: env.settings.targets, Levels: env.settings.levels,
		Jobs: env.settings.jobs, Execute: int(f.execute)}}
}

// memory leaves what is no garbage room below half a gigabyte: an endless kernel has 200 MiB of events to compare.
func (r *programRun) memory() int64 { return 384 << 20 }

func (r *programRun) store(ctx context.Context, path string) (*auditStore, error) {
	st, err := openStore(ctx, r.env, path, "none", &audit.Options{})
	if err == nil {
		r.o.Have = r.knownTo(st)
	}
	return st, err
}

func (r *programRun) brief() bool { return false }

func (r *programRun) empty(error) bool { return true }

// lacking tells what of the files could not be read or compiled.
func (r *programRun) lacking(run *event.Run) error {
	if r.failed > 0 {
		return fmt.Errorf("%d of %d files could not be read%s", r.failed, len(r.files), map[bool]string{true: " whole"}[r.partly])
	}
	if why := nothing(run); why != "" {
		return fmt.Errorf("nothing could be compiled: %s", why)
	}
	if why := lackingFiles(run); why != "" {
		return errors.New(why)
	}
	if n := counted(r.env, run).Classes(); run.FailOn == event.FailNew && n[event.Changed]+n[event.Unknown] > 0 {
		r.env.tell("%s of kernels without a verdict, which --fail-on new does not count, and --fail-on changed does",
			plain.Count(n[event.Changed]+n[event.Unknown], "changed or unknown cell"))
	}
	return nil
}

// knownTo tells which cells of modules a store has.
func (r *programRun) knownTo(st *auditStore) func(*ptx.Module, *realcode.Cell) bool {
	return func(m *ptx.Module, c *realcode.Cell) bool {
		p := r.programs[slices.Index(r.modules, m)]
		known := p.Known(c, st.Have)
		if known {
			r.known += len(p.Tests)
		}
		return known
	}
}

// read reads the files. Of CUDA C++ there is a module for each front end, and for each target of which the PTX is another.
func (r *programRun) read(ctx context.Context) error {
	fronts := newFrontRun(r.env, r.f.frontFlags, r.f.keepCode)
	ofPTX := 0
	for _, file := range r.files {
		n, err := r.readFile(ctx, fronts, file)
		if err != nil {
			return err
		}
		ofPTX += n
	}
	if ofPTX > 0 {
		if err := r.findPTXAS(ctx, fronts); err != nil {
			return err
		}
	}
	for _, m := range r.modules {
		if _, made := fronts.of[m]; !made {
			fronts.of[m] = realcode.Own{Toolchains: r.o.Toolchains}
		}
	}
	r.o.Toolchains, r.o.Of = slices.Concat(r.o.Toolchains, fronts.pairs), fronts.of
	if len(r.modules) == 0 {
		return fmt.Errorf("%d of %d files could not be read", r.failed, len(r.files))
	}
	return nil
}

// readFile reads a file, and counts those of its modules that were written as PTX.
func (r *programRun) readFile(ctx context.Context, fronts *frontRun, file string) (ofPTX int, err error) {
	var modules []*ptx.Module
	if isCUDA(file) {
		modules, err = fronts.read(ctx, file)
	} else {
		modules, err = readPTXs(file)
		ofPTX = len(modules)
	}
	switch {
	case ctx.Err() != nil, errors.Is(err, errNoFront):
		return 0, err
	case err != nil:
		r.env.tell("%v", err)
	}
	partly := err != nil && len(modules) > 0 && !isCUDA(file)
	if r.partly = r.partly || partly; partly || len(modules) == 0 {
		r.failed++
		r.problems = append(r.problems, event.Problem{Kind: event.ProblemInput, Detail: err.Error()})
	}
	for _, m := range modules {
		program := realcode.NewProgram
		if fronts.of[m].Failed != nil {
			program = realcode.NewFailed
		}
		r.modules, r.programs = append(r.modules, m), append(r.programs, program(m, fronts.origin[m], fronts.of[m].Targets...))
		if r.f.verify && fronts.of[m].Failed == nil {
			r.verify(m, r.programs[len(r.programs)-1])
		}
		m.Forget()
		delete(fronts.origin, m)
	}
	return ofPTX, nil
}

// findPTXAS finds the compilers of files of PTX.
func (r *programRun) findPTXAS(ctx context.Context, fronts *frontRun) error {
	of, err := r.env.forPTX(ctx, fronts.pairs)
	if err != nil {
		return err
	}
	if r.o.Toolchains, err = discover(ctx, of); err != nil {
		return err
	} else if len(r.o.Toolchains) == 0 {
		return fmt.Errorf("no ptxas was found; optcheck toolchain install gets some")
	}
	if _, err := pipeline.Places(r.o.Toolchains, "", r.o.Targets, r.o.Levels); err != nil {
		return foreignToPTX(err)
	}
	return nil
}

// forPTX returns an environment whose --toolchains are those that stand for compilers of PTX, where others stand for
// front ends of the same run.
func (env *environment) forPTX(ctx context.Context, fronts []*toolchain.Toolchain) (*environment, error) {
	if len(fronts) == 0 || len(env.settings.toolchains) == 0 {
		return env, nil
	}
	all, _, err := found(ctx, env)
	if err != nil {
		return nil, err
	}
	sub := *env
	sub.settings.toolchains = slices.DeleteFunc(slices.Clone(env.settings.toolchains), func(name string) bool {
		_, err := toolchain.Find(all, name)
		return err != nil
	})
	if len(sub.settings.toolchains) == 0 {
		return env, nil // the error says what they are
	}
	return &sub, nil
}

// run audits all modules and hands over the events, those of what was finished if it is interrupted.
func (r *programRun) run(ctx context.Context, h event.Handler, bar *progress) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	plan := realcode.Config(&r.o, r.programs)
	plan.Tool, plan.Build = version(), build
	if err := h.Handle(event.Event{Config: plan}); err != nil {
		return err
	}
	for _, p := range r.programs {
		for i := range p.Tests {
			if err := h.Handle(event.Event{Test: &p.Tests[i]}); err != nil {
				return err
			}
		}
	}
	for i := range r.problems {
		if err := h.Handle(event.Event{Problem: &r.problems[i]}); err != nil {
			return err
		}
	}
	start, cells, registers := time.Now(), 0, 0
	err = realcode.AuditAll(ctx, r.o, r.modules, func(i int, c *realcode.Cell) error {
		cells += len(r.programs[i].Tests)
		if c.Result != nil {
			registers += c.Result.Count.Registers
		}
		if err := r.programs[i].Events(c, h.Handle); err != nil {
			return err
		}
		bar.update(cells, plan.Cells-r.known)
		return flush(h)
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	own, tools := audit.Usage(r.o.Toolchains)
	return errors.Join(err, h.Handle(event.Event{Stats: &event.Stats{Cells: cells, Wall: time.Since(start).Seconds(), OwnCPU: own.Seconds(),
		ToolCPU: tools.Seconds(), Registers: registers, Interrupted: err != nil}}))
}

// flush has a handler write what it gathers, so that a run that dies loses no more than a cell.
func flush(h event.Handler) error {
	if f, ok := h.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
