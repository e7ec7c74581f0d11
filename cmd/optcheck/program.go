package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/known"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/report"
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

// programRun is an audit of files of real code, on its way into reports.
type programRun struct {
	o        realcode.Options
	modules  []*ptx.Module
	programs []*realcode.Program
	h        event.Handler
	known    int  // cells that a store has
	partly   bool // some parts of a file were not read
	problems []event.Problem
}

// programMemory is up to where garbage of an audit of programs is collected seldom, in bytes.
const programMemory = 640 << 20

// auditPrograms audits files of real code. A file that cannot be read is told at the
// end, and costs no other.
func auditPrograms(ctx context.Context, env *environment, f *auditFlags, files []string) (err error) {
	defer roomy(env, programMemory)()
	env.quiet = f.quiet
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	if err := checkFormat(f.format, auditFormats); err != nil {
		return err
	}
	reports, err := reportFiles(f.reports, auditFormats)
	if err != nil {
		return err
	}
	defer func() { discard(reports) }()
	list, own, err := knownList(env)
	if err := cmp.Or(err, baselineFile(f.writeKnown)); err != nil {
		return err
	}
	r := &programRun{o: realcode.Options{Targets: env.settings.targets, Levels: env.settings.levels, Jobs: env.settings.jobs,
		Execute: int(f.execute)}}
	failed, err := r.read(ctx, env, f, files)
	if err != nil {
		return err
	}
	if len(r.modules) == 0 {
		return fmt.Errorf("%d of %d files could not be read", failed, len(files))
	}
	set, last := event.NewSet(), &lastStats{}
	handlers := event.Tee{set, last}
	if f.output != "" {
		out, err := input.Create(f.output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		handlers = append(handlers, event.NewJSONLines(out))
	}
	if f.format == "json" {
		handlers = append(handlers, event.NewJSONLines(env.stdout))
	}
	r.h = known.Handler{List: list, Next: handlers}
	var st *auditStore
	if f.store != "" {
		if st, err = openStore(ctx, env, f.store, "none", &audit.Options{}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.s.Close()) }()
		r.h = event.Tee{st, r.h} // which findings are known is nothing to store
		r.o.Have = r.knownTo(st)
	}
	runErr := r.run(ctx, newProgress(env.bar, f.quiet))
	if err := cmp.Or(r.h.Close(), runErr); err != nil && ctx.Err() == nil { // both if a file cannot be written
		return err
	}
	run, err := audited(st, set, list, last.stats)
	if err != nil {
		return err
	}
	f.text.NewOnly = env.settings.newOnly
	gate.choose(run)
	show := &rendering{env: env, text: f.text, list: list}
	if f.format != "json" { // which was written on the way
		err = renderers[f.format](show, env.stdout, run)
	}
	if err := errors.Join(err, writeReports(show, reports, run), pagesOf(ctx, env, run, list, f.html), runErr); err != nil {
		return err
	}
	reportUnused(env, list, own, run)
	if err := writeBaseline(env, f.writeKnown, run.All()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be read%s", failed, len(files), map[bool]string{true: " whole"}[r.partly])
	}
	if why := nothing(run); why != "" {
		return fmt.Errorf("nothing could be compiled: %s", why)
	}
	if why := lackingFiles(run); why != "" {
		return errors.New(why)
	}
	run = counted(env, run)
	if n := run.Classes(); gate.fail == event.FailNew && n[event.Changed]+n[event.Unknown] > 0 {
		env.tell("%s of kernels without a verdict, which --fail-on new does not count, and --fail-on changed does",
			plain.Count(n[event.Changed]+n[event.Unknown], "changed or unknown cell"))
	}
	return gate.done(run)
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

// read reads the files, and counts those that cannot be. Of CUDA C++ there is a module for
// each front end, and for each target of which the PTX is another.
func (r *programRun) read(ctx context.Context, env *environment, f *auditFlags, files []string) (failed int, err error) {
	fronts := newFrontRun(env, f.frontFlags, f.keepCode)
	ofPTX := 0
	for _, file := range files {
		var modules []*ptx.Module
		if isCUDA(file) {
			modules, err = fronts.read(ctx, file)
		} else {
			modules, err = readPTXs(file)
			ofPTX += len(modules)
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, errNoFront):
			return 0, err
		case err != nil:
			env.tell("%v", err)
		}
		partly := err != nil && len(modules) > 0 && !isCUDA(file)
		if r.partly = r.partly || partly; partly || len(modules) == 0 {
			failed++
			r.problems = append(r.problems, event.Problem{Kind: event.ProblemInput, Detail: err.Error()})
		}
		for _, m := range modules {
			program := realcode.NewProgram
			if fronts.of[m].Failed != nil {
				program = realcode.NewFailed
			}
			r.modules, r.programs = append(r.modules, m), append(r.programs, program(m, fronts.origin[m], fronts.of[m].Targets...))
			if f.verify && fronts.of[m].Failed == nil {
				r.verify(m, r.programs[len(r.programs)-1])
			}
			m.Forget()
			delete(fronts.origin, m)
		}
	}
	if ofPTX > 0 {
		of, err := env.forPTX(ctx, fronts.pairs)
		if err != nil {
			return 0, err
		}
		if r.o.Toolchains, err = discover(ctx, of); err != nil {
			return 0, err
		} else if len(r.o.Toolchains) == 0 {
			return 0, fmt.Errorf("no ptxas was found; optcheck toolchain install gets some")
		}
		if _, err := pipeline.Places(r.o.Toolchains, "", r.o.Targets, r.o.Levels); err != nil {
			return 0, foreignToPTX(err)
		}
	}
	for _, m := range r.modules {
		if _, made := fronts.of[m]; !made {
			fronts.of[m] = realcode.Own{Toolchains: r.o.Toolchains}
		}
	}
	r.o.Toolchains, r.o.Of = slices.Concat(r.o.Toolchains, fronts.pairs), fronts.of
	return failed, nil
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
func (r *programRun) run(ctx context.Context, bar *progress) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	plan := realcode.Config(&r.o, r.programs)
	plan.Tool, plan.Build = version(), build
	if err := r.h.Handle(event.Event{Config: plan}); err != nil {
		return err
	}
	for _, p := range r.programs {
		for i := range p.Tests {
			if err := r.h.Handle(event.Event{Test: &p.Tests[i]}); err != nil {
				return err
			}
		}
	}
	for i := range r.problems {
		if err := r.h.Handle(event.Event{Problem: &r.problems[i]}); err != nil {
			return err
		}
	}
	start, cells, registers := time.Now(), 0, 0
	err = realcode.AuditAll(ctx, r.o, r.modules, func(i int, c *realcode.Cell) error {
		cells += len(r.programs[i].Tests)
		if c.Result != nil {
			registers += c.Result.Count.Registers
		}
		if err := r.programs[i].Events(c, r.h.Handle); err != nil {
			return err
		}
		bar.update(cells, plan.Cells-r.known)
		return flush(r.h)
	})
	bar.done()
	if err != nil && ctx.Err() == nil {
		return err
	}
	own, tools := audit.Usage(r.o.Toolchains)
	return errors.Join(err, r.h.Handle(event.Event{Stats: &event.Stats{Cells: cells, Wall: time.Since(start).Seconds(), OwnCPU: own.Seconds(),
		ToolCPU: tools.Seconds(), Registers: registers, Interrupted: err != nil}}))
}

