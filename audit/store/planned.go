package store

import (
	"context"

	"optcheck/event"
)

// planned compares what the runs of a setting planned with what is there. It corrects the
// number of cells in the set's config, and adds a problem for shards that no run did: an
// incomplete store must not look complete.
func (l *Live) planned(ctx context.Context, setting int64) error {
	if l.view.Matrix != nil || l.view.Tests != nil {
		return nil // the caller knows what should be there
	}
	plans, err := l.plans(ctx, setting)
	if err != nil {
		return err
	}
	missing, problems := plans.Lacks(l.Set)
	l.Config.Cells = min(l.Config.Cells+missing, event.MaxPlanned)
	l.Problems = append(l.Problems, problems...)
	return nil
}

// plans lists what the runs of a setting planned. Runs with builds of compilers that are not
// shown do not count.
func (l *Live) plans(ctx context.Context, setting int64) (*event.Plans, error) {
	plans, byRun := &event.Plans{}, map[int64]*event.Plan{}
	err := l.s.each(ctx,
		"SELECT id, config, EXISTS(SELECT 1 FROM event e WHERE e.run=run.id AND e.kind=?) FROM run WHERE setting=? ORDER BY id", []any{kindStats,
			setting}, func(scan func(...any) error) error {
			var id int64
			var data []byte
			var ended bool
			if err := scan(&id, &data, &ended); err != nil {
				return err
			}
			c, err := configOf(id, data)
			if err != nil || !l.shown(&c) {
				return err
			}
			p, err := plans.Add(c, ended)
			if p != nil { // a run that plans something
				byRun[id] = p
			}
			return err
		})
	if err != nil || len(byRun) == 0 {
		return plans, err
	}
	return plans, l.s.each(ctx, "SELECT e.run, e.ref, e.count FROM event e JOIN run r ON r.id=e.run WHERE r.setting=? AND e.kind=?",
		[]any{setting, kindTests}, func(scan func(...any) error) error {
			var run, ref, count int64
			if err := scan(&run, &ref, &count); err != nil {
				return err
			}
			if p := byRun[run]; p != nil {
				for id := ref; id < ref+min(count, int64(len(l.tests))); id++ {
					if t, ok := l.tests[id]; ok && t != none {
						p.Test(t)
					}
				}
			}
			return nil
		})
}

// shown reports whether the set shows the builds of a run's toolchains.
func (l *Live) shown(c *event.Config) bool {
	for _, t := range c.Toolchains {
		for _, k := range l.Config.Toolchains {
			if k.ID == t.ID && k != t {
				return false
			}
		}
	}
	return true
}
