package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Policy says what GC considers garbage besides unreferenced rows. By default (the zero value),
// a cell of an older build of optcheck, or of an older build of a compiler of the same name, is
// garbage if and only if a newer build has a result for the same cell. Otherwise all cells of
// some builds of optcheck are garbage, and no others.
type Policy struct {
	// KeepBuilds is the number of newest builds of optcheck that are kept in full; 0 means no
	// limit.
	KeepBuilds int
	// OlderThan removes the cells of builds that were last used longer ago than this, but never
	// those of the latest run; 0 means no limit. With KeepBuilds, both conditions must hold.
	OlderThan time.Duration
	// Dry only counts.
	Dry bool
	// Progress, if not nil, is told what GC is doing, and how much of it is done.
	Progress func(what string, done, total int64)
}

// The phases that Progress reports: the first counts builds, the second bytes.
const (
	Looking    = "looking at builds"
	Compacting = "giving space back"
)

// Garbage says what GC removed, or would remove.
type Garbage struct {
	Dry       bool           `json:"dry_run"`
	Builds    []BuildGarbage `json:"builds"` // the newest first
	Cells     int64          `json:"cells"`
	Results   int64          `json:"results"`
	Tests     int64          `json:"tests"`
	Listings  int64          `json:"listings"`
	Artefacts int64          `json:"artefacts"`
	Runs      int64          `json:"runs"`
	Before    int64          `json:"bytes_before"` // of the file
	After     int64          `json:"bytes_after"`  // an estimate in a dry run
}

// BuildGarbage says what is removed from, and what remains of, a build of optcheck or, if
// Compiler is set, the cells that it made with an older build of a compiler.
type BuildGarbage struct {
	Tool     string `json:"tool"`
	Build    string `json:"build"`
	Compiler string `json:"compiler,omitempty"`
	LastUsed int64  `json:"last_used"` // seconds since 1970
	Removed  int64  `json:"removed_cells"`
	Kept     int64  `json:"kept_cells"`
	Bytes    int64  `json:"bytes"` // that it took, with what only it referred to; estimated

	columns  []*gcColumn
	settings []int64
}

// errDry rolls back what was done for counting.
var errDry = errors.New("dry run")

// GC removes what a policy considers garbage, then whatever is unreferenced, and returns the
// space to the file system. It removes everything or nothing; audits that write the store at
// the same time are not harmed.
func (s *Store) GC(ctx context.Context, p Policy) (*Garbage, error) {
	if p.Progress == nil {
		p.Progress = func(string, int64, int64) {}
	}
	g := &Garbage{Dry: p.Dry, Builds: []BuildGarbage{}}
	if info, err := s.Info(ctx); err == nil {
		g.Before = info.Bytes
	}
	err := s.update(ctx, func() error {
		if err := s.checkRows(ctx); err != nil {
			return err
		}
		if err := s.collect(ctx, g, &p); err != nil {
			return err
		}
		if p.Dry {
			return errDry
		}
		return s.bump()
	})
	if errors.Is(err, errDry) {
		g.After = g.Before
		for _, b := range g.Builds {
			g.After -= min(b.Bytes, g.After)
		}
		return g, nil
	}
	if err == nil {
		err = s.compact(ctx, p.Progress)
	}
	if info, e := s.Info(ctx); e == nil {
		g.After = info.Bytes
	}
	return g, s.fail(err)
}

// collect removes cells build by build, the oldest first, and what only they referred to.
func (s *Store) collect(ctx context.Context, g *Garbage, p *Policy) error {
	builds, err := s.gcBuilds(ctx)
	if err != nil {
		return err
	}
	if err := s.prepareGC(ctx, builds); err != nil {
		return err
	}
	defer func() { _, _ = s.c.ExecContext(context.Background(), dropGC) }()
	used, err := s.used(ctx)
	if err != nil {
		return err
	}
	for i := len(builds) - 1; i >= 0; i-- {
		b := builds[i]
		p.Progress(Looking, int64(len(builds)-1-i), int64(len(builds)))
		if err := s.removeBuild(ctx, b, p, p.wants(builds, b)); err != nil {
			return err
		}
		if b.Removed == 0 && i > 0 {
			continue
		}
		if b.Removed > 0 {
			// Runs that remain have stored listings of cells that go.
			if _, err := s.remove("DELETE FROM event WHERE kind=2 AND ref IN (SELECT id FROM listing WHERE code NOT IN (" +
				codes + "))"); err != nil {
				return err
			}
		}
		if err := s.unreferenced(g); err != nil {
			return err
		}
		now, err := s.used(ctx)
		if err != nil {
			return err
		}
		b.Bytes, used = max(0, used-now), now
		g.Cells += b.Removed
	}
	for _, b := range builds {
		g.Builds = append(g.Builds, *b)
	}
	p.Progress(Looking, int64(len(builds)), int64(len(builds)))
	return nil
}

