package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"optcheck/event"
	"optcheck/target"
)

// View selects cells of a store.
type View struct {
	// Setting is the number of a setting, as Info lists them; 0 is the setting
	// of the latest run.
	Setting int64
	// Matrix, if not nil, restricts the cells to the matrix of this run, and Tests, if not nil,
	// to these tests, by name and hash.
	Matrix *event.Config
	Tests  func(name, hash string) bool
	// Keep, if not nil, selects the cells of the set for Export and its tables.
	Keep func(*event.Set) (func(cell int) bool, error)
	// NoText leaves out the tests' texts.
	NoText bool
}

// Live is a Set that can follow a growing store.
type Live struct {
	*event.Set
	// Seq is the number of the newest cell that was read, of any setting.
	Seq int64
	// Numbers holds the numbers of the cells in the store, in the order of Cells.
	Numbers []int64

	s     *Store
	view  View
	epoch int64
	run   int64 // the newest one
	told  int64 // see state
	tests map[int64]uint32
	cols  map[int64]uint32 // none for columns that are not wanted
	body  map[int64]*event.Result
	res   map[resultKey]uint32
}

type resultKey struct {
	body int64
	code any
}

// none marks a column or test that is not wanted.
const none = ^uint32(0)

// Load reads the cells of a view. It leaves out problems that later runs have overcome; the
// statistics are those of the run, if the setting has only one.
func (s *Store) Load(ctx context.Context, v View) (*event.Set, error) {
	l, err := s.Follow(ctx, v)
	if err != nil {
		return nil, err
	}
	return l.Set, nil
}

// Follow is Load for callers that want to follow later changes.
func (s *Store) Follow(ctx context.Context, v View) (*Live, error) {
	l := &Live{s: s, view: v}
	err := s.read(ctx, func() error { return l.reload(ctx) })
	return l, s.fail(err)
}

// Refresh reads what has been written since. If something was removed, or the latest run has
// another setting, it reads everything into a new Set, and reloaded is true. After an error
// nothing has changed.
func (l *Live) Refresh(ctx context.Context) (added int, reloaded bool, err error) {
	before := len(l.Cells)
	err = l.s.read(ctx, func() error {
		st, err := l.s.state(ctx)
		if err != nil {
			return err
		}
		if st == (state{l.epoch, l.Seq, l.run, l.told}) {
			return nil
		}
		if st.epoch != l.epoch || st.run != l.run {
			next := &Live{s: l.s, view: l.view}
			if err := next.reload(ctx); err != nil {
				return err
			}
			*l, reloaded = *next, true
			return nil
		}
		l.told = st.told
		return l.grow(ctx)
	})
	return max(0, len(l.Cells)-before), reloaded, l.s.fail(err)
}

// read runs f in a transaction that sees one state of the store.
func (s *Store) read(ctx context.Context, f func() error) error {
	if s.inTx {
		return f()
	}
	if _, err := s.c.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	s.inTx = true
	defer func() {
		s.inTx = false
		_, _ = s.c.ExecContext(context.Background(), "ROLLBACK")
	}()
	return f()
}

// state identifies the state of a store: equal states mean that nothing has changed. told is the number of events that are no cells.
type state struct{ epoch, seq, run, told int64 }

func (s *Store) state(ctx context.Context) (st state, err error) {
	err = s.c.QueryRowContext(
		ctx,
		"SELECT (SELECT value FROM meta WHERE name='epoch'), (SELECT coalesce(max(seq), 0) FROM cell), (SELECT coalesce(max(id), 0) FROM run), (SELECT coalesce(sum(events), 0) FROM run)",
	).
		Scan(&st.epoch, &st.seq, &st.run, &st.told)
	return st, err
}

// reload reads everything.
func (l *Live) reload(ctx context.Context) error {
	l.Set, l.Seq, l.Numbers = event.NewSet(), 0, nil
	l.tests, l.cols = map[int64]uint32{}, map[int64]uint32{}
	l.body, l.res = map[int64]*event.Result{}, map[resultKey]uint32{}
	if err := l.s.checkRows(ctx); err != nil {
		return err
	}
	st, err := l.s.state(ctx)
	if err != nil {
		return err
	}
	l.epoch, l.run, l.told = st.epoch, st.run, st.told
	setting, err := l.s.setting(ctx, l.view.Setting)
	if err != nil {
		return err
	}
	if err := l.columns(ctx, setting.ID); err != nil {
		return err
	}
	if err := l.cells(ctx, 0); err != nil {
		return err
	}
	l.configure(setting.Setting)
	if err := l.listings(ctx); err != nil {
		return err
	}
	if err := l.events(ctx, setting.ID); err != nil {
		return err
	}
	return l.planned(ctx, setting.ID)
}

