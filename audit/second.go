package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/optcheck"
)

// lifting returns the forms of machine code that are wanted.
func (a *auditor) lifting() lifting {
	switch {
	case a.judge == nil:
		return liftNothing
	case a.o.Hardware:
		return liftMachine
	}
	return liftTest
}

// second asks the model of the hardware about a cell that has a verdict: can the machine code,
// as it is, with its control codes, end in a state that the test forbids? That model does not
// use the table of what instructions mean when machine code is lifted (optcheck.Meanings), so
// each checks the other.
func (w *worker) second(ctx context.Context, cell int) error {
	c := &w.res.cells[cell]
	if !w.a.o.Hardware || c.Class != event.Preserved && c.Class != event.Optimised && c.Class != event.Miscompiled {
		return nil
	}
	h, err := w.asked(ctx, cell)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		h = &event.Hardware{Unjudged: err.Error()}
	}
	c.Hardware = h
	if len(h.New) > 0 && c.Class != event.Miscompiled {
		w.toolError(cell, fmt.Sprintf("%s, but the model of the hardware allows %s: %s", c.Class, h.New[0], strings.Join(h.Schedule, "; ")))
	}
	return nil
}

// asked compares what the machine code of a cell can do with what the model allows for its
// test. It explores once what several cells have in common.
func (w *worker) asked(ctx context.Context, cell int) (*event.Hardware, error) {
	c := &w.res.cells[cell]
	name := w.a.judge.override
	if name == "" {
		name = DefaultModel(w.j.target)
	}
	key := "nv|" + name + "|" + c.Hash + "|" + c.Layout
	var threads []optcheck.LiftedThread
	for i, p := range w.parts[cell] {
		if p.result.machineErr != nil {
			return nil, fmt.Errorf("thread %d: %w", i, p.result.machineErr)
		}
		k := &w.em.units[cell].Kernels[i]
		threads = append(threads, optcheck.LiftedThread{Lifted: p.result.machine, Spec: k.Spec, Values: k.Values})
		key += "|" + p.result.machine.Key()
	}
	g := w.a.judge
	j := g.remembered(ctx, key, func(ctx context.Context, j *judgement) {
		all := w.test(cell).ObserveAll()
		src := g.outcomes(ctx, name, c.Hash, []optcheck.LiftedTest{{Test: all}})
		if j.err = src.err; j.err != nil {
			return
		}
		ends, hardware, err := explored(ctx, all, threads)
		if j.err = err; err != nil {
			return
		}
		if w.a.ran != nil {
			w.a.ran(c.Hash, all, threads)
		}
		got := slices.Sorted(maps.Keys(ends))
		j.hardware = &event.Hardware{Name: hardware, Outcomes: len(got), New: minus(got, src.states)}
		if len(j.hardware.New) > 0 {
			j.hardware.Schedule = ends[j.hardware.New[0]]
		}
	})
	return j.hardware, j.err
}
