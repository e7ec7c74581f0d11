package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Garbage says what GC removed, or would remove.
type Garbage struct {
	Cells     int64    `json:"cells"`
	Results   int64    `json:"results"`
	Tests     int64    `json:"tests"`
	Listings  int64    `json:"listings"`
	Artefacts int64    `json:"artefacts"`
	Runs      int64    `json:"runs"`
	Columns   []string `json:"columns"` // superseded settings and builds, in words
	Before    int64    `json:"bytes_before"`
	After     int64    `json:"bytes_after"`
}

// errDry takes back what was done for counting.
var errDry = errors.New("dry run")

// GC removes what is superseded (cells of a build of optcheck, or of a
// toolchain, that a later run replaced by another one with an otherwise equal
// setting), and then what nothing refers to. It also gives the space back. With
// dry, it only counts.
func (s *Store) GC(ctx context.Context, dry bool) (*Garbage, error) {
	g := &Garbage{Columns: []string{}}
	if info, err := s.Info(ctx); err == nil {
		g.Before = info.Bytes
	}
	err := s.update(ctx, func() error {
		if err := s.superseded(ctx, g); err != nil {
			return err
		}
		if err := s.unreferenced(g); err != nil {
			return err
		}
		if dry {
			return errDry
		}
		return s.bump()
	})
	if errors.Is(err, errDry) {
		g.After = g.Before
		return g, nil
	}
	if err == nil {
		err = s.compact(ctx)
	}
	if info, e := s.Info(ctx); e == nil {
		g.After = info.Bytes
	}
	return g, s.fail(err)
}

// compact gives unused space back.
func (s *Store) compact(ctx context.Context) error {
	return s.retry(ctx, func() error {
		if _, err := s.c.ExecContext(ctx, "VACUUM"); err != nil {
			return err
		}
		_, err := s.c.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
}

// superseded removes the cells of columns that a later run replaced.
func (s *Store) superseded(ctx context.Context, g *Garbage) error {
	old, err := s.oldColumns(ctx, g)
	if err != nil {
		return err
	}
	for _, id := range old {
		n, err := s.remove("DELETE FROM cell WHERE col=?", id)
		if err != nil {
			return err
		}
		g.Cells += n
		for _, q := range []string{"DELETE FROM source WHERE col=?", "DELETE FROM col WHERE id=?"} {
			if _, err := s.remove(q, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldColumns lists the columns of superseded settings and toolchains.
func (s *Store) oldColumns(ctx context.Context, g *Garbage) ([]int64, error) {
	all, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	latest := map[int64]int64{} // newest run of a setting
	err = s.each(ctx, "SELECT setting, max(id) FROM run GROUP BY setting", nil, func(scan func(...any) error) error {
		var setting, run int64
		err := scan(&setting, &run)
		latest[setting] = run
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, x := range all {
		gone := false
		for _, y := range all {
			gone = gone || x.otherBuild(y.Setting) && latest[y.ID] > latest[x.ID]
		}
		if gone {
			if err := s.dropRuns(x.ID, g); err != nil {
				return nil, err
			}
			g.Columns = append(g.Columns, fmt.Sprintf("setting %d (optcheck %s, build %.12s)", x.ID, x.Tool, x.Build))
		}
		builds, err := s.builds(ctx, x.ID)
		if err != nil {
			return nil, err
		}
		told := map[string]bool{}
		err = s.each(ctx, "SELECT c.id, t.name, t.build, t.max_ptx FROM col c JOIN toolchain t ON t.id=c.toolchain WHERE c.setting=? ORDER BY c.id", []any{x.ID}, func(scan func(...any) error) error {
			var id int64
			var name, build, ptx string
			if err := scan(&id, &name, &build, &ptx); err != nil {
				return err
			}
			b, ok := builds[name]
			other := ok && (b.Build != build || b.MaxPTX != ptx)
			if what := fmt.Sprintf("%s (build %s) in setting %d", name, build, x.ID); other && !gone && !told[what] {
				told[what] = true
				g.Columns = append(g.Columns, what)
			}
			if gone || other {
				out = append(out, id)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dropRuns removes the runs of a superseded setting, but for those with
// histograms: what a device did is not done again so easily. Their cells are
// removed by the columns.
func (s *Store) dropRuns(setting int64, g *Garbage) error {
	const runs = "FROM run WHERE setting=? AND id NOT IN (SELECT run FROM event WHERE kind=4)"
	if _, err := s.remove("DELETE FROM event WHERE run IN (SELECT id "+runs+")", setting); err != nil {
		return err
	}
	n, err := s.remove("DELETE "+runs, setting)
	g.Runs += n
	return err
}

// unreferenced removes what nothing refers to any more.
func (s *Store) unreferenced(g *Garbage) error {
	// A run without cells of its own found nothing new. The latest of each
	// setting is kept, and shards, which tell that nothing is missing.
	const runs = `FROM run WHERE id NOT IN (SELECT run FROM cell) AND id NOT IN (SELECT max(id) FROM run GROUP BY setting)
		AND id NOT IN (SELECT run FROM event WHERE kind=4) AND instr(config, '"shard":')=0`
	steps := []struct {
		n     *int64
		query string
	}{
		{nil, "DELETE FROM event WHERE run IN (SELECT id " + runs + ")"},
		{&g.Runs, "DELETE " + runs},
		{nil, "DELETE FROM source WHERE NOT EXISTS (SELECT 1 FROM cell c WHERE c.col=source.col AND c.test=source.test)"},
		{&g.Results, "DELETE FROM body WHERE id NOT IN (SELECT body FROM cell)"},
		{&g.Listings, "DELETE FROM listing WHERE id NOT IN (SELECT ref FROM event WHERE kind=2) AND code NOT IN (" + codes + ")"},
		{nil, "DELETE FROM machine WHERE code NOT IN (" + codes + ")"},
		{&g.Artefacts, "DELETE FROM artefact WHERE id NOT IN (SELECT artefact FROM machine UNION SELECT artefact FROM source UNION SELECT artefact FROM label)"},
		{nil, "DELETE FROM toolchain WHERE id NOT IN (SELECT toolchain FROM col)"},
		{nil, "DELETE FROM setting WHERE id NOT IN (SELECT setting FROM col UNION SELECT setting FROM run)"},
	}
	for _, st := range steps {
		n, err := s.remove(st.query)
		if err != nil {
			return err
		}
		if st.n != nil {
			*st.n += n
		}
	}
	return s.unusedTests(g)
}

// codes are the hashes of machine code that cells have, as text.
const codes = "SELECT CASE typeof(code) WHEN 'integer' THEN lower(printf('%016x', code)) ELSE code END FROM cell WHERE code IS NOT NULL"

// unusedTests removes tests that no cell and no event refers to.
func (s *Store) unusedTests(g *Garbage) error {
	n, err := s.remove(`DELETE FROM test WHERE id NOT IN (SELECT test FROM cell) AND
		NOT EXISTS (SELECT 1 FROM event e WHERE e.kind=1 AND test.id>=e.ref AND test.id<e.ref+e.count)`)
	g.Tests += n
	return err
}

// remove runs a statement and returns the number of rows it removed.
func (s *Store) remove(query string, args ...any) (int64, error) {
	res, err := s.exec(query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Fields(query)[2], err)
	}
	return res.RowsAffected()
}
