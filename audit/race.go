package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"optcheck/event"
	"optcheck/internal/limits"
	"optcheck/litmus"
	"optcheck/model"
)

// languageModel is the model that says what a test means in OpenCL.
const languageModel = "opencl"

// ptxModel is the vendor's model, which decides whether a PTX test has a data race.
const ptxModel = "ptx"

// raceFlag is the flag by which a model reports a data race.
const raceFlag = "data-race"

// race asks the OpenCL model whether a test, which may be in another dialect, has a data race:
// such a test has no meaning. The model treats a fence without a scope (mem_fence of OpenCL
// 1.2) as one of device scope; OpenCL 2.0 defines it as one of memory_scope_work_group. Both
// are asked, so that a reader sees which races exist only for that reason. Volatile accesses
// count as relaxed atomics, since LLVM compiles them at least as such.
func (g *judge) race(ctx context.Context, t *litmus.Test, hash string) (string, error) {
	return g.raceOf(ctx, languageModel+"|"+hash, func(ctx context.Context) (string, error) { return g.askRace(ctx, t) })
}

// raceOf asks about the races of a test once, within the limits of a judgement.
func (g *judge) raceOf(ctx context.Context, key string, ask func(context.Context) (string, error)) (string, error) {
	g.mu.Lock()
	r, ok := g.races.get(key)
	g.mu.Unlock()
	if ok {
		return r.race, r.err
	}
	r = raced{}
	limited, cancel := limits.Judging(ctx)
	defer cancel()
	if r.race, r.err = ask(limited); r.err != nil && limited.Err() != nil && ctx.Err() == nil {
		r.err = context.Cause(limited)
	}
	if ctx.Err() == nil {
		g.mu.Lock()
		g.races.put(key, r, judgedSize)
		g.mu.Unlock()
	}
	return r.race, r.err
}

// ptxRace records whether a test has a data race in the PTX memory model, which applies to
// targets from sm_70 on. A test that exceeds the limits is never considered race-free.
func (g *judge) ptxRace(ctx context.Context, s *subject, v *event.Verdict) error {
	v.RaceModel = DefaultModel(s.target)
	if v.RaceModel != ptxModel {
		v.Race, v.RaceWhy = event.RaceUnknown, "the model "+v.RaceModel+" does not say what a race is"
		return nil
	}
	var err error
	v.Race, err = g.raceOf(ctx, ptxModel+"|"+s.hash, func(ctx context.Context) (string, error) {
		r, err := model.PTXRace(ctx, s.t, model.Options{Timeout: -1})
		return ptxRaces[r], err
	})
	if err != nil {
		v.Race, v.RaceWhy = event.RaceUnknown, err.Error()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

var ptxRaces = map[model.Race]string{model.RaceNone: event.RaceFree, model.RaceUniform: event.DataRace, model.RaceMixed: event.MixedSize,
	model.RaceCache: event.NonCoherent}

// raced is the cached result for a test.
type raced struct {
	race string
	err  error
}

func (g *judge) askRace(ctx context.Context, t *litmus.Test) (string, error) {
	m, err := g.load(languageModel)
	if err != nil {
		return "", err
	}
	cl, err := litmus.ToOpenCL(t)
	if err != nil {
		return "", err
	}
	has := func(t *litmus.Test) (bool, error) {
		v, err := m.Judge(ctx, t, model.Options{Timeout: -1})
		if err != nil {
			return false, err
		}
		if v.Undecided != "" {
			return false, fmt.Errorf("undecided: %s", v.Undecided)
		}
		if len(v.States) == 0 { // that no execution has a race then says nothing
			return false, errors.New("the model allows no execution at all")
		}
		return slices.Contains(v.Flags, raceFlag), nil
	}
	if yes, err := has(cl); err != nil || yes {
		return event.DataRace, err
	}
	narrow, changed := workGroupFences(cl)
	if !changed {
		return event.RaceFree, nil
	}
	if yes, err := has(narrow); err != nil || yes {
		return event.FenceScope, err
	}
	return event.RaceFree, nil
}

// workGroupFences gives the fences of a test that have no scope the scope that OpenCL 2.0
// defines for them (section "Fence functions": mem_fence is atomic_work_item_fence with
// memory_order_acq_rel and memory_scope_work_group).
func workGroupFences(t *litmus.Test) (out *litmus.Test, changed bool) {
	out = t.Clone()
	for i := range out.Threads {
		for k := range out.Threads[i].Body {
			if in := &out.Threads[i].Body[k]; in.Op == litmus.OpFence && in.Scope == litmus.ScopeNone {
				in.Scope, changed = litmus.ScopeCTA, true
			}
		}
	}
	return out, changed
}