// grow reads what is new.
func (l *Live) grow(ctx context.Context) error {
	setting, err := l.s.setting(ctx, l.view.Setting)
	if err != nil {
		return err
	}
	if err := l.columns(ctx, setting.ID); err != nil {
		return err
	}
	if err := l.cells(ctx, l.Seq); err != nil {
		return err
	}
	l.configure(setting.Setting)
	if err := l.listings(ctx); err != nil {
		return err
	}
	l.Problems, l.Histograms, l.Stats = nil, nil, nil
	if err := l.events(ctx, setting.ID); err != nil {
		return err
	}
	return l.planned(ctx, setting.ID)
}

// setting finds a setting; 0 stands for that of the latest run.
func (s *Store) setting(ctx context.Context, id int64) (numbered, error) {
	all, err := s.settings(ctx)
	if err != nil {
		return numbered{}, err
	}
	if id == 0 {
		ok, err := s.row("SELECT setting FROM run ORDER BY id DESC LIMIT 1", nil, &id)
		if err != nil || !ok {
			return numbered{}, err // empty
		}
	}
	for _, n := range all {
		if n.ID == id {
			return n, nil
		}
	}
	return numbered{}, fmt.Errorf("no setting %d (optcheck store info lists them)", id)
}

// columns reads the columns of a setting. Of a toolchain with several builds it reads those of
// the latest run.
func (l *Live) columns(ctx context.Context, setting int64) error {
	builds, err := l.s.builds(ctx, setting)
	if err != nil {
		return err
	}
	return l.s.each(
		ctx,
		"SELECT c.id, c.setting, t.name, t.build, t.max_ptx, c.target, c.level, c.layout FROM col c JOIN toolchain t ON t.id=c.toolchain ORDER BY c.id",
		nil,
		func(scan func(...any) error) error {
			var id, of int64
			var t event.Toolchain
			var c event.Column
			if err := scan(&id, &of, &t.ID, &t.Build, &t.MaxPTX, &c.Target, &c.Level, &c.Layout); err != nil {
				return err
			}
			if _, ok := l.cols[id]; ok {
				return nil
			}
			if err := event.OneLine(t.ID, t.Build, t.MaxPTX, c.Target, c.Level, c.Layout); err != nil {
				return err
			}
			c.Toolchain = t.ID
			b, ok := builds[t.ID]
			if of != setting || ok && b != t || !l.wanted(c) {
				l.cols[id] = none
				return nil
			}
			l.cols[id] = l.AddColumn(c)
			if !slices.Contains(l.Config.Toolchains, t) {
				l.Config.Toolchains = append(l.Config.Toolchains, t)
			}
			return nil
		},
	)
}

func (l *Live) wanted(c event.Column) bool {
	m := l.view.Matrix
	return m == nil || slices.Contains(m.Targets, c.Target) && slices.Contains(m.Levels, c.Level) && slices.Contains(m.Layouts, c.Layout) &&
		slices.ContainsFunc(m.Toolchains, func(t event.Toolchain) bool { return t.ID == c.Toolchain })
}

// builds returns for each toolchain the build in the latest run that names it.
func (s *Store) builds(ctx context.Context, setting int64) (map[string]event.Toolchain, error) {
	out := map[string]event.Toolchain{}
	err := s.each(ctx, "SELECT id, config FROM run WHERE setting=? ORDER BY id", []any{setting}, func(scan func(...any) error) error {
		var id int64
		var data []byte
		if err := scan(&id, &data); err != nil {
			return err
		}
		c, err := configOf(id, data)
		if err != nil {
			return err
		}
		for _, t := range c.Toolchains {
			out[t.ID] = t
		}
		return nil
	})
	return out, err
}