// flush has a handler write what it gathers, so that a run that dies loses no more than a cell.
func flush(h event.Handler) error {
	if f, ok := h.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

func isCubin(file string) bool { return filepath.Ext(file) == ".cubin" }

// auditCubin compares a cubin with the PTX of its name beside it.
func auditCubin(ctx context.Context, env *environment, f *auditFlags, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s: one cubin at a time", strings.Join(args, " "))
	}
	if err := checkFormat(f.format, []string{"text", "json"}); err != nil {
		return err
	}
	file := args[0]
	source := strings.TrimSuffix(file, ".cubin") + ".ptx"
	if _, err := os.Stat(source); err != nil {
		return fmt.Errorf("%s: a cubin is compared with the PTX that it was made of, and there is no %s: optcheck check FILE.ptx %s names another one",
			file, source, filepath.Base(file))
	}
	return checkProgram(ctx, env, source, file, f.format == "json", f.text)
}

// checkProgram compares a cubin with the PTX that it was made of.
func checkProgram(ctx context.Context, env *environment, file, code string, asJSON bool, text report.TextOptions) error {
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	m, err := readPTX(file, 0)
	if err != nil {
		return err
	}
	data, err := readInput(env, code)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(data[:min(4, len(data))]), "\x7fELF") {
		return fmt.Errorf("%s: not a cubin, which is what PTX is compared with", code)
	}
	tcs, err := discover(ctx, env.forFile())
	if err != nil {
		return err
	}
	c, err := realcode.CheckCubin(ctx, tcs, m, code, data)
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(env.stdout).Encode(c)
	} else {
		err = writeProgram(env, m, c, text)
	}
	if err != nil {
		return err
	}
	return gate.one(event.Result{Class: c.Class, Reason: c.Reason})
}

// writeProgram writes what a cell says of a module for people.
func writeProgram(env *environment, m *ptx.Module, c *realcode.Cell, text report.TextOptions) error {
	run, p := event.NewRun(), realcode.NewProgram(m, realcode.Origin{})
	run.Config = event.Config{Tests: len(p.Tests), Cells: len(p.Tests), Layouts: []string{event.OwnLayout}, Levels: []string{c.Level},
		Toolchains: []event.Toolchain{{ID: c.Toolchain}}, Claims: realcode.Statement(realcode.Runs)}
	for i := range p.Tests {
		if err := run.Handle(event.Event{Test: &p.Tests[i]}); err != nil {
			return err
		}
	}
	if err := p.Events(c, run.Handle); err != nil {
		return err
	}
	return renderers["text"](&rendering{env: env, text: text}, env.stdout, run)
}
