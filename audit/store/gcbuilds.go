package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"optcheck/event"
)

// gcColumn is a column as GC sees it.
type gcColumn struct {
	id, setting int64
	tool        event.Toolchain
	place       event.Column
	rank        int64   // the latest run of its setting and compiler's build
	newer       []int64 // columns of the same place by newer builds
}

// gcBuilds lists the builds of a store with their columns, newest first.
func (s *Store) gcBuilds(ctx context.Context) ([]*BuildGarbage, error) {
	settings, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	of := map[int64]Setting{}
	for _, x := range settings {
		of[x.ID] = x.Setting
	}
	latest, named, seen, err := s.lastRuns(ctx)
	if err != nil {
		return nil, err
	}
	columns, err := s.gcColumns(ctx, latest, named)
	if err != nil {
		return nil, err
	}
	ranks := map[[2]string]int64{} // of builds of optcheck
	for _, x := range settings {
		k := [2]string{x.Tool, x.Build}
		ranks[k] = max(ranks[k], latest[x.ID])
	}
	at, used := map[[3]string]*BuildGarbage{}, map[[2]string]int64{}
	var out []*BuildGarbage
	build := func(x Setting, compiler string) *BuildGarbage {
		k := [3]string{x.Tool, x.Build, compiler}
		if at[k] == nil {
			at[k] = &BuildGarbage{Tool: x.Tool, Build: x.Build, Compiler: compiler}
			out = append(out, at[k])
		}
		return at[k]
	}
	for _, x := range settings {
		b := build(x.Setting, "")
		b.settings = append(b.settings, x.ID)
		k := [2]string{x.Tool, x.Build}
		used[k] = max(used[k], seen[x.ID])
	}
	supersede(columns, of)
	for _, c := range columns {
		compiler := ""
		for _, d := range columns {
			if d.setting == c.setting && d.tool.ID == c.tool.ID && d.tool != c.tool && d.rank > c.rank {
				compiler = fmt.Sprintf("%s (build %s)", c.tool.ID, c.tool.Build)
			}
		}
		b := build(of[c.setting], compiler)
		b.columns = append(b.columns, c)
	}
	for _, b := range out {
		b.LastUsed = used[[2]string{b.Tool, b.Build}]
	}
	sortBuilds(out, func(b *BuildGarbage) int64 { return ranks[[2]string{b.Tool, b.Build}] })
	return out, nil
}

// lastRuns returns the latest run of each setting, the latest run of each compiler's build in
// it, and the time of a setting's last sign of life.
func (s *Store) lastRuns(ctx context.Context) (latest map[int64]int64, named map[int64]map[event.Toolchain]int64,
	seen map[int64]int64, err error) {
	latest, named, seen = map[int64]int64{}, map[int64]map[event.Toolchain]int64{}, map[int64]int64{}
	err = s.each(ctx, "SELECT id, setting, config, seen FROM run ORDER BY id", nil, func(scan func(...any) error) error {
		var id, setting, at int64
		var data []byte
		if err := scan(&id, &setting, &data, &at); err != nil {
			return err
		}
		c, err := configOf(id, data)
		if err != nil {
			return err
		}
		latest[setting], seen[setting] = id, max(seen[setting], at)
		if named[setting] == nil {
			named[setting] = map[event.Toolchain]int64{}
		}
		for _, t := range c.Toolchains {
			named[setting][t] = id
		}
		return nil
	})
	return latest, named, seen, err
}

func (s *Store) gcColumns(ctx context.Context, latest map[int64]int64,
	named map[int64]map[event.Toolchain]int64) (out []*gcColumn, err error) {
	err = s.each(
		ctx,
		"SELECT c.id, c.setting, t.name, t.build, t.max_ptx, c.target, c.level, c.layout FROM col c JOIN toolchain t ON t.id=c.toolchain ORDER BY c.id",
		nil,
		func(scan func(...any) error) error {
			c := &gcColumn{}
			if err := scan(&c.id, &c.setting, &c.tool.ID, &c.tool.Build, &c.tool.MaxPTX, &c.place.Target, &c.place.Level,
				&c.place.Layout); err != nil {
				return err
			}
			c.place.Toolchain = c.tool.ID
			var ok bool
			if c.rank, ok = named[c.setting][c.tool]; !ok {
				c.rank = latest[c.setting] // of a run that does not name it
			}
			out = append(out, c)
			return nil
		},
	)
	return out, err
}

// supersede finds for each column those of newer builds with an otherwise equal setting.
func supersede(columns []*gcColumn, of map[int64]Setting) {
	type family struct {
		setting digest
		place   event.Column
	}
	at := map[family][]*gcColumn{}
	for _, c := range columns {
		x := of[c.setting]
		x.Tool, x.Build = "", ""
		_, d, err := x.key()
		if err != nil {
			continue // a setting that cannot be encoded supersedes nothing
		}
		k := family{d, c.place}
		at[k] = append(at[k], c)
	}
	for _, same := range at {
		for _, c := range same {
			for _, d := range same {
				if d.rank > c.rank {
					c.newer = append(c.newer, d.id)
				}
			}
		}
	}
}

// goesOn is the time after its last sign of life during which an unfinished run may still
// continue.
const goesOn = 24 * time.Hour