// cells reads the cells after a number.
func (l *Live) cells(ctx context.Context, after int64) error {
	if err := l.readTests(ctx); err != nil {
		return err
	}
	if err := l.bodies(ctx); err != nil {
		return err
	}
	rows, err := l.s.c.QueryContext(ctx, "SELECT seq, col, test, body, code, run, sum FROM cell WHERE seq>? ORDER BY seq", after)
	if err != nil {
		return err
	}
	defer rows.Close()
	var seq, col, test, body, run, sum int64
	var code any
	dest := []any{&seq, &col, &test, &body, &code, &run, &sum}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := checkCell(seq, col, test, body, code, run, sum); err != nil {
			return err
		}
		l.Seq = seq
		c, ok := l.cols[col]
		if !ok {
			return errDamaged("cell %d is in no column", seq)
		}
		if c == none {
			continue
		}
		t, ok := l.tests[test]
		if !ok {
			return errDamaged("cell %d is of no test", seq)
		}
		if t == none {
			continue
		}
		if b, ok := code.([]byte); ok {
			code = string(b)
		}
		r, ok := l.res[resultKey{body, code}]
		if !ok {
			if r, err = l.result(seq, body, code); err != nil {
				return err
			}
		}
		l.Cells = append(l.Cells, event.Ref{Test: t, Column: c, Result: r})
		l.Numbers = append(l.Numbers, seq)
	}
	return rows.Err()
}

// result adds a result that no earlier cell had.
func (l *Live) result(seq, body int64, code any) (uint32, error) {
	b, ok := l.body[body]
	if !ok {
		return 0, errDamaged("cell %d has no result", seq)
	}
	text, err := codeText(code)
	if err != nil {
		return 0, errDamaged("cell %d: %w", seq, err)
	}
	r := *b
	r.Code = text
	i := l.AddResult(fmt.Sprintf("%d/%s", body, text), r)
	l.res[resultKey{body, code}] = i
	return i, nil
}

// readTests reads new tests.
func (l *Live) readTests(ctx context.Context) error {
	text := "text"
	if l.view.NoText {
		text = "x'00'"
	}
	return l.s.each(ctx, "SELECT id, hash, name, about, "+text+" FROM test ORDER BY id", nil, func(scan func(...any) error) error {
		var id int64
		var t event.Test
		var about, blob []byte
		if err := scan(&id, &t.Hash, &t.Name, &about, &blob); err != nil {
			return err
		}
		if l.view.Tests != nil && !l.view.Tests(t.Name, t.Hash) {
			l.tests[id] = none
			return nil
		}
		if i, ok := l.tests[id]; ok && l.Tests[i].Text != "" {
			return nil
		}
		if err := decodeTest(id, about, blob, &t); err != nil {
			return err
		}
		l.tests[id] = l.AddTest(t)
		return nil
	})
}

// bodies reads new results.
func (l *Live) bodies(ctx context.Context) error {
	after := int64(0)
	for id := range l.body {
		after = max(after, id)
	}
	return l.s.each(ctx, "SELECT id, hash, data FROM body WHERE id>?", []any{after}, func(scan func(...any) error) error {
		var id int64
		var hash, data []byte
		if err := scan(&id, &hash, &data); err != nil {
			return err
		}
		r := &event.Result{}
		l.body[id] = r
		return decodeBody(id, hash, data, r)
	})
}

// configure derives the config of the set from its content, so that it does not depend on the
// order in which the store was filled.
func (l *Live) configure(s Setting) {
	c := &l.Config
	c.Schema, c.Tool, c.Build, c.Spec, c.Source, c.Flags, c.Model, c.Plain, c.Claims, c.Execute = event.Schema, s.Tool, s.Build, s.Spec, s.Source,
		s.Flags, s.Model, s.Plain, s.Claims, s.Execute
	tests, cols := make([]bool, len(l.Tests)), make([]bool, len(l.Columns))
	for _, r := range l.Cells {
		tests[r.Test], cols[r.Column] = true, true
	}
	c.Tests, c.Cells = 0, len(l.Cells)
	for _, has := range tests {
		if has {
			c.Tests++
		}
	}
	c.Targets, c.Levels, c.Layouts = nil, nil, nil
	add := func(list []string, s string) []string {
		if slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	tools := map[string]bool{}
	for i, has := range cols {
		if k := l.Columns[i]; has {
			tools[k.Toolchain] = true
			c.Targets, c.Levels, c.Layouts = add(c.Targets, k.Target), add(c.Levels, k.Level), add(c.Layouts, k.Layout)
		}
	}
	c.Toolchains = slices.DeleteFunc(c.Toolchains, func(t event.Toolchain) bool { return !tools[t.ID] })
	slices.SortFunc(c.Toolchains, func(a, b event.Toolchain) int {
		return cmp.Or(compareToolchains(a.ID, b.ID), cmp.Compare(a.Build, b.Build))
	})
	slices.SortFunc(c.Targets, target.Compare)
	slices.Sort(c.Levels)
	slices.SortFunc(c.Layouts, compareLayouts)
}
