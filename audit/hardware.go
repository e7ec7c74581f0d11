package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/model/explore"
	"optcheck/optcheck"
)

// hardware classifies a cell of an AMD target. A preserved cell that could not be compared in
// full stays preserved only if the model of the hardware was asked.
func (w *worker) hardware(ctx context.Context, cell int) error {
	judged, err := w.judgeHardware(ctx, cell)
	if err == nil && !judged {
		return w.unjudged(ctx, cell)
	}
	return err
}

// judgeHardware asks the OpenCL model about the test of an AMD cell. If the test has a meaning
// (no data race), it explores whether the machine code can show an outcome that OpenCL forbids.
// Preserved cells are explored too: they must not, which tests this tool and its model of the
// hardware. judged reports whether the hardware was explored.
func (w *worker) judgeHardware(ctx context.Context, cell int) (judged bool, err error) {
	c := &w.res.cells[cell]
	if w.a.judge == nil || w.a.plain || c.Class != event.Preserved && c.Class != event.Changed {
		return false, nil
	}
	t, changed := w.test(cell), c.Class == event.Changed
	race, err := w.a.judge.race(ctx, t, c.Hash)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	v := &event.Verdict{Model: languageModel, Race: race}
	if err != nil {
		v.Unjudged = fmt.Sprintf("whether the test has a data race is not known: %v", err)
	}
	if changed {
		c.Verdict = v
	}
	if race != event.RaceFree {
		return false, nil
	}
	got, err := w.machine(ctx, cell, t)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		v.Unjudged = err.Error()
		if w.a.o.KeepVerdicts {
			c.Verdict = v
		}
		return false, nil
	}
	*v = *got
	if w.a.o.KeepVerdicts {
		c.Verdict = v
	}
	switch {
	case changed && len(v.New) > 0:
		c.Class = event.Miscompiled
	case changed:
		c.Class = event.Optimised
	case len(v.New) > 0 && w.promote(cell, optcheck.UnreadGone):
		c.Class, c.Verdict = event.Miscompiled, v
		w.list(cell)
	case len(v.New) > 0:
		w.toolError(cell, fmt.Sprintf("preserved, but the model of the hardware allows %s: %s", v.New[0], strings.Join(v.Schedule, "; ")))
	}
	return true, nil
}

// machine compares what the machine code of a cell can do with what OpenCL allows.
func (w *worker) machine(ctx context.Context, cell int, t *litmus.Test) (*event.Verdict, error) {
	c := &w.res.cells[cell]
	var threads []optcheck.LiftedThread
	key := "amd|" + c.Hash + "|" + c.Layout + "|" + c.Test
	for i, p := range w.parts[cell] {
		if p.result.liftErr != nil {
			return nil, fmt.Errorf("thread %d: %w", i, p.result.liftErr)
		}
		k := &w.em.units[cell].Kernels[i]
		threads = append(threads, optcheck.LiftedThread{Lifted: p.result.lifted, Spec: k.Spec, Values: k.Values})
		key += "|" + p.result.lifted.Key()
	}
	g := w.a.judge
	j := g.remembered(ctx, key, func(ctx context.Context, j *judgement) { j.verdict, j.err = g.hardware(ctx, t, threads) })
	return j.verdict, j.err
}

// hardware explores what the machine code of a test can do.
func (g *judge) hardware(ctx context.Context, t *litmus.Test, threads []optcheck.LiftedThread) (*event.Verdict, error) {
	cl, err := litmus.ToOpenCL(t)
	if err != nil {
		return nil, err
	}
	cl, _ = workGroupFences(cl)
	asked := len(cl.Terms())
	cl = cl.ObserveAll()
	src := g.outcomes(ctx, languageModel, cl.Hash(), []optcheck.LiftedTest{{Test: cl}})
	if src.err != nil {
		return nil, src.err
	}
	ends, name, err := explored(ctx, cl, threads)
	if err != nil {
		return nil, err
	}
	got := slices.Sorted(maps.Keys(ends))
	v := &event.Verdict{Model: languageModel, Race: event.RaceFree, Hardware: name, Source: len(src.states), Machine: len(got),
		New: minus(got, src.states), Lost: minus(src.states, got)}
	v.Visible = visible(v.New, src.states, asked)
	if len(v.New) > 0 {
		v.Schedule = ends[v.New[0]]
		if err := g.why(ctx, cl, languageModel, v); err != nil {
			v.Unexplained = err.Error() // the verdict stands all the same
		}
	}
	return v, nil
}

// explored finds all final states of a test's machine code, each with a schedule in words, and
// returns the name of the memory system that was explored. It prefers schedules without stale
// cache lines.
func explored(ctx context.Context, t *litmus.Test, threads []optcheck.LiftedThread) (ends map[string][]string, name string, err error) {
	m, err := optcheck.NewMachine(t, threads)
	if err != nil {
		return nil, "", err
	}
	ends, err = allEnds(ctx, m, t, threads)
	return ends, m.Name(), err
}

// allEnds explores a machine made from a test's threads.
func allEnds(ctx context.Context, m optcheck.Machine, t *litmus.Test,
	threads []optcheck.LiftedThread) (ends map[string][]string, err error) {
	terms := t.Terms()
	ends = map[string][]string{}
	for _, fresh := range []bool{true, false} {
		err = m.Explore(ctx, fresh, func(f *explore.Final, schedule func() []explore.Step) error {
			values, err := optcheck.MachineState(t, threads, f)
			if err != nil {
				return err
			}
			s := stateText(terms, values)
			if _, ok := ends[s]; ok {
				return nil
			}
			ends[s] = []string{}
			for _, x := range schedule() {
				ends[s] = append(ends[s], fmt.Sprintf("T%d: %s", x.Thread, x.Text))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return ends, nil
}
