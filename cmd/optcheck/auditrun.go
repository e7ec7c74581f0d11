package main

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"

	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/promptly"
	"optcheck/known"
)

// auditee is what an audit is of: litmus tests, or programs.
type auditee interface {
	// memory is up to where garbage is collected seldom, in bytes.
	memory() int64
	// read takes in what was named, and finds the compilers.
	read(ctx context.Context) error
	// store opens the store of the audit, which is asked for what it knows already.
	store(ctx context.Context, path string) (*auditStore, error)
	// run compiles, compares and judges, and hands over the events; those of what was finished if it is interrupted.
	run(ctx context.Context, h event.Handler, bar *progress) error
	// brief tells that nobody asks for the listings of preserved cells.
	brief() bool
	// empty tells that a run that ended with err is reported on though it has no cells.
	empty(err error) bool
	// lacking is why the run of an audit is no success, beside what its cells are.
	lacking(run *event.Run) error
}

// auditOutput is what an audit writes in the end. Its files are opened, and what it is to be compared with is read, before the
// work begins.
type auditOutput struct {
	env     *environment
	f       *auditFlags
	gate    gate
	reports []*reportFile
	list    *known.List
	own     int // of the list, see knownList
}

func newAuditOutput(env *environment, f *auditFlags) (o *auditOutput, err error) {
	o = &auditOutput{env: env, f: f}
	if o.gate, err = env.settings.gate(); err != nil {
		return nil, err
	}
	if err := checkFormat(f.format, auditFormats); err != nil {
		return nil, err
	}
	if o.list, o.own, err = knownList(env); err != nil {
		return nil, err
	}
	if err := baselineFile(f.writeKnown); err != nil {
		return nil, err
	}
	o.reports, err = reportFiles(f.reports, auditFormats)
	return o, err
}

// runAudit audits tests or programs, and reports on them.
func runAudit(ctx context.Context, env *environment, f *auditFlags, of auditee) (err error) {
	defer roomy(env, of.memory())()
	env.quiet = f.quiet
	out, err := newAuditOutput(env, f)
	if err != nil {
		return err
	}
	defer func() { discard(out.reports) }()
	if _, err := promptly.Do(ctx, func() (any, error) { return nil, of.read(ctx) }); err != nil {
		return err
	}
	set, last := event.NewSet(), &lastStats{}
	set.FindingsOnly = of.brief()
	handlers := event.Tee{last}
	if f.output != "" {
		file, err := input.Create(f.output)
		if err != nil {
			return err
		}
		defer file.Close() // what was not written is an error of h.Close
		handlers = append(handlers, event.NewJSONLines(file))
	}
	if f.format == "json" {
		handlers = append(handlers, event.NewJSONLines(env.stdout))
	}
	var st *auditStore
	if f.store == "" {
		handlers = append(handlers, set)
	} else if st, err = of.store(ctx, f.store); err != nil {
		return err
	} else {
		defer func() { err = st.s.End(err) }()
	}
	var h event.Handler = known.Handler{List: out.list, Next: handlers}
	if st != nil {
		h = event.Tee{st, h} // which findings are known is nothing to store
	}
	bar := newProgress(env.bar, f.quiet)
	runErr := of.run(ctx, h, bar)
	bar.done()
	if err := h.Close(); err != nil {
		return cmp.Or(runErr, err)
	}
	run, err := audited(st, set, out.list, last.stats)
	if err != nil {
		return errors.Join(runErr, err)
	}
	return out.write(ctx, of, run, runErr)
}

// write reports on a run that ended with runErr, and returns the verdict on it.
func (o *auditOutput) write(ctx context.Context, of auditee, run *event.Run, runErr error) error {
	f, env := o.f, o.env
	f.text.NewOnly = env.settings.newOnly
	o.gate.choose(run)
	if run.Len() > 0 || of.empty(runErr) {
		show := &rendering{env: env, text: f.text, list: o.list}
		var err error
		if f.format != "json" { // which was written on the way
			err = renderers[f.format](show, env.stdout, run)
		}
		if err := errors.Join(err, writeReports(show, o.reports, run), pagesOf(ctx, env, run, o.list, f.html)); err != nil {
			return errors.Join(runErr, err)
		}
	}
	if runErr != nil {
		return runErr
	}
	reportUnused(env, o.list, o.own, run)
	if err := writeBaseline(env, f.writeKnown, run.All()); err != nil {
		return err
	}
	if err := of.lacking(run); err != nil {
		return err
	}
	return o.gate.done(counted(env, run))
}

// roomy has garbage collected seldom until memory reaches limit, in bytes: disassemblies are
// large and live briefly, and to look for them costs as much as all that lives. GOMEMLIMIT
// and GOGC override it. What it returns puts things back.
func roomy(env *environment, limit int64) (back func()) {
	percent := 400
	if env.getenv("GOMEMLIMIT") != "" {
		limit = -1
	}
	limit = debug.SetMemoryLimit(limit)
	if env.getenv("GOGC") != "" {
		return func() { debug.SetMemoryLimit(limit) }
	}
	percent = debug.SetGCPercent(percent)
	return func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) }
}