// dropGC drops the tables that prepareGC creates.
const dropGC = "DROP TABLE IF EXISTS temp.newer; DROP TABLE IF EXISTS temp.again; DROP TABLE IF EXISTS temp.kept; DROP TABLE IF EXISTS temp.ran; " +
	"DROP TABLE IF EXISTS temp.look"

// prepareGC creates temporary tables: newer (which columns supersede which); again (results of
// failed attempts); kept (runs that are kept without cells of their own: the latest of each
// setting, and shards, which show that nothing is missing; with why set, runs on devices and
// runs that may continue); and tables of the machine code that devices ran and of the looks of
// preserved cells.
func (s *Store) prepareGC(ctx context.Context, builds []*BuildGarbage) error {
	_, err := s.c.ExecContext(ctx, dropGC+`;
		CREATE TEMP TABLE newer(old INTEGER, new INTEGER, PRIMARY KEY(old, new)) WITHOUT ROWID;
		CREATE TEMP TABLE again(body INTEGER PRIMARY KEY);
		CREATE TEMP TABLE kept(run INTEGER PRIMARY KEY, why INTEGER NOT NULL);
		CREATE TEMP TABLE ran(code TEXT PRIMARY KEY) WITHOUT ROWID;
		CREATE TEMP TABLE look(body INTEGER PRIMARY KEY, code TEXT NOT NULL)`)
	if err != nil {
		return err
	}
	for _, b := range builds {
		for _, c := range b.columns {
			for _, n := range c.newer {
				if _, err := s.exec("INSERT INTO temp.newer VALUES(?, ?)", c.id, n); err != nil {
					return err
				}
			}
		}
	}
	again, err := s.transientBodies(ctx)
	if err != nil {
		return err
	}
	for id := range again {
		if _, err := s.exec("INSERT INTO temp.again VALUES(?)", id); err != nil {
			return err
		}
	}
	const stays = `(id IN (SELECT run FROM event WHERE kind=4) OR id=(SELECT max(id) FROM run)
		OR seen>?1 AND id NOT IN (SELECT run FROM event WHERE kind=5))`
	if _, err := s.exec("INSERT INTO temp.kept SELECT id, "+stays+" FROM run WHERE "+stays+` OR id IN (SELECT max(id) FROM run GROUP BY setting)
		OR instr(config, '"shard":')`, time.Now().Add(-goesOn).Unix()); err != nil {
		return err
	}
	return errors.Join(s.ranCodes(ctx), s.looks(ctx))
}

// looks fills the table of the listings that results of preserved cells refer to.
func (s *Store) looks(ctx context.Context) error {
	of := map[int64]string{}
	err := s.each(ctx, "SELECT id, hash, data FROM body", nil, func(scan func(...any) error) error {
		var id int64
		var hash, blob []byte
		if err := scan(&id, &hash, &blob); err != nil {
			return err
		}
		var r event.Result
		err := decodeBody(id, hash, blob, &r)
		if r.Look != "" {
			of[id] = r.Look
		}
		return err
	})
	for id, look := range of {
		if err == nil {
			_, err = s.exec("INSERT INTO temp.look VALUES(?, ?)", id, look)
		}
	}
	return err
}

// ranCodes fills the table of machine code that devices ran.
func (s *Store) ranCodes(ctx context.Context) error {
	all := map[string]bool{}
	err := s.each(ctx, "SELECT run, n, data FROM event WHERE kind=?", []any{kindHistogram}, func(scan func(...any) error) error {
		var run, n int64
		var blob []byte
		if err := scan(&run, &n, &blob); err != nil {
			return err
		}
		e, err := decodeEvent(kindHistogram, blob)
		if err != nil {
			return errDamaged("event %d of run %d: %w", n, run, err)
		}
		if e.Histogram.Code != "" {
			all[e.Histogram.Code] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for code := range all {
		if _, err := s.exec("INSERT INTO temp.ran VALUES(?)", code); err != nil {
			return err
		}
	}
	return nil
}

// used returns the number of used bytes in all pages.
func (s *Store) used(ctx context.Context) (n int64, err error) {
	err = s.c.QueryRowContext(ctx, "SELECT coalesce(sum(pgsize - unused), 0) FROM dbstat").Scan(&n)
	return n, err
}

// compact returns unused space to the file system, if there is some.
func (s *Store) compact(ctx context.Context, progress func(string, int64, int64)) error {
	var free, pages, size int64
	for query, n := range map[string]*int64{"PRAGMA freelist_count": &free, "PRAGMA page_count": &pages, "PRAGMA page_size": &size} {
		if err := s.c.QueryRowContext(ctx, query).Scan(n); err != nil {
			return err
		}
	}
	checkpoint := func() error {
		_, err := s.c.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	}
	if free == 0 {
		return s.retry(ctx, checkpoint) // the log takes space, too
	}
	// The remaining pages are written once more, into the log.
	total := (pages - free) * size
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				if st, err := os.Stat(s.path + "-wal"); err == nil {
					progress(Compacting, min(st.Size(), total), total)
				}
			}
		}
	}()
	err := s.retry(ctx, func() error {
		if _, err := s.c.ExecContext(ctx, "VACUUM"); err != nil {
			return err
		}
		return checkpoint()
	})
	close(done)
	<-ended
	if err == nil {
		progress(Compacting, total, total)
	}
	return err
}
