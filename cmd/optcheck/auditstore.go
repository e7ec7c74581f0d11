package main

import (
	"context"
	"fmt"
	"slices"

	"optcheck/audit"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/known"
)

// auditStore is the store of an audit: a handler that also tells what it knows.
type auditStore struct {
	*store.Writer
	ctx  context.Context
	env  *environment
	s    *store.Store
	plan event.Config
	all  map[[2]string]event.Test // the tests, by name and hash, without their text
}

// openStore opens the store of an audit, and has the audit ask it. artefacts
// says of which cells it keeps them.
func openStore(ctx context.Context, env *environment, path, artefacts string, o *audit.Options) (*auditStore, error) {
	if !slices.Contains([]string{"none", "findings", "all"}, artefacts) {
		return nil, fmt.Errorf("--artefacts %q: must be none, findings or all", artefacts)
	}
	s, err := storeAt(ctx, path, store.Create)
	if err != nil {
		return nil, err
	}
	st := &auditStore{Writer: s.Writer(), ctx: ctx, env: env, s: s, all: map[[2]string]event.Test{}}
	o.Have = st.Have
	if o.AllArtefacts = artefacts == "all"; artefacts != "none" {
		o.Artefacts = st.Artefacts
	}
	return st, nil
}

// Handle stores an event. The first one tells which cells can be known.
func (a *auditStore) Handle(e event.Event) error {
	if err := a.Writer.Handle(e); err != nil {
		return err
	}
	switch {
	case e.Test != nil:
		t := *e.Test
		t.Text = ""
		a.all[[2]string{t.Name, t.Hash}] = t
	case e.Config != nil:
		a.plan = *e.Config
		if err := a.Remember(a.ctx); err != nil {
			return err
		}
		if n := a.OtherBuilds(); n > 0 {
			a.env.tell("%s: %s of other builds of optcheck %s kept but not used", a.s.Path(), plain.Count(n, "cell"), plain.Form(n, "is", "are"))
		}
	}
	return nil
}

// whole returns all that the store knows of the audit's matrix, also what
// earlier runs found, with known findings marked.
func (a *auditStore) whole(list *known.List, stats *event.Stats) (*event.Run, error) {
	v := store.View{Matrix: &a.plan, Tests: func(name, hash string) bool {
		_, ok := a.all[[2]string{name, hash}]
		return ok
	}}
	set, err := a.s.Load(context.WithoutCancel(a.ctx), v)
	if err != nil {
		return nil, err
	}
	store.Sort(set)
	run := list.MarkSet(set).Lean()
	run.Config, run.Stats = a.plan, stats
	for i := range run.Tests {
		// The same test may have stood elsewhere when the store came to know it.
		t := &run.Tests[i]
		if now, ok := a.all[[2]string{t.Name, t.Hash}]; ok {
			t.Preset, t.File, t.Lines, t.Columns = now.Preset, now.File, now.Lines, now.Columns
		}
	}
	if n := a.Skipped(); n > 0 {
		fresh := a.Added().Cells + a.Added().Replaced
		a.env.tell("%s: %s known, %d %s new", a.s.Path(), plain.Count(n, "cell")+plain.Form(n, " was", " were"), fresh,
			plain.Form(fresh, "is", "are"))
	}
	return run, nil
}

// audited is what an audit reports: all that the store knows of its matrix, or
// without a store what the run found.
func audited(st *auditStore, set *event.Set, list *known.List, stats *event.Stats) (*event.Run, error) {
	if st == nil {
		return set.Lean(), nil
	}
	return st.whole(list, stats)
}

// lastStats keeps the statistics of a run.
type lastStats struct{ stats *event.Stats }

// Handle implements event.Handler.
func (l *lastStats) Handle(e event.Event) error {
	if e.Stats != nil {
		l.stats = e.Stats
	}
	return nil
}

// Close implements event.Handler.
func (l *lastStats) Close() error { return nil }

// shardOf parses --shard of an audit.
func shardOf(s string) (audit.Shard, error) {
	if s == "" {
		return audit.Shard{}, nil
	}
	sh, err := parseShard(s)
	return audit.Shard{I: sh.i, N: sh.n}, err
}

// storeEvents passes what a store has of a setting (0: that of the latest run) to
// a handler.
func storeEvents(ctx context.Context, path string, setting int64, h event.Handler) error {
	s, err := storeAt(ctx, path, store.Read)
	if err != nil {
		return err
	}
	defer s.Close()
	if set, ok := h.(*event.Set); ok && len(set.Cells) == 0 {
		// The same without a detour through events.
		loaded, err := s.Load(ctx, store.View{Setting: setting})
		if err != nil {
			return err
		}
		store.Sort(loaded)
		*set = *loaded
		missing, err := s.Unfinished(ctx, setting)
		if missing && (set.Stats == nil || !set.Stats.Interrupted) {
			set.Stats = &event.Stats{Cells: len(set.Cells), Interrupted: true}
		}
		return err
	}
	return s.Export(ctx, store.View{Setting: setting}, h)
}