// wants reports whether the policy removes all cells of a build.
func (p *Policy) wants(builds []*BuildGarbage, b *BuildGarbage) bool {
	if p.KeepBuilds <= 0 && p.OlderThan <= 0 {
		return false
	}
	var order [][2]string // of builds of optcheck
	for _, x := range builds {
		if k := [2]string{x.Tool, x.Build}; !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	at := slices.Index(order, [2]string{b.Tool, b.Build})
	return at > 0 && (p.KeepBuilds <= 0 || at >= p.KeepBuilds) &&
		(p.OlderThan <= 0 || time.Since(time.Unix(b.LastUsed, 0)) > p.OlderThan)
}

// removeBuild removes cells of a build: all of them, or by default those that a newer build has
// too.
func (s *Store) removeBuild(ctx context.Context, b *BuildGarbage, p *Policy, all bool) error {
	for _, c := range b.columns {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var before int64
		if _, err := s.row("SELECT count(*) FROM cell WHERE col=?", []any{c.id}, &before); err != nil {
			return err
		}
		query := ""
		switch {
		case all:
			query = "DELETE FROM cell WHERE col=?"
		case p.KeepBuilds <= 0 && p.OlderThan <= 0:
			query = `DELETE FROM cell WHERE col=? AND EXISTS (SELECT 1 FROM temp.newer n JOIN cell d ON d.col=n.new AND d.test=cell.test
				WHERE n.old=cell.col AND d.body NOT IN (SELECT body FROM temp.again))`
		}
		var n int64
		if query != "" {
			var err error
			if n, err = s.remove(query, c.id); err != nil {
				return err
			}
		}
		b.Removed += n
		b.Kept += before - n
	}
	if b.Removed == 0 && !all {
		return nil
	}
	for _, c := range b.columns {
		if _, err := s.remove("DELETE FROM col WHERE id=? AND id NOT IN (SELECT col FROM cell)", c.id); err != nil {
			return err
		}
	}
	return s.endSettings(b.settings)
}

// endSettings removes the runs of settings that have nothing left, except runs with histograms
// (results of devices are not easily obtained again) and those that may continue.
func (s *Store) endSettings(settings []int64) error {
	for _, id := range settings {
		_, err := s.exec(`DELETE FROM temp.kept WHERE run IN (SELECT id FROM run WHERE setting=?1) AND NOT why
			AND NOT EXISTS (SELECT 1 FROM col WHERE setting=?1)`, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// unreferenced removes whatever nothing refers to any more.
func (s *Store) unreferenced(g *Garbage) error {
	const runs = "FROM run WHERE id NOT IN (SELECT run FROM cell) AND id NOT IN (SELECT run FROM temp.kept)"
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
		{&g.Artefacts,
			"DELETE FROM artefact WHERE id NOT IN (SELECT artefact FROM machine UNION SELECT artefact FROM source UNION SELECT artefact FROM label)"},
		{nil, "DELETE FROM toolchain WHERE id NOT IN (SELECT toolchain FROM col)"},
		{nil, "DELETE FROM setting WHERE id NOT IN (SELECT setting FROM col UNION SELECT setting FROM run)"},
		{&g.Tests, `DELETE FROM test WHERE id NOT IN (SELECT test FROM cell) AND
			NOT EXISTS (SELECT 1 FROM event e WHERE e.kind=1 AND test.id>=e.ref AND test.id<e.ref+e.count)`},
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
	return nil
}

// codes selects the hashes of machine code that cells or runs on devices have, and the looks of
// preserved cells, as text.
const codes = `SELECT CASE typeof(code) WHEN 'integer' THEN lower(printf('%016x', code)) ELSE code END FROM cell WHERE code IS NOT NULL
	UNION SELECT code FROM temp.ran UNION SELECT code FROM temp.look WHERE body IN (SELECT body FROM cell)`

// remove executes a statement and returns the number of rows it removed.
func (s *Store) remove(query string, args ...any) (int64, error) {
	res, err := s.exec(query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Fields(query)[2], err)
	}
	return res.RowsAffected()
}

// sortBuilds sorts builds, newest first.
func sortBuilds(list []*BuildGarbage, rank func(*BuildGarbage) int64) {
	slices.SortStableFunc(list, func(a, b *BuildGarbage) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.Compiler, b.Compiler))
	})
}
